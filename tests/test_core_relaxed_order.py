"""Values and preferred operators are those of the plain algorithm with its order, on tasks of many domains."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
import sas_reference
import tasks
from hypothesis import given, settings
from hypothesis import strategies as st
from relaxed_reference import Relaxation
from sas_reference import SasTask
from sas_strategy import sas_tasks

from gsp_fd import _core
from gsp_fd.generate import domain_text, generate
from gsp_fd.task import Task, load_pddl

SIZES = {
    "blocksworld": 22,
    "childsnack": 27,
    "ferry": 23,
    "floortile": 25,
    "miconic": 23,
    "rovers": 30,
    "satellite": 25,
    "sokoban": 70,
    "spanner": 26,
    "transport": 16,
}
MOST_OPERATORS = 6000
"""Up to here the plain algorithm is fast enough."""


def assert_same(ground: _core.GroundTask, native: _core.LiftedTask | None, steps: int, cost_types: list[str]) -> None:
    """Along a random walk, in the ground space and, where there is one, in the lifted space."""
    sas = sas_reference.read(ground.to_sas())
    references = [Relaxation(sas, cost_type) for cost_type in cost_types]
    axioms = "approximate_negative"
    heuristics = [
        [_core.heuristic(kind, ground, cost_type, axioms=axioms) for kind in ("hmax", "add", "ff")]
        for cost_type in cost_types
    ]
    space = _core.GroundSpace(ground)
    lifted = _core.LiftedSpace(native) if native else None
    rng = random.Random(3)
    state, twin = space.initial_state(), lifted.initial_state() if lifted else 0
    for _ in range(steps):
        values = tuple(space.export_state(state).tolist())
        for reference, (hmax, hadd, ff) in zip(references, heuristics, strict=True):
            *expected, preferred = reference.values(values)
            found = [float(h.evaluate(space, np.array([state], np.int32))[0]) for h in (hmax, hadd, ff)]
            assert found == expected
            assert set(ff.preferred(space, state)) == preferred
            if lifted:
                found = [float(h.evaluate(lifted, np.array([twin], np.int32))[0]) for h in (hmax, hadd, ff)]
                assert found == expected
                names = {lifted.operator_name(op) for op in ff.preferred(lifted, twin)}
                assert names == {space.operator_name(op) for op in preferred}
        operators = space.applicable(state)
        if not operators:
            return
        chosen = rng.choice(operators)
        state = space.apply(state, chosen)
        if lifted:
            name = space.operator_name(chosen)
            (same,) = [op for op in lifted.applicable(twin) if lifted.operator_name(op) == name]
            twin = lifted.apply(twin, same)


@pytest.mark.parametrize("domain", SIZES)
def test_generated_tasks(domain: str) -> None:
    task = tasks.load(domain_text(domain), generate(domain, SIZES[domain], 1))
    assert task.ground().num_operators <= MOST_OPERATORS
    assert_same(task.ground(), task.native_lifted(), 12, ["normal", "one", "plusone"])


@pytest.mark.parametrize("domain", SIZES)
def test_split_schemas(domain: str) -> None:
    """Without grounding: the same hmax and hadd, and an hFF between them; it may break ties in another way."""
    task = tasks.load(domain_text(domain), generate(domain, SIZES[domain], 2))
    native, ground = task.native_lifted(), task.ground()
    space = _core.LiftedSpace(native)
    rng, state = random.Random(5), space.initial_state()
    for _ in range(12):
        number = np.array([state], np.int32)
        split, whole = (
            [float(_core.heuristic(kind, source).evaluate(space, number)[0]) for kind in ("hmax", "add", "ff")]
            for source in (native, ground)
        )
        assert split[:2] == whole[:2]
        assert split[0] <= split[2] <= split[1]
        operators = space.applicable(state)
        if not operators:
            return
        state = space.apply(state, rng.choice(operators))


@settings(max_examples=150, deadline=None)
@given(task=sas_tasks(costs=st.sampled_from([0, 1, 2, 4095, 4096, 5000])))
def test_random_tasks(task: SasTask) -> None:
    """Conditional effects, axioms, costs on both sides of the limit between the two orders."""
    assert_same(_core.GroundTask.from_sas(sas_reference.write(task)), None, 5, ["normal", "plusone"])


def assert_same_for(task: Task, steps: int) -> bool:
    """Whether the task was small enough to be looked at."""
    ground = task.ground()
    if ground.num_operators > MOST_OPERATORS:
        return False
    assert_same(ground, task.native_lifted() if task.is_lifted else None, steps, ["normal", "one"])
    return True


def test_benchmarks(benchmarks: Path) -> None:
    root = benchmarks / "ipc2023-learning"
    looked_at = 0
    for domain in SIZES:
        for number in (1, 11):
            task = load_pddl(root / domain / "domain.pddl", root / domain / "testing" / "easy" / f"p{number:02}.pddl")
            looked_at += assert_same_for(task, 5)
    assert looked_at >= 15


def test_conformance_pairs(benchmarks: Path) -> None:
    """What the translator makes of everything that Fast Downward accepts; and our own grounding."""
    folders = sorted(path.parent for path in (benchmarks / "conformance").glob("*/domain.pddl"))
    looked_at = sum(assert_same_for(load_pddl(f / "domain.pddl", f / "problem.pddl"), 4) for f in folders)
    assert looked_at >= 30
