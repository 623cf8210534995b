"""Portfolios: GSP among Fast Downward's configurations in the real driver, and any planners under ``gsp-plan``."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import cli_support as cli
import pytest
import tasks
from random_models import random_model

import gsp_fd.fd_integration
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.fd_integration.run.portfolio import portfolio_exit_code
from gsp_fd.fd_integration.tools.build import main as make_build
from gsp_fd.generate import domain_text, generate
from gsp_fd.task import load_pddl

SHIPPED = Path(gsp_fd.fd_integration.__path__[0]) / "portfolios"
OPTIMAL = 6
"""Cost of the best plan for the four blocks."""

LONG_PLAN = ["lift d", "drop d", "take c b", "put c d", "take b a", "put b c", "lift a", "put a b"]
PLANNER = f"""\
import sys, time
plan, bound = sys.argv[1:3]
with open("bounds", "a") as file:
    print(bound, file=file)
with open(plan, "w") as file:
    print("(take c b)", file=file)  # a plan in the making, which is not valid yet
    file.flush()
    time.sleep(0.3)
    file.seek(0)
    file.write("".join(f"({{action}})\\n" for action in {LONG_PLAN}))
"""
FOREVER = """\
import subprocess, sys, time
for new_session in (False, True):
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"], start_new_session=new_session)
print("sleeping", flush=True)
time.sleep(1000)
"""


BLOCKS = {"domain.pddl": domain_text("blocksworld"), "problem.pddl": generate("blocksworld", 5, 1)}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random Q-values for blocksworld: they lead to plans, but to no good ones."""
    return random_model(tasks.load(*BLOCKS.values()), tmp_path_factory.mktemp("model") / "blocks.onnx")


@pytest.fixture
def blocks(tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GSP_MODEL", str(model))
    return cli.write_files(tmp_path, BLOCKS)


@pytest.fixture
def tower(tmp_path: Path) -> Path:
    return cli.write_files(tmp_path, {**cli.TOWER, "planner.py": PLANNER, "forever.py": FOREVER})


def costs(folder: Path) -> list[int]:
    """Costs of the numbered plans, all of them valid."""
    found = []
    for number, name in enumerate(cli.plan_files(folder), start=1):
        assert name == f"sas_plan.{number}"
        text = (folder / name).read_text()
        actions = re.findall(r"\((.*)\)", "\n".join(text.splitlines()[:-1]))
        verdict = load_pddl(folder / "domain.pddl", folder / "problem.pddl").validate(actions)
        assert verdict.valid, verdict.reason
        assert text.endswith(f"; cost = {verdict.cost} (unit cost)\n")
        found.append(verdict.cost)
    assert found == sorted(set(found), reverse=True), "each plan is cheaper than the one before"
    return found


def write_portfolio(folder: Path, *configs: str, optimal: bool = False) -> list[str]:
    lines = [f"OPTIMAL = {optimal}", "CONFIGS = [", *(f"    {config}," for config in configs), "]"]
    (folder / "portfolio.py").write_text("\n".join(lines) + "\n")
    return ["--portfolio", "portfolio.py"]


# In Fast Downward's driver


def test_shipped_portfolio_in_the_real_driver(blocks: Path) -> None:
    cli.fast_downward_command()
    assert make_build([str(blocks / "build")]) == 0
    options = ["--build", str(blocks / "build"), "--portfolio", str(SHIPPED / "gsp.py"), "--overall-time-limit", "20"]
    run = cli.fast_downward(blocks, *options, "domain.pddl", "problem.pddl")
    assert run.returncode in (0, 2), run.stdout + run.stderr
    assert len(costs(blocks)) > 1
    assert "Initial heuristic value for gsp" in run.stdout
    assert "Initial heuristic value for landmark_sum" in run.stdout
    assert run.stdout.count("plan manager: found new plan") == len(costs(blocks))


def test_where_no_model_applies_the_others_plan(tower: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cli.fast_downward_command()
    assert make_build([str(tower / "build")]) == 0
    monkeypatch.setenv("GSP_MODEL", "missing.onnx")
    options = ["--build", str(tower / "build"), "--portfolio", str(SHIPPED / "gsp.py"), "--overall-time-limit", "50"]
    run = cli.fast_downward(tower, *options, "domain.pddl", "problem.pddl")
    assert run.returncode == 0, run.stdout + run.stderr
    assert "missing.onnx" in run.stderr
    assert costs(tower)[-1] == OPTIMAL


# In ours


def test_shipped_portfolio_with_fast_downward_outside(blocks: Path) -> None:
    cli.fast_downward_command()
    options = ["--portfolio", str(SHIPPED / "gsp_external.py"), "--overall-time-limit", "40"]
    run = cli.gsp_plan(blocks, *options, "domain.pddl", "problem.pddl")
    assert run.returncode in (0, 2), run.stdout + run.stderr
    assert len(costs(blocks)) > 1
    assert "Initial heuristic value for gsp" in run.stdout
    assert "Initial heuristic value for landmark_sum" in run.stdout
    assert not [path.name for path in blocks.iterdir() if path.suffix == ".sas"]


def test_bound_is_shared_and_plans_are_validated(tower: Path) -> None:
    external = '(1, ["{python}", "planner.py", "{plan}", "{bound}"])'
    ours = '(1, ["--search", "astar(hmax(), bound=BOUND)"])'
    portfolio = write_portfolio(tower, external, ours, external)
    run = cli.gsp_plan(tower, *portfolio, "--overall-time-limit", "60", "problem.pddl")
    assert run.returncode == 0, run.stdout + run.stderr
    assert costs(tower) == [len(LONG_PLAN), OPTIMAL]
    assert (tower / "bounds").read_text().split()[:2] == ["infinity", str(OPTIMAL)]


def test_a_model_that_sees_relaxed_plans(blocks: Path) -> None:
    random_model(tasks.load(*BLOCKS.values()), blocks / "plans.onnx", relaxed_plan="yes")
    learned = '(1, ["--search", "lazy_greedy([gsp(model=\\"plans.onnx\\"), ff()], bound=BOUND)"])'
    portfolio = write_portfolio(blocks, learned, '(1, ["--search", "astar(hmax(), bound=BOUND)"])')
    run = cli.gsp_plan(blocks, *portfolio, "--overall-time-limit", "60", "problem.pddl")
    assert run.returncode == 0, run.stdout + run.stderr
    assert "Initial heuristic value for gsp" in run.stdout
    assert costs(blocks)


def test_single_plan_and_bound_from_outside(tower: Path) -> None:
    portfolio = write_portfolio(tower, '(1, ["--search", "eager_greedy([ff()], bound=BOUND)"])')
    run = cli.gsp_plan(tower, *portfolio, "--portfolio-single-plan", "--overall-time-limit", "30", "problem.pddl")
    assert run.returncode == 0
    assert cli.plan_files(tower) == ["sas_plan"]
    options = ["--portfolio-bound", str(OPTIMAL), "--overall-time-limit", "30", "problem.pddl"]
    run = cli.gsp_plan(tower, *portfolio, *options)
    assert run.returncode == ExitCode.SEARCH_UNSOLVABLE_WITHIN_BOUND
    assert cli.plan_files(tower) == []


def test_optimal_portfolio_on_sas(tower: Path) -> None:
    assert cli.gsp_plan(tower, "--translate", "problem.pddl").returncode == 0
    searches = ['(1, ["--search", "astar(hmax())"])', '(1, ["--search", "astar(blind())"])']
    portfolio = write_portfolio(tower, *searches, optimal=True)
    run = cli.gsp_plan(tower, *portfolio, "--search-time-limit", "30", "output.sas")
    assert run.returncode == 0, run.stdout + run.stderr
    assert cli.plan_files(tower) == ["sas_plan"]
    assert "astar(blind())" not in run.stdout
    portfolio = write_portfolio(tower, '(1, ["planner", "{domain}"])')
    run = cli.gsp_plan(tower, *portfolio, "--search-time-limit", "30", "output.sas")
    assert run.returncode == 36
    assert "give the PDDL files" in run.stderr


linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


@linux
def test_nothing_is_left_of_a_planner_at_its_limit(tower: Path) -> None:
    forever = '(1, ["{python}", "forever.py"])'
    portfolio = write_portfolio(tower, forever, '(9, ["--search", "astar(hmax(), bound=BOUND)"])')
    run = cli.gsp_plan(tower, *portfolio, "--portfolio-single-plan", "--overall-time-limit", "25", "problem.pddl")
    assert cli.processes_in(tower) == []
    assert run.returncode == ExitCode.SEARCH_PLAN_FOUND_AND_OUT_OF_TIME
    assert cli.plan_files(tower) == ["sas_plan"]


@linux
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left_if_the_portfolio_is_killed(tower: Path, number: signal.Signals) -> None:
    portfolio = write_portfolio(
        tower, '(1, ["{python}", "planner.py", "{plan}", "0"])', '(9, ["{python}", "forever.py"])'
    )
    command = cli.planner_command(*portfolio, "--overall-time-limit", "200", "problem.pddl")
    with subprocess.Popen(command, cwd=tower, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        assert any("sleeping" in line for line in process.stdout)
        assert len(cli.processes_in(tower)) >= 4
        process.send_signal(number)
        assert cli.processes_end(tower)
    assert process.returncode in (-number, 256 - number)
    assert costs(tower) == [len(LONG_PLAN)]


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("OPTIMAL = False\nCONFIGS = [(1,\n", 35, "portfolio.py:2: the portfolio is no Python"),
        ("OPTIMAL = False\nCONFIGS = [(1, 'astar')]", 35, "expected a list of strings"),
        ("CONFIGS = [(1, ['--search', 'x'])]", 35, "portfolios must define OPTIMAL"),
        ("OPTIMAL = False\nCONFIGS = []", 35, "at least one configuration"),
        ("import nonsense_module", 35, "ModuleNotFoundError"),
        ("OPTIMAL = False\nCONFIGS = [(1, ['--search', 'nonsense(bound=BOUND)'])]", 33, "nonsense"),
        ("OPTIMAL = False\nCONFIGS = [(1, ['no-such-planner'])]", 12, "no-such-planner"),
    ],
)
def test_mistakes(tower: Path, text: str, code: int, message: str) -> None:
    (tower / "portfolio.py").write_text(text)
    run = cli.gsp_plan(tower, "--portfolio", "portfolio.py", "--overall-time-limit", "30", "problem.pddl")
    assert run.returncode == code
    assert message in run.stderr
    assert "Traceback" not in run.stderr


def test_time_limit_is_needed(tower: Path) -> None:
    portfolio = write_portfolio(tower, '(1, ["--search", "astar(hmax(), bound=BOUND)"])')
    run = cli.gsp_plan(tower, *portfolio, "problem.pddl")
    assert run.returncode == 36
    assert "time limit" in run.stderr


@pytest.mark.parametrize(
    ("codes", "found", "expected"),
    [
        ([0, 12], True, 0),
        ([0, 23], True, 2),
        ([22, 0], True, 1),
        ([22, 23, 0], True, 3),
        ([33, 0], True, 0),
        ([33, 12], False, 33),
        ([33, 34], False, 32),
        ([12, 23], False, 12),
        ([12, 11], False, 11),
        ([22, 23], False, 24),
        ([], False, 23),
    ],
)
def test_exit_codes(codes: list[int], found: bool, expected: int) -> None:
    assert portfolio_exit_code(codes, found) == expected
