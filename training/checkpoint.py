"""Checkpoints: one ``.npz`` file of plain arrays and JSON. Nothing in it is ever unpickled.

Entries: ``json`` (metadata and state, UTF-8), ``weights/<name>``, ``arrays/<name>`` (whatever else the trainer keeps,
such as optimiser moments), and ``batches/<i>/<field>``: real encoded states on which an export is checked.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from gsp_fd.common.errors import driver_error
from gsp_fd.common.files import write_atomically
from gsp_fd.model_format import EncodedBatch, ModelMetadata
from gsp_fd.training.network import Kernel, RelationalNetwork

Array = npt.NDArray[Any]
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
        network = RelationalNetwork(self.metadata.relations, self.metadata.network, kernel)
        try:
            network.load_state_dict({name: torch.from_numpy(array) for name, array in self.weights.items()})
        except (RuntimeError, TypeError) as error:
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
        with np.load(path, allow_pickle=False) as data:
            entries = {name: data[name] for name in data.files}
        content = json.loads(entries["json"].tobytes().decode())
        metadata = ModelMetadata.from_strings(content["metadata"], file)
        groups: dict[str, dict[str, Array]] = {"weights": {}, "arrays": {}, "batches": {}}
        for name, array in entries.items():
            kind, _, rest = name.partition("/")
            groups.get(kind, {})[rest] = array
        batches = _batches(groups["batches"], metadata.relations, file)
        return Checkpoint(metadata, groups["weights"], batches, groups["arrays"], content["state"])
    except OSError as error:
        raise driver_error(f"cannot read the checkpoint: {error.strerror or error}", file) from None
    except (ValueError, KeyError, TypeError, AttributeError, EOFError, zipfile.BadZipFile):
        raise driver_error("not a gsp-fd checkpoint, or a damaged one", file) from None


def _batches(entries: Mapping[str, Array], relations: Sequence[tuple[str, int]], file: str) -> list[EncodedBatch]:
    batches = []
    for i in range(len({name.partition("/")[0] for name in entries})):
        atoms = tuple(entries[f"{i}/relations/{r}"] for r in range(len(relations)))
        batch = EncodedBatch(atoms, *(entries[f"{i}/{name}"] for name in BATCH_FIELDS))
        if problem := _batch_problem(batch, relations):
            raise driver_error(f"the checkpoint's batch {i} is damaged: {problem}", file)
        batches.append(batch)
    return batches


def _batch_problem(batch: EncodedBatch, relations: Sequence[tuple[str, int]]) -> str | None:
    """What is wrong with a batch: the kernels trust its shapes and indices."""
    sizes = batch.state_sizes
    if sizes.ndim != 1 or sizes.dtype != np.float32:
        return "state_sizes is no vector of float32"
    nodes, states = len(batch.node_state), len(sizes)
    actions = (len(batch.action_node),)
    indices = [
        *((f"relation {name}", atoms, (len(atoms), arity), nodes)
          for (name, arity), atoms in zip(relations, batch.relations, strict=True)),
        ("node_state", batch.node_state, (nodes,), states),
        ("action_node", batch.action_node, actions, nodes),
        ("action_state", batch.action_state, actions, states),
    ]  # fmt: skip
    for name, array, shape, limit in indices:
        if array.dtype != np.int64 or array.shape != shape:
            return f"{name} is {array.dtype} {list(array.shape)} instead of int64 {list(shape)}"
        if array.size and (array.min() < 0 or array.max() >= limit):
            return f"{name} has indices from {array.min()} to {array.max()} where there are {limit}"
    return None
