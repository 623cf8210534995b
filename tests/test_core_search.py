"""The search loop: optimal and valid plans, bounds, reopening, statistics, determinism."""

from __future__ import annotations

import pytest
import sas_reference
import search_configs
import tasks
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from sas_reference import Operator, SasTask, Variable
from sas_strategy import sas_tasks
from search_configs import OPTIMAL, SATISFICING, run

from gsp_fd import _core
from gsp_fd.task import Task
from gsp_fd.validate import validate_sas_plan

CONFIGS = {**OPTIMAL, **SATISFICING}
COUNTERS = ("expanded", "reopened", "evaluated", "evaluations", "generated", "dead_ends", "registered_states")


@pytest.fixture(scope="module", params=["tower", "courier", "lamps", "house"])
def task(request: pytest.FixtureRequest) -> Task:
    texts = {
        "tower": (tasks.TOWER_DOMAIN, tasks.TOWER),
        "courier": (tasks.COURIER_DOMAIN, tasks.COURIER),
        "lamps": (tasks.LAMPS_DOMAIN, tasks.lamps(6)),
        "house": (tasks.HOUSE_DOMAIN, tasks.HOUSE),
    }
    return tasks.load(*texts[request.param])


@pytest.fixture(scope="module")
def best(task: Task) -> int:
    """The optimal cost."""
    sas = sas_reference.read(task.ground().to_sas())
    costs = sas_reference.explore(sas, 10_000)
    assert costs is not None
    cost = sas_reference.optimal_cost(sas, costs)
    assert cost is not None
    return cost


def check_statistics(result: _core.SearchResult, lazy: bool) -> None:
    assert result.evaluated <= result.evaluations or result.evaluated == 0
    assert result.dead_ends <= result.evaluated
    assert result.registered_states <= 1 + result.generated
    if not lazy:
        assert result.expanded <= result.evaluated + result.reopened
        assert result.evaluated <= result.registered_states
    assert result.expanded_until_last_jump <= result.expanded
    assert result.evaluated_until_last_jump <= result.evaluated
    assert result.generated_until_last_jump <= result.generated
    assert result.reopened_until_last_jump <= result.reopened
    assert result.bytes_per_state > 0
    assert result.search_time >= 0


@pytest.mark.parametrize("name", CONFIGS)
def test_plans_are_valid(task: Task, best: int, name: str) -> None:
    ground = task.ground()
    lazy = name.startswith("lazy")
    space, result = run(ground, CONFIGS[name])
    assert (result.status, result.complete, result.bounded) == ("solved", False, False)
    verdict = task.validate([space.operator_name(op) for op in result.plan])
    assert verdict.valid, verdict.reason
    assert verdict.cost == result.plan_cost == sum(space.cost(op) for op in result.plan)
    assert result.plan_cost == best if name in OPTIMAL else result.plan_cost >= best
    check_statistics(result, lazy)
    # The bound is exclusive: nothing as expensive as this plan is found any more.
    _, cheaper = run(ground, CONFIGS[name], bound=result.plan_cost)
    assert cheaper.bounded
    assert cheaper.status == "exhausted" or cheaper.plan_cost < result.plan_cost
    _, again = run(ground, CONFIGS[name], bound=best)
    assert (again.status, again.bounded) == ("exhausted", True)


@pytest.mark.parametrize("name", CONFIGS)
def test_the_same_seed_gives_the_same_search(task: Task, name: str) -> None:
    ground = task.ground()
    config = CONFIGS[name](ground)
    open_list = config.pop("open_list")
    # The second search uses the same evaluators and open list again.
    first, second = (_core.search(_core.GroundSpace(ground), open_list, **config) for _ in range(2))
    assert first.plan == second.plan
    assert [getattr(first, name) for name in COUNTERS] == [getattr(second, name) for name in COUNTERS]


@pytest.mark.parametrize("name", CONFIGS)
@settings(max_examples=25, deadline=None)
@given(sas=sas_tasks(costs=st.sampled_from([0, 1, 2, 120_000])))
def test_random_tasks(name: str, sas: SasTask) -> None:
    costs = sas_reference.explore(sas, 100)
    if costs is None:
        reject()
    best = sas_reference.optimal_cost(sas, costs)
    text = sas_reference.write(sas)
    space, result = run(_core.GroundTask.from_sas(text), CONFIGS[name])
    check_statistics(result, name.startswith("lazy"))
    assert result.status == ("exhausted" if best is None else "solved")
    if best is None:
        assert result.complete
        return
    verdict = validate_sas_plan(text, [space.operator_name(op) for op in result.plan])
    assert verdict.valid, verdict.reason
    assert verdict.cost == result.plan_cost
    assert result.plan_cost == best if name in OPTIMAL else result.plan_cost >= best


def detour() -> _core.GroundTask:
    """Six places; the second is reached late by a cheaper way, after its successor was expanded."""
    place = Variable(-1, tuple(f"Atom at({i})" for i in range(6)))
    roads = [(0, 1, 9), (1, 2, 1), (2, 3, 9), (0, 4, 1), (4, 5, 1), (5, 1, 1), (3, 0, 1)]
    operators = [Operator(f"go {a} {b}", ((0, a),), (((), 0, b),), cost) for a, b, cost in roads]
    return _core.GroundTask.from_sas(
        sas_reference.write(SasTask((place,), (0,), ((0, 3),), tuple(operators), metric=True))
    )


def test_f_jumps() -> None:
    lines: list[str] = []
    task = tasks.load(tasks.COURIER_DOMAIN, tasks.COURIER).ground()
    _, result = run(task, OPTIMAL["astar-hmax"], log=lines.append)
    jumps = [int(line.split()[2].rstrip(",")) for line in lines if line.startswith("f = ")]
    assert result.jumped
    assert jumps == sorted(set(jumps))
    assert jumps[-1] == result.plan_cost
    words = next(line for line in reversed(lines) if line.startswith("f = ")).split()
    assert int(words[3]) == result.evaluated_until_last_jump
    assert int(words[5]) == result.expanded_until_last_jump
    assert "Initial heuristic value for hmax" in lines[0]
    _, silent = run(task, SATISFICING["eager-greedy"])
    assert not silent.jumped


def test_progress_lines() -> None:
    lines: list[str] = []
    task = tasks.load(tasks.TOWER_DOMAIN, tasks.TOWER).ground()
    run(task, SATISFICING["eager-greedy"], log=lines.append)
    best = [int(line.rsplit(" ", 1)[1]) for line in lines if line.startswith("New best heuristic value for add")]
    assert best == sorted(set(best), reverse=True)
    assert best[-1] == 0
    assert any(line.startswith("[g=") and line.endswith("expanded]") for line in lines)


def test_initial_goal_and_initial_dead_end() -> None:
    solved = tasks.load(tasks.LAMPS_DOMAIN, tasks.lamps(3, "(not (lit l0)) (not (lit l1))")).ground()
    variable = Variable(-1, ("Atom a()", "Atom b()"))
    dead = _core.GroundTask.from_sas(sas_reference.write(SasTask((variable,), (0,), ((0, 1),), ())))
    for name, config in CONFIGS.items():
        _, result = run(solved, config)
        assert (result.status, result.plan, result.plan_cost) == ("solved", [], 0), name
        _, result = run(dead, config)
        assert (result.status, result.complete) == ("exhausted", True), name


def test_a_search_with_preferred_successors_only_proves_nothing() -> None:
    task = tasks.load(tasks.LAMPS_DOMAIN, tasks.lamps(3)).ground()
    heuristic = _core.heuristic("goalcount", task)
    for open_list in (
        _core.SingleOpenList(heuristic, True),
        _core.TieBreakingOpenList([heuristic, _core.g()], True),
        _core.AlternationOpenList([_core.SingleOpenList(heuristic, True)]),
    ):
        result = _core.search(_core.GroundSpace(task), open_list)
        assert (result.status, result.complete) == ("exhausted", False)


def test_spaces_that_were_used_before() -> None:
    """States that others registered, the initial one not first, do not disturb a search."""
    task = tasks.load(tasks.TOWER_DOMAIN, tasks.TOWER).ground()
    for name, config in CONFIGS.items():
        walk, expected = run(task, config)
        space = _core.GroundSpace(task)
        for number in reversed(range(walk.num_states)):
            space.import_state(walk.export_state(number))
        assert space.initial_state() == space.num_states - 1 > 0
        arguments = config(task)
        result = _core.search(space, arguments.pop("open_list"), **arguments)
        assert (result.status, result.plan) == ("solved", expected.plan), name


@pytest.mark.parametrize("name", CONFIGS)
def test_costs_that_a_node_has_no_room_for_prove_nothing(name: str) -> None:
    binary = Variable(-1, ("Atom a()", "Atom b()"))
    for cost in (2**30 - 1, 2**30, 2**31 - 1):
        first = Operator("first", ((0, 0),), (((), 0, 1),), cost)
        second = Operator("second", ((0, 1),), (((), 1, 1),), cost)
        task = SasTask((binary, binary), (0, 0), ((1, 1),), (first, second), metric=True)
        native = _core.GroundTask.from_sas(sas_reference.write(task))
        _, result = run(native, CONFIGS[name])
        if result.status == "solved":
            assert result.plan_cost == 2 * cost
        else:
            assert (result.status, result.complete, result.bounded) == ("exhausted", False, False)


def test_wrong_arguments() -> None:
    task = detour()
    h = _core.heuristic("blind", task)
    with pytest.raises(_core.CoreInputError, match="batch size"):
        _core.search(_core.GroundSpace(task), _core.SingleOpenList(h), batch_size=0)
    with pytest.raises(_core.CoreInputError, match="cost type"):
        _core.search(_core.GroundSpace(task), _core.SingleOpenList(h), cost_type="none")
    with pytest.raises(_core.CoreInputError, match="at least one"):
        _core.TieBreakingOpenList([])
    with pytest.raises(_core.CoreInputError, match="at least one"):
        _core.AlternationOpenList([])
    for wrong in (None, 3, "x"):
        with pytest.raises(TypeError):
            _core.search(wrong, _core.SingleOpenList(h))  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            _core.search(_core.GroundSpace(task), wrong)  # type: ignore[arg-type]
    assert search_configs.run(task, SATISFICING["eager-greedy"])[1].status == "solved"
