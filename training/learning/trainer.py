"""The self-improving loop: search fills the replay buffers, gradient steps improve the Q-function that guides search.

Search takes turns with learning in this process, or runs in the workers of a :class:`Fleet` while this process learns.
"""

from __future__ import annotations

import math
import random
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gsp_fd import _core
from gsp_fd.common.errors import InputError
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.model_format import EncodedBatch
from gsp_fd.training.checkpoint import Checkpoint
from gsp_fd.training.config import TrainingConfig
from gsp_fd.training.instance_sets import InstanceSets
from gsp_fd.training.instances import TrainingInstance
from gsp_fd.training.learning.collector_state import collector_state, restore_collector
from gsp_fd.training.learning.episodes import Collector, QFunction, Running
from gsp_fd.training.learning.learner import DivergedError, Learner, frozen
from gsp_fd.training.learning.learner_state import is_finite, learner_arrays, learner_state, restore_learner
from gsp_fd.training.learning.pools import Pools
from gsp_fd.training.learning.validation import Score, Validation, start_validation
from gsp_fd.training.learning.workers import Fleet
from gsp_fd.training.network import RelationalNetwork
from gsp_fd.training.progress import Row, Watcher

LEARN_SECONDS = 0.1
"""With workers: how long this process learns before it looks for new episodes."""
TURN_SECONDS = 5.0
"""Without: how long it learns at most before it searches again, and sees to everything else."""
PUBLISH_EVERY = 0.25
"""Seconds between two versions of the model for workers."""
ROW_EVERY = 1.0
"""Seconds between two rows of progress."""
RATE_WINDOW = 15.0
"""Seconds over which rates per second are taken."""
STOPPED_SECONDS = 10.0
"""How long the last validation of a training that was stopped may take: somebody waits for its end."""
MAX_ROLLBACKS = 5
"""Times in a row that learning may diverge from the same checkpoint."""
COUNTERS = ("elapsed", "search_seconds", "learn_seconds", "validation_seconds")
"""Seconds that a resumed run goes on counting."""
PARITY_STATES = 4
"""Real states that a checkpoint keeps so that its export can be checked on them."""


class Store(Protocol):
    """Where checkpoints go."""

    def save(self, checkpoint: Checkpoint) -> None:
        """The state to resume from."""

    def keep_best(self, checkpoint: Checkpoint, score: Score) -> None:
        """The best validation so far."""


def dead_end_return(instances: Sequence[TrainingInstance], config: TrainingConfig) -> float:
    """Below the return of any plan that training is likely to find: the guide guesses the longest one, from below."""
    if config.dead_end_return:
        return -abs(config.dead_end_return)
    finite = [instance.distance for instance in instances if np.isfinite(instance.distance)]
    return -max(20.0, 2.0 * max(finite, default=0.0))


class Trainer:
    """One run of training."""

    def __init__(
        self,
        sets: InstanceSets,
        config: TrainingConfig,
        watcher: Watcher,
        store: Store,
        fleet: Fleet | None = None,
        freeze: Callable[[RelationalNetwork], QFunction] = frozen,
    ) -> None:
        """``freeze``: makes the Q-function that validates a network's present weights."""
        self.sets, self.config, self.watcher, self.store, self.fleet = sets, config, watcher, store, fleet
        self.freeze = freeze
        instances = sets.training
        pools = Pools(len(instances), config)
        self.collector = Collector(instances, pools, config, random.Random(config.seed))
        self.learner = Learner(sets.metadata, config, dead_end_return(instances, config))
        self.best: Score | None = None
        self.last: Score | None = None
        self.search_seconds = self.learn_seconds = self.validation_seconds = self.elapsed = 0.0
        self.stopped = False
        self.rollbacks = 0
        self._plans: dict[int, npt.NDArray[np.int32]] = {}
        self._good: tuple[dict[str, Any], dict[str, Any]] = (learner_arrays(self.learner), learner_state(self.learner))
        self._candidate: Checkpoint | None = None
        self._validation: Validation | None = None
        self._due = {"validation": config.validate_every / 2, "checkpoint": 0.0, "row": 0.0, "publish": 0.0}
        self._rates: deque[tuple[float, int, int]] = deque()
        self._start = 0.0
        self._batches = _real_states(instances, config)

    def stop(self) -> None:
        """Ends the training after the current step; it is validated and saved as usual."""
        self.stopped = True

    def start_from(self, network: RelationalNetwork) -> None:
        """Begins with the weights of a network of the same sizes."""
        self.learner.start_from(network)
        self._good = learner_arrays(self.learner), learner_state(self.learner)

    def run(self, minutes: float = math.inf) -> None:
        """Trains until the configured time is over, or only the first minutes of it. Starting workers takes none."""
        if self.fleet is not None:
            self.fleet.wait(lambda: self.stopped)
        self._start = time.perf_counter() - self.elapsed
        seconds = 60 * min(minutes, self.config.minutes)
        while self.elapsed < seconds and not self.stopped:
            self._search()
            self._learn()
            self._tick()
        self.save()
        self._validate_last()
        self.save()

    # ---- search and learning

    @property
    def _learns(self) -> bool:
        return self.learner.ready and not self.config.frozen

    def _search(self) -> None:
        start = time.perf_counter()
        if self.fleet is None:
            try:
                items = self.collector.step(self.learner.q_function)
            except _core.CoreInputError as error:  # values that are no numbers
                self._roll_back(str(error.args[0]))
                return
            self.search_seconds += time.perf_counter() - start
        else:
            items = self._poll(self.fleet)
        for item in items:
            self.learner.take(item.instance, item.episode)
            if item.episode.solved:
                self._plans[item.index] = item.episode.export(plan_only=True)

    def _poll(self, fleet: Fleet) -> list[Running]:
        if self._is_due("publish", PUBLISH_EVERY) and fleet.version != self.learner.steps:
            fleet.publish(self.learner.steps, self.learner.average)
        items, messages = fleet.poll(self.collector, 0.0 if self._learns else LEARN_SECONDS)
        for message in messages:
            self.watcher.message(message)
        for item in items:
            self.collector.note(item)
        self.search_seconds = fleet.seconds
        return items

    def _learn(self) -> None:
        share, seconds = self.config.learn_share, LEARN_SECONDS if self.fleet else TURN_SECONDS
        until = time.perf_counter() + seconds
        while self._learns and not self.stopped and (start := time.perf_counter()) < until:
            if self.fleet is None and self.learn_seconds * (1 - share) >= self.search_seconds * share:
                return
            try:
                self.learner.step(self.elapsed / (60 * self.config.minutes))
            except DivergedError as error:
                self._roll_back(str(error))
            self.learn_seconds += time.perf_counter() - start

    def _roll_back(self, reason: str) -> None:
        """Back to the last good state of the learner, with half the learning rate."""
        self.rollbacks += 1
        if self.rollbacks > MAX_ROLLBACKS:
            raise InputError(
                f"learning diverges again and again ({reason}): lower --learning-rate",
                exit_code=ExitCode.DRIVER_CRITICAL_ERROR,
            )
        arrays, state = self._good
        factor = self.learner.rate_factor / 2
        restore_learner(self.learner, arrays, state)
        self.learner.rate_factor = factor
        self.watcher.message(
            f"learning diverged: {reason}; back to step {self.learner.steps}, learning rates times {factor:g}"
        )

    # ---- what happens now and then

    def _tick(self) -> None:
        self.elapsed = time.perf_counter() - self._start
        if self.fleet is None:
            if self._validation is None and self._is_due("validation", self.config.validate_every):
                self._start_validation()
            self._go_on_validating(self.config.validation_share * self.elapsed)
        else:
            self._validate_beside(self.fleet)
        if self._is_due("checkpoint", self.config.checkpoint_every):
            self.save()
        if self._is_due("row", ROW_EVERY):
            self.watcher.row(self._row(validated=False))

    def _start_validation(self) -> None:
        self._candidate = self._snapshot()
        q_function = self.freeze(self.learner.average)
        self._validation = start_validation(self.sets.validation, q_function, self.config)

    def _go_on_validating(self, seconds: float) -> None:
        """The validation goes on while all of them have taken less than these seconds; the rest comes next time."""
        while self._validation is not None and self.validation_seconds < seconds:
            start = time.perf_counter()
            try:
                next(self._validation)
            except StopIteration as end:
                assert self._candidate is not None
                self._validated(self._candidate, end.value)
                self._candidate = self._validation = None
            self.validation_seconds += time.perf_counter() - start

    def _validate_last(self) -> None:
        """The end of training is validated, too: shortly if it was stopped, to the end if nothing was before."""
        self._start_validation()
        seconds = self.config.validation_share * 60 * self.config.minutes
        if self.stopped:
            seconds = STOPPED_SECONDS
        elif self.best is None:
            seconds = math.inf
        self._go_on_validating(self.validation_seconds + seconds)

    def _validate_beside(self, fleet: Fleet) -> None:
        if self._candidate is not None and fleet.score is not None:
            self._validated(self._candidate, fleet.score)
            self._candidate = fleet.score = None
        elif self._candidate is not None and not fleet.validating:
            self._candidate = None  # its worker was lost
        if self._candidate is None and self._is_due("validation", self.config.validate_every):
            self._candidate = self._snapshot()
            fleet.start_validation(self.learner.average)

    def _is_due(self, what: str, every: float) -> bool:
        self.elapsed = time.perf_counter() - self._start
        if self.elapsed < self._due[what]:
            return False
        self._due[what] = self.elapsed + every
        return True

    def _validated(self, candidate: Checkpoint, score: Score) -> None:
        """Takes in a validation; of equally good checkpoints the later one is kept."""
        self.last = score
        self.elapsed = time.perf_counter() - self._start
        if self.best is None or score.at_least_as_good(self.best):
            self.best = score
            validation = {"covered": score.covered, "of": score.of, "steps": score.steps, "rmse": round(score.rmse, 4)}
            self.store.keep_best(replace(candidate, metadata=replace(candidate.metadata, validation=validation)), score)
        self.watcher.row(self._row(validated=True))

    def _snapshot(self) -> Checkpoint:
        """The averaged weights with what is known of them."""
        training = {
            **asdict(self.config),
            "trained_minutes": round(self.elapsed / 60, 3),
            "gradient_steps": self.learner.steps,
            "solved_in_training": self.collector.pools.ever_solved(),
        }
        metadata = replace(self.sets.metadata, training=training)
        return Checkpoint.of(self.learner.average, metadata, batches=self._batches)

    # ---- checkpoints

    def save(self) -> None:
        """Writes a checkpoint, unless the networks hold something that is no number: then the last one stays."""
        arrays, state = learner_arrays(self.learner), learner_state(self.learner)
        if not is_finite(arrays):
            self._roll_back("a weight is not a number")
            return
        if self.learner.steps > self._good[1]["steps"]:
            self.rollbacks = 0
        self._good = arrays, state
        plans = {f"plans/{index}": record for index, record in self._plans.items()}
        counters = {name: getattr(self, name) for name in COUNTERS}
        content = {"learner": state, "collector": collector_state(self.collector), **counters}
        self.store.save(replace(self._snapshot(), arrays={**arrays, **plans}, state=content))

    def restore(self, checkpoint: Checkpoint, best: Score | None, file: str) -> None:
        """Goes on where a checkpoint was saved. The replay buffers start with the last plan of every instance;
        state spaces are exhausted again."""
        arrays, state = checkpoint.arrays, checkpoint.state
        try:
            restore_learner(self.learner, arrays, state["learner"])
            restore_collector(self.collector, state["collector"])
            if self.config.exact_states:
                self.collector.pools.guide_again()
            for name in COUNTERS:
                setattr(self, name, float(state[name]))
            for name, record in arrays.items():
                if name.startswith("plans/"):
                    self._restore_plan(int(name.removeprefix("plans/")), record)
        except (KeyError, TypeError, ValueError, RuntimeError, IndexError) as error:
            reason = " ".join(str(error).split())[:200]
            raise InputError(
                f"the checkpoint does not fit this run's settings and instances ({type(error).__name__}: {reason})",
                file,
                exit_code=ExitCode.DRIVER_INPUT_ERROR,
            ) from None
        self.best = self.last = best
        if self.fleet is not None:
            self.fleet.seconds = self.search_seconds
        self._good = learner_arrays(self.learner), learner_state(self.learner)
        self._due = {name: self.elapsed + due for name, due in self._due.items()}

    def _restore_plan(self, index: int, record: npt.NDArray[np.int32]) -> None:
        instance = self.sets.training[index]
        self._plans[index] = record
        self.learner.take(instance, _core.Episode.restore(instance.native, record))

    # ---- progress

    def _row(self, *, validated: bool) -> Row:
        pools, learner = self.collector.pools, self.learner
        unsolved, satisficed, solved = pools.counts()
        last = [record.last_expansions for record in pools.records if record.last_expansions is not None]
        low, median, high = np.percentile(last, [25, 50, 75]).tolist() if last else (math.nan,) * 3
        self._rates.append((self.elapsed, self.collector.expansions, learner.steps))
        while len(self._rates) > 2 and self.elapsed - self._rates[0][0] > RATE_WINDOW:
            self._rates.popleft()
        then, expansions, steps = self._rates[0]
        seconds = max(self.elapsed - then, 1e-9)
        return Row(
            minutes=self.elapsed / 60,
            unsolved=unsolved,
            satisficed=satisficed,
            solved=solved,
            solve_rate=pools.ever_solved() / pools.count,
            expansions_low=low,
            expansions_median=median,
            expansions_high=high,
            validation_covered=self.last.covered if self.last else 0,
            validation_of=self.last.of if self.last else 0,
            validation_steps=self.last.steps if self.last else 0,
            validation_rmse=self.last.rmse if self.last else math.nan,
            loss=learner.loss,
            episodes=self.collector.episodes,
            transitions=self.collector.expansions,
            gradient_steps=learner.steps,
            transitions_per_second=max(0.0, (self.collector.expansions - expansions) / seconds),
            gradient_steps_per_second=max(0.0, (learner.steps - steps) / seconds),
            validated=validated,
            pools=pools.letters(),
        )


def _real_states(instances: Sequence[TrainingInstance], config: TrainingConfig) -> list[EncodedBatch]:
    """Initial states of some instances, as one batch."""
    chosen = instances[:: max(1, len(instances) // PARITY_STATES)][:PARITY_STATES]
    episodes = [_core.Episode(instance.native, symmetry=config.symmetry, plans=instance.plans) for instance in chosen]
    native = _core.encode_states([instance.encoder for instance in chosen], episodes, np.zeros(len(chosen), np.int32))
    arrays = (native.node_state, native.action_node, native.action_state, native.state_sizes)
    return [EncodedBatch(tuple(map(np.array, native.relations)), *map(np.array, arrays))]
