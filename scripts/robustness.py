"""Does a model know its domain, or only the benchmark's goals and starts? The greedy policy on variants of problems.

    python scripts/robustness.py BENCHMARKS/ipc2023-learning --out DIR [--domains A,B] [--split easy,medium] [--every N]

For every problem: all of its goals, half of them, a fifth, one; and all of them from a state ten random actions into
the problem. Blocksworld also with its `on`, `clear` or `on-table` goals alone, with all blocks in one tower, and with a
block to hold. The variants are written to DIR/suite, gsp-policy and LAMA-first run on them as gsp-compare runs them
(the same command goes on where it was), and DIR/robustness.md gets the table.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

from gsp_fd.common.errors import InputError
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.compare.cli import main as gsp_compare
from gsp_fd.compare.results import read_results
from gsp_fd.compare.suites import Selection, SuiteProblem, read_suites
from gsp_fd.compare.tables import Table
from gsp_fd.generate.pddl_writer import parsed_problem_text
from gsp_fd.generate.variants import fewer_goals, goal_literals, start_away, with_goals
from gsp_fd.pddl.ast import Atom
from gsp_fd.task import FULL, Task, load_pddl

OURS, PEER = "gsp-policy", "fd-lama-first"
STEPS_AWAY = 10
"""Random actions to the other starts."""


def variants_of(task: Task) -> Iterator[Task]:
    """The problem itself and every variant it has, each of its own kind; the same in every run."""
    rng = Random(f"{task.name.rpartition('/')[2]} robustness")
    yield task
    candidates = [
        fewer_goals(task, rng, 0.5, "half"),
        fewer_goals(task, rng, 0.2, "fifth"),
        fewer_goals(task, rng, 0.0, "one"),
        start_away(task, rng, STEPS_AWAY),
    ]
    assert task.domain is not None
    if {"on", "on-table", "clear", "holding"} <= task.domain.predicates.keys():
        candidates += _blocks(task, rng)
    yield from (variant for variant in candidates if variant is not None)


def _blocks(task: Task, rng: Random) -> Iterator[Task | None]:
    assert task.problem is not None
    goals = [goal for goal in goal_literals(task) if isinstance(goal, Atom)]
    for predicate in ("on", "clear", "on-table"):
        chosen = [goal for goal in goals if goal.predicate == predicate]
        yield with_goals(task, chosen, f"{predicate} only") if chosen else None
    blocks = [item.name for item in task.problem.objects]
    rng.shuffle(blocks)
    yield with_goals(task, [Atom("on", pair) for pair in pairwise(blocks)], "one tower")
    yield with_goals(task, [Atom("holding", (blocks[0],))], "holding")


def write_suite(problems: Sequence[SuiteProblem], suite: Path) -> None:
    """DOMAIN/testing/KIND/SPLIT-NAME.pddl; a problem whose variants are all there is not varied again."""
    for problem in problems:
        folder = suite / problem.domain
        done = folder / "written" / f"{problem.split}-{problem.name}"
        if done.exists():
            continue
        done.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(problem.domain_file, folder / "domain.pddl")
        task = load_pddl(problem.domain_file, problem.problem_file)
        for variant in variants_of(task):
            assert variant.problem is not None
            file = folder / "testing" / variant.kind / f"{problem.split}-{problem.name}.pddl".lstrip("-")
            file.parent.mkdir(parents=True, exist_ok=True)
            if variant.kind == FULL:
                shutil.copyfile(problem.problem_file, file)
            else:
                file.write_text(parsed_problem_text(variant.problem), encoding="utf-8")
        done.touch()


@dataclass(frozen=True)
class Cell:
    """Both planners on the problems of a domain in one variant; steps or None by problem."""

    ours: dict[str, int | None]
    peer: dict[str, int | None]
    full: dict[str, int | None]
    """Ours on the same problems with their own goals and start."""

    @classmethod
    def of(cls, steps: dict[tuple[str, str, str, str], int | None], domain: str, kind: str) -> Cell:
        names = {key[2] for key in steps if key[:2] == (domain, kind)}
        columns = [
            {name: steps.get((domain, split, name, configuration)) for name in sorted(names)}
            for split, configuration in ((kind, OURS), (kind, PEER), (FULL, OURS))
        ]
        return cls(*columns)

    def ratios(self) -> list[float]:
        """Our steps over those of the peer, where both have a plan."""
        both = ((mine, self.peer[name]) for name, mine in self.ours.items())
        return [mine / theirs for mine, theirs in both if mine is not None and theirs]


def _solved(steps: dict[str, int | None]) -> int:
    return sum(value is not None for value in steps.values())


def _row(domain: str, kind: str, cells: Sequence[Cell]) -> list[str]:
    problems = sum(len(cell.ours) for cell in cells)
    ours, full, peer = (sum(_solved(part) for part in parts) for parts in zip(*map(_parts, cells), strict=True))
    ratios = [ratio for cell in cells for ratio in cell.ratios()]
    share = f"{100 * ours / full:.0f} %" if full else "–"
    ratio = f"{fmean(ratios):.2f} ({len(ratios)})" if ratios else "–"
    return [domain, kind, str(problems), str(ours), str(full), share, str(peer), ratio]


def _parts(cell: Cell) -> tuple[dict[str, int | None], ...]:
    return cell.ours, cell.full, cell.peer


def table(results: Sequence[dict[str, Any]]) -> Table:
    """One row per domain and kind, and one for all of them."""
    steps = {
        (entry["domain"], entry["split"], entry["problem"], entry["configuration"]): (
            int(entry["steps"]) if entry["status"] == "solved" else None
        )
        for entry in results
    }
    pairs = list(dict.fromkeys((domain, kind) for domain, kind, _, _ in sorted(steps, key=lambda key: key[:2])))
    cells = {pair: Cell.of(steps, *pair) for pair in pairs}
    varied = [cell for (_, kind), cell in cells.items() if kind != FULL]
    return Table(
        "Robustness",
        f"The greedy policy ({OURS}) on variants of problems: solved, beside the same problems with their own goals "
        "and start, and the mean ratio of its steps to LAMA-first's where both have a plan (on how many problems).",
        [("", 7)],
        ["domain", "variant", "problems", "solved", "full", "share", "LAMA-first", "steps"],
        [_row(*pair, [cell]) for pair, cell in cells.items()],
        _row("all", "variants", varied) if varied else None,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("suites", nargs="+", metavar="SUITE", help="folder of domains, or any suite of gsp-compare")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="suite, results and table")
    parser.add_argument("--domains", metavar="A,B", help="only these")
    parser.add_argument("--split", default="easy,medium", metavar="A,B", help="only these (easy,medium); '' for all")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every N-th problem of a split")
    parser.add_argument("--model", default="auto", metavar="MODEL", help="file, shipped name, or auto")
    parser.add_argument("--time-limit", default="300", metavar="TIME", help="CPU time of a run (300)")
    parser.add_argument("--memory-limit", default="4G", metavar="SIZE", help="of a run (4G)")
    parser.add_argument("--max-expansions", default="10000", metavar="N", help="of a run, 0 for no limit (10000)")
    parser.add_argument("--jobs", default="1", metavar="N", help="runs at the same time (1)")
    options = parser.parse_args(arguments)
    try:
        return run(options)
    except InputError as error:
        print(f"robustness: {error}", file=sys.stderr)
        return error.exit_code


def run(options: argparse.Namespace) -> int:
    """Writes the suite, runs both planners, writes the table."""
    selection = Selection(tuple(part for part in options.split.split(",") if part), options.every)
    problems = read_suites(options.suites, selection, options.out / "generated")
    wanted = options.domains.split(",") if options.domains else [problem.domain for problem in problems]
    problems = [problem for problem in problems if problem.domain in wanted]
    if not problems:
        raise _error("no problem is left: look at --domains and --split")
    if broken := [problem for problem in problems if problem.error]:
        raise _error(f"{broken[0]}: {broken[0].error}")
    suite = options.out / "suite"
    write_suite(problems, suite)
    limits = ["--time-limit", options.time_limit, "--memory-limit", options.memory_limit]
    limits += ["--max-expansions", options.max_expansions]
    places = [str(suite / domain) for domain in dict.fromkeys(problem.domain for problem in problems)]
    configurations = ["--configurations", f"{OURS},{PEER}", "--model", options.model, "--jobs", options.jobs]
    code = gsp_compare(["run", *places, "--out", str(options.out), *configurations, *limits])
    if code != ExitCode.SUCCESS:
        return code
    made = table(read_results([options.out]).results)
    (options.out / "robustness.md").write_text(made.markdown(), encoding="utf-8")
    print(made.text())
    return ExitCode.SUCCESS


def _error(message: str) -> InputError:
    return InputError(message, exit_code=ExitCode.DRIVER_INPUT_ERROR)


if __name__ == "__main__":
    sys.exit(main())
