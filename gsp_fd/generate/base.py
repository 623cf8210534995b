"""What a generator is: a domain and a rule that draws instances; and the helpers all of them share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from random import Random

from pddl.core import Domain

Atom = tuple[str, ...]
"""A ground atom: the predicate followed by its objects."""

UNTYPED = ""
"""The key of `Instance.objects` for the objects of a domain without types."""


@dataclass(frozen=True, slots=True)
class Instance:
    """One problem: its objects by type (domain constants left out), its initial state and its goal."""

    objects: dict[str, list[str]]
    init: Sequence[Atom]
    goal: Sequence[Atom]

    def solved(self) -> bool:
        """Whether the goal already holds in the initial state."""
        return set(self.goal) <= set(self.init)


@dataclass(frozen=True, slots=True)
class DomainFile:
    """A domain as it was written, with its comments."""

    name: str
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Generator:
    """A domain and the rule that draws its instances."""

    domain: Callable[[], Domain | DomainFile]
    instance: Callable[[int, Random], Instance]
    """Draws an instance of the given size; should its goal hold initially, the caller draws again."""
    size: str
    """What the size counts, for people."""
    smallest: int
    """The smallest size there is an instance of."""
    training: tuple[int, int]
    """The sizes of a training set."""
    largest: int
    """The size of the largest published test instance (or ours, where there is none)."""
    read: Callable[[Path], Iterator[Instance]] | None = None
    """The instances of a text file in the puzzle's public format; InputError with file, line and reason."""


def domain_file(name: str) -> DomainFile:
    """The domain in the file `domains/NAME.pddl` beside this one; its name is NAME."""
    file = resources.files("gsp_fd.generate") / "domains" / f"{name}.pddl"
    return DomainFile(name, file.read_text(encoding="ascii").rstrip())


def names(prefix: str, count: int) -> list[str]:
    """`count` object names: prefix1, prefix2, …"""
    return [f"{prefix}{i}" for i in range(1, count + 1)]


def share(rng: Random, total: int, low: float, high: float, least: int = 1) -> int:
    """A random share of `total`, between `low` and `high` of it, but at least `least`."""
    return max(least, round(total * rng.uniform(low, high)))


def other(rng: Random, items: list[str], than: str) -> str:
    """A random item different from `than`; `items` holds at least two."""
    while (item := rng.choice(items)) == than:
        pass
    return item


def subset(rng: Random, items: Sequence[Atom], least: int = 0) -> list[Atom]:
    """A random subset of random size, `least` or more (all, if there are fewer), in the order of `items`."""
    count = rng.randint(min(least, len(items)), len(items))
    return [items[i] for i in sorted(rng.sample(range(len(items)), count))]
