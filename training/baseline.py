"""What a heuristic without learning achieves on the validation instances: the measure for a model."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gsp_fd import _core
from gsp_fd.training.instances import TrainingInstance

SEARCH = "lazy greedy search with hFF and its preferred operators"
SECONDS = 1.0
"""CPU time for each instance."""
BOOST = 1000
"""Turns for the preferred operators after progress, as in the alias lazy-hff."""


@dataclass(frozen=True)
class Baseline:
    """Plan lengths of hFF by the name of the instance, None where it found no plan; instances may be missing."""

    steps: Mapping[str, int | None] = field(default_factory=dict)

    @property
    def solved(self) -> int:
        """Instances with a plan."""
        return sum(length is not None for length in self.steps.values())

    def text(self, name: str) -> str:
        """The result on one instance, for people."""
        if name not in self.steps:
            return "hFF: not tried"
        length = self.steps[name]
        return f"hFF: no plan within {SECONDS:g} s" if length is None else f"hFF: {length} steps"

    def sentence(self) -> str:
        """Its coverage."""
        return f"hFF ({SEARCH}, {SECONDS:g} s each) solves {self.solved} of the {len(self.steps)} it was tried on"


def measure(instances: Sequence[TrainingInstance], seconds: float, known: Baseline | None = None) -> Baseline:
    """Runs hFF on the instances that are not known yet, smallest first, until the time is used up."""
    steps = dict(known.steps) if known is not None else {}
    end = time.process_time() + seconds
    for instance in instances:
        left = end - time.process_time()
        if left <= 0:
            break
        if instance.name not in steps:
            steps[instance.name] = _plan_length(instance, min(left, SECONDS))
    return Baseline(steps)


def _plan_length(instance: TrainingInstance, seconds: float) -> int | None:
    heuristic = instance.task.heuristic("ff")
    ground = instance.task.ground_if_small()
    space = _core.GroundSpace(ground) if ground is not None else _core.LiftedSpace(instance.native, False)
    lists = [_core.SingleOpenList(heuristic, preferred) for preferred in (False, True)]
    open_list = _core.AlternationOpenList(lists, BOOST)
    result = _core.search(space, open_list, preferred=[heuristic], lazy=True, max_time=seconds)
    return len(result.plan) if result.status == "solved" else None
