"""A plan as a film: one frame per state, each a grid of tiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gsp_fd.pddl import Domain, Problem
from gsp_fd.picture.drawings import DRAWINGS, Cell, Drawing, Tile
from gsp_fd.validate import plan_states


@dataclass(frozen=True, slots=True)
class Film:
    """The states of a plan, the first before any action; a cell that a frame leaves out is a wall."""

    title: str
    rows: int
    columns: int
    frames: list[dict[Cell, Tile]]
    actions: list[str]

    def tile(self, frame: int, row: int, column: int) -> Tile:
        """What a frame shows at a place."""
        return self.frames[frame].get((row, column), Tile("wall"))


def film(domain: Domain, problem: Problem, plan: Sequence[str]) -> Film | None:
    """The film of a valid plan; None where nobody knows how to draw the domain."""
    drawing = find_drawing(domain, problem)
    if drawing is None:
        return None
    frames = drawing.frames(plan_states(domain, problem, plan))
    margin = 1 if drawing.walled else 0
    rows, columns = zip(*(cell for frame in frames for cell in frame), strict=True)
    top, left = min(rows) - margin, min(columns) - margin
    moved = [{(row - top, column - left): tile for (row, column), tile in frame.items()} for frame in frames]
    height, width = max(rows) + margin + 1 - top, max(columns) + margin + 1 - left
    return Film(problem.name, height, width, moved, list(plan))


def find_drawing(domain: Domain, problem: Problem) -> Drawing | None:
    """The drawing whose predicates the domain has; None if there is none, or the objects do not name places."""
    arities = {name: len(predicate.parameters) for name, predicate in domain.predicates.items()}
    for kind in DRAWINGS:
        if kind.predicates.items() <= arities.items():
            try:
                return kind(problem)
            except ValueError:
                continue
    return None
