"""The oracle for lifted tasks: a slow planner in pure Python that is correct at a glance."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import NamedTuple

from gsp_fd.pddl import LiftedTask, Literal

Atom = tuple[int, tuple[int, ...]]
State = frozenset[Atom]
Action = tuple[int, tuple[int, ...]]
"""Schema and objects."""
INFINITY = float("inf")
Fact = tuple[bool, Atom]
"""An atom or its negation."""


class Rule(NamedTuple):
    """An action without what it makes false."""

    action: Action
    needs: set[Fact]
    gives: set[Fact]
    cost: int


def initial(task: LiftedTask) -> State:
    """All atoms of the initial state, static ones included."""
    return frozenset(task.init)


def instance(literal: Literal, objects: tuple[int, ...]) -> Atom:
    """The atom that a literal of a schema stands for."""
    return literal.predicate, terms(literal.args, objects)


def terms(args: tuple[int, ...], objects: tuple[int, ...]) -> tuple[int, ...]:
    """The objects that the terms of a schema stand for."""
    return tuple(objects[term] if term >= 0 else -term - 1 for term in args)


def actions(task: LiftedTask) -> Iterator[Action]:
    """Every schema with all the objects its types allow."""
    for number, schema in enumerate(task.schemas):
        for objects in product(*(task.type_members[kind] for kind in schema.parameters)):
            yield number, objects


def is_applicable(task: LiftedTask, state: State, action: Action) -> bool:
    """Whether every precondition holds."""
    schema, objects = task.schemas[action[0]], action[1]
    return (
        all(instance(literal, objects) in state for literal in schema.positive)
        and all(instance(literal, objects) not in state for literal in schema.negative)
        and all(len(set(terms(pair, objects))) == 1 for pair in schema.equal)
        and all(len(set(terms(pair, objects))) == 2 for pair in schema.unequal)
    )


def applicable(task: LiftedTask, state: State) -> list[Action]:
    """Applicable actions by trying all of them."""
    return [action for action in actions(task) if is_applicable(task, state, action)]


def successor(task: LiftedTask, state: State, action: Action) -> State:
    """Deletes, then adds."""
    schema, objects = task.schemas[action[0]], action[1]
    without = state - {instance(literal, objects) for literal in schema.delete}
    return without | {instance(literal, objects) for literal in schema.add}


def cost(task: LiftedTask, action: Action) -> int:
    """1 for every action of a task without a metric."""
    schema, objects = task.schemas[action[0]], action[1]
    if not task.use_costs:
        return 1
    return schema.cost + sum(task.function_values[f][terms(args, objects)] for f, args in schema.cost_terms)


def is_goal(task: LiftedTask, state: State) -> bool:
    """Whether all positive goals hold and no negative one does."""
    return set(task.goal_positive) <= state and not state & set(task.goal_negative)


def action_name(task: LiftedTask, action: Action) -> str:
    """The name in plans, ``"unstack b1 b2"``."""
    return " ".join([task.schemas[action[0]].name, *(task.objects[o] for o in action[1])])


def atom_name(task: LiftedTask, atom: Atom) -> str:
    """The name in ground tasks, ``"on(b1, b2)"``."""
    return f"{task.predicates[atom[0]]}({', '.join(task.objects[o] for o in atom[1])})"


def explore(task: LiftedTask, limit: int) -> dict[State, int] | None:
    """The least cost of every reachable state, or None if there are more than ``limit``."""
    costs = {initial(task): 0}
    queue = [(0, 0, initial(task))]
    closed = set()
    while queue:
        g, _, state = heapq.heappop(queue)
        if state in closed:
            continue
        closed.add(state)
        for action in applicable(task, state):
            reached, total = successor(task, state, action), g + cost(task, action)
            if reached not in costs or total < costs[reached]:
                costs[reached] = total
                heapq.heappush(queue, (total, len(costs), reached))
        if len(costs) > limit:
            return None
    return costs


def optimal_cost(task: LiftedTask, costs: dict[State, int]) -> int | None:
    """The least cost of a goal state; None if the task has no plan."""
    return min((cost for state, cost in costs.items() if is_goal(task, state)), default=None)


def goal_facts(task: LiftedTask) -> list[Fact]:
    """The goal as atoms with signs."""
    return [*((True, atom) for atom in task.goal_positive), *((False, atom) for atom in task.goal_negative)]


def relaxed_value(task: LiftedTask, state: State, combine: Callable[[Iterable[float]], float]) -> float:
    """The fixed point of hmax (``combine=max``) or hadd (``sum``); a negated atom is a fact that a delete reaches."""
    costs = relaxed_costs(task, state, relaxed_rules(task), combine)
    return combine([0, *(costs.get(fact, INFINITY) for fact in goal_facts(task))])


def unique_relaxed_plan(task: LiftedTask, state: State) -> set[Action] | None:
    """The operators behind hFF; None if some fact has several best supporters by hadd, or none."""
    rules = relaxed_rules(task)
    costs = relaxed_costs(task, state, rules, sum)
    plan, waiting, seen = set(), goal_facts(task), set()
    while waiting:
        if (fact := waiting.pop()) in seen or ((fact[1] in state) == fact[0]):
            continue
        seen.add(fact)
        totals = [
            (rule, rule.cost + sum(costs.get(f, INFINITY) for f in rule.needs)) for rule in rules if fact in rule.gives
        ]
        best = [rule for rule, total in totals if total == costs.get(fact)]
        if len(best) != 1:
            return None
        plan.add(best[0].action)
        waiting += best[0].needs
    return plan


def relaxed_costs(
    task: LiftedTask, state: State, rules: list[Rule], combine: Callable[[Iterable[float]], float]
) -> dict[Fact, float]:
    """The cost of every fact that is reached."""
    facts = {fact for rule in rules for fact in (*rule.needs, *rule.gives)} | {*goal_facts(task)}
    costs: dict[Fact, float] = {fact: 0 for fact in facts if (fact[1] in state) == fact[0]}
    changed = True
    while changed:
        changed = False
        for rule in rules:
            total = rule.cost + combine([0, *(costs.get(fact, INFINITY) for fact in rule.needs)])
            for fact in rule.gives:
                if total < costs.get(fact, INFINITY):
                    costs[fact] = total
                    changed = True
    return costs


def relaxed_rules(task: LiftedTask) -> list[Rule]:
    """Every action that static atoms allow, as what it needs and gives."""
    rules, static = [], {atom for atom in task.init if not task.fluent[atom[0]]}
    for number, objects in actions(task):
        schema = task.schemas[number]
        if any(len(set(terms(pair, objects))) == 2 for pair in schema.equal):
            continue
        if any(len(set(terms(pair, objects))) == 1 for pair in schema.unequal):
            continue
        needs = {(True, instance(literal, objects)) for literal in schema.positive}
        needs |= {(False, instance(literal, objects)) for literal in schema.negative}
        if any(not task.fluent[atom[0]] and (atom in static) != sign for sign, atom in needs):
            continue
        gives = {(True, instance(literal, objects)) for literal in schema.add}
        gives |= {(False, instance(literal, objects)) for literal in schema.delete}
        rules.append(Rule((number, objects), needs, gives, cost(task, (number, objects))))
    return rules
