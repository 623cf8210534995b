"""The paper's figures, and ours beside them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gsp_fd.compare.configurations import BUILT_IN
from gsp_fd.compare.results import ResultsWriter

SCRIPT = Path(__file__).parents[1] / "scripts" / "reproduce_paper.py"
DATA = json.loads(SCRIPT.with_name("paper_results.json").read_text(encoding="utf-8"))


def reproduce(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, check=False)


def result(split: str, problem: str, configuration: str, **values: Any) -> dict[str, Any]:
    base = {"kind": "result", "domain": "ferry", "split": split, "problem": problem, "configuration": configuration}
    return {**base, "status": "solved", "steps": None, "expansions": None, **values}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    writer = ResultsWriter(tmp_path / "results")
    configurations = [{"name": name, "spec": f"gsp-plan {name}"} for name in ("gsp-policy", "gsp-wastar", "hff-wastar")]
    limits = {"expansions": 10_000, "cpu_seconds": 300, "memory_mb": 4096}
    header = {"kind": "header", "version": 1, "command": "gsp-compare run ferry", "limits": limits}
    writer.write({**header, "configurations": configurations, "machine": {"cpu": "abacus", "cores": 10}})
    for number in range(4):
        writer.write(result("easy", f"p{number}", "gsp-policy", steps=10, expansions=11))
    writer.write(result("medium", "p0", "gsp-policy", steps=20, expansions=21))
    writer.write(result("hard", "p0", "gsp-policy", status="time-limit"))
    writer.write(result("hard", "p1", "gsp-policy", steps=30, expansions=31))
    writer.write(result("easy", "p0", "gsp-wastar", steps=12, expansions=14))
    writer.write(result("easy", "p1", "gsp-wastar", steps=1000, expansions=1000))
    writer.write(result("easy", "p0", "hff-wastar", steps=16, expansions=400))
    writer.close()
    return tmp_path / "results"


def test_every_table_says_where_it_stands_and_what_it_needs() -> None:
    shown = " ".join(reproduce("--list").stdout.split())
    for table in DATA["tables"]:
        assert table["source"]
        for key in ("name", "suite", "budget", "models", "problems"):
            assert " ".join(table[key].split())[:60] in shown
        ours = {table["ours"].get(column, column) for columns in table["domains"].values() for column in columns}
        assert ours & set(BUILT_IN)
        for columns in table["domains"].values():
            for figures in columns.values():
                assert 0 <= figures["coverage"] <= 100
                assert set(figures) <= {"coverage", "steps", "expansions", "seconds"}


def test_a_reader_that_goes_away() -> None:
    """As ``reproduce_paper.py --list | head`` does it."""
    command = [sys.executable, str(SCRIPT), "--list"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""


def test_ours_beside_the_papers(folder: Path) -> None:
    run = reproduce("--results", str(folder))
    assert run.returncode == 0, run.stderr
    rows = [line.split() for line in run.stdout.splitlines() if line.startswith("ferry")]
    policy = ["ferry", "gsp-policy", "6/7", "83%", "<", "87%", "15", "422", "16", "-"]
    assert rows[:2] == [policy, ["ferry", "gsp-wastar", "2/2", "100%", "?", "77%", "506", "232", "507", "-"]]
    assert rows[3] == ["ferry", "gsp-wastar", "2/2", "100%", "?", "77%", "12", "110", "14", "110"], (
        "only the common one"
    )
    assert rows[4] == ["ferry", "hff-wastar", "1/1", "100%", "?", "67%", "16", "115", "400", "480"]
    assert len(rows) == 5
    assert "gsp-compare run ferry" in run.stdout
    assert "10,000 expansions, 300 s of CPU time, 4096 MB; abacus, 10 cores" in run.stdout
    assert "gsp-wastar: gsp-plan gsp-wastar" in run.stdout


def test_one_table(folder: Path) -> None:
    run = reproduce("--results", str(folder), "--table", "ipc-results-classic")
    assert run.stdout.count("ferry ") >= 3
    assert "ipc-results: " not in run.stdout
    wrong = reproduce("--table", "nothing")
    assert wrong.returncode == 2
    assert "known are ipc-results" in wrong.stderr


def test_results_of_another_suite(folder: Path) -> None:
    file = folder / "results.jsonl"
    file.write_text(file.read_text().replace('"ferry"', '"moon"'))
    run = reproduce("--results", str(folder))
    assert run.returncode == 1
    assert "none of these results belong to a table" in run.stderr
    missing = reproduce("--results", str(folder / "nowhere"))
    assert missing.returncode == 36
    assert "cannot read the results" in missing.stderr


def test_seconds_stand_where_the_paper_has_them(tmp_path: Path) -> None:
    writer = ResultsWriter(tmp_path / "results")
    limits = {"expansions": 100_000, "cpu_seconds": 300, "memory_mb": 4096}
    header = {"kind": "header", "version": 1, "command": "gsp-compare run sokoban", "limits": limits}
    writer.write({**header, "configurations": []})
    for number in range(2):
        values = {"domain": "sokoban", "steps": 30, "expansions": 200, "cpu_seconds": 0.5 + number}
        writer.write(result("", f"p{number}", "gsp-wastar", **values))
    writer.close()
    run = reproduce("--results", str(tmp_path / "results"), "--table", "puzzles")
    assert run.returncode == 0, run.stderr
    row = next(line.split() for line in run.stdout.splitlines() if line.startswith("sokoban"))
    assert row == ["sokoban", "gsp-wastar", "2/2", "100%", "≥", "100%", "30", "36", "200", "207", "1.0", "22.1"]
