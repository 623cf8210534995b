"""How states of each domain are drawn: which tile lies where. A domain is known by its predicates, not by its name."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from gsp_fd.pddl import ast
from gsp_fd.validate import State

Cell = tuple[int, int]
"""Row and column; the smallest ones are at the top left."""


@dataclass(frozen=True, slots=True)
class Tile:
    """What one place shows: a kind, which gives it colour and form, and a short text."""

    kind: str
    text: str = ""


def place(name: str) -> Cell:
    """Row and column, which are the last two numbers in an object's name; ValueError if there are none."""
    numbers = re.findall(r"\d+", name)
    if len(numbers) < 2:
        raise ValueError(f"'{name}' names no place")
    return int(numbers[-2]), int(numbers[-1])


class Drawing:
    """Draws the states of one problem. ValueError if its objects do not name places."""

    predicates: ClassVar[dict[str, int]]
    """Predicates of the domain and how many arguments they have; it may have more."""
    walled: ClassVar[bool] = False
    """Whether there is a wall around everything."""

    def __init__(self, problem: ast.Problem) -> None:
        self.init: State = {}
        for predicate, *objects in problem.init:
            self.init.setdefault(predicate, set()).add(tuple(objects))
        parts = problem.goal.parts if isinstance(problem.goal, ast.And) else (problem.goal,)
        self.goals = [part for part in parts if isinstance(part, ast.Atom)]
        self.floor = {place(name) for name in self.places()}
        if not self.floor:
            raise ValueError("there is no place")

    def places(self) -> Iterable[str]:
        """The objects that are places."""
        raise NotImplementedError

    def draw(self, state: State) -> Iterator[tuple[Cell, Tile]]:
        """Tiles in a state, later ones over earlier ones."""
        raise NotImplementedError

    def frames(self, states: Iterable[State]) -> list[dict[Cell, Tile]]:
        """The tiles of every state."""
        return [dict(self.draw(state)) for state in states]

    def goal_places(self, predicate: str) -> set[Cell]:
        """The last arguments of goal atoms of a predicate."""
        return {place(atom.args[-1]) for atom in self.goals if atom.predicate == predicate}

    def room(self, state: State, robot: str, boxes: str) -> Iterator[tuple[Cell, Tile]]:
        """Floor, goals, boxes and a robot, where the last arguments of predicates are places."""
        goals = self.goal_places(boxes)
        for cell in self.floor:
            yield cell, Tile("goal" if cell in goals else "floor")
        for *_, at in state.get(boxes, ()):
            yield place(at), Tile("box-home" if place(at) in goals else "box")
        for *_, at in state.get(robot, ()):
            yield place(at), Tile("robot-goal" if place(at) in goals else "robot")


class SokobanBoxes(Drawing):
    """Our Sokoban with interchangeable boxes."""

    predicates: ClassVar = {"player": 1, "box": 1, "clear": 1, "next": 2, "line": 3}
    walled: ClassVar = True

    def places(self) -> Iterable[str]:
        return (name for atom in self.init.get("next", ()) for name in atom)

    def draw(self, state: State) -> Iterator[tuple[Cell, Tile]]:
        return self.room(state, "player", "box")


class Sokoban(Drawing):
    """Sokoban of the competition of 2023."""

    predicates: ClassVar = {"at-robot": 1, "at": 2, "clear": 1, "adjacent": 3}
    walled: ClassVar = True

    def places(self) -> Iterable[str]:
        return (name for atom in self.init.get("adjacent", ()) for name in atom[:2])

    def draw(self, state: State) -> Iterator[tuple[Cell, Tile]]:
        return self.room(state, "at-robot", "at")


class Visitall(Drawing):
    """A robot that has to visit places; those it still has to are goals."""

    predicates: ClassVar = {"at-robot": 1, "visited": 1, "connected": 2}

    def places(self) -> Iterable[str]:
        return (name for atom in self.init.get("connected", ()) for name in atom)

    def draw(self, state: State) -> Iterator[tuple[Cell, Tile]]:
        goals = self.goal_places("visited")
        for cell in self.floor:
            yield cell, Tile("goal" if cell in goals else "floor")
        for (at,) in state.get("visited", ()):
            yield place(at), Tile("done")
        for (at,) in state.get("at-robot", ()):
            yield place(at), Tile("robot")


class Floortile(Drawing):
    """Robots that paint tiles; the first letter of a colour stands on a tile, small as long as it is a wish."""

    predicates: ClassVar = {"robot-at": 2, "painted": 2, "up": 2, "right": 2}

    def places(self) -> Iterable[str]:
        return (name for predicate in ("up", "right") for atom in self.init.get(predicate, ()) for name in atom)

    def draw(self, state: State) -> Iterator[tuple[Cell, Tile]]:
        upwards = any(place(above) > place(below) for above, below in self.init.get("up", ()))

        def at(name: str) -> Cell:
            row, column = place(name)
            return -row if upwards else row, column

        for row, column in self.floor:
            yield (-row if upwards else row, column), Tile("floor")
        for atom in self.goals:
            if atom.predicate == "painted":
                yield at(atom.args[0]), Tile("goal", atom.args[1][0].lower())
        for name, colour in state.get("painted", ()):
            yield at(name), Tile(f"paint-{'dark' if colour == 'black' else 'light'}", colour[0].upper())
        for number, (_, name) in enumerate(sorted(state.get("robot-at", ())), 1):
            yield at(name), Tile("robot", str(number))


class SlidingTiles(Drawing):
    """A board of numbered tiles."""

    predicates: ClassVar = {"at": 2, "blank": 1, "right": 2, "below": 2}

    def places(self) -> Iterable[str]:
        return (name for predicate in ("right", "below") for atom in self.init.get(predicate, ()) for name in atom)

    def draw(self, state: State) -> Iterator[tuple[Cell, Tile]]:
        homes = {atom.args for atom in self.goals if atom.predicate == "at"}
        for cell in self.floor:
            yield cell, Tile("floor")
        for tile, at in state.get("at", ()):
            yield place(at), Tile("box-home" if (tile, at) in homes else "box", tile.lstrip("t"))


class Witness(Drawing):
    """Nodes and the ways between them in even rows and columns, squares in odd ones."""

    predicates: ClassVar = {"tip": 1, "free": 1, "open": 2, "square": 2, "between": 4, "border": 2}

    def places(self) -> Iterable[str]:
        return (name for name_ in ("border", "between") for atom in self.init.get(name_, ()) for name in atom[:2])

    def frames(self, states: Iterable[State]) -> list[dict[Cell, Tile]]:
        result: list[dict[Cell, Tile]] = []
        line: list[Cell] = []
        for state in states:
            line += [place(node) for (node,) in state["tip"]]
            result.append(dict(self.draw_line(line)))
        return result

    def draw_line(self, line: list[Cell]) -> Iterator[tuple[Cell, Tile]]:
        """The line up to a state."""
        rows, columns = (max(axis) for axis in zip(*self.floor, strict=True))
        for row in range(2, 2 * rows + 1):
            for column in range(2, 2 * columns + 1):
                cell = row % 2 == 1 and column % 2 == 1
                kind = "floor" if cell else "node" if row % 2 == 0 and column % 2 == 0 else "way"
                yield (row, column), Tile(kind)
        for name, colour in self.init.get("square", ()):
            row, column = place(name)
            number = re.sub(r"\D", "", colour)
            yield (2 * row + 1, 2 * column + 1), Tile(f"colour-{int(number or 0) % 8}", number)
        for row, column in self.goal_places("tip"):
            yield (2 * row, 2 * column), Tile("node-goal")
        for start, end in itertools.pairwise(line):
            yield (start[0] + end[0], start[1] + end[1]), Tile("line")
            yield (2 * start[0], 2 * start[1]), Tile("line")
        yield (2 * line[-1][0], 2 * line[-1][1]), Tile("tip")


class PushWorld(Drawing):
    """Shapes by their numbers; goals in the colours of their shapes, walls of the agent hatched."""

    predicates: ClassVar = {"pushed": 2, "at": 2, "next": 3, "agent": 1, "agent-wall": 2}
    walled: ClassVar = True

    def places(self) -> Iterable[str]:
        return (name for atom in self.init.get("next", ()) for name in atom[1:])

    def draw(self, state: State) -> Iterator[tuple[Cell, Tile]]:
        agents = {shape for (shape,) in self.init.get("agent", ())}
        goals = {atom.args for atom in self.goals if atom.predicate == "at"}
        for cell in self.floor:
            yield cell, Tile("floor")
        for cell in self.agent_walls():
            yield cell, Tile("agent-wall")
        for shape, at in sorted(goals):
            yield place(at), Tile("goal", _number(shape))
        for shape, at in sorted(state.get("at", ())):
            kind = "robot" if shape in agents else f"colour-{int(_number(shape) or 0) % 8}"
            yield place(at), Tile(kind, "" if shape in agents else _number(shape))

    def agent_walls(self) -> Iterator[Cell]:
        """The cells that only the agent must not enter."""
        forbidden = self.init.get("agent-wall", set())
        for direction, start, end in self.init.get("next", ()):
            if (direction, start) in forbidden:
                yield place(end)


def _number(name: str) -> str:
    return "".join(re.findall(r"\d+", name))


DRAWINGS: tuple[type[Drawing], ...] = (SokobanBoxes, Sokoban, Visitall, Floortile, SlidingTiles, Witness, PushWorld)
