"""Episodes in lockstep: many searches share each call of the network; each is the planner's search, paused."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gsp_fd import _core
from gsp_fd.training.config import TrainingConfig
from gsp_fd.training.instances import TrainingInstance
from gsp_fd.training.learning.pools import Pools

QFunction = Callable[[_core.EncodedBatch], npt.NDArray[np.float32]]
"""Q-values [A] of a native encoded batch."""
GUIDE_WEIGHT = 3.0
"""w of WA* with hFF: plans nearly as short as with smaller ones, soon found."""
GUIDE_BUDGET = 200_000
"""Expansions of such a search, for the sake of memory; what ends it is its time."""


@dataclass
class Running:
    """An episode under way."""

    index: int
    instance: TrainingInstance
    episode: _core.Episode
    weight: float
    guided: bool


def advance_all(running: Sequence[Running], q_function: QFunction) -> list[Running]:
    """One call of the network for all episodes that wait for it; returns the episodes that are over."""
    waiting = [item for item in running if item.episode.advance()]
    if waiting:
        batch = _core.encode_states(
            [item.instance.encoder for item in waiting],
            [item.episode for item in waiting],
            np.array([item.episode.pending for item in waiting], np.int32),
        )
        _core.feed_all([item.episode for item in waiting], q_function(batch))
    unfinished = {id(item) for item in waiting}
    return [item for item in running if id(item) not in unfinished]


class WeightChoice:
    """Draws w for an episode: those that found plans more often of late are drawn more often."""

    def __init__(self, weights: Sequence[float]) -> None:
        self.success = dict.fromkeys(weights, 0.5)

    def draw(self, rng: random.Random) -> float:
        """A weight; none is ever given up."""
        return rng.choices(list(self.success), [0.1 + rate for rate in self.success.values()])[0]

    def note(self, weight: float, solved: bool) -> None:
        """Moves the success rate of a weight."""
        self.success[weight] += 0.05 * (solved - self.success[weight])


class Collector:
    """Keeps a number of episodes going on instances from the pools."""

    def __init__(
        self, instances: Sequence[TrainingInstance], pools: Pools, config: TrainingConfig, rng: random.Random
    ) -> None:
        self.instances = instances
        self.pools = pools
        self.config = config
        self.rng = rng
        self.choice = WeightChoice(config.wastar_weights)
        self.running: list[Running] = []
        self.expansions = 0
        self.episodes = 0
        self.seconds = self.guided_seconds = 0.0

    def step(self, q_function: QFunction) -> list[Running]:
        """One call of the network; the episodes that ended, with the pools told about them."""
        start = time.perf_counter()
        while len(self.running) < self.config.lockstep:
            # One of hFF's at a time: they take long.
            self.running.append(self._start(guided=not any(item.guided for item in self.running)))
        finished = advance_all(self.running, q_function)
        over = {id(item) for item in finished}
        self.running = [item for item in self.running if id(item) not in over]
        for item in finished:
            self.note(item)
        self.seconds += time.perf_counter() - start
        return finished

    def _start(self, guided: bool) -> Running:
        if guided and self._guides() and (index := self.pools.pick_to_guide()) is not None:
            start = time.perf_counter()
            running = self._guided(index)
            self.guided_seconds += time.perf_counter() - start
            return running
        config, index = self.config, self.pools.pick(self.rng)
        instance = self.instances[index]
        weight = self.choice.draw(self.rng)
        episode = _core.Episode(
            instance.native,
            weight=weight,
            budget=self.pools.budget(index),
            symmetry=config.symmetry,
            dead_ends=instance.dead_ends if config.relaxed_dead_ends else None,
            plans=instance.plans,
        )
        return Running(index, instance, episode, weight, False)

    def _guides(self) -> bool:
        """Whether it is time for a guided episode. Exhausting a state space may take as long as hundreds of others."""
        if self.config.exact_states:
            return self.guided_seconds <= self.config.guided * self.seconds
        return self.rng.random() < self.config.guided

    def _guided(self, index: int) -> Running:
        instance, config = self.instances[index], self.config
        self.pools.records[index].guided = True
        episode = _core.Episode(
            instance.native,
            weight=GUIDE_WEIGHT,
            budget=GUIDE_BUDGET,
            symmetry=config.symmetry,
            guide=instance.guide,
            guide_seconds=config.guide_seconds,
            exact_states=config.exact_states,
            plans=instance.plans,
        )
        return Running(index, instance, episode, GUIDE_WEIGHT, True)

    def note(self, item: Running) -> None:
        """Tells the pools about an episode that is over, whoever ran it. Those of hFF are not counted."""
        episode = item.episode
        if not item.guided:
            self.episodes += 1
            self.expansions += episode.expansions
            self.choice.note(item.weight, episode.solved)
        self.pools.note(
            item.index,
            solved=episode.solved,
            plan_length=episode.plan_length,
            expansions=episode.expansions,
            guided=item.guided,
        )
