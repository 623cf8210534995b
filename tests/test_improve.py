"""The improvement of plans: what comes out is a plan, never worse, and the best one where all states are looked at."""

from __future__ import annotations

import random
import re
import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import cli_support as cli
import pytest
import reference
import sas_reference
import tasks
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from lifted_strategy import lifted_tasks
from sas_reference import SasTask
from sas_strategy import sas_tasks

from gsp_fd import _core
from gsp_fd.pddl import LiftedTask
from gsp_fd.task import Task
from gsp_fd.validate import validate_sas_plan

S = TypeVar("S")
A = TypeVar("A")

MAX_STATES = 400
WALK = 60
NO_STATES = 0


def improved(
    native: _core.GroundTask | _core.LiftedTask, plan: list[str], **options: int
) -> tuple[list[str], list[int]]:
    """The last plan and the costs of all that were reported."""
    found: list[tuple[list[str], int]] = []
    status = _core.improve_plan(
        native, plan, lambda _method, actions, costs, _s: found.append((actions, sum(costs))), **options
    )
    assert status == "done"
    return (found[-1][0] if found else plan), [cost for _, cost in found]


def walk(
    start: S,
    choices: Callable[[S], Sequence[A]],
    follow: Callable[[S, A], S],
    is_goal: Callable[[S], bool],
    seed: int,
) -> list[A]:
    """Random steps from a state to a goal state that is met late."""
    generator = random.Random(seed)
    state = start
    steps: list[A] = []
    best: list[A] = []
    for _ in range(WALK):
        if is_goal(state):
            best = list(steps)
        options = choices(state)
        if not options:
            break
        steps.append(generator.choice(options))
        state = follow(state, steps[-1])
    assume(best)
    return best


@settings(max_examples=50, deadline=None)
@given(
    task=lifted_tasks(costs=st.integers(0, 3)), seed=st.integers(0, 1000), states=st.sampled_from([NO_STATES, 10_000])
)
def test_lifted_plans(task: LiftedTask, seed: int, states: int) -> None:
    costs = reference.explore(task, MAX_STATES)
    assume(costs is not None)
    assert costs is not None
    steps = walk(
        reference.initial(task),
        lambda state: reference.applicable(task, state),
        lambda state, action: reference.successor(task, state, action),
        lambda state: reference.is_goal(task, state),
        seed,
    )
    by_name = {reference.action_name(task, action): action for action in reference.actions(task)}
    plan, told = improved(
        _core.LiftedTask.from_spec(task), [reference.action_name(task, step) for step in steps], max_states=states
    )
    state, cost = reference.initial(task), 0
    for name in plan:
        assert reference.is_applicable(task, state, by_name[name])
        cost += reference.cost(task, by_name[name])
        state = reference.successor(task, state, by_name[name])
    assert reference.is_goal(task, state)
    assert told == sorted(told, reverse=True)
    assert cost == (told[-1] if told else sum(reference.cost(task, step) for step in steps))
    if states:
        assert cost == reference.optimal_cost(task, costs)


@settings(max_examples=50, deadline=None)
@given(task=sas_tasks(), seed=st.integers(0, 1000), states=st.sampled_from([NO_STATES, 10_000]))
def test_sas_plans(task: SasTask, seed: int, states: int) -> None:
    """Conditional effects and axioms too."""
    costs = sas_reference.explore(task, MAX_STATES)
    assume(costs is not None)
    assert costs is not None
    steps = walk(
        sas_reference.initial(task),
        lambda state: sas_reference.applicable(task, state),
        lambda state, op: sas_reference.successor(task, state, op),
        lambda state: sas_reference.holds(state, task.goal),
        seed,
    )
    text = sas_reference.write(task)
    names = [task.operators[op].name for op in steps]
    plan, told = improved(_core.GroundTask.from_sas(text), names, max_states=states)
    verdict = validate_sas_plan(text, plan)
    assert verdict.valid, verdict.reason
    assert verdict.cost == (told[-1] if told else validate_sas_plan(text, names).cost)
    assert told == sorted(told, reverse=True)
    if states:
        assert verdict.cost == sas_reference.optimal_cost(task, costs)


def test_windows_find_the_way_around() -> None:
    """Blocks put down on the way are put where they belong at once; nothing around the plan is looked at for that."""
    task = tasks.load(tasks.TOWER_DOMAIN, tasks.TOWER)
    detour = ["take c b", "drop c", "take b a", "drop b", "lift b", "put b c", "take b c", "drop b"]
    rest = ["lift c", "put c d", "lift b", "put b c", "lift a", "put a b"]
    plan, told = improved(task.native_lifted(), detour + rest, max_states=NO_STATES)
    assert task.validate(plan).valid
    assert told[-1] == len(plan) == 6


def test_no_plan_is_an_error() -> None:
    task = tasks.load(tasks.TOWER_DOMAIN, tasks.TOWER)
    for wrong in ([], ["take c b"], ["take b a"], ["fly c b"], ["take c"]):
        with pytest.raises(_core.CoreInputError, match="no plan of the task"):
            improved(task.native_lifted(), wrong)


def test_limits_keep_what_was_found() -> None:
    """No time: nothing is found, and that is no error."""
    task = tasks.load(tasks.LAMPS_DOMAIN, tasks.lamps(200))
    plan = [f"{verb} l{i}" for i in range(200) for verb in ("on", "off", "on")]
    found: list[int] = []
    status = _core.improve_plan(task.native_lifted(), plan, lambda *report: found.append(sum(report[2])), max_time=0.0)
    assert (status, found) == ("time", [])


@pytest.fixture
def courier(tmp_path: Path) -> Path:
    return cli.write_files(tmp_path, cli.COURIER)


BAD = "lazy_greedy([goalcount()], cost_type=one)"


def final_cost(folder: Path, name: str = "sas_plan") -> int:
    match = re.search(r"; cost = (\d+)", (folder / name).read_text())
    assert match is not None
    return int(match[1])


def optimum(task: Task) -> int:
    sas = sas_reference.read(task.ground().to_sas())
    costs = sas_reference.explore(sas, 10_000)
    assert costs is not None
    best = sas_reference.optimal_cost(sas, costs)
    assert best is not None
    return best


@pytest.mark.parametrize("option", [["--improve"], ["--improve", "on"], ["--improve=60s"]])
def test_improve_after_a_search(courier: Path, option: list[str]) -> None:
    plain = cli.gsp_plan(courier, "domain.pddl", "problem.pddl", "--search", BAD)
    before = final_cost(courier)
    assert "Plan improved" not in plain.stdout
    run = cli.gsp_plan(courier, *option, "domain.pddl", "problem.pddl", "--search", BAD)
    assert run.returncode == 0, run.stderr
    best = optimum(tasks.load(tasks.COURIER_DOMAIN, tasks.COURIER))
    assert before > final_cost(courier) == best
    lines = re.findall(r"Plan improved: \d+ -> \d+ steps, cost (\d+) -> (\d+), by [a-z ]+, \d+\.\d\ds", run.stdout)
    assert lines[0][0] == str(before)
    assert lines[-1][1] == str(best)
    assert [int(cost) for cost in re.findall(r"Plan cost: (\d+)", run.stdout)] == [best]
    assert cli.plan_files(courier) == ["sas_plan"]


def test_numbered_plans_get_cheaper(courier: Path) -> None:
    search = f"iterated([{BAD}])"
    run = cli.gsp_plan(courier, "domain.pddl", "problem.pddl", "--improve", "--search", search)
    assert run.returncode == 0, run.stderr
    names = cli.plan_files(courier)
    assert len(names) > 1
    costs = [final_cost(courier, f"sas_plan.{number}") for number in range(1, len(names) + 1)]
    assert costs == sorted(set(costs), reverse=True)


def test_improve_off_and_wrong(courier: Path) -> None:
    run = cli.gsp_plan(courier, "--improve", "off", "domain.pddl", "problem.pddl", "--search", BAD)
    assert (run.returncode, "Plan improved" in run.stdout) == (0, False)
    run = cli.gsp_plan(courier, "--improve=sometimes", "domain.pddl", "problem.pddl", "--search", BAD)
    assert run.returncode == 36
    assert "--improve: 'sometimes' is none of on, off, auto and a time" in run.stderr


def test_sas_files_too(courier: Path) -> None:
    cli.gsp_plan(courier, "--translate", "domain.pddl", "problem.pddl")
    run = cli.gsp_plan(courier, "--improve", "output.sas", "--search", BAD)
    assert run.returncode == 0, run.stderr
    assert final_cost(courier) == optimum(tasks.load(tasks.COURIER_DOMAIN, tasks.COURIER))


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    """Its plan cannot be improved, but it takes long to try everything."""
    return cli.write_files(tmp_path, cli.ENDLESS)


GOOD = "lazy_greedy([goalcount()])"


@pytest.mark.parametrize("limits", [["--improve", "1"], ["--improve", "--overall-time-limit", "3"]])
def test_time_limits_of_the_improvement(endless: Path, limits: list[str]) -> None:
    run = cli.gsp_plan(endless, *limits, "problem.pddl", "--search", GOOD)
    assert run.returncode == 0, run.stdout[-500:] + run.stderr
    assert "Solution found." in run.stdout
    assert final_cost(endless) == 60


def test_a_signal_ends_the_improvement(endless: Path) -> None:
    command = cli.planner_command("--improve", "problem.pddl", "--search", GOOD)
    with subprocess.Popen(command, cwd=endless, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "Bytes per registered state" in line:
                break
        process.send_signal(signal.SIGTERM)
        rest, errors = process.communicate(timeout=60)
    assert process.returncode == 256 - signal.SIGTERM
    assert "Traceback" not in rest + errors
    assert final_cost(endless) == 60
