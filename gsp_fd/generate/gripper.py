"""Gripper: a robot with two hands carries balls to the other room."""

from __future__ import annotations

from random import Random

from pddl.action import Action
from pddl.core import Domain
from pddl.logic import Predicate, variables
from pddl.logic.base import And
from pddl.requirements import Requirements

from gsp_fd.generate.base import UNTYPED, Atom, Generator, Instance, names

ROOMS = ["rooma", "roomb"]
HANDS = ["left", "right"]


def domain() -> Domain:
    """The untyped domain of the 1998 competition."""
    ball, place, hand, origin, target = variables("obj room gripper from to")
    is_room, is_ball, is_hand = Predicate("room", place), Predicate("ball", ball), Predicate("gripper", hand)
    robot, at = Predicate("at-robby", place), Predicate("at", ball, place)
    free, carry = Predicate("free", hand), Predicate("carry", ball, hand)
    types = (is_ball, is_room, is_hand)
    return Domain(
        "gripper-strips",
        requirements=[Requirements.STRIPS],
        predicates=[is_room, is_ball, is_hand, robot, at, free, carry],
        actions=[
            Action(
                "move",
                [origin, target],
                And(is_room(origin), is_room(target), robot(origin)),
                And(robot(target), ~robot(origin)),
            ),
            Action("pick", [ball, place, hand], And(*types, at, robot, free), And(carry, ~at, ~free)),
            Action("drop", [ball, place, hand], And(*types, carry, robot), And(at, free, ~carry)),
        ],
    )


def instance(size: int, rng: Random) -> Instance:
    """The robot in either room; all balls (half of the time) or a random share of them start in rooma."""
    balls = names("ball", size - len(ROOMS) - len(HANDS))
    moved = 1.0 if rng.random() < 0.5 else rng.random()
    init: list[Atom] = [("room", room) for room in ROOMS]
    init += [("gripper", hand) for hand in HANDS]
    init += [("ball", ball) for ball in balls]
    init.append(("at-robby", rng.choice(ROOMS)))
    init += [("free", hand) for hand in HANDS]
    init += [("at", ball, "rooma" if rng.random() < moved else "roomb") for ball in balls]
    return Instance({UNTYPED: [*ROOMS, *HANDS, *balls]}, init, [("at", ball, "roomb") for ball in balls])


GENERATOR = Generator(domain, instance, "balls + 2 rooms + 2 grippers", smallest=5, training=(5, 20), largest=200)
