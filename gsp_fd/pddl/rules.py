"""What lifted tasks are made of: literals, rules with conjunctive conditions, action schemas."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Literal:
    """A predicate with terms: ``>= 0`` is a parameter of the rule, ``-(o + 1)`` is object ``o``."""

    predicate: int
    args: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """A conjunction of conditions over parameters (types), and what becomes true or false where it holds."""

    parameters: tuple[int, ...]
    positive: tuple[Literal, ...]
    negative: tuple[Literal, ...]
    equal: tuple[tuple[int, int], ...]
    unequal: tuple[tuple[int, int], ...]
    add: tuple[Literal, ...]
    delete: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class Schema:
    """An action schema. Its cost is ``cost`` plus the values of ``cost_terms`` (function, terms).

    Preconditions that are no conjunction have ``alternatives``, each complete, whose parameters are those of the
    schema and then witnesses; ``positive`` and the like are then what all of them share. The effects of ``conditional``
    have the parameters of the schema and then those over which they range.
    """

    name: str
    parameters: tuple[int, ...]
    parameter_names: tuple[str, ...]
    positive: tuple[Literal, ...]
    negative: tuple[Literal, ...]
    equal: tuple[tuple[int, int], ...]
    unequal: tuple[tuple[int, int], ...]
    add: tuple[Literal, ...]
    delete: tuple[Literal, ...]
    cost: int
    cost_terms: tuple[tuple[int, tuple[int, ...]], ...]
    alternatives: tuple[Rule, ...] = ()
    conditional: tuple[Rule, ...] = ()
