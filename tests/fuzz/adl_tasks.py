"""Random tasks with everything that Fast Downward's PDDL has: quantifiers, conditional effects, derived predicates."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

Terms = dict[str, str]
"""Variables and objects with their types."""
Signature = dict[str, tuple[str, ...]]


@dataclass
class _Formulas:
    """Formulas over predicates; ``negatable`` are those that may be below a negation."""

    rng: random.Random
    types: Sequence[str]
    predicates: Signature
    negatable: Signature
    fresh: int = 0

    def variables(self, most: int = 2) -> Terms:
        count = self.rng.randint(1, most)
        self.fresh += count
        return {f"?v{self.fresh - i}": self.rng.choice(self.types) for i in range(count)}

    def atom(self, terms: Terms, positive: bool = True) -> str | None:
        choices = self.predicates if positive else self.negatable
        if not choices:
            return None
        name = self.rng.choice(list(choices))
        arguments = []
        for kind in choices[name]:
            fitting = [term for term, its in terms.items() if kind in ("object", its)]
            if not fitting:
                return None
            # Variables first: formulas over objects only are dull.
            inner = [term for term in fitting if term.startswith("?")]
            arguments.append(self.rng.choice(inner if inner and self.rng.random() < 0.8 else fitting))
        return f"({' '.join([name, *arguments])})"

    def formula(self, terms: Terms, depth: int, positive: bool = True) -> str:
        """A formula whose predicates occur under an even number of negations if ``positive``, else an odd one."""
        rng = self.rng
        kind = rng.random()
        if depth == 0 or kind < 0.25:
            if terms and rng.random() < 0.15:
                return f"(= {rng.choice(list(terms))} {rng.choice(list(terms))})"
            return self.atom(terms, positive) or "(and)"
        if kind < 0.45:
            return f"(not {self._part(terms, depth, not positive)})"
        if kind < 0.75:
            connective = rng.choice(("and", "or", "or"))
            parts = [self._part(terms, depth, positive) for _ in range(rng.randint(1, 3))]
            return f"({connective} {' '.join(parts)})"
        if kind < 0.82:
            return f"(imply {self._part(terms, depth, not positive)} {self._part(terms, depth, positive)})"
        quantifier, quantified = rng.choice(("forall", "exists")), self.variables()
        # A universal quantifier is a negated predicate: below it, only what may be negated keeps the strata in order.
        inner = replace(self, predicates=self.negatable) if (quantifier == "forall") == positive else self
        body = inner._part({**terms, **quantified}, depth, positive)
        self.fresh = inner.fresh
        return f"({quantifier} ({typed(quantified)}) {body})"

    def _part(self, terms: Terms, depth: int, positive: bool) -> str:
        return self.formula(terms, depth - 1, positive)


def typed(terms: Terms) -> str:
    """A typed list."""
    return " ".join(f"{name} - {kind}" for name, kind in terms.items())


def adl_task(rng: random.Random) -> tuple[str, str]:
    """A domain and a problem: at most four objects, so that the states can be counted."""
    types = ["object", *(f"t{i}" for i in range(rng.randint(0, 2)))]
    # No type is empty: there the translator takes (exists (?x) (and)) to be true.
    kinds_of_objects = [*types[1:], *(rng.choice(types) for _ in range(rng.randint(1, 4 - len(types[1:]))))]
    objects = {f"o{i}": kind for i, kind in enumerate(rng.sample(kinds_of_objects, len(kinds_of_objects)))}

    def signature(prefix: str, count: int) -> Signature:
        arities = (rng.choice((0, 1, 1, 1, 2, 2)) for _ in range(count))
        return {f"{prefix}{i}": tuple(rng.choice(types) for _ in range(arity)) for i, arity in enumerate(arities)}

    basic = signature("p", rng.randint(1, 4))
    derived = signature("d", rng.choice((0, 0, 1, 2, 3)))
    constant = {"o0": objects["o0"]}
    rules = _rules(rng, types, basic, derived, constant)
    formulas = _Formulas(rng, types, {**basic, **derived}, {**basic, **derived})
    effects = _Formulas(rng, types, basic, basic)
    costs = rng.random() < 0.5
    schemas = []
    for number in range(rng.randint(1, 4)):
        parameters = {f"?x{i}": rng.choice(types) for i in range(rng.randint(0, 2))}
        terms = {**constant, **parameters}
        parts = [_effect(rng, formulas, effects.atom, terms, 2) for _ in range(rng.randint(1, 3))]
        price = [f"(increase (total-cost) {rng.randint(0, 3)})"] if costs else []
        schemas.append(
            f"(:action a{number} :parameters ({typed(parameters)})\n"
            f"  :precondition {formulas.formula(terms, 3)}\n  :effect (and {' '.join([*parts, *price])}))"
        )
    declared = " ".join(
        f"({' '.join([name, *(f'?a{i} - {kind}' for i, kind in enumerate(kinds))])})"
        for name, kinds in {**basic, **derived}.items()
    )
    domain = (
        "(define (domain random) (:requirements :adl :derived-predicates :action-costs)\n"
        f"(:types {' '.join(types[1:])})\n(:constants {typed(constant)})\n(:predicates {declared})\n"
        f"(:functions (total-cost))\n{chr(10).join([*rules, *schemas])})\n"
    )
    facts = {fact for _ in range(rng.randint(0, 6)) if (fact := effects.atom(objects))}
    others = {name: kind for name, kind in objects.items() if name not in constant}
    problem = (
        f"(define (problem random) (:domain random) (:objects {typed(others)})\n"
        f"(:init {' '.join(sorted(facts))} (= (total-cost) 0))\n"
        f"(:goal (and {' '.join(formulas.formula(objects, 3) for _ in range(rng.randint(1, 2)))}))\n"
        f"{'(:metric minimize (total-cost))' if costs else ''})\n"
    )
    return domain, problem


def _rules(
    rng: random.Random, types: Sequence[str], basic: Signature, derived: Signature, constant: Terms
) -> list[str]:
    """Rules of derived predicates in strata: a rule negates only basic predicates and those of lower strata.

    Sometimes it negates those of its own stratum too, so that only ground rules show whether they have strata.
    """
    strata = {name: rng.randint(0, 1) for name in derived}
    negates_its_own = bool(derived) and rng.random() < 0.3
    rules = []
    for name, kinds in derived.items():
        below = {other: derived[other] for other in derived if strata[other] < strata[name] + negates_its_own}
        level = {other: derived[other] for other in derived if strata[other] <= strata[name]}
        formulas = _Formulas(rng, types, {**basic, **level}, {**basic, **below})
        for _ in range(rng.randint(1, 2)):
            head = {f"?a{i}": kind for i, kind in enumerate(kinds)}
            terms = {**head, **(constant if rng.random() < 0.3 else {})}
            rules.append(f"(:derived ({' '.join([name, typed(head)])})\n  {formulas.formula(terms, 3)})")
    return rules


def _effect(
    rng: random.Random,
    formulas: _Formulas,
    atom: Callable[[Terms], str | None],
    terms: Terms,
    depth: int,
) -> str:
    """A literal, often under a condition or for all values of a variable."""
    kind = rng.random() if depth else 0
    if kind < 0.35:
        literal = atom(terms)
        if literal is None:
            return "(and)"
        return literal if rng.random() < 0.6 else f"(not {literal})"
    if kind < 0.65:
        return f"(when {formulas.formula(terms, 2)} {_effect(rng, formulas, atom, terms, depth - 1)})"
    if kind < 0.75:
        parts = [_effect(rng, formulas, atom, terms, depth - 1) for _ in range(2)]
        return f"(and {' '.join(parts)})"
    quantified = formulas.variables(1)
    return f"(forall ({typed(quantified)}) {_effect(rng, formulas, atom, {**terms, **quantified}, depth - 1)})"
