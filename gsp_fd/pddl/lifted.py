"""From the syntax tree to the lifted task that the native core is built from.

The lifted fragment is STRIPS with typing, constants, equality, negative preconditions and goals, and action
costs. Whatever lies outside it goes through Fast Downward's translator; :class:`NotLifted` says why.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

from gsp_fd.pddl.ast import (
    OBJECT,
    Action,
    And,
    Atom,
    Condition,
    ConditionalEffect,
    ConjunctiveEffect,
    Domain,
    Effect,
    Equality,
    Exists,
    Forall,
    FunctionTerm,
    Not,
    Or,
    Problem,
    SimpleEffect,
    TypedName,
    objects_by_type,
)
from gsp_fd.pddl.literals import ContradictionError, GroundAtom, Literals
from gsp_fd.pddl.parser import garbage_collection_paused

_MAX_EXPANSION = 100_000
"""Largest number of instances of a universally quantified goal that is written out."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A predicate with terms: ``>= 0`` is a parameter of the schema, ``-(o + 1)`` is object ``o``."""

    predicate: int
    args: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Schema:
    """An action schema. Its cost is ``cost`` plus the values of ``cost_terms`` (function, terms)."""

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


@dataclass(frozen=True, slots=True)
class LiftedTask:
    """A task in the lifted fragment, with names replaced by indices.

    ``objects`` start with the ``constants`` domain constants. Type 0 is ``object``; ``type_members`` lists
    the objects of a type, subtypes included, ``object_types`` the declared type of an object. ``fluent``
    marks the predicates that appear in an effect. An action is applicable only where its cost terms have a
    value: where the preconditions do not imply that, a static predicate ``@def-FUNCTION`` does. Without
    ``use_costs`` every action costs 1. Atoms both added and deleted by an action end up true.
    """

    domain_name: str
    problem_name: str
    objects: tuple[str, ...]
    constants: int
    types: tuple[str, ...]
    type_members: tuple[tuple[int, ...], ...]
    object_types: tuple[int, ...]
    predicates: tuple[str, ...]
    arities: tuple[int, ...]
    predicate_types: tuple[tuple[int, ...], ...]
    fluent: tuple[bool, ...]
    schemas: tuple[Schema, ...]
    init: list[GroundAtom]
    goal_positive: tuple[GroundAtom, ...]
    goal_negative: tuple[GroundAtom, ...]
    functions: tuple[str, ...]
    function_values: tuple[dict[tuple[int, ...], int], ...]
    use_costs: bool


@dataclass(frozen=True, slots=True)
class NotLifted:
    """Why a task is outside the lifted fragment, and the file and line where that shows."""

    reason: str
    line: int
    file: str = ""


def lifted_task(domain: Domain, problem: Problem) -> LiftedTask | NotLifted:
    """The task in the lifted fragment, or the first feature that is outside it."""
    if domain.derived:
        rule = domain.derived[0]
        return NotLifted(f"derived predicate '{rule.predicate}'", rule.line, domain.file)
    with garbage_collection_paused():
        try:
            return _Converter(domain, problem).convert()
        except _OutsideError as outside:
            return outside.reason


class _OutsideError(Exception):
    def __init__(self, reason: NotLifted) -> None:
        super().__init__(reason)
        self.reason = reason


class _Converter:
    def __init__(self, domain: Domain, problem: Problem) -> None:
        self.domain, self.problem = domain, problem
        items = (*domain.constants, *problem.objects)
        self.objects = {item.name: index for index, item in enumerate(items)}
        self.type_names = [OBJECT, *domain.types]
        self.types: dict[tuple[str, ...], int] = {(name,): i for i, name in enumerate(self.type_names)}
        members = objects_by_type(domain, problem)
        self.members = [tuple(self.objects[name] for name in members[kind]) for kind in self.type_names]
        self.object_types = tuple(self.types[item.types] for item in items)
        self.predicates = {name: index for index, name in enumerate(domain.predicates)}
        used = [action.cost.function for action in domain.actions if isinstance(action.cost, FunctionTerm)]
        self.functions = {name: index for index, name in enumerate(dict.fromkeys(used))}
        self.file = domain.file
        self.where = ""
        self.expansions = 0

    def convert(self) -> LiftedTask:
        domain, problem = self.domain, self.problem
        values = self._function_values()
        schemas = [schema for action in domain.actions if (schema := self._schema(action))]
        fluent = {literal.predicate for schema in schemas for literal in (*schema.add, *schema.delete)}
        types = [self._types(item.parameters) for item in domain.predicates.values()]
        relations = _Relations(list(self.predicates), types, self._init(), fluent)
        schemas = self._require_values(schemas, values, relations)
        if not problem.minimize_cost:
            schemas = [replace(schema, cost=1, cost_terms=()) for schema in schemas]
            self.functions, values = {}, []
        goal = self._goal()
        return LiftedTask(
            domain_name=domain.name,
            problem_name=problem.name,
            objects=tuple(self.objects),
            constants=len(domain.constants),
            types=tuple(self.type_names),
            type_members=tuple(self.members),
            object_types=self.object_types,
            predicates=tuple(relations.names),
            arities=tuple(len(parameters) for parameters in types),
            predicate_types=tuple(types),
            fluent=tuple(index in fluent for index in range(len(relations.names))),
            schemas=tuple(schemas),
            init=relations.init,
            goal_positive=_ground(goal.positive),
            goal_negative=_ground(goal.negative),
            functions=tuple(self.functions),
            function_values=tuple(values),
            use_costs=problem.minimize_cost,
        )

    def outside(self, feature: str, line: int) -> _OutsideError:
        return _OutsideError(NotLifted(f"{feature} in {self.where}", line, self.file))

    # -- names to indices

    def _types(self, parameters: Sequence[TypedName]) -> tuple[int, ...]:
        """The type of every parameter; an either-type gets its own entry."""
        result = []
        for parameter in parameters:
            key = parameter.types if len(parameter.types) == 1 else tuple(sorted(parameter.types))
            if key not in self.types:
                self.types[key] = len(self.type_names)
                self.type_names.append(" ".join(("either", *key)))
                union = {member for kind in key for member in self.members[self.types[(kind,)]]}
                self.members.append(tuple(sorted(union)))
            result.append(self.types[key])
        return tuple(result)

    def _init(self) -> list[GroundAtom]:
        predicates, objects = self.predicates, self.objects
        return [(predicates[fact[0]], tuple([objects[name] for name in fact[1:]])) for fact in self.problem.init]

    def _function_values(self) -> list[dict[tuple[int, ...], int]]:
        values: list[dict[tuple[int, ...], int]] = [{} for _ in self.functions]
        for (function, *args), value in self.problem.values.items():
            if function in self.functions and all(name in self.objects for name in args):
                values[self.functions[function]][tuple(self.objects[name] for name in args)] = value
        return values

    def _object_terms(self, names: Sequence[TypedName]) -> dict[str, int]:
        return {item.name: -self.objects[item.name] - 1 for item in names}

    # -- schemas and the goal

    def _schema(self, action: Action) -> Schema | None:
        """The schema, or None if it is never applicable or changes nothing."""
        self.where = f"action '{action.name}'"
        terms = self._object_terms(self.domain.constants)
        terms.update((parameter.name, index) for index, parameter in enumerate(action.parameters))
        condition = Literals()
        try:
            self._conjunction(action.precondition, terms, False, condition)
        except ContradictionError:
            return None
        add: dict[GroundAtom, None] = {}
        delete: dict[GroundAtom, None] = {}
        self._effects(action.effect, terms, condition, add, delete)
        if not add and not delete:
            return None
        cost_terms: tuple[tuple[int, tuple[int, ...]], ...] = ()
        if isinstance(action.cost, FunctionTerm):
            args = tuple(terms[name] for name in action.cost.args)
            cost_terms = ((self.functions[action.cost.function], args),)
        return Schema(
            name=action.name,
            parameters=self._types(action.parameters),
            parameter_names=tuple(parameter.name for parameter in action.parameters),
            positive=tuple(Literal(*atom) for atom in condition.positive),
            negative=tuple(Literal(*atom) for atom in condition.negative),
            equal=tuple(condition.equal),
            unequal=tuple(condition.unequal),
            add=tuple(Literal(*atom) for atom in add),
            delete=tuple(Literal(*atom) for atom in delete if atom not in add),
            cost=action.cost if isinstance(action.cost, int) else 0,
            cost_terms=cost_terms,
        )

    def _goal(self) -> Literals:
        self.where, self.file = "the goal", self.problem.file
        terms = self._object_terms((*self.domain.constants, *self.problem.objects))
        goal = Literals()
        try:
            self._conjunction(self.problem.goal, terms, False, goal)
        except ContradictionError:
            raise self.outside("contradiction", self.problem.goal.line) from None
        return goal

    # -- formulas. Each level of nesting costs one Python frame, see reader.MAX_DEPTH.

    def _conjunction(self, condition: Condition, terms: Mapping[str, int], negated: bool, out: Literals) -> None:
        """Adds the literals of a condition, negated or not, to a conjunction."""
        if isinstance(condition, Atom):
            args = tuple([terms[name] for name in condition.args])
            out.add((self.predicates[condition.predicate], args), negated)
        elif isinstance(condition, Equality):
            out.compare(terms[condition.left], terms[condition.right], negated)
        elif isinstance(condition, Not):
            self._conjunction(condition.part, terms, not negated, out)
        elif isinstance(condition, (And, Or)):
            if isinstance(condition, And) != negated:
                for part in condition.parts:
                    self._conjunction(part, terms, negated, out)
                return
            alternatives = []
            for part in condition.parts:
                alternative = Literals()
                try:
                    self._conjunction(part, terms, negated, alternative)
                except ContradictionError:
                    continue
                if out.implies(alternative):
                    return
                alternatives.append(alternative)
            if not alternatives:
                raise ContradictionError
            if len(alternatives) > 1:
                raise self.outside("disjunction", condition.line)
            out.update(alternatives[0])
        elif isinstance(condition, Exists) != negated:
            raise self.outside("existential quantifier", condition.line)
        elif self.where != "the goal":
            raise self.outside("universal quantifier", condition.line)
        else:
            for extended in self._instances(condition, terms):
                self._conjunction(condition.part, extended, negated, out)

    def _instances(self, condition: Forall | Exists, terms: Mapping[str, int]) -> Iterator[dict[str, int]]:
        """The terms extended by every assignment of objects to the quantified variables."""
        members = [self.members[kind] for kind in self._types(condition.variables)]
        names = [variable.name for variable in condition.variables]
        for objects in product(*members):
            self.expansions += 1
            if self.expansions > _MAX_EXPANSION:
                raise self.outside("universal quantifier with too many instances", condition.line)
            yield {**terms, **{name: -index - 1 for name, index in zip(names, objects, strict=True)}}

    def _effects(
        self,
        effect: Effect,
        terms: Mapping[str, int],
        precondition: Literals,
        add: dict[GroundAtom, None],
        delete: dict[GroundAtom, None],
    ) -> None:
        if isinstance(effect, SimpleEffect):
            atom = effect.atom
            key = self.predicates[atom.predicate], tuple(terms[name] for name in atom.args)
            (delete if effect.negated else add)[key] = None
        elif isinstance(effect, ConjunctiveEffect):
            for part in effect.parts:
                self._effects(part, terms, precondition, add, delete)
        elif isinstance(effect, ConditionalEffect):
            condition = Literals()
            try:
                self._conjunction(effect.condition, terms, False, condition)
            except ContradictionError:
                return
            except _OutsideError:
                raise self.outside("conditional effect", effect.line) from None
            if not precondition.implies(condition):
                raise self.outside("conditional effect", effect.line)
            self._effects(effect.part, terms, precondition, add, delete)
        elif effect.variables:
            raise self.outside("universal effect", effect.line)
        else:
            self._effects(effect.part, terms, precondition, add, delete)

    # -- costs

    def _require_values(
        self,
        schemas: Sequence[Schema],
        values: Sequence[Mapping[tuple[int, ...], int]],
        task: _Relations,
    ) -> list[Schema]:
        """Schemas restricted to arguments whose cost has a value, as in Fast Downward."""
        by_predicate: dict[int, list[tuple[int, ...]]] = {}
        for predicate, objects in task.init:
            by_predicate.setdefault(predicate, []).append(objects)
        names = list(self.functions)
        result = []
        for schema in schemas:
            for function, args in schema.cost_terms:
                defined = values[function]
                if not defined:
                    break
                if not self._always_defined(schema, args, defined, by_predicate, task.fluent):
                    predicate = task.static(f"@def-{names[function]}", len(args), defined)
                    schema = replace(schema, positive=(*schema.positive, Literal(predicate, args)))
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


@dataclass(slots=True)
class _Relations:
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


def _ground(atoms: Iterable[GroundAtom]) -> tuple[GroundAtom, ...]:
    return tuple((predicate, tuple(-term - 1 for term in terms)) for predicate, terms in atoms)
