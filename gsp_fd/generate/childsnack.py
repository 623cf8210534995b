"""Childsnack: make sandwiches and bring them to the tables, gluten-free ones to children who need them."""

from __future__ import annotations

from random import Random

from pddl.action import Action
from pddl.core import Domain
from pddl.logic import Constant, Predicate, variables
from pddl.logic.base import And
from pddl.requirements import Requirements

from gsp_fd.generate.base import Atom, Generator, Instance, names

TYPES = ["child", "bread-portion", "content-portion", "sandwich", "tray", "place"]
MOST_TRAYS, MOST_TABLES = 10, 3


def domain() -> Domain:
    """The domain of the IPC 2023 learning track."""
    (child,) = variables("c", types=["child"])
    (bread,) = variables("b", types=["bread-portion"])
    (content,) = variables("c", types=["content-portion"])
    (sandwich,) = variables("s", types=["sandwich"])
    (tray,) = variables("t", types=["tray"])
    place, origin, target = variables("p p1 p2", types=["place"])
    kitchen = Constant("kitchen", "place")
    bread_here, content_here = Predicate("at_kitchen_bread", bread), Predicate("at_kitchen_content", content)
    safe_bread, safe_content = Predicate("no_gluten_bread", bread), Predicate("no_gluten_content", content)
    made, safe = Predicate("at_kitchen_sandwich", sandwich), Predicate("no_gluten_sandwich", sandwich)
    unmade, on_tray = Predicate("notexist", sandwich), Predicate("ontray", sandwich, tray)
    allergic, tolerant = Predicate("allergic_gluten", child), Predicate("not_allergic_gluten", child)
    served, waiting = Predicate("served", child), Predicate("waiting", child, place)
    at = Predicate("at", tray, place)
    used = (~bread_here, ~content_here)
    return Domain(
        "childsnack",
        requirements=[Requirements.TYPING, Requirements.NEG_PRECONDITION],
        types=dict.fromkeys(TYPES, "object"),
        constants=[kitchen],
        predicates=[
            *(bread_here, content_here, made, safe_bread, safe_content, on_tray, safe),
            *(allergic, tolerant, served, waiting, at, unmade),
        ],
        actions=[
            Action(
                "make_sandwich_no_gluten",
                [sandwich, bread, content],
                And(bread_here, content_here, safe_bread, safe_content, unmade),
                And(*used, made, safe, ~unmade),
            ),
            Action(
                "make_sandwich",
                [sandwich, bread, content],
                And(bread_here, content_here, unmade),
                And(*used, made, ~unmade),
            ),
            Action("put_on_tray", [sandwich, tray], And(made, at(tray, kitchen)), And(~made, on_tray)),
            Action(
                "serve_sandwich_no_gluten",
                [sandwich, child, tray, place],
                And(allergic, on_tray, waiting, safe, at),
                And(~on_tray, served),
            ),
            Action(
                "serve_sandwich",
                [sandwich, child, tray, place],
                And(tolerant, waiting, on_tray, at),
                And(~on_tray, served),
            ),
            Action(
                "move_tray",
                [tray, origin, target],
                And(at(tray, origin), ~at(tray, target)),
                And(~at(tray, origin), at(tray, target)),
            ),
        ],
    )


def instance(size: int, rng: Random) -> Instance:
    """A bread and a content portion per child, and as many gluten-free ones as needed: all can be served."""
    children, trays, tables, sandwiches = rng.choice(_counts(size))
    people, places = names("child", children), names("table", tables)
    objects = {
        "child": people,
        "tray": names("tray", trays),
        "sandwich": names("sandw", sandwiches),
        "bread-portion": names("bread", children),
        "content-portion": names("content", children),
        "place": places,
    }
    allergic = round(children * rng.triangular())  # seldom none or all, which are easy
    careful = set(rng.sample(people, allergic))
    init: list[Atom] = [("at", tray, "kitchen") for tray in objects["tray"]]
    for food in ("bread", "content"):
        portions = objects[f"{food}-portion"]
        init += [(f"at_kitchen_{food}", portion) for portion in portions]
        safe = set(rng.sample(portions, allergic))
        init += [(f"no_gluten_{food}", portion) for portion in portions if portion in safe]
    for child in people:
        init.append(("allergic_gluten" if child in careful else "not_allergic_gluten", child))
        init.append(("waiting", child, rng.choice(places)))
    init += [("notexist", sandwich) for sandwich in objects["sandwich"]]
    return Instance(objects, init, [("served", child) for child in people])


def _counts(size: int) -> list[tuple[int, int, int, int]]:
    """All (children, trays, tables, sandwiches) with `size` objects, up to half of the sandwiches spare."""
    counts = []
    for children in range(max(1, (size - MOST_TRAYS - MOST_TABLES - 1) // 5), size // 4 + 1):
        most_tables = min(MOST_TABLES, children + 1)
        for tables in range(most_tables if children > 3 else 1, most_tables + 1):
            for trays in range(1, min(MOST_TRAYS, children // 3 + 2) + 1):
                sandwiches = size - 1 - 3 * children - trays - tables
                if children <= sandwiches <= children + max(1, children // 2):
                    counts.append((children, trays, tables, sandwiches))
    return counts


GENERATOR = Generator(
    domain,
    instance,
    "children + bread + content + sandwiches + trays + tables + the kitchen (about 4 to 5 per child)",
    smallest=7,
    training=(7, 52),
    largest=1327,
)
