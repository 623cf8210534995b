"""The pictures of the README are what their scripts make, small, and show nothing of the machine that made them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
CACTUS = "docs/results/comparison docs/results/default"
EXPLAIN = (
    "gsp-plan examples/ferry/p02.pddl --heuristic gsp --search policy --explain plan.html | grep -A 17 'best actions'"
)


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, f"scripts/{script}.py", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def texts(picture: Path) -> list[str]:
    root = ElementTree.parse(picture)
    return ["".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}text")]


def test_the_cactus_plot_is_that_of_the_results(tmp_path: Path) -> None:
    out = tmp_path / "cactus.svg"
    assert run("cactus_plot", *CACTUS.split(), "--out", str(out)).returncode == 0
    again = f"python scripts/cactus_plot.py {CACTUS} --out docs/images/cactus.svg"
    assert (IMAGES / "cactus.svg").read_text() == out.read_text(), f"the results are others now: {again}"
    assert {"300 problems of 5 domains", "297 gsp-policy", "186 fd-lama-first"} <= set(texts(out))


def test_the_recording_is_of_commands_that_run(tmp_path: Path) -> None:
    out = tmp_path / "terminal.svg"
    assert run("terminal_recording", EXPLAIN, "--out", str(out)).returncode == 0
    kept = texts(IMAGES / "terminal.svg")
    kept = kept[kept.index(f"$ {EXPLAIN}") :]
    assert len(kept) == 19
    # Decimals may differ from machine to machine, plans and words do not.
    assert [text.split()[:2] for text in texts(out)] == [text.split()[:2] for text in kept]


def test_a_command_that_fails_is_no_recording(tmp_path: Path) -> None:
    done = run("terminal_recording", "exit 3", "--out", str(tmp_path / "x.svg"))
    assert done.returncode == 1
    assert done.stderr == "terminal_recording: exit code 3 of: exit 3\n"
    assert not (tmp_path / "x.svg").exists()


@pytest.mark.parametrize("name", ["cactus.svg", "terminal.svg"])
def test_pictures_are_small_and_load_nothing(name: str) -> None:
    text = (IMAGES / name).read_text()
    assert len(text) < 100_000
    assert "prefers-color-scheme: dark" in text
    assert not any(word in text for word in ("<script", "href", "/home", "/tmp", "/root", str(ROOT)))
