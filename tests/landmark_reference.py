"""Landmarks by other means: the graphs that Fast Downward prints, and landmark_sum along a path in plain Python."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import cli_support
import sas_reference
from sas_reference import INFINITY, Fact, SasTask, State

from gsp_fd import _core

KINDS = {"r": "reasonable", "n": "natural", "gn": "greedy-necessary"}
FACTORY = "lm_reasonable_orders_hps(lm_rhw({options}), verbosity=debug)"


Label = tuple[str, ...]


@dataclass(frozen=True)
class Graph:
    """Landmarks and orderings between them by the names of their facts, and the value of the initial state."""

    landmarks: Counter[Label]
    orderings: Counter[tuple[Label, Label, str]]
    initial: float


def _graph(labels: Sequence[Label], orderings: Iterable[tuple[int, int, str]], initial: float) -> Graph:
    named = ((labels[before], labels[after], kind) for before, after, kind in orderings)
    return Graph(Counter(labels), Counter(named), initial)


def fast_downwards(folder: Path, sas: bytes, options: str = "", axioms: str = "approximate_negative_cycles") -> Graph:
    """What the real Fast Downward finds in a task."""
    (folder / "output.sas").write_bytes(sas)
    factory = FACTORY.format(options=options)
    search = f"eager(single(landmark_sum({factory}, axioms={axioms})), bound=0)"
    log = cli_support.fast_downward_search(folder, "--search", search).stdout
    labels = re.findall(r'^  lm\d+ \[label="(.*?)"', log, re.MULTILINE)
    orderings = re.findall(r'^      lm(\d+) -> lm(\d+) \[label="(\w+)"', log, re.MULTILINE)
    value = re.search(r"Initial heuristic value for landmark_sum_heuristic: (\w+)", log)
    assert value is not None, log
    return _graph(
        [tuple(sorted(label.split(" | "))) for label in labels],
        [(int(before), int(after), KINDS[kind]) for before, after, kind in orderings],
        float(value[1]),
    )


def ours(sas: bytes, **options: bool | str) -> Graph:
    """What the native core finds in the same task."""
    task, ground = sas_reference.read(sas), _core.GroundTask.from_sas(sas)
    found = _core.landmarks(ground, **options)  # type: ignore[arg-type]
    initial = float(_core.landmark_sum(found).along(_core.GroundSpace(ground), [])[0])
    labels = [tuple(sorted(task.variables[v].values[d] for v, d in facts)) for facts in found.facts]
    return _graph(labels, found.orderings, initial)


class Progression:
    """Past and future landmarks of a path, as Büchner et al. (ICAPS 2023) define them, and their costs."""

    def __init__(self, task: SasTask, landmarks: _core.Landmarks, cost: Callable[[int], int]) -> None:
        self.task = task
        self.landmarks = [frozenset(facts) for facts in landmarks.facts]
        self.orderings = landmarks.orderings
        self.cost = cost

    def holding(self, state: State) -> set[int]:
        return {n for n, facts in enumerate(self.landmarks) if any(state[v] == d for v, d in facts)}

    def values(self, path: Sequence[State]) -> list[float]:
        """landmark_sum of every state of a path from the initial state; no state may come twice."""
        every = set(range(len(self.landmarks)))
        holds = self.holding(path[0])
        past = set(holds)
        future = (every - holds) | {b for a, b, _ in self.orderings if a not in holds}
        result = [self.sum(past, future)]
        for state in path[1:]:
            before, holds = holds, self.holding(state)
            kept = {n for n in future if n not in holds or n in before}
            past = every - {n for n in future if n not in holds and n not in past}
            future = kept | {n for n in every - holds if self.is_goal(n)}
            for a, b, kind in self.orderings:
                if kind == "greedy-necessary" and b not in past and a not in holds:
                    future.add(a)
                if kind == "reasonable" and a not in past:
                    future.add(b)
            result.append(self.sum(past, future))
        return result

    def is_goal(self, number: int) -> bool:
        return len(self.landmarks[number]) == 1 and self.landmarks[number] <= set(self.task.goal)

    def sum(self, past: set[int], future: set[int]) -> float:
        return sum(self.cheapest(self.landmarks[n], first=n not in past) for n in future)

    def cheapest(self, facts: frozenset[Fact], first: bool) -> float:
        reached = self.reached_without(facts) if first else None
        costs = [
            self.cost(operator.cost)
            for operator in self.task.operators
            for conditions, v, d in operator.effects
            if (v, d) in facts and (reached is None or reached.issuperset((*operator.preconditions, *conditions)))
        ]
        return min(costs, default=INFINITY)

    def reached_without(self, facts: frozenset[Fact]) -> set[Fact]:
        """What the delete relaxation reaches where no fact of these is ever made true; without axioms."""
        reached = set(enumerate(self.task.initial)) - facts
        usable = [
            operator
            for operator in self.task.operators
            if not any(not conditions and (v, d) in facts for conditions, v, d in operator.effects)
        ]
        while new := {
            (v, d)
            for operator in usable
            for conditions, v, d in operator.effects
            if reached.issuperset((*operator.preconditions, *conditions)) and (v, d) not in reached | facts
        }:
            reached |= new
        return reached
