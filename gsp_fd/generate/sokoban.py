"""Sokoban: push every box to its own goal cell."""

from __future__ import annotations

from collections import deque
from random import Random

from pddl.action import Action
from pddl.core import Domain
from pddl.logic import Constant, Predicate, variables
from pddl.logic.base import And
from pddl.requirements import Requirements

from gsp_fd.generate.base import Atom, Generator, Instance, names
from gsp_fd.generate.layout import Cell, grid, neighbours

DIRECTIONS: dict[str, Cell] = {"down": (1, 0), "up": (-1, 0), "left": (0, -1), "right": (0, 1)}
WALLS = (0.2, 0.7)
"""Least and largest share of walls among the cells that the hidden solution does not use: open halls to corridors."""
SMALLEST_GRID = 5
PULLS = 20
"""How often a box is tried to be pulled before the room is given up."""


def domain() -> Domain:
    """The domain of the IPC 2023 learning track."""
    place, origin, target = variables("l from to", types=["location"])
    robot_at, box_at, box_to = variables("rloc bloc floc", types=["location"])
    (way,) = variables("dir", types=["direction"])
    (box,) = variables("b", types=["box"])
    robot, at, clear = Predicate("at-robot", place), Predicate("at", box, place), Predicate("clear", place)
    adjacent = Predicate("adjacent", origin, target, way)
    return Domain(
        "sokoban",
        requirements=[Requirements.TYPING],
        types=dict.fromkeys(["location", "direction", "box"], "object"),
        constants=[Constant(direction, "direction") for direction in DIRECTIONS],
        predicates=[robot, at, adjacent, clear],
        actions=[
            Action(
                "move",
                [origin, target, way],
                And(clear(target), robot(origin), adjacent),
                And(robot(target), ~robot(origin)),
            ),
            Action(
                "push",
                [robot_at, box_at, box_to, way, box],
                And(
                    robot(robot_at),
                    at(box, box_at),
                    clear(box_to),
                    adjacent(robot_at, box_at, way),
                    adjacent(box_at, box_to, way),
                ),
                And(
                    *(robot(box_at), at(box, box_to), clear(box_at)),
                    *(~robot(robot_at), ~at(box, box_at), ~clear(box_to)),
                ),
            ),
        ],
    )


class _Warehouse:
    """A square room played backwards: boxes start on their goals and are pulled away.

    Every cell the robot or a box passes becomes floor and stays floor, so the reverse of all pulls solves the
    instance.
    """

    def __init__(self, side: int, boxes: int, rng: Random) -> None:
        self.rng = rng
        self.side = side
        inside = [(row, column) for row, column in grid(side, side) if self.inside((row, column))]
        self.goals = rng.sample(inside, boxes)
        self.boxes = list(self.goals)
        self.occupied = set(self.boxes)
        self.robot = rng.choice([cell for cell in inside if cell not in self.occupied])
        walls = rng.uniform(*WALLS)
        self.floor = {cell for cell in inside if rng.random() >= walls} | {*self.boxes, self.robot}

    def inside(self, cell: Cell) -> bool:
        """Whether the cell is not part of the outer wall."""
        return all(0 < x < self.side - 1 for x in cell)

    def free(self, cell: Cell) -> bool:
        """Whether the robot may walk there, through inner walls too."""
        return self.inside(cell) and cell not in self.occupied

    def walk(self, target: Cell) -> bool:
        """Take a shortest way to `target` and carve it, or stay if the boxes leave none."""
        come_from: dict[Cell, Cell] = {self.robot: self.robot}
        queue = deque([self.robot])
        while queue and target not in come_from:
            cell = queue.popleft()
            for beside in neighbours(cell):
                if beside not in come_from and self.free(beside):
                    come_from[beside] = cell
                    queue.append(beside)
        if target not in come_from:
            return False
        cell = self.robot = target
        while come_from[cell] != cell:
            self.floor.add(cell)
            cell = come_from[cell]
        return True

    def pull(self, box: int, step: Cell, length: int) -> None:
        """Pull the box up to `length` cells, as far as there is room."""
        for done in range(length):
            (row, column), (down, right) = self.boxes[box], step
            here, there = (row + down, column + right), (row + 2 * down, column + 2 * right)
            if not (self.free(here) and self.free(there)) or (done == 0 and not self.walk(here)):
                return
            self.occupied.remove(self.boxes[box])
            self.occupied.add(here)
            self.boxes[box], self.robot = here, there
            self.floor |= {here, there}

    def pull_along(self, box: int, axis: int) -> None:
        """Pull the box along its column (axis 0) or row (axis 1), by up to half of the room's side."""
        now, reach = self.boxes[box][axis], self.side // 2
        target = self.rng.randint(max(1, now - reach), min(self.side - 2, now + reach))
        sign = 1 if target > now else -1
        self.pull(box, (sign, 0) if axis == 0 else (0, sign), abs(target - now))

    def scatter(self) -> bool:
        """Pull every box along its row and its column, then walk away; False if that did not work out."""
        for box in self.rng.sample(range(len(self.boxes)), len(self.boxes)):
            for _ in range(PULLS):
                for axis in self.rng.sample((0, 1), 2):
                    self.pull_along(box, axis)
                if self.boxes[box] != self.goals[box]:
                    break
            else:
                return False
        return self.walk(self.rng.choice(sorted(self.floor - self.occupied)))


def instance(size: int, rng: Random) -> Instance:
    """A square room with inner walls, solvable because it was made by pulling the boxes from their goals."""
    side, count = _counts(size)
    while not (room := _Warehouse(side, count, rng)).scatter():
        pass
    cells = grid(side, side)
    boxes = names("box", count)
    init: list[Atom] = [("at-robot", _name(room.robot))]
    init += [("at", box, _name(cell)) for box, cell in zip(boxes, room.boxes, strict=True)]
    occupied = set(room.boxes)
    init += [("clear", _name(cell)) for cell in cells if cell in room.floor and cell not in occupied]
    for cell in cells:
        for direction, (down, right) in DIRECTIONS.items():
            beside = (cell[0] + down, cell[1] + right)
            if cell in room.floor and beside in room.floor:
                init.append(("adjacent", _name(cell), _name(beside), direction))
    goal = [("at", box, _name(cell)) for box, cell in zip(boxes, room.goals, strict=True)]
    return Instance({"location": [_name(cell) for cell in cells], "box": boxes}, init, goal)


def _counts(size: int) -> tuple[int, int]:
    """Side and boxes: the largest room with at most `size` objects, and as many boxes as fit into the rest."""
    side = SMALLEST_GRID
    while _objects(side + 1, _fewest(side + 1)) <= size:
        side += 1
    return side, min(_most(side), size - _objects(side, 0))


def _most(side: int) -> int:
    """Boxes of a room at most, as in the published ones: half of its side, nearly all of it in the largest."""
    return max(1, (side - 4) // 2, side - 15)


def _fewest(side: int) -> int:
    return max(1, _most(side) * 2 // 3)


def _objects(side: int, boxes: int) -> int:
    return side * side + boxes + len(DIRECTIONS)


def _name(cell: Cell) -> str:
    return f"loc_{cell[0] + 1}_{cell[1] + 1}"


GENERATOR = Generator(
    domain,
    instance,
    "cells of the square grid (with walls) + boxes + 4 directions; the largest grid that fits",
    smallest=_objects(SMALLEST_GRID, _fewest(SMALLEST_GRID)),
    training=(54, 177),
    largest=9884,
)
