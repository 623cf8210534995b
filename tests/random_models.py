"""Models with random weights, exported as trained ones are, and states to use them on; for tests that have torch."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gsp_fd import _core as core
from gsp_fd.model import Model
from gsp_fd.model_format import ModelMetadata
from gsp_fd.pddl import LiftedTask
from gsp_fd.task import Task
from gsp_fd.training.config import TrainingConfig
from gsp_fd.training.instances import domain_metadata

SMALL = {"d": 8, "layers": 3}
"""Sizes of a network that is quick to export and to evaluate."""


def metadata_of(task: Task, **config: Any) -> ModelMetadata:
    """What a model of the task's domain says about itself; config: fields of a training's or of a network's."""
    known = {field.name for field in fields(TrainingConfig)}
    trained = TrainingConfig(**{name: value for name, value in {**SMALL, **config}.items() if name in known})
    metadata = domain_metadata([task], trained)
    others = {name: value for name, value in config.items() if name not in known}
    return replace(metadata, network=replace(metadata.network, **others))


def random_checkpoint(task: Task, seed: int = 0, **config: Any) -> Any:
    """A checkpoint with random weights; its Q-values lie around -5, as those of a trained network would."""
    torch = pytest.importorskip("torch", reason="the training extra is not installed")
    pytest.importorskip("torch_geometric", reason="the training extra is not installed")
    from gsp_fd.training.checkpoint import Checkpoint
    from gsp_fd.training.network import RelationalNetwork

    metadata = metadata_of(task, **config)
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    network = RelationalNetwork(metadata.relations, metadata.network)
    with torch.no_grad():
        list(network.readout.parameters())[-1].fill_(-5.0)
    return Checkpoint.of(network, metadata)


def random_model(task: Task, path: Path, seed: int = 0, *, fp16: bool = False, **config: Any) -> Path:
    """Writes a model with random weights for the domain of a task."""
    pytest.importorskip("onnx", reason="the training extra is not installed")
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    checkpoint = random_checkpoint(task, seed, **config)
    from gsp_fd.export.writer import export_model

    export_model(checkpoint, path, fp16=fp16)
    return path


def lifted_of(task: Task) -> LiftedTask:
    assert task.lifted is not None
    return task.lifted


class Batch:
    """States of a random walk with their actions; it starts over where it ends."""

    def __init__(self, model: Model, task: Task, states: int) -> None:
        self.model = model
        self.space = core.LiftedSpace(task.native_lifted())
        self.encoder = model.encoder(lifted_of(task), task.native_lifted())
        self.plans = task.heuristic("ff") if model.metadata.relaxed_plan else None
        rng = np.random.default_rng(1)
        walk = [self.space.initial_state()]
        while len(walk) < states:
            actions = self.space.applicable(walk[-1])
            walk.append(self.space.apply(walk[-1], int(rng.choice(actions))) if len(actions) else walk[0])
        self.states = np.array(walk, np.int32)

    def encoded(self, states: Any = None) -> core.EncodedBatch:
        chosen = self.states if states is None else states
        return self.encoder.encode(self.space, chosen, *core.applicable_rows(self.space, chosen), self.plans)

    def q(self, states: Any = None) -> Any:
        return self.model.backend.q_values(self.encoded(states))
