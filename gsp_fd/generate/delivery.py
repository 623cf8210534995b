"""Delivery: on a grid, a truck for one package brings all packages to one cell."""

from __future__ import annotations

from random import Random

from pddl.action import Action
from pddl.core import Domain
from pddl.logic import Predicate, variables
from pddl.logic.base import And
from pddl.requirements import Requirements

from gsp_fd.generate.base import Atom, Generator, Instance, names
from gsp_fd.generate.layout import Cell, adjacent_pairs, grid, rectangles

TRUCK = "t1"


def domain() -> Domain:
    """The domain of the generalised-planning literature."""
    cell, origin, target = variables("x from to", types=["cell"])
    (truck,) = variables("t", types=["truck"])
    (package,) = variables("p", types=["package"])
    (thing,) = variables("y", types=["locatable"])
    adjacent, at = Predicate("adjacent", origin, target), Predicate("at", thing, cell)
    carrying, empty = Predicate("carrying", truck, package), Predicate("empty", truck)
    return Domain(
        "delivery",
        requirements=[Requirements.STRIPS, Requirements.TYPING],
        types={"cell": "object", "locatable": "object", "package": "locatable", "truck": "locatable"},
        predicates=[adjacent, at, carrying, empty],
        actions=[
            Action(
                "pick-package",
                [truck, package, cell],
                And(at(package, cell), at(truck, cell), empty),
                And(~at(package, cell), ~empty, carrying),
            ),
            Action(
                "drop-package",
                [truck, package, cell],
                And(at(truck, cell), carrying),
                And(empty, ~carrying, at(package, cell)),
            ),
            Action(
                "move",
                [truck, origin, target],
                And(adjacent, at(truck, origin)),
                And(~at(truck, origin), at(truck, target)),
            ),
        ],
    )


def instance(size: int, rng: Random) -> Instance:
    """A full grid, packages and truck anywhere, one destination."""
    rows, columns, count = rng.choice(_shapes(size))
    cells, packages = grid(rows, columns), names("p", count)
    init: list[Atom] = [("at", TRUCK, _name(rng.choice(cells))), ("empty", TRUCK)]
    init += [("at", package, _name(rng.choice(cells))) for package in packages]
    init += [("adjacent", _name(a), _name(b)) for a, b in adjacent_pairs(cells)]
    target = _name(rng.choice(cells))
    objects = {"cell": [_name(cell) for cell in cells], "package": packages, "truck": [TRUCK]}
    return Instance(objects, init, [("at", package, target) for package in packages])


def _shapes(size: int) -> list[tuple[int, int, int]]:
    """All (rows, columns, packages) with `size` objects, fairly square, up to a third of them packages."""
    for longest in (2, size):  # only tiny grids need to be long and narrow
        shapes = [
            (rows, columns, count)
            for count in range(1, max(1, min(size // 3, 40)) + 1)
            for rows, columns in rectangles(size - 1 - count, longest)
        ]
        if shapes:
            return shapes
    raise ValueError(f"no grid of {size} objects")


def _name(cell: Cell) -> str:
    return f"c_{cell[0]}_{cell[1]}"


GENERATOR = Generator(domain, instance, "cells + packages + the truck", smallest=4, training=(4, 40), largest=500)
