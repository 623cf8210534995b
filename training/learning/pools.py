"""Which instance to search next: the paper's pools by how far an instance is from solved."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from gsp_fd.training.config import TrainingConfig


class Status(IntEnum):
    """unsolved: the last search found no plan; satisficed: it found one; solved: it expanded nothing else."""

    UNSOLVED = 0
    SATISFICED = 1
    SOLVED = 2


@dataclass
class Record:
    """What is known of one instance."""

    status: Status = Status.UNSOLVED
    episodes: int = 0
    best_length: int | None = None
    last_expansions: int | None = None
    failures: int = 0
    """Episodes without a plan since the last one with a plan."""
    guided: bool = False
    """Whether hFF was asked for a plan."""


@dataclass
class Pools:
    """Statuses of all instances, which are numbered by ascending size."""

    count: int
    config: TrainingConfig
    records: list[Record] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.records = self.records or [Record() for _ in range(self.count)]

    def pick(self, rng: random.Random) -> int:
        """The next instance."""
        if self.config.uniform_sampling:
            return rng.randrange(self.count)
        members: list[list[int]] = [[], [], []]
        for index, record in enumerate(self.records):
            members[record.status].append(index)
        weights = [weight if pool else 0.0 for weight, pool in zip(self.config.pool_weights, members, strict=True)]
        pool = rng.choices(range(3), weights)[0]
        if pool == Status.UNSOLVED and rng.random() < self.config.by_size:
            rank = int(rng.expovariate(1 / self.config.size_rank))
            return members[pool][min(rank, len(members[pool]) - 1)]
        return rng.choice(members[pool])

    def pick_to_guide(self) -> int | None:
        """The smallest instance that was not tried, and has no plan unless its state space may be exhausted."""
        for index, record in enumerate(self.records):
            if not record.guided and (record.best_length is None or self.config.exact_states):
                return index
        return None

    def guide_again(self) -> None:
        """Every instance may be picked to be guided once more."""
        for record in self.records:
            record.guided = False

    def budget(self, index: int) -> int:
        """Expansions of the next episode: more for an instance that stays unsolved."""
        factor = min(self.config.budget_growth, 2.0 ** min(30, self.records[index].failures // 2))
        return int(self.config.budget * max(1.0, factor))

    def note(self, index: int, *, solved: bool, plan_length: int, expansions: int, guided: bool) -> None:
        """Takes in the result of an episode. A plan of hFF's is one to do better than, and says nothing of Q."""
        record = self.records[index]
        if guided:
            record.guided = True
            if solved:
                record.best_length = min(plan_length, record.best_length or plan_length)
            return
        record.episodes += 1
        record.last_expansions = expansions
        record.failures = 0 if solved else record.failures + 1
        if not solved:
            record.status = Status.UNSOLVED
            return
        record.status = Status.SOLVED if expansions == plan_length else Status.SATISFICED
        record.best_length = min(plan_length, record.best_length or plan_length)

    def ever_solved(self) -> int:
        """Instances for which a plan was found at least once."""
        return sum(record.best_length is not None for record in self.records)

    def letters(self) -> str:
        """The status of every instance: u(nsolved), s(atisficed), p for solved perfectly."""
        return "".join("usp"[record.status] for record in self.records)

    def counts(self) -> tuple[int, int, int]:
        """Instances per status."""
        statuses: Sequence[Status] = [record.status for record in self.records]
        return statuses.count(Status.UNSOLVED), statuses.count(Status.SATISFICED), statuses.count(Status.SOLVED)
