"""The abstract syntax of a PDDL domain and problem, as parsed: names are lower-case strings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

OBJECT = "object"
"""The root of the type hierarchy."""


@dataclass(frozen=True, slots=True)
class TypedName:
    """An object, parameter or quantified variable; several types mean ``(either ...)``."""

    name: str
    types: tuple[str, ...] = (OBJECT,)


@dataclass(frozen=True, slots=True)
class Atom:
    """``(predicate args...)``; an argument that starts with ``?`` is a variable."""

    predicate: str
    args: tuple[str, ...]
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Equality:
    """``(= left right)`` between two terms."""

    left: str
    right: str
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Not:
    part: Condition
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class And:
    """A conjunction; without parts it is true."""

    parts: tuple[Condition, ...]
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Or:
    """A disjunction; without parts it is false. ``(imply a b)`` is ``(or (not a) b)``."""

    parts: tuple[Condition, ...]
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Forall:
    variables: tuple[TypedName, ...]
    part: Condition
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Exists:
    variables: tuple[TypedName, ...]
    part: Condition
    line: int = field(default=0, compare=False)


Condition: TypeAlias = Atom | Equality | Not | And | Or | Forall | Exists


@dataclass(frozen=True, slots=True)
class SimpleEffect:
    """Adds an atom, or deletes it if ``negated``."""

    atom: Atom
    negated: bool
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class ConjunctiveEffect:
    parts: tuple[Effect, ...]
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class UniversalEffect:
    variables: tuple[TypedName, ...]
    part: Effect
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class ConditionalEffect:
    condition: Condition
    part: Effect
    line: int = field(default=0, compare=False)


Effect: TypeAlias = SimpleEffect | ConjunctiveEffect | UniversalEffect | ConditionalEffect


@dataclass(frozen=True, slots=True)
class FunctionTerm:
    """A numeric function applied to terms; its value never changes."""

    function: str
    args: tuple[str, ...]
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Predicate:
    """A declared predicate or numeric function."""

    name: str
    parameters: tuple[TypedName, ...]
    line: int = field(default=0, compare=False)

    @property
    def arity(self) -> int:
        return len(self.parameters)


@dataclass(frozen=True, slots=True)
class Action:
    """An action schema; ``cost`` is what it adds to ``total-cost`` (None: it says nothing, so 0)."""

    name: str
    parameters: tuple[TypedName, ...]
    precondition: Condition
    effect: Effect
    cost: int | FunctionTerm | None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Derived:
    """One rule of a derived predicate: the atom holds wherever the condition does."""

    predicate: str
    parameters: tuple[TypedName, ...]
    condition: Condition
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Domain:
    """A domain file. ``types`` maps every type but ``object`` to its direct supertypes."""

    name: str
    requirements: tuple[str, ...]
    types: Mapping[str, tuple[str, ...]]
    constants: tuple[TypedName, ...]
    predicates: Mapping[str, Predicate]
    functions: Mapping[str, Predicate]
    actions: tuple[Action, ...]
    derived: tuple[Derived, ...]
    file: str = field(default="", compare=False)
    warnings: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem file.

    ``init`` holds the true atoms as ``(predicate, *objects)`` without duplicates, ``values`` the numeric
    values as ``(function, *objects) -> value``; ``minimize_cost`` is ``(:metric minimize (total-cost))``.
    """

    name: str
    domain_name: str
    objects: tuple[TypedName, ...]
    init: tuple[tuple[str, ...], ...]
    values: Mapping[tuple[str, ...], int]
    goal: Condition
    minimize_cost: bool
    file: str = field(default="", compare=False)
    warnings: tuple[str, ...] = field(default=(), compare=False)


def supertypes(types: Mapping[str, tuple[str, ...]], name: str) -> list[str]:
    """The type itself and everything above it, ``object`` last."""
    found = {name: None}
    pending = [name]
    while pending:
        for parent in types.get(pending.pop(), ()):
            if parent not in found:
                found[parent] = None
                pending.append(parent)
    found.pop(OBJECT, None)
    return [*found, OBJECT]


def objects_by_type(domain: Domain, problem: Problem) -> dict[str, list[str]]:
    """All constants and objects of every type, subtypes included, in order of declaration."""
    members: dict[str, list[str]] = {OBJECT: [], **{name: [] for name in domain.types}}
    above = {name: supertypes(domain.types, name) for name in members}
    for item in (*domain.constants, *problem.objects):
        for name in above[item.types[0]]:
            members[name].append(item.name)
    return members
