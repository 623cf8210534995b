"""Sokoban with interchangeable boxes: every goal cell shall hold some box."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isqrt
from pathlib import Path
from random import Random

from gsp_fd.common.errors import driver_error
from gsp_fd.generate.base import Atom, Generator, Instance, domain_file
from gsp_fd.generate.layout import STEPS, Cell, grid, neighbours, reachable
from gsp_fd.generate.levels import Lines, blocks, cell_name

SYMBOLS = "# @+$*.-_"
"""Wall, floor, player (on a goal), box (on a goal), goal, and two more ways to write floor."""


COMMENT = ";"
FLOOR_SHARE = (0.4, 0.8)
"""Of the inside of a room that is drawn: corridors to halls."""
CELLS_PER_BOX = (8, 16)
PULLS_PER_BOX = 20
SMALLEST_ROOM = 6


@dataclass(frozen=True, slots=True)
class Level:
    """A level: the cells that are no walls, and what is on them."""

    floor: frozenset[Cell]
    player: Cell
    boxes: frozenset[Cell]
    goals: frozenset[Cell]

    def instance(self) -> Instance:
        """The level in PDDL."""
        floor = sorted(self.floor)
        init: list[Atom] = [("player", cell_name(self.player))]
        init += [("box" if cell in self.boxes else "clear", cell_name(cell)) for cell in floor]
        init += [("next", *map(cell_name, pair)) for pair in _in_a_row(floor, 2)]
        init += [("line", *map(cell_name, triple)) for triple in _in_a_row(floor, 3)]
        goal: list[Atom] = [("box", cell_name(cell)) for cell in sorted(self.goals)]
        return Instance({"cell": list(map(cell_name, floor))}, init, goal)


def _in_a_row(floor: list[Cell], length: int) -> list[tuple[Cell, ...]]:
    """All ways to go straight through this many cells."""
    known = set(floor)
    rows = [
        tuple((row + i * down, column + i * right) for i in range(length))
        for row, column in floor
        for down, right in STEPS
    ]
    return [cells for cells in rows if known.issuperset(cells)]


def read_levels(file: Path) -> Iterator[Instance]:
    """The levels of a text file in the usual notation, which blank lines part; a level may begin with comments."""
    found = False
    for block in blocks(file):
        first = next((i for i, row in enumerate(block.rows) if not row.startswith(COMMENT)), None)
        if first is not None:
            found = True
            yield _level(Lines(block.file, block.first + first, block.rows[first:])).instance()
    if not found:
        raise driver_error("there is no level in this file, only comments", file)


def _level(lines: Lines) -> Level:
    marks: dict[str, set[Cell]] = {symbol: set() for symbol in SYMBOLS}
    for row, text in enumerate(lines.rows):
        for column, symbol in enumerate(text):
            if symbol not in marks:
                raise lines.error(f"'{symbol}' stands for nothing in a Sokoban level (of {SYMBOLS})", row)
            marks[symbol].add((row, column))
    players = sorted(marks["@"] | marks["+"])
    if len(players) != 1:
        raise lines.error(f"a level has one player (@ or +), this one {len(players)}", players[1][0] if players else 0)
    floor = reachable(players[0], {cell for cells in marks.values() for cell in cells} - marks["#"])
    return _check(lines, marks, floor, players[0])


def _check(lines: Lines, marks: dict[str, set[Cell]], floor: set[Cell], player: Cell) -> Level:
    known = marks["#"] | floor
    for row, column in sorted(floor):
        if any((row + down, column + right) not in known for down, right in STEPS):
            raise lines.error(f"the player can leave the level at column {column + 1}: a wall is missing", row)
    boxes, goals = marks["$"] | marks["*"], marks["."] | marks["*"] | marks["+"]
    for what, cells in (("box", marks["$"]), ("goal", marks["."])):
        for row, column in sorted(cells - floor):
            raise lines.error(f"the player cannot reach the {what} in column {column + 1}", row)
    boxes, goals = boxes & floor, goals & floor
    if not goals:
        raise lines.error("there is no goal (. or * or +)")
    if len(boxes) < len(goals):
        raise lines.error(f"only {len(boxes)} of {len(goals)} goals can get a box: there are too few boxes")
    return Level(frozenset(floor), player, frozenset(boxes), frozenset(goals))


def instance(size: int, rng: Random) -> Instance:
    """A room of `size` cells, solvable because it was made by pulling boxes from their goals."""
    while True:
        floor = _room(size, rng)
        count = max(1, size // rng.randint(*CELLS_PER_BOX))
        goals = frozenset(rng.sample(sorted(floor), count))
        boxes, player = _pull(floor, goals, rng)
        if boxes != goals:
            return Level(floor, player, boxes, goals).instance()


def _room(size: int, rng: Random) -> frozenset[Cell]:
    """A connected room of `size` cells, which grows along a random walk."""
    side = max(3, isqrt(int(size / rng.uniform(*FLOOR_SHARE))) + 1)
    inside = set(grid(side, side))
    cell = rng.choice(sorted(inside))
    floor = {cell}
    while len(floor) < size:
        down, right = rng.choice(STEPS)
        for _ in range(rng.randint(1, side)):
            beside = (cell[0] + down, cell[1] + right)
            if beside in inside and len(floor) < size:
                floor.add(cell := beside)
    return frozenset(floor)


def _pull(floor: frozenset[Cell], goals: frozenset[Cell], rng: Random) -> tuple[frozenset[Cell], Cell]:
    """Boxes and player after random pulls; the boxes stand on the goals where no pull is possible."""
    boxes = set(goals)
    player = rng.choice(sorted(floor - boxes))
    for _ in range(PULLS_PER_BOX * len(goals)):
        free = reachable(player, set(floor - boxes))
        pulls = [
            (box, here, (2 * here[0] - box[0], 2 * here[1] - box[1]))
            for box in sorted(boxes)
            for here in neighbours(box)
            if here in free
        ]
        pulls = [pull for pull in pulls if pull[2] in floor and pull[2] not in boxes]
        if not pulls:
            break
        box, here, player = rng.choice(pulls)
        boxes.remove(box)
        boxes.add(here)
    return frozenset(boxes), rng.choice(sorted(reachable(player, set(floor - boxes))))


GENERATOR = Generator(
    lambda: domain_file("sokoban-boxes"),
    instance,
    "cells of the room, walls left out",
    smallest=SMALLEST_ROOM,
    training=(8, 50),
    largest=400,
    read=read_levels,
)
