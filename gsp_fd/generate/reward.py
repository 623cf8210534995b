"""Reward: walk around blocked cells of a grid and pick up all rewards."""

from __future__ import annotations

from math import isqrt
from random import Random

from pddl.action import Action
from pddl.core import Domain
from pddl.logic import Predicate, variables
from pddl.logic.base import And
from pddl.requirements import Requirements

from gsp_fd.generate.base import Atom, Generator, Instance
from gsp_fd.generate.layout import Cell, adjacent_pairs, grid, reachable


def domain() -> Domain:
    """The domain of the generalised-planning literature."""
    cell, origin, target = variables("x from to", types=["cell"])
    at, adjacent = Predicate("at", cell), Predicate("adjacent", origin, target)
    reward, picked, unblocked = (Predicate(name, cell) for name in ("reward", "picked", "unblocked"))
    return Domain(
        "reward-strips",
        requirements=[Requirements.STRIPS, Requirements.TYPING],
        types={"cell": "object"},
        predicates=[at, reward, unblocked, picked, adjacent],
        actions=[
            Action(
                "move",
                [origin, target],
                And(adjacent, at(origin), unblocked(target)),
                And(~at(origin), at(target)),
            ),
            Action("pick-reward", [cell], And(at, reward), And(~reward, picked)),
        ],
    )


def instance(size: int, rng: Random) -> Instance:
    """A nearly square grid with up to 30 % of the cells blocked; rewards lie where the agent can get."""
    rows = isqrt(size)
    cells = grid(rows, size // rows)
    start = rng.choice(cells)
    blocked = rng.uniform(0, 0.3)
    unblocked = [cell for cell in cells if cell == start or rng.random() >= blocked]
    within = sorted(reachable(start, set(unblocked)))
    rewards = rng.sample(within, rng.randint(1, max(1, len(within) // 3)))
    init: list[Atom] = [("at", _name(start))]
    init += [("reward", _name(cell)) for cell in rewards]
    init += [("unblocked", _name(cell)) for cell in unblocked]
    init += [("adjacent", _name(a), _name(b)) for a, b in adjacent_pairs(cells)]
    objects = {"cell": [_name(cell) for cell in cells]}
    return Instance(objects, init, [("picked", _name(cell)) for cell in rewards])


def _name(cell: Cell) -> str:
    return f"c_{cell[0]}_{cell[1]}"


GENERATOR = Generator(
    domain, instance, "cells of the nearly square grid that fits", smallest=2, training=(4, 49), largest=900
)
