"""What PDDL formulas mean in a state, read straight from the syntax tree: the validator's half of the truth.

Nothing here is shared with the search. Conditions are turned into functions of an environment: a list with
one slot for every variable and constant of the formula.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import TypeAlias

from gsp_fd.common.errors import InputError
from gsp_fd.pddl.ast import (
    And,
    Atom,
    Condition,
    ConditionalEffect,
    ConjunctiveEffect,
    Derived,
    Domain,
    Effect,
    Equality,
    Exists,
    Forall,
    Not,
    Or,
    Problem,
    SimpleEffect,
    TypedName,
    objects_by_type,
)

Objects: TypeAlias = tuple[str, ...]
GroundAtom: TypeAlias = tuple[str, Objects]
Test: TypeAlias = Callable[[list[str]], bool]
Change: TypeAlias = Callable[[list[str], list[GroundAtom], list[GroundAtom]], None]


class World:
    """The objects of a task and one state of it."""

    def __init__(self, domain: Domain, problem: Problem) -> None:
        self.members = objects_by_type(domain, problem)
        self.member_sets = {name: frozenset(objects) for name, objects in self.members.items()}
        self.atoms: dict[str, set[Objects]] = {name: set() for name in domain.predicates}
        for fact in problem.init:
            self.atoms[fact[0]].add(fact[1:])
        self.derived = DerivedPredicates(self, domain.derived, domain.file)

    def candidates(self, variable: TypedName) -> list[str]:
        """The objects that a variable ranges over."""
        return list(dict.fromkeys(name for kind in variable.types for name in self.members[kind]))

    def is_a(self, name: str, variable: TypedName) -> bool:
        """Whether an object has (one of) the types of a variable."""
        return any(name in self.member_sets[kind] for kind in variable.types)

    def apply(self, add: Iterable[GroundAtom], delete: Iterable[GroundAtom]) -> None:
        """Changes the state; an atom both deleted and added ends up true."""
        for predicate, objects in delete:
            self.atoms[predicate].discard(objects)
        for predicate, objects in add:
            self.atoms[predicate].add(objects)
        self.derived.forget()


class Compiler:
    """Compiles the conditions and effects of one action, rule or goal, which share an environment."""

    def __init__(self, world: World, parameters: Sequence[TypedName] = ()) -> None:
        self.world = world
        self.parameters = len(parameters)
        self.scope = {parameter.name: index for index, parameter in enumerate(parameters)}
        self.environment = [parameter.name for parameter in parameters]
        self.used: set[int] = set()

    def bind(self, arguments: Sequence[str]) -> list[str]:
        """The environment with these arguments as the parameters."""
        self.environment[: self.parameters] = arguments
        return self.environment

    def _slots(self, scope: Mapping[str, int], terms: Iterable[str]) -> list[int]:
        slots = []
        for term in terms:
            if term not in scope and term not in self.scope:
                self.scope[term] = self._new_slot(term)
            slots.append(scope[term] if term in scope else self.scope[term])
        self.used.update(slots)
        return slots

    def _new_slot(self, content: str) -> int:
        self.environment.append(content)
        return len(self.environment) - 1

    def _inner_scope(self, scope: Mapping[str, int], variables: Sequence[TypedName]) -> dict[str, int]:
        return {**scope, **{variable.name: self._new_slot(variable.name) for variable in variables}}

    def _ranges(self, inner: Mapping[str, int], variables: Sequence[TypedName]) -> tuple[list[int], list[list[str]]]:
        """Slots and objects of the variables; one object stands for all where the variable is not used."""
        slots = [inner[variable.name] for variable in variables]
        ranges = [self.world.candidates(variable) for variable in variables]
        return slots, [found if slot in self.used else found[:1] for slot, found in zip(slots, ranges, strict=True)]

    # Every level of a formula costs one Python frame, here and when it is evaluated, see reader.MAX_DEPTH.

    def condition(self, condition: Condition, scope: Mapping[str, int] | None = None, negated: bool = False) -> Test:
        """A function that tells whether the condition (or its negation) holds."""
        scope = self.scope if scope is None else scope
        if isinstance(condition, Not):
            return self.condition(condition.part, scope, not negated)
        if isinstance(condition, Atom):
            return self._atom(condition, scope, negated)
        if isinstance(condition, Equality):
            left, right = self._slots(scope, (condition.left, condition.right))
            return lambda environment: (environment[left] == environment[right]) != negated
        if isinstance(condition, (And, Or)):
            parts = []
            for part in condition.parts:
                parts.append(self.condition(part, scope, negated))
            return _junction(parts, isinstance(condition, Or) == negated)
        inner = self._inner_scope(scope, condition.variables)
        test = self.condition(condition.part, inner, negated)
        slots, members = self._ranges(inner, condition.variables)
        return _quantification(test, slots, members, isinstance(condition, Exists) == negated)

    def _atom(self, atom: Atom, scope: Mapping[str, int], negated: bool) -> Test:
        slots = self._slots(scope, atom.args)
        if atom.predicate in self.world.derived.rules:
            holds, name = self.world.derived.holds, atom.predicate
            return lambda environment: holds((name, tuple([environment[slot] for slot in slots])), negated) != negated
        true_atoms = self.world.atoms[atom.predicate]
        return lambda environment: (tuple([environment[slot] for slot in slots]) in true_atoms) != negated

    def effect(self, effect: Effect, scope: Mapping[str, int] | None = None) -> Change:
        """A function that collects what the effect adds and deletes in the present state."""
        scope = self.scope if scope is None else scope
        if isinstance(effect, SimpleEffect):
            return _simple_change(effect, self._slots(scope, effect.atom.args))
        if isinstance(effect, ConjunctiveEffect):
            parts = []
            for part in effect.parts:
                parts.append(self.effect(part, scope))
            return _all_changes(parts)
        if isinstance(effect, ConditionalEffect):
            test = self.condition(effect.condition, scope)
            return _conditional_change(test, self.effect(effect.part, scope))
        inner = self._inner_scope(scope, effect.variables)
        change = self.effect(effect.part, inner)
        slots, members = self._ranges(inner, effect.variables)
        return _repeated_change(change, slots, members)


class Undecided(InputError):
    """A derived atom whose rules give it no truth value; whether that matters depends on what stands beside it."""


def _junction(parts: Sequence[Test], conjunction: bool) -> Test:
    def test(environment: list[str]) -> bool:
        undecided = None
        for part in parts:
            try:
                if part(environment) != conjunction:
                    return not conjunction
            except Undecided as error:
                undecided = error
        if undecided:
            raise undecided
        return conjunction

    return test


def _quantification(part: Test, slots: Sequence[int], members: Sequence[Sequence[str]], universal: bool) -> Test:
    def test(environment: list[str]) -> bool:
        undecided = None
        for objects in product(*members):
            for slot, name in zip(slots, objects):  # noqa: B905 - same length by construction, and hot
                environment[slot] = name
            try:
                if part(environment) != universal:
                    return not universal
            except Undecided as error:
                undecided = error
        if undecided:
            raise undecided
        return universal

    return test


def _simple_change(effect: SimpleEffect, slots: Sequence[int]) -> Change:
    predicate, negated = effect.atom.predicate, effect.negated

    def change(environment: list[str], add: list[GroundAtom], delete: list[GroundAtom]) -> None:
        atom = predicate, tuple([environment[slot] for slot in slots])
        (delete if negated else add).append(atom)

    return change


def _all_changes(parts: Sequence[Change]) -> Change:
    def change(environment: list[str], add: list[GroundAtom], delete: list[GroundAtom]) -> None:
        for part in parts:
            part(environment, add, delete)

    return change


def _conditional_change(test: Test, part: Change) -> Change:
    def change(environment: list[str], add: list[GroundAtom], delete: list[GroundAtom]) -> None:
        if test(environment):
            part(environment, add, delete)

    return change


def _repeated_change(part: Change, slots: Sequence[int], members: Sequence[Sequence[str]]) -> Change:
    def change(environment: list[str], add: list[GroundAtom], delete: list[GroundAtom]) -> None:
        for objects in product(*members):
            for slot, name in zip(slots, objects, strict=True):
                environment[slot] = name
            part(environment, add, delete)

    return change


class DerivedPredicates:
    """Truth of derived atoms in the present state, found on demand.

    Atoms of mutually recursive predicates are solved together: an atom is looked at again only when one that
    it asked for has become true. Negation inside such a group is given its well-founded meaning, which agrees
    with stratification atom by atom; what stays undecided is not stratifiable, and an error where it decides something.
    """

    def __init__(self, world: World, rules: Sequence[Derived], file: str) -> None:
        self.world, self.file = world, file
        self.rules: dict[str, list[Derived]] = {}
        for rule in rules:
            self.rules.setdefault(rule.predicate, []).append(rule)
        self.lines = {name: found[0].line for name, found in self.rules.items()}
        uses = [(rule.predicate, *use) for rule in rules for use in _used(rule.condition, self.rules)]
        edges = {name: {used for user, used, _ in uses if user == name} for name in self.rules}
        self.group = _groups(edges)
        same_group = [use for use in uses if self.group[use[0]] == self.group[use[1]]]
        self.negative_groups = {self.group[user] for user, _, negated in same_group if negated}
        self.compiled: dict[str, list[tuple[Compiler, Test, Derived]]] = {}
        self.known: dict[GroundAtom, bool] = {}
        self.solving: list[_Solver] = []

    def forget(self) -> None:
        """Called when the state has changed."""
        self.known.clear()

    def holds(self, atom: GroundAtom, negated: bool = False) -> bool:
        """Whether a derived atom is true; ``negated`` if the question stands under a negation."""
        if self.solving and self.solving[-1].group == self.group[atom[0]]:
            return self.solving[-1].ask(atom, negated)
        if atom not in self.known:
            self._solve(atom)
        return self.known[atom]

    def evaluate(self, atom: GroundAtom) -> bool:
        """Whether some rule derives the atom, given the present answers of :meth:`holds`."""
        predicate, objects = atom
        if predicate not in self.compiled:
            self.compiled[predicate] = []
            for rule in self.rules[predicate]:
                compiler = Compiler(self.world, rule.parameters)
                self.compiled[predicate].append((compiler, compiler.condition(rule.condition), rule))
        for compiler, test, rule in self.compiled[predicate]:
            if all(map(self.world.is_a, objects, rule.parameters)) and test(compiler.bind(objects)):
                return True
        return False

    def _solve(self, atom: GroundAtom) -> None:
        solver = _Solver(self, self.group[atom[0]], atom)
        self.solving.append(solver)
        try:
            if solver.group in self.negative_groups:
                over, under = solver.well_founded_model()
            else:
                over = under = solver.least_model(set())
        finally:
            self.solving.pop()
        if over != under:
            predicate = min(over ^ under)[0]
            message = f"the rules of derived predicate '{predicate}' are not stratifiable"
            raise Undecided(message, self.file, self.lines[predicate])
        for asked in solver.asked:
            self.known[asked] = asked in over


class _Solver:
    """Finds the least model of the atoms of one group that matter for one atom."""

    def __init__(self, derived: DerivedPredicates, group: int, atom: GroundAtom) -> None:
        self.derived, self.group = derived, group
        self.asked = {atom: None}

    def least_model(self, assumed: set[GroundAtom]) -> set[GroundAtom]:
        """The atoms derivable if negated atoms of the group are exactly those outside ``assumed``."""
        self.assumed, self.true = assumed, set[GroundAtom]()
        self.waiting: dict[GroundAtom, list[GroundAtom]] = {}
        self.pending = list(self.asked)
        while self.pending:
            self.current = self.pending.pop()
            if self.current not in self.true and self.derived.evaluate(self.current):
                self.true.add(self.current)
                self.pending += self.waiting.pop(self.current, [])
        return self.true

    def well_founded_model(self) -> tuple[set[GroundAtom], set[GroundAtom]]:
        """The atoms that are not false, and those that are true, by alternating fixpoints."""
        while True:
            asked = len(self.asked)
            over = self.least_model(set())
            under = self.least_model(over)
            while (again := self.least_model(under)) != over:
                over = again
                under = self.least_model(over)
            if len(self.asked) == asked:
                return over, under

    def ask(self, atom: GroundAtom, negated: bool) -> bool:
        if atom not in self.asked:
            self.asked[atom] = None
            self.pending.append(atom)
        if negated:
            return atom in self.assumed
        if atom in self.true:
            return True
        self.waiting.setdefault(atom, []).append(self.current)
        return False


def _used(condition: Condition, derived: Iterable[str]) -> set[tuple[str, bool]]:
    """The derived predicates in a condition, each with whether it stands under a negation."""
    found: set[tuple[str, bool]] = set()
    pending: list[tuple[Condition, bool]] = [(condition, False)]
    while pending:
        part, negated = pending.pop()
        if isinstance(part, Atom):
            if part.predicate in derived:
                found.add((part.predicate, negated))
        elif isinstance(part, Not):
            pending.append((part.part, not negated))
        elif isinstance(part, (And, Or)):
            pending.extend((child, negated) for child in part.parts)
        elif isinstance(part, (Forall, Exists)):
            pending.append((part.part, negated))
    return found


def _groups(edges: Mapping[str, set[str]]) -> dict[str, int]:
    """A number for every predicate, the same for those that depend on each other."""
    reach: dict[str, set[str]] = {}
    for name in edges:
        reached: set[str] = set()
        pending = [name]
        while pending:
            for used in edges[pending.pop()]:
                if used not in reached:
                    reached.add(used)
                    pending.append(used)
        reach[name] = reached
    numbers: dict[str, int] = {}
    for index, name in enumerate(edges):
        numbers.setdefault(name, index)
        for other in reach[name]:
            if name in reach[other]:
                numbers.setdefault(other, numbers[name])
    return numbers
