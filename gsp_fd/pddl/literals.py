"""Conjunctions of literals over the terms of one schema, as the lifted fragment has them."""

from __future__ import annotations

from collections.abc import Mapping
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

    def has_variables(self) -> bool:
        """Whether something is said of other terms than objects."""
        terms = [args for _, args in (*self.positive, *self.negative)]
        return any(term >= 0 for part in (*terms, *self.equal, *self.unequal) for term in part)

    def copy(self) -> Literals:
        """The same literals, to be changed."""
        return Literals(dict(self.positive), dict(self.negative), dict(self.equal), dict(self.unequal))

    def without(self, other: Literals) -> Literals:
        """The literals that are not among others."""
        return Literals(
            {atom: None for atom in self.positive if atom not in other.positive},
            {atom: None for atom in self.negative if atom not in other.negative},
            {pair: None for pair in self.equal if pair not in other.equal},
            {pair: None for pair in self.unequal if pair not in other.unequal},
        )

    def renamed(self, names: Mapping[int, int]) -> Literals:
        """With other terms for some; ContradictionError if they cannot hold any more."""
        result = Literals()
        for negated, atoms in ((False, self.positive), (True, self.negative)):
            for predicate, args in atoms:
                result.add((predicate, tuple(names.get(term, term) for term in args)), negated)
        for negated, pairs in ((False, self.equal), (True, self.unequal)):
            for left, right in pairs:
                result.compare(names.get(left, left), names.get(right, right), negated)
        return result

    def implies(self, other: Literals) -> bool:
        """Whether every literal of ``other`` is among these."""
        return (
            other.positive.keys() <= self.positive.keys()
            and other.negative.keys() <= self.negative.keys()
            and other.equal.keys() <= self.equal.keys()
            and other.unequal.keys() <= self.unequal.keys()
        )
