"""Coverage of the greedy policy of a model on test folders; every plan is validated.

    python scripts/evaluate_model.py blocksworld BENCHMARKS/ipc2023-learning/blocksworld --split easy medium

MODEL is an .onnx file or the name of a shipped model. The limits are the paper's: 10,000 expansions or one hour each.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

from gsp_fd import _core as core
from gsp_fd.model import LearnedHeuristic, Model, find_model
from gsp_fd.task import load_pddl


@dataclass
class Outcome:
    """One problem: the length of the plan, or why there is none."""

    name: str
    objects: int
    length: int | None
    status: str
    seconds: float


def solve(model_name: str, domain: Path, problem: Path, expansions: int, seconds: float) -> Outcome:
    """Follows the policy; ``seconds`` of CPU time."""
    start = time.process_time()
    task = load_pddl(domain, problem)
    assert task.lifted is not None
    native = task.native_lifted()
    space = core.LiftedSpace(native, True)
    learned = LearnedHeuristic(Model(find_model(model_name, task.lifted)), task.lifted, native, space=space)
    result = core.search(
        space, core.DepthFirstOpenList(learned.native), lazy=True, max_expansions=expansions, max_time=seconds
    )
    length: int | None = None
    if result.status == "solved":
        plan = [space.operator_name(op) for op in result.plan]
        verdict = task.validate(plan)
        assert verdict.valid, f"{problem}: {verdict.reason}"
        length = len(plan)
    return Outcome(problem.stem, len(task.lifted.objects), length, result.status, time.process_time() - start)


def main() -> None:
    """Prints a line per folder, with the problems that were not solved."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("folder", type=Path, help="a domain of the IPC layout: domain.pddl, testing/{easy,medium,hard}")
    parser.add_argument("--split", nargs="+", default=["easy", "medium", "hard"])
    parser.add_argument("--every", type=int, default=1, help="only every n-th problem")
    parser.add_argument("--max-expansions", type=int, default=10_000)
    parser.add_argument("--time-limit", type=float, default=3600, help="CPU seconds per problem (3600)")
    options = parser.parse_args()
    for split in options.split:
        problems = sorted((options.folder / "testing" / split).glob("*.pddl"))[:: options.every]
        outcomes = [
            solve(options.model, options.folder / "domain.pddl", problem, options.max_expansions, options.time_limit)
            for problem in problems
        ]
        solved = [outcome for outcome in outcomes if outcome.length is not None]
        failed = [f"{o.name} ({o.objects} objects, {o.status})" for o in outcomes if o.length is None]
        steps = sum(outcome.length or 0 for outcome in solved) / max(len(solved), 1)
        print(
            f"{options.folder.name} {split}: {len(solved)}/{len(outcomes)} solved, {steps:.0f} steps on average, "
            f"{sum(o.seconds for o in outcomes):.0f} CPU s" + (f"; not solved: {', '.join(failed)}" if failed else ""),
            flush=True,
        )


if __name__ == "__main__":
    main()
