"""Conformance with Fast Downward on a folder of domain/problem pairs with known optimal costs.

For every pair: the optimal cost by A* (hmax and blind, on lifted states and on ground ones) against INDEX.json, every
plan validated, the number of applicable operators in the initial state against Fast Downward's translator, and our SAS
output solved by the real Fast Downward.

    python scripts/check_conformance.py BENCHMARKS/conformance [--time-limit 60] [--only NAME]
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gsp_fd import _core as core
from gsp_fd.common.processes import fast_downward_command
from gsp_fd.task import Task, TaskLimits, load_pddl, load_sas
from gsp_fd.translator import translate


@dataclass
class Row:
    """What was found for one pair; None where a run did not finish."""

    name: str
    expected: int | None
    unsolvable: bool
    costs: dict[str, int | None] = field(default_factory=dict)
    """By search; None where it did not finish."""
    statuses: set[str] = field(default_factory=set)
    valid: bool = True
    applicable: int | None = None
    applicable_fd: int | None = None
    cost_from_sas: int | None = None

    @property
    def cost(self) -> int | None:
        """What the searches that finished found."""
        return next((cost for cost in self.costs.values() if cost is not None), None)

    def complaints(self) -> list[str]:
        """Everything that contradicts Fast Downward."""
        found = []
        if self.unsolvable and not self.statuses <= {"exhausted", "time"}:
            found.append(f"unsolvable task ended with {self.statuses}")
        known = {cost for cost in self.costs.values() if cost is not None}
        if len(known) > 1 or (self.expected is not None and known - {self.expected}):
            found.append(f"costs {self.costs}, expected {self.expected}")
        if not self.valid:
            found.append("invalid plan")
        if self.applicable != self.applicable_fd:
            found.append(f"{self.applicable} applicable operators, Fast Downward has {self.applicable_fd}")
        if self.cost_from_sas != self.cost and self.cost is not None:
            found.append(f"Fast Downward finds cost {self.cost_from_sas} from our SAS file, we find {self.cost}")
        return found


def astar(space: core.StateSpace, h: core.Heuristic, seconds: float) -> tuple[core.SearchResult, list[str]]:
    """Optimal search; the result and the names of the plan's operators."""
    f = core.sum([core.g(), h])
    result = core.search(
        space, core.TieBreakingOpenList([f, h]), f_eval=f, reopen_closed=True, max_time=seconds, max_memory_kb=4_000_000
    )
    return result, [space.operator_name(op) for op in result.plan]


def initial_operators(ground: core.GroundTask) -> int:
    """The number of actions applicable in the initial state, which may have several operators each."""
    space = core.GroundSpace(ground)
    return len({space.operator_name(op).strip() for op in space.applicable(space.initial_state())})


def fast_downward_cost(sas: bytes, seconds: float) -> int | None:
    """The cost that the real Fast Downward finds for a SAS file by A* with hmax."""
    program = fast_downward_command()
    assert program, "pip install up-fast-downward"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "task.sas"
        path.write_bytes(sas)
        command = [*program, "--search-time-limit", f"{int(seconds)}s", str(path)]
        command += ["--search", "astar(hmax())"]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    match = re.search(r"Plan cost: (\d+)", run.stdout)
    return int(match.group(1)) if match else None


def check(folder: Path, entry: dict[str, Any], seconds: float) -> Row:
    """Runs everything for one pair."""
    domain, problem = folder / "domain.pddl", folder / "problem.pddl"
    row = Row(folder.name, entry.get("optimal_cost"), "unsolvable" in entry["fd"].get("note", ""))
    task = load_pddl(domain, problem)
    ground = task.ground(TaskLimits(time=seconds))
    row.applicable = initial_operators(ground)
    row.applicable_fd = initial_operators(translated(domain, problem).ground())
    for heuristic in ("hmax", "blind"):
        for kind in ("lifted", "ground"):
            space = core.LiftedSpace(task.native_lifted()) if kind == "lifted" else core.GroundSpace(ground)
            result, plan = astar(space, task.heuristic(heuristic), seconds)
            row.statuses.add(result.status)
            solved = result.status == "solved"
            row.costs[f"{kind} {heuristic}"] = result.plan_cost if solved else None
            row.valid = row.valid and (not solved or task.validate(plan).valid)
    if row.cost is not None:
        row.cost_from_sas = fast_downward_cost(ground.to_sas(), seconds)
    return row


def translated(domain: Path, problem: Path) -> Task:
    """The task as Fast Downward's translator makes it."""
    with tempfile.TemporaryDirectory() as folder:
        sas = Path(folder) / "output.sas"
        translate(domain, problem, sas)
        return load_sas(sas)


def main() -> int:
    """Prints a row per pair; the exit code is 1 if anything contradicts Fast Downward."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--time-limit", type=float, default=60, help="CPU seconds per search (60)")
    parser.add_argument("--only", help="one pair by name")
    options = parser.parse_args()
    index = json.loads((options.folder / "INDEX.json").read_text())
    bad = solved = 0
    for name, entry in index.items():
        if options.only and name != options.only:
            continue
        row = check(options.folder / name, entry, options.time_limit)
        complaints = row.complaints()
        bad += bool(complaints)
        solved += row.cost is not None
        cost = row.cost if row.cost is not None else "/".join(sorted(row.statuses))
        unfinished = [search for search, found in row.costs.items() if found is None]
        print(
            f"{name:25} cost {cost!s:>9} (expected {row.expected}) valid {row.valid} applicable {row.applicable}"
            f" (FD {row.applicable_fd}) FD from our SAS {row.cost_from_sas}"
            f"{f' not by {unfinished}' if unfinished else ''} {'; '.join(complaints) or 'ok'}",
            flush=True,
        )
    print(f"{solved} solved optimally, {bad} with contradictions")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
