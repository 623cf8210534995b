"""The oracle for lifted tasks: a slow planner in pure Python that is correct at a glance."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from itertools import product

from gsp_fd.pddl import LiftedTask, Literal

Atom = tuple[int, tuple[int, ...]]
State = frozenset[Atom]
Action = tuple[int, tuple[int, ...]]
"""Schema and objects."""
INFINITY = float("inf")


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


def relaxed_value(task: LiftedTask, state: State, combine: Callable[[Iterable[float]], float]) -> float:
    """The fixed point of hmax (``combine=max``) or hadd (``sum``); a negated atom is a fact that a delete reaches."""
    costs: dict[tuple[bool, Atom], float] = {(True, atom): 0 for atom in state}

    def value(facts: Iterable[tuple[bool, Atom]]) -> float:
        found = [0 if not sign and atom not in state else costs.get((sign, atom), INFINITY) for sign, atom in facts]
        return combine([0, *found])

    rules = []
    for number, objects in actions(task):
        schema = task.schemas[number]
        if any(len(set(terms(pair, objects))) == 2 for pair in schema.equal):
            continue
        if any(len(set(terms(pair, objects))) == 1 for pair in schema.unequal):
            continue
        needs = {(True, instance(literal, objects)) for literal in schema.positive}
        needs |= {(False, instance(literal, objects)) for literal in schema.negative}
        gives = {(True, instance(literal, objects)) for literal in schema.add}
        gives |= {(False, instance(literal, objects)) for literal in schema.delete}
        rules.append((needs, gives, cost(task, (number, objects))))
    changed = True
    while changed:
        changed = False
        for needs, gives, price in rules:
            total = price + value(needs)
            for fact in gives:
                if total < costs.get(fact, INFINITY) and (fact[0] or fact[1] in state):
                    costs[fact] = total
                    changed = True
    return value([*((True, atom) for atom in task.goal_positive), *((False, atom) for atom in task.goal_negative)])
