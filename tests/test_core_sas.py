"""SAS tasks: text and back, conditional effects, axioms, and files of Fast Downward's translator."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import sas_reference
import tasks
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from sas_reference import Operator, SasTask, Variable
from sas_strategy import sas_tasks

from gsp_fd import _core
from gsp_fd.task import load_pddl


def astar(task: _core.GroundTask, heuristic: _core.Heuristic) -> _core.SearchResult:
    f = _core.sum([_core.g(), heuristic])
    open_list = _core.TieBreakingOpenList([f, heuristic])
    return _core.search(_core.GroundSpace(task), open_list, reopen_closed=True, max_time=60)


@settings(max_examples=200, deadline=None)
@given(task=sas_tasks())
def test_text_and_execution(task: SasTask) -> None:
    text = sas_reference.write(task)
    native = _core.GroundTask.from_sas(text)
    assert native.to_sas() == text
    assert sas_reference.read(text) == task
    expected = sas_reference.explore(task, 150)
    if expected is None:
        reject()
    space = _core.GroundSpace(native)
    assert space.initial_state() == 0
    number = 0
    while number < space.num_states:
        state = tuple(space.export_state(number).tolist())
        assert space.is_goal(number) == sas_reference.holds(state, task.goal)
        operators, successors = space.expand(number)
        assert sorted(operators.tolist()) == sas_reference.applicable(task, state)
        for operator, successor in zip(operators.tolist(), successors.tolist(), strict=True):
            reached = tuple(space.export_state(successor).tolist())
            assert reached == sas_reference.successor(task, state, operator)
        number += 1
    assert number == len(expected)


@settings(max_examples=150, deadline=None)
@given(task=sas_tasks(costs=st.sampled_from([0, 1, 4, 250_000])))
def test_optimal_costs(task: SasTask) -> None:
    expected = sas_reference.explore(task, 150)
    if expected is None:
        reject()
    best = sas_reference.optimal_cost(task, expected)
    native = _core.GroundTask.from_sas(sas_reference.write(task))
    for heuristic in (_core.heuristic("blind", native), _core.heuristic("hmax", native)):
        result = astar(native, heuristic)
        assert result.status == ("exhausted" if best is None else "solved")
        assert result.complete == (best is None)
        assert best is None or result.plan_cost == best


def test_layers_of_axioms() -> None:
    """v1 follows v0 in layer 0, v2 negates v1 in layer 1, v3 needs v2 and itself negated below."""
    binary = ("Atom no()", "Atom yes()")
    task = SasTask(
        variables=(Variable(-1, binary), Variable(0, binary), Variable(1, binary), Variable(2, binary)),
        initial=(0, 0, 0, 0),
        goal=((3, 1),),
        operators=(Operator("flip", (), ((((0, 0),), 0, 1), (((0, 1),), 0, 0)), 1),),
        axioms=((((0, 1),), 1, 1), (((1, 0),), 2, 1), (((2, 0), (1, 1)), 3, 1)),
    )
    native = _core.GroundTask.from_sas(sas_reference.write(task))
    space = _core.GroundSpace(native)
    assert space.export_state(space.initial_state()).tolist() == [0, 0, 1, 0]
    assert space.export_state(space.apply(0, 0)).tolist() == [1, 1, 0, 1]
    assert space.apply(1, 0) == 0
    assert astar(native, _core.heuristic("hmax", native)).plan == [0]
    assert (native.num_axioms, native.num_derived_variables) == (3, 3)


def test_many_preconditions_and_large_domains() -> None:
    """More tests of one operator than the successor generator's fixed stack holds, and a 17-bit variable."""
    count, size = 700, 70_000
    variables = [Variable(-1, ("Atom a()", "Atom b()")) for _ in range(count)]
    variables.append(Variable(-1, tuple(f"Atom c({i})" for i in range(size))))
    wide = Operator("wide", tuple((v, 0) for v in range(count)), (((), count, size - 1),), 1)
    narrow = [Operator(f"narrow {v}", ((v, 0),), (((), count, v),), 1) for v in range(count)]
    task = SasTask(tuple(variables), (0,) * (count + 1), ((count, size - 1),), (wide, *narrow))
    native = _core.GroundTask.from_sas(sas_reference.write(task))
    space = _core.GroundSpace(native)
    assert sorted(space.applicable(space.initial_state())) == list(range(count + 1))
    assert space.export_state(space.apply(0, 0))[count] == size - 1
    assert astar(native, _core.heuristic("blind", native)).plan == [0]


def test_deep_preconditions_do_not_overflow_the_stack() -> None:
    count = 100_000
    variables = tuple(Variable(-1, ("a", "b")) for _ in range(count))
    operator = Operator("all", tuple((v, 0) for v in range(1, count)), (((), 0, 1),), 1)
    task = SasTask(variables, (0,) * count, ((0, 1),), (operator, operator))
    native = _core.GroundTask.from_sas(sas_reference.write(task))
    assert astar(native, _core.heuristic("blind", native)).plan_cost == 1


def test_tasks_of_the_translator(tmp_path: Path) -> None:
    (tmp_path / "domain.pddl").write_text(tasks.HOUSE_DOMAIN)
    (tmp_path / "problem.pddl").write_text(tasks.HOUSE)
    options = ["--keep-unimportant-variables"]
    task = load_pddl(tmp_path / "domain.pddl", tmp_path / "problem.pddl", translate_options=options)
    assert task.sas is not None
    native = task.ground()
    assert native.num_axioms > 0
    assert native.to_sas() == task.sas
    sas = sas_reference.read(task.sas)
    costs = sas_reference.explore(sas, 100_000)
    assert costs is not None
    result = astar(native, _core.heuristic("hmax", native))
    assert result.plan_cost == sas_reference.optimal_cost(sas, costs)
    assert task.validate([native.operator_name(op) for op in result.plan]).valid


@pytest.mark.parametrize("name", ["psr-middle", "miconic-fulladl", "philosophers", "briefcaseworld", "gripper"])
def test_benchmarks_of_the_translator(benchmarks: Path, name: str) -> None:
    folder = benchmarks / "conformance" / name
    options = ["--keep-unimportant-variables"]
    task = load_pddl(folder / "domain.pddl", folder / "problem.pddl", translate_options=options)
    assert task.sas is not None
    sas, space = sas_reference.read(task.sas), _core.GroundSpace(task.ground())
    # The same but for the order of the preconditions.
    assert sas_reference.read(task.ground().to_sas()) == sas
    state, number = sas_reference.initial(sas), space.initial_state()
    for step in range(10):
        assert tuple(space.export_state(number).tolist()) == state
        operators = sas_reference.applicable(sas, state)
        assert sorted(space.applicable(number)) == operators
        if not operators:
            break
        chosen = operators[step * 7919 % len(operators)]
        state, number = sas_reference.successor(sas, state, chosen), space.apply(number, chosen)


def test_unknown_numbers_are_refused() -> None:
    task = SasTask((Variable(-1, ("a", "b")),), (0,), ((0, 1),), (Operator("go", (), (((), 0, 1),), 1),))
    native = _core.GroundTask.from_sas(sas_reference.write(task))
    space = _core.GroundSpace(native)
    space.initial_state()
    for number in (-1, 1, 10**6):
        for lookup in (space.cost, space.operator_name):
            with pytest.raises(IndexError):
                lookup(number)
    for number in (1, 10**6):
        with pytest.raises(IndexError):
            native.operator_name(number)
    for values in ([], [2], [-1], [0, 0]):
        with pytest.raises(ValueError, match=r"one value|out of range"):
            space.import_state(np.array(values, dtype=np.int32))
