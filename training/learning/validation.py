"""How good a network is: its greedy policy on the validation instances, and the rank that follows from it."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gsp_fd import _core
from gsp_fd.training.config import TrainingConfig
from gsp_fd.training.instances import TrainingInstance
from gsp_fd.training.learning.episodes import QFunction, Running, advance_all

Validation = Generator[None, None, "Score"]
"""A validation under way: it can stop after every call of the network; its score comes at the end."""
ValuedPlan = tuple[int, npt.NDArray[np.floating], npt.NDArray[np.floating]]
"""Instance, Q and return along its plan."""
WAVE = 8
"""Validation instances that share each call of the network."""
POINTS = 12
"""States of each plan that are kept to compare Q with the truth."""


STEPS_APART = 0.03
"""Plans whose total lengths differ by less than this share count as equally long."""


@dataclass(frozen=True, order=True)
class Score:
    """Rank of a checkpoint: coverage, then fewer steps in all, then smaller error of Q on the plans found."""

    covered: int
    negated_steps: int
    negated_rmse: float
    lengths: tuple[int | None, ...] = field(compare=False, default=())
    calibration: tuple[tuple[int, float, float], ...] = field(compare=False, default=())
    """Some states on the plans: instance, what the way to the goal costs, and -Q, what the network says it costs."""

    @classmethod
    def of_plans(
        cls,
        lengths: Sequence[int | None],
        errors: npt.NDArray[np.floating],
        calibration: Sequence[tuple[int, float, float]] = (),
    ) -> Score:
        """``lengths``: per instance the length of its plan, or None; ``errors`` [n]: Q minus return along the plans."""
        found = [length for length in lengths if length is not None]
        rmse = float(np.sqrt(np.mean(np.square(errors)))) if len(errors) else 0.0
        return cls(len(found), -sum(found), -rmse, tuple(lengths), tuple(calibration))

    @property
    def steps(self) -> int:
        """Total length of the plans found."""
        return -self.negated_steps

    @property
    def rmse(self) -> float:
        """Root mean squared difference between Q and the return, on the states of the plans found."""
        return -self.negated_rmse

    @property
    def of(self) -> int:
        """Number of validation instances."""
        return len(self.lengths)

    def at_least_as_good(self, other: Score) -> bool:
        """The ranking between checkpoints of one run: a difference of a few steps says less than the error of Q."""
        if self.covered != other.covered:
            return self.covered > other.covered
        if abs(self.steps - other.steps) > STEPS_APART * max(self.steps, other.steps):
            return self.steps < other.steps
        return self.rmse <= other.rmse

    def to_json(self) -> dict[str, Any]:
        """For checkpoints and status files."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Score:
        """Inverse of :meth:`to_json`."""
        points = tuple((int(index), float(cost), float(value)) for index, cost, value in data.get("calibration", ()))
        return cls(**{**data, "lengths": tuple(data["lengths"]), "calibration": points})


def validate(instances: Sequence[TrainingInstance], q_function: QFunction, config: TrainingConfig) -> Score:
    """A validation from its start to its end."""
    validation = start_validation(instances, q_function, config)
    while True:
        try:
            next(validation)
        except StopIteration as end:
            score: Score = end.value
            return score


def start_validation(
    instances: Sequence[TrainingInstance], q_function: QFunction, config: TrainingConfig
) -> Validation:
    """Greedy runs on all instances, smallest first, in waves; after a wave without a plan the rest is not tried."""
    lengths: list[int | None] = []
    errors: list[npt.NDArray[np.floating]] = [np.zeros(0)]
    points: list[tuple[int, float, float]] = []
    for first in range(0, len(instances), WAVE):
        wave, plans = yield from _greedy_wave(instances[first : first + WAVE], q_function, config)
        lengths += wave
        for index, q, returns in plans:
            errors.append(q - returns)
            chosen = np.linspace(0, len(q) - 1, min(len(q), POINTS)).astype(int)
            points += [(first + index, -float(returns[i]), -float(q[i])) for i in chosen]
        if all(length is None for length in wave):
            break
    return Score.of_plans(lengths + [None] * (len(instances) - len(lengths)), np.concatenate(errors), points)


def _greedy_wave(
    instances: Sequence[TrainingInstance], q_function: QFunction, config: TrainingConfig
) -> Generator[None, None, tuple[list[int | None], list[ValuedPlan]]]:
    """Plan lengths; and for each plan its instance, with Q and the return along it."""
    running = [
        Running(index, instance, _greedy_episode(instance, config), 0.0, False)
        for index, instance in enumerate(instances)
    ]
    values: list[dict[int, npt.NDArray[np.float32]]] = [{} for _ in instances]
    lengths: list[int | None] = [None] * len(instances)
    plans = []

    def remembering(batch: _core.EncodedBatch) -> npt.NDArray[np.float32]:
        q, first = q_function(batch), 0
        for item in running:
            state = item.episode.pending
            if state >= 0:
                count = item.episode.num_actions(state)
                values[item.index][state] = q[first : first + count]
                first += count
        return q

    while running:
        finished = advance_all(running, remembering)
        for item in finished:
            if item.episode.solved:
                lengths[item.index] = item.episode.plan_length
                plans.append((item.index, *_along_plan(item.episode, values[item.index])))
        over = {id(item) for item in finished}
        running = [item for item in running if id(item) not in over]
        yield
    return lengths, plans


def _greedy_episode(instance: TrainingInstance, config: TrainingConfig) -> _core.Episode:
    guess = instance.distance if math.isfinite(instance.distance) else 0.0
    budget = int(20 + config.validation_steps * guess)
    return _core.Episode(
        instance.native,
        budget=budget,
        greedy=True,
        symmetry=config.symmetry,
        dead_ends=instance.plans,
        plans=instance.plans,
    )


def _along_plan(
    episode: _core.Episode, values: Mapping[int, npt.NDArray[np.float32]]
) -> tuple[npt.NDArray[np.floating], npt.NDArray[np.floating]]:
    """Q and return [n] of the pairs on the plan."""
    state, action, _, _, bound, _ = episode.transitions()
    on_plan = np.flatnonzero(np.isfinite(bound))
    return np.array([values[int(state[i])][action[i]] for i in on_plan]), bound[on_plan]
