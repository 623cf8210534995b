"""The generators by name, and what is done with all of them alike: draw one instance, draw a set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from random import Random

from pddl.core import Domain

from gsp_fd.generate import (
    blocksworld,
    childsnack,
    delivery,
    ferry,
    floortile,
    gripper,
    lift,
    maze,
    miconic,
    pushworld,
    reward,
    rovers,
    satellite,
    sliding_tiles,
    sokoban,
    sokoban_boxes,
    spanner,
    stacking,
    transport,
    visitall,
    witness,
)
from gsp_fd.generate.base import DomainFile, Generator
from gsp_fd.generate.pddl_writer import problem_text

GENERATORS: dict[str, Generator] = {
    "blocksworld": blocksworld.GENERATOR,
    "childsnack": childsnack.GENERATOR,
    "delivery": delivery.GENERATOR,
    "ferry": ferry.GENERATOR,
    "floortile": floortile.GENERATOR,
    "gripper": gripper.GENERATOR,
    "lift": lift.GENERATOR,
    "maze": maze.GENERATOR,
    "miconic": miconic.GENERATOR,
    "pushworld": pushworld.GENERATOR,
    "reward": reward.GENERATOR,
    "rovers": rovers.GENERATOR,
    "satellite": satellite.GENERATOR,
    "sliding-tiles": sliding_tiles.GENERATOR,
    "sokoban": sokoban.GENERATOR,
    "sokoban-boxes": sokoban_boxes.GENERATOR,
    "spanner": spanner.GENERATOR,
    "stacking": stacking.GENERATOR,
    "transport": transport.GENERATOR,
    "visitall": visitall.GENERATOR,
    "witness": witness.GENERATOR,
}
DISTRIBUTIONS = ("small", "uniform", "even")
LARGEST_SIZE = 100_000
"""A guard against slips of the finger, ten times the largest published instance."""
ATTEMPTS = 20
"""How many instances of one size are drawn to find one that is not in the set yet."""


def domain_text(domain: str) -> str:
    """The domain file."""
    return f"{_domain(domain)}\n"


def generate(domain: str, size: int, seed: int) -> str:
    """The problem file of the instance that `size` and `seed` determine; its goal does not hold initially."""
    check_size(domain, size)
    rng = Random(f"{domain} {size} {seed}")
    while (instance := GENERATORS[domain].instance(size, rng)).solved():
        pass
    return problem_text(f"{domain}-{size}-{seed}", str(_domain(domain).name), instance)


def generate_set(
    domain: str, count: int, sizes: tuple[int, int], seed: int, distribution: str = "small"
) -> Iterator[str]:
    """`count` problem files with sizes between the two given ones, in ascending order.

    No two differ only in their names as long as there are enough instances: where twenty draws of one size
    find nothing new, the set goes on with the next larger size.
    """
    smallest, largest = sizes
    check_size(domain, smallest)
    check_size(domain, largest)
    rng = Random(f"{domain} {seed}")
    known: set[str] = set()
    least = smallest
    for size in sorted(draw_sizes(count, sizes, distribution, rng)):
        least = max(least, size)
        problem = _new_problem(domain, least, rng, known)
        while problem is None and least < largest:
            least += 1
            problem = _new_problem(domain, least, rng, known)
        yield problem or generate(domain, least, rng.getrandbits(32))


def read_set(domain: str, files: Sequence[Path]) -> Iterator[str]:
    """The problem files of puzzles in text files of their public format; InputError with file, line and reason."""
    read = GENERATORS[domain].read
    if read is None:
        readable = ", ".join(name for name, generator in GENERATORS.items() if generator.read)
        raise ValueError(f"there is no text format for {domain} (only for {readable})")
    number = 0
    for file in files:
        for instance in read(file):
            number += 1
            yield problem_text(f"{domain}-{number}", domain, instance)


def draw_sizes(count: int, sizes: tuple[int, int], distribution: str, rng: Random) -> list[int]:
    """`count` sizes between the two given ones, as one of `DISTRIBUTIONS`.

    small: half of them in the lowest quarter of the range; uniform: all alike; even: not random, from one end
    to the other in equal steps.
    """
    smallest, largest = sizes
    if distribution == "even":
        steps = max(count - 1, 1)
        return [smallest + (largest - smallest) * i // steps for i in range(count)]
    exponent = {"small": 2, "uniform": 1}[distribution]
    return [smallest + int((largest - smallest + 1) * rng.random() ** exponent) for _ in range(count)]


def check_size(domain: str, size: int) -> None:
    """Raise a ValueError that says what is wrong if there is no such domain or no instance of that size."""
    if domain not in GENERATORS:
        raise ValueError(f"unknown domain '{domain}' (known: {', '.join(GENERATORS)})")
    generator = GENERATORS[domain]
    if size < generator.smallest:
        least = f"at least {generator.smallest} ({generator.size})"
        raise ValueError(f"size {size} is too small for {domain}: {least}")
    if size > LARGEST_SIZE:
        raise ValueError(f"size {size} is too large: at most {LARGEST_SIZE}")


def _new_problem(domain: str, size: int, rng: Random, known: set[str]) -> str | None:
    """A problem that is not `known` yet, or None if there seems to be none."""
    for _ in range(ATTEMPTS):
        problem = generate(domain, size, rng.getrandbits(32))
        digest = _digest(problem)
        if digest not in known:
            known.add(digest)
            return problem
    return None


def _digest(problem: str) -> str:
    """The same for problems that differ only in their names and in the order of the atoms."""
    init, separator, goal = problem.partition("\n")[2].partition("(:goal")
    lines = [*sorted(init.splitlines()), separator, *sorted(goal.splitlines())]
    return sha256("\n".join(lines).encode()).hexdigest()


@cache
def _domain(name: str) -> Domain | DomainFile:
    return GENERATORS[name].domain()
