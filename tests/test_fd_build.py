"""``gsp-fd-build``: the real Fast Downward's driver with our search component in its place."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import cli_support as cli
import pytest
import tasks
from random_models import random_model

from gsp_fd.fd_integration.language.registry import is_learned
from gsp_fd.fd_integration.tools.build import main
from gsp_fd.generate import domain_text, generate

GSP = 'eager_wastar([gsp(model="model.onnx")], w=2)'


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("up_fast_downward", reason="up-fast-downward is not installed")
    folder = tmp_path_factory.mktemp("build with space")
    assert main([str(folder)]) == 0
    assert main([str(folder)]) == 0, "making it again changes nothing"
    return folder


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    task = tasks.load(tasks.TOWER_DOMAIN, tasks.TOWER)
    return random_model(task, tmp_path_factory.mktemp("model") / "tower.onnx")


@pytest.fixture
def tower(tmp_path: Path, model: Path) -> Path:
    (tmp_path / "model.onnx").symlink_to(model)
    return cli.write_files(tmp_path, cli.TOWER)


def check_plan(folder: Path, name: str = "sas_plan") -> int:
    """The cost of a plan that the independent validator accepts."""
    text = (folder / name).read_text()
    actions = re.findall(r"\((.*)\)", "\n".join(text.splitlines()[:-1]))
    verdict = tasks.load(tasks.TOWER_DOMAIN, tasks.TOWER).validate(actions)
    assert verdict.valid, verdict.reason
    assert text.endswith(f"; cost = {verdict.cost} (unit cost)\n")
    return verdict.cost


def test_learned_search_in_the_real_driver(tower: Path, build: Path) -> None:
    run = cli.fast_downward(tower, "--build", str(build), "domain.pddl", "problem.pddl", "--search", GSP)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "Initial heuristic value for gsp: " in run.stdout
    assert run.stdout.count("search exit code: 0") == run.stdout.count("Peak memory: ") == 1
    assert f"Plan cost: {check_plan(tower)}" in run.stdout
    assert cli.plan_files(tower) == ["sas_plan"]


def test_a_model_that_sees_relaxed_plans(tower: Path, build: Path) -> None:
    random_model(tasks.load(tasks.TOWER_DOMAIN, tasks.TOWER), tower / "plans.onnx", relaxed_plan="yes")
    search = GSP.replace("model.onnx", "plans.onnx")
    run = cli.fast_downward(tower, "--build", str(build), "domain.pddl", "problem.pddl", "--search", search)
    assert run.returncode == 0, run.stdout + run.stderr
    assert f"Plan cost: {check_plan(tower)}" in run.stdout


@pytest.mark.parametrize("name", ["lift", "stacking"])
def test_conditional_effects_and_derived_predicates(name: str, tmp_path: Path, build: Path) -> None:
    texts = domain_text(name), generate(name, 5, 1)
    cli.write_files(tmp_path, dict(zip(("domain.pddl", "problem.pddl"), texts, strict=True)))
    task = tasks.load(*texts)
    random_model(task, tmp_path / "model.onnx")
    run = cli.fast_downward(tmp_path, "--build", str(build), "domain.pddl", "problem.pddl", "--search", GSP)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "Initial heuristic value for gsp: " in run.stdout
    plan = re.findall(r"^\((.*)\)", (tmp_path / "sas_plan").read_text(), re.MULTILINE)
    assert task.validate(plan).valid


def test_domain_is_found_as_the_driver_finds_it(tower: Path, build: Path) -> None:
    limits = ["--overall-time-limit", "60", "--overall-memory-limit", "3584M"]
    search = ["--search-options", "--search", "gsp_gbfs([gsp(model=model)])"]
    run = cli.fast_downward(tower, "--build", str(build), *limits, "problem.pddl", *search)
    assert run.returncode == 12
    assert "there is no model 'model'" in run.stderr
    run = cli.fast_downward(tower, "--build", str(build), *limits, "problem.pddl", "--search", GSP)
    assert run.returncode == 0, run.stdout + run.stderr


def test_everything_else_goes_to_fast_downward(tower: Path, build: Path) -> None:
    search = 'astar(lmcut(), description="no gsp() here")'
    outputs = []
    for options in ([], ["--build", str(build)]):
        run = cli.fast_downward(tower, *options, "problem.pddl", "--search", search)
        assert run.returncode == 0, run.stderr
        outputs.append((re.findall(r"(?:Expanded|Plan cost).*", run.stdout), (tower / "sas_plan").read_text()))
    assert outputs[0] == outputs[1]
    version = cli.fast_downward(tower, "--build", str(build), "--version")
    assert version.returncode == 0


def test_what_is_ours() -> None:
    assert is_learned("astar(GSP ())")
    assert is_learned("h=gsp()")
    assert is_learned("astar(gsp(model=model.onnx))")
    assert not is_learned('astar(blind(description="gsp()"))')
    assert not is_learned("let(gsp, ff(), astar(gsp))")


def component(folder: Path, build: Path, search: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the search component as the driver runs it, but under a parent that knows no PDDL files."""
    command = [str(build / "bin" / "downward"), "--search", search, "--internal-plan-file", "sas_plan"]
    with (folder / "output.sas").open() as sas:
        return subprocess.run(
            command,
            cwd=folder,
            stdin=sas,
            capture_output=True,
            text=True,
            env={**os.environ, **environment},
            check=False,
        )


@pytest.fixture
def sas(tower: Path, build: Path) -> Path:
    assert cli.fast_downward(tower, "--translate", "problem.pddl").returncode == 0
    return tower


def test_pddl_from_options_or_environment(sas: Path, build: Path) -> None:
    options = GSP.replace("gsp(", 'gsp(domain="domain.pddl", problem="problem.pddl", ')
    assert component(sas, build, options).returncode == 0
    assert component(sas, build, GSP, GSP_DOMAIN="domain.pddl", GSP_PROBLEM="problem.pddl").returncode == 0
    assert component(sas, build, GSP, GSP_PROBLEM="problem.pddl").returncode == 0
    assert check_plan(sas) >= 6


def test_without_pddl_the_message_says_what_to_pass(sas: Path, build: Path) -> None:
    run = component(sas, build, GSP)
    assert run.returncode == 12
    assert "GSP_DOMAIN" in run.stderr
    assert "gsp(domain=" in run.stderr
    assert run.stdout.count("Search stopped without finding a solution.") == 1
    driver = cli.fast_downward(sas, "--build", str(build), "output.sas", "--search", GSP)
    assert driver.returncode == 12
    assert "GSP_PROBLEM" in driver.stderr


def test_what_does_not_apply_is_no_error_of_the_portfolio(sas: Path, build: Path) -> None:
    def message(search: str, **environment: str) -> str:
        run = component(
            sas, build, search, **{"GSP_DOMAIN": "domain.pddl", "GSP_PROBLEM": "problem.pddl", **environment}
        )
        assert run.returncode == 12
        assert "Traceback" not in run.stderr
        assert not cli.plan_files(sas)
        return run.stderr

    assert "none.onnx" in message(GSP.replace("model.onnx", "none.onnx"))
    assert "initial states differ" in message(GSP, GSP_PROBLEM=other_problem(sas))
    (sas / "house.pddl").write_text(tasks.HOUSE_DOMAIN)
    (sas / "three.pddl").write_text(tasks.HOUSE)
    assert "does not fit the task" in message(GSP, GSP_DOMAIN="house.pddl", GSP_PROBLEM="three.pddl")
    (sas / "game.pddl").write_text(tasks.GAME_DOMAIN)
    (sas / "path.pddl").write_text(tasks.GAME.replace("(edge a b)", "(edge a b) (edge b a)"))
    assert "derived predicate" in message(GSP, GSP_DOMAIN="game.pddl", GSP_PROBLEM="path.pddl")
    assert "missing.pddl" in message(GSP, GSP_PROBLEM="missing.pddl")


def other_problem(folder: Path) -> str:
    (folder / "other.pddl").write_text(tasks.TOWER.replace("(table d) (clear d)", "(on d c) (clear d)"))
    return "other.pddl"


def test_a_model_of_another_domain(tmp_path: Path, build: Path, model: Path) -> None:
    cli.write_files(tmp_path, cli.COURIER)
    run = cli.fast_downward(
        tmp_path, "--build", str(build), "problem.pddl", "--search", f'gsp_wastar([gsp(model="{model}")])'
    )
    assert run.returncode == 12
    assert "the model does not fit the task" in run.stderr


def test_mistakes_in_the_search_are_input_errors(sas: Path, build: Path) -> None:
    run = component(sas, build, "eager_wastar(gsp(), w=2)")
    assert run.returncode == 33
    assert "in brackets" in run.stderr


def test_numbered_plans_below_a_bound(sas: Path, build: Path) -> None:
    command = [str(build / "bin" / "downward"), "--search", f"{GSP[:-1]}, bound=9)", "--internal-plan-file", "sas_plan"]
    command += ["--internal-previous-portfolio-plans", "2"]
    with (sas / "output.sas").open() as stdin:
        run = subprocess.run(
            command,
            cwd=sas,
            stdin=stdin,
            capture_output=True,
            env={**os.environ, "GSP_PROBLEM": "problem.pddl"},
            check=False,
        )
    assert run.returncode == 0
    assert cli.plan_files(sas) == ["sas_plan.3"]
    assert check_plan(sas, "sas_plan.3") < 9


@pytest.fixture(scope="session")
def endless(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str | bytes]:
    """A task that random Q-values do not solve in any time, and the model."""
    domain, problem = domain_text("blocksworld"), generate("blocksworld", 40, 1)
    model = random_model(tasks.load(domain, problem), tmp_path_factory.mktemp("endless") / "model.onnx")
    return {"domain.pddl": domain, "problem.pddl": problem, "model.onnx": model.read_bytes()}


@pytest.fixture
def endless_folder(tmp_path: Path, endless: dict[str, str | bytes]) -> Path:
    for name, content in endless.items():
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return tmp_path


def test_time_limit_of_the_driver(endless_folder: Path, build: Path) -> None:
    options = ["--build", str(build), "--search-time-limit", "2", "problem.pddl", "--search", GSP]
    run = cli.fast_downward(endless_folder, *options)
    assert run.returncode == 23, run.stdout + run.stderr
    assert "Time limit has been reached." in run.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("search", [GSP, "astar(blind())"])
def test_killing_the_driver_leaves_no_orphan(endless_folder: Path, build: Path, search: str) -> None:
    command = cli.fast_downward_command("--build", str(build), "problem.pddl", "--search", search)
    with subprocess.Popen(
        command, cwd=endless_folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as driver:
        assert driver.stdout is not None
        assert any("Initial heuristic value" in line for line in driver.stdout)
        assert len(cli.processes_in(endless_folder)) == 2
        driver.send_signal(signal.SIGKILL)
    assert cli.processes_end(endless_folder)
    assert not cli.plan_files(endless_folder)


def test_no_fast_downward(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "new"), "--fast-downward", str(tmp_path)]) == 36
    assert "found no built Fast Downward" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
