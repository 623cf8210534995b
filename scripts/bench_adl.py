"""Blind expansions per second on tasks with conditional effects and axioms: lifted, ground, translated, Fast Downward.

    python scripts/bench_adl.py BENCHMARKS/conformance [--seconds 2]

Our searches are repeated until they have taken some CPU time; Fast Downward's are as long as they are, and what is too
short for its clock is left out.
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
    """The same from Fast Downward's log; None if its search took less than a hundredth of a second."""
    command = fast_downward_command()
    if not command:
        return None
    with tempfile.TemporaryDirectory() as folder:
        arguments = [*command, str(domain.absolute()), str(problem.absolute()), "--search", "astar(blind())"]
        log = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=False).stdout
    expanded, seconds = re.search(r"Expanded (\d+) state", log), re.search(r"Search time: ([\d.]+)s", log)
    if not expanded or not seconds or float(seconds[1]) < 0.01:
        return None
    return int(expanded[1]) / float(seconds[1])


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
