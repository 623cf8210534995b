"""Searches that trust the ranking of actions, and queues with preferred operators, against a slow search in Python."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tasks
from random_models import lifted_of, random_model

from gsp_fd import _core
from gsp_fd.fd_integration.driver import main
from gsp_fd.generate import domain_text, generate
from gsp_fd.model import Model
from gsp_fd.task import Task

SIZES = {"blocksworld": 4, "childsnack": 8, "ferry": 6, "miconic": 7, "spanner": 11}
SETTINGS = [(domain, 1) for domain in SIZES] + [("ferry", 2), ("spanner", 3)]
TEMPERATURE = 0.5
Outcome = tuple[int, "list[str] | None"]
"""Expansions, and the plan if there is one."""


@dataclass
class Pair:
    """An action of a state, with what is known when it is put on the queues."""

    state: int
    op: int
    g: float
    """Of the state."""
    q: float
    ff: float
    """Of the state."""
    preferred: bool
    path: list[tuple[list[float], float]]
    """Q-values of the actions of every state of the path, and that of the one taken."""

    @property
    def regret(self) -> float:
        return sum(max(values) - taken for values, taken in self.path)

    @property
    def surprise(self) -> float:
        """-log π of the path."""
        total = 0.0
        for values, taken in self.path:
            total -= math.log(math.exp(taken / TEMPERATURE) / sum(math.exp(value / TEMPERATURE) for value in values))
        return total

    def guided(self, h: float, star: bool) -> float:
        length = max(len(self.path), len(self.path) - 1 + h)
        return math.log(length) + self.surprise * (length / len(self.path) if star else 1)


Key = Callable[[Pair], tuple[float, ...]]


@dataclass
class Queue:
    key: Key
    preferred_only: bool = False
    priority: int = 0
    pairs: list[tuple[tuple[float, ...], int, Pair]] = field(default_factory=list)


KEYS: dict[str, Key] = {
    "value": lambda pair: (-pair.q,),
    "ff": lambda pair: (pair.ff,),
    "wastar": lambda pair: (pair.g - 2 * pair.q,),
    "regret": lambda pair: (pair.regret, -len(pair.path)),
    "levin": lambda pair: (math.log(len(pair.path)) + pair.surprise,),
    "phs": lambda pair: (pair.guided(-pair.q, False),),
    "phs_ff": lambda pair: (pair.guided(pair.ff, False),),
    "phs_star": lambda pair: (pair.guided(-pair.q, True),),
}
SEARCHES: dict[str, tuple[str, list[tuple[str, bool]]]] = {
    "gsp_regret(gsp(), dead_ends=ff()": ("regret", [("regret", False)]),
    f"gsp_levin(gsp(), temperature={TEMPERATURE}, dead_ends=ff()": ("levin", [("levin", False)]),
    f"gsp_phs(gsp(), temperature={TEMPERATURE}, dead_ends=ff()": ("phs", [("phs", False)]),
    f"gsp_phs(gsp(), h=ff(), temperature={TEMPERATURE}": ("phs_ff", [("phs_ff", False)]),
    f"gsp_phs_star(gsp(), temperature={TEMPERATURE}, dead_ends=ff()": ("phs*", [("phs_star", False)]),
    "let(q, gsp(), lazy(alt([single(sum([g(), weight(q, 2)])), tiebreaking([regret(q), weight(depth(), -1)]), "
    "single(ff())])": ("queues", [("wastar", False), ("regret", False), ("ff", False)]),
    "gsp_queues(gsp(), dead_ends=ff()": ("value and regret", [("wastar", False), ("regret", False)]),
    "let(h, ff(), gsp_queues(gsp(), [h], preferred=[h], boost=20": (
        "value, regret and hFF",
        [("wastar", False), ("regret", False), ("ff", False), ("ff", True)],
    ),
    "let(h, ff(), lazy_greedy([gsp(), h], preferred=[h], boost=20": (
        "preferred",
        [("value", False), ("value", True), ("ff", False), ("ff", True)],
    ),
}
"""Searches without their end, and the queues that they stand for."""


class Reference:
    """The slow search: a path is kept with every pair, and the best of a queue is looked for among all."""

    def __init__(self, task: Task, model: Model, symmetry: bool) -> None:
        self.space = _core.LiftedSpace(task.native_lifted(), symmetry)
        self.encoder = model.encoder(lifted_of(task), task.native_lifted())
        self.model = model
        self.ff = _core.heuristic("ff", task.ground())
        self.best = [math.inf, math.inf]
        self.arrivals = 0

    def search(self, queues: list[Queue], boost: int, batch_size: int, budget: int) -> Outcome:
        space, start = self.space, self.space.initial_state()
        paths: dict[int, list[Pair]] = {start: []}
        waiting, taken, expanded = [start], set(), 0
        while True:
            for state in waiting:
                self.place(state, paths, queues, boost)
            waiting, batch = [], 0
            while batch < batch_size and any(queue.pairs for queue in queues):
                if expanded >= budget:
                    return expanded, None
                pair = self.pop(queues)
                if (pair.state, pair.op) in taken:
                    continue
                taken.add((pair.state, pair.op))
                expanded, batch = expanded + 1, batch + 1
                successor = space.apply(pair.state, pair.op)
                if successor in paths:
                    continue
                paths[successor] = [*paths[pair.state], pair]
                if space.is_goal(successor):
                    return expanded, [space.operator_name(step.op) for step in paths[successor]]
                waiting.append(successor)
            if not waiting and not any(queue.pairs for queue in queues):
                return expanded, None

    def pop(self, queues: list[Queue]) -> Pair:
        queue = min((queue for queue in queues if queue.pairs), key=lambda queue: queue.priority)
        queue.priority += 1
        first = min(queue.pairs, key=lambda item: item[:2])
        queue.pairs.remove(first)
        return first[2]

    def place(self, state: int, paths: dict[int, list[Pair]], queues: list[Queue], boost: int) -> None:
        states = np.array([state], np.int32)
        ff = float(self.ff.evaluate(self.space, states)[0])
        if math.isinf(ff):
            return
        preferred = self.ff.preferred(self.space, state)
        begin, operators = _core.applicable_rows(self.space, states)
        if not len(operators):
            return
        q = self.model.backend.q_values(self.encoder.encode(self.space, states, begin, operators)).tolist()
        known = [-max(q), ff]
        if any(value < best for value, best in zip(known, self.best, strict=True)):
            self.best = [min(pair) for pair in zip(known, self.best, strict=True)]
            for queue in queues:
                queue.priority -= boost if queue.preferred_only else 0
        path = paths[state]
        behind = path[-1].path if path else []
        g = sum(self.space.cost(step.op) for step in path)
        for op, value in zip(operators.tolist(), q, strict=True):
            if self.space.apply(state, op) in paths:
                continue
            pair = Pair(state, op, g, value, ff, op in preferred, [*behind, (q, value)])
            self.arrivals += 1
            for queue in queues:
                if pair.preferred or not queue.preferred_only:
                    # Sums of the same numbers in another order differ in their last digits.
                    key = tuple(round(number, 9) for number in queue.key(pair))
                    queue.pairs.append((key, self.arrivals, pair))


class Setting:
    """A task with a random network."""

    def __init__(self, folder: Path, domain: str, seed: int) -> None:
        texts = {"domain.pddl": domain_text(domain), "problem.pddl": generate(domain, SIZES[domain], seed)}
        for name, text in texts.items():
            (folder / name).write_text(text)
        self.folder = folder
        self.task: Task = tasks.load(*texts.values())
        self.model = Model(random_model(self.task, folder / "m.onnx", seed), device="cpu")

    def planned(self, search: str, budget: int, symmetry: bool = True) -> Outcome:
        """By ``gsp-plan``."""
        plan, files = self.folder / "sas_plan", [str(self.folder / name) for name in ("domain.pddl", "problem.pddl")]
        plan.unlink(missing_ok=True)
        options: list[Any] = [
            "--model",
            self.model.path,
            "--device",
            "cpu",
            "--max-expansions",
            budget,
            "--plan-file",
            plan,
        ]
        options += ["--symmetry", "objects" if symmetry else "none"]
        log = io.StringIO()
        with redirect_stdout(log):
            assert main([*files, "--search", search, *map(str, options)]) in (0, 12), log.getvalue()
        (expanded,) = re.findall(r"Expanded (\d+) state", log.getvalue())
        return int(expanded), re.findall(r"^\((.*)\)", plan.read_text(), re.MULTILINE) if plan.exists() else None


@pytest.fixture(scope="module", params=SETTINGS, ids=str)
def setting(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Setting:
    return Setting(tmp_path_factory.mktemp("setting"), *request.param)


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: SEARCHES[search][0])
def test_against_python(setting: Setting, search: str) -> None:
    """The same expansions and plans: one pair at a time and in batches, with and without symmetry reduction."""
    for batch_size, symmetry, budget in ((1, True, 600), (7, True, 300), (1, False, 300)):
        queues = [Queue(KEYS[key], preferred_only) for key, preferred_only in SEARCHES[search][1]]
        expected = Reference(setting.task, setting.model, symmetry).search(queues, 20, batch_size, budget)
        ending = ")" * (search.count("(") - search.count(")"))
        # batch_size belongs to the search, not to a let around it.
        text = f"{search}, batch_size={batch_size}{ending}"
        assert setting.planned(text, budget, symmetry) == expected


def test_preferred_operators_only(setting: Setting) -> None:
    """Q and hFF on lifted states with nothing but preferred successors: without them these searches end at once."""
    search = "let(h, ff(), lazy(alt([single(gsp(), pref_only=true), single(h, pref_only=true)]), preferred=[h]))"
    for symmetry in (False, True):
        queues = [Queue(KEYS[key], preferred_only=True) for key in ("value", "ff")]
        expected = Reference(setting.task, setting.model, symmetry).search(queues, 0, 1, 300)
        assert expected[0] > 3
        assert setting.planned(search, 300, symmetry) == expected


def test_levin_tree_search_is_phs_without_a_heuristic(setting: Setting) -> None:
    for temperature in (0.01, 0.5, 1000):
        levin = setting.planned(f"gsp_levin(gsp(), temperature={temperature})", 300)
        assert setting.planned(f"gsp_phs(gsp(), h=const(0), temperature={temperature})", 300) == levin


REFUSED = {
    "eager(single(regret(gsp())))": "evaluator regret is for lazy searches",
    "eager_greedy([levin(gsp())])": "evaluator depth is for lazy searches",
    "gsp_regret(ff())": "evaluator regret needs values of actions, such as those of gsp(); ff has values of states",
    "gsp_levin(sum([gsp(), g()]))": "eval must be a heuristic, not an expression over evaluators",
    "gsp_phs(gsp(), temperature=0)": "temperature",
    "gsp_wastar([gsp()], dead_ends=g())": "dead_ends must be a heuristic, not an expression over evaluators",
}


@pytest.mark.parametrize("search", REFUSED)
def test_refused(search: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    setting = Setting(tmp_path, "ferry", 1)
    files = [str(tmp_path / name) for name in ("domain.pddl", "problem.pddl")]
    model = ["--model", str(setting.model.path)] if "gsp()" in search else []
    assert main([*files, "--search", search, *model]) == 33
    message = capsys.readouterr().err
    assert REFUSED[search] in message
    assert "Traceback" not in message
