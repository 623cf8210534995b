"""The figures of results in README and docs are those that the committed script makes of the committed results."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "scripts" / "summarize_results.py"
SEARCHES = {
    "policy": "gsp-policy",
    "WA* (w = 2)": "gsp-wastar",
    "GBFS": "gsp-gbfs",
    "WA*, b = 32": "gsp-wastar-b32",
    "GBFS, b = 32": "gsp-gbfs-b32",
    "LAMA-first": "fd-lama-first",
}
PUZZLES = {
    "Sokoban": "sokoban",
    "The Witness": "witness",
    "PushWorld, level 0": "level0",
    "PushWorld, level 1": "level1",
    "24-puzzle": "sliding-tile",
}


def summarize(folder: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SCRIPT), folder], cwd=ROOT, capture_output=True, text=True, check=False)


def figures(name: str) -> dict[tuple[str, str], list[str]]:
    """By domain and configuration: solved, steps, expansions, their median, three of seconds, quality, its sum."""
    lines = [line.split() for line in summarize(f"docs/results/{name}").stdout.splitlines()[2:] if line]
    return {(line[0], line[1]): line[2:] for line in lines}


def cells(file: str) -> list[list[str]]:
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]


def test_the_policy_in_ten_domains() -> None:
    rows = {row[0]: row for row in cells("README.md") if len(row) == 4}
    ours = figures("policy")
    assert len(ours) == 11
    for (domain, _), (solved, *_, most, quality, _) in ours.items():
        if domain == "all":
            text = (ROOT / "README.md").read_text(encoding="utf-8")
            assert f"at most {float(most):.0f} s of CPU time on any of the {solved.split('/')[0]} problems" in text
            continue
        counts = re.findall(r"(\d+)/(\d+)", rows[domain][1])
        assert solved == "/".join(str(sum(map(int, column))) for column in zip(*counts, strict=True))
        assert rows[domain][2] == quality


def test_the_bare_command() -> None:
    table = cells("README.md")
    solved, quality = ([row[1:] for row in table if row[0] == name] for name in ("solved of 40", "quality"))
    configurations = ("gsp-default", "gsp-policy", "gsp-wastar", "lama-first", "fd-lama-first", "fd-lama")
    ours = [figures("default")["all", name] for name in configurations]
    assert solved == [[row[0].removesuffix("/40") for row in ours]]
    assert quality == [[row[-1] for row in ours]]


def test_the_puzzles() -> None:
    ours, puzzle, seen = figures("puzzles"), "", 0
    for first, search, *row in (row for row in cells("docs/results/puzzles.md") if len(row) == 7):
        puzzle = PUZZLES.get(first, puzzle)
        if search not in SEARCHES:
            continue
        solved, steps, expansions, median, seconds, *_ = ours[puzzle, SEARCHES[search]]
        shown = expansions if search == "policy" else f"{expansions} ({median})"
        assert row[:4] == [solved, steps, shown, seconds]
        seen += 1
    assert seen == 19


def test_a_folder_without_results() -> None:
    done = summarize("nowhere")
    assert done.returncode == 2
    assert "nowhere" in done.stderr
    assert "Traceback" not in done.stderr
