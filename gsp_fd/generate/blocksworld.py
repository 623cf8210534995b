"""Blocksworld with four operators: a hand rebuilds towers."""

from __future__ import annotations

from itertools import pairwise
from random import Random

from pddl.action import Action
from pddl.core import Domain
from pddl.logic import Predicate, variables
from pddl.logic.base import And
from pddl.requirements import Requirements

from gsp_fd.generate.base import UNTYPED, Atom, Generator, Instance, names

NEW_TOWER = 0.1
"""Probability that the next block starts a new tower: ten blocks a tower, as in the published instances."""


def domain() -> Domain:
    """The domain of the IPC 2023 learning track."""
    block, below = variables("ob underob")
    clear, table = Predicate("clear", block), Predicate("on-table", block)
    holding, on = Predicate("holding", block), Predicate("on", block, below)
    empty = Predicate("arm-empty")
    return Domain(
        "blocksworld",
        requirements=[Requirements.STRIPS],
        predicates=[clear, table, empty, holding, on],
        actions=[
            Action("pickup", [block], And(clear, table, empty), And(holding, ~clear, ~table, ~empty)),
            Action("putdown", [block], holding, And(clear, empty, table, ~holding)),
            Action(
                "stack",
                [block, below],
                And(clear(below), holding),
                And(empty, clear, on, ~clear(below), ~holding),
            ),
            Action(
                "unstack",
                [block, below],
                And(on, clear, empty),
                And(holding, clear(below), ~on, ~clear, ~empty),
            ),
        ],
    )


def instance(size: int, rng: Random) -> Instance:
    """Random towers, and other random towers as a complete goal."""
    blocks = names("b", size)
    return Instance({UNTYPED: blocks}, [("arm-empty",), *towers(blocks, rng)], towers(blocks, rng))


def towers(blocks: list[str], rng: Random) -> list[Atom]:
    """The atoms of random towers, each from top to bottom."""
    stacks: list[list[str]] = []
    for block in rng.sample(blocks, len(blocks)):
        if not stacks or rng.random() < NEW_TOWER:
            stacks.append([])
        stacks[-1].append(block)
    atoms: list[Atom] = []
    for stack in stacks:
        atoms.append(("clear", stack[0]))
        atoms += [("on", above, below) for above, below in pairwise(stack)]
        atoms.append(("on-table", stack[-1]))
    return atoms


GENERATOR = Generator(domain, instance, "blocks", smallest=2, training=(2, 29), largest=488)
