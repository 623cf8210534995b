"""Grids and connected graphs, the maps most domains are played on."""

from __future__ import annotations

from math import isqrt
from random import Random

Cell = tuple[int, int]
"""Row and column."""
Edge = tuple[int, int]
"""Two nodes of an undirected graph."""

STEPS: tuple[Cell, ...] = ((-1, 0), (1, 0), (0, -1), (0, 1))
"""Up, down, left, right."""


def grid(rows: int, columns: int) -> list[Cell]:
    """All cells, row by row."""
    return [(row, column) for row in range(rows) for column in range(columns)]


def neighbours(cell: Cell) -> list[Cell]:
    """The four cells beside `cell`, on the map or not."""
    return [(cell[0] + down, cell[1] + right) for down, right in STEPS]


def adjacent_pairs(cells: list[Cell]) -> list[tuple[Cell, Cell]]:
    """All ordered pairs of neighbouring cells."""
    known = set(cells)
    return [(cell, beside) for cell in cells for beside in neighbours(cell) if beside in known]


def reachable(start: Cell, cells: set[Cell]) -> set[Cell]:
    """The cells connected to `start` within `cells`."""
    seen, queue = {start}, [start]
    while queue:
        for beside in neighbours(queue.pop()):
            if beside in cells and beside not in seen:
                seen.add(beside)
                queue.append(beside)
    return seen


def rectangles(area: int, longest: float) -> list[tuple[int, int]]:
    """All (rows, columns) with this area whose sides differ at most by the factor `longest`, flat first."""
    flat = [
        (rows, area // rows)
        for rows in range(1, isqrt(area) + 1)
        if area % rows == 0 and area // rows <= longest * rows
    ]
    return flat + [(columns, rows) for rows, columns in reversed(flat) if rows != columns]


def spanning_tree(nodes: int, edges: list[Edge], rng: Random) -> list[Edge]:
    """A random spanning tree of a connected graph (Kruskal's algorithm on shuffled edges)."""
    root = list(range(nodes))

    def find(node: int) -> int:
        while root[node] != node:
            root[node] = root[root[node]]
            node = root[node]
        return node

    tree = []
    for a, b in rng.sample(edges, len(edges)):
        first, second = find(a), find(b)
        if first != second:
            root[first] = second
            tree.append((a, b))
            if len(tree) == nodes - 1:
                break
    return tree


def connected_subgraph(nodes: int, edges: list[Edge], density: float, rng: Random) -> list[Edge]:
    """A spanning tree plus every other edge with probability `density`, in the order of `edges`."""
    tree = set(spanning_tree(nodes, edges, rng))
    return [edge for edge in edges if edge in tree or rng.random() < density]


def complete_graph(nodes: int) -> list[Edge]:
    """All edges between different nodes."""
    return [(a, b) for a in range(nodes) for b in range(a + 1, nodes)]
