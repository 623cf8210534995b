"""hmax, hadd, hFF, goalcount and blind against fixed points and relaxed search in Python."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import reference
import sas_reference
from hypothesis import example, given, reject, settings
from hypothesis import strategies as st
from lifted_strategy import lifted_tasks
from sas_reference import INFINITY, Operator, SasTask, Variable
from sas_strategy import sas_tasks

from gsp_fd import _core
from gsp_fd.pddl import LiftedTask

FREE = "approximate_negative"
"""How the reference sees negated derived facts."""
COSTS = st.sampled_from([0, 1, 2, 5, 4095, 4096, 100_001, 3_000_000])
GIGANTIC = [2**30 - 2, 2**30, 2**31 - 2, 2**31 - 1]
COST_TYPES = ["normal", "one", "plusone"]


def states(space: _core.GroundSpace, limit: int) -> Iterator[tuple[int, sas_reference.State]]:
    """States in the order of a breadth-first search, native and as values."""
    state = space.initial_state()
    while state < min(limit, space.num_states):
        yield state, tuple(space.export_state(state).tolist())
        space.expand(state)
        state += 1


def value(heuristic: _core.Heuristic, space: _core.StateSpace, state: int) -> float:
    return float(heuristic.evaluate(space, np.array([state], dtype=np.int32))[0])


@pytest.mark.parametrize("cost_type", COST_TYPES)
@settings(max_examples=100, deadline=None)
@given(task=sas_tasks(costs=COSTS))
def test_hmax_and_hadd_are_the_fixed_points(cost_type: str, task: SasTask) -> None:
    native = _core.GroundTask.from_sas(sas_reference.write(task))
    space = _core.GroundSpace(native)
    hmax, hadd, ff = (_core.heuristic(kind, native, cost_type, axioms=FREE) for kind in ("hmax", "add", "ff"))
    for number, state in states(space, 8):
        most = sas_reference.relaxed_value(task, state, max, cost_type)
        assert value(hmax, space, number) == most
        assert value(hadd, space, number) == sas_reference.relaxed_value(task, state, sum, cost_type)
        assert (value(ff, space, number) == INFINITY) == (most == INFINITY)


@settings(max_examples=150, deadline=None)
@given(task=lifted_tasks(costs=COSTS))
def test_ground_tasks_and_lifted_states(task: LiftedTask) -> None:
    """The same values whether the states are ground or lifted."""
    lifted = _core.LiftedTask.from_spec(task)
    native = lifted.ground()
    sas = sas_reference.read(native.to_sas())
    lifted_space, lifted_state = _core.LiftedSpace(lifted), reference.initial(task)
    ground_space = _core.GroundSpace(native)
    number, ground_number = lifted_space.initial_state(), ground_space.initial_state()
    hmax, hadd, ff = _core.heuristic("hmax", native), _core.heuristic("add", native), _core.heuristic("ff", native)
    for _ in range(5):
        state = tuple(ground_space.export_state(ground_number).tolist())
        most = sas_reference.relaxed_value(sas, state, max)
        assert value(hmax, ground_space, ground_number) == value(hmax, lifted_space, number) == most
        total = sas_reference.relaxed_value(sas, state, sum)
        assert value(hadd, ground_space, ground_number) == value(hadd, lifted_space, number) == total
        assert value(ff, ground_space, ground_number) == value(ff, lifted_space, number)
        if most == INFINITY:
            assert (
                _core.heuristic("goalcount", native).evaluate(lifted_space, np.array([number], dtype=np.int32))[0] > 0
            )
        operators = {ground_space.operator_name(op): op for op in ground_space.applicable(ground_number)}
        shared = [op for op in lifted_space.applicable(number) if lifted_space.operator_name(op) in operators]
        if not shared:
            return
        ground_number = ground_space.apply(ground_number, operators[lifted_space.operator_name(shared[-1])])
        number = lifted_space.apply(number, shared[-1])
        schema, *objects = lifted_space.action(shared[-1])
        lifted_state = reference.successor(task, lifted_state, (schema, tuple(objects)))
        assert lifted_space.is_goal(number) == reference.is_goal(task, lifted_state)


@settings(max_examples=150, deadline=None)
@given(task=sas_tasks(conditional=False, costs=st.sampled_from([0, 1, 3, 150_000])))
def test_hff_is_the_cost_of_a_relaxed_plan(task: SasTask) -> None:
    native = _core.GroundTask.from_sas(sas_reference.write(task))
    space = _core.GroundSpace(native)
    ff, hmax, hadd = (_core.heuristic(kind, native, axioms=FREE) for kind in ("ff", "hmax", "add"))
    for number, state in states(space, 6):
        estimate = value(ff, space, number)
        best = sas_reference.relaxed_optimum(task, state, 500)
        assert value(hmax, space, number) <= estimate <= value(hadd, space, number)
        assert best is None or (best <= estimate and (best == INFINITY) == (estimate == INFINITY))
        preferred = ff.preferred(space, number)
        assert set(preferred) <= set(space.applicable(number))
        assert len(set(preferred)) == len(preferred)
        open_goals = [fact for fact in task.goal if fact not in sas_reference.relaxed_state(task, state)]
        if open_goals and estimate < INFINITY and not task.axioms:
            # The first operator of a relaxed plan is applicable.
            assert preferred


@settings(max_examples=100, deadline=None)
@given(task=sas_tasks(costs=st.integers(1, 9)))
def test_hmax_is_admissible(task: SasTask) -> None:
    costs = sas_reference.explore(task, 200)
    if costs is None:
        reject()
    native = _core.GroundTask.from_sas(sas_reference.write(task))
    space = _core.GroundSpace(native)
    best = sas_reference.optimal_cost(task, costs)
    for heuristic in (_core.heuristic("hmax", native), _core.heuristic("blind", native)):
        assert value(heuristic, space, space.initial_state()) <= (INFINITY if best is None else best)


def chain(cost: int) -> SasTask:
    """Two operators one after the other, each of this cost."""
    binary = Variable(-1, ("a", "b"))
    first = Operator("first", ((0, 0),), (((), 0, 1),), cost)
    second = Operator("second", ((0, 1),), (((), 1, 1),), cost)
    return SasTask((binary, binary), (0, 0), ((1, 1),), (first, second), metric=True)


@settings(max_examples=60, deadline=None)
@given(task=sas_tasks(costs=st.sampled_from(GIGANTIC)))
@example(task=chain(2**30 - 2))
@example(task=chain(2**30))
@example(task=chain(2**31 - 1))
def test_gigantic_costs_stay_finite(task: SasTask) -> None:
    """Beyond what 32 bits hold, estimates may be too low; dead ends must not appear, nor negative values."""
    native = _core.GroundTask.from_sas(sas_reference.write(task))
    space = _core.GroundSpace(native)
    for cost_type in COST_TYPES:
        heuristics = [_core.heuristic(kind, native, cost_type, axioms=FREE) for kind in ("hmax", "add", "ff")]
        for number, state in states(space, 4):
            expected = sas_reference.relaxed_value(task, state, max, cost_type)
            for heuristic in heuristics:
                found = value(heuristic, space, number)
                assert found >= 0
                assert (found == INFINITY) == (expected == INFINITY)


def test_goalcount_and_blind(courier: LiftedTask) -> None:
    native = _core.LiftedTask.from_spec(courier)
    ground = native.ground()
    for space in (_core.LiftedSpace(native), _core.GroundSpace(ground)):
        state = np.array([space.initial_state()], dtype=np.int32)
        assert _core.heuristic("goalcount", native).evaluate(space, state)[0] == 2
        assert _core.heuristic("blind", native).evaluate(space, state)[0] == 0
        assert _core.heuristic("blind", native, "one").evaluate(space, state)[0] == 1
        assert _core.heuristic("blind", native, "plusone").evaluate(space, state)[0] == 1


def test_a_heuristic_refuses_states_of_another_task(courier: LiftedTask, tower: LiftedTask) -> None:
    heuristic = _core.heuristic("ff", _core.LiftedTask.from_spec(courier).ground())
    other = _core.GroundSpace(_core.LiftedTask.from_spec(tower).ground())
    with pytest.raises(_core.CoreInputError, match="another task"):
        value(heuristic, other, other.initial_state())
    with pytest.raises(IndexError):
        value(heuristic, other, 99)
    with pytest.raises(_core.CoreInputError, match="cost type"):
        _core.heuristic("hmax", _core.LiftedTask.from_spec(courier).ground(), "two")
