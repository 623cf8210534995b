"""Results of a comparison, checked and grouped: what tables and the page are made of."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from gsp_fd.compare.outcome import SOLVED, STATUSES
from gsp_fd.compare.results import COLUMNS, NUMBER_COLUMNS, TEXT_COLUMNS, result_key
from gsp_fd.compare.suites import SPLITS

Result = dict[str, Any]
Cell = tuple[int, int]
"""Problems solved, problems run."""


class Comparison:
    """The last result of each configuration on each problem, by domain, split, problem and configuration.

    Missing texts are empty; a value that is missing or not a finite number is None. The newest command tells the order
    of the configurations.
    """

    def __init__(self, headers: Iterable[Mapping[str, Any]], results: Iterable[Mapping[str, Any]]) -> None:
        self.headers = list(headers)
        last = {result_key(clean): clean for clean in map(_checked, results)}
        named = [
            text(entry.get("name")) for header in reversed(self.headers) for entry in header.get("configurations") or []
        ]
        self.configurations = list(dict.fromkeys([*named, *(key[3] for key in last)]))
        """Those of the commands and those of the results."""
        places = {name: place for place, name in enumerate(self.configurations)}
        ordered = sorted(last.values(), key=lambda result: (_problem_order(result), places[result["configuration"]]))
        self.results = [result for result in ordered if result["problem"]]
        unreadable = [f"{result['domain']}: {result['message']}" for result in ordered if not result["problem"]]
        self.unreadable = list(dict.fromkeys(unreadable))
        """What is wrong with the parts of the suite that have no problems to show."""
        self._compare_costs()

    def _compare_costs(self) -> None:
        """Gives each result a ``best_cost``: the best known, or else the best that was found, if several looked."""
        found: dict[tuple[str, ...], int | float] = {}
        several = len(self.compared) > 1
        for result in solved(self.results) if several else []:
            key, cost = result_key(result)[:3], result["cost"]
            if cost is not None:
                found[key] = min(cost, found.get(key, cost))
        for result in self.results:
            known = result["best_known"]
            result["best_cost"] = found.get(result_key(result)[:3]) if known is None else known

    @cached_property
    def compared(self) -> list[str]:
        """The configurations that have results."""
        present = {result["configuration"] for result in self.results}
        return [name for name in self.configurations if name in present]

    @cached_property
    def domains(self) -> list[str]:
        """Names of the domains, in order."""
        return list(dict.fromkeys(result["domain"] for result in self.results))

    @cached_property
    def pddl_names(self) -> dict[str, str]:
        """What the domains are called in their files, where the headers tell."""
        known = [header.get("domains") for header in self.headers]
        return {text(k): text(v) for names in known if isinstance(names, Mapping) for k, v in names.items() if v}

    @cached_property
    def problems(self) -> Counter[tuple[str, str]]:
        """How many problems each domain and split has, in order."""
        keys = dict.fromkeys((result["domain"], result["split"], result["problem"]) for result in self.results)
        return Counter((domain, split) for domain, split, _ in keys)

    @cached_property
    def _by_cell(self) -> dict[tuple[str, str, str], dict[str, Result]]:
        """By configuration, domain and split: results by problem."""
        cells: dict[tuple[str, str, str], dict[str, Result]] = {}
        for result in self.results:
            key = result["configuration"], result["domain"], result["split"]
            cells.setdefault(key, {})[result["problem"]] = result
        return cells

    def splits(self, domain: str) -> list[str]:
        """The splits of a domain in their order."""
        return [split for name, split in self.problems if name == domain]

    def runs(self, configuration: str, domain: str, split: str | None = None) -> list[Result]:
        """The results of a configuration on a domain, or on a split of it."""
        splits = self.splits(domain) if split is None else [split]
        return [result for name in splits for result in self._by_cell.get((configuration, domain, name), {}).values()]

    def common(self, first: str, second: str, domain: str) -> list[tuple[Result, Result]]:
        """Problems of a domain that both have solved."""
        pairs = []
        for split in self.splits(domain):
            others = self._by_cell.get((second, domain, split), {})
            own = self._by_cell.get((first, domain, split), {})
            pairs += [(result, others[problem]) for problem, result in own.items() if problem in others]
        return [pair for pair in pairs if len(solved(pair)) == 2]

    @cached_property
    def cells(self) -> dict[tuple[str, str, str], Cell]:
        """What each configuration solved and ran in each domain and split."""
        return {key: (len(solved(runs.values())), len(runs)) for key, runs in self._by_cell.items()}

    def covered(self, groups: Iterable[tuple[str, str]], configuration: str) -> Cell:
        """What a configuration solved and ran in some domains and splits."""
        cells = [self.cells.get((configuration, *group), (0, 0)) for group in groups]
        return sum(solved for solved, _ in cells), sum(run for _, run in cells)


def solved(results: Iterable[Result]) -> list[Result]:
    """Those with a valid plan within the limits."""
    return [result for result in results if result["status"] == SOLVED]


def _checked(result: Mapping[str, Any]) -> Result:
    texts = {name: text(result.get(name)) for name in TEXT_COLUMNS}
    numbers = {name: number(result.get(name)) for name in NUMBER_COLUMNS}
    return {**dict.fromkeys(COLUMNS), "explanation": None, **result, **texts, **numbers}


def text(value: Any) -> str:
    """A value of a record as text that UTF-8 can encode."""
    return "" if value is None else str(value).encode(errors="replace").decode()


def number(value: Any) -> int | float | None:
    """A value of a record if it is a finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if abs(value) <= sys.float_info.max else None


def natural_order(name: str) -> tuple[Any, ...]:
    """Sorts p2 before p10."""
    parts = ((part.lstrip("0"), part.isdecimal()) for part in re.findall(r"[0-9]+|[^0-9]+", name))
    return tuple((0, len(part), part) if digits else (1, 0, part) for part, digits in parts), name


def split_order(name: str) -> tuple[Any, ...]:
    """Sorts easy before medium before hard before others."""
    return (SPLITS.index(name) if name in SPLITS else len(SPLITS), natural_order(name))


def status_order(name: str) -> tuple[int, str]:
    """Sorts statuses from the best to the worst."""
    return (STATUSES.index(name) if name in STATUSES else len(STATUSES), name)


def _problem_order(result: Result) -> tuple[Any, ...]:
    return natural_order(result["domain"]), split_order(result["split"]), natural_order(result["problem"])
