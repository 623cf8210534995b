"""Models with random weights, exported as a trained one would be; only for tests that have torch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gsp_fd.model_format import ModelMetadata
from gsp_fd.task import Task
from gsp_fd.training.config import TrainingConfig
from gsp_fd.training.instances import domain_metadata

SMALL = {"d": 8, "layers": 3}
"""Sizes of a network that is quick to export and to evaluate."""


def metadata_of(task: Task, **config: Any) -> ModelMetadata:
    """What a model of the task's domain says about itself."""
    return domain_metadata([task], TrainingConfig(**{**SMALL, **config}))


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
        network.readout[-1].bias.fill_(-5.0)
    return Checkpoint.of(network, metadata)


def random_model(task: Task, path: Path, seed: int = 0, **config: Any) -> Path:
    """Writes a model with random weights for the domain of a task."""
    pytest.importorskip("onnx", reason="the training extra is not installed")
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    checkpoint = random_checkpoint(task, seed, **config)
    from gsp_fd.export.writer import export_model

    export_model(checkpoint, path)
    return path
