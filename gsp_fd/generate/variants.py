"""Problems made from other problems of any domain: fewer goals, other goals, other starts.

Every variant of a solvable problem is solvable: its goals are some of the problem's, or atoms that a walk reaches; its
start lies on a plan, or the way to it can be undone, or a plan leads on from it. None is solved from the start.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from gsp_fd import _core
from gsp_fd.pddl import LiftedTask, lifted_task
from gsp_fd.pddl.ast import And, Atom, Condition, Not
from gsp_fd.task import FULL, Task

EXPANSIONS = 1_000
"""Of a search that looks for a plan from a start, or for a plan to start on; without one there is no variant."""
WALK = 2
"""Steps of a walk to other goals: at most this many for each object, and ten more."""
BOOST = 1_000
"""Preferred operators come first after progress, as in LAMA."""
SHARES = (1.0, 0.5, 0.2, 0.0)
"""Of the atoms of a state that become goals; one at least."""

GoalLiteral = Atom | Not


def variants(tasks: Sequence[Task], share: float, seed: int) -> list[Task]:
    """So many variants that they are this share of all tasks, of all kinds in turn; the same for the same seed.

    There are fewer where a task does not have so many kinds.
    """
    kinds = list(KINDS)
    count = round(len(tasks) * share / (1 - share))
    found: dict[tuple[int, str], Task] = {}
    for number in range(count):
        index = number * len(tasks) // count
        for kind in kinds[number % len(kinds) :] + kinds[: number % len(kinds)]:
            if (index, kind) in found:
                continue
            variant = vary(tasks[index], kind, Random(f"{seed} {number} {kind}"))
            if variant is not None:
                found[index, kind] = variant
                break
    return list(found.values())


def vary(task: Task, kind: str, rng: Random) -> Task | None:
    """A variant of one of the ``KINDS``; None if the task has none, as a single goal has no half."""
    return KINDS[kind](task, rng)


def fewer_goals(task: Task, rng: Random, share: float, kind: str) -> Task | None:
    """Some of the goals, one of them open; ``share`` 0 for a single one."""
    goals = goal_literals(task)
    count = max(1, round(share * len(goals)))
    space = _space(task)
    start = _atoms(task, space, space.initial_state())
    still_open = [goal for goal in goals if not _holds(goal, start)]
    if count >= len(goals) or not still_open:
        return None
    first = rng.choice(still_open)
    chosen = [first, *rng.sample([goal for goal in goals if goal is not first], count - 1)]
    return with_goals(task, [goal for goal in goals if goal in chosen], kind)


def goals_of_one_predicate(task: Task, rng: Random) -> Task | None:
    """All goals of one of the predicates, where there are several."""
    goals = goal_literals(task)
    space = _space(task)
    start = _atoms(task, space, space.initial_state())
    predicates = sorted({_atom(goal).predicate for goal in goals})
    candidates = sorted({_atom(goal).predicate for goal in goals if not _holds(goal, start)})
    if len(predicates) < 2 or not candidates:
        return None
    chosen = rng.choice(candidates)
    return with_goals(task, [goal for goal in goals if _atom(goal).predicate == chosen], "one predicate")


def goals_reached(task: Task, rng: Random) -> Task | None:
    """Atoms of the state in which a random walk ends, whatever their predicates, one of them new."""
    space = _space(task)
    state = initial = space.initial_state()
    for _ in range(rng.randint(1, 10 + WALK * len(_lifted(task).objects))):
        _, successors = space.expand(state)
        if not len(successors):
            break
        state = int(rng.choice(successors))
    before, after = _atoms(task, space, initial), sorted(_atoms(task, space, state))
    new = [atom for atom in after if atom not in before]
    if not new:
        return None
    first = rng.choice(new)
    count = max(1, round(rng.choice(SHARES) * len(after)))
    chosen = {first, *rng.sample([atom for atom in after if atom != first], count - 1)}
    return with_goals(task, [Atom(atom[0], atom[1:]) for atom in after if atom in chosen], "reached")


def start_away(task: Task, rng: Random, steps: int) -> Task | None:
    """The same goals, some random actions into the problem.

    Where these cannot be undone one by one and no plan is found to lead on, only actions that can be undone are taken.
    """
    space = _space(task)
    state, undone = space.initial_state(), True
    for _ in range(steps):
        _, successors = space.expand(state)
        if not len(successors):
            break
        following = int(rng.choice(successors))
        undone = undone and _leads_back(space, following, state)
        state = following
    variant = with_start(task, space, state, "away")
    if variant is None or undone or find_plan(variant):
        return variant
    few = _core.LiftedSpace(task.native_lifted(), symmetry=True)  # one of many equal actions is enough to try
    return with_start(task, few, _undoable_walk(few, rng, steps), "away")


def start_midway(task: Task, rng: Random) -> Task | None:
    """The same goals, from a state on a plan."""
    plan = find_plan(task)
    if len(plan) < 2:
        return None
    space = _space(task)
    state = space.initial_state()
    for name in plan[: rng.randrange(1, len(plan))]:
        operators, successors = space.expand(state)
        names = [space.operator_name(int(operator)) for operator in operators]
        state = int(successors[names.index(name)])
    return with_start(task, space, state, "midway")


KINDS: dict[str, Callable[[Task, Random], Task | None]] = {
    "half": lambda task, rng: fewer_goals(task, rng, 0.5, "half"),
    "reached": goals_reached,
    "fifth": lambda task, rng: fewer_goals(task, rng, 0.2, "fifth"),
    "away": lambda task, rng: start_away(task, rng, rng.randint(1, 20)),
    "one predicate": goals_of_one_predicate,
    "one": lambda task, rng: fewer_goals(task, rng, 0.0, "one"),
    "midway": start_midway,
}
DESCRIPTIONS = {
    FULL: "the goals and the start of the problem",
    "half": "half of the goals",
    "fifth": "a fifth of the goals",
    "one": "a single goal",
    "one predicate": "the goals of one predicate",
    "reached": "atoms that a random walk reached",
    "away": "a start random actions into the problem",
    "midway": "a start on a plan",
}
"""For people."""


def goal_literals(task: Task) -> list[GoalLiteral]:
    """The goals that are literals, one by one."""
    lifted = _lifted(task)
    positive = [Atom(*_named(lifted, atom)) for atom in lifted.goal_positive if not lifted.is_auxiliary(atom[0])]
    negative = [Atom(*_named(lifted, atom)) for atom in lifted.goal_negative if not lifted.is_auxiliary(atom[0])]
    return [*positive, *map(Not, negative)]


def with_goals(task: Task, goals: Sequence[GoalLiteral], kind: str) -> Task | None:
    """The task with other goals; None if they hold from the start."""
    return _changed(task, kind, goal=And(tuple(goals)))


def with_start(task: Task, space: _core.LiftedSpace, state: int, kind: str) -> Task | None:
    """The task with a state of its lifted space as the initial one; None if the goals hold there or nothing changed."""
    assert task.problem is not None
    if state == space.initial_state():
        return None
    lifted = _lifted(task)
    fluents = {name for name, fluent in zip(lifted.predicates, lifted.fluent, strict=True) if fluent}
    static = [atom for atom in task.problem.init if atom[0] not in fluents]
    return _changed(task, kind, init=(*sorted(_atoms(task, space, state)), *static))


def find_plan(task: Task) -> list[str]:
    """The names of the operators of a plan; empty if a short search finds none."""
    ground = task.ground()
    space = _core.GroundSpace(ground)
    result = hff_search(space, _core.heuristic("ff", ground), EXPANSIONS)
    return [space.operator_name(operator) for operator in result.plan]


def hff_search(space: _core.StateSpace, hff: _core.Heuristic, expansions: int) -> _core.SearchResult:
    """Lazy greedy search with hFF and its preferred operators, which come first after progress."""
    lists = [_core.SingleOpenList(hff), _core.SingleOpenList(hff, pref_only=True)]
    open_list = _core.AlternationOpenList(lists, BOOST)
    return _core.search(space, open_list, preferred=[hff], lazy=True, max_expansions=expansions)


def _undoable_walk(space: _core.LiftedSpace, rng: Random, steps: int) -> int:
    """The end of a random walk on which every step has one that leads back."""
    state: int = space.initial_state()
    for _ in range(steps):
        _, successors = space.expand(state)
        candidates = [int(successor) for successor in successors]
        rng.shuffle(candidates)
        following = next((successor for successor in candidates if _leads_back(space, successor, state)), None)
        if following is None:
            break
        state = following
    return state


def _leads_back(space: _core.LiftedSpace, state: int, target: int) -> bool:
    return bool((space.expand(state)[1] == target).any())


def _changed(task: Task, kind: str, **parts: Any) -> Task | None:
    assert task.domain is not None
    assert task.problem is not None
    file = Path(task.name)
    name = kind.replace(" ", "-")
    problem = replace(task.problem, name=f"{task.problem.name}-{name}", **parts)
    lifted = lifted_task(task.domain, problem)
    variant = Task(
        name=str(file.with_name(f"{file.stem}-{name}{file.suffix}")),
        domain=task.domain,
        problem=problem,
        lifted=lifted,
        kind=kind,
    )
    space = _space(variant)
    return None if space.is_goal(space.initial_state()) else variant


def _lifted(task: Task) -> LiftedTask:
    assert task.lifted is not None
    return task.lifted


def _space(task: Task) -> _core.LiftedSpace:
    return _core.LiftedSpace(task.native_lifted())


def _named(lifted: LiftedTask, atom: tuple[int, tuple[int, ...]]) -> tuple[str, tuple[str, ...]]:
    predicate, objects = atom
    return lifted.predicates[predicate], tuple(lifted.objects[item] for item in objects)


def _atoms(task: Task, space: _core.LiftedSpace, state: int) -> set[tuple[str, ...]]:
    """The fluent atoms of a state as (predicate, *objects)."""
    lifted = _lifted(task)
    numbers = iter(map(int, space.export_state(state)))
    atoms = set()
    for predicate in numbers:
        objects = tuple(next(numbers) for _ in range(lifted.arities[predicate]))
        name, names = _named(lifted, (predicate, objects))
        atoms.add((name, *names))
    return atoms


def _atom(goal: GoalLiteral) -> Atom:
    atom: Condition = goal.part if isinstance(goal, Not) else goal
    assert isinstance(atom, Atom)
    return atom


def _holds(goal: GoalLiteral, atoms: set[tuple[str, ...]]) -> bool:
    atom = _atom(goal)
    return ((atom.predicate, *atom.args) in atoms) != isinstance(goal, Not)
