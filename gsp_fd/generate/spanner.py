"""Spanner: on a one-way corridor, pick up enough spanners before the gate; each tightens one nut."""

from __future__ import annotations

from itertools import pairwise
from random import Random

from pddl.action import Action
from pddl.core import Domain
from pddl.logic import Predicate, variables
from pddl.logic.base import And
from pddl.requirements import Requirements

from gsp_fd.generate.base import Atom, Generator, Instance, names, share


def domain() -> Domain:
    """The domain of the IPC 2023 learning track."""
    place, start, end = variables("l start end", types=["location"])
    (man,) = variables("m", types=["man"])
    (spanner,) = variables("s", types=["spanner"])
    (nut,) = variables("n", types=["nut"])
    (thing,) = variables("m", types=["locatable"])
    at, link = Predicate("at", thing, place), Predicate("link", start, end)
    carrying, usable = Predicate("carrying", man, spanner), Predicate("usable", spanner)
    tightened, loose = Predicate("tightened", nut), Predicate("loose", nut)
    return Domain(
        "spanner",
        requirements=[Requirements.STRIPS, Requirements.TYPING],
        types={
            "location": "object",
            "locatable": "object",
            "man": "locatable",
            "nut": "locatable",
            "spanner": "locatable",
        },
        predicates=[at, carrying, usable, link, tightened, loose],
        actions=[
            Action("walk", [start, end, man], And(at(man, start), link), And(~at(man, start), at(man, end))),
            Action(
                "pickup_spanner",
                [place, spanner, man],
                And(at(man, place), at(spanner, place)),
                And(~at(spanner, place), carrying),
            ),
            Action(
                "tighten_nut",
                [place, spanner, man, nut],
                And(at(man, place), at(nut, place), carrying, usable, loose),
                And(~loose, ~usable, tightened),
            ),
        ],
    )


def instance(size: int, rng: Random) -> Instance:
    """Spanners anywhere on the corridor, all nuts at the gate; solvable, as there are enough spanners."""
    items = size - 3  # all but the man, the shed and the gate
    corridor = min(share(rng, items, 0.12, 0.6), items - 2)
    count = share(rng, items - corridor, 1 / 3, 1 / 2)
    count = min(count, (items - corridor) // 2)
    nuts, spanners = names("nut", count), names("spanner", items - corridor - count)
    places = names("location", corridor)
    init: list[Atom] = [("at", "bob", "shed")]
    for spanner in spanners:
        init += [("at", spanner, rng.choice(places)), ("usable", spanner)]
    for nut in nuts:
        init += [("at", nut, "gate"), ("loose", nut)]
    way = ["shed", *places, "gate"]
    init += [("link", here, there) for here, there in pairwise(way)]
    return Instance(
        {"man": ["bob"], "spanner": spanners, "nut": nuts, "location": way},
        init,
        [("tightened", nut) for nut in nuts],
    )


GENERATOR = Generator(
    domain,
    instance,
    "the man + spanners + nuts + locations (with shed and gate)",
    smallest=6,
    training=(6, 28),
    largest=833,
)
