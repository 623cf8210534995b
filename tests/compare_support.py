"""Planners of the tests' own, good and bad, and how to run them in the harness of comparisons."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import tasks

from gsp_fd.compare.configurations import find_configurations
from gsp_fd.compare.limits import RunLimits, run_limits
from gsp_fd.compare.runner import Job, Worker
from gsp_fd.compare.suites import SuiteProblem

TOWER_PLAN = "(take c b)\n(put c d)\n(take b a)\n(put b c)\n(lift a)\n(put a b)\n; cost = 6 (unit cost)\n"
LIMITS = run_limits(20, 1024, 10_000, wall=60, disk_mb=64)


def tower_suite(folder: Path, names: tuple[str, ...] = ("p01",)) -> Path:
    """A flat suite with the same problem under some names."""
    folder.mkdir()
    (folder / "domain.pddl").write_text(tasks.TOWER_DOMAIN)
    for name in names:
        (folder / f"{name}.pddl").write_text(tasks.TOWER)
    return folder


def python_planner(folder: Path, name: str, body: str) -> str:
    """A configuration for a Python program that gets the domain, the problem and the plan file as arguments."""
    script = folder / f"{name}.py"
    script.write_text("import os, signal, subprocess, sys, time\ndomain, problem, plan = sys.argv[1:]\n" + body)
    return f"{name}=!{sys.executable} {script} {{domain}} {{problem}} {{plan}}"


def write_plan(text: str = TOWER_PLAN) -> str:
    """The Python statement with which a planner writes its plan."""
    return f"open(plan, 'w').write({text!r})\n"


def run_once(suite: Path, configuration: str, limits: RunLimits = LIMITS, **options: Any) -> dict[str, Any]:
    """The record of one configuration on the problem ``p01`` of a suite."""
    (found,) = find_configurations([configuration], **options)
    worker = Worker(limits)
    try:
        return worker.run(Job(SuiteProblem(suite.name, "", "p01", suite / "domain.pddl", suite / "p01.pddl"), found))
    finally:
        worker.supervisor.close()


def is_running(process: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for(file: Path, seconds: float = 60) -> str:
    """The content of a file as soon as it is there."""
    end = time.monotonic() + seconds
    while not file.is_file() or not file.read_text():
        assert time.monotonic() < end, f"{file} does not appear"
        time.sleep(0.02)
    return file.read_text()


def all_end(processes: list[int], seconds: float = 60) -> bool:
    """Whether processes end within some time."""
    end = time.monotonic() + seconds
    while any(is_running(process) for process in processes):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
