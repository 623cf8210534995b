"""Sliding tiles: every tile shall lie on its own cell, with the blank at the top left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isqrt
from pathlib import Path
from random import Random

from gsp_fd.generate.base import Atom, Generator, Instance, domain_file
from gsp_fd.generate.layout import grid, neighbours, rectangles
from gsp_fd.generate.levels import DIGITS, Lines, cell_name, read_lines

BLANK = 0
SMALLEST_BOARD = 4
SHUFFLED = 0.5
"""Share of the boards that are drawn among all; the others are nearer to the goal, for a start."""
MOVES_PER_CELL = 6
LONGEST_SIDE = 2.0
"""Boards that are drawn are at most twice as long as wide."""


def board(numbers: Sequence[int], columns: int) -> Instance:
    """A board, row by row; 0 is the blank. In the goal every number lies at its own place."""
    cells = grid(len(numbers) // columns, columns)
    tiles = [f"t{number}" for number in range(1, len(numbers))]
    init: list[Atom] = [
        ("blank", cell_name(cell)) if number == BLANK else ("at", f"t{number}", cell_name(cell))
        for cell, number in zip(cells, numbers, strict=True)
    ]
    known = set(cells)
    for row, column in cells:
        for predicate, beside in (("right", (row, column + 1)), ("below", (row + 1, column))):
            if beside in known:
                init.append((predicate, cell_name((row, column)), cell_name(beside)))
    goal: list[Atom] = [("at", tile, cell_name(cell)) for tile, cell in zip(tiles, cells[1:], strict=True)]
    return Instance({"cell": list(map(cell_name, cells)), "tile": tiles}, init, goal)


def solvable(numbers: Sequence[int], columns: int) -> bool:
    """Whether the goal can be reached: every move swaps two numbers and moves the blank to a cell of other colour."""
    at = numbers.index(BLANK)
    cycles, seen = 0, set[int]()
    for start in range(len(numbers)):
        cycles += start not in seen
        while start not in seen:
            seen.add(start)
            start = numbers[start]
    swaps = len(numbers) - cycles
    return swaps % 2 == (at // columns + at % columns) % 2


def instance(size: int, rng: Random) -> Instance:
    """A board of up to `size` cells and tiles, shuffled at random or, as often, only by some random moves."""
    rows, columns = rng.choice(_shapes(size))
    numbers = list(range(rows * columns))
    if rng.random() < SHUFFLED:
        rng.shuffle(numbers)
        if not solvable(numbers, columns):
            first, second = (place for place, number in enumerate(numbers) if number in (1, 2))
            numbers[first], numbers[second] = numbers[second], numbers[first]
    else:
        blank = numbers.index(BLANK)
        for _ in range(rng.randint(1, MOVES_PER_CELL * len(numbers))):
            to = rng.choice(_beside(blank, rows, columns))
            numbers[blank], numbers[to] = numbers[to], BLANK
            blank = to
    return board(numbers, columns)


def _beside(place: int, rows: int, columns: int) -> list[int]:
    """The places beside one, all counted row by row."""
    beside = neighbours(divmod(place, columns))
    return [row * columns + column for row, column in beside if 0 <= row < rows and 0 <= column < columns]


def _shapes(size: int) -> list[tuple[int, int]]:
    """Rows and columns of the largest boards with at most `size` cells and tiles."""
    for area in range((size + 1) // 2, SMALLEST_BOARD - 1, -1):
        shapes = [shape for shape in rectangles(area, LONGEST_SIDE) if min(shape) > 1]
        if shapes:
            return shapes
    raise ValueError(f"there is no board of size {size}")


def read_boards(file: Path) -> Iterator[Instance]:
    """One square board per line: its numbers row by row, 0 for the blank."""
    found = False
    for number, line in enumerate(read_lines(file), 1):
        if line:
            found = True
            yield _board(Lines(file, number, [line]))
    if not found:
        raise Lines(file, 1, []).error("there is no board in this file")


def _board(line: Lines) -> Instance:
    words = line.rows[0].split()
    for word in words:
        if not (word.isdecimal() and len(word) <= DIGITS):
            raise line.error(f"'{word}' is no number")
    numbers = list(map(int, words))
    side = isqrt(len(numbers))
    if side < 2 or side * side != len(numbers):
        raise line.error(f"{len(numbers)} numbers are no square board (4, 9, 16, 25, ...)")
    missing = sorted(set(range(len(numbers))) - set(numbers))
    if missing:
        raise line.error(f"the numbers of a board of {len(numbers)} cells start at 0: {missing[0]} is missing")
    if not solvable(numbers, side):
        raise line.error("this board cannot be solved: an odd number of swaps parts it from the goal")
    return board(numbers, side)


GENERATOR = Generator(
    lambda: domain_file("sliding-tiles"),
    instance,
    "cells + tiles of the board; the largest board that fits",
    smallest=2 * SMALLEST_BOARD - 1,
    training=(7, 31),
    largest=199,
    read=read_boards,
)
