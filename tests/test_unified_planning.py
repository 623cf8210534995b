"""The engine for unified-planning, on that library's own example problems."""

from __future__ import annotations

import io
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import cli_support as cli
import pytest
import tasks
from random_models import random_model

from gsp_fd.generate import domain_text, generate

pytest.importorskip("unified_planning", reason="unified-planning is not installed")

from unified_planning.engines import PlanGenerationResultStatus as Status
from unified_planning.engines import ValidationResultStatus
from unified_planning.environment import Environment
from unified_planning.io import PDDLReader
from unified_planning.shortcuts import (
    AnytimePlanner,
    MinimizeSequentialPlanLength,
    OneshotPlanner,
    PlanValidator,
    get_environment,
)
from unified_planning.test.examples import get_example_problems

from gsp_fd.fd_integration.unified_planning import GSPEngine, register


@pytest.fixture(autouse=True, scope="module")
def registered() -> None:
    register()
    register()
    get_environment().credits_stream = None


def examples() -> dict[str, Any]:
    problems = {name: example.problem for name, example in get_example_problems().items()}
    return {name: problem for name, problem in problems.items() if GSPEngine.supports(problem.kind)}


def assert_valid(problem: Any, plan: Any) -> None:
    with PlanValidator(problem_kind=problem.kind) as validator:
        assert validator.validate(problem, plan).status == ValidationResultStatus.VALID


def blocks(tmp_path: Path, size: int, seed: int = 1) -> Any:
    domain, problem = tmp_path / "domain.pddl", tmp_path / "problem.pddl"
    domain.write_text(domain_text("blocksworld"))
    problem.write_text(generate("blocksworld", size, seed))
    return PDDLReader().parse_problem(str(domain), str(problem))


def log_of(result: Any) -> str:
    return "\n".join(message.message for message in result.log_messages)


EXAMPLES = examples()


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_of_unified_planning(name: str) -> None:
    with OneshotPlanner(name="gsp") as planner:
        result = planner.solve(EXAMPLES[name])
    assert result.status == Status.SOLVED_SATISFICING, log_of(result)
    assert_valid(EXAMPLES[name], result.plan)
    assert re.search("^No model(?: fits)?: .+ LAMA's first iteration$", log_of(result), re.MULTILINE)


def test_there_are_enough_examples() -> None:
    assert len(EXAMPLES) >= 15


def test_unsolvable_problem() -> None:
    problem = EXAMPLES["basic_without_negative_preconditions"].clone()
    problem.clear_actions()
    with OneshotPlanner(name="gsp") as planner:
        result = planner.solve(problem)
    assert result.status == Status.UNSOLVABLE_PROVEN, log_of(result)
    assert result.plan is None


def test_timeout(tmp_path: Path) -> None:
    with OneshotPlanner(name="gsp", params={"model": None, "search": "astar(blind())"}) as planner:
        result = planner.solve(blocks(tmp_path, 30), timeout=2)
    assert result.status == Status.TIMEOUT
    assert result.plan is None


def test_output_stream(tmp_path: Path) -> None:
    stream = io.StringIO()
    with OneshotPlanner(name="gsp", params={"model": None}) as planner:
        result = planner.solve(blocks(tmp_path, 4), output_stream=stream)
    assert result.status == Status.SOLVED_SATISFICING
    assert "No model was asked for." in stream.getvalue()
    assert "Conducting lazy best first search" in stream.getvalue()


@pytest.mark.parametrize("relaxed_plan", ["no", "yes"])
def test_own_model_and_parameters(tmp_path: Path, relaxed_plan: str) -> None:
    problem = blocks(tmp_path, 4)
    model = own_model(tmp_path, relaxed_plan)
    for search in ("wastar", "policy", f'eager_wastar([gsp(model="{model}")], w=2)'):
        params = {"model": model, "search": search, "batch_size": 4}
        params |= {"weight": 1.5} if search == "wastar" else {}
        with OneshotPlanner(name="gsp", params=params) as planner:
            result = planner.solve(problem)
        assert result.status == Status.SOLVED_SATISFICING, log_of(result)
        assert_valid(problem, result.plan)
        assert "Initial heuristic value for gsp" in log_of(result)


def test_conditional_effects(tmp_path: Path) -> None:
    """Derived predicates are beyond unified-planning's own problems."""
    cli.write_files(tmp_path, {"domain.pddl": domain_text("lift"), "problem.pddl": generate("lift", 6, 1)})
    problem = PDDLReader().parse_problem(str(tmp_path / "domain.pddl"), str(tmp_path / "problem.pddl"))
    with OneshotPlanner(name="gsp", params={"model": own_model(tmp_path), "search": "policy"}) as planner:
        result = planner.solve(problem)
    assert result.status == Status.SOLVED_SATISFICING, log_of(result)
    assert_valid(problem, result.plan)
    assert "Initial heuristic value for gsp" in log_of(result)


def test_model_of_another_domain_is_an_error(tmp_path: Path) -> None:
    model = random_model(tasks.load(tasks.TOWER_DOMAIN, tasks.TOWER), tmp_path / "tower.onnx")
    with OneshotPlanner(name="gsp", params={"model": str(model)}) as planner:
        result = planner.solve(EXAMPLES["basic_without_negative_preconditions"])
    assert result.status == Status.INTERNAL_ERROR
    assert "does not fit" in log_of(result)


def own_model(folder: Path, relaxed_plan: str = "no") -> str:
    """Random weights for the problem in a folder."""
    task = tasks.load((folder / "domain.pddl").read_text(), (folder / "problem.pddl").read_text())
    return str(random_model(task, folder / "m.onnx", relaxed_plan=relaxed_plan))


@pytest.mark.parametrize(("learned", "size"), [(False, 7), (True, 4)])
def test_anytime(tmp_path: Path, learned: bool, size: int) -> None:
    problem = blocks(tmp_path, size, seed=3)
    problem.add_quality_metric(MinimizeSequentialPlanLength())
    params = {"model": own_model(tmp_path) if learned else None}
    with AnytimePlanner(name="gsp", params=params, anytime_guarantee="INCREASING_QUALITY") as planner:
        results = list(planner.get_solutions(problem))
    assert results[-1].status == Status.SOLVED_SATISFICING
    lengths = [len(result.plan.actions) for result in results[:-1]]
    assert lengths == sorted(set(lengths), reverse=True)
    for result in results:
        assert_valid(problem, result.plan)
    assert len(results[-1].plan.actions) == lengths[-1]


def test_registration_by_a_configuration_file(tmp_path: Path) -> None:
    (tmp_path / "up.ini").write_text(
        "[engine gsp]\nmodule_name: gsp_fd.fd_integration.unified_planning\nclass_name: GSPEngine\n"
    )
    environment = Environment()
    environment.factory.configure_from_file(str(tmp_path / "up.ini"))
    assert "gsp" in environment.factory.engines
    assert environment.factory.engine("gsp") is GSPEngine
    assert GSPEngine.get_credits().license == "MIT"


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_killing_the_caller_leaves_no_planner(tmp_path: Path) -> None:
    blocks(tmp_path, 40)
    script = """\
import sys
from unified_planning.io import PDDLReader
from unified_planning.shortcuts import OneshotPlanner
from gsp_fd.fd_integration.unified_planning import register
register()
problem = PDDLReader().parse_problem("domain.pddl", "problem.pddl")
with OneshotPlanner(name="gsp", params={"model": None, "search": "astar(blind())"}) as planner:
    planner.solve(problem, output_stream=sys.stdout)
"""
    with subprocess.Popen(
        [sys.executable, "-u", "-c", script], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    ) as caller:
        assert caller.stdout is not None
        assert any("Conducting" in line for line in caller.stdout)
        assert len(cli.processes_in(tmp_path)) == 2
        caller.send_signal(signal.SIGKILL)
    assert cli.processes_end(tmp_path)
