"""Search workers: Ray actors that run episodes as the planner evaluates models. A worker never imports torch.

The learner keeps the pools, the replay buffers and the networks. A worker gets a model, the bytes of an ONNX file, and
a copy of the pools with every call, searches for a moment, and returns the episodes that ended, as flat arrays.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gsp_fd import _core
from gsp_fd.common.cluster import connect
from gsp_fd.common.errors import InputError
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.inference import Backend, backend_of
from gsp_fd.model_format import ModelMetadata
from gsp_fd.task import Task
from gsp_fd.training.config import TrainingConfig
from gsp_fd.training.instances import TrainingInstance, make_instances
from gsp_fd.training.learning.collector_state import collector_state, restore_pools
from gsp_fd.training.learning.episodes import Collector, Running
from gsp_fd.training.learning.pools import Pools
from gsp_fd.training.learning.validation import Score, validate

if TYPE_CHECKING:
    from gsp_fd.training.network import RelationalNetwork

QUEUE = 2
"""Calls that wait at a worker: while its results travel it goes on with the next."""
LOST_AFTER = 300.0
"""Seconds after which a worker that does not answer is given up."""
MAX_LOSSES = 3
"""Times in a row that a worker may be lost without having returned anything."""


@dataclass(frozen=True)
class Found:
    """An episode that is over, as it travels."""

    index: int
    weight: float
    guided: bool
    record: npt.NDArray[np.int32]


@dataclass(frozen=True)
class Harvest:
    """What a worker returns: the episodes that ended, the version of the model, and the seconds it took."""

    found: list[Found]
    version: int
    pid: int
    seconds: float


class SearchWorker:
    """Runs episodes, and validations, with models it is given. Lives in a process of its own."""

    def __init__(
        self,
        seed: int,
        tasks: Sequence[Task],
        validation_tasks: Sequence[Task],
        metadata: ModelMetadata,
        config: TrainingConfig,
    ) -> None:
        self.metadata, self.config, self.validation_tasks = metadata, config, validation_tasks
        instances = make_instances(tasks, metadata)
        self.collector = Collector(instances, Pools(len(instances), config), config, random.Random(seed))
        self.validation: list[TrainingInstance] | None = None
        self.version: int | None = None
        self.backend: Backend

    def ready(self) -> None:
        """Answers as soon as this worker can work."""

    def collect(self, version: int, model: bytes, pools: dict[str, Any]) -> Harvest:
        """Searches for ``worker_seconds``; episodes that are not over then go on in the next call."""
        restore_pools(self.collector, pools)
        if version != self.version:
            self.version, self.backend = version, backend_of(model, self.metadata)
        start = time.perf_counter()
        found: list[Found] = []
        while (seconds := time.perf_counter() - start) < self.config.worker_seconds:
            found += [
                Found(item.index, item.weight, item.guided, item.episode.export())
                for item in self.collector.step(self.backend.q_values)
            ]
        return Harvest(found, version, os.getpid(), seconds)

    def validate(self, model: bytes) -> Score:
        """The score of a model on the validation instances."""
        if self.validation is None:
            self.validation = make_instances(self.validation_tasks, self.metadata)
        return validate(self.validation, backend_of(model, self.metadata).q_values, self.config)


@dataclass
class _Call:
    """A call under way."""

    worker: int
    validates: bool
    since: float


class Fleet:
    """All workers: gives them models, takes their episodes, replaces those that are lost."""

    def __init__(
        self,
        count: int,
        address: str,
        config: TrainingConfig,
        metadata: ModelMetadata,
        tasks: tuple[Sequence[Task], Sequence[Task]],
        model_of: Callable[[RelationalNetwork], bytes],
    ) -> None:
        """``tasks``: for training and validation; ``address``: of a cluster, or ""; ``model_of``: ONNX of a network."""
        self.ray = connect(count, address, needed_by="search workers need", otherwise="say --workers 0")
        self.config = config
        self.actor: Any = self.ray.remote(num_cpus=1, max_restarts=0)(SearchWorker)
        self.arguments = [self.ray.put(part) for part in (*tasks, metadata, config)]
        self.model_of = model_of
        self.calls: dict[Any, _Call] = {}
        self.pids: dict[int, int] = {}
        self.losses, self.losses_in_a_row, self.stale, self.seconds = 0, 0, 0, 0.0
        self.score: Score | None = None
        self.version, self._model = -1, self.ray.put(b"")
        self._created = self._turn = 0
        self.workers = [self._create() for _ in range(count)]

    def wait(self, stopped: Callable[[], bool]) -> None:
        """Until all workers can work, which they may never do: whoever calls them next finds out."""
        answers, start = [worker.ready.remote() for worker in self.workers], time.monotonic()
        while answers and not stopped() and time.monotonic() - start < LOST_AFTER:
            answers = self.ray.wait(answers, num_returns=len(answers), timeout=0.2)[1]

    def publish(self, version: int, network: RelationalNetwork) -> None:
        """The network for all calls from now on; there must be one before the first."""
        self.version, self._model = version, self.ray.put(self.model_of(network))

    def poll(self, collector: Collector, wait: float) -> tuple[list[Running], list[str]]:
        """Episodes that arrived, and messages about lost workers; waits at most ``wait`` seconds for the first one.

        The collector knows the instances and the pools; it is not told about the episodes yet.
        """
        items: list[Running] = []
        messages: list[str] = []
        self._fill(collector)
        ready = self.ray.wait(list(self.calls), num_returns=1, timeout=wait)[0]
        if ready and len(self.calls) > 1:
            ready = self.ray.wait(list(self.calls), num_returns=len(self.calls), timeout=0)[0]
        for reference in ready:
            if reference not in self.calls:  # of a worker that was lost a moment ago
                continue
            call = self.calls.pop(reference)
            try:
                result = self.ray.get(reference)
            except self.ray.exceptions.RayTaskError as error:
                raise _failure(error) from None
            except self.ray.exceptions.RayError as error:
                messages.append(self._replace(call.worker, f"{type(error).__name__}"))
                continue
            self.losses_in_a_row = 0
            if isinstance(result, Score):
                self.score = result
            else:
                items += self._harvest(call.worker, result, collector.instances)
        messages += self._give_up_silent()
        self._fill(collector)
        return items, messages

    def start_validation(self, network: RelationalNetwork) -> None:
        """Validates a network beside the search; the result will be in ``score``."""
        self.score = None
        self._turn = (self._turn + 1) % len(self.workers)
        worker = self._turn
        reference = self.workers[worker].validate.remote(self.ray.put(self.model_of(network)))
        self.calls[reference] = _Call(worker, True, time.monotonic())

    @property
    def validating(self) -> bool:
        """Whether a validation is under way; one whose worker is lost is not."""
        return any(call.validates for call in self.calls.values())

    def close(self) -> None:
        """Ends all workers."""
        for worker in self.workers:
            self.ray.kill(worker)
        self.workers, self.calls = [], {}

    def _create(self) -> Any:
        self._created += 1
        return self.actor.remote(1000 * self.config.seed + self._created, *self.arguments)

    def _fill(self, collector: Collector) -> None:
        """Keeps QUEUE calls waiting at every worker."""
        waiting = [call.worker for call in self.calls.values() if not call.validates]
        pools: Any = None
        for number, worker in enumerate(self.workers):
            for _ in range(QUEUE - waiting.count(number)):
                pools = pools or self.ray.put(collector_state(collector))
                reference = worker.collect.remote(self.version, self._model, pools)
                self.calls[reference] = _Call(number, False, time.monotonic())

    def _harvest(self, worker: int, harvest: Harvest, instances: Sequence[TrainingInstance]) -> list[Running]:
        self.pids[worker] = harvest.pid
        self.seconds += harvest.seconds
        if self.version - harvest.version > self.config.staleness:
            self.stale += 1
            return []
        return [
            Running(
                found.index,
                instances[found.index],
                _core.Episode.restore(instances[found.index].native, found.record),
                found.weight,
                found.guided,
            )
            for found in harvest.found
        ]

    def _give_up_silent(self) -> list[str]:
        now = time.monotonic()
        silent = {call.worker for call in self.calls.values() if now - call.since > LOST_AFTER}
        return [self._replace(worker, f"no answer for {LOST_AFTER:.0f} s") for worker in sorted(silent)]

    def _replace(self, worker: int, reason: str) -> str:
        self.losses += 1
        self.losses_in_a_row += 1
        if self.losses_in_a_row > MAX_LOSSES * len(self.workers):
            raise InputError(
                f"search workers die again and again ({reason}): see Ray's logs, or say --workers 0",
                exit_code=ExitCode.DRIVER_CRITICAL_ERROR,
            )
        self.ray.kill(self.workers[worker])
        self.calls = {reference: call for reference, call in self.calls.items() if call.worker != worker}
        self.workers[worker] = self._create()
        return f"search worker {worker} was lost ({reason}) and replaced"


def _failure(error: Any) -> InputError:
    """An exception inside a worker, which another worker would meet as well."""
    cause = getattr(error, "cause", None)
    if isinstance(cause, InputError):
        return cause
    text = f"{type(cause).__name__}: {cause}" if cause else str(error).strip().splitlines()[-1]
    return InputError(f"a search worker failed: {text}", exit_code=ExitCode.DRIVER_CRITICAL_ERROR)
