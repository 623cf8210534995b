"""Ferry: a ferry for one car takes every car to its destination."""

from __future__ import annotations

from random import Random

from pddl.action import Action
from pddl.core import Domain
from pddl.logic import Predicate, variables
from pddl.logic.base import And
from pddl.requirements import Requirements

from gsp_fd.generate.base import Atom, Generator, Instance, names, other, share


def domain() -> Domain:
    """The domain of the IPC 2023 learning track."""
    place, origin, target = variables("loc from to", types=["location"])
    (car,) = variables("car", types=["car"])
    at_ferry, at = Predicate("at-ferry", place), Predicate("at", car, place)
    empty, on = Predicate("empty-ferry"), Predicate("on", car)
    return Domain(
        "ferry",
        requirements=[Requirements.STRIPS, Requirements.TYPING, Requirements.NEG_PRECONDITION],
        types={"car": "object", "location": "object"},
        predicates=[at_ferry, at, empty, on],
        actions=[
            Action(
                "sail",
                [origin, target],
                And(at_ferry(origin), ~at_ferry(target)),
                And(at_ferry(target), ~at_ferry(origin)),
            ),
            Action("board", [car, place], And(at, at_ferry, empty), And(on, ~at, ~empty)),
            Action("debark", [car, place], And(on, at_ferry), And(at, empty, ~on)),
        ],
    )


def instance(size: int, rng: Random) -> Instance:
    """Every car starts at a random location and goes to another one."""
    count = min(share(rng, size, 0.16, 0.68), size - 2)
    cars, places = names("car", count), names("loc", size - count)
    init: list[Atom] = [("empty-ferry",), ("at-ferry", rng.choice(places))]
    goal: list[Atom] = []
    for car in cars:
        origin = rng.choice(places)
        init.append(("at", car, origin))
        goal.append(("at", car, other(rng, places, origin)))
    return Instance({"car": cars, "location": places}, init, goal)


GENERATOR = Generator(domain, instance, "cars + locations", smallest=3, training=(3, 35), largest=1461)
