"""Conjunctions of literals over the terms of one schema, as the lifted fragment has them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

GroundAtom: TypeAlias = tuple[int, tuple[int, ...]]
"""Predicate and objects; while a schema is being built, predicate and terms."""


class ContradictionError(Exception):
    """A conjunction that can never hold."""


@dataclass(slots=True)
class Literals:
    """A conjunction of literals; atoms are (predicate, terms)."""

    positive: dict[GroundAtom, None] = field(default_factory=dict)
    negative: dict[GroundAtom, None] = field(default_factory=dict)
    equal: dict[tuple[int, int], None] = field(default_factory=dict)
    unequal: dict[tuple[int, int], None] = field(default_factory=dict)

    def compare(self, left: int, right: int, negated: bool) -> None:
        if left == right or (left < 0 and right < 0):
            if (left == right) == negated:
                raise ContradictionError
            return
        pair = (min(left, right), max(left, right))
        (self.unequal if negated else self.equal)[pair] = None
        if pair in (self.equal if negated else self.unequal):
            raise ContradictionError

    def add(self, atom: GroundAtom, negated: bool) -> None:
        (self.negative if negated else self.positive)[atom] = None
        if atom in (self.positive if negated else self.negative):
            raise ContradictionError

    def update(self, other: Literals) -> None:
        for atom in other.positive:
            self.add(atom, False)
        for atom in other.negative:
            self.add(atom, True)
        for pair in other.equal:
            self.compare(*pair, False)
        for pair in other.unequal:
            self.compare(*pair, True)

    def implies(self, other: Literals) -> bool:
        """Whether every literal of ``other`` is among these."""
        return (
            other.positive.keys() <= self.positive.keys()
            and other.negative.keys() <= self.negative.keys()
            and other.equal.keys() <= self.equal.keys()
            and other.unequal.keys() <= self.unequal.keys()
        )
