"""Films as text: played in a terminal, one frame below the other elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TextIO

from gsp_fd.picture.frames import Film

SIGNS = {
    "wall": "#", "floor": " ", "goal": ".", "box": "$", "box-home": "*", "robot": "@", "robot-goal": "+", "done": "~",
    "node": "o", "way": " ", "node-goal": "x", "line": "%", "tip": "@", "agent-wall": "/",
}  # fmt: skip
"""As Sokoban levels are written, where they have a sign for it."""
LETTERS = ("goal", "box", "box-home", "robot")
"""Kinds whose text says more than their sign."""
SECONDS_PER_STEP = 0.15


def frame_lines(film: Film, frame: int) -> list[str]:
    """One frame as lines of equally wide columns, below what led to it."""
    signs = [[_sign(film, frame, row, column) for column in range(film.columns)] for row in range(film.rows)]
    width = film_width(film)
    title = "Initial state" if frame == 0 else f"Step {frame} of {len(film.actions)}: {film.actions[frame - 1]}"
    return [title, *("".join(sign.rjust(width) for sign in row).rstrip() for row in signs)]


def film_width(film: Film) -> int:
    """Characters per column: of the longest sign, and one more for the eye unless all are single walls and rooms."""
    return 1 + max(len(_sign(film, 0, row, column)) for row in range(film.rows) for column in range(film.columns))


def _sign(film: Film, frame: int, row: int, column: int) -> str:
    tile = film.tile(frame, row, column)
    if tile.text and (tile.kind in LETTERS or tile.kind not in SIGNS):
        return f"({tile.text})" if tile.kind == "goal" else tile.text
    return SIGNS.get(tile.kind, "?")


def play(film: Film, stream: TextIO, pause: float = SECONDS_PER_STEP) -> None:
    """Shows all frames: each in place of the one before in a terminal, else below it."""
    in_place = stream.isatty()
    for number, lines in enumerate(_frames(film)):
        if in_place and number:
            time.sleep(pause)
            stream.write(f"\x1b[{len(lines)}A\x1b[J")
        stream.write("\n".join(lines) + "\n")
        stream.flush()


def _frames(film: Film) -> Iterator[list[str]]:
    for frame in range(len(film.frames)):
        yield [*frame_lines(film, frame), ""]
