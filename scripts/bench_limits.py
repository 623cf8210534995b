"""How far runs of the planner go beyond their limits, on the largest problems of three domains.

    python scripts/bench_limits.py BENCHMARKS/ipc2023-learning [--domains sokoban] [--kinds time] [--configurations hff]

Each row is one run of gsp-plan with one limit: the CPU time and the peak memory of all its processes as the system
counted them, and what they are above the limit. The limits are spread, so that they end different parts of the work.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from gsp_fd.common.processes import PLANNER

DOMAINS = ("transport", "sokoban", "rovers")
PROBLEM = "testing/hard/p29.pddl"
CONFIGURATIONS = {
    "default": [],
    "hff": ["--search", "lazy_greedy([ff()])"],
    "policy": ["--heuristic", "gsp", "--search", "policy"],
    "wastar": ["--heuristic", "gsp", "--search", "wastar"],
    "grounding": ["--keep-sas-file", "--search", "astar(blind())"],
}
LIMITS = {"time": (1, 3, 6), "memory": (80, 150, 300)}
"""Seconds of CPU time, and MB."""
MOST_OVER = {"time": 1.0, "memory": 64.0}
UNENDING = {"time": ["--overall-memory-limit", "8G"], "memory": ["--overall-time-limit", "30"]}
"""What ends a run that the limit of its row does not."""


@dataclass(frozen=True)
class Row:
    """One run: how it ended, CPU seconds and MB."""

    exit_code: int
    seconds: float
    megabytes: float
    over: float


def measure(domain: Path, problem: Path, arguments: list[str], kind: str, limit: int) -> Row:
    """Runs the planner with one limit."""
    unit = "s" if kind == "time" else "M"
    limits = [f"--overall-{kind}-limit", f"{limit}{unit}", *UNENDING[kind]]
    command = [*PLANNER, *limits, str(domain.absolute()), str(problem.absolute()), *arguments]
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds, megabytes = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
    over = (seconds if kind == "time" else megabytes) - limit
    return Row(process.returncode, seconds, megabytes, over)


def main() -> None:
    """Prints a row per run, and those that go too far once more at the end."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--domains", nargs="+", choices=DOMAINS, default=DOMAINS)
    parser.add_argument("--kinds", nargs="+", choices=LIMITS, default=list(LIMITS))
    parser.add_argument("--configurations", nargs="+", choices=CONFIGURATIONS, default=list(CONFIGURATIONS))
    parser.add_argument("--limits", nargs="+", type=int, help="other limits, in seconds or MB")
    options = parser.parse_args()
    print(f"{'domain':12}{'configuration':15}{'limit':>8}{'exit':>6}{'CPU s':>8}{'MB':>7}{'over':>8}", flush=True)
    too_far = []
    for kind in options.kinds:
        for name in options.domains:
            folder = options.folder / name
            for configuration in options.configurations:
                for limit in options.limits or LIMITS[kind]:
                    run = CONFIGURATIONS[configuration]
                    row = measure(folder / "domain.pddl", folder / PROBLEM, run, kind, limit)
                    unit = "s" if kind == "time" else "MB"
                    text = (
                        f"{name:12}{configuration:15}{limit:>5} {unit:2}{row.exit_code:>6}{row.seconds:>8.2f}"
                        f"{row.megabytes:>7.0f}{row.over:>+8.2f}"
                    )
                    print(text, flush=True)
                    if row.over > MOST_OVER[kind]:
                        too_far.append(text)
    most = f"{MOST_OVER['time']:g} s or {MOST_OVER['memory']:g} MB"
    print("\n".join([f"{len(too_far)} runs more than {most} over their limit", *too_far]))


if __name__ == "__main__":
    main()
