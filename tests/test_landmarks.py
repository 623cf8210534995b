"""Landmarks of the native core against the real Fast Downward, and landmark_sum against plain Python."""

from __future__ import annotations

import random
import re
import tempfile
from pathlib import Path

import cli_support
import landmark_reference
import numpy as np
import pytest
import sas_reference
import tasks
from hypothesis import HealthCheck, assume, given, settings
from landmark_reference import Progression
from sas_reference import SasTask, State
from sas_strategy import sas_tasks

from gsp_fd import _core
from gsp_fd.generate import domain_text, generate
from gsp_fd.task import LimitReached, Task, TaskLimits
from gsp_fd.translator import translate

SIZES = {
    "blocksworld": 12,
    "childsnack": 12,
    "ferry": 15,
    "floortile": 16,
    "miconic": 15,
    "rovers": 20,
    "satellite": 18,
    "sokoban": 50,
    "spanner": 16,
    "transport": 12,
}
COSTS = {"normal": lambda cost: cost, "one": lambda cost: 1}
FACTORY = "lm_reasonable_orders_hps(lm_rhw())"
fewer = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


def generated(domain: str, seed: int = 1) -> Task:
    return tasks.load(domain_text(domain), generate(domain, SIZES[domain], seed))


def translated(folder: Path, domain: Path, problem: Path) -> bytes:
    translate(domain, problem, folder / "task.sas")
    return (folder / "task.sas").read_bytes()


# -- the graph, against Fast Downward


def assert_same_graph(folder: Path, sas: bytes) -> None:
    assert landmark_reference.ours(sas) == landmark_reference.fast_downwards(folder, sas)


@pytest.mark.parametrize("domain", SIZES)
def test_generated_tasks(domain: str, tmp_path: Path) -> None:
    """Landmarks one by one, in the same order, with the same orderings; on our encoding and on the translator's."""
    files = {"domain.pddl": domain_text(domain), "problem.pddl": generate(domain, SIZES[domain], 1)}
    cli_support.write_files(tmp_path, files)
    assert_same_graph(tmp_path, tasks.load(*files.values()).ground().to_sas())
    assert_same_graph(tmp_path, translated(tmp_path, tmp_path / "domain.pddl", tmp_path / "problem.pddl"))


@fewer
@given(sas_tasks())
def test_random_tasks(task: SasTask) -> None:
    """Conditional effects, axioms and all their options. Fast Downward wants goals and effects."""
    assume(task.goal and all(operator.effects for operator in task.operators))
    sas = sas_reference.write(task)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        assert_same_graph(folder, sas)
        without = landmark_reference.fast_downwards(folder, sas, "disjunctive_landmarks=false")
        assert landmark_reference.ours(sas, disjunctive_landmarks=False) == without
        free = landmark_reference.fast_downwards(folder, sas, "use_orders=false", "approximate_negative")
        assert landmark_reference.ours(sas, use_orders=False, axioms="approximate_negative") == free


def test_conformance_pairs(benchmarks: Path, tmp_path: Path) -> None:
    """Everything that Fast Downward accepts, from the files that its translator writes."""
    folders = sorted(path.parent for path in (benchmarks / "conformance").glob("*/domain.pddl"))
    assert len(folders) == 37
    for folder in folders:
        assert_same_graph(tmp_path, translated(tmp_path, folder / "domain.pddl", folder / "problem.pddl"))


@fewer
@given(sas_tasks())
def test_negated_axioms_in_relaxations(task: SasTask) -> None:
    """hmax and hadd of the initial state where negated derived facts have axioms of their own."""
    assume(task.goal and task.axioms and all(operator.effects for operator in task.operators))
    sas = sas_reference.write(task)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "output.sas").write_bytes(sas)
        search = "eager(alt([single(hmax()), single(add())]), bound=0)"
        log = cli_support.fast_downward_search(folder, "--search", search).stdout
    theirs = dict(re.findall(r"Initial heuristic value for (\w+): (\w+)", log))
    ground = _core.GroundTask.from_sas(sas)
    assert "hmax" in theirs
    for kind, expected in theirs.items():  # hadd only where hmax is finite
        value = _core.heuristic(kind, ground).along(_core.GroundSpace(ground), [])[0]
        assert value == float(expected), (kind, log)


# -- landmark_sum


def walk(task: SasTask, rng: random.Random, steps: int) -> tuple[list[int], list[State]]:
    """A random path on which no state comes twice."""
    operators: list[int] = []
    path = [sas_reference.initial(task)]
    for _ in range(steps):
        moves = [(op, sas_reference.successor(task, path[-1], op)) for op in sas_reference.applicable(task, path[-1])]
        if not (moves := [move for move in moves if move[1] not in path]):
            break
        operator, state = rng.choice(moves)
        operators.append(operator)
        path.append(state)
    return operators, path


def assert_same_values(sas: bytes, seed: int, steps: int) -> None:
    task, ground = sas_reference.read(sas), _core.GroundTask.from_sas(sas)
    landmarks = _core.landmarks(ground)
    operators, path = walk(task, random.Random(seed), steps)
    for cost_type, cost in COSTS.items():
        found = _core.landmark_sum(landmarks, cost_type).along(_core.GroundSpace(ground), operators)
        assert list(found) == Progression(task, landmarks, cost).values(path)


@fewer
@given(sas_tasks(axioms=False))
def test_values_on_random_paths(task: SasTask) -> None:
    sas = sas_reference.write(task)
    if sas_reference.initial(task) and not is_cyclic(_core.landmarks(_core.GroundTask.from_sas(sas))):
        assert_same_values(sas, 1, 8)


def is_cyclic(landmarks: _core.Landmarks) -> bool:
    left = {(a, b) for a, b, kind in landmarks.orderings if kind != "reasonable"}
    while free := {a for a, _ in left} - {b for _, b in left}:
        left = {(a, b) for a, b in left if a not in free}
    return bool(left)


@pytest.mark.parametrize("domain", SIZES)
def test_values_on_paths_of_generated_tasks(domain: str) -> None:
    assert_same_values(generated(domain).ground().to_sas(), 2, 25)


@pytest.mark.parametrize("domain", SIZES)
def test_lifted_states(domain: str) -> None:
    """On the lifted space of a task that was grounded: the same values, and the same operators preferred."""
    task, rng = generated(domain), random.Random(3)
    ground, native = task.ground(), task.native_lifted()
    heuristic = _core.landmark_sum(_core.landmarks(ground), pref=True)
    ground_space, lifted_space = _core.GroundSpace(ground), _core.LiftedSpace(native, False)
    here, there = ground_space.initial_state(), lifted_space.initial_state()
    ground_path, lifted_path = [], []
    for _ in range(15):
        names = [ground_space.operator_name(op) for op in heuristic.preferred(ground_space, here)]
        assert sorted(names) == sorted(
            lifted_space.operator_name(op) for op in heuristic.preferred(lifted_space, there)
        )
        by_name = {lifted_space.operator_name(op): op for op in lifted_space.applicable(there)}
        if not (operators := list(ground_space.applicable(here))):
            break
        operator = rng.choice(operators)
        ground_path.append(operator)
        lifted_path.append(by_name[ground_space.operator_name(operator)])
        here, there = ground_space.apply(here, operator), lifted_space.apply(there, lifted_path[-1])
    values = heuristic.along(ground_space, ground_path)
    assert np.array_equal(heuristic.along(lifted_space, lifted_path), values)
    assert len(values) > 1


def test_preferred_operators_make_landmarks_true() -> None:
    task = generated("ferry")
    sas = task.ground().to_sas()
    read, ground = sas_reference.read(sas), _core.GroundTask.from_sas(sas)
    landmarks = _core.landmarks(ground)
    space = _core.GroundSpace(ground)
    state = sas_reference.initial(read)
    open_facts = {fact for facts in landmarks.facts if not sas_reference.holds(state, facts[:1]) for fact in facts}
    expected = [
        op
        for op in sas_reference.applicable(read, state)
        if any((v, d) in open_facts for _, v, d in read.operators[op].effects)
    ]
    assert expected
    assert sorted(_core.landmark_sum(landmarks, pref=True).preferred(space, space.initial_state())) == expected
    assert _core.landmark_sum(landmarks, pref=False).preferred(space, space.initial_state()) == []


def test_goals_stand_for_landmarks() -> None:
    """Of a task that is not grounded: every open goal, at the cost of the cheapest action that may reach it."""
    task = tasks.load(tasks.COURIER_DOMAIN, tasks.COURIER)
    space = _core.LiftedSpace(task.native_lifted())
    goals = _core.heuristic("goalcount", task.native_lifted()).along(space, [])[0]
    assert _core.goal_sum(task.native_lifted(), "one").along(space, [])[0] == goals > 0
    assert _core.goal_sum(task.native_lifted(), "normal").along(space, [])[0] > goals


# -- limits, and the search language


def test_limits() -> None:
    task = generated("rovers")
    with pytest.raises(LimitReached, match="time"):
        task.landmarks(TaskLimits(time=0.0))


def test_tasks_that_are_searched_lifted(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are grounded for their landmarks alone, up to another size and for a part of the time."""
    usual = generated("ferry").landmarks()
    monkeypatch.setattr("gsp_fd.task.SMALL_GROUNDING", 1)
    task = generated("ferry")
    found = task.landmarks(TaskLimits(time=60.0))
    assert usual is not None
    assert found is not None
    assert found.facts == usual.facts
    assert task.ground_if_small() is None
    assert task.landmarks(TaskLimits(time=0.0)) is None
    monkeypatch.setattr("gsp_fd.task.LANDMARK_GROUNDING", 1)
    assert task.landmarks() is None


@pytest.mark.parametrize("evaluator", ["ff()", f"landmark_sum({FACTORY}, pref=true)"])
def test_learned_search_with_preferred_operators(evaluator: str, tmp_path: Path) -> None:
    """Q and another heuristic order the same lifted states, and operators of the lifted space are preferred."""
    files = {"domain.pddl": domain_text("ferry"), "problem.pddl": generate("ferry", SIZES["ferry"], 1)}
    cli_support.write_files(tmp_path, files)
    search = f"let(h, {evaluator}, lazy_greedy([gsp(model=ferry), h], preferred=[h]))"
    run = cli_support.gsp_plan(tmp_path, *files, "--search", search)
    assert run.returncode == 0, run.stdout + run.stderr


LAMA_FIRST_OF_2023 = (
    "let(hlm, landmark_sum(lm_factory=lm_reasonable_orders_hps(lm_rhw()),transform=adapt_costs(one),pref=false),"
    "let(hff, ff(transform=adapt_costs(one)),"
    "lazy_greedy([hff,hlm],preferred=[hff,hlm],cost_type=one,reopen_closed=false)))"
)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--alias", "lama-first"],
        ["--alias", "lama"],
        ["--alias", "seq-sat-lama-2011"],
        ["--search", LAMA_FIRST_OF_2023],
        ["--search", "let(lm, lm_rhw(use_orders=false), lazy_greedy([landmark_sum(lm, pref=true)]))"],
        ["--search", "eager_wastar([landmark_sum(lm_rhw(disjunctive_landmarks=false))], w=3)"],
    ],
)
@pytest.mark.parametrize("files", [cli_support.COURIER, cli_support.HOUSE])
def test_searches(files: dict[str, str], arguments: list[str], tmp_path: Path) -> None:
    """With and without axioms; the plans are validated."""
    cli_support.write_files(tmp_path, files)
    run = cli_support.gsp_plan(tmp_path, *_around(arguments))
    assert run.returncode == 0, run.stdout + run.stderr
    assert "landmarks, of which" in run.stdout
    assert run.stdout.count("Generating landmark graph...") == 1


def _around(arguments: list[str]) -> list[str]:
    """An alias comes before the files, a search after them."""
    files = ["domain.pddl", "problem.pddl"]
    return [*arguments, *files] if arguments[0] == "--alias" else [*files, *arguments]


def test_log_as_fast_downward(tmp_path: Path) -> None:
    """The lines of both logs from the landmarks on, times apart."""
    cli_support.write_files(tmp_path, cli_support.COURIER)
    translate(tmp_path / "domain.pddl", tmp_path / "problem.pddl", tmp_path / "output.sas")
    search = "lazy_greedy([landmark_sum(lm_reasonable_orders_hps(lm_rhw()))])"
    theirs = cli_support.fast_downward_search(tmp_path, "--search", search).stdout
    own = cli_support.gsp_plan(tmp_path, "output.sas", "--search", search).stdout
    assert _landmark_lines(own) == _landmark_lines(theirs) != []


def _landmark_lines(log: str) -> list[str]:
    lines = [line.partition("] ")[2] for line in log.splitlines()]
    chosen = [line for line in lines if "andmark" in line or "approx" in line or "Exploration" in line]
    return [line.partition(" time:")[0] for line in chosen if "New best" not in line]
