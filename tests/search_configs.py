"""Configurations of the one search loop, by name, for the tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gsp_fd import _core

Config = Callable[[_core.GroundTask], dict[str, Any]]
"""Arguments of ``_core.search`` but for the space."""


def astar(task: _core.GroundTask, heuristic: str = "hmax") -> dict[str, Any]:
    """A* with Fast Downward's tie-breaking."""
    h = _core.heuristic(heuristic, task)
    f = _core.sum([_core.g(), h])
    return {"open_list": _core.TieBreakingOpenList([f, h]), "reopen_closed": True, "f_eval": f}


def wastar(task: _core.GroundTask, lazy: bool, weight: float = 3) -> dict[str, Any]:
    """Weighted A* with hFF."""
    f = _core.sum([_core.g(), _core.weight(_core.heuristic("ff", task), weight)])
    return {"open_list": _core.SingleOpenList(f), "lazy": lazy, "reopen_closed": True}


def greedy(task: _core.GroundTask, lazy: bool, **options: Any) -> dict[str, Any]:
    """Greedy best-first search with hadd."""
    return {"open_list": _core.SingleOpenList(_core.heuristic("add", task)), "lazy": lazy, **options}


def alternation(task: _core.GroundTask, lazy: bool, boost: int = 1000, **options: Any) -> dict[str, Any]:
    """hFF and goalcount take turns, each with a list for preferred successors, as in LAMA."""
    heuristics = [_core.heuristic("ff", task), _core.heuristic("goalcount", task)]
    lists = [_core.SingleOpenList(h, pref_only) for h in heuristics for pref_only in (False, True)]
    open_list = _core.AlternationOpenList(lists, boost)
    return {"open_list": open_list, "lazy": lazy, "preferred": heuristics[:1], **options}


def tiebreaking(task: _core.GroundTask, lazy: bool) -> dict[str, Any]:
    """The larger of two heuristics, then their sum, then g."""
    ff, count = _core.heuristic("ff", task), _core.heuristic("goalcount", task)
    keys = [_core.max([ff, count]), _core.sum([ff, count, _core.const(1)]), _core.g()]
    return {"open_list": _core.TieBreakingOpenList(keys, unsafe_pruning=False), "lazy": lazy}


OPTIMAL: dict[str, Config] = {
    "astar-blind": lambda task: astar(task, "blind"),
    "astar-hmax": lambda task: astar(task, "hmax"),
}

SATISFICING: dict[str, Config] = {
    "eager-wastar": lambda task: wastar(task, False),
    "lazy-wastar": lambda task: wastar(task, True),
    "eager-greedy": lambda task: greedy(task, False),
    "lazy-greedy": lambda task: greedy(task, True),
    "eager-greedy-random": lambda task: greedy(task, False, randomize_successors=True, random_seed=7),
    "lazy-greedy-random": lambda task: greedy(task, True, randomize_successors=True, random_seed=7),
    "eager-alternation": lambda task: alternation(task, False),
    "lazy-alternation": lambda task: alternation(task, True),
    "lazy-preferred-first": lambda task: alternation(task, True, 0, preferred_successors_first=True),
    "lazy-one": lambda task: alternation(task, True, cost_type="one", reopen_closed=True),
    "eager-plusone": lambda task: {**wastar(task, False), "cost_type": "plusone"},
    "eager-tiebreaking": lambda task: tiebreaking(task, False),
    "lazy-tiebreaking": lambda task: tiebreaking(task, True),
    "eager-batch": lambda task: {**wastar(task, False), "batch_size": 16},
    "lazy-batch": lambda task: {**wastar(task, True), "batch_size": 16},
}


def run(task: _core.GroundTask, config: Config, **options: Any) -> tuple[_core.GroundSpace, _core.SearchResult]:
    """A search in a space of its own."""
    arguments = {**config(task), **options}
    space = _core.GroundSpace(task)
    return space, _core.search(space, arguments.pop("open_list"), **arguments)
