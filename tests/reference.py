"""The oracle for lifted tasks: a slow planner in pure Python that is correct at a glance."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import product

from gsp_fd.pddl import LiftedTask, Literal

Atom = tuple[int, tuple[int, ...]]
State = frozenset[Atom]
Action = tuple[int, tuple[int, ...]]
"""Schema and objects."""


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
