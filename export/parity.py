"""Does an ONNX model compute what the torch network computes? Compared on random and on given batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnxruntime
import torch

from gsp_fd.model_format import OUTPUT, EncodedBatch, feeds_of
from gsp_fd.training.network import GraphBatch, RelationalNetwork


def cpu_session(model: bytes) -> Any:
    """An ONNX Runtime session on one CPU thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def random_batch(
    relations: Sequence[tuple[str, int]], rng: np.random.Generator, *, states: int = 4, objects: int = 6
) -> EncodedBatch:
    """A batch of random structures, with empty relations, nodes without atoms and states without actions."""
    offsets, actions, node_state = [0], [], []
    for state in range(states):
        count = int(rng.integers(0, 4))
        first = offsets[-1] + objects + 1
        actions += [(first + i, state) for i in range(count)]
        offsets.append(first + count)
        node_state += [state] * (offsets[-1] - offsets[-2])
    atoms = []
    for _, arity in relations:
        rows = [np.zeros((0, arity), np.int64)]
        for state in range(states):
            count = int(rng.integers(0, objects)) if rng.random() < 0.7 else 0
            rows.append(rng.integers(offsets[state], offsets[state + 1], (count, arity)))
        atoms.append(np.concatenate(rows))
    pairs = np.array(actions, np.int64).reshape(-1, 2)
    return EncodedBatch(
        tuple(atoms),
        np.array(node_state, np.int64),
        np.ascontiguousarray(pairs[:, 0]),
        np.ascontiguousarray(pairs[:, 1]),
        np.diff(offsets).astype(np.float32),
    )


def random_batches(relations: Sequence[tuple[str, int]], seed: int = 0) -> list[EncodedBatch]:
    """Batches of one to sixteen random states, small and large, and one without any atom."""
    rng = np.random.default_rng(seed)
    shapes = [(1, 1), (1, 8), (4, 6), (16, 12), (2, 60)]
    batches = [random_batch(relations, rng, states=states, objects=objects) for states, objects in shapes]
    empty = random_batch([], rng, states=3)
    nothing = tuple(np.zeros((0, arity), np.int64) for _, arity in relations)
    return [
        *batches,
        EncodedBatch(nothing, empty.node_state, empty.action_node, empty.action_state, empty.state_sizes),
    ]


def largest_difference(session: Any, network: RelationalNetwork, batches: Sequence[EncodedBatch]) -> float:
    """Largest |Q_onnx - Q_torch| / max(1, |Q_torch|) over all actions; infinite if one is not a finite number."""
    worst = 0.0
    for batch in batches:
        with torch.inference_mode():
            expected = network(GraphBatch.from_encoded(batch)).numpy()
        actual = session.run([OUTPUT], feeds_of(batch, network.relations))[0]
        if not (np.isfinite(actual).all() and np.isfinite(expected).all()):
            return float("inf")
        difference = np.abs(actual - expected) / np.maximum(1.0, np.abs(expected))
        worst = max(worst, float(difference.max(initial=0.0)))
    return worst
