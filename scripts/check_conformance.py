"""Conformance with Fast Downward on a folder of domain/problem pairs with known optimal costs.

For every pair: the optimal cost by A* (blind and hmax; on lifted states, those of our ground task and those of the
translator's) against INDEX.json, every plan validated, the number of applicable operators in the initial state, lifted
and ground, against the translator's, and our SAS output solved by the real Fast Downward. Whatever the translator's
states are searched in, lifted ones must be, too. The table has the CPU seconds of each search, and - where it did not
end in time.

    python scripts/check_conformance.py BENCHMARKS/conformance [--time-limit 60] [--only NAME,NAME]
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gsp_fd import _core as core
from gsp_fd.common.processes import fast_downward_command
from gsp_fd.task import Task, TaskLimits, load_pddl, load_sas
from gsp_fd.translator import translate

KINDS = ("lifted", "ground", "translated")
SEARCHES = [(kind, heuristic) for heuristic in ("blind", "hmax") for kind in KINDS]
ENDED = ("solved", "exhausted")


@dataclass(frozen=True, slots=True)
class Found:
    """How a search ended, and after how many CPU seconds."""

    status: str
    cost: int | None
    seconds: float

    def __str__(self) -> str:
        return f"{self.seconds:.2f}" if self.status in ENDED else "-"


@dataclass
class Row:
    """What was found for one pair; None where a run did not finish."""

    name: str
    expected: int | None
    unsolvable: bool
    found: dict[tuple[str, str], Found] = field(default_factory=dict)
    valid: bool = True
    applicable: dict[str, int] = field(default_factory=dict)
    """By kind; ``all``: of the translator if it keeps what has no influence on the goal, as lifted states do."""
    cost_from_sas: int | None = None

    @property
    def cost(self) -> int | None:
        """What the searches that finished found."""
        return next((found.cost for found in self.found.values() if found.cost is not None), None)

    def complaints(self) -> list[str]:
        """Everything that contradicts Fast Downward."""
        found = []
        ended = {item.status for item in self.found.values()} & {*ENDED}
        if ended - {"exhausted" if self.unsolvable else "solved"}:
            found.append(f"searches ended with {ended}")
        known = {item.cost for item in self.found.values() if item.cost is not None}
        if len(known) > 1 or (self.expected is not None and known - {self.expected}):
            found.append(f"costs {known}, expected {self.expected}")
        for heuristic in ("blind", "hmax"):
            lifted, translated = (self.found[kind, heuristic].status in ENDED for kind in ("lifted", "translated"))
            if translated and not lifted:
                found.append(f"{heuristic} takes too long on lifted states")
        if not self.valid:
            found.append("invalid plan")
        for ours, theirs in (("lifted", "all"), ("ground", "translated")):
            if self.applicable.get(ours) != self.applicable.get(theirs):
                found.append(f"applicable operators: {self.applicable}")
        if self.cost_from_sas != self.cost and self.cost is not None:
            found.append(f"Fast Downward finds cost {self.cost_from_sas} from our SAS file, we find {self.cost}")
        return found


def astar(space: core.StateSpace, h: core.Heuristic, seconds: float) -> tuple[Found, list[str]]:
    """Optimal search; what it found and the names of the plan's operators."""
    f = core.sum([core.g(), h])
    start = time.process_time()
    result = core.search(
        space, core.TieBreakingOpenList([f, h]), f_eval=f, reopen_closed=True, max_time=seconds, max_memory_kb=4_000_000
    )
    cost = result.plan_cost if result.status == "solved" else None
    plan = [space.operator_name(op) for op in result.plan]
    return Found(result.status, cost, time.process_time() - start), plan


def initial_operators(space: core.StateSpace) -> int:
    """The number of actions that change the initial state; there may be several operators of an action.

    The translator has no others, if they never change anything.
    """
    start = space.initial_state()
    return len({space.operator_name(op).strip() for op in space.applicable(start) if space.apply(start, op) != start})


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
    task, by_translator = load_pddl(domain, problem), translated(domain, problem)
    tasks = {"lifted": task, "ground": task, "translated": by_translator}
    makers: dict[str, Callable[[], core.StateSpace]] = {
        "lifted": lambda: core.LiftedSpace(task.native_lifted(), relevant_only=True),
        "ground": lambda: core.GroundSpace(task.ground(TaskLimits(time=seconds))),
        "translated": lambda: core.GroundSpace(by_translator.ground()),
    }
    if not row.unsolvable:  # where the translator has no operators
        row.applicable = {kind: initial_operators(makers[kind]()) for kind in ("ground", "translated")}
        row.applicable["lifted"] = initial_operators(core.LiftedSpace(task.native_lifted()))
        everything = translated(domain, problem, ["--keep-unimportant-variables"])
        row.applicable["all"] = initial_operators(core.GroundSpace(everything.ground()))
    for kind, heuristic in SEARCHES:
        found, plan = astar(makers[kind](), tasks[kind].heuristic(heuristic), seconds)
        row.found[kind, heuristic] = found
        row.valid = row.valid and (found.cost is None or task.validate(plan).valid)
    if row.cost is not None:
        row.cost_from_sas = fast_downward_cost(task.ground().to_sas(), seconds)
    return row


def translated(domain: Path, problem: Path, options: Sequence[str] = ()) -> Task:
    """The task as Fast Downward's translator makes it."""
    with tempfile.TemporaryDirectory() as folder:
        sas = Path(folder) / "output.sas"
        translate(domain, problem, sas, extra_options=options)
        return load_sas(sas)


def main() -> int:
    """Prints a row per pair; the exit code is 1 if anything contradicts Fast Downward."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--time-limit", type=float, default=60, help="CPU seconds per search (60)")
    parser.add_argument("--only", help="some pairs by their names, parted by commas")
    options = parser.parse_args()
    index = json.loads((options.folder / "INDEX.json").read_text())
    bad = solved = 0
    print("| | cost | applicable | " + " | ".join(f"{heuristic}, {kind}" for kind, heuristic in SEARCHES) + " | |")
    print("|---|---|---|" + "---|" * (len(SEARCHES) + 1))
    for name, entry in index.items():
        if options.only and name not in options.only.split(","):
            continue
        row = check(options.folder / name, entry, options.time_limit)
        complaints = row.complaints()
        bad += bool(complaints)
        solved += row.cost is not None
        cost = row.cost if row.cost is not None else "unsolvable" if row.unsolvable else "unknown"
        times = " | ".join(str(row.found[search]) for search in SEARCHES)
        applicable = row.applicable.get("lifted", "")
        print(f"| {name} | {cost} | {applicable} | {times} | {'; '.join(complaints) or 'ok'} |", flush=True)
    print(f"{solved} solved optimally, {bad} with contradictions")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
