"""Networks that see relaxed plans: what is encoded, in batches, episodes and records, and how often it is computed."""

from __future__ import annotations

import random
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tasks
from encoder_reference import EncodedState, check_batch, encode
from hypothesis import given, settings
from hypothesis import strategies as st
from lifted_strategy import lifted_tasks
from random_models import Batch, lifted_of, metadata_of, random_model

from gsp_fd import _core
from gsp_fd.fd_integration.language.context import Context
from gsp_fd.generate import domain_text, generate
from gsp_fd.inference import NativeNetwork, OnnxSession
from gsp_fd.model import Model, relation_specs
from gsp_fd.pddl import LiftedTask
from gsp_fd.task import Task
from gsp_fd.training.instances import make_instances

SIZES = {"blocksworld": 6, "childsnack": 9, "rovers": 12, "satellite": 14, "sokoban": 30, "transport": 12, "lift": 8}
YES: dict[str, Any] = {"relaxed_plan": "yes"}


@cache
def generated(name: str) -> Task:
    return tasks.load(domain_text(name), generate(name, SIZES[name], 3))


def encoder_of(task: Task) -> _core.Encoder:
    return _core.Encoder(task.native_lifted(), relation_specs(metadata_of(task, **YES), lifted_of(task)))


def walk(space: _core.LiftedSpace, steps: int, seed: int) -> list[int]:
    rng, states = random.Random(seed), [space.initial_state()]
    while len(states) < steps and (operators := space.applicable(states[-1])):
        states.append(space.apply(states[-1], rng.choice(operators)))
    return states


def expected_states(
    task: Task,
    space: _core.LiftedSpace,
    plans: _core.Heuristic,
    states: list[int],
    rows: list[list[int]],
    symmetry: bool,
) -> list[EncodedState]:
    found = []
    for state, row in zip(states, rows, strict=True):
        _, *rows_of_plan = plans.relaxed_plan(space, state)
        plan, added = ([(symbol, tuple(objects)) for symbol, *objects in part] for part in rows_of_plan)
        found.append(EncodedState(lifted_of(task), space, state, row, plan, symmetry, added))
    return found


@settings(max_examples=200, deadline=None)
@given(lifted=lifted_tasks(costs=st.integers(0, 2)), symmetry=st.booleans(), seed=st.integers(0, 9))
def test_random_tasks_against_python(lifted: LiftedTask, symmetry: bool, seed: int) -> None:
    task = Task(name="random", lifted=lifted)
    space, plans = _core.LiftedSpace(task.native_lifted(), symmetry), task.heuristic("ff")
    states = walk(space, 4, seed)
    rows = [list(space.applicable(state)) for state in states]
    batch = encode(encoder_of(task), space, states, rows, plans)
    check_batch(metadata_of(task, **YES), batch, expected_states(task, space, plans, states, rows, symmetry))


@pytest.mark.parametrize("symmetry", [False, True])
@pytest.mark.parametrize("name", SIZES)
def test_generated_problems_against_python(name: str, symmetry: bool) -> None:
    task = generated(name)
    space, plans = _core.LiftedSpace(task.native_lifted(), symmetry), task.heuristic("ff")
    states = [*walk(space, 8, 5), space.initial_state()]
    rows = [list(space.applicable(state)) for state in states]
    rows[0].reverse()
    rows[1] = rows[1][:1]  # an applicable operator of the plan may have no action then
    expected = expected_states(task, space, plans, states, rows, symmetry)
    nodes = [(row[0], state) for state in expected for atoms in state.plan_rows().values() for row in atoms]
    own = [node >= state.first_action + len(state.operators) for node, state in nodes]
    assert {*own} == {True, False}, "operators that are applicable, and others"
    for chosen in ([0], [1], list(range(len(states)))):
        batch = encode(encoder_of(task), space, [states[i] for i in chosen], [rows[i] for i in chosen], plans)
        check_batch(metadata_of(task, **YES), batch, [expected[i] for i in chosen])


def test_nodes_of_a_relaxed_plan() -> None:
    """Objects a b c d are nodes 0 to 3, 4 is the global one; three actions follow, then what is not applicable."""
    problem = tasks.TOWER.replace("(:goal (and (on a b) (on b c) (on c d)))", "(:goal (on d c))")
    task = tasks.load(tasks.TOWER_DOMAIN, problem)
    space, metadata = _core.LiftedSpace(task.native_lifted()), metadata_of(task, **YES)
    operators = {space.operator_name(op): op for op in space.applicable(0)}
    assert sorted(operators) == ["lift d", "take c b"]
    row = [operators["take c b"], operators["lift d"]]
    batch = encode(encoder_of(task), space, [0], [row], task.heuristic("ff"))
    relations = {name: atoms.tolist() for (name, _), atoms in zip(metadata.relations, batch.relations, strict=True)}
    assert (relations["action@take"], relations["action@lift"]) == ([[5, 2, 1]], [[6, 3]])
    assert (relations["plan@lift"], relations["plan@put"]) == ([[6, 3]], [[7, 3, 2]])
    assert relations["plan@take"] == relations["plan@drop"] == []
    assert (batch.action_node.tolist(), batch.state_sizes.tolist()) == ([5, 6], [8])


SWITCHES_DOMAIN = """\
(define (domain switches)
  (:requirements :adl :derived-predicates)
  (:predicates (wired ?switch ?lamp) (lit ?lamp) (large ?lamp) (bright) (quiet))
  (:derived (bright) (exists (?lamp) (and (lit ?lamp) (large ?lamp))))
  (:action press :parameters (?switch)
    :effect (and (not (quiet)) (forall (?lamp) (when (wired ?switch ?lamp) (lit ?lamp))))))
"""
SWITCHES = """\
(define (problem p) (:domain switches) (:objects s t a b c)
  (:init (wired s a) (wired s b) (wired t c) (large c) (quiet)) (:goal (and (lit b) (lit c) (bright))))
"""


@pytest.mark.parametrize("source", ["ground", "lifted"])
def test_what_a_relaxed_plan_adds(source: str) -> None:
    """Where effects are conditional, which of them are needed; neither derived atoms nor what is added besides."""
    task = tasks.load(SWITCHES_DOMAIN, SWITCHES)
    space, metadata = _core.LiftedSpace(task.native_lifted()), metadata_of(task, **YES)
    assert metadata.encoder_version == 3
    assert [name for name, _ in metadata.relations if "added" in name] == ["added@lit", "added@quiet"]
    plans = _core.heuristic("ff", task.native_lifted().ground() if source == "ground" else task.native_lifted())
    batch = encode(encoder_of(task), space, [0], [space.applicable(0)], plans)
    relations = {
        name: sorted(map(tuple, atoms)) for (name, _), atoms in zip(metadata.relations, batch.relations, strict=True)
    }
    lamps = {lifted_of(task).objects.index(lamp) for lamp in "bc"}
    assert {node for (node,) in relations["added@lit"]} == lamps
    assert len(relations["added@lit"]) == len(relations["plan@press"]) == 2
    assert relations["added@quiet"] == []


def test_strips_relaxed_plans_add_what_their_operators_say() -> None:
    task = generated("blocksworld")
    metadata = metadata_of(task, **YES)
    assert metadata.encoder_version == 2
    assert not any("added" in name for name, _ in metadata.relations)
    assert task.heuristic("ff").relaxed_plan(_core.LiftedSpace(task.native_lifted()), 0)[2] == []


@pytest.mark.parametrize(("name", "heuristic"), [("pushworld", "add"), ("blocksworld", "ff")])
def test_what_guides_training(name: str, heuristic: str) -> None:
    """Of operators with conditional effects hFF counts each once, however often it is needed."""
    task = tasks.load(domain_text(name), generate(name, 20, 3))
    (instance,) = make_instances([task], metadata_of(task, **YES))
    space = _core.LiftedSpace(task.native_lifted())
    assert instance.distance == task.heuristic(heuristic).evaluate(space, np.array([0], np.int32))[0]
    assert instance.plans is not None
    assert instance.plans.relaxed_plan(space, 0)[1:] == task.heuristic("ff").relaxed_plan(space, 0)[1:]


def test_an_encoder_of_relaxed_plans_needs_them() -> None:
    task = generated("blocksworld")
    encoder, space = encoder_of(task), _core.LiftedSpace(task.native_lifted())
    with pytest.raises(ValueError, match="nothing knows them"):
        encode(encoder, space, [0], [space.applicable(0)])
    with pytest.raises(_core.CoreInputError, match=r"m\.onnx: the model sees relaxed plans, and nothing knows them"):
        _core.q_heuristic(encoder, lambda batch: 0, messages_per_call=1, name="q", model="m.onnx")  # type: ignore[arg-type, return-value]
    with pytest.raises(_core.CoreInputError, match="has no relaxed plans"):
        encode(encoder, space, [0], [space.applicable(0)], task.heuristic("hmax"))


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    for name in ("rovers", "satellite"):
        random_model(generated(name), folder / f"{name}.onnx", **YES)
    return folder


@pytest.mark.parametrize("name", ["rovers", "satellite"])
def test_native_network_and_onnx_runtime(models: Path, name: str) -> None:
    """The same Q, whatever shares a batch."""
    ours, theirs = (Batch(Model(models / f"{name}.onnx", device="cpu", threads=n), generated(name), 12) for n in (1, 2))
    assert isinstance(ours.model.backend, NativeNetwork)
    assert isinstance(theirs.model.backend, OnnxSession)
    q = ours.q()
    np.testing.assert_allclose(theirs.q(), q, rtol=0, atol=1e-5)
    alone = [ours.q(ours.states[i : i + 1]) for i in range(len(ours.states))]
    np.testing.assert_allclose(np.concatenate(alone), q, rtol=0, atol=2e-6)
    begin, _ = _core.applicable_rows(ours.space, ours.states)
    values = [
        0.0 if ours.space.is_goal(int(s)) else -q[a:b].max()
        for s, (a, b) in zip(ours.states, pairwise(begin), strict=True)
    ]
    for batch in (ours, theirs):
        found = batch.model.heuristic(generated(name)).evaluate(ours.space, ours.states)
        np.testing.assert_allclose(found, values, rtol=0, atol=1e-5)
    unseen = encode(ours.encoder, ours.space, ours.states.tolist(), [[] for _ in ours.states], ours.plans)
    assert len(unseen.action_node) == 0


def finished_episode(task: Task, seed: int, **options: Any) -> _core.Episode:
    """An episode with random values that keeps relaxed plans."""
    episode = _core.Episode(task.native_lifted(), plans=task.heuristic("ff"), **options)
    rng = np.random.default_rng(seed)
    while episode.advance():
        episode.feed(-rng.random(episode.num_actions(episode.pending), np.float32))
    return episode


def arrays(batch: _core.EncodedBatch) -> list[Any]:
    others = (batch.node_state, batch.action_node, batch.action_state)
    return [array.tolist() for array in (*batch.relations, *others)] + [batch.state_sizes.tolist()]


@pytest.mark.parametrize("symmetry", [False, True])
@pytest.mark.parametrize("name", ["blocksworld", "satellite", "childsnack"])
def test_episodes_encode_as_the_planner_does(name: str, symmetry: bool) -> None:
    """Also after a round trip through a record, in another process's numbering, and with the plan only."""
    task = generated(name)
    episode = finished_episode(task, 1, budget=60, symmetry=symmetry)
    fresh = tasks.load(domain_text(name), generate(name, SIZES[name], 3))
    copy = _core.Episode.restore(fresh.native_lifted(), episode.export())
    states = np.array(sorted(set(episode.transitions()[0].tolist())), np.int32)
    assert len(states) > 1
    batches = [
        _core.encode_states([encoder_of(own)] * len(states), [source] * len(states), states)
        for own, source in ((task, episode), (fresh, copy))
    ]
    assert arrays(batches[0]) == arrays(batches[1])
    np.testing.assert_array_equal(copy.export(), episode.export())
    # The same states in a space of their own, which numbers atoms and operators as it meets them.
    space, plans, found = _core.LiftedSpace(task.native_lifted(), symmetry), task.heuristic("ff"), []
    numbers = {0: space.initial_state()}
    for state, action, successor, *_ in zip(*(column.tolist() for column in episode.transitions()), strict=True):
        numbers.setdefault(successor, space.apply(numbers[state], space.applicable(numbers[state])[action]))
    found = [numbers[int(state)] for state in states]
    rows = [list(space.applicable(state)) for state in found]
    ours = encode(encoder_of(task), space, found, rows, plans)
    assert [sorted(array) for array in arrays(batches[0])] == [sorted(array) for array in arrays(ours)]


def test_a_record_keeps_the_relaxed_plans_of_its_plan() -> None:
    task = generated("blocksworld")
    episode = finished_episode(task, 0, budget=100_000)
    assert episode.solved
    copy = _core.Episode.restore(task.native_lifted(), episode.export(plan_only=True))
    encoder, length = encoder_of(task), episode.plan_length
    ours = _core.encode_states([encoder] * length, [copy] * length, np.arange(length, dtype=np.int32))
    rows = {
        name: len(atoms) for (name, _), atoms in zip(metadata_of(task, **YES).relations, ours.relations, strict=True)
    }
    space, state, expected = _core.LiftedSpace(task.native_lifted(), True), 0, 0
    for name in episode.plan:
        expected += len(task.heuristic("ff").relaxed_plan(space, state)[1])
        (op,) = (op for op in space.applicable(state) if space.operator_name(op) == name)
        state = space.apply(state, op)
    assert sum(count for name, count in rows.items() if name.startswith("plan@")) == expected > length


def test_damaged_records_with_relaxed_plans() -> None:
    """Every number may be wrong: the record is refused, or what is read is a record again."""
    task = tasks.load(tasks.TOWER_DOMAIN, tasks.TOWER)
    native = task.native_lifted()
    record = finished_episode(task, 1, budget=2).export()
    # The relaxed plan of the initial state, as (length, schema, objects...), is a part of the record.
    plan = [n for row in task.heuristic("ff").relaxed_plan(_core.LiftedSpace(native), 0)[1] for n in row]
    pattern = [len(plan), *plan]
    (place,) = (i for i in range(len(record)) if record[i : i + len(pattern)].tolist() == pattern)
    for offset, number, message in (
        (0, len(plan) - 1, "too short|does not fit"),
        (0, -1, "does not fit"),
        (0, len(record), "too short"),
        (1, 4, "does not fit"),
        (1, -1, "does not fit"),
        (2, 4, "does not fit"),
        (2, -1, "does not fit"),
    ):
        damaged = record.copy()
        damaged[place + offset] = number
        with pytest.raises(_core.CoreInputError, match=message):
            _core.Episode.restore(native, damaged)
    for length in range(len(record)):
        with pytest.raises(_core.CoreInputError, match="too short"):
            _core.Episode.restore(native, record[:length].copy())


# One exploration per state


@pytest.mark.parametrize("batch_size", [1, 8])
@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("source", ["ground", "lifted"])
def test_one_exploration_serves_values_operators_and_plans(
    models: Path, lazy: bool, batch_size: int, source: str
) -> None:
    """A search by Q and hFF with preferred operators, with one hFF or several: the same search, fewer explorations."""
    task, model = generated("satellite"), Model(models / "satellite.onnx", device="cpu")
    made_from = task.ground() if source == "ground" else task.native_lifted()

    def search(ff: _core.Heuristic, preferring: _core.Heuristic, plans: _core.Heuristic) -> _core.SearchResult:
        q = model.heuristic(task, "q", plans)
        lists = [_core.SingleOpenList(key) for key in (ff, q)]
        space = _core.LiftedSpace(task.native_lifted(), True)
        return _core.search(
            space,
            _core.AlternationOpenList(lists),
            preferred=[preferring],
            lazy=lazy,
            batch_size=batch_size,
            max_expansions=60,
        )

    one, *several = (_core.heuristic("ff", made_from) for _ in range(4))
    shared, apart = search(one, one, one), search(several[0], several[1], several[2])
    for counter in ("status", "plan", "expanded", "evaluated", "generated", "registered_states"):
        assert getattr(shared, counter) == getattr(apart, counter)
    explored = [heuristic.explorations for heuristic in several]
    assert min(explored) > 0
    assert one.explorations == max(explored)
    # An eager search asks for preferred operators when a state is expanded, which may be long after it was evaluated.
    assert not lazy or one.explorations <= shared.evaluated


def test_a_heuristic_remembers_states_of_one_space_only() -> None:
    """State 0 of another problem, or state 1 of another space, is another state."""
    task = generated("satellite")
    spaces = [_core.LiftedSpace(task.native_lifted()) for _ in range(2)]
    ff = task.heuristic("ff")
    for space, op in zip(spaces, spaces[0].applicable(0)[:2], strict=True):
        state = space.apply(0, space.applicable(0)[spaces[0].applicable(0).index(op)])
        fresh = task.heuristic("ff")
        assert ff.relaxed_plan(space, state) == fresh.relaxed_plan(space, state)
        assert ff.preferred(space, state) == fresh.preferred(space, state)


def test_the_search_language_shares_hff() -> None:
    """ff() beside gsp() is the heuristic whose relaxed plans the network sees; one with other costs is not."""
    context = Context(generated("satellite"), on_lifted=True)
    plans = context.relaxed_plans()
    assert context.heuristic("ff", "ff") is plans
    assert context.heuristic("ff", "other name") is not plans
    assert context.heuristic("add", "ff") is not plans
    unit = context.with_cost_type("one")
    assert unit.heuristic("ff", "ff") is not plans
    assert unit.relaxed_plans() is plans, "the network sees what it saw in training"
    assert context.fresh().relaxed_plans() is not plans
    alone = Context(generated("satellite"))
    assert alone.heuristic("ff", "ff") is not alone.heuristic("ff", "ff"), (
        "evaluations are counted as Fast Downward does"
    )
