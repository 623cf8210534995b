"""Stacking: towers of blocks, with derived predicates for what is clear and what is in place."""

from __future__ import annotations

from random import Random

from gsp_fd.generate.base import Atom, Generator, Instance, domain_file, names
from gsp_fd.generate.blocksworld import towers

WANTED = {"on": "wanted", "on-table": "wanted-on-table"}


def instance(size: int, rng: Random) -> Instance:
    """Random towers, which are to become other ones."""
    blocks = names("b", size)
    before = _placed(blocks, rng)
    while (after := _placed(blocks, rng)) == before:
        pass
    init = [*sorted(before), *((WANTED[predicate], *args) for predicate, *args in sorted(after))]
    return Instance({"block": blocks}, init, [("in-place", block) for block in blocks])


def _placed(blocks: list[str], rng: Random) -> set[Atom]:
    return {atom for atom in towers(blocks, rng) if atom[0] in WANTED}


GENERATOR = Generator(lambda: domain_file("stacking"), instance, "blocks", smallest=2, training=(2, 15), largest=100)
