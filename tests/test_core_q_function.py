"""Q-functions in Python, such as ONNX Runtime's: batches, what they guide, and mistakes that end the search cleanly."""

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

Function = Callable[[_core.EncodedBatch], Any]


@pytest.fixture(scope="module", params=["tower", "courier"])
def task(request: pytest.FixtureRequest) -> Task:
    texts = {
        "tower": (tasks.TOWER_DOMAIN, tasks.TOWER),
        "courier": (tasks.COURIER_DOMAIN, tasks.COURIER),
    }
    return tasks.load(*texts[request.param])


def encoder_of(task: Task) -> _core.Encoder:
    """Atoms and open goals of every predicate, and the actions."""
    assert task.lifted is not None
    arities = [max(1, arity) for arity in task.lifted.arities]
    relations = [(kind, p, arity) for kind in ("state", "goal", "not_goal") for p, arity in enumerate(arities)]
    relations += [("action", s, 1 + len(schema.parameters)) for s, schema in enumerate(task.lifted.schemas)]
    return _core.Encoder(task.native_lifted(), relations)


def heuristic(task: Task, function: Function, messages_per_call: float = 1e5) -> _core.Heuristic:
    encoder = encoder_of(task)
    return _core.q_heuristic(encoder, function, messages_per_call=messages_per_call, name="q", model="m.onnx")


def open_goals(task: Task, sizes: list[int] | None = None) -> Function:
    """Q is minus the open goals of the state, the same for all of its actions."""
    assert task.lifted is not None
    predicates = len(task.lifted.predicates)

    def function(batch: _core.EncodedBatch) -> Any:
        assert [array.dtype for array in (batch.node_state, batch.action_state)] == [np.int64, np.int64]
        if sizes is not None:
            sizes.append(len(batch.state_sizes))
        goals = np.zeros(len(batch.state_sizes), np.float32)
        for rows in batch.relations[predicates : 3 * predicates]:
            np.add.at(goals, batch.node_state[rows[:, 0]], 1)
        return -goals[batch.action_state]

    return function


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("batch_size", [1, 4, 1000])
def test_batches(task: Task, lazy: bool, batch_size: int) -> None:
    sizes: list[int] = []
    space = _core.LiftedSpace(task.native_lifted())
    open_list = _core.SingleOpenList(_core.sum([_core.g(), heuristic(task, open_goals(task, sizes))]))
    result = _core.search(space, open_list, lazy=lazy, reopen_closed=True, batch_size=batch_size)
    assert result.status == "solved"
    assert task.validate([space.operator_name(op) for op in result.plan]).valid
    assert 0 < sum(sizes) <= result.evaluated
    assert batch_size == 1 or max(sizes) > 1
    assert not lazy or max(sizes) <= batch_size
    # An expansion takes one pair of a state and an operator from the frontier.
    assert not lazy or result.expanded == result.generated


def test_values_of_states_guide_as_native_ones_do(task: Task) -> None:
    """An eager search by the open goals is that of goalcount; its evaluations are the same in number and value."""
    spaces = [_core.LiftedSpace(task.native_lifted()) for _ in range(2)]
    evaluators = [heuristic(task, open_goals(task)), _core.heuristic("goalcount", task.native_lifted())]
    results = [_core.search(s, _core.SingleOpenList(e)) for s, e in zip(spaces, evaluators, strict=True)]
    first, second = results
    plans = [[s.operator_name(op) for op in result.plan] for s, result in zip(spaces, results, strict=True)]
    assert plans[0] == plans[1]
    for counter in ("expanded", "evaluated", "evaluations", "generated", "dead_ends", "registered_states"):
        assert getattr(first, counter) == getattr(second, counter)


def answered(answer: Callable[[int], Any]) -> Function:
    return lambda batch: answer(len(batch.action_node))


WRONG: dict[str, tuple[Callable[[int], Any], type[Exception], str]] = {
    "short": (lambda n: np.zeros(n - 1, np.float32), _core.CoreInputError, "Q-values for"),
    "long": (lambda n: np.zeros(n + 1, np.float32), _core.CoreInputError, "Q-values for"),
    "nan": (lambda n: np.full(n, np.nan, np.float32), _core.CoreInputError, "m.onnx: .* no numbers"),
    "infinite": (lambda n: np.full(n, np.inf, np.float32), _core.CoreInputError, "m.onnx: .* no numbers"),
    "matrix": (lambda n: np.zeros((n, 1), np.float32), RuntimeError, "bad_cast"),
    "none": (lambda n: None, RuntimeError, "bad_cast"),
    "text": (lambda n: "0" * n, RuntimeError, "bad_cast"),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("lazy", [False, True])
def test_wrong_answers(task: Task, name: str, lazy: bool) -> None:
    answer, error, message = WRONG[name]
    space = _core.LiftedSpace(task.native_lifted())
    with pytest.raises(error, match=message):
        _core.search(space, _core.SingleOpenList(heuristic(task, answered(answer))), lazy=lazy)


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, SystemExit])
def test_exceptions_pass_through(task: Task, error: type[BaseException]) -> None:
    for options in ({}, {"lazy": True}, {"batch_size": 8}):
        calls = iter(range(2))

        def fail_later(batch: _core.EncodedBatch, calls: Any = calls) -> Any:
            if next(calls, None) is None:
                raise error
            return np.zeros(len(batch.action_node), np.float32)

        space = _core.LiftedSpace(task.native_lifted())
        with pytest.raises(error):
            _core.search(space, _core.SingleOpenList(heuristic(task, fail_later)), **options)
    # The core is as good as new.
    assert run(task.ground(), SATISFICING["lazy-alternation"])[1].status == "solved"


def test_a_state_that_is_too_large_ends_the_search(task: Task) -> None:
    def fail(batch: _core.EncodedBatch) -> Any:
        raise MemoryError

    result = _core.search(_core.LiftedSpace(task.native_lifted()), _core.SingleOpenList(heuristic(task, fail)))
    assert (result.status, result.complete) == ("memory", False)


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


def test_functions_are_released(task: Task) -> None:
    class Function:
        def __call__(self, batch: _core.EncodedBatch) -> Any:
            return np.zeros(len(batch.action_node), np.float32)

    python = Function()
    alive = weakref.ref(python)
    evaluator = heuristic(task, python)
    _core.search(_core.LiftedSpace(task.native_lifted()), _core.SingleOpenList(evaluator), max_expansions=5)
    del python, evaluator
    gc.collect()
    assert alive() is None


def test_values_of_every_size(task: Task) -> None:
    """Keys that fit no bucket: negative, fractional, huge, and those that do."""
    values = np.array([0.5, -3.0, 1e30, -1e30, 65535.0, 65536.0, 2.0, -0.0], np.float32)
    for lazy in (False, True):
        q = heuristic(task, lambda batch: values[batch.action_node % len(values)])
        for key in (q, _core.sum([q, _core.g()]), _core.weight(q, 0.3)):
            space = _core.LiftedSpace(task.native_lifted())
            result = _core.search(space, _core.SingleOpenList(key), lazy=lazy, log=lambda line: None)
            assert result.status == "solved"
            assert task.validate([space.operator_name(op) for op in result.plan]).valid


DETOUR_DOMAIN = """\
(define (domain roads) (:predicates (at ?p) (road ?a ?b)) (:functions (length ?a ?b) (total-cost))
  (:action go :parameters (?a ?b) :precondition (and (at ?a) (road ?a ?b))
    :effect (and (at ?b) (not (at ?a)) (increase (total-cost) (length ?a ?b)))))
"""


def detour() -> Task:
    """Six places; the second is reached late by a cheaper way, after its successor was expanded."""
    roads = [(0, 1, 9), (1, 2, 1), (2, 3, 9), (0, 4, 1), (4, 5, 1), (5, 1, 1), (3, 0, 1)]
    facts = " ".join(f"(road p{a} p{b}) (= (length p{a} p{b}) {cost})" for a, b, cost in roads)
    return tasks.load(
        DETOUR_DOMAIN,
        f"(define (problem detour) (:domain roads) (:objects p0 p1 p2 p3 p4 p5) (:init (at p0) {facts}) (:goal (at p3))"
        "(:metric minimize (total-cost)))",
    )


def test_reopening() -> None:
    """An inconsistent heuristic closes place 1 at cost 9; only reopening finds the plan of cost 13."""
    task = detour()
    of_place = np.array([0, 0, 0, 0, 9, 7], np.float32)

    def misled(batch: _core.EncodedBatch) -> Any:
        firsts = np.concatenate([[0], np.cumsum(batch.state_sizes)[:-1]]).astype(np.int64)
        places = batch.relations[0][:, 0] - firsts  # one atom (at ?p) in each state
        return -of_place[places[batch.action_state]]

    found = {}
    for reopen in (False, True):
        f = _core.sum([_core.g(), heuristic(task, misled)])
        space = _core.LiftedSpace(task.native_lifted())
        found[reopen] = _core.search(space, _core.SingleOpenList(f), reopen_closed=reopen)
        assert found[reopen].status == "solved"
    assert found[True].plan_cost == 13
    assert found[True].reopened > 0
    assert found[False].reopened == 0
    assert found[False].plan_cost >= 13
