"""Interchangeable objects: fewer actions, the same costs."""

from __future__ import annotations

import reference
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from lifted_strategy import lifted_tasks

from gsp_fd import _core
from gsp_fd.pddl import LiftedTask


def blind_search(space: _core.LiftedSpace, task: _core.LiftedTask) -> _core.SearchResult:
    f = _core.sum([_core.g(), _core.heuristic("blind", task)])
    return _core.search(space, _core.SingleOpenList(f), reopen_closed=True)


@settings(max_examples=200, deadline=None)
@given(task=lifted_tasks(max_objects=4, costs=st.sampled_from([0, 1, 3])))
def test_representatives(task: LiftedTask) -> None:
    """Every applicable action is counted once, and what remains are applicable actions of the same costs."""
    native = _core.LiftedTask.from_spec(task)
    space = _core.LiftedSpace(native, symmetry=True)
    state = reference.initial(task)
    found = [space.action(op) for op in space.applicable(space.initial_state())]
    actions = {(schema, tuple(objects)) for schema, *objects in found}
    applicable = reference.applicable(task, state)
    assert len(actions) == len(found)
    assert actions <= set(applicable)
    assert space.represented_actions == len(applicable)
    prices = {(action[0], reference.cost(task, action)) for action in actions}
    assert prices == {(action[0], reference.cost(task, action)) for action in applicable}


@settings(max_examples=150, deadline=None)
@given(task=lifted_tasks(costs=st.sampled_from([0, 1, 3])))
def test_costs_stay_optimal(task: LiftedTask) -> None:
    costs = reference.explore(task, 200)
    if costs is None:
        reject()
    native = _core.LiftedTask.from_spec(task)
    result = blind_search(_core.LiftedSpace(native, symmetry=True), native)
    best = reference.optimal_cost(task, costs)
    assert (result.status, result.plan_cost) == (("exhausted", 0) if best is None else ("solved", best))
