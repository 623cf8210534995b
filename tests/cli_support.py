"""Running the planner and the real Fast Downward as programs, for the tests of the command line."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import tasks

from gsp_fd import _core
from gsp_fd.common import processes

COURIER = {"domain.pddl": tasks.COURIER_DOMAIN, "problem.pddl": tasks.COURIER}
TOWER = {"domain.pddl": tasks.TOWER_DOMAIN, "problem.pddl": tasks.TOWER}
HOUSE = {"domain.pddl": tasks.HOUSE_DOMAIN, "problem.pddl": tasks.HOUSE}
GAME = {"domain.pddl": tasks.GAME_DOMAIN, "problem.pddl": tasks.GAME}
UNSOLVABLE = {
    "domain.pddl": tasks.TOWER_DOMAIN,
    "problem.pddl": tasks.TOWER.replace("(on b c)", "(on b a)").replace("(on c d)", "(on c a)"),
}
ENDLESS = {"domain.pddl": tasks.LAMPS_DOMAIN, "problem.pddl": tasks.lamps(60)}
"""More states than any blind search can visit."""


def astar(space: _core.StateSpace, heuristic: _core.Heuristic, max_expansions: int | None = None) -> _core.SearchResult:
    """A* in this process."""
    keys = [_core.sum([_core.g(), heuristic]), heuristic]
    return _core.search(space, _core.TieBreakingOpenList(keys), reopen_closed=True, max_expansions=max_expansions)


def write_files(folder: Path, files: dict[str, str]) -> Path:
    """Write files by name; returns the folder."""
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def planner_command(*arguments: str) -> list[str]:
    """The command that runs ``gsp-plan`` from the package under test."""
    return [sys.executable, "-m", "gsp_fd.fd_integration", *arguments]


def gsp_plan(folder: Path, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run ``gsp-plan`` in a folder."""
    return _run(planner_command(*arguments), folder, **options)


def fast_downward(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the real Fast Downward's driver in a folder; skip where it is not installed."""
    return _run(fast_downward_command(*arguments), folder)


def fast_downward_command(*arguments: str) -> list[str]:
    """The command that runs the real Fast Downward's driver; skip where it is not installed."""
    return [sys.executable, str(_fast_downward() / "fast-downward.py"), *arguments]


def fast_downward_search(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the real Fast Downward's search component on ``output.sas``; skip where it is not installed."""
    binary = _fast_downward() / "builds" / "release" / "bin" / "downward"
    with (folder / "output.sas").open() as sas:
        return _run([str(binary), *arguments], folder, stdin=sas)


def _fast_downward() -> Path:
    command = processes.fast_downward_command()
    if not command:
        pytest.skip("up-fast-downward is not installed")
    return Path(command[1]).parent


def _run(command: list[str], folder: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False, **options)


def plan_files(folder: Path) -> list[str]:
    """Names of the plan files, and of whatever else a run left beside them."""
    return sorted(path.name for path in folder.iterdir() if "sas_plan" in path.name)


def processes_in(folder: Path) -> list[int]:
    """Processes (of Linux) whose working directory is this folder."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.readlink(entry / "cwd") == str(folder.resolve()):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def processes_end(folder: Path, seconds: float = 20) -> bool:
    """Whether all processes in a folder end by themselves within some time."""
    deadline = time.monotonic() + seconds
    while processes_in(folder):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
