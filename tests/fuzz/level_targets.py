"""gsp-generate with mutated levels of puzzles."""

from __future__ import annotations

import random

from gsp_fd.generate import cli

from .mutators import edited
from .programs import takes
from .runner import Case

LEVELS = {
    "sokoban-boxes": b"; 0\n########\n#  .   #\n# $@$  #\n#  .   #\n########\n\n####\n#+$#\n####\n",
    "witness": b"Size: 2 3\nInit: 0 0\nGoal: 2 2\nColors: |0 0 1|0 2 2|1 1 3\n",
    "sliding-tiles": b"3 2 1 0\n1 4 2 3 5 8 6 7 0\n",
    "pushworld": b". M1 M1 . AW\nA . M1+G2 G1 G1\nA M2 W . G1\n",
}
TOKENS = [
    "#",
    "@",
    "$",
    ".",
    "*",
    "+",
    "|",
    "Size:",
    "Colors:",
    "0",
    "-1",
    "9" * 30,
    "A",
    "M1",
    "G1",
    "W",
    "AW",
    ";",
    "\n\n",
]


class Levels:
    """gsp-generate --from with mutated levels"""

    name = "levels"

    def case(self, rng: random.Random) -> Case:
        """A level of one puzzle, read as it or as another."""
        puzzle = rng.choice(sorted(LEVELS))
        level = LEVELS[puzzle] if rng.random() < 0.9 else LEVELS[rng.choice(sorted(LEVELS))]
        return Case([puzzle, "--from", "level", "--out", "pddl"], {"level": edited(rng, level, TOKENS)})

    def read(self, case: Case) -> bool:
        """Whether the level was taken."""
        return takes(cli.main, case.arguments)[0]
