"""Values of the functions that costs are made of: an action is applicable only where its cost has one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

from gsp_fd.pddl.literals import GroundAtom
from gsp_fd.pddl.rules import Literal, Schema


@dataclass(slots=True)
class Relations:
    """The predicates of the task under construction and its initial atoms."""

    names: list[str]
    types: list[tuple[int, ...]]
    init: list[GroundAtom]
    fluent: set[int]

    def static(self, name: str, arity: int, tuples: Iterable[tuple[int, ...]]) -> int:
        """The index of a predicate that holds for exactly these objects, made if it is not there yet."""
        if name not in self.names:
            self.names.append(name)
            self.types.append((0,) * arity)
            self.init.extend((len(self.names) - 1, objects) for objects in tuples if len(objects) == arity)
        return self.names.index(name)


@dataclass(frozen=True, slots=True)
class CostValues:
    """The values of every function, and the objects of every type."""

    functions: Sequence[str]
    values: Sequence[Mapping[tuple[int, ...], int]]
    members: Sequence[tuple[int, ...]]

    def required_by(self, schemas: Sequence[Schema], task: Relations) -> list[Schema]:
        """Schemas restricted to arguments whose cost has a value, as in Fast Downward."""
        by_predicate: dict[int, list[tuple[int, ...]]] = {}
        for predicate, objects in task.init:
            by_predicate.setdefault(predicate, []).append(objects)
        result = []
        for schema in schemas:
            for function, args in schema.cost_terms:
                defined = self.values[function]
                if not defined:
                    break
                if not self._always_defined(schema, args, defined, by_predicate, task.fluent):
                    predicate = task.static(f"@def-{self.functions[function]}", len(args), defined)
                    schema = _with_precondition(schema, Literal(predicate, args))
            else:
                result.append(schema)
        return result

    def _always_defined(
        self,
        schema: Schema,
        args: tuple[int, ...],
        defined: Mapping[tuple[int, ...], int],
        by_predicate: Mapping[int, list[tuple[int, ...]]],
        fluent: set[int],
    ) -> bool:
        """Whether types, or one static precondition, guarantee that the function has a value."""
        used = [arg for arg in args if arg >= 0]
        for literal in schema.positive:
            if literal.predicate in fluent or not set(used) <= set(literal.args):
                continue
            places = [literal.args.index(arg) if arg >= 0 else arg for arg in args]
            atoms = by_predicate.get(literal.predicate, [])
            if all(tuple([atom[p] if p >= 0 else -p - 1 for p in places]) in defined for atom in atoms):
                return True
        choices = [self.members[schema.parameters[arg]] if arg >= 0 else (-arg - 1,) for arg in args]
        size = prod(len(choice) for choice in choices)
        return size <= len(defined) and all(objects in defined for objects in product(*choices))


def _with_precondition(schema: Schema, literal: Literal) -> Schema:
    more = tuple(replace(rule, positive=(*rule.positive, literal)) for rule in schema.alternatives)
    return replace(schema, positive=(*schema.positive, literal), alternatives=more)
