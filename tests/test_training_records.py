"""Episodes as flat numbers: what workers send and checkpoints keep."""

from __future__ import annotations

import numpy as np
import pytest
import tasks

from gsp_fd import _core
from gsp_fd.pddl import LiftedTask


def searched(task: LiftedTask, budget: int, seed: int, **options: object) -> tuple[_core.LiftedTask, _core.Episode]:
    """An episode with random values."""
    native = _core.LiftedTask.from_spec(task)
    episode = _core.Episode(native, budget=budget, **options)  # type: ignore[arg-type]
    rng = np.random.default_rng(seed)
    while episode.advance():
        episode.feed(-rng.random(episode.num_actions(episode.pending), np.float32))
    return native, episode


def encoder_of(task: LiftedTask, native: _core.LiftedTask) -> _core.Encoder:
    fluents = [("state", p, max(1, arity)) for p, arity in enumerate(task.arities)]
    schemas = [("action", s, 1 + len(schema.parameters)) for s, schema in enumerate(task.schemas)]
    return _core.Encoder(native, fluents + schemas)


def equal_batches(first: _core.EncodedBatch, second: _core.EncodedBatch) -> bool:
    pairs = [*zip(first.relations, second.relations, strict=True), (first.action_node, second.action_node)]
    pairs += [(first.node_state, second.node_state), (first.action_state, second.action_state)]
    return all(np.array_equal(a, b) for a, b in pairs)


@pytest.mark.parametrize("symmetry", [False, True])
@pytest.mark.parametrize("budget", [0, 5, 60, 5000])
@pytest.mark.parametrize("name", ["tower", "courier"])
def test_round_trip(name: str, budget: int, symmetry: bool, request: pytest.FixtureRequest) -> None:
    task: LiftedTask = request.getfixturevalue(name)
    native, episode = searched(task, budget, budget, symmetry=symmetry)
    fresh = _core.LiftedTask.from_spec(task)  # as another process would have it
    record = episode.export()
    copy = _core.Episode.restore(fresh, record)
    for column, copied in zip(episode.transitions(), copy.transitions(), strict=True):
        np.testing.assert_array_equal(column, copied)
    for attribute in ("solved", "plan_length", "plan", "expansions"):
        assert getattr(copy, attribute) == getattr(episode, attribute)
    assert not copy.advance()
    assert copy.pending == -1
    states = np.arange(1 + max([0, *episode.transitions()[2].tolist()]), dtype=np.int32)
    batches = [
        _core.encode_states([encoder_of(task, own)] * len(states), [source] * len(states), states)
        for own, source in ((native, episode), (fresh, copy))
    ]
    assert equal_batches(*batches)
    np.testing.assert_array_equal(copy.export(), record)


@pytest.mark.parametrize("name", ["tower", "courier"])
def test_plan_only(name: str, request: pytest.FixtureRequest) -> None:
    task: LiftedTask = request.getfixturevalue(name)
    native, episode = searched(task, 5000, 3)
    assert episode.solved
    record = episode.export(plan_only=True)
    assert len(record) < len(episode.export())
    copy = _core.Episode.restore(native, record)
    assert copy.plan == episode.plan
    state, _, successor, cost, bound, kind = copy.transitions()
    np.testing.assert_array_equal(state, np.arange(episode.plan_length))
    np.testing.assert_array_equal(successor, state + 1)
    np.testing.assert_array_equal(bound, -np.cumsum(cost[::-1])[::-1])
    assert kind.tolist() == [0] * (episode.plan_length - 1) + [1]
    for number in range(len(state)):
        assert copy.num_actions(number) > 0


def test_an_unsolved_episode_has_an_empty_plan(tower: LiftedTask) -> None:
    native, episode = searched(tower, 3, 0)
    copy = _core.Episode.restore(native, episode.export(plan_only=True))
    assert not copy.solved
    assert len(copy.transitions()[0]) == 0


def test_a_plan_needs_its_transitions(tower: LiftedTask) -> None:
    """Expansions and plan length come first; the kind of a transition is its last number but one."""
    native, unsolved = searched(tower, 3, 0)
    record = unsolved.export()
    for length in (1, 5):
        record[1] = length
        with pytest.raises(_core.CoreInputError, match="another plan than it says"):
            _core.Episode.restore(native, record)
    record = searched(tower, 5000, 3)[1].export(plan_only=True)
    assert record[-2] == 1
    for change in ({1: record[1] - 1}, {1: -1}, {1: 0}, {-2: 0}, {-2: 2}, {-2: 3}):
        damaged = record.copy()
        for place, number in change.items():
            damaged[place] = number
        with pytest.raises(_core.CoreInputError, match="another plan than it says"):
            _core.Episode.restore(native, damaged)


def test_damaged_records(tower: LiftedTask) -> None:
    """Whatever is wrong with a record, it is an error or harmless, never a crash."""
    native, episode = searched(tower, 200, 1)
    record = episode.export()
    with pytest.raises(_core.CoreInputError, match="too long"):
        _core.Episode.restore(native, np.append(record, np.int32(0)))
    for length in range(0, len(record), 7):
        with pytest.raises(_core.CoreInputError, match="too short"):
            _core.Episode.restore(native, record[:length].copy())
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(500):
        damaged = record.copy()
        damaged[rng.integers(len(record))] = rng.choice([-1, 0, 1, 7, 2**31 - 1, -(2**31)])
        try:
            copy = _core.Episode.restore(native, damaged)
            assert len(copy.plan) == max(0, copy.plan_length)
        except _core.CoreInputError:
            refused += 1
    assert refused > 100
    other = tasks.load(tasks.COURIER_DOMAIN, tasks.COURIER).native_lifted()
    with pytest.raises(_core.CoreInputError):
        _core.Episode.restore(other, record)
