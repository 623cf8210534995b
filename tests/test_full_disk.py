"""Files that cannot be written to their end, as on a full disk: nothing is torn, and somebody is told."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import cli_support as cli
import pytest
from compare_support import python_planner, tower_suite, write_plan
from training_support import TINY_OPTIONS, write_problems

from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.compare.results import read_results

COMPARE = [sys.executable, "-m", "gsp_fd.compare.cli"]
TRAIN = [sys.executable, "-m", "gsp_fd.training.run.cli"]


def files_up_to(size: int) -> Callable[[], None]:
    """No file of a process can grow beyond this; its last write is a short one, as on a disk that is nearly full."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


def run_with(size: int, command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=300, preexec_fn=files_up_to(size), check=False
    )


def test_a_plan_is_whole_or_not_there(tmp_path: Path) -> None:
    cli.write_files(tmp_path, cli.TOWER)
    run = run_with(20, cli.planner_command("domain.pddl", "problem.pddl", "--search", "astar(hmax())"), tmp_path)
    assert run.returncode == ExitCode.SEARCH_INPUT_ERROR
    assert "sas_plan: plan file: cannot write the plan: File too large" in run.stderr
    assert cli.plan_files(tmp_path) == []


def test_a_comparison_goes_on_where_the_disk_was_full(tmp_path: Path) -> None:
    names = tuple(f"p{number:02}" for number in range(1, 7))
    suite = tower_suite(tmp_path / "tower", names)
    planner = python_planner(tmp_path, "mine", write_plan())
    command = [*COMPARE, "run", str(suite), "--out", "out", "--configuration", planner]
    assert run_with(1 << 30, [*command, "--every", "6"], tmp_path).returncode == ExitCode.SUCCESS
    file = tmp_path / "out" / "results.jsonl"
    header, first = file.read_bytes().splitlines(keepends=True)
    full = run_with(2 * len(header) + 3 * len(first), command, tmp_path)
    assert full.returncode == ExitCode.DRIVER_CRITICAL_ERROR
    assert "out/results.jsonl: cannot write the results: File too large; the same command goes on" in full.stderr
    assert "Traceback" not in full.stderr
    kept = file.read_bytes()
    assert kept.endswith(b"\n"), "no line is torn"
    assert 1 < len(read_results([file]).results) < 6
    again = run_with(1 << 30, command, tmp_path)
    assert again.returncode == ExitCode.SUCCESS, again.stderr
    assert file.read_bytes().startswith(kept)
    assert [result["problem"] for result in read_results([file]).results] == list(names)


def test_a_report_is_written_whole(tmp_path: Path) -> None:
    suite = tower_suite(tmp_path / "tower")
    planner = python_planner(tmp_path, "mine", write_plan())
    run_with(1 << 30, [*COMPARE, "run", str(suite), "--out", "out", "--configuration", planner], tmp_path)
    for made in ("tables.md", "tables.tex", "results.csv", "index.html"):
        (tmp_path / "out" / made).unlink()
    run = run_with(100, [*COMPARE, "report", "out"], tmp_path)
    assert run.returncode == ExitCode.DRIVER_CRITICAL_ERROR
    assert run.stderr == "gsp-compare: out/tables.md: File too large\n"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["results.jsonl"]


def test_training_says_which_file_and_that_it_failed(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the training extra is not installed")
    problems = write_problems(tmp_path / "problems")
    common = ["--domain", str(problems / "domain.pddl"), "--train", str(problems), "--out", "run", "--workers", "0"]
    run = run_with(10_000, [*TRAIN, *common, "--minutes", "5", "--checkpoint-every", "0.2", *TINY_OPTIONS], tmp_path)
    assert run.returncode == ExitCode.DRIVER_CRITICAL_ERROR, run.stderr
    last = run.stderr.splitlines()[-1]
    assert last.startswith("gsp-train: run/")
    assert last.endswith(": File too large")
    assert "Traceback" not in run.stderr
    assert json.loads((tmp_path / "run" / "status.json").read_text())["state"] == "failed"
    assert not list((tmp_path / "run").glob("*.npz"))
    assert not list((tmp_path / "run").glob(".*.tmp"))
