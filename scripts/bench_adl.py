"""Blind expansions per second on tasks with conditional effects and axioms: lifted, ground, translated, Fast Downward.

    python scripts/bench_adl.py BENCHMARKS/conformance [--seconds 2]

Our searches are repeated until they have taken some CPU time, Fast Downward's a number of times: each of its searches
is a process, and its own clock, which counts microseconds, says how long it searched.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from gsp_fd import _core
from gsp_fd.common.processes import fast_downward_command
from gsp_fd.task import load_pddl

TASKS = ("miconic-fulladl", "psr-large", "philosophers", "optical-telegraphs", "airport-adl")
FAST_DOWNWARD_RUNS = 10
TRANSLATED = ["--keep-unimportant-variables"]


def rate(space: Callable[[], _core.StateSpace], blind: _core.Heuristic, seconds: float) -> float:
    """Expansions per CPU second of blind A*."""
    expanded = 0
    start = time.process_time()
    while (spent := time.process_time() - start) < seconds:
        open_list = _core.SingleOpenList(_core.sum([_core.g(), blind]))
        left = seconds - spent
        expanded += _core.search(space(), open_list, reopen_closed=True, max_time=left).expanded
    return expanded / spent


def fast_downward_rate(domain: Path, problem: Path) -> float | None:
    """The same from Fast Downward's logs; None where there is no Fast Downward."""
    command = fast_downward_command()
    if not command:
        return None
    expanded, seconds = 0, 0.0
    with tempfile.TemporaryDirectory() as folder:
        run = partial(subprocess.run, cwd=folder, capture_output=True, text=True, check=True)
        run([*command, "--translate", str(domain.absolute()), str(problem.absolute())])
        for _ in range(FAST_DOWNWARD_RUNS):
            log = run([*command, "output.sas", "--search", "astar(blind())"]).stdout
            expanded += int(re.findall(r"Expanded (\d+) state", log)[-1])
            seconds += float(re.findall(r"Search time: ([\d.]+)s", log)[-1])
    return expanded / seconds


def main() -> None:
    """Prints a row per task."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=2)
    options = parser.parse_args()
    print(f"{'':20} {'lifted':>10} {'ground':>10} {'translated':>10} {'FD':>10}  expansions per second")
    for name in TASKS:
        domain, problem = options.folder / name / "domain.pddl", options.folder / name / "problem.pddl"
        task, translated = load_pddl(domain, problem), load_pddl(domain, problem, translate_options=TRANSLATED)
        lifted, ground, sas = task.native_lifted(), task.ground(), translated.ground()
        rates = [
            rate(partial(_core.LiftedSpace, lifted), task.heuristic("blind"), options.seconds),
            rate(partial(_core.GroundSpace, ground), task.heuristic("blind"), options.seconds),
            rate(partial(_core.GroundSpace, sas), translated.heuristic("blind"), options.seconds),
            fast_downward_rate(domain, problem),
        ]
        print(f"{name:20} {' '.join(f'{found:10.0f}' if found else '         -' for found in rates)}", flush=True)


if __name__ == "__main__":
    main()
