"""Variants of problems: other goals and starts, solvable, the same for the same seed; and their files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
import tasks

from gsp_fd import _core
from gsp_fd.generate import domain_text, generate
from gsp_fd.generate.pddl_writer import parsed_problem_text
from gsp_fd.generate.variants import DESCRIPTIONS, KINDS, fewer_goals, goal_literals, start_away, variants, vary
from gsp_fd.pddl import read_problem
from gsp_fd.pddl.ast import And, Atom, Not
from gsp_fd.task import FULL, Task, load_pddl

DOMAINS = {"blocksworld": 7, "ferry": 9, "floortile": 17, "rovers": 16, "sokoban": 70, "spanner": 11, "childsnack": 18}
"""Domains with and without dead ends, with sizes that a blind planner solves soon."""


@pytest.fixture(scope="module", params=DOMAINS)
def task(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Task:
    return made(tmp_path_factory.mktemp(request.param), request.param, DOMAINS[request.param])


def made(folder: Path, domain: str, size: int, seed: int = 1) -> Task:
    (folder / "domain.pddl").write_text(domain_text(domain))
    (folder / f"p{seed}.pddl").write_text(generate(domain, size, seed))
    return load_pddl(folder / "domain.pddl", folder / f"p{seed}.pddl")


def plan(task: Task) -> list[str]:
    ground = task.ground()
    space, hff = _core.GroundSpace(ground), _core.heuristic("ff", ground)
    result = _core.search(space, _core.SingleOpenList(hff), max_expansions=200_000)
    assert result.status == "solved"
    return [space.operator_name(operator) for operator in result.plan]


def found(task: Task, kind: str) -> list[Task]:
    return [variant for seed in range(4) if (variant := vary(task, kind, Random(seed))) is not None]


def test_every_kind_is_described() -> None:
    assert set(DESCRIPTIONS) == {FULL, *KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_variants_can_be_solved_and_are_not_yet(task: Task, kind: str) -> None:
    for variant in found(task, kind):
        assert variant.kind == kind
        assert Path(variant.name).stem == f"p1-{kind.replace(' ', '-')}"
        assert not variant.validate([]).valid
        assert variant.validate(plan(variant)).valid


def test_goals_are_some_of_the_goals(task: Task) -> None:
    goals = goal_literals(task)
    for kind, share in (("half", 0.5), ("fifth", 0.2), ("one", 0.0)):
        for variant in found(task, kind):
            assert set(goal_literals(variant)) < set(goals)
            assert len(goal_literals(variant)) == max(1, round(share * len(goals)))
    assert len(goals) == 1 or found(task, "one")
    for variant in found(task, "one predicate"):
        assert len({goal.predicate for goal in goal_literals(variant) if isinstance(goal, Atom)}) == 1


@pytest.mark.parametrize("kind", ["away", "midway"])
def test_other_starts(task: Task, kind: str) -> None:
    assert task.problem is not None
    assert task.lifted is not None
    static = {atom for atom, fluent in zip(task.lifted.predicates, task.lifted.fluent, strict=True) if not fluent}
    for variant in found(task, kind):
        assert variant.problem is not None
        assert variant.problem.goal == task.problem.goal
        assert set(variant.problem.init) != set(task.problem.init)
        statics = [{atom for atom in problem.init if atom[0] in static} for problem in (variant.problem, task.problem)]
        assert statics[0] == statics[1]


def test_reached_goals_have_any_predicate(tmp_path: Path) -> None:
    task = made(tmp_path, "blocksworld", 8)
    reached = [vary(task, "reached", Random(seed)) for seed in range(60)]
    predicates = {
        goal.predicate
        for variant in reached
        if variant is not None
        for goal in goal_literals(variant)
        if isinstance(goal, Atom)
    }
    assert predicates == {"on", "on-table", "clear", "holding", "arm-empty"}
    sizes = {len(goal_literals(variant)) for variant in reached if variant is not None}
    assert min(sizes) == 1
    assert max(sizes) >= 8


def test_a_single_goal_has_no_half(tmp_path: Path) -> None:
    task = made(tmp_path, "blocksworld", 6)
    one = fewer_goals(task, Random(0), 0.0, "one")
    assert one is not None
    assert fewer_goals(one, Random(0), 0.5, "half") is None
    assert vary(one, "one predicate", Random(0)) is None


def test_steps_away_may_be_none(tmp_path: Path) -> None:
    assert start_away(made(tmp_path, "blocksworld", 6), Random(0), 0) is None


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 0.75])
def test_share_of_variants(tmp_path: Path, share: float) -> None:
    given = [made(tmp_path, "blocksworld", 6, seed) for seed in range(1, 13)]
    made_of_them = variants(given, share, 3)
    assert len(made_of_them) / (len(made_of_them) + 12) == pytest.approx(share)
    assert len({variant.name for variant in made_of_them}) == len(made_of_them)
    assert [v.lifted for v in variants(given, share, 3)] == [v.lifted for v in made_of_them]
    if share >= 0.5:
        assert {variant.kind for variant in made_of_them} == set(KINDS)
        assert [v.lifted for v in variants(given, share, 4)] != [v.lifted for v in made_of_them]


# -- files


def test_files_of_variants(task: Task, tmp_path: Path) -> None:
    assert task.domain is not None
    for kind in KINDS:
        for variant in found(task, kind)[:1]:
            assert variant.problem is not None
            (tmp_path / "p.pddl").write_text(parsed_problem_text(variant.problem))
            again = read_problem(tmp_path / "p.pddl", task.domain)
            assert again.name == variant.problem.name
            assert set(again.objects) == set(variant.problem.objects)
            assert (again.init, again.goal) == (variant.problem.init, variant.problem.goal)


def test_files_with_costs_types_and_negative_goals(tmp_path: Path) -> None:
    (tmp_path / "domain.pddl").write_text(tasks.COURIER_DOMAIN)
    (tmp_path / "problem.pddl").write_text(tasks.COURIER)
    task = load_pddl(tmp_path / "domain.pddl", tmp_path / "problem.pddl")
    assert task.domain is not None
    assert task.problem is not None
    goals = goal_literals(task)
    assert isinstance(goals[0], Atom)
    problem = replace(task.problem, goal=And((*goals[1:], Not(goals[0]))))
    (tmp_path / "again.pddl").write_text(parsed_problem_text(problem))
    again = read_problem(tmp_path / "again.pddl", task.domain)
    assert problem.values
    assert (again.values, again.minimize_cost) == (problem.values, problem.minimize_cost)
    assert (again.goal, set(again.objects)) == (problem.goal, set(problem.objects))
