"""The goal as literals: what is a conjunction stays visible, the rest becomes atoms of auxiliary predicates."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from math import prod

from gsp_fd.pddl.ast import And, Condition, Exists, Forall, Not, Or
from gsp_fd.pddl.literals import ContradictionError, GroundAtom, Literals
from gsp_fd.pddl.normal_form import NormalForm, Variables

_MAX_EXPANSION = 100_000
"""Largest number of instances of universally quantified goals that is written out."""


@dataclass(slots=True)
class GoalLiterals:
    """Goals as literals over objects; ``fluent`` are the predicates that may change, ``init`` the true atoms."""

    form: NormalForm
    fluent: set[int]
    init: set[GroundAtom]
    _found: Literals = field(default_factory=Literals)
    _expansions: int = 0

    def of(self, goal: Condition) -> Literals:
        """The literals of a goal; one that can never hold if it cannot."""
        try:
            self._add(goal, Variables(self.form.constants, {}, []), False)
        except ContradictionError:
            return Literals(positive={(self.form.new_predicate("never", ()), ()): None})
        return self._found

    def _add(self, condition: Condition, scope: Variables, negated: bool) -> None:
        if isinstance(condition, Not):
            self._add(condition.part, scope, not negated)
        elif isinstance(condition, (And, Or)) and isinstance(condition, And) != negated:
            for part in condition.parts:
                self._add(part, scope, negated)
        elif isinstance(condition, (Forall, Exists)) and isinstance(condition, Exists) == negated:
            self._add_instances(condition, scope, negated)
        else:
            self._add_alternatives(condition, scope, negated)

    def _add_instances(self, condition: Forall | Exists, scope: Variables, negated: bool) -> None:
        types = self.form.types_of(condition.variables)
        members = [self.form.members[kind] for kind in types]
        self._expansions += prod(len(objects) for objects in members)
        if self._expansions > _MAX_EXPANSION:
            for literals in self.form.alternatives(condition, scope, negated):
                self._found.update(literals)
            return
        for objects in product(*members):
            self._add(condition.part, scope.instance(condition.variables, types, objects), negated)

    def _add_alternatives(self, condition: Condition, scope: Variables, negated: bool) -> None:
        alternatives = self.form.alternatives(condition, scope, negated)
        if isinstance(condition, (And, Or)):
            alternatives = [item for item in alternatives if not self._is_false(item)]
        if not alternatives:
            raise ContradictionError
        if any(self._found.implies(item) for item in alternatives):
            return
        if len(alternatives) == 1 and not alternatives[0].has_variables():
            self._found.update(alternatives[0])
        else:
            self._found.update(self.form.auxiliary(condition, scope, negated))

    def _is_false(self, literals: Literals) -> bool:
        """Whether a conjunction is false in every state because of atoms that never change."""

        def has(atom: GroundAtom, truth: bool) -> bool:
            predicate, args = atom
            if predicate in self.fluent or any(term >= 0 for term in args):
                return False
            return ((predicate, tuple(-term - 1 for term in args)) in self.init) == truth

        return any(has(atom, False) for atom in literals.positive) or any(has(atom, True) for atom in literals.negative)
