"""Maze: the way out, with a derived predicate that a learned heuristic can use and no action needs."""

from __future__ import annotations

from math import isqrt
from random import Random

from gsp_fd.generate.base import Atom, Generator, Instance, domain_file
from gsp_fd.generate.layout import Edge, adjacent_pairs, grid, spanning_tree
from gsp_fd.generate.levels import cell_name


def instance(size: int, rng: Random) -> Instance:
    """Doors between the cells of a square, with one way between any two; the exit is as far away as can be.

    The last row may be short.
    """
    columns = isqrt(size)
    cells = grid(-(-size // columns), columns)[:size]
    number = {cell: index for index, cell in enumerate(cells)}
    walls = [(number[one], number[other]) for one, other in adjacent_pairs(cells) if one < other]
    doors = sorted(spanning_tree(size, walls, rng))
    start = _farthest(rng.randrange(size), doors)
    end = cells[_farthest(start, doors)]
    init: list[Atom] = [("at", cell_name(cells[start])), ("exit", cell_name(end))]
    for pair in doors:
        one, other = (cell_name(cells[node]) for node in pair)
        init += [("door", one, other), ("door", other, one)]
    return Instance({"cell": list(map(cell_name, cells))}, init, [("at", cell_name(end))])


def _farthest(start: int, doors: list[Edge]) -> int:
    """The last cell that a flood from another one reaches."""
    reached = [start]
    for cell in reached:
        beside = (sum(door) - cell for door in doors if cell in door)
        reached += [other for other in beside if other not in reached]
    return reached[-1]


GENERATOR = Generator(lambda: domain_file("maze"), instance, "cells", smallest=2, training=(4, 36), largest=400)
