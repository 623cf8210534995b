"""Speed and memory of the engine beside Fast Downward, run alternately on the same files; prints ratios.

    python scripts/bench_engine.py BENCHMARKS/ipc2023-learning [--part search first …] [--before PYTHON]

search:      evaluations per second of hFF and hmax in WA* (w=2), expansions per second of blind A*; the aim is 1.0 x.
first:       from the files of the largest problems to the first expansion with blind and goalcount and to the first
             evaluation of hFF, in processes of their own, beside Fast Downward's translator (5 minutes, 16 GB).
evaluations: evaluations per second of hFF in WA* (w=2) on hard problems; with --before, the Python of another
             installation of the planner, alternately by that one, for all problems of search too.
memory:      bytes per stored state, from the peak memory of a blind search less that of a search that stores nothing.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from gsp_fd.common.processes import fast_downward_command

SEARCH_TASKS = [
    "blocksworld/testing/easy/p10", "blocksworld/testing/easy/p20", "blocksworld/testing/medium/p01",
    "blocksworld/testing/medium/p09", "transport/testing/easy/p30", "rovers/testing/easy/p30",
    "satellite/testing/easy/p30", "sokoban/testing/easy/p30",
]  # fmt: skip
SEARCHES = {
    "hff": ("eager_wastar([ff()], w=2, max_time={t})", "Evaluated"),
    "hmax": ("eager_wastar([hmax()], w=2, max_time={t})", "Evaluated"),
    "blind": ("astar(blind(), max_time={t})", "Expanded"),
}
DOMAINS = [
    "blocksworld", "childsnack", "ferry", "floortile", "miconic",
    "rovers", "satellite", "sokoban", "spanner", "transport",
]  # fmt: skip
FIRST = {
    "blind": ["--search", "astar(blind())", "--max-expansions", "1"],
    "goalcount": ["--search", "eager_greedy([goalcount()])", "--max-expansions", "1"],
    "hff": ["--search", "eager_greedy([ff()], bound=0)"],
}
HARD_TASKS = [
    "rovers/testing/hard/p29", "satellite/testing/hard/p29", "blocksworld/testing/hard/p29",
    "transport/testing/hard/p01", "sokoban/testing/hard/p01",
]  # fmt: skip


@dataclass
class Run:
    """What a planner's log says."""

    counts: dict[str, int]
    seconds: float
    peak_kb: int
    registered: int

    def rate(self, what: str) -> float:
        """Events per second of search."""
        return self.counts[what] / max(self.seconds, 1e-6)


def fast_downward() -> list[str]:
    """The command of the real Fast Downward."""
    return fast_downward_command() or sys.exit("pip install up-fast-downward")


def ours(python: str = sys.executable) -> list[str]:
    """The command of our planner, by default of this installation."""
    return [python, "-m", "gsp_fd.fd_integration"]


def run(command: list[str], files: list[str], search: str) -> Run:
    """Runs a planner in a folder of its own and reads its log."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [*command, *files, "--search", search], cwd=folder, capture_output=True, text=True, check=False
        )
    log = done.stdout

    def find(pattern: str) -> float:
        match = re.search(pattern, log)
        if match is None:
            raise SystemExit(f"no '{pattern}' in the output of {command}:\n{log[-2000:]}{done.stderr[-2000:]}")
        return float(match.group(1))

    counts = {verb: int(find(rf"{verb} (\d+) state\(s\)\.")) for verb in ("Expanded", "Evaluated", "Generated")}
    registered = int(find(r"Number of registered states: (\d+)"))
    return Run(counts, find(r"Actual search time: (.+)s"), int(find(r"Peak memory: (\d+) KB")), registered)


def pddl_files(root: Path, task: str) -> list[str]:
    """Domain and problem of a task given as DOMAIN/…/pNN."""
    return [str(root / task.split("/")[0] / "domain.pddl"), str(root / f"{task}.pddl")]


def bench_search(root: Path, seconds: float, repeat: int) -> None:
    """The best of several alternating runs of each planner."""
    print(f"{'task':34}{'search':8}{'Fast Downward':>16}{'ours':>12}{'ratio':>8}   per second")
    for task in SEARCH_TASKS:
        for name, (search, what) in SEARCHES.items():
            best = {"fd": 0.0, "ours": 0.0}
            for _ in range(repeat):
                for planner, command in (("fd", fast_downward()), ("ours", ours())):
                    result = run(command, pddl_files(root, task), search.format(t=seconds))
                    best[planner] = max(best[planner], result.rate(what))
            ratio = best["ours"] / best["fd"]
            row = f"{task:34}{name:8}{best['fd']:16.0f}{best['ours']:12.0f}{ratio:7.2f}x   {what.lower()}"
            print(row, flush=True)


@dataclass
class Usage:
    """What a process and its children took."""

    exit_code: int
    cpu: float
    wall: float
    peak_mb: float

    def __str__(self) -> str:
        note = "" if self.exit_code in (0, 12, 13) else f" (exit {self.exit_code})"
        return f"{self.cpu:7.2f} s {self.peak_mb:6.0f} MB{note}"


def measure(command: list[str]) -> Usage:
    """Runs a command in a folder of its own; peak memory is that of its largest process."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - start
    return Usage(process.returncode, used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024)


def bench_first(root: Path, limit: int) -> None:
    """The first step on the largest problems."""
    print(f"{'hard p29':12}" + "".join(f"{name:>20}" for name in (*FIRST, "translator")) + "   CPU time, peak memory")
    for domain in DOMAINS:
        files = pddl_files(root, f"{domain}/testing/hard/p29")
        cells = [str(measure([*ours(), *files, *options])) for options in FIRST.values()]
        translate = ["--translate-memory-limit", "16G", "--translate-time-limit", f"{limit}s", "--translate"]
        translator = measure([*fast_downward(), *translate, *files])
        cells.append(str(translator) if translator.exit_code == 0 else f"more than {limit} s or 16 GB")
        print(f"{domain:12}" + "".join(f"{cell:>20}" for cell in cells), flush=True)


def bench_evaluations(root: Path, before: str | None, seconds: float, repeat: int) -> None:
    """hFF on hard problems, and with another installation to compare with on the others too."""
    print(f"{'task':34}{'before':>10}{'now':>10}{'ratio':>8}   evaluations per second of hFF")
    search, what = SEARCHES["hff"]
    for task in HARD_TASKS + (SEARCH_TASKS if before else []):
        best = {"before": 0.0, "now": 0.0}
        for _ in range(repeat):
            for name, python in (("before", before), ("now", sys.executable)):
                if python:
                    result = run(ours(python), pddl_files(root, task), search.format(t=seconds))
                    best[name] = max(best[name], result.rate(what))
        ratio = f"{best['now'] / best['before']:7.2f}x" if before else ""
        print(f"{task:34}{best['before']:10.0f}{best['now']:10.0f}{ratio}", flush=True)


def bench_memory(root: Path, seconds: float) -> None:
    """Growth of the peak memory per registered state in a blind search."""
    print(f"{'task':34}{'Fast Downward':>16}{'ours':>8}{'ratio':>8}   bytes per state")
    for task in ["blocksworld/testing/easy/p30", *SEARCH_TASKS]:
        per_state = {}
        for planner, command in (("fd", fast_downward()), ("ours", ours())):
            files = pddl_files(root, task)
            empty = run(command, files, "astar(blind(), bound=1)")
            full = run(command, files, f"astar(blind(), max_time={seconds})")
            per_state[planner] = (full.peak_kb - empty.peak_kb) * 1024 / full.registered
        ratio = per_state["ours"] / per_state["fd"]
        print(f"{task:34}{per_state['fd']:16.0f}{per_state['ours']:8.0f}{ratio:7.2f}x", flush=True)


def main() -> None:
    """Runs the chosen parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, help="the unpacked IPC 2023 learning track")
    parts = ["search", "first", "evaluations", "memory"]
    parser.add_argument("--part", nargs="+", choices=parts, default=parts)
    parser.add_argument("--before", metavar="PYTHON", help="the Python of another installation, for evaluations")
    parser.add_argument("--seconds", type=float, default=5, help="search time per run (5)")
    parser.add_argument("--repeat", type=int, default=3, help="alternating runs, the best counts (3)")
    parser.add_argument("--translator-limit", type=int, default=300, help="CPU seconds for the translator (300)")
    options = parser.parse_args()
    if "search" in options.part:
        bench_search(options.root, options.seconds, options.repeat)
    if "first" in options.part:
        bench_first(options.root, options.translator_limit)
    if "evaluations" in options.part:
        bench_evaluations(options.root, options.before, options.seconds, options.repeat)
    if "memory" in options.part:
        bench_memory(options.root, options.seconds)


if __name__ == "__main__":
    main()
