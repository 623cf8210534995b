"""Small random tasks: SAS with axioms and conditional effects, PDDL with types, negation, equality and costs."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from sas_reference import Fact, Operator, SasTask, Variable

COSTS = ((0, 5), (0, 1), (1, 1), (0, 3_000), (0, 1_000_000))
"""Ranges of costs of the tasks that Fast Downward can solve without an overflow."""


def sas_task(rng: random.Random) -> SasTask:
    """At most six state variables, four derived ones and ten operators."""
    sizes = [rng.choice((1, 2, 2, 3, 3, 4)) for _ in range(rng.randint(1, 6))]
    layers = [-1] * len(sizes)
    if rng.random() < 0.4:
        layers += [rng.randint(0, 2) for _ in range(rng.randint(1, 4))]
    sizes += [2] * (len(layers) - len(sizes))
    start = tuple(rng.randrange(size) for size in sizes)
    basic = [v for v, layer in enumerate(layers) if layer < 0]
    conditional, metric = rng.random() < 0.4, rng.random() < 0.7
    low, high = rng.choice(COSTS)
    operators = tuple(
        Operator(f"op{i}", *_operator(rng, sizes, basic, conditional), rng.randint(low, high) if metric else 1)
        for i in range(rng.randint(1, 10))
    )
    return SasTask(
        variables=tuple(
            Variable(layer, tuple(f"Atom v{v}({d})" for d in range(size)))
            for v, (layer, size) in enumerate(zip(layers, sizes, strict=True))
        ),
        initial=start,
        goal=_facts(rng, range(len(sizes)), sizes, 1, 3),
        operators=operators,
        axioms=tuple(rule for v in range(len(basic), len(layers)) for rule in _rules(rng, v, layers, sizes, start)),
        metric=metric,
    )


def _facts(rng: random.Random, variables: Sequence[int], sizes: list[int], least: int, most: int) -> tuple[Fact, ...]:
    count = min(len(variables), rng.randint(least, most))
    return tuple((v, rng.randrange(sizes[v])) for v in sorted(rng.sample(variables, count)))


def _operator(
    rng: random.Random, sizes: list[int], basic: list[int], conditional: bool
) -> tuple[tuple[Fact, ...], tuple[tuple[tuple[Fact, ...], int, int], ...]]:
    effects = []
    for variable in rng.sample(basic, min(len(basic), rng.randint(1, 3))):
        conditions = _facts(rng, range(len(sizes)), sizes, 0, 2) if conditional and rng.random() < 0.5 else ()
        effects.append((conditions, variable, rng.randrange(sizes[variable])))
    return _facts(rng, range(len(sizes)), sizes, 0, 3), tuple(effects)


def _rules(
    rng: random.Random, head: int, layers: list[int], sizes: list[int], start: tuple[int, ...]
) -> list[tuple[tuple[Fact, ...], int, int]]:
    """Stratified: no variable of a higher layer, and no default value of the head's own layer."""
    below = [v for v in range(len(sizes)) if layers[v] <= layers[head]]
    rules = []
    for _ in range(rng.randint(1, 3)):
        body = _facts(rng, below, sizes, 1, 3)
        facts = tuple((v, 1 - start[v]) if layers[v] == layers[head] else (v, d) for v, d in body)
        rules.append((facts, head, 1 - start[head]))
    return rules


@dataclass
class _Pddl:
    """A random domain in the making."""

    rng: random.Random
    types: list[str]
    objects: dict[str, str]
    predicates: dict[str, list[str]]
    constant: str

    def literal(self, terms: dict[str, str]) -> str | None:
        """An atom over terms (name to type) that fit its types; None if there is none."""
        name = self.rng.choice(list(self.predicates))
        arguments = []
        for kind in self.predicates[name]:
            fitting = [term for term, its in terms.items() if kind in ("object", its)]
            if not fitting:
                return None
            arguments.append(self.rng.choice(fitting))
        return f"({' '.join([name, *arguments])})"

    def literals(self, terms: dict[str, str], count: int) -> list[str]:
        found = (self.literal(terms) for _ in range(count))
        return list(dict.fromkeys(literal for literal in found if literal))

    def signed(self, terms: dict[str, str], count: int, positive: float) -> list[str]:
        """Literals, of which about this share is positive."""
        found = self.literals(terms, count)
        return [literal if self.rng.random() < positive else f"(not {literal})" for literal in found]

    def schema(self, number: int, cost: str) -> str:
        rng = self.rng
        parameters = {f"?x{i}": rng.choice(["object", *self.types]) for i in range(rng.randint(0, 3))}
        terms = {**parameters, self.constant: self.objects[self.constant]}
        conditions = self.signed(terms, rng.randint(0, 3), 0.7)
        if len(parameters) > 1 and rng.random() < 0.5:
            pair = "(= {} {})".format(*rng.sample(list(parameters), 2))
            conditions.append(pair if rng.random() < 0.2 else f"(not {pair})")
        effects = self.signed(terms, rng.randint(1, 3), 0.6)
        typed = " ".join(f"{name} - {kind}" for name, kind in parameters.items())
        return (
            f"(:action a{number} :parameters ({typed}) :precondition (and {' '.join(conditions)}) "
            f":effect (and {' '.join(effects)} {cost}))"
        )


def pddl_task(rng: random.Random) -> tuple[str, str]:
    """A domain and a problem: at most six objects, five predicates and five actions."""
    types = [f"t{i}" for i in range(rng.randint(0, 2))]
    objects = {f"o{i}": rng.choice(["object", *types]) for i in range(rng.randint(1, 6))}
    predicates = {
        f"p{i}": [rng.choice(["object", *types]) for _ in range(rng.choice((0, 1, 1, 2, 2, 3)))]
        for i in range(rng.randint(1, 5))
    }
    task = _Pddl(rng, types, objects, predicates, constant="o0")
    costs = rng.random() < 0.5
    low, high = rng.choice(COSTS)
    prices = [f"(increase (total-cost) {rng.randint(low, high)})" if costs else "" for _ in range(rng.randint(1, 5))]
    schemas = [task.schema(number, price) for number, price in enumerate(prices)]
    typed = " ".join(f"({' '.join([name, *(f'?a{i} - {kind}' for i, kind in enumerate(kinds))])})"
                     for name, kinds in predicates.items())  # fmt: skip
    rest = " ".join(f"{name} - {kind}" for name, kind in objects.items() if name != "o0")
    goal = task.signed(objects, rng.randint(1, 3), 0.8)
    domain = (
        "(define (domain random) (:requirements :strips :typing :equality :negative-preconditions :action-costs)\n"
        f"(:types {' '.join(types)})\n(:constants o0 - {objects['o0']})\n(:predicates {typed})\n"
        f"(:functions (total-cost))\n{chr(10).join(schemas)})\n"
    )
    problem = (
        f"(define (problem random) (:domain random) (:objects {rest})\n"
        f"(:init {' '.join(task.literals(objects, rng.randint(0, 8)))} (= (total-cost) 0))\n"
        f"(:goal (and {' '.join(goal)}))\n{'(:metric minimize (total-cost))' if costs else ''})\n"
    )
    return domain, problem
