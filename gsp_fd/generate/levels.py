"""Levels of puzzles as text: what the readers of all formats share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gsp_fd.common.errors import InputError, driver_error
from gsp_fd.generate.layout import Cell

DIGITS = 6
"""Of a number in a level, at most."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Consecutive lines of a file, and the number of the first of them."""

    file: Path
    first: int
    rows: list[str]

    def error(self, message: str, row: int = 0) -> InputError:
        """What is wrong with a row."""
        return driver_error(message, self.file, self.first + row)


def read_lines(file: Path) -> list[str]:
    """The lines of a text file, without blanks at their ends."""
    try:
        return [line.rstrip() for line in file.read_text(encoding="ascii").splitlines()]
    except UnicodeDecodeError:
        raise driver_error("this is no ASCII text", file) from None
    except OSError as error:
        raise driver_error(f"cannot be read: {error.strerror}", file) from None


def blocks(file: Path) -> Iterator[Lines]:
    """The groups of lines between blank lines; an error if there are none."""
    rows: list[str] = []
    found = False
    for number, line in enumerate([*read_lines(file), ""], 1):
        if line:
            rows.append(line)
        elif rows:
            found = True
            yield Lines(file, number - len(rows), rows)
            rows = []
    if not found:
        raise driver_error("there is no level in this file", file)


def cell_name(cell: Cell) -> str:
    """The object of a cell; rows and columns count from 1, at the top left."""
    return f"c_{cell[0] + 1}_{cell[1] + 1}"
