"""Problems of the example domains with conditional effects and derived predicates.

python scripts/adl_instances.py lift --count 20 --size 3-12 --out problems
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from random import Random

from gsp_fd.generate.base import names


def lift(size: int, rng: Random) -> str:
    """``size`` passengers and about twice as many floors."""
    passengers, floors = names("p", size), names("f", rng.randint(size + 1, 2 * size + 1))
    init = [f"(above {low} {high})" for i, low in enumerate(floors) for high in floors[i + 1 :]]
    for passenger in passengers:
        origin, destination = rng.sample(floors, 2)
        init += [f"(origin {passenger} {origin})", f"(destination {passenger} {destination})"]
    init.append(f"(at {rng.choice(floors)})")
    objects = f"{' '.join(passengers)} - passenger {' '.join(floors)} - floor"
    return _problem("lift", size, objects, init, "(forall (?p - passenger) (served ?p))")


def stacking(size: int, rng: Random) -> str:
    """``size`` blocks in random towers, which are to become other random towers."""
    blocks = names("b", size)
    init = [f"(on-table {x})" if y is None else f"(on {x} {y})" for x, y in _towers(blocks, rng)]
    init += [f"(wanted-on-table {x})" if y is None else f"(wanted {x} {y})" for x, y in _towers(blocks, rng)]
    goals = " ".join(f"(in-place {x})" for x in blocks)
    return _problem("stacking", size, f"{' '.join(blocks)} - block", init, f"(and {goals})")


def _towers(blocks: list[str], rng: Random) -> list[tuple[str, str | None]]:
    shuffled = rng.sample(blocks, len(blocks))
    return [(x, None if i == 0 or rng.random() < 0.3 else shuffled[i - 1]) for i, x in enumerate(shuffled)]


def _problem(domain: str, size: int, objects: str, init: Iterable[str], goal: str) -> str:
    facts = "\n    ".join(init)
    return (
        f"(define (problem {domain}-{size})\n  (:domain {domain})\n  (:objects {objects})\n"
        f"  (:init\n    {facts})\n  (:goal {goal}))\n"
    )


DOMAINS = {"lift": lift, "stacking": stacking}


def main() -> None:
    """Writes problems with sizes in equal steps from the smallest to the largest."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("domain", choices=list(DOMAINS))
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--size", default="3-10", metavar="A-B", help="passengers or blocks (default: 3-10)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    smallest, largest = map(int, options.size.split("-"))
    rng = Random(f"{options.domain} {options.seed}")
    options.out.mkdir(parents=True, exist_ok=True)
    for i in range(options.count):
        size = smallest + (largest - smallest) * i // max(options.count - 1, 1)
        (options.out / f"p{i + 1:02}.pddl").write_text(DOMAINS[options.domain](size, rng))


if __name__ == "__main__":
    main()
