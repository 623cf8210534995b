"""Speed and memory of the engine beside Fast Downward, run alternately on the same files; prints ratios.

    python scripts/bench_engine.py BENCHMARKS/ipc2023-learning [--part search load memory]

search: evaluations per second of hFF and hmax in WA* (w=2), expansions per second of blind A*; the aim is 1.0 x.
load:   PDDL to the first full expansion on the hard instances, lifted, beside Fast Downward's translator.
memory: bytes per stored state, from the peak memory of a blind search less that of a search that stores nothing.
"""

from __future__ import annotations

import argparse
import re
import resource
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
LOAD_DOMAINS = [
    "blocksworld",
    "ferry",
    "floortile",
    "miconic",
    "rovers",
    "satellite",
    "sokoban",
    "spanner",
    "transport",
]
LOAD_PROGRAM = """
import resource, sys, time
from gsp_fd import _core
from gsp_fd.task import load_pddl
start = time.perf_counter()
space = _core.LiftedSpace(load_pddl(sys.argv[1], sys.argv[2]).native_lifted())
operators, _ = space.expand(space.initial_state())
seconds = time.perf_counter() - start
print(seconds, len(operators), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


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


def ours() -> list[str]:
    """The command of our planner."""
    return [sys.executable, "-m", "gsp_fd.fd_integration"]


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


def bench_load(root: Path, limit: float) -> None:
    """Our lifted loading beside the translator, which gets a limited time."""
    print(f"{'hard p29':14}{'translator s':>14}{'ours s':>9}{'ratio':>9}{'ours MB':>9}  actions in the initial state")
    for domain in LOAD_DOMAINS:
        files = pddl_files(root, f"{domain}/testing/hard/p29")
        done = subprocess.run([sys.executable, "-c", LOAD_PROGRAM, *files], capture_output=True, text=True, check=True)
        seconds, actions, peak_kb = done.stdout.split()
        reference, finished = translator_seconds(files, limit)
        ratio = f"{'' if finished else '>'}{reference / float(seconds):.0f}x"
        more = "" if finished else "+"
        print(
            f"{domain:14}{reference:13.1f}{more:1}{float(seconds):9.2f}{ratio:>9}{int(peak_kb) / 1024:9.0f}  {actions}",
            flush=True,
        )


def translator_seconds(files: list[str], limit: float) -> tuple[float, bool]:
    """CPU time of Fast Downward's translator, and whether it finished within the limit and 16 GB."""
    with tempfile.TemporaryDirectory() as folder:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        command = [*fast_downward(), "--translate-memory-limit", "16G", "--translate-time-limit", f"{int(limit)}s"]
        done = subprocess.run([*command, "--translate", *files], cwd=folder, capture_output=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return max(cpu, 0.0) or time.perf_counter() - start, done.returncode == 0


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
    parser.add_argument("--part", nargs="+", choices=["search", "load", "memory"], default=["search", "load", "memory"])
    parser.add_argument("--seconds", type=float, default=5, help="search time per run (5)")
    parser.add_argument("--repeat", type=int, default=3, help="alternating runs, the best counts (3)")
    parser.add_argument("--translator-limit", type=float, default=600, help="CPU seconds for the translator (600)")
    options = parser.parse_args()
    if "search" in options.part:
        bench_search(options.root, options.seconds, options.repeat)
    if "load" in options.part:
        bench_load(options.root, options.translator_limit)
    if "memory" in options.part:
        bench_memory(options.root, options.seconds)


if __name__ == "__main__":
    main()
