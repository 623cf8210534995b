"""Floortile: robots paint a chequered floor; they paint only up and down, and never step on paint."""

from __future__ import annotations

from random import Random

from pddl.action import Action
from pddl.core import Domain
from pddl.logic import Predicate, variables
from pddl.logic.base import And
from pddl.requirements import Requirements

from gsp_fd.generate.base import Atom, Generator, Instance, names
from gsp_fd.generate.layout import Cell, grid, rectangles

COLOURS = ["white", "black"]
OBJECTS_PER_ROBOT = 6
"""At least. Where there are more robots, they stand in each other's way, as they do on large floors."""
DIRECTIONS: dict[str, Cell] = {"up": (1, 0), "down": (-1, 0), "right": (0, 1), "left": (0, -1)}
"""`(up y x)` says that y is above x; rows are counted upwards."""


def domain() -> Domain:
    """The domain of the IPC 2023 learning track."""
    (robot,) = variables("r", types=["robot"])
    here, there = variables("x y", types=["tile"])
    colour, new = variables("c c2", types=["color"])
    at, has = Predicate("robot-at", robot, here), Predicate("robot-has", robot, colour)
    clear, painted = Predicate("clear", here), Predicate("painted", here, colour)
    available, free = Predicate("available-color", colour), Predicate("free-color", robot)
    beside = {direction: Predicate(direction, here, there) for direction in DIRECTIONS}
    paint = [
        Action(
            f"paint_{direction}",
            [robot, there, here, colour],
            And(has, at, beside[direction](there, here), clear(there)),
            And(~clear(there), painted(there, colour)),
        )
        for direction in ("up", "down")
    ]
    move = [
        Action(
            f"move_{direction}",
            [robot, here, there],
            And(at, beside[direction](there, here), clear(there)),
            And(at(robot, there), ~at, clear, ~clear(there)),
        )
        for direction in DIRECTIONS
    ]
    change = Action("change_color", [robot, colour, new], And(has, available(new)), And(~has, has(robot, new)))
    return Domain(
        "floortile",
        requirements=[Requirements.TYPING],
        types=dict.fromkeys(["robot", "tile", "color"], "object"),
        predicates=[at, *beside.values(), clear, painted, has, available, free],
        actions=[change, *paint, *move],
    )


def instance(size: int, rng: Random) -> Instance:
    """Robots anywhere; all rows but row 0 to be painted.

    Solvable as long as there are no more robots than columns: all robots can gather in row 0, and from there
    any of them can paint any column from top to bottom, backing down.
    """
    rows, columns, count = rng.choice(_shapes(size))
    cells = [(row, column + 1) for row, column in grid(rows, columns)]
    robots = names("robot", count)
    places = rng.sample(cells, count)
    init: list[Atom] = []
    for robot, place in zip(robots, places, strict=True):
        init += [("robot-at", robot, _tile(place)), ("robot-has", robot, rng.choice(COLOURS))]
    init += [("available-color", colour) for colour in COLOURS]
    init += [("clear", _tile(cell)) for cell in cells if cell not in places]
    known = set(cells)
    for direction, (up, right) in DIRECTIONS.items():
        for row, column in cells:
            if (row + up, column + right) in known:
                init.append((direction, _tile((row + up, column + right)), _tile((row, column))))
    goal = [("painted", _tile(cell), COLOURS[sum(cell) % 2]) for cell in cells if cell[0] > 0]
    return Instance({"tile": [_tile(cell) for cell in cells], "robot": robots, "color": COLOURS}, init, goal)


def _shapes(size: int) -> list[tuple[int, int, int]]:
    """All (rows with row 0, columns, robots) with `size` objects: fairly square, and not too many robots."""
    for longest in (2, 3, size):  # fairly square, where there is such a floor
        shapes = [
            (rows, columns, robots)
            for robots in range(1, max(1, size // OBJECTS_PER_ROBOT) + 1)
            for rows, columns in rectangles(size - len(COLOURS) - robots, longest + 1)
            if robots <= columns <= longest * (rows - 1) and rows - 1 <= longest * columns
        ]
        if shapes:
            return shapes
    raise ValueError(f"no floor of {size} objects")


def _tile(cell: Cell) -> str:
    return f"tile_{cell[0]}_{cell[1]}"


GENERATOR = Generator(
    domain,
    instance,
    "tiles (with the unpainted row 0) + robots + 2 colours",
    smallest=5,
    training=(5, 45),
    largest=1022,
)
