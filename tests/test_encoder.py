"""The native encoder against a few lines of Python, and its equivariance through a whole network."""

from __future__ import annotations

import random
import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference
import tasks
from encoder_reference import EncodedState, check_batch, encode, fluent_atoms
from hypothesis import given, settings
from hypothesis import strategies as st
from random_models import lifted_of, metadata_of, random_model

from gsp_fd import _core as core
from gsp_fd.generate import domain_text, generate
from gsp_fd.model import Model, relation_specs
from gsp_fd.task import Task

MATCHES_DOMAIN = """\
(define (domain matches)
  (:requirements :strips :negative-preconditions)
  (:predicates (fresh ?x) (burnt ?x) (light))
  (:action burn :parameters (?x) :precondition (fresh ?x) :effect (and (burnt ?x) (light) (not (fresh ?x)))))
"""


def matches(goal: str) -> str:
    return f"(define (problem m) (:domain matches) (:objects a b) (:init (fresh a) (fresh b)) (:goal {goal}))"


TEXTS = {
    "tower": (tasks.TOWER_DOMAIN, tasks.TOWER),
    "tower, goal true": (tasks.TOWER_DOMAIN, re.sub(r"\(:goal .*\)\)", "(:goal (on c b)))", tasks.TOWER)),
    "courier": (tasks.COURIER_DOMAIN, tasks.COURIER),
    "lamps, negative": (tasks.LAMPS_DOMAIN, tasks.lamps(4, "(lit l0) (not (lit l1)) (not (lit l2))")),
    "lamps, none": (tasks.LAMPS_DOMAIN, tasks.lamps(3, "(not (lit l1))")),
    "matches": (MATCHES_DOMAIN, matches("(light)")),
    "matches, negative": (MATCHES_DOMAIN, matches("(and (not (light)) (not (burnt a)) (fresh b))")),
    **{
        name: (domain_text(name), generate(name, size, 3))
        for name, size in (("blocksworld", 5), ("childsnack", 9), ("rovers", 12), ("sokoban", 30), ("satellite", 12))
    },
}


@cache
def load(name: str) -> Task:
    return tasks.load(*TEXTS[name])


def walk(space: core.LiftedSpace, steps: int, seed: int) -> list[int]:
    """States of a random walk, with repetitions; shorter where nothing is applicable."""
    rng, states = random.Random(seed), [space.initial_state()]
    while len(states) < steps and (operators := space.applicable(states[-1])):
        states.append(space.apply(states[-1], rng.choice(operators)))
    return states


@pytest.mark.parametrize("goal_split", [True, False])
@pytest.mark.parametrize("name", TEXTS)
def test_relations_against_python(name: str, goal_split: bool) -> None:
    task = load(name)
    lifted = lifted_of(task)
    metadata = metadata_of(task, goal_split=goal_split)
    space = core.LiftedSpace(task.native_lifted())
    encoder = core.Encoder(task.native_lifted(), relation_specs(metadata, lifted))
    states = [*walk(space, 12, 5), space.initial_state()]
    rows = [list(space.applicable(state)) for state in states]
    rows[0].reverse()  # the order of the actions is the caller's
    rows[1] = rows[1][:1]
    expected = [EncodedState(lifted, space, state, row) for state, row in zip(states, rows, strict=True)]
    for chosen in ([0], [1], list(range(len(states)))):
        batch = encode(encoder, space, [states[i] for i in chosen], [rows[i] for i in chosen])
        check_batch(metadata, batch, [expected[i] for i in chosen])


def relations_at(name: str, *states_from_start: str, goal_split: bool = True) -> dict[str, list[list[int]]]:
    """Relations of the state that these actions lead to."""
    task = load(name)
    metadata = metadata_of(task, goal_split=goal_split)
    space = core.LiftedSpace(task.native_lifted())
    encoder = core.Encoder(task.native_lifted(), relation_specs(metadata, lifted_of(task)))
    state = space.initial_state()
    for action in states_from_start:
        state = space.apply(state, named_operators(space, state)[action])
    batch = encode(encoder, space, [state], [space.applicable(state)])
    return {name: atoms.tolist() for (name, _), atoms in zip(metadata.relations, batch.relations, strict=True)}


def named_operators(space: core.LiftedSpace, state: int) -> dict[str, int]:
    return {space.operator_name(op): op for op in space.applicable(state)}


def test_satisfied_and_open_goals_are_different_relations() -> None:
    before, after = relations_at("matches"), relations_at("matches", "burn b")
    assert (before["light@goal"], before["light@goal_true"]) == ([[2]], [])
    assert (after["light@goal"], after["light@goal_true"]) == ([], [[2]])
    joined = [relations_at("matches", *actions, goal_split=False) for actions in ([], ["burn b"])]
    assert [relations["light@goal"] for relations in joined] == [[[2]], [[2]]]
    assert "light@goal_true" not in joined[0]


def test_negative_goals_have_relations_of_their_own() -> None:
    before, after = (relations_at("matches, negative", *actions) for actions in ([], ["burn b"]))
    assert (before["burnt@not_goal"], before["burnt@not_goal_true"]) == ([], [[0]])
    assert (before["light@not_goal"], after["light@not_goal"]) == ([], [[2]])
    assert (before["fresh@goal_true"], after["fresh@goal"]) == ([[1]], [[1]])


def test_state_without_applicable_actions() -> None:
    burnt = relations_at("matches", "burn a", "burn b")
    assert burnt["action@burn"] == burnt["fresh"] == []
    assert burnt["light"] == [[2]]
    assert sorted(burnt["burnt"]) == [[0], [1]]


def test_one_row_of_operators_per_state() -> None:
    task = load("tower")
    space = core.LiftedSpace(task.native_lifted())
    encoder = core.Encoder(task.native_lifted(), relation_specs(metadata_of(task), lifted_of(task)))
    with pytest.raises(ValueError, match="one row of operators per state"):
        encode(encoder, space, [0, 0], [[]])
    with pytest.raises((ValueError, IndexError)):
        encode(encoder, space, [99], [[]])


# Equivariance


def parse(text: str) -> Any:
    """Nested lists of the words of a PDDL text."""
    stack: list[list[Any]] = [[]]
    for token in re.findall(r"[()]|[^\s()]+", re.sub(";.*", "", text)):
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    return stack[0][0]


def text_of(tree: Any) -> str:
    return tree if isinstance(tree, str) else f"({' '.join(map(text_of, tree))})"


def renamed(tree: Any, names: dict[str, str]) -> Any:
    return names.get(tree, tree) if isinstance(tree, str) else [renamed(part, names) for part in tree]


def scrambled(problem: str, rng: random.Random, reorder: bool = True) -> tuple[str, dict[str, str]]:
    """A problem with its objects renamed, and objects, initial atoms and goals in another order; and the new names."""

    def shuffled(items: list[Any]) -> list[Any]:
        return rng.sample(items, len(items)) if reorder else items

    tree = parse(problem)
    sections = {part[0]: part for part in tree[1:]}
    typed: list[list[str]] = []
    pending: list[str] = []
    words = iter(sections[":objects"][1:])
    for word in words:
        if word == "-":
            typed += [[name, "-", kind] for kind in [next(words)] for name in pending]
            pending = []
        else:
            pending.append(word)
    typed += [[name] for name in pending]
    old = [entry[0] for entry in typed]
    names = dict(zip(old, rng.sample([f"o{i}" for i in range(len(old))], len(old)), strict=True))
    # Objects without a type come last: what precedes a "-" would get its type.
    typed = sorted(shuffled(typed), key=len, reverse=True)
    sections[":objects"][1:] = [word for entry in typed for word in entry]
    sections[":init"][1:] = shuffled(sections[":init"][1:])
    goal = sections[":goal"][1]
    if goal[0] == "and":
        goal[1:] = shuffled(goal[1:])
    body = [renamed(part, names) if part[0] in (":objects", ":init", ":goal") else part for part in tree[1:]]
    return text_of([tree[0], *body]), names


def q_by_name(model: Model, task: Task, path: list[str], symmetry: bool = False) -> list[dict[str, float]]:
    """Q-values by action, in the states along a path of actions."""
    space = core.LiftedSpace(task.native_lifted())
    states = [space.initial_state()]
    for action in path:
        states.append(space.apply(states[-1], named_operators(space, states[-1])[action]))
    if symmetry:
        reduced = core.LiftedSpace(task.native_lifted(), True)
        states = [reduced.import_state(space.export_state(state)) for state in states]
        space = reduced
    begin, operators = core.applicable_rows(space, np.array(states, np.int32))
    encoder = model.encoder(lifted_of(task), task.native_lifted())
    plans = task.heuristic("ff") if model.metadata.relaxed_plan else None
    values = model.backend.q_values(encoder.encode(space, np.array(states, np.int32), begin, operators, plans))
    named = [(space.operator_name(op), value) for op, value in zip(operators.tolist(), values.tolist(), strict=True)]
    return [dict(named[a:b]) for a, b in pairwise(begin)]


def action_walk(task: Task, steps: int, seed: int) -> list[str]:
    space = core.LiftedSpace(task.native_lifted())
    rng, state = random.Random(seed), space.initial_state()
    actions: list[str] = []
    while len(actions) < steps and (operators := named_operators(space, state)):
        actions.append(rng.choice(sorted(operators)))
        state = space.apply(state, operators[actions[-1]])
    return actions


def in_other_words(action: str, names: dict[str, str]) -> str:
    schema, *objects = action.split()
    return " ".join([schema, *(names.get(o, o) for o in objects)])


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Model]:
    """One random model per task, every other one without goal_split."""
    folder = tmp_path_factory.mktemp("models")
    split = {name: i % 2 == 0 for i, name in enumerate(TEXTS)}
    return {
        name: Model(random_model(load(name), Path(folder, f"{name}.onnx"), goal_split=split[name])) for name in TEXTS
    }


@pytest.mark.parametrize("name", TEXTS)
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_equivariance(models: dict[str, Model], name: str, seed: int) -> None:
    """Renaming and reordering permutes Q and nothing else."""
    task, model = load(name), models[name]
    domain, problem = TEXTS[name]
    text, names = scrambled(problem, random.Random(seed))
    other = tasks.load(domain, text)
    path = action_walk(task, 5, seed)

    def translate(action: str) -> str:
        return in_other_words(action, names)

    ours = q_by_name(model, task, path)
    theirs = q_by_name(model, other, [translate(action) for action in path])
    for mine, its in zip(ours, theirs, strict=True):
        assert {translate(action) for action in mine} == its.keys()
        for action, value in mine.items():
            assert its[translate(action)] == pytest.approx(value, rel=1e-4, abs=1e-4)
    reduced = q_by_name(model, task, path, symmetry=True)
    reduced_too = q_by_name(model, other, [translate(action) for action in path], symmetry=True)
    for full, mine, its in zip(ours, reduced, reduced_too, strict=True):
        assert mine.keys() <= full.keys()
        np.testing.assert_allclose(sorted(mine.values()), sorted(its.values()), rtol=1e-4, atol=1e-4)


# Relaxed plans are not lifted: of several that are equally good one is taken, and which one depends on the order.

SEEING = ("tower", "courier", "lamps, negative", "blocksworld", "satellite")


@pytest.fixture(scope="module")
def seeing(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Model]:
    """Models that see relaxed plans."""
    folder = tmp_path_factory.mktemp("seeing")
    return {name: Model(random_model(load(name), folder / f"{name}.onnx", relaxed_plan="yes")) for name in SEEING}


@pytest.mark.parametrize("symmetry", [False, True])
@pytest.mark.parametrize("name", SEEING)
def test_names_change_nothing_with_relaxed_plans(seeing: dict[str, Model], name: str, symmetry: bool) -> None:
    task, (domain, problem) = load(name), TEXTS[name]
    for seed in range(3):
        text, names = scrambled(problem, random.Random(seed), reorder=False)
        path = action_walk(task, 6, seed)
        ours = q_by_name(seeing[name], task, path, symmetry)
        other = [in_other_words(action, names) for action in path]
        theirs = q_by_name(seeing[name], tasks.load(domain, text), other, symmetry)
        assert [{in_other_words(action, names): q for action, q in of_state.items()} for of_state in ours] == theirs


def relaxed_plans(task: Task, path: list[str]) -> list[tuple[float, set[str], bool]]:
    """hadd, the relaxed plan and whether there is only one, in the states along a path."""
    lifted = lifted_of(task)
    space, state, found = core.LiftedSpace(task.native_lifted()), 0, []
    for action in [*path, None]:
        hadd = task.heuristic("add").evaluate(space, np.array([state], np.int32))[0]
        rows = [(schema, tuple(objects)) for schema, *objects in task.heuristic("ff").relaxed_plan(space, state)[1]]
        static = {atom for atom in lifted.init if not lifted.fluent[atom[0]]}
        only = reference.unique_relaxed_plan(lifted, frozenset(fluent_atoms(lifted, space, state) | static))
        assert only is None or only == set(rows)
        found.append((hadd, {reference.action_name(lifted, row) for row in rows}, only is not None))
        if action is not None:
            state = space.apply(state, named_operators(space, state)[action])
    return found


@pytest.mark.parametrize("name", SEEING)
def test_another_order_changes_ties_of_relaxed_plans_only(seeing: dict[str, Model], name: str) -> None:
    task, (domain, problem) = load(name), TEXTS[name]
    judged = 0
    for seed in range(6):
        text, names = scrambled(problem, random.Random(seed))
        other, path = tasks.load(domain, text), action_walk(task, 6, seed)
        new_path = [in_other_words(action, names) for action in path]
        values = zip(q_by_name(seeing[name], task, path), q_by_name(seeing[name], other, new_path), strict=True)
        plans = zip(relaxed_plans(task, path), relaxed_plans(other, new_path), strict=True)
        for (ours, theirs), ((hadd, plan, only), (hadd_too, plan_too, only_too)) in zip(values, plans, strict=True):
            assert (hadd, only) == (hadd_too, only_too)
            same = {in_other_words(action, names) for action in plan} == plan_too
            assert same or not only
            if same:
                judged += bool(plan) and only
                assert {in_other_words(action, names) for action in ours} == theirs.keys()
                for action, value in ours.items():
                    assert theirs[in_other_words(action, names)] == pytest.approx(value, rel=1e-4, abs=1e-4)
    assert judged, "some relaxed plans are unique"
