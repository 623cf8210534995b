"""Satellite: turn satellites, switch on and calibrate instruments, take images."""

from __future__ import annotations

from random import Random

from pddl.action import Action
from pddl.core import Domain
from pddl.logic import Predicate, variables
from pddl.logic.base import And
from pddl.requirements import Requirements

from gsp_fd.generate.base import Atom, Generator, Instance, names, share, subset


def domain() -> Domain:
    """The domain of the IPC 2023 learning track."""
    (satellite,) = variables("s", types=["satellite"])
    direction, new, previous = variables("d d_new d_prev", types=["direction"])
    (tool,) = variables("i", types=["instrument"])
    (mode,) = variables("m", types=["mode"])
    on_board, supports = Predicate("on_board", tool, satellite), Predicate("supports", tool, mode)
    pointing, image = Predicate("pointing", satellite, direction), Predicate("have_image", direction, mode)
    available, power = Predicate("power_avail", satellite), Predicate("power_on", tool)
    calibrated, target = Predicate("calibrated", tool), Predicate("calibration_target", tool, direction)
    return Domain(
        "satellite",
        requirements=[Requirements.STRIPS, Requirements.TYPING, Requirements.NEG_PRECONDITION],
        types=dict.fromkeys(["satellite", "direction", "instrument", "mode"], "object"),
        predicates=[on_board, supports, pointing, available, power, calibrated, image, target],
        actions=[
            Action(
                "turn_to",
                [satellite, new, previous],
                And(pointing(satellite, previous), ~pointing(satellite, new)),
                And(pointing(satellite, new), ~pointing(satellite, previous)),
            ),
            Action(
                "switch_on",
                [tool, satellite],
                And(on_board, available),
                And(power, ~calibrated, ~available),
            ),
            Action("switch_off", [tool, satellite], And(on_board, power), And(~power, available)),
            Action("calibrate", [satellite, tool, direction], And(on_board, target, pointing, power), calibrated),
            Action(
                "take_image",
                [satellite, direction, tool, mode],
                And(calibrated, on_board, supports, power, pointing),
                image,
            ),
        ],
    )


def instance(size: int, rng: Random) -> Instance:
    """Every satellite has an instrument, every instrument a target; only modes on board are asked for."""
    kinds = rng.randint(max(1, min(5, size // 20)), min(10, 1 + size // 15))
    rest = size - kinds
    sky = share(rng, rest, 0.22, 0.4, least=2)
    fleet = share(rng, rest - sky, 0.3, 0.42)
    fleet = min(fleet, (rest - sky) // 2)
    satellites, tools = names("sat", fleet), names("ins", rest - sky - fleet)
    modes, directions = names("mod", kinds), names("dir", sky)
    init: list[Atom] = [("pointing", satellite, rng.choice(directions)) for satellite in satellites]
    init += [("power_avail", satellite) for satellite in satellites]
    carriers = satellites + rng.choices(satellites, k=len(tools) - fleet)
    rng.shuffle(carriers)
    supported: set[str] = set()
    for tool, carrier in zip(tools, carriers, strict=True):
        able = rng.sample(modes, rng.randint(1, kinds))
        supported.update(able)
        init += [("on_board", tool, carrier), ("calibration_target", tool, rng.choice(directions))]
        init += [("supports", tool, mode) for mode in modes if mode in able]
    images = [("have_image", place, mode) for place in directions for mode in modes if mode in supported]
    turns = subset(rng, [("pointing", satellite, rng.choice(directions)) for satellite in satellites])
    goal = turns + subset(rng, images, least=1)
    return Instance({"satellite": satellites, "instrument": tools, "mode": modes, "direction": directions}, init, goal)


GENERATOR = Generator(
    domain,
    instance,
    "satellites + instruments + modes + directions",
    smallest=5,
    training=(5, 43),
    largest=402,
)
