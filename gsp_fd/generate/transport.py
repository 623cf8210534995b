"""Transport: vehicles of different capacities deliver packages on a road network."""

from __future__ import annotations

from itertools import pairwise
from random import Random

from pddl.action import Action
from pddl.core import Domain
from pddl.logic import Predicate, variables
from pddl.logic.base import And
from pddl.requirements import Requirements

from gsp_fd.generate.base import Atom, Generator, Instance, names, other, share
from gsp_fd.generate.layout import complete_graph, connected_subgraph


def domain() -> Domain:
    """The domain of the IPC 2023 learning track."""
    place, origin, target = variables("l l1 l2", types=["location"])
    (vehicle,) = variables("v", types=["vehicle"])
    (package,) = variables("p", types=["package"])
    (thing,) = variables("x", types=["locatable"])
    less, more = variables("s1 s2", types=["size"])
    road, at = Predicate("road", origin, target), Predicate("at", thing, place)
    inside, capacity = Predicate("in", package, vehicle), Predicate("capacity", vehicle, less)
    before = Predicate("capacity-predecessor", less, more)
    return Domain(
        "transport",
        requirements=[Requirements.TYPING],
        types={
            **dict.fromkeys(["size", "location", "locatable"], "object"),
            **dict.fromkeys(["vehicle", "package"], "locatable"),
        },
        predicates=[road, at, inside, capacity, before],
        actions=[
            Action(
                "drive",
                [vehicle, origin, target],
                And(at(vehicle, origin), road),
                And(~at(vehicle, origin), at(vehicle, target)),
            ),
            Action(
                "pick-up",
                [vehicle, place, package, less, more],
                And(at(vehicle, place), at(package, place), before, capacity(vehicle, more)),
                And(~at(package, place), inside, capacity, ~capacity(vehicle, more)),
            ),
            Action(
                "drop",
                [vehicle, place, package, less, more],
                And(at(vehicle, place), inside, before, capacity),
                And(~inside, at(package, place), capacity(vehicle, more), ~capacity),
            ),
        ],
    )


def instance(size: int, rng: Random) -> Instance:
    """A connected network, from a tree to all roads; every package goes to another location."""
    most = 1 if size < 9 else rng.randint(2, min(10, 2 + size // 25))
    rest = size - most - 1
    fleet = share(rng, rest, 0.12, 0.3)
    cargo = min(share(rng, rest, 0.12, 0.55), rest - fleet - 2)
    vehicles, packages = names("v", fleet), names("p", cargo)
    places, sizes = names("l", rest - fleet - cargo), [f"c{i}" for i in range(most + 1)]
    init: list[Atom] = [("capacity", vehicle, rng.choice(sizes[1:])) for vehicle in vehicles]
    init += [("capacity-predecessor", less, more) for less, more in pairwise(sizes)]
    goal: list[Atom] = []
    for package in packages:
        origin = rng.choice(places)
        init.append(("at", package, origin))
        goal.append(("at", package, other(rng, places, origin)))
    init += [("at", vehicle, rng.choice(places)) for vehicle in vehicles]
    for a, b in connected_subgraph(len(places), complete_graph(len(places)), rng.random(), rng):
        init += [("road", places[a], places[b]), ("road", places[b], places[a])]
    return Instance({"vehicle": vehicles, "package": packages, "location": places, "size": sizes}, init, goal)


GENERATOR = Generator(
    domain,
    instance,
    "vehicles + packages + locations + capacity numbers",
    smallest=6,
    training=(6, 45),
    largest=354,
)
