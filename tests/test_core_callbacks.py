"""Evaluators in Python: batches, Q-functions, and mistakes that must end the search cleanly."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tasks
from search_configs import SATISFICING, run

from gsp_fd import _core
from gsp_fd.task import Task

COUNTERS = ("expanded", "evaluated", "evaluations", "generated", "dead_ends", "registered_states")


@pytest.fixture(scope="module", params=["tower", "courier"])
def task(request: pytest.FixtureRequest) -> Task:
    texts = {
        "tower": (tasks.TOWER_DOMAIN, tasks.TOWER),
        "courier": (tasks.COURIER_DOMAIN, tasks.COURIER),
    }
    return tasks.load(*texts[request.param])


def spaces(task: Task) -> list[_core.StateSpace]:
    return [_core.GroundSpace(task.ground()), _core.LiftedSpace(task.native_lifted())]


def python_goalcount(task: Task, space: _core.StateSpace, batches: list[int]) -> Callable[[np.ndarray], np.ndarray]:
    """Asks the native heuristic, from inside the callback, for one state at a time."""
    native = _core.heuristic("goalcount", task.native_lifted())

    def states(ids: np.ndarray) -> np.ndarray:
        assert ids.dtype == np.int32
        batches.append(len(ids))
        return np.array([native.evaluate(space, ids[i : i + 1])[0] for i in range(len(ids))])

    return states


@pytest.mark.parametrize("lazy", [False, True])
def test_the_same_search_as_the_native_heuristic(task: Task, lazy: bool) -> None:
    for space, twin in zip(spaces(task), spaces(task), strict=True):
        batches: list[int] = []
        callback = _core.callback(python_goalcount(task, space, batches), "count")
        first = _core.search(space, _core.SingleOpenList(callback), lazy=lazy)
        second = _core.search(twin, _core.SingleOpenList(_core.heuristic("goalcount", task.native_lifted())), lazy=lazy)
        assert first.plan == second.plan
        assert [getattr(first, name) for name in COUNTERS] == [getattr(second, name) for name in COUNTERS]
        assert sum(batches) == first.evaluated
        assert task.validate([space.operator_name(op) for op in first.plan]).valid


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("batch_size", [4, 1000])
def test_batches(task: Task, lazy: bool, batch_size: int) -> None:
    for space in spaces(task):
        batches: list[int] = []
        callback = _core.callback(python_goalcount(task, space, batches), "count")
        open_list = _core.SingleOpenList(_core.sum([_core.g(), callback]))
        result = _core.search(space, open_list, lazy=lazy, reopen_closed=True, batch_size=batch_size)
        assert result.status == "solved"
        assert task.validate([space.operator_name(op) for op in result.plan]).valid
        assert sum(batches) == result.evaluated
        assert max(batches) > 1
        assert not lazy or max(batches) <= batch_size


def q_function(task: Task, space: _core.StateSpace, scale: float = 1.0) -> Callable[..., np.ndarray]:
    """Goals that are open after the operator."""
    native = _core.heuristic("goalcount", task.native_lifted())

    def operators(states: np.ndarray, begin: np.ndarray, ops: np.ndarray) -> np.ndarray:
        assert len(begin) == len(states) + 1
        assert (begin[0], begin[-1]) == (0, len(ops))
        values = []
        for i, state in enumerate(states.tolist()):
            row = ops[begin[i] : begin[i + 1]].tolist()
            assert row == list(space.applicable(state))
            successors = [space.apply(state, op) for op in row]
            values += native.evaluate(space, np.array(successors, dtype=np.int32)).tolist()
        return scale * np.array(values, dtype=np.float64)

    return operators


def zero(states: np.ndarray) -> np.ndarray:
    return np.zeros(len(states))


@pytest.mark.parametrize("batch_size", [1, 8])
def test_a_q_function_in_lazy_search(task: Task, batch_size: int) -> None:
    for space in spaces(task):
        q = _core.callback(zero, "q", q_function(task, space))
        open_list = _core.SingleOpenList(_core.sum([_core.g(), _core.weight(q, 2)]))
        result = _core.search(space, open_list, lazy=True, reopen_closed=True, batch_size=batch_size)
        assert result.status == "solved"
        assert task.validate([space.operator_name(op) for op in result.plan]).valid
        # An expansion takes one pair of a state and an operator from the frontier.
        assert result.expanded == result.generated


def test_a_q_function_in_eager_search_counts_by_state(task: Task) -> None:
    space = spaces(task)[0]
    q = _core.callback(zero, "q", q_function(task, space))
    result = _core.search(space, _core.SingleOpenList(_core.sum([_core.g(), q])), reopen_closed=True)
    assert result.status == "solved"


@pytest.mark.parametrize("lazy", [False, True])
def test_dead_ends_of_a_callback_prove_nothing(task: Task, lazy: bool) -> None:
    space = spaces(task)[0]
    callback = _core.callback(lambda states: np.where(states == 0, 1.0, np.inf), "pessimist")
    result = _core.search(space, _core.SingleOpenList(callback), lazy=lazy)
    assert (result.status, result.complete) == ("exhausted", False)
    assert result.dead_ends > 0


def test_dead_end_operators_of_a_q_function_prove_nothing(task: Task) -> None:
    """Only the first operator of every state gets a value; the others are never tried."""

    def operators(states: np.ndarray, begin: np.ndarray, ops: np.ndarray) -> np.ndarray:
        values = np.full(len(ops), np.inf)
        values[begin[:-1][begin[:-1] < begin[1:]]] = 1.0
        return values

    q = _core.callback(zero, "q", operators)
    result = _core.search(spaces(task)[0], _core.SingleOpenList(q), lazy=True)
    assert (result.status, result.complete) == ("exhausted", False)


WRONG: dict[str, tuple[Callable[..., Any], str]] = {
    "short": (lambda n: np.zeros(n - 1), "values for"),
    "long": (lambda n: np.zeros(n + 1), "values for"),
    "nan": (lambda n: np.full(n, np.nan), "not a number"),
    "matrix": (lambda n: np.zeros((n, 1)), "array of float64"),
    "none": (lambda n: None, "array of float64"),
    "list": (lambda n: [0.0] * n, "array of float64"),
    "text": (lambda n: "0" * n, "array of float64"),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("lazy", [False, True])
def test_wrong_answers(task: Task, name: str, lazy: bool) -> None:
    answer, message = WRONG[name]
    for space in spaces(task):
        callback = _core.callback(lambda states: answer(len(states)), "wrong")
        with pytest.raises(_core.CoreInputError, match=f"evaluator wrong .*{message}"):
            _core.search(space, _core.SingleOpenList(callback), lazy=lazy)
        q = _core.callback(zero, "wrong", lambda states, begin, ops: answer(len(ops)))
        with pytest.raises(_core.CoreInputError, match=f"evaluator wrong .*{message}"):
            _core.search(space, _core.SingleOpenList(q), lazy=True)


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, MemoryError, SystemExit])
def test_exceptions_pass_through(task: Task, error: type[BaseException]) -> None:
    calls = 0

    def fail_later(states: np.ndarray) -> np.ndarray:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise error
        return np.zeros(len(states))

    ground = task.ground()
    for options in ({}, {"lazy": True}, {"batch_size": 8}):
        calls = 0
        with pytest.raises(error):
            _core.search(_core.GroundSpace(ground), _core.SingleOpenList(_core.callback(fail_later, "h")), **options)
    # The core is as good as new.
    assert run(ground, SATISFICING["lazy-alternation"])[1].status == "solved"


@pytest.mark.parametrize("which", ["log", "progress"])
def test_exceptions_of_reports_pass_through(task: Task, which: str) -> None:
    def fail(*arguments: object) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(task.ground(), SATISFICING["eager-greedy"], **{which: fail})


def test_progress_reports(task: Task) -> None:
    reports: list[tuple[int, int, float]] = []
    run(task.ground(), SATISFICING["eager-greedy"], progress=lambda *numbers: reports.append(numbers))
    assert all(expanded <= evaluated for expanded, evaluated, _ in reports)
    assert reports


def test_callbacks_are_released(task: Task) -> None:
    class Heuristic:
        def __call__(self, states: np.ndarray) -> np.ndarray:
            return np.zeros(len(states))

    python = Heuristic()
    alive = weakref.ref(python)
    evaluator = _core.callback(python, "h")
    _core.search(_core.GroundSpace(task.ground()), _core.SingleOpenList(evaluator), max_expansions=5)
    del python, evaluator
    gc.collect()
    assert alive() is None


def test_values_of_every_size(task: Task) -> None:
    """Keys that fit no bucket: negative, fractional, huge and infinite with either sign."""
    values = np.array([0.5, -3.0, 1e300, -np.inf, 65535.0, 65536.0, 2.0, -0.0])
    for lazy in (False, True):
        callback = _core.callback(lambda states: values[states % len(values)], "odd")
        for key in (callback, _core.sum([callback, _core.g()]), _core.weight(callback, 0.3)):
            space = _core.GroundSpace(task.ground())
            result = _core.search(space, _core.SingleOpenList(key), lazy=lazy, log=lambda line: None)
            assert result.status == "solved"
            assert task.validate([space.operator_name(op) for op in result.plan]).valid
