"""Tasks and states travel to other processes."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest
import tasks

from gsp_fd import _core
from gsp_fd.task import Task

TEXTS = {
    "tower": (tasks.TOWER_DOMAIN, tasks.TOWER),
    "courier": (tasks.COURIER_DOMAIN, tasks.COURIER),
    "house": (tasks.HOUSE_DOMAIN, tasks.HOUSE),
}

CHILD = """
import pickle, sys
from gsp_fd import _core

task, ground, states, lifted_states = pickle.load(sys.stdin.buffer)
def names(space, state):
    number = space.import_state(state)
    return sorted(space.operator_name(op) for op in space.applicable(number)), space.is_goal(number)

space = _core.GroundSpace(ground)
answer = [names(space, state) for state in states]
own = _core.GroundSpace(task.ground())
assert answer == [names(own, state) for state in states]
if lifted_states:
    lifted = _core.LiftedSpace(task.native_lifted())
    answer += [names(lifted, state) for state in lifted_states]
pickle.dump(answer, sys.stdout.buffer)
"""


@pytest.fixture(params=TEXTS)
def task(request: pytest.FixtureRequest) -> Task:
    return tasks.load(*TEXTS[request.param])


def walk(space: _core.StateSpace) -> list[int]:
    """The first states of a breadth-first search."""
    state = space.initial_state()
    while space.num_states < 40 and state < space.num_states:
        space.expand(state)
        state += 1
    return list(range(space.num_states))


def test_tasks_and_states_in_another_process(task: Task) -> None:
    native: list[_core.GroundSpace | _core.LiftedSpace] = [_core.GroundSpace(task.ground())]
    if task.is_lifted:
        native.append(_core.LiftedSpace(task.native_lifted()))
    expected, exported = [], []
    for space in native:
        numbers = walk(space)
        exported.append([space.export_state(state) for state in numbers])
        expected += [
            (sorted(space.operator_name(op) for op in space.applicable(state)), space.is_goal(state))
            for state in numbers
        ]
    data = pickle.dumps((task, task.ground(), exported[0], exported[1] if task.is_lifted else []))
    command = [sys.executable, "-c", CHILD]
    child = subprocess.run(command, input=data, cwd=Path(__file__).parent, stdout=subprocess.PIPE, check=True)
    assert pickle.loads(child.stdout) == expected


def test_round_trips(task: Task) -> None:
    ground = task.ground()
    copy = pickle.loads(pickle.dumps(ground))
    assert copy.to_sas() == ground.to_sas()
    again = pickle.loads(pickle.dumps(task))
    assert again.ground().to_sas() == ground.to_sas()
    assert again.name == task.name
    native: list[_core.GroundSpace | _core.LiftedSpace] = [_core.GroundSpace(ground)]
    if task.is_lifted:
        native.append(_core.LiftedSpace(task.native_lifted()))
    for space in native:
        for state in walk(space):
            assert space.import_state(pickle.loads(pickle.dumps(space.export_state(state)))) == state


def test_heuristics_accept_a_pickled_task(task: Task) -> None:
    ground = pickle.loads(pickle.dumps(task.ground()))
    heuristic = _core.heuristic("ff", ground)
    result = _core.search(_core.GroundSpace(ground), _core.SingleOpenList(heuristic), preferred=[heuristic])
    assert result.status == "solved"
    assert task.validate([ground.operator_name(op) for op in result.plan]).valid
