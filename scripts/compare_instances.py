"""Generated problems beside published ones of the same sizes: what they are made of and how hard they are.

    python scripts/compare_instances.py BENCHMARKS/ipc2023-learning [--domains sokoban,floortile] [--every 3]

For every problem of DOMAIN/training one of the same number of objects is generated. Each row is a measure, with its
mean and its range over the published and over the generated problems, and the ratio of the means: objects of a type,
initial atoms and goals of a predicate, neighbours of an object in a map, hFF of the initial state, and what lazy greedy
search with hFF and its preferred operators expands.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import mean

import numpy as np

from gsp_fd import _core
from gsp_fd.generate import GENERATORS, domain_text, generate
from gsp_fd.generate.variants import hff_search
from gsp_fd.pddl import LiftedTask
from gsp_fd.task import Task, load_pddl

EXPANSIONS = 10_000
"""At most, for the search; a problem that is not solved counts as this many."""

Measures = dict[str, float]


def measures(task: Task) -> Measures:
    """Everything that is compared of one problem."""
    lifted = task.lifted
    assert lifted is not None, f"{task.name} is outside the lifted fragment"
    declared = Counter(lifted.types[kind] for kind in lifted.object_types[lifted.constants :])
    found: Measures = {f"objects: {name}": count for name, count in declared.items()}
    init = Counter(lifted.predicates[predicate] for predicate, _ in lifted.init)
    goals = Counter(lifted.predicates[predicate] for predicate, _ in lifted.goal_positive)
    found |= {f"initial atoms: {name}": count for name, count in init.items()}
    found |= {f"goals: {name}": count for name, count in goals.items()}
    found |= {"objects": len(lifted.objects), "initial atoms": init.total(), "goals": goals.total()}
    found |= dict(_degrees(lifted))
    if special := SPECIAL.get(lifted.domain_name):
        found |= special(lifted)
    return found | _hardness(task)


def _degrees(task: LiftedTask) -> Iterator[tuple[str, float]]:
    """Neighbours per object of the static relations between objects of one type: maps, and what can be seen."""
    for predicate, types in enumerate(task.predicate_types):
        if len(types) == 2 and types[0] == types[1] and not task.fluent[predicate]:
            objects = len(task.type_members[types[0]])
            yield (
                f"per object: {task.predicates[predicate]}",
                sum(atom[0] == predicate for atom in task.init) / objects,
            )


def _hardness(task: Task) -> Measures:
    ground = task.ground()
    space, hff = _core.GroundSpace(ground), _core.heuristic("ff", ground)
    initial = float(np.asarray(hff.evaluate(space, np.array([space.initial_state()], np.int32)))[0])
    result = hff_search(_core.GroundSpace(ground), hff, EXPANSIONS)
    found = {"initial hFF": initial, "expansions": float(EXPANSIONS), "solved": float(result.status == "solved")}
    if result.status == "solved":
        found |= {"expansions": float(result.expanded), "plan length": float(len(result.plan))}
    return found


def _cells(names: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Row and column of the objects whose names say so."""
    matches = {name: re.search(r"(\d+)[-_](\d+)$", name) for name in names}
    return {name: (int(match[1]), int(match[2])) for name, match in matches.items() if match}


def _floor(task: LiftedTask) -> Measures:
    """Floortile: the shape of the floor, and how far up the robots stand."""
    cells = _cells(task.objects)
    rows, columns = (max(cell[axis] for cell in cells.values()) for axis in (0, 1))
    robots = [objects[1] for predicate, objects in task.init if task.predicates[predicate] == "robot-at"]
    heights = [cells[task.objects[tile]][0] / rows for tile in robots]
    colours = {objects[1] for predicate, objects in task.init if task.predicates[predicate] == "robot-has"}
    return {
        "rows": rows,
        "columns": columns,
        "rows over columns": rows / columns,
        "robots per column": len(robots) / columns,
        "height of robots": mean(heights),
        "colours of robots": len(colours),
    }


def _room(task: LiftedTask) -> Measures:
    """Sokoban: how open the room is, what of it the robot can reach, and how far the boxes are from their goals."""
    cells = _cells(task.objects)
    beside: dict[int, set[int]] = defaultdict(set)
    places: dict[int, int] = {}
    robot = 0
    for predicate, objects in task.init:
        name = task.predicates[predicate]
        if name == "adjacent":
            beside[objects[0]].add(objects[1])
        elif name == "at":
            places[objects[0]] = objects[1]
        elif name == "at-robot":
            robot = objects[0]
    reached, queue = {robot}, [robot]
    while queue:
        new = beside[queue.pop()] - reached
        reached |= new
        queue += new
    distances = [
        sum(abs(a - b) for a, b in zip(cells[task.objects[places[box]]], cells[task.objects[goal]], strict=True))
        for _, (box, goal) in task.goal_positive
    ]
    corridor = [cell for cell in reached if len(beside[cell]) <= 2]
    return {
        "floor per cell": sum(map(bool, beside.values())) / len(cells),
        "reachable per cell": len(reached) / len(cells),
        "corridors per reachable cell": len(corridor) / len(reached),
        "distance of a box to its goal": mean(distances),
        "boxes on their goals": sum(distance == 0 for distance in distances),
    }


def _towers(task: LiftedTask) -> Measures:
    """Blocksworld: towers, initially and in the goal."""
    on_table = task.predicates.index("on-table")
    goals = sum(predicate == on_table for predicate, _ in task.goal_positive)
    blocks = len(task.objects)
    return {
        "blocks per initial tower": blocks / sum(predicate == on_table for predicate, _ in task.init),
        "blocks per goal tower": blocks / goals if goals else 0,
    }


SPECIAL: dict[str, Callable[[LiftedTask], Measures]] = {
    "blocksworld": _towers,
    "floortile": _floor,
    "sokoban": _room,
}


def table(theirs: Sequence[Measures], ours: Sequence[Measures]) -> list[str]:
    """A Markdown table: one row per measure, a missing measure is 0 but for plan lengths."""
    lines = ["| measure | published | generated | ratio |", "|---|---|---|---|"]
    for name in sorted({name for found in (*theirs, *ours) for name in found}):
        columns = [[found[name] for found in side if name in found] for side in (theirs, ours)]
        if name != "plan length":
            columns = [[found.get(name, 0.0) for found in side] for side in (theirs, ours)]
        means = [mean(values) if values else 0.0 for values in columns]
        ratio = f"{means[1] / means[0]:.2f}" if means[0] else "–"
        cells = [f"{_number(m)} ({_range(values)})" for m, values in zip(means, columns, strict=True)]
        lines.append(f"| {name} | {cells[0]} | {cells[1]} | {ratio} |")
    return lines


def _range(values: Sequence[float]) -> str:
    return f"{_number(min(values))}–{_number(max(values))}" if values else "none"


def _number(value: float) -> str:
    return f"{value:.0f}" if value == int(value) or abs(value) >= 100 else f"{value:.3g}"


def compare(folder: Path, every: int, seed: int) -> list[str]:
    """The table of one domain; ``folder`` holds domain.pddl and training/."""
    name = folder.name
    theirs, ours = [], []
    with tempfile.TemporaryDirectory() as scratch:
        domain, problem = Path(scratch) / "domain.pddl", Path(scratch) / "problem.pddl"
        domain.write_text(domain_text(name))
        for number, file in enumerate(sorted((folder / "training").glob("*.pddl"))[::every]):
            published = load_pddl(folder / "domain.pddl", file)
            assert published.lifted is not None
            size = max(len(published.lifted.objects), GENERATORS[name].smallest)
            problem.write_text(generate(name, size, seed + number))
            theirs.append(measures(published))
            ours.append(measures(load_pddl(domain, problem)))
    return table(theirs, ours)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("benchmarks", type=Path, help="folder of the domains, with DOMAIN/training/*.pddl")
    parser.add_argument("--domains", metavar="A,B", help="only these")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every N-th published problem (1)")
    parser.add_argument("--seed", type=int, default=0, help="of the generated problems (0)")
    options = parser.parse_args()
    names = options.domains.split(",") if options.domains else list(GENERATORS)
    folders = [options.benchmarks / name for name in names if (options.benchmarks / name / "training").is_dir()]
    if not folders:
        parser.error(f"{options.benchmarks}: there is no DOMAIN/training of {', '.join(names)}")
    for folder in folders:
        print("\n".join([f"## {folder.name}", "", *compare(folder, options.every, options.seed), ""]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
