"""The robustness script, on small generated problems with a shipped model and the real Fast Downward."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from gsp_fd.generate import domain_text, generate

SCRIPT = Path(__file__).parents[1] / "scripts" / "robustness.py"
KINDS = {"full", "half", "fifth", "one", "away"}
BLOCKS = {"on only", "clear only", "on-table only", "one tower", "holding"}


def robustness(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True, timeout=600)


def write_domain(folder: Path, domain: str, sizes: tuple[int, ...]) -> None:
    easy = folder / domain / "testing" / "easy"
    easy.mkdir(parents=True)
    (folder / domain / "domain.pddl").write_text(domain_text(domain))
    for number, size in enumerate(sizes, 1):
        (easy / f"p{number:02}.pddl").write_text(generate(domain, size, 3))


def rows(text: str) -> dict[tuple[str, str], list[str]]:
    cells = [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    return {(row[0], row[1]): row[2:] for row in cells[2:]}


def test_table_and_resume(tmp_path: Path) -> None:
    if importlib.util.find_spec("up_fast_downward") is None:
        pytest.skip("Fast Downward (PyPI up-fast-downward) is not installed")
    write_domain(tmp_path / "suite", "blocksworld", (4, 5))
    write_domain(tmp_path / "suite", "miconic", (8,))
    command: list[str | Path] = [tmp_path / "suite", "--out", tmp_path / "out", "--time-limit", "30"]
    first = robustness(*command, "--domains", "blocksworld", "--every", "2")
    assert first.returncode == 0, first.stderr
    run = robustness(*command)
    assert run.returncode == 0, run.stderr
    assert "done before" in run.stderr
    text = (tmp_path / "out" / "robustness.md").read_text()
    found = rows(text)
    assert {kind for domain, kind in found if domain == "blocksworld"} >= KINDS | BLOCKS - {"on-table only"}
    assert {kind for domain, kind in found if domain == "miconic"} == KINDS
    problems, solved, full, share, lama, steps = found["blocksworld", "full"]
    assert (problems, solved, full, share, lama) == ("2", "2", "2", "100 %", "2")
    assert float(steps.split()[0]) > 0
    everything = found["all", "variants"]
    assert int(everything[0]) == sum(
        int(row[0]) for (_, kind), row in found.items() if kind not in ("full", "variants")
    )
    again = robustness(*command)
    assert "0 runs to do" in again.stderr
    assert (tmp_path / "out" / "robustness.md").read_text() == text


def test_nothing_to_run(tmp_path: Path) -> None:
    write_domain(tmp_path / "suite", "ferry", (5,))
    run = robustness(tmp_path / "suite", "--out", tmp_path / "out", "--domains", "fery")
    assert run.returncode != 0
    assert "no problem is left" in run.stderr
    run = robustness(tmp_path / "nowhere", "--out", tmp_path / "out")
    assert run.returncode != 0
    assert "there is no such file or folder" in run.stderr
    assert "Traceback" not in run.stderr
