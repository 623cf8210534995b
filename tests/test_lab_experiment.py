"""The Lab experiment, run by Lab itself on two small problems."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("downward", reason="Downward Lab is not installed")
pytest.importorskip("up_fast_downward", reason="up-fast-downward is not installed")
pytest.importorskip("matplotlib", reason="matplotlib is not installed")

SCRIPT = Path(__file__).parents[1] / "scripts" / "lab_experiment.py"


def experiment(data: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "GSP_LAB_DATA": str(data), "GSP_LAB_TIME": "30s", "GSP_LAB_MEMORY": "2G", **settings}
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    data = tmp_path_factory.mktemp("lab") / "experiment"
    run = experiment(data, "--all", GSP_LAB_SUITE="blocksworld:p01.pddl gripper:p01.pddl")
    assert run.returncode == 0, run.stdout + run.stderr
    folder = data.with_name("experiment-eval")
    return folder, json.loads((folder / "properties").read_text())


def test_all_runs_are_parsed_and_solved(evaluation: tuple[Path, dict[str, Any]]) -> None:
    runs = [run for run in evaluation[1].values() if run["algorithm"] in ("wastar-hff", "fd-wastar-hff")]
    assert len(runs) == 4
    for run in runs:
        assert run["coverage"] == 1, run
        assert run["error"] == "success"
        assert "unexplained_errors" not in run
        assert run["expansions"] > 0
        assert run["cost"] == run["plan_length"] > 0


def test_reports(evaluation: tuple[Path, dict[str, Any]]) -> None:
    folder, _ = evaluation
    table = (folder / "report.html").read_text()
    assert "coverage" in table
    assert "fd-wastar-hff" in table
    assert (folder / "scatter-fd-wastar-hff-wastar-hff.png").stat().st_size > 1000
