"""gsp-compare with mutated results, lists of problems and best known costs."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import compare_records
import tasks

from gsp_fd.common.errors import InputError
from gsp_fd.compare import cli, page, suites, tables  # noqa: F401  (what a report loads, before the forks)

from .mutators import edited, edited_json, json_text
from .programs import takes
from .runner import Case


class Results:
    """gsp-compare report with a mutated results file"""

    name = "results"

    def __init__(self) -> None:
        names = ("gsp-policy", "hff-wastar")
        results = compare_records.results(2, ("ferry",), ("easy", "hard"), names)
        numbers = {"rest": [2, 1], "gsp": [1.9, None], "hff": [2.0, 1], "better": [0, 1]}
        results[0]["explanation"] = {"action": ["a", "b c"], **numbers, "best": [[["a", -1.9], ["b c", -3]], []]}
        self.records = [compare_records.header(names, 4), *results]

    def case(self, rng: random.Random) -> Case:
        records: list[Any] = list(self.records)
        for _ in range(rng.choice((0, 1, 1, 2, 4))):
            where = rng.randrange(len(records))
            records[where] = edited_json(rng, records[where])
        lines = [json_text(rng, record) if rng.random() < 0.1 else json_text(None, record) for record in records]
        data = "".join(line + "\n" for line in lines).encode(errors="surrogatepass")
        if rng.random() < 0.3:
            data = edited(rng, data)
        reference = rng.choice(([], ["--reference", "all"], ["--reference", "hff-wastar"]))
        return Case(["report", "results.jsonl", "--out", "report", *reference], {"results.jsonl": data})

    def read(self, case: Case) -> bool:
        return takes(cli.main, case.arguments)[0]


class Lists:
    """lists of problems and best known costs of gsp-compare run"""

    name = "lists"
    BOUNDS = {"ferry/testing/easy/p01.pddl": 12, "ferry/testing/easy/p02.pddl": 17.5, "x": 1}  # noqa: RUF012
    SUITE = b"suite/p.pddl\n# all\nsuite\nsuite/domain.pddl\n"

    def case(self, rng: random.Random) -> Case:
        bounds = json_text(rng, edited_json(rng, self.BOUNDS)).encode(errors="surrogatepass")
        tokens = ["generate:ferry?count=2&size=2-3", "generate:nothing", "..", "#", "suite/p.pddl", "suite", "~"]
        files = {"suite/domain.pddl": tasks.TOWER_DOMAIN.encode(), "suite/p.pddl": tasks.TOWER.encode()}
        return Case([], {"b.json": bounds, "list.txt": edited(rng, self.SUITE, tokens), **files})

    def read(self, case: Case) -> bool:
        try:
            found = suites.read_suites(["list.txt"], suites.Selection(), Path("generated"))
            suites.with_bounds(found, suites.read_bounds(Path("b.json")))
        except InputError:
            return False
        return True
