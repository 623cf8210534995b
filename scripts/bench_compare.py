"""Overhead of gsp-compare: its time per run, beside that of the bare command.

    python scripts/bench_compare.py --runs 30

The same planner runs on the same problem by itself and in the harness, alternately; the harness adds a fresh folder,
the limits, the end of all processes, the validation of the plan and the record. The planner copies a known plan.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from gsp_fd.compare.configurations import find_configurations
from gsp_fd.compare.limits import run_limits
from gsp_fd.compare.results import ResultsWriter
from gsp_fd.compare.runner import Job, Worker
from gsp_fd.compare.suites import SuiteProblem

EXAMPLE = Path(__file__).parents[1] / "examples" / "blocksworld"


def bare(command: list[str], folder: Path) -> float:
    """Seconds that the command takes by itself."""
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def main() -> None:
    """Prints the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--problem", type=Path, default=EXAMPLE / "p02.pddl", help="with a domain.pddl beside it")
    options = parser.parse_args()
    problem = SuiteProblem("bench", "", "problem", options.problem.parent / "domain.pddl", options.problem.absolute())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plan = folder / "known_plan"
        solve = [sys.executable, "-m", "gsp_fd.fd_integration", "--plan-file", str(plan), str(problem.domain_file)]
        solve += [str(options.problem), "--search", "let(h, ff(), lazy_greedy([h], preferred=[h]))"]
        subprocess.run(solve, cwd=folder, stdout=subprocess.DEVNULL, check=True)
        script = f"cat {{domain}} {{problem}} > /dev/null; cp {shlex.quote(str(plan))} {{plan}}"
        (configuration,) = find_configurations([f"cat=!sh -c {shlex.quote(script)}"])
        values = {"domain": str(problem.domain_file), "problem": str(options.problem), "plan": "plan"}
        job, worker = Job(problem, configuration), Worker(run_limits(60, 1024, None))
        writer = ResultsWriter(folder / "results")
        alone, harness = [], []
        for _ in range(options.runs):
            alone.append(bare(configuration.arguments(values), folder))
            start = time.perf_counter()
            record = worker.run(job)
            writer.write(record)
            harness.append(time.perf_counter() - start)
            assert record["status"] == "solved", record["message"]
        worker.supervisor.close()
    print(f"bare command:    median {1000 * median(alone):.1f} ms")
    print(f"in gsp-compare:  median {1000 * median(harness):.1f} ms, longest {1000 * max(harness):.1f} ms")
    print(f"overhead:        {1000 * (median(harness) - median(alone)):.1f} ms per run")


if __name__ == "__main__":
    main()
