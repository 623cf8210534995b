"""A film as a page: one HTML file that plays it and loads nothing."""

from __future__ import annotations

import html
import itertools
from collections.abc import Iterator
from importlib import resources
from string import Template
from typing import Any

from gsp_fd.common.pages import content_policy, script_data
from gsp_fd.picture.frames import Film


def render(film: Film) -> str:
    """The page of a film. Without its script it still shows the first state and the plan."""
    style, script = _file("page.css"), _file("page.js")
    return Template(_file("page.html")).substitute(
        policy=content_policy(style, script),
        title=html.escape(film.title),
        steps=f"{len(film.actions)} step{'' if len(film.actions) == 1 else 's'}",
        rows="".join(_rows(film)),
        plan="".join(f"<li>{html.escape(action)}</li>" for action in film.actions),
        data=script_data(_data(film)),
        style=style,
        script=script,
    )


def _file(name: str) -> str:
    return resources.files("gsp_fd.picture").joinpath(name).read_text(encoding="utf-8")


def _rows(film: Film) -> Iterator[str]:
    """The first frame as rows of a table."""
    for row in range(film.rows):
        tiles = (film.tile(0, row, column) for column in range(film.columns))
        cells = "".join(f'<td class="{html.escape(tile.kind)}">{html.escape(tile.text)}</td>' for tile in tiles)
        yield f"<tr>{cells}</tr>"


def _data(film: Film) -> dict[str, Any]:
    """What the script reads: the tiles there are, and for every step which cells get which of them."""
    tiles: dict[tuple[str, str], int] = {}
    frames = []
    for number in range(len(film.frames)):
        frame = [film.tile(number, row, column) for row in range(film.rows) for column in range(film.columns)]
        frames.append([tiles.setdefault((tile.kind, tile.text), len(tiles)) for tile in frame])
    steps = [
        [[cell, new] for cell, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
        for before, after in itertools.pairwise(frames)
    ]
    return {"tiles": list(tiles), "first": frames[0], "steps": steps, "actions": film.actions}
