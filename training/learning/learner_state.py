"""The learner's networks, optimiser and counters as plain arrays and JSON, for checkpoints and for going back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from gsp_fd.training.learning.collector_state import random_state, set_random_state
from gsp_fd.training.learning.learner import Learner
from gsp_fd.training.network import RelationalNetwork

Array = npt.NDArray[Any]
MOMENTS = ("exp_avg", "exp_avg_sq")


def learner_arrays(learner: Learner) -> dict[str, Array]:
    """Weights of all three networks and the moments of the optimiser (copied)."""
    arrays: dict[str, Array] = {}
    for name in ("network", "target", "average"):
        for key, tensor in getattr(learner, name).state_dict().items():
            arrays[f"{name}/{key}"] = tensor.cpu().numpy().copy()
    for key, parameter in learner.network.named_parameters():
        moments = learner.optimizer.state.get(parameter, {})
        for moment in MOMENTS:
            if moment in moments:
                arrays[f"{moment}/{key}"] = moments[moment].cpu().numpy().copy()
    return arrays


def learner_state(learner: Learner) -> dict[str, Any]:
    """Counters, loss, and random state of the learner."""
    return {
        "steps": learner.steps,
        "optimizer_steps": _optimizer_steps(learner),
        "loss": None if math.isnan(learner.loss) else learner.loss,
        "rate_factor": learner.rate_factor,
        "random": random_state(learner.rng),
        "replay": [len(learner.replay.samples), len(learner.paths.samples)],
    }


def restore_learner(learner: Learner, arrays: Mapping[str, Array], state: Mapping[str, Any]) -> None:
    """Puts a learner where the arrays and the state were taken. KeyError or RuntimeError if they do not fit it."""
    for name in ("network", "target", "average"):
        network: RelationalNetwork = getattr(learner, name)
        network.load_state_dict({key: torch.from_numpy(arrays[f"{name}/{key}"].copy()) for key in network.state_dict()})
    learner.optimizer.state.clear()
    for key, parameter in learner.network.named_parameters():
        if f"{MOMENTS[0]}/{key}" in arrays:
            entry = {"step": torch.tensor(float(state["optimizer_steps"]))}
            entry |= {moment: torch.from_numpy(arrays[f"{moment}/{key}"].copy()) for moment in MOMENTS}
            learner.optimizer.state[parameter] = {name: value.to(learner.device) for name, value in entry.items()}
    learner.steps = int(state["steps"])
    learner.loss = math.nan if state["loss"] is None else float(state["loss"])
    learner.rate_factor = float(state["rate_factor"])
    set_random_state(learner.rng, state["random"])


def is_finite(arrays: Mapping[str, Array]) -> bool:
    """Whether all numbers are."""
    return all(bool(np.isfinite(array).all()) for array in arrays.values())


def _optimizer_steps(learner: Learner) -> int:
    steps = [int(entry["step"]) for entry in learner.optimizer.state.values()]
    return max(steps, default=0)
