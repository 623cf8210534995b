"""The Witness with coloured squares: a line from start to goal that parts the colours."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from gsp_fd.generate.base import Atom, Generator, Instance, domain_file
from gsp_fd.generate.layout import STEPS, Cell, adjacent_pairs, grid, spanning_tree
from gsp_fd.generate.levels import DIGITS, Lines, blocks, cell_name

COLOURS = 4
SQUARES = (0.3, 0.8)
"""Least and largest share of coloured cells in puzzles that are drawn."""
MOST_CELLS = 50_000
FIELDS = ("Size", "Init", "Goal", "Colors")


@dataclass(frozen=True, slots=True)
class Puzzle:
    """A grid of cells, row by row from the top, the nodes at their corners, and the colours of some cells."""

    rows: int
    columns: int
    start: Cell
    goal: Cell
    colours: dict[Cell, int]

    def instance(self) -> Instance:
        """The puzzle in PDDL."""
        cells, nodes = grid(self.rows, self.columns), grid(self.rows + 1, self.columns + 1)
        squares: list[Atom] = [("square", cell_name(cell), f"k{colour}") for cell, colour in self.colours.items()]
        init: list[Atom] = [("tip", _node(self.start))]
        init += [("free", _node(node)) for node in nodes if node != self.start]
        init += [("open", cell_name(one), cell_name(other)) for one, other in adjacent_pairs(cells)]
        init += squares
        known = set(cells)
        for start, end in adjacent_pairs(nodes):
            beside = [cell_name(cell) for cell in sides(start, end) if cell in known]
            name = "between" if len(beside) == len(STEPS) // 2 else "border"
            init.append((name, _node(start), _node(end), *(beside if name == "between" else [])))
        objects = {
            "node": list(map(_node, nodes)),
            "cell": list(map(cell_name, cells)),
            "colour": [f"k{colour}" for colour in sorted(set(self.colours.values()))],
        }
        return Instance(objects, init, [("tip", _node(self.goal)), ("not", "(mixed)")])


def sides(start: Cell, end: Cell) -> tuple[Cell, Cell]:
    """The two cells between which the way from one node to the next leads; one may lie outside the grid."""
    row, column = min(start, end)
    return ((row - 1, column), (row, column)) if start[0] == end[0] else ((row, column - 1), (row, column))


def _node(node: Cell) -> str:
    return f"n_{node[0] + 1}_{node[1] + 1}"


# ---- text


def read_puzzles(file: Path) -> Iterator[Instance]:
    """The puzzles of a text file, parted by blank lines: Size, Init, Goal and Colors, a line each.

    A position is a line, counted from the bottom, and a column.
    """
    for block in blocks(file):
        yield _puzzle(block).instance()


def _puzzle(lines: Lines) -> Puzzle:
    fields: dict[str, tuple[int, str]] = {}
    for row, text in enumerate(lines.rows):
        name, colon, value = text.partition(":")
        if not colon or name not in FIELDS:
            raise lines.error(f"'{text}' does not begin with {', '.join(f'{field}:' for field in FIELDS)}", row)
        if name in fields:
            raise lines.error(f"{name} is given twice", row)
        fields[name] = row, value.strip()
    for name in FIELDS:
        if name not in fields:
            raise lines.error(f"{name} is missing")
    row, text = fields["Size"]
    rows, columns = _numbers(lines, row, text, 2)
    if not 1 <= rows * columns <= MOST_CELLS:
        raise lines.error(f"a puzzle has 1 to {MOST_CELLS} cells, not {rows * columns}", row)
    nodes = {name: _position(lines, *fields[name], rows + 1, columns + 1) for name in ("Init", "Goal")}
    if nodes["Init"] == nodes["Goal"]:
        raise lines.error("Init and Goal are the same node", fields["Goal"][0])
    colours: dict[Cell, int] = {}
    row, text = fields["Colors"]
    for item in filter(None, text.split("|")):
        *place, colour = _numbers(lines, row, item, 3)
        cell = _position(lines, row, " ".join(map(str, place)), rows, columns)
        if colour < 1 or cell in colours:
            raise lines.error(f"'{item}': " + ("colours count from 1" if colour < 1 else "a second colour"), row)
        colours[cell] = colour
    return Puzzle(rows, columns, nodes["Init"], nodes["Goal"], colours)


def _numbers(lines: Lines, row: int, text: str, count: int) -> list[int]:
    if len(text.split()) != count or not all(re.fullmatch(rf"\d{{1,{DIGITS}}}", word) for word in text.split()):
        raise lines.error(f"'{text}' is not {count} whole numbers", row)
    return list(map(int, text.split()))


def _position(lines: Lines, row: int, text: str, rows: int, columns: int) -> Cell:
    line, column = _numbers(lines, row, text, 2)
    if line >= rows or column >= columns:
        raise lines.error(f"'{text}' lies outside: lines 0-{rows - 1}, columns 0-{columns - 1}", row)
    return rows - 1 - line, column


# ---- random puzzles


def instance(size: int, rng: Random) -> Instance:
    """A grid of which a hidden line between two nodes of the border parts regions, each of one colour."""
    rows, columns = shape = _shape(size)
    colours = min(COLOURS, rows, size - _objects(*shape, 0))
    if rng.random() < 0.5:
        rows, columns = columns, rows
    nodes = grid(rows + 1, columns + 1)
    border = [(row, column) for row, column in nodes if row in (0, rows) or column in (0, columns)]
    while True:
        start, goal = rng.sample(border, 2)
        regions = _regions(grid(rows, columns), _line(nodes, start, goal, rng))
        drawn = _colour(regions, colours, rng)
        if len(set(drawn.values())) == colours:
            return Puzzle(rows, columns, start, goal, drawn).instance()


def _line(nodes: list[Cell], start: Cell, goal: Cell, rng: Random) -> list[Cell]:
    """The way from start to goal in a random spanning tree: it winds, and passes no node twice."""
    number = {node: i for i, node in enumerate(nodes)}
    edges = [(number[a], number[b]) for a, b in adjacent_pairs(nodes) if a < b]
    ways: dict[int, list[int]] = {i: [] for i in range(len(nodes))}
    for a, b in spanning_tree(len(nodes), edges, rng):
        ways[a].append(b)
        ways[b].append(a)
    come_from = {number[goal]: number[goal]}
    queue = [number[goal]]
    for node in queue:
        for beside in ways[node]:
            if beside not in come_from:
                come_from[beside] = node
                queue.append(beside)
    line = [number[start]]
    while line[-1] != number[goal]:
        line.append(come_from[line[-1]])
    return [nodes[node] for node in line]


def _regions(cells: list[Cell], line: list[Cell]) -> list[list[Cell]]:
    """The cells of every region that the line leaves."""
    closed = {frozenset(sides(*step)) for step in itertools.pairwise(line)}
    ways: dict[Cell, list[Cell]] = {cell: [] for cell in cells}
    for one, other in adjacent_pairs(cells):
        if frozenset((one, other)) not in closed:
            ways[one].append(other)
    regions, seen = [], set[Cell]()
    for cell in cells:
        if cell not in seen:
            seen.add(cell)
            region = [cell]
            for one in region:
                region += (new := [other for other in ways[one] if other not in seen])
                seen.update(new)
            regions.append(region)
    return regions


def _colour(regions: list[list[Cell]], colours: int, rng: Random) -> dict[Cell, int]:
    """A colour for every region, and which of its cells show it."""
    share = rng.uniform(*SQUARES)
    chosen = {}
    rng.shuffle(regions)
    for number, region in enumerate(regions):
        colour = number + 1 if number < colours else rng.randint(1, colours)
        chosen.update({cell: colour for cell in region if rng.random() < share})
    return dict(sorted(chosen.items()))


def _shape(size: int) -> tuple[int, int]:
    """Rows and columns, equal or one more, of the largest grid with at most `size` objects, two colours among them."""
    rows, columns = 1, 1
    while True:
        larger = (rows + 1, columns) if rows < columns else (rows, columns + 1)
        if _objects(*larger, 2) > size:
            return rows, columns
        rows, columns = larger


def _objects(rows: int, columns: int, colours: int) -> int:
    return rows * columns + (rows + 1) * (columns + 1) + colours


GENERATOR = Generator(
    lambda: domain_file("witness"),
    instance,
    "cells and nodes of the grid + up to 4 colours; the largest grid that fits",
    smallest=_objects(2, 2, 2),
    training=(_objects(2, 2, 2), _objects(4, 4, 4)),
    largest=_objects(10, 10, 4),
    read=read_puzzles,
)
