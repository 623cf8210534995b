"""PushWorld: an agent pushes shapes, which push each other, until the goal's shapes lie in place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isqrt
from pathlib import Path
from random import Random

from gsp_fd.generate.base import Atom, Generator, Instance, domain_file
from gsp_fd.generate.layout import Cell, grid, neighbours
from gsp_fd.generate.levels import DIGITS, Lines, cell_name, read_lines

DIRECTIONS: dict[str, Cell] = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
AGENT = "a"
LARGEST_SHAPE = 3
SHAPES = (2, 4)
"""Least and largest number of shapes in puzzles that are drawn, the agent's among them."""
WALLS = 0.15
AGENT_WALLS = 2
ROUNDS = 12
"""How often the agent of a puzzle that is drawn goes to a shape and pushes it."""
SMALLEST = 20


@dataclass(slots=True)
class Puzzle:
    """Cells that are no walls, those of them the agent may not enter, and where shapes lie and shall lie."""

    cells: set[Cell] = field(default_factory=set)
    agent_walls: set[Cell] = field(default_factory=set)
    shapes: dict[str, set[Cell]] = field(default_factory=dict)
    goals: dict[str, set[Cell]] = field(default_factory=dict)

    def instance(self) -> Instance:
        """The puzzle in PDDL."""
        cells = sorted(self.cells)
        init: list[Atom] = [("agent", AGENT)]
        init += [("at", shape, cell_name(cell)) for shape, at in self.shapes.items() for cell in sorted(at)]
        for cell in cells:
            for direction, step in DIRECTIONS.items():
                beside = _beside(cell, step)
                if beside in self.cells:
                    init.append(("next", direction, cell_name(cell), cell_name(beside)))
                else:
                    init.append(("wall", direction, cell_name(cell)))
                if beside in self.agent_walls:
                    init.append(("agent-wall", direction, cell_name(cell)))
        goal: list[Atom] = [("at", shape, cell_name(cell)) for shape, at in self.goals.items() for cell in sorted(at)]
        objects = {
            "cell": list(map(cell_name, cells)),
            "direction": list(DIRECTIONS),
            "shape": list(self.shapes),
        }
        return Instance(objects, init, goal)

    def pushed(self, step: Cell) -> set[str]:
        """The shapes that a step of the agent moves; none if it is not possible."""
        moved, queue = {AGENT}, [AGENT]
        for shape in queue:
            ahead = {_beside(cell, step) for cell in self.shapes[shape]}
            if not ahead <= self.cells or (shape == AGENT and ahead & self.agent_walls):
                return set()
            new = [name for name, at in self.shapes.items() if name not in moved and at & ahead]
            moved.update(new)
            queue += new
        return moved

    def move(self, step: Cell) -> None:
        """One step of the agent, if it is possible."""
        for shape in self.pushed(step):
            self.shapes[shape] = {_beside(cell, step) for cell in self.shapes[shape]}


def _beside(cell: Cell, step: Cell) -> Cell:
    return cell[0] + step[0], cell[1] + step[1]


# ---- text


def read_puzzle(file: Path) -> Iterator[Instance]:
    """The puzzle of a ``.pwp`` file: a grid of marks parted by blanks, ``+`` between marks of one cell."""
    rows = [line.split() for line in read_lines(file)]
    while rows and not rows[-1]:
        rows.pop()
    lines = Lines(file, 1, [" ".join(row) for row in rows])
    if not rows:
        raise lines.error("there is no puzzle in this file")
    puzzle = Puzzle(cells=set(grid(len(rows), len(rows[0]))))
    for row, marks in enumerate(rows):
        if len(marks) != len(rows[0]):
            raise lines.error(f"{len(marks)} cells, but the first row has {len(rows[0])}", row)
        for column, text in enumerate(marks):
            for mark in text.lower().split("+"):
                if not _put(puzzle, mark, (row, column)):
                    raise lines.error(f"'{text}' in column {column + 1} is none of . W AW A M1 G1 ...", row)
    _check(puzzle, lines)
    yield puzzle.instance()


def _put(puzzle: Puzzle, mark: str, cell: Cell) -> bool:
    """Notes one mark of a cell; False if there is no such mark."""
    if mark == "w":
        puzzle.cells.discard(cell)
    elif mark == "aw":
        puzzle.agent_walls.add(cell)
    elif mark == "a" or (mark[:1] in ("m", "g") and mark[1:].isdecimal() and len(mark) <= DIGITS):
        places = puzzle.goals if mark[0] == "g" else puzzle.shapes
        places.setdefault(mark.replace("g", "m"), set()).add(cell)
    elif mark != ".":
        return False
    return True


def _check(puzzle: Puzzle, lines: Lines) -> None:
    if AGENT not in puzzle.shapes:
        raise lines.error("there is no agent (A)")
    if not puzzle.goals:
        raise lines.error("there is no goal (G1, ...)")
    taken: dict[Cell, str] = {}
    for name, at in puzzle.shapes.items():
        for cell in sorted(at):
            blocked = cell not in puzzle.cells or (name == AGENT and cell in puzzle.agent_walls)
            if blocked or cell in taken:
                what = "a wall" if blocked else taken[cell].upper()
                raise lines.error(f"{name.upper()} overlaps {what} in column {cell[1] + 1}", cell[0])
            taken[cell] = name
    for name, at in puzzle.goals.items():
        row = min(at)[0]
        if name not in puzzle.shapes:
            raise lines.error(f"G{name[1:]} is the goal of M{name[1:]}, which is not there", row)
        if _form(at) != _form(puzzle.shapes[name]):
            raise lines.error(f"G{name[1:]} has another shape than M{name[1:]}", row)
    puzzle.shapes = dict(sorted(puzzle.shapes.items()))
    puzzle.goals = dict(sorted(puzzle.goals.items()))


def _form(cells: set[Cell]) -> set[Cell]:
    """A shape wherever it lies."""
    top, left = (min(axis) for axis in zip(*cells, strict=True))
    return {(row - top, column - left) for row, column in cells}


# ---- random puzzles


def instance(size: int, rng: Random) -> Instance:
    """A room with some walls and shapes; the goal is where the agent pushed some of them, so it can be reached."""
    while True:
        puzzle = _room(size, rng)
        if puzzle is None:
            continue
        before = {name: set(at) for name, at in puzzle.shapes.items()}
        for _ in range(ROUNDS):
            _push_something(puzzle, rng)
        moved = [name for name, at in puzzle.shapes.items() if name != AGENT and at != before[name]]
        if moved:
            chosen = rng.sample(moved, rng.randint(1, min(2, len(moved))))
            puzzle.goals = {name: puzzle.shapes[name] for name in sorted(chosen)}
            puzzle.shapes = before
            return puzzle.instance()


def _room(size: int, rng: Random) -> Puzzle | None:
    """Shapes in a square room whose cells, shapes and directions are `size` objects; None if they do not fit in."""
    count = rng.randint(*SHAPES)
    free = size - count - len(DIRECTIONS)
    side = isqrt(int(free * (1 + rng.uniform(0, WALLS))) - 1) + 1
    places = grid(side, side)
    puzzle = Puzzle(cells=set(rng.sample(places, free)))
    puzzle.agent_walls = set(rng.sample(sorted(puzzle.cells), rng.randint(0, AGENT_WALLS)))
    left = set(puzzle.cells)
    for name in [AGENT, *(f"m{i}" for i in range(1, count))]:
        shape = _shape(left - puzzle.agent_walls if name == AGENT else left, rng)
        puzzle.shapes[name] = shape
        left -= shape
        if not left:
            return None
    return puzzle


def _shape(free: set[Cell], rng: Random) -> set[Cell]:
    """One to three connected cells."""
    shape = {rng.choice(sorted(free))}
    for _ in range(rng.randint(0, LARGEST_SHAPE - 1)):
        beside = sorted({other for cell in shape for other in neighbours(cell)} & free - shape)
        if beside:
            shape.add(rng.choice(beside))
    return shape


def _push_something(puzzle: Puzzle, rng: Random) -> None:
    """The agent walks towards a random shape, as far as it gets, and some steps on."""
    target = min(puzzle.shapes[rng.choice([name for name in puzzle.shapes if name != AGENT])])
    start = min(puzzle.shapes[AGENT])
    legs = [((1 if end > here else -1) * (1 - axis), (1 if end > here else -1) * axis, abs(end - here))
            for axis, (here, end) in enumerate(zip(start, target, strict=True))]  # fmt: skip
    rng.shuffle(legs)
    for down, right, steps in legs:
        for _ in range(steps + rng.randint(0, 2)):
            puzzle.move((down, right))


GENERATOR = Generator(
    lambda: domain_file("pushworld"),
    instance,
    "cells of the room + shapes + 4 directions, walls left out",
    smallest=SMALLEST,
    training=(SMALLEST, 60),
    largest=200,
    read=read_puzzle,
)
