"""Checkpoint to model file: build, check, compare with torch, and only then write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import onnx

from gsp_fd.common.errors import InputError
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.common.files import write_atomically
from gsp_fd.export.graph import build_model
from gsp_fd.export.parity import cpu_session, largest_difference, random_batches
from gsp_fd.export.weights import graph_weights
from gsp_fd.model_format import EncodedBatch, ModelMetadata
from gsp_fd.training.checkpoint import Checkpoint
from gsp_fd.training.network import RelationalNetwork

TOLERANCE = 1e-4
"""Largest difference to torch, relative to max(1, |Q|), with which a model is written."""
FP16_TOLERANCE = 0.05
"""The same for weights in half precision, which have a relative precision of 5e-4 each."""


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What was written: bytes, and the largest relative difference to torch on random and on real states."""

    size: int
    random_difference: float
    real_difference: float | None
    real_states: int


def model_bytes(network: RelationalNetwork, metadata: ModelMetadata) -> bytes:
    """The ONNX model of a network's present weights, as search workers take it: nothing is compared."""
    data: bytes = build_model(metadata, graph_weights(network)).SerializeToString()
    return data


def export_model(
    checkpoint: Checkpoint,
    path: str | Path,
    *,
    fp16: bool = False,
    batches: Sequence[EncodedBatch] = (),
    file: str | None = None,
) -> ExportReport:
    """Writes ``checkpoint`` as an ONNX model, after comparing it with torch on random and real states.

    batches: real states to compare on, beside those in the checkpoint; file: name of the checkpoint for messages.
    """
    network = checkpoint.network(file=file).eval()
    metadata = replace(checkpoint.metadata, fp16=fp16)
    model = build_model(metadata, graph_weights(network, fp16=fp16), fp16=fp16)
    onnx.checker.check_model(model, full_check=True)
    data = model.SerializeToString()
    session = cpu_session(data)
    real = [*checkpoint.batches, *batches]
    on_random = largest_difference(session, network, random_batches(metadata.relations))
    on_real = largest_difference(session, network, real) if real else None
    worst = max(on_random, on_real or 0.0)
    limit = FP16_TOLERANCE if fp16 else TOLERANCE
    if not worst <= limit:
        advice = "export without --fp16" if fp16 else "the checkpoint's weights are not usable"
        raise InputError(
            f"the ONNX model differs from torch by {worst:.1e} (limit {limit:.0e}), nothing was written: {advice}",
            file,
            exit_code=ExitCode.DRIVER_INPUT_ERROR,
        )
    try:
        write_atomically(path, data)
    except OSError as error:
        raise InputError(
            f"cannot write the model: {error.strerror}", str(path), exit_code=ExitCode.DRIVER_INPUT_ERROR
        ) from None
    return ExportReport(len(data), on_random, on_real, sum(len(batch.state_sizes) for batch in real))
