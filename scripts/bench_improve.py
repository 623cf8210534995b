"""What the improvement of plans gains: quality (best known cost / ours) before and after, and the seconds it takes.

    python scripts/bench_improve.py BENCHMARKS/ipc2023-learning [DOMAIN ...] [--problems easy/p20 ...]
        [--search "policy(gsp())"] [--search-time 120] [--seconds 30]

Plans come from a search, by default the greedy policy of the shipped model; lazy_greedy([goalcount()]) makes bad ones.
The best known costs are the smaller ones of upper_bounds.json and upper_bounds_from_ipc_planners.json.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import time
from pathlib import Path

from gsp_fd.common.errors import InputError
from gsp_fd.fd_integration.language.context import Context
from gsp_fd.fd_integration.language.registry import check_search, is_learned
from gsp_fd.fd_integration.run.limits import Deadline, Limits
from gsp_fd.fd_integration.run.log import Log
from gsp_fd.fd_integration.run.search import Run
from gsp_fd.task import load_pddl

PROBLEMS = ["easy/p20", "easy/p30", "medium/p05", "medium/p15"]
ROW = "{:12} {:11} {:>6} {:>6} {:>7} {:>7} {:>6} {:>6} {:>8}  {}"


def best_known(benchmarks: Path) -> dict[str, int]:
    """The smaller cost of the two files, by the path of the problem."""
    files = [benchmarks / name for name in ("upper_bounds.json", "upper_bounds_from_ipc_planners.json")]
    best: dict[str, int] = {}
    for file in files:
        for name, cost in json.loads(file.read_text()).items():
            if cost is not None:
                best[name] = min(cost, best.get(name, cost))
    return best


def improve(domain: Path, problem: str, options: argparse.Namespace, best: int) -> tuple[float, float, float] | None:
    """Quality before and after and the seconds, or None without a plan; prints a row."""
    task = load_pddl(domain / "domain.pddl", domain / "testing" / f"{problem}.pddl")
    learned = is_learned(options.search)
    lines = io.StringIO()
    ground = None if learned else task.ground_if_small()
    limits = Deadline(Limits(time=options.search_time))
    run = Run(Context(task, ground, on_lifted=learned), Log(stream=lines), None, limits)
    try:
        run.execute(check_search(options.search))
    except InputError as error:
        print(f"{domain.name} {problem}: {error}", flush=True)
        return None
    if run.best is None:
        print(f"{domain.name:12} {problem:11} no plan", flush=True)
        return None
    first = run.best
    run.deadline = Deadline(Limits())
    start = time.process_time()
    run.improve(options.seconds)
    seconds = time.process_time() - start
    gains: dict[str, int] = {}
    for before, after, method in re.findall(r"cost (\d+) -> (\d+), by ([a-z ]+),", lines.getvalue()):
        gains[method] = gains.get(method, 0) + int(before) - int(after)
    told = ", ".join(f"{method} {gain}" for method, gain in gains.items())
    quality = best / max(first.cost, 1), best / max(run.best.cost, 1)
    sizes = [len(first.actions), len(run.best.actions), first.cost, run.best.cost]
    shown = [f"{quality[0]:.3f}", f"{quality[1]:.3f}", f"{seconds:.1f}"]
    print(ROW.format(domain.name, problem, *sizes, *shown, told), flush=True)
    return *quality, seconds


def main() -> None:
    """Rows for the problems and their means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("benchmarks", type=Path)
    parser.add_argument("domains", nargs="*")
    parser.add_argument("--problems", nargs="+", default=PROBLEMS)
    parser.add_argument("--search", default="policy(gsp())")
    parser.add_argument("--search-time", type=float, default=120)
    parser.add_argument("--seconds", type=float, default=30)
    options = parser.parse_args()
    known = best_known(options.benchmarks)
    print(ROW.format("domain", "problem", "steps", "now", "cost", "now", "q", "now", "seconds", "gains"))
    rows = []
    for name in options.domains or sorted(path.name for path in options.benchmarks.iterdir() if path.is_dir()):
        for problem in options.problems:
            key = f"{name}/testing/{problem}.pddl"
            if key in known and (row := improve(options.benchmarks / name, problem, options, known[key])) is not None:
                rows.append(row)
    if rows:
        before, after, seconds = (sum(column) / len(rows) for column in zip(*rows, strict=True))
        print(f"{len(rows)} plans: mean quality {before:.3f} -> {after:.3f}, {seconds:.1f} s each")


if __name__ == "__main__":
    main()
