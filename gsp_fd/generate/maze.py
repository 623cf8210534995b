"""Maze: the way out, with a derived predicate that a learned heuristic can use and no action needs."""

from __future__ import annotations

from math import isqrt
from random import Random

from gsp_fd.generate.base import Atom, Generator, Instance, domain_file
from gsp_fd.generate.layout import adjacent_pairs, grid, spanning_tree
from gsp_fd.generate.levels import cell_name


def instance(size: int, rng: Random) -> Instance:
    """Doors between the cells of a square, so that there is one way between any two; start and exit anywhere.

    The last row may be short.
    """
    columns = isqrt(size)
    cells = grid(-(-size // columns), columns)[:size]
    number = {cell: index for index, cell in enumerate(cells)}
    walls = [(number[one], number[other]) for one, other in adjacent_pairs(cells) if one < other]
    start, end = rng.sample(cells, 2)
    init: list[Atom] = [("at", cell_name(start)), ("exit", cell_name(end))]
    for pair in sorted(spanning_tree(size, walls, rng)):
        one, other = (cell_name(cells[node]) for node in pair)
        init += [("door", one, other), ("door", other, one)]
    return Instance({"cell": list(map(cell_name, cells))}, init, [("at", cell_name(end))])


GENERATOR = Generator(lambda: domain_file("maze"), instance, "cells", smallest=2, training=(4, 36), largest=400)
