"""Miconic: a lift serves passengers."""

from __future__ import annotations

from itertools import combinations
from random import Random

from pddl.action import Action
from pddl.core import Domain
from pddl.logic import Predicate, variables
from pddl.logic.base import And
from pddl.requirements import Requirements

from gsp_fd.generate.base import Atom, Generator, Instance, names, other, share


def domain() -> Domain:
    """The domain of the IPC 2023 learning track."""
    floor, low, high = variables("f f1 f2", types=["floor"])
    (person,) = variables("p", types=["passenger"])
    origin, target = Predicate("origin", person, floor), Predicate("destin", person, floor)
    above, lift = Predicate("above", low, high), Predicate("lift-at", floor)
    boarded, served = Predicate("boarded", person), Predicate("served", person)
    return Domain(
        "miconic",
        requirements=[Requirements.STRIPS, Requirements.TYPING],
        types={"passenger": "object", "floor": "object"},
        predicates=[origin, target, above, boarded, served, lift],
        actions=[
            Action("board", [floor, person], And(lift, origin), And(boarded, ~origin)),
            Action("depart", [floor, person], And(lift, target, boarded), And(~boarded, served)),
            Action("up", [low, high], And(lift(low), above(low, high)), And(lift(high), ~lift(low))),
            Action("down", [low, high], And(lift(low), above(high, low)), And(lift(high), ~lift(low))),
        ],
    )


def instance(size: int, rng: Random) -> Instance:
    """Passengers wait on random floors for a ride to another one; `above f1 f2` says that f2 is higher."""
    count = min(share(rng, size, 0.15, 0.6), size - 2)
    people, floors = names("p", count), names("f", size - count)
    init: list[Atom] = [("lift-at", rng.choice(floors))]
    for person in people:
        origin = rng.choice(floors)
        init += [("origin", person, origin), ("destin", person, other(rng, floors, origin))]
    init += [("above", low, high) for low, high in combinations(floors, 2)]
    return Instance({"passenger": people, "floor": floors}, init, [("served", person) for person in people])


GENERATOR = Generator(domain, instance, "passengers + floors", smallest=3, training=(3, 30), largest=681)
