"""Checkpoints: one ``.npz`` file of plain arrays and JSON. Nothing in it is ever unpickled.

Entries: ``json`` (metadata and state, UTF-8), ``weights/<name>``, ``arrays/<name>`` (whatever else the trainer keeps,
such as optimiser moments), and ``batches/<i>/<field>``: real encoded states on which an export is checked.
"""

from __future__ import annotations

import io
import json
import math
import os
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from gsp_fd.common.errors import driver_error
from gsp_fd.common.files import write_atomically
from gsp_fd.common.untrusted import parse_json
from gsp_fd.model_format import EncodedBatch, ModelMetadata
from gsp_fd.training.network import Kernel, RelationalNetwork

Array = npt.NDArray[Any]
_DAMAGED = (
    *(ValueError, LookupError, TypeError, AttributeError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error),
)
"""What reading a broken archive, or JSON of another shape, can end with."""
BATCH_FIELDS = ("node_state", "action_node", "action_state", "state_sizes")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A network with what is known about it, and the trainer's own arrays and JSON-able state."""

    metadata: ModelMetadata
    weights: Mapping[str, Array]
    batches: Sequence[EncodedBatch] = ()
    arrays: Mapping[str, Array] = field(default_factory=dict)
    state: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, network: RelationalNetwork, metadata: ModelMetadata, **rest: Any) -> Checkpoint:
        """A checkpoint of a network's present weights (copied)."""
        weights = {name: tensor.detach().cpu().numpy().copy() for name, tensor in network.state_dict().items()}
        return cls(metadata, weights, **rest)

    def network(self, kernel: Kernel = "auto", file: str | None = None) -> RelationalNetwork:
        """The network with these weights; InputError if they do not match the metadata."""
        with torch.device("meta"):  # the sizes are what a file says: they take no memory until its arrays fit them
            network = RelationalNetwork(self.metadata.relations, self.metadata.network, kernel)
        try:
            weights = {name: torch.tensor(array, dtype=torch.float32) for name, array in self.weights.items()}
            network.load_state_dict(weights, assign=True)
        except (RuntimeError, TypeError, ValueError) as error:
            reason = " ".join(str(error).split())[:300]
            raise driver_error(f"the checkpoint's weights do not match its network sizes: {reason}", file) from None
        return network


def save_checkpoint(path: str | Path, checkpoint: Checkpoint) -> None:
    """Writes a checkpoint so that the file is always either the old or the new one, whole."""
    entries: dict[str, Array] = {
        f"{kind}/{name}": array
        for kind, group in (("weights", checkpoint.weights), ("arrays", checkpoint.arrays))
        for name, array in group.items()
    }
    for i, batch in enumerate(checkpoint.batches):
        entries |= {f"batches/{i}/{name}": getattr(batch, name) for name in BATCH_FIELDS}
        entries |= {f"batches/{i}/relations/{r}": atoms for r, atoms in enumerate(batch.relations)}
    text = json.dumps({"metadata": checkpoint.metadata.to_strings(), "state": dict(checkpoint.state)})
    entries["json"] = np.frombuffer(text.encode(), np.uint8)
    buffer = io.BytesIO()
    np.savez(buffer, **entries, allow_pickle=False)
    write_atomically(path, buffer.getbuffer(), durable=True)


def load_checkpoint(path: str | Path) -> Checkpoint:
    """Reads a checkpoint. InputError if it is missing, damaged, no checkpoint, or of another version."""
    file = str(path)
    try:
        with zipfile.ZipFile(path) as archive:
            size = os.path.getsize(path)
            entries = {info.filename.removesuffix(".npy"): _array(archive, info, size) for info in archive.infolist()}
        content = parse_json(entries["json"].tobytes())
        metadata = ModelMetadata.from_strings(content["metadata"], file)
        groups: dict[str, dict[str, Array]] = {"weights": {}, "arrays": {}, "batches": {}}
        for name, array in entries.items():
            kind, _, rest = name.partition("/")
            groups.get(kind, {})[rest] = array
        batches = _batches(groups["batches"], metadata.relations)
        if not isinstance(content["state"], dict):
            raise ValueError("the state is no object")
        return Checkpoint(metadata, groups["weights"], batches, groups["arrays"], content["state"])
    except OSError as error:
        raise driver_error(f"cannot read the checkpoint: {error.strerror or error}", file) from None
    except _DAMAGED:
        raise driver_error("not a gsp-fd checkpoint, or a damaged one", file) from None


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo, size: int) -> Array:
    """An array of the archive. It takes no more memory than the file: nothing is compressed, no header lies."""
    if info.compress_type != zipfile.ZIP_STORED or max(info.file_size, info.compress_size) > size:
        raise ValueError(f"{info.filename} is compressed, or larger than the file")
    data = archive.read(info)
    stream = io.BytesIO(data)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError(f"{info.filename} has another format")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    start = stream.tell()
    if dtype.hasobject or min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != len(data) - start:
        raise ValueError(f"{info.filename} announces something else than there is")
    array: Array = np.frombuffer(data, dtype, offset=start).reshape(shape, order="F" if fortran else "C").copy()
    return array


def _batches(entries: Mapping[str, Array], relations: Sequence[tuple[str, int]]) -> list[EncodedBatch]:
    count = len({name.partition("/")[0] for name in entries})
    return [
        _checked(
            EncodedBatch(
                tuple(entries[f"{i}/relations/{r}"] for r in range(len(relations))),
                *(entries[f"{i}/{name}"] for name in BATCH_FIELDS),
            ),
            relations,
        )
        for i in range(count)
    ]


def _checked(batch: EncodedBatch, relations: Sequence[tuple[str, int]]) -> EncodedBatch:
    """The batch, if all its indices refer to something that is there; ValueError otherwise."""
    nodes, states = len(batch.node_state), len(batch.state_sizes)
    for atoms, (_, arity) in zip(batch.relations, relations, strict=True):
        _check_indices(atoms, nodes, (len(atoms), arity))
    _check_indices(batch.node_state, states, (nodes,))
    _check_indices(batch.action_node, nodes, (len(batch.action_node),))
    _check_indices(batch.action_state, states, batch.action_node.shape)
    sizes = batch.state_sizes
    if sizes.dtype != np.float32 or sizes.shape != (states,) or not ((sizes >= 1) & np.isfinite(sizes)).all():
        raise ValueError("states have sizes that are none")
    return batch


def _check_indices(array: Array, below: int, shape: tuple[int, ...]) -> None:
    if array.dtype != np.int64 or array.shape != shape or (array.size and not 0 <= array.min() <= array.max() < below):
        raise ValueError("indices that refer to nothing")
