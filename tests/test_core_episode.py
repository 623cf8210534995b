"""Search episodes that wait for Q-values: transitions of the task, plans that hold, misuse refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import reference
import tasks
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from lifted_strategy import lifted_tasks

from gsp_fd import _core
from gsp_fd.pddl import LiftedTask
from gsp_fd.task import load_pddl


def finish(episode: _core.Episode, seed: int = 0) -> None:
    """Feeds random values until the episode is over."""
    random = np.random.default_rng(seed)
    while episode.advance():
        episode.feed(-random.random(episode.num_actions(episode.pending), dtype=np.float32))


@settings(max_examples=100, deadline=None)
@given(
    task=lifted_tasks(costs=st.integers(0, 4)),
    greedy=st.booleans(),
    symmetry=st.booleans(),
    guided=st.booleans(),
    seed=st.integers(0, 9),
)
def test_random_tasks(task: LiftedTask, greedy: bool, symmetry: bool, guided: bool, seed: int) -> None:
    native = _core.LiftedTask.from_spec(task)
    guide = _core.heuristic("ff", native.ground()) if guided else None
    episode = _core.Episode(native, budget=60, greedy=greedy, symmetry=symmetry, guide=guide, dead_ends=guide)
    finish(episode, seed)
    states, _, successors, costs, bounds, kinds = (column.tolist() for column in episode.transitions())
    entered = len(set(successors) - {0})
    if guided:
        assert len(states) == max(episode.plan_length, 0)
    elif greedy:
        # A policy sees where it would go: only states that it enters are expansions.
        assert entered == episode.expansions
    else:
        # An action back to a known state is a transition; it is no expansion if the state was known in time.
        assert entered <= episode.expansions <= len(states)
    assert episode.expansions <= 60
    assert all(cost >= 0 for cost in costs)
    assert episode.solved == (reference.is_goal(task, reference.initial(task)) or 1 in kinds)
    if not episode.solved:
        return
    state, total = reference.initial(task), 0
    for name in episode.plan:
        found = [a for a in reference.applicable(task, state) if reference.action_name(task, a) == name]
        total += reference.cost(task, found[0])
        state = reference.successor(task, state, found[0])
    assert reference.is_goal(task, state)
    assert len(episode.plan) == episode.plan_length
    # The first step of the plan starts in the initial state; its bound is what the whole plan returns.
    first = [bound for start, bound in zip(states, bounds, strict=True) if start == 0 and bound > -np.inf]
    assert not episode.plan or -total in first


@settings(max_examples=100, deadline=None)
@given(task=lifted_tasks(max_objects=2, costs=st.integers(0, 4)), symmetry=st.booleans())
def test_exhausted_state_spaces_have_exact_values(task: LiftedTask, symmetry: bool) -> None:
    if reference.explore(task, 200) is None:
        reject()
    native = _core.LiftedTask.from_spec(task)
    guide = _core.heuristic("ff", native.ground())
    # Goals end a way, so the states behind them do not count.
    episode = _core.Episode(native, symmetry=symmetry, guide=guide, exact_states=200)
    optimum = reference.optimal_cost(task, reference.explore(task, 200) or {})
    assert episode.solved == (optimum is not None)
    rows = list(zip(*(column.tolist() for column in episode.transitions()), strict=True))
    returns: dict[int, list[float]] = {}
    for state, _, _, cost, bound, kind in rows:
        assert (kind == 0) is False
        returns.setdefault(state, []).append({1: -cost, 2: -np.inf}.get(kind, bound))
    assert all(len(returns[state]) == episode.num_actions(state) for state in returns)
    if rows:
        assert max(returns[0]) == -(optimum or 0)
    # Bellman's equation holds wherever the successor was visited, too.
    for _, _, successor, cost, bound, kind in rows:
        if kind == 3 and successor in returns:
            assert bound == max(returns[successor]) - cost
    restored = _core.Episode.restore(native, episode.export())
    assert [column.tolist() for column in restored.transitions()][5] == [row[5] for row in rows]
    assert restored.exact == episode.exact == any(row[5] == 3 for row in rows)


def test_walks_go_astray() -> None:
    """States behind a wrong turn are among those of an exhausted state space; all of their actions are in vain."""
    files = [Path(__file__).parents[1] / "examples" / "spanner" / name for name in ("domain.pddl", "p01.pddl")]
    task = load_pddl(*files)
    episode = _core.Episode(task.native_lifted(), guide=task.heuristic("ff"), exact_states=20_000)
    states, _, successors, _, _, kinds = (column.tolist() for column in episode.transitions())
    after_wrong_turns = {successor for successor, kind in zip(successors, kinds, strict=True) if kind == 2}
    behind = [kind for state, kind in zip(states, kinds, strict=True) if state in after_wrong_turns]
    assert behind
    assert set(behind) == {2}


def test_a_larger_state_space_is_left_to_the_guide() -> None:
    task = tasks.load(tasks.TOWER_DOMAIN, tasks.TOWER)
    native, guide = task.native_lifted(), task.heuristic("ff")
    exact = _core.Episode(native, guide=guide, exact_states=10_000)
    followed = _core.Episode(native, guide=guide, exact_states=3)
    assert (exact.exact, followed.exact) == (True, False)
    assert exact.solved
    assert followed.solved
    assert exact.plan_length <= followed.plan_length


CORRIDOR_DOMAIN = """(define (domain corridor) (:requirements :strips)
(:predicates (next ?a ?b) (at ?a))
(:action go :parameters (?a ?b) :precondition (and (at ?a) (next ?a ?b)) :effect (and (not (at ?a)) (at ?b))))"""
CORRIDOR = """(define (problem p) (:domain corridor) (:objects a b c d e)
(:init (at c) (next a b) (next b a) (next b c) (next c b) (next c d) (next d c) (next d e) (next e d))
(:goal (at e)))"""


def test_ways_back_cost_no_expansion() -> None:
    """In a corridor every state but the first is entered once, whatever the values say of the ways back."""
    native = tasks.load(CORRIDOR_DOMAIN, CORRIDOR).native_lifted()
    for seed in range(20):
        episode = _core.Episode(native)
        finish(episode, seed)
        states, _, successors, *_ = (column.tolist() for column in episode.transitions())
        assert episode.expansions == len(set(successors) - {0}) <= 4
        # Back from wherever it was.
        assert {(a, b) for a, b in zip(states, successors, strict=True) if b < a} >= {
            (b, a) for a, b in zip(states, successors, strict=True) if b in states and b > a
        }


def test_ways_that_lead_round_in_circles_are_dead_ends() -> None:
    """Once all that can be reached from a state was looked at, although no state in it lacks actions."""
    trap = CORRIDOR.replace("(next c b)", "(next c b) (next a a)").replace("(next b c)", "")
    native = tasks.load(CORRIDOR_DOMAIN, trap).native_lifted()
    kinds = {}
    for seed in range(20):
        episode = _core.Episode(native)
        finish(episode, seed)
        kind = episode.transitions()[5].tolist()
        kinds[episode.expansions] = kind
        assert episode.solved
        assert kind.count(1) == 1
    # Two expansions lead to the goal. Four are those with the trap in full: to b, to a, and from there to both of them.
    assert 2 not in kinds[2]
    assert kinds[4].count(2) == 4


def test_misuse_is_refused() -> None:
    native = tasks.load(tasks.TOWER_DOMAIN, tasks.TOWER).native_lifted()
    episode = _core.Episode(native, budget=5)
    with pytest.raises(_core.CoreInputError, match="one Q-value per action"):
        episode.feed(np.zeros(1000, dtype=np.float32))
    finish(episode)
    assert episode.expansions == 5
    over = _core.Episode(native, budget=0)
    finish(over)
    assert not over.advance()
    with pytest.raises(_core.CoreInputError, match="waits for no"):
        over.feed(np.zeros(1, dtype=np.float32))
    with pytest.raises(_core.CoreInputError, match="waits for no"):
        _core.feed_all([over], np.zeros(1, dtype=np.float32))
    waiting = _core.Episode(native)
    with pytest.raises(ValueError, match="too few"):
        _core.feed_all([waiting], np.zeros(0, dtype=np.float32))
    with pytest.raises(IndexError):
        waiting.num_actions(99)
