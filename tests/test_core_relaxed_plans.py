"""Relaxed plans and preferred operators on lifted spaces."""

from __future__ import annotations

import numpy as np
import pytest
import reference
import tasks
from hypothesis import given, settings
from hypothesis import strategies as st
from lifted_strategy import lifted_tasks

from gsp_fd import _core
from gsp_fd.pddl import LiftedTask

COSTS = st.sampled_from([0, 1, 3, 150_000])


def reaches_goal(task: LiftedTask, state: reference.State, plan: list[reference.Action]) -> bool:
    """Whether the actions reach the goal in some order if nothing is ever deleted; negative conditions are ignored."""
    reached, waiting = set(state), list(plan)
    while True:
        ready = [
            action
            for action in waiting
            if all(reference.instance(literal, action[1]) in reached for literal in task.schemas[action[0]].positive)
        ]
        if not ready:
            return set(task.goal_positive) <= reached
        for schema, objects in ready:
            reached |= {reference.instance(literal, objects) for literal in task.schemas[schema].add}
            waiting.remove((schema, objects))


@settings(max_examples=300, deadline=None)
@given(task=lifted_tasks(costs=COSTS), symmetry=st.booleans(), grounded=st.booleans())
def test_relaxed_plans(task: LiftedTask, symmetry: bool, grounded: bool) -> None:
    native = _core.LiftedTask.from_spec(task)
    source = native.ground() if grounded else native
    ff, hadd = _core.heuristic("ff", source), _core.heuristic("add", source)
    space = _core.LiftedSpace(native, symmetry)
    state, number = reference.initial(task), space.initial_state()
    for _ in range(4):
        value, rows, added = ff.relaxed_plan(space, number)
        assert not added
        plan = [(schema, tuple(objects)) for schema, *objects in rows]
        assert len(set(plan)) == len(plan)
        operators = space.applicable(number)
        preferred = ff.preferred(space, number)
        assert len(set(preferred)) == len(preferred)
        if value == reference.INFINITY:
            assert not plan
            assert not preferred
        else:
            assert value == sum(reference.cost(task, action) for action in plan)
            assert reaches_goal(task, state, plan)
            assert hadd.relaxed_plan(space, number)[1] == rows
            first = [action for action in plan if reference.is_applicable(task, state, action)]
            assert set(preferred) <= set(operators)
            if symmetry:
                assert len(preferred) <= len(first)
                assert bool(preferred) == bool(first)
            else:
                assert {tuple(space.action(op)) for op in preferred} == {(s, *objects) for s, objects in first}
        if not operators:
            return
        schema, *objects = space.action(operators[-1])
        state = reference.successor(task, state, (schema, tuple(objects)))
        number = space.apply(number, operators[-1])


@settings(max_examples=400, deadline=None)
@given(task=lifted_tasks(costs=COSTS))
def test_split_schemas_are_the_same_relaxation(task: LiftedTask) -> None:
    """hmax and hadd of rules over few parameters are the fixed points over whole actions."""
    native = _core.LiftedTask.from_spec(task)
    hmax, hadd, ff = (_core.heuristic(kind, native) for kind in ("hmax", "add", "ff"))
    space = _core.LiftedSpace(native)
    state, number = reference.initial(task), space.initial_state()
    for _ in range(4):
        numbers = np.array([number], dtype=np.int32)
        most = reference.relaxed_value(task, state, max)
        assert hmax.evaluate(space, numbers)[0] == most
        assert hadd.evaluate(space, numbers)[0] == reference.relaxed_value(task, state, sum)
        assert (ff.evaluate(space, numbers)[0] == reference.INFINITY) == (most == reference.INFINITY)
        operators = space.applicable(number)
        if not operators:
            return
        schema, *objects = space.action(operators[-1])
        state = reference.successor(task, state, (schema, tuple(objects)))
        number = space.apply(number, operators[-1])


@pytest.mark.parametrize("symmetry", [False, True])
@pytest.mark.parametrize("lazy", [False, True])
def test_a_lifted_search_with_preferred_operators_only(symmetry: bool, lazy: bool) -> None:
    """Without preferred operators this search would end after the initial state."""
    for domain, problem in ((tasks.TOWER_DOMAIN, tasks.TOWER), (tasks.LAMPS_DOMAIN, tasks.lamps(6))):
        task = tasks.load(domain, problem)
        ff = _core.heuristic("ff", task.ground())
        space = _core.LiftedSpace(task.native_lifted(), symmetry)
        result = _core.search(space, _core.SingleOpenList(ff, pref_only=True), preferred=[ff], lazy=lazy)
        assert result.status == "solved"
        assert task.validate([space.operator_name(op) for op in result.plan]).valid


def test_heuristics_without_relaxed_plans(tower: LiftedTask) -> None:
    native = _core.LiftedTask.from_spec(tower)
    space = _core.LiftedSpace(native)
    for heuristic in (_core.heuristic("hmax", native.ground()), _core.heuristic("blind", native)):
        with pytest.raises(_core.CoreInputError, match="no relaxed plans"):
            heuristic.relaxed_plan(space, space.initial_state())
