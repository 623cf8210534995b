"""The lifted engine against brute force: applicable actions, successors, costs and goals."""

from __future__ import annotations

import cli_support
import numpy as np
import pytest
import reference
import tasks
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from lifted_strategy import lifted_tasks

from gsp_fd import _core
from gsp_fd.pddl import LiftedTask


def atoms(task: LiftedTask, space: _core.LiftedSpace, state: int) -> reference.State:
    """A native state as a set of atoms, without the static ones."""
    flat, found = space.export_state(state).tolist(), []
    while flat:
        count = task.arities[flat[0]]
        found.append((flat[0], tuple(flat[1 : 1 + count])))
        del flat[: 1 + count]
    assert len(set(found)) == len(found)
    return frozenset(found)


def fluents(task: LiftedTask, state: reference.State) -> reference.State:
    return frozenset(atom for atom in state if task.fluent[atom[0]])


@settings(max_examples=250, deadline=None)
@given(task=lifted_tasks(costs=st.integers(0, 9)), choices=st.lists(st.integers(0, 999), max_size=6))
def test_random_walks(task: LiftedTask, choices: list[int]) -> None:
    space = _core.LiftedSpace(_core.LiftedTask.from_spec(task))
    native, state = space.initial_state(), reference.initial(task)
    for choice in [*choices, 0]:
        assert atoms(task, space, native) == fluents(task, state)
        assert space.is_goal(native) == reference.is_goal(task, state)
        expected = {a: reference.successor(task, state, a) for a in reference.applicable(task, state)}
        operators, successors = space.expand(native)
        found = {}
        for operator, successor in zip(operators.tolist(), successors.tolist(), strict=True):
            schema, *objects = space.action(operator)
            action = schema, tuple(objects)
            assert action not in found
            found[action] = successor
            assert atoms(task, space, successor) == fluents(task, expected[action])
            assert space.cost(operator) == reference.cost(task, action)
            assert space.operator_name(operator) == reference.action_name(task, action)
        assert found.keys() == expected.keys()
        if not found:
            break
        action = sorted(found)[choice % len(found)]
        native, state = found[action], expected[action]


@settings(max_examples=200, deadline=None)
@given(task=lifted_tasks(costs=st.integers(0, 9)), symmetry=st.booleans())
def test_actions_that_no_plan_needs_may_be_left_out(task: LiftedTask, symmetry: bool) -> None:
    native = _core.LiftedTask.from_spec(task)
    found = []
    for relevant_only in (False, True):
        space = _core.LiftedSpace(native, symmetry, relevant_only)
        result = cli_support.astar(space, _core.heuristic("blind", native), max_expansions=2_000)
        if result.status == "expansions":
            reject()
        found.append((result.status, result.plan_cost if result.status == "solved" else None))
    assert found[0] == found[1]


def test_packages_without_a_goal_stay_where_they_are() -> None:
    domain = """(define (domain carry) (:predicates (box ?x) (van ?x) (place ?x) (at ?x ?p) (in ?x ?v))
      (:action load :parameters (?b ?v ?p) :precondition (and (box ?b) (van ?v) (at ?b ?p) (at ?v ?p))
        :effect (and (in ?b ?v) (not (at ?b ?p))))
      (:action drop :parameters (?b ?v ?p) :precondition (and (box ?b) (van ?v) (in ?b ?v) (at ?v ?p))
        :effect (and (at ?b ?p) (not (in ?b ?v))))
      (:action drive :parameters (?v ?p ?q) :precondition (and (van ?v) (at ?v ?p) (place ?q))
        :effect (and (at ?v ?q) (not (at ?v ?p)))))"""
    problem = """(define (problem carry) (:domain carry) (:objects a b c v p q)
      (:init (box a) (box b) (box c) (van v) (place p) (place q) (at a p) (at b p) (at c p) (at v p))
      (:goal (and (at a q) (not (in b v)))))"""
    native = tasks.load(domain, problem).native_lifted()
    names = []
    for relevant_only in (False, True):
        space = _core.LiftedSpace(native, False, relevant_only)
        names.append({space.operator_name(operator) for operator in space.applicable(space.initial_state())})
    assert names[0] - names[1] == {"load c v p"}


@settings(max_examples=100, deadline=None)
@given(task=lifted_tasks(max_objects=2))
def test_states_are_registered_once(task: LiftedTask) -> None:
    expected = reference.explore(task, 200)
    if expected is None:
        reject()
    space = _core.LiftedSpace(_core.LiftedTask.from_spec(task))
    space.initial_state()
    done = 0
    while done < space.num_states:
        space.expand(done)
        done += 1
    native = [atoms(task, space, state) for state in range(space.num_states)]
    assert len(set(native)) == len(native)
    assert set(native) == {fluents(task, state) for state in expected}


@settings(max_examples=100, deadline=None)
@given(task=lifted_tasks(costs=st.sampled_from([0, 1, 7, 200_000])))
def test_blind_search_is_optimal(task: LiftedTask) -> None:
    expected = reference.explore(task, 200)
    if expected is None:
        reject()
    native = _core.LiftedTask.from_spec(task)
    blind = _core.heuristic("blind", native)
    f = _core.sum([_core.g(), blind])
    result = _core.search(_core.LiftedSpace(native), _core.SingleOpenList(f), reopen_closed=True)
    best = reference.optimal_cost(task, expected)
    if best is None:
        assert (result.status, result.complete) == ("exhausted", True)
    else:
        assert (result.status, result.plan_cost) == ("solved", best)


def test_unknown_numbers_are_refused(tower: LiftedTask) -> None:
    space = _core.LiftedSpace(_core.LiftedTask.from_spec(tower))
    initial = space.initial_state()
    operator = space.applicable(initial)[0]
    for number in (-1, 10**6):
        with pytest.raises(IndexError):
            space.applicable(number)
        with pytest.raises(IndexError):
            space.action(number)
        with pytest.raises(IndexError):
            space.cost(number)
        with pytest.raises(IndexError):
            space.operator_name(number)
        with pytest.raises(ValueError, match="not applicable"):
            space.apply(initial, number)
    assert space.apply(initial, operator) == 1
    for flat in ([99], [0], [0, 99, 99], [-1]):
        with pytest.raises(ValueError, match=r"state of this task|out of range"):
            space.import_state(np.array(flat, dtype=np.int32))
