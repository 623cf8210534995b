"""Visitall: a robot visits cells of a grid with holes."""

from __future__ import annotations

from math import isqrt
from random import Random

from pddl.action import Action
from pddl.core import Domain
from pddl.logic import Predicate, variables
from pddl.logic.base import And
from pddl.requirements import Requirements

from gsp_fd.generate.base import Atom, Generator, Instance
from gsp_fd.generate.layout import Cell, adjacent_pairs, neighbours


def domain() -> Domain:
    """The domain of the 2011 competition."""
    origin, target = variables("curpos nextpos", types=["place"])
    connected = Predicate("connected", origin, target)
    robot, visited = Predicate("at-robot", origin), Predicate("visited", origin)
    return Domain(
        "grid-visit-all",
        requirements=[Requirements.TYPING],
        types={"place": "object"},
        predicates=[connected, robot, visited],
        actions=[
            Action(
                "move",
                [origin, target],
                And(robot, connected),
                And(robot(target), ~robot, visited(target)),
            )
        ],
    )


def instance(size: int, rng: Random) -> Instance:
    """A connected random part of a square grid; half of its cells or more are to be visited."""
    cells = _region(size, rng)
    start = rng.choice(cells)
    share = 1.0 if rng.random() < 0.5 else rng.uniform(0.5, 1)
    init: list[Atom] = [("at-robot", _name(start)), ("visited", _name(start))]
    init += [("connected", _name(a), _name(b)) for a, b in adjacent_pairs(cells)]
    goal = [("visited", _name(cell)) for cell in cells if rng.random() < share]
    return Instance({"place": [_name(cell) for cell in cells]}, init, goal)


def _region(size: int, rng: Random) -> list[Cell]:
    """`size` connected cells, grown inside the smallest square with up to a quarter of holes, row by row."""
    side = isqrt(size + rng.randint(0, size // 3) - 1) + 1
    start = (rng.randrange(side), rng.randrange(side))
    region, border = {start}, [start]
    while len(region) < size:
        # growing from a random border cell; cells that cannot grow any more are dropped from the border
        index = rng.randrange(len(border))
        grown = [cell for cell in neighbours(border[index]) if cell not in region and all(0 <= x < side for x in cell)]
        if grown:
            cell = rng.choice(grown)
            region.add(cell)
            border.append(cell)
        else:
            border[index] = border[-1]
            border.pop()
    return sorted(region)


def _name(cell: Cell) -> str:
    return f"loc-x{cell[1]}-y{cell[0]}"


GENERATOR = Generator(domain, instance, "cells", smallest=2, training=(2, 36), largest=900)
