"""Limits and signals: the planner stops in time, with statistics and the right exit code."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import cli_support as cli
import pytest

from gsp_fd.fd_integration import driver
from gsp_fd.generate import domain_text, generate
from gsp_fd.task import Task
from gsp_fd.validate import Validation


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    return cli.write_files(tmp_path, cli.ENDLESS)


def test_time_limit(endless: Path) -> None:
    run = cli.gsp_plan(endless, "--search-time-limit", "1", "problem.pddl", "--search", "astar(blind())")
    assert run.returncode == 23
    assert "INFO     search time limit: 1s" in run.stdout
    assert "\nTime limit has been reached.\n" in run.stdout
    assert re.search(r"Expanded [1-9]\d* state\(s\)\.", run.stdout)


def test_a_second_in_all_leaves_time_for_the_search(endless: Path) -> None:
    run = cli.gsp_plan(endless, "--overall-time-limit", "1", "problem.pddl", "--search", "astar(blind())")
    assert run.returncode == 23
    left = re.search(r"search time limit: (.+)s", run.stdout)
    assert left is not None
    assert 0 < float(left[1]) < 1
    assert re.search(r"Expanded [1-9]\d* state\(s\)\.", run.stdout)


def test_memory_limit(endless: Path) -> None:
    """Which a search would pass by far where its table of states doubles: two million states have one of 32 MB."""
    run = cli.gsp_plan(endless, "--memory-limit", "160m", "problem.pddl", "--search", "astar(blind())")
    assert run.returncode == 22
    assert "INFO     search memory limit: 160 MB" in run.stdout
    assert "\nMemory limit has been reached.\n" in run.stdout
    match = re.search(r"Peak memory: (\d+) KB", run.stdout)
    assert match is not None
    assert int(match[1]) < 170 << 10


def test_plan_found_then_out_of_time(endless: Path) -> None:
    search = "iterated([eager_greedy([goalcount()]), astar(blind())])"
    run = cli.gsp_plan(endless, "--time-limit", "2", "problem.pddl", "--search", search)
    assert run.returncode == 2
    assert "\nTime limit has been reached.\n" in run.stdout
    assert (endless / "sas_plan.1").read_text().endswith("; cost = 60 (unit cost)\n")


def test_time_limit_inside_the_search(endless: Path) -> None:
    run = cli.gsp_plan(endless, "problem.pddl", "--search", "astar(blind(), max_time=0.3)")
    assert run.returncode == 12
    assert "Time limit reached. Abort search." in run.stdout


def test_time_limit_while_the_heuristics_of_one_of_several_searches_are_made(tmp_path: Path) -> None:
    """The alarm strikes while the default makes hFF of a large task: no signal, but the end of the time."""
    cli.write_files(tmp_path, {"domain.pddl": domain_text("sokoban"), "problem.pddl": generate("sokoban", 9000, 1)})
    run = cli.gsp_plan(tmp_path, "--overall-time-limit", "1", "problem.pddl")
    assert run.returncode == 23, run.stdout
    assert "Time limit reached. Abort search." in run.stdout
    assert "\nTime limit has been reached.\n" in run.stdout
    assert "caught signal" not in run.stdout


def test_expansion_limit_counts_over_all_phases(endless: Path) -> None:
    search = "iterated([eager_greedy([blind()], bound=3), astar(blind())])"
    run = cli.gsp_plan(endless, "problem.pddl", "--search", search, "--max-expansions", "5000")
    assert run.returncode == 12
    expanded = [int(count) for count in re.findall(r"Expanded (\d+) state", run.stdout)]
    assert expanded[-1] == 5000


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_a_search_with_statistics(endless: Path, number: signal.Signals) -> None:
    command = cli.planner_command("problem.pddl", "--search", "astar(blind())")
    with subprocess.Popen(command, cwd=endless, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "Initial heuristic value" in line:
                break
        process.send_signal(number)
        rest, errors = process.communicate(timeout=20)
    assert process.returncode == 256 - number
    assert re.search(r"Expanded \d+ state\(s\)\.", rest)
    assert f"caught signal {int(number)} -- exiting" in rest
    assert f"search exit code: -{int(number)}" in rest
    assert "Traceback" not in rest + errors
    assert cli.plan_files(endless) == []


def test_search_ends_before_an_outside_cpu_limit(endless: Path) -> None:
    limited = [
        "sh",
        "-c",
        'ulimit -t 2; exec "$0" "$@"',
        *cli.planner_command("problem.pddl", "--alias", "astar-blind"),
    ]
    run = subprocess.run(limited, cwd=endless, capture_output=True, text=True, check=False)
    assert run.returncode == 23, run.stdout[-500:] + run.stderr
    assert "Time limit has been reached." in run.stdout


@pytest.mark.parametrize("improving", [False, True])
def test_signals_end_the_validation_of_a_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], improving: bool
) -> None:
    """Which takes long where a plan has many steps; a plan that was written before it stays."""
    validate, calls = Task.validate, iter(range(9))

    def interrupted(task: Task, plan: Sequence[str]) -> Validation:
        if next(calls) == int(improving):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(20)
        return validate(task, plan)

    monkeypatch.setattr(Task, "validate", interrupted)
    monkeypatch.chdir(cli.write_files(tmp_path, cli.COURIER))
    bad = "lazy_greedy([goalcount()], cost_type=one)"
    code = driver.main([*(["--improve"] if improving else []), "problem.pddl", "--search", bad])
    out, errors = capfd.readouterr()
    assert code == 256 - signal.SIGTERM
    assert "caught signal 15 -- exiting" in out
    assert "Traceback" not in out + errors
    assert cli.plan_files(tmp_path) == (["sas_plan"] if improving else [])
