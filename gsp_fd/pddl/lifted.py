"""From the syntax tree to the lifted task that the native core is built from.

All the PDDL that Fast Downward accepts has a lifted task: typing, constants, equality, negation, disjunction,
quantifiers, conditional and universal effects, derived predicates and action costs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from gsp_fd.pddl.ast import (
    OBJECT,
    Action,
    ConditionalEffect,
    ConjunctiveEffect,
    Domain,
    Effect,
    FunctionTerm,
    Problem,
    SimpleEffect,
    TypedName,
    objects_by_type,
)
from gsp_fd.pddl.cost_values import CostValues, Relations
from gsp_fd.pddl.goals import GoalLiterals
from gsp_fd.pddl.literals import GroundAtom, Literals
from gsp_fd.pddl.normal_form import AUXILIARY, TRUE, NormalForm, Variables, conjunction
from gsp_fd.pddl.parser import garbage_collection_paused
from gsp_fd.pddl.rules import Literal, Rule, Schema
from gsp_fd.pddl.strata import strata

_FRAMES_PER_LEVEL = 8
"""Of Python, at most, for a level of nested formulas, of which the reader allows a few hundred."""


@dataclass(frozen=True, slots=True)
class LiftedTask:
    """A task with names replaced by indices.

    ``objects`` start with the ``constants`` domain constants. Type 0 is ``object``; ``type_members`` lists
    the objects of a type, subtypes included, ``object_types`` the declared type of an object. ``fluent``
    marks the predicates that appear in an effect, and the derived ones, whose rules are ``axioms``: stratum by
    stratum, so that a rule negates only what earlier strata derive, or the same one where only ground atoms have an
    order. Predicates whose name starts with ``@aux-`` stand for parts of conditions, which differ from problem to
    problem: models do not see them. An action is applicable only where its cost terms have a value: where the
    preconditions do not imply that, a static predicate ``@def-FUNCTION`` does. Without ``use_costs`` every action costs
    1. Atoms both added and deleted by an action end up true.
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
    axioms: tuple[tuple[Rule, ...], ...] = ()

    def is_auxiliary(self, predicate: int) -> bool:
        """Whether a predicate is not the domain's, but stands for a part of a condition."""
        return self.predicates[predicate].startswith(AUXILIARY)

    @property
    def signature(self) -> list[tuple[str, int]]:
        """The predicates that models see, with their arities."""
        pairs = zip(self.predicates, self.arities, strict=True)
        return [(name, arity) for name, arity in pairs if not name.startswith(AUXILIARY)]

    @property
    def derived(self) -> frozenset[int]:
        """The predicates that axioms derive."""
        return frozenset(rule.add[0].predicate for stratum in self.axioms for rule in stratum)

    @property
    def is_stratified(self) -> bool:
        """Whether no rule negates a predicate of its own stratum; otherwise ground atoms may have an order still."""
        for stratum in self.axioms:
            heads = {rule.add[0].predicate for rule in stratum}
            if any(literal.predicate in heads for rule in stratum for literal in rule.negative):
                return False
        return True


def lifted_task(domain: Domain, problem: Problem) -> LiftedTask:
    """The lifted task."""
    with garbage_collection_paused(), _deep_recursion():
        return _Converter(domain, problem).convert()


@contextmanager
def _deep_recursion() -> Iterator[None]:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit * _FRAMES_PER_LEVEL)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


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
        used = [action.cost.function for action in domain.actions if isinstance(action.cost, FunctionTerm)]
        self.functions = {name: index for index, name in enumerate(dict.fromkeys(used))}
        derived = {rule.predicate for rule in domain.derived}
        self.form = NormalForm(
            predicates={name: index for index, name in enumerate(domain.predicates)},
            predicate_types=[self._types(item.parameters) for item in domain.predicates.values()],
            members=self.members,
            types_of=self._types,
            constants=self._object_terms(domain.constants),
            basic=frozenset(i for i, name in enumerate(domain.predicates) if name not in derived),
        )

    def convert(self) -> LiftedTask:
        domain, problem = self.domain, self.problem
        predicates = self.form.predicates
        values = self._function_values()
        schemas = [schema for action in domain.actions if (schema := self._schema(action))]
        for rule in domain.derived:
            scope = self._variables(rule.parameters)
            atom = (predicates[rule.predicate], tuple(range(len(rule.parameters))))
            for body in self.form.alternatives(rule.condition, scope):
                self.form.rules += self.form.rule(scope.types, len(rule.parameters), body, [atom])
        fluent = {literal.predicate for schema in schemas for literal in _changed(schema)}
        fluent |= {predicates[rule.predicate] for rule in domain.derived}
        init = self._init()
        goal = self._goal(fluent, init)
        fluent |= self._auxiliary()
        relations = Relations(list(predicates), self.form.predicate_types, init, fluent)
        schemas = CostValues(list(self.functions), values, self.members).required_by(schemas, relations)
        if not problem.minimize_cost:
            schemas = [replace(schema, cost=1, cost_terms=()) for schema in schemas]
            self.functions, values = {}, []
        types = relations.types
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
            axioms=strata(self.form.rules),
        )

    def _auxiliary(self) -> set[int]:
        return set(range(len(self.domain.predicates), len(self.form.predicates)))

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
        predicates, objects = self.form.predicates, self.objects
        return [(predicates[fact[0]], tuple([objects[name] for name in fact[1:]])) for fact in self.problem.init]

    def _function_values(self) -> list[dict[tuple[int, ...], int]]:
        values: list[dict[tuple[int, ...], int]] = [{} for _ in self.functions]
        for (function, *args), value in self.problem.values.items():
            if function in self.functions and all(name in self.objects for name in args):
                values[self.functions[function]][tuple(self.objects[name] for name in args)] = value
        return values

    def _object_terms(self, names: Sequence[TypedName]) -> dict[str, int]:
        return {item.name: -self.objects[item.name] - 1 for item in names}

    # -- schemas

    def _variables(self, parameters: Sequence[TypedName]) -> Variables:
        return Variables(self.form.constants, {}, []).extended(parameters, self._types(parameters))

    def _schema(self, action: Action) -> Schema | None:
        """The schema, or None if it is never applicable or changes nothing."""
        scope = self._variables(action.parameters)
        count = len(action.parameters)
        conditions = self.form.alternatives(action.precondition, scope)
        rules = tuple(rule for item in conditions for rule in self.form.rule(scope.types, count, item))
        if not rules:
            return None
        shared = rules[0] if len(rules) == 1 and len(rules[0].parameters) == count else _shared(rules, count)
        always = _EffectGroup(TRUE, scope)
        groups = [always]
        known = conditions[0] if len(conditions) == 1 else Literals()
        self._effects(action.effect, known, always, groups)
        conditional = tuple(rule for group in groups[1:] for rule in group.rules(self.form, count, always))
        if not always.add and not always.delete and not conditional:
            return None
        cost_terms: tuple[tuple[int, tuple[int, ...]], ...] = ()
        if isinstance(action.cost, FunctionTerm):
            args = tuple(scope.terms[name] for name in action.cost.args)
            cost_terms = ((self.functions[action.cost.function], args),)
        return Schema(
            name=action.name,
            parameters=tuple(scope.types[:count]),
            parameter_names=tuple(parameter.name for parameter in action.parameters),
            positive=shared.positive,
            negative=shared.negative,
            equal=shared.equal,
            unequal=shared.unequal,
            add=tuple(Literal(*atom) for atom in always.add),
            delete=tuple(Literal(*atom) for atom in always.delete if atom not in always.add),
            cost=action.cost if isinstance(action.cost, int) else 0,
            cost_terms=cost_terms,
            alternatives=() if shared is rules[0] else rules,
            conditional=conditional,
        )

    def _effects(self, effect: Effect, known: Literals, group: _EffectGroup, groups: list[_EffectGroup]) -> None:
        """Adds the effects to their groups: the same conditions beside what is known, for the same variables."""
        if isinstance(effect, SimpleEffect):
            atom = effect.atom
            key = self.form.predicates[atom.predicate], tuple(group.scope.terms[name] for name in atom.args)
            (group.delete if effect.negated else group.add)[key] = None
            return
        if isinstance(effect, ConjunctiveEffect):
            for part in effect.parts:
                self._effects(part, known, group, groups)
            return
        if isinstance(effect, ConditionalEffect):
            found = self.form.alternatives(effect.condition, group.scope)
            found = [item.without(known) for item in found if conjunction([known], [item])]
            inner = _EffectGroup(conjunction(group.conditions, found), group.scope)
            if Literals() in found:
                inner = group
        else:
            types = self._types(effect.variables)
            if not all(self.members[kind] for kind in types):
                return
            scope = group.scope.extended(effect.variables, types)
            inner = _EffectGroup(group.conditions, scope) if effect.variables else group
        if inner is not group:
            groups.append(inner)
        self._effects(effect.part, known, inner, groups)

    def _goal(self, fluent: set[int], init: Sequence[GroundAtom]) -> Literals:
        self.form.constants = self._object_terms((*self.domain.constants, *self.problem.objects))
        return GoalLiterals(self.form, {*fluent, *self._auxiliary()}, set(init)).of(self.problem.goal)


def _ground(atoms: Iterable[GroundAtom]) -> tuple[GroundAtom, ...]:
    return tuple((predicate, tuple(-term - 1 for term in terms)) for predicate, terms in atoms)


def _changed(schema: Schema) -> Iterator[Literal]:
    """The literals that the actions of a schema may make true or false."""
    yield from (*schema.add, *schema.delete)
    for rule in schema.conditional:
        yield from (*rule.add, *rule.delete)


def _shared(rules: Sequence[Rule], count: int) -> Rule:
    """What all alternatives say about the parameters of the schema."""
    first, *others = rules

    def common(part: str) -> tuple[Literal, ...]:
        literals: tuple[Literal, ...] = getattr(first, part)
        return tuple(
            literal
            for literal in literals
            if all(term < count for term in literal.args) and all(literal in getattr(other, part) for other in others)
        )

    return Rule(first.parameters[:count], common("positive"), common("negative"), (), (), (), ())


@dataclass(slots=True)
class _EffectGroup:
    """Effects under the same conditions, of which one must hold, for all values of the same variables."""

    conditions: list[Literals]
    scope: Variables
    add: dict[GroundAtom, None] = field(default_factory=dict)
    delete: dict[GroundAtom, None] = field(default_factory=dict)

    def rules(self, form: NormalForm, parameters: int, always: _EffectGroup) -> Iterator[Rule]:
        """A rule per condition; what an action does anyway is left out."""
        add = [atom for atom in self.add if atom not in always.add]
        delete = [atom for atom in self.delete if atom not in always.add and atom not in self.add]
        if add or delete:
            for condition in self.conditions:
                yield from form.rule(self.scope.types, parameters, condition, add, delete)
