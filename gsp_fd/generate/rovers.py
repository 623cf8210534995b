"""Rovers: sample soil and rock, take images, and communicate all of it to the lander."""

from __future__ import annotations

from random import Random

from pddl.action import Action
from pddl.core import Domain
from pddl.logic import Predicate, variables
from pddl.logic.base import And
from pddl.requirements import Requirements

from gsp_fd.generate.base import Atom, Generator, Instance, names, share, subset
from gsp_fd.generate.layout import complete_graph, connected_subgraph

TYPES = ["rover", "waypoint", "store", "camera", "mode", "lander", "objective"]
MODES = ["colour", "high_res", "low_res"]
LANDER = "general"


def domain() -> Domain:
    """The domain of the IPC 2023 learning track."""
    (x,) = variables("x", types=["rover"])
    (rover,) = variables("r", types=["rover"])
    (store,) = variables("s", types=["store"])
    (y_store,) = variables("y", types=["store"])
    place, origin, target, way, other = variables("p y z w x", types=["waypoint"])
    (camera,) = variables("i", types=["camera"])
    (mode,) = variables("m", types=["mode"])
    (lander,) = variables("l", types=["lander"])
    objective, aim = variables("o t", types=["objective"])
    at, at_lander = Predicate("at", rover, place), Predicate("at_lander", lander, origin)
    traverse, visible = Predicate("can_traverse", rover, origin, target), Predicate("visible", way, place)
    imaging = Predicate("equipped_for_imaging", rover)
    empty, full = Predicate("empty", store), Predicate("full", store)
    store_of, supports = Predicate("store_of", store, rover), Predicate("supports", camera, mode)
    calibrated, on_board = Predicate("calibrated", camera, rover), Predicate("on_board", camera, rover)
    target_of = Predicate("calibration_target", camera, objective)
    seen, image = Predicate("visible_from", objective, way), Predicate("have_image", rover, objective, mode)
    sent_image = Predicate("communicated_image_data", objective, mode)
    predicates = [
        *(at, at_lander, traverse, imaging, empty, full, calibrated, supports, visible, image, sent_image),
        *(seen, store_of, target_of, on_board),
    ]
    actions = [
        Action(
            "navigate",
            [x, origin, target],
            And(traverse(x, origin, target), at(x, origin), visible(origin, target)),
            And(~at(x, origin), at(x, target)),
        ),
        Action(
            "drop",
            [x, y_store],
            And(store_of(y_store, x), full(y_store)),
            And(~full(y_store), empty(y_store)),
        ),
        Action(
            "calibrate",
            [rover, camera, aim, way],
            And(imaging, target_of(camera, aim), at(rover, way), seen(aim, way), on_board),
            calibrated,
        ),
        Action(
            "take_image",
            [rover, place, objective, camera, mode],
            And(calibrated, on_board, imaging, supports, seen(objective, place), at),
            And(image, ~calibrated),
        ),
        Action(
            "communicate_image_data",
            [rover, lander, objective, mode, other, origin],
            And(at(rover, other), at_lander, image, visible(other, origin)),
            sent_image,
        ),
    ]
    for kind in ("soil", "rock"):
        equipped = Predicate(f"equipped_for_{kind}_analysis", rover)
        have = Predicate(f"have_{kind}_analysis", rover, way)
        sent, sample = Predicate(f"communicated_{kind}_data", way), Predicate(f"at_{kind}_sample", way)
        predicates += [equipped, have, sent, sample]
        actions += [
            Action(
                f"sample_{kind}",
                [x, store, place],
                And(at(x, place), sample(place), equipped(x), store_of(store, x), empty),
                And(~empty, full, have(x, place), ~sample(place)),
            ),
            Action(
                f"communicate_{kind}_data",
                [rover, lander, place, other, origin],
                And(at(rover, other), at_lander, have(rover, place), visible(other, origin)),
                sent(place),
            ),
        ]
    return Domain(
        "rover",
        requirements=[Requirements.STRIPS, Requirements.TYPING],
        types=dict.fromkeys(TYPES, "object"),
        predicates=predicates,
        actions=actions,
    )


def instance(size: int, rng: Random) -> Instance:
    """Every rover reaches every waypoint and some rover has each capability, so all goals are reachable."""
    fleet = rng.randint(max(1, min(size // 10, 2 + size // 25)), max(1, min(size // 8, 5 + size // 25)))
    rest = size - 1 - len(MODES) - 2 * fleet
    lenses = share(rng, rest, 0.12, 0.22)
    things = min(share(rng, rest, 0.2, 0.5), rest - lenses - 2)
    rovers, cameras, objectives = names("rover", fleet), names("camera", lenses), names("objective", things)
    ways = names("waypoint", rest - lenses - things)
    init: list[Atom] = [("at_lander", LANDER, rng.choice(ways))]
    init += [("at", rover, rng.choice(ways)) for rover in rovers]
    for rover in rovers:
        init += [("empty", f"{rover}store"), ("store_of", f"{rover}store", rover)]
    samples: dict[str, list[Atom]] = {}
    for kind in ("soil", "rock"):
        init += [(f"equipped_for_{kind}_analysis", rover) for rover in _some(rng, rovers)]
        found = [way for way in ways if rng.random() < 0.5]
        init += [(f"at_{kind}_sample", way) for way in found]
        samples[kind] = [(f"communicated_{kind}_data", way) for way in found]
    photographers = _some(rng, rovers)
    init += [("equipped_for_imaging", rover) for rover in photographers]
    init += _roads(rng, rovers, ways)
    init += _cameras(rng, cameras, photographers, objectives)
    for objective in objectives:
        init += [("visible_from", objective, way) for way in _some(rng, ways)]
    supported = {atom[2] for atom in init if atom[0] == "supports"}
    images = [("communicated_image_data", o, mode) for o in objectives for mode in MODES if mode in supported]
    goal = subset(rng, samples["soil"]) + subset(rng, samples["rock"]) + subset(rng, images)
    objects = {
        "lander": [LANDER],
        "mode": MODES,
        "rover": rovers,
        "store": [f"{rover}store" for rover in rovers],
        "waypoint": ways,
        "camera": cameras,
        "objective": objectives,
    }
    return Instance(objects, init, goal)


def _some(rng: Random, items: list[str]) -> list[str]:
    """At least one of the items."""
    chosen = set(rng.sample(items, rng.randint(1, len(items))))
    return [item for item in items if item in chosen]


def _roads(rng: Random, rovers: list[str], ways: list[str]) -> list[Atom]:
    """A connected map of visible waypoints, of which each rover can traverse a connected part."""
    visible = connected_subgraph(len(ways), complete_graph(len(ways)), rng.random(), rng)
    atoms: list[Atom] = []
    for a, b in visible:
        atoms += [("visible", ways[a], ways[b]), ("visible", ways[b], ways[a])]
    for rover in rovers:
        for a, b in connected_subgraph(len(ways), visible, rng.uniform(0.3, 0.45), rng):
            atoms += [("can_traverse", rover, ways[a], ways[b]), ("can_traverse", rover, ways[b], ways[a])]
    return atoms


def _cameras(rng: Random, cameras: list[str], carriers: list[str], objectives: list[str]) -> list[Atom]:
    """Every camera is on board of some carrier, has a calibration target and supports a mode or more."""
    atoms: list[Atom] = []
    for camera in cameras:
        atoms.append(("on_board", camera, rng.choice(carriers)))
        atoms.append(("calibration_target", camera, rng.choice(objectives)))
        atoms += [("supports", camera, mode) for mode in _some(rng, MODES)]
    return atoms


GENERATOR = Generator(
    domain,
    instance,
    "rovers + stores + waypoints + cameras + objectives + the lander + 3 modes",
    smallest=10,
    training=(10, 36),
    largest=596,
)
