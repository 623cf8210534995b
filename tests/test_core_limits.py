"""Limits and signals end a native search, and other threads run meanwhile."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
import tasks

from gsp_fd import _core
from gsp_fd.fd_integration.run.log import peak_memory_kb
from gsp_fd.task import LimitReached, TaskLimits


@pytest.fixture(scope="module")
def lamps() -> _core.GroundTask:
    """Far more states than any limit below allows."""
    return tasks.load(tasks.LAMPS_DOMAIN, tasks.lamps(40)).ground()


def blind_search(task: _core.GroundTask, lazy: bool = False, **limits: Any) -> _core.SearchResult:
    return _core.search(_core.GroundSpace(task), _core.SingleOpenList(_core.g()), lazy=lazy, **limits)


@pytest.mark.parametrize("lazy", [False, True])
def test_expansions(lamps: _core.GroundTask, lazy: bool) -> None:
    for limit in (0, 1, 1000):
        result = blind_search(lamps, lazy, max_expansions=limit)
        assert (result.status, result.complete) == ("expansions", False)
        # A lazy search expands the initial state before it looks at the limit.
        assert limit <= result.expanded <= max(limit, int(lazy))


@pytest.mark.parametrize("lazy", [False, True])
def test_time(lamps: _core.GroundTask, lazy: bool) -> None:
    for limit in (0.0, 0.1):
        result = blind_search(lamps, lazy, max_time=limit)
        assert (result.status, result.complete) == ("time", False)
    assert result.expanded > 0


@pytest.mark.parametrize("lazy", [False, True])
def test_memory(lamps: _core.GroundTask, lazy: bool) -> None:
    limit = peak_memory_kb() + 100_000
    result = blind_search(lamps, lazy, max_memory_kb=limit, max_time=60)
    assert (result.status, result.complete) == ("memory", False)
    # It ends before a vector doubles beyond the limit, so a good part of the room may be left.
    assert result.bytes_per_state * result.registered_states > 10_000_000
    assert peak_memory_kb() < limit + 200_000


def test_lifted_search() -> None:
    """One state with millions of applicable actions: limits hold within a single expansion."""
    domain = """(define (domain wide) (:predicates (p ?a) (q))
      (:action act :parameters (?a ?b ?c ?d ?e) :precondition (not (q)) :effect (p ?a)))"""
    names = " ".join(f"o{i}" for i in range(100))
    problem = f"(define (problem wide) (:domain wide) (:objects {names}) (:init) (:goal (q)))"
    native = tasks.load(domain, problem).native_lifted()
    for limits in ({"max_time": 0.2}, {"max_memory_kb": peak_memory_kb() + 50_000}):
        for lazy in (False, True):
            space = _core.LiftedSpace(native)
            result = _core.search(
                space, _core.SingleOpenList(_core.heuristic("goalcount", native)), lazy=lazy, **limits
            )
            assert result.status in ("time", "memory")


def test_grounding() -> None:
    domain = """(define (domain wide) (:predicates (p ?a ?b ?c ?d ?e) (q))
      (:action act :parameters (?a ?b ?c ?d ?e) :precondition () :effect (p ?a ?b ?c ?d ?e)))"""
    names = " ".join(f"o{i}" for i in range(40))
    problem = f"(define (problem wide) (:domain wide) (:objects {names}) (:init) (:goal (q)))"
    task = tasks.load(domain, problem)
    with pytest.raises(_core.Stopped, match="time"):
        task.native_lifted().ground(0.1, None)
    with pytest.raises(LimitReached, match="memory"):
        task.ground(TaskLimits(memory_kb=peak_memory_kb() + 20_000))


SCRIPT = """
import signal, sys
import tasks
from gsp_fd import _core
from gsp_fd.fd_integration.run.log import peak_memory_kb

def stop(number, frame):
    raise SystemExit(1)

signal.signal(signal.SIGTERM, stop)
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where a shell started the tests in the background
task = tasks.load(tasks.LAMPS_DOMAIN, tasks.lamps(40)).ground()
heuristic = _core.heuristic("{heuristic}", task)
print("ready", flush=True)
result = _core.search(_core.GroundSpace(task), _core.SingleOpenList(heuristic), lazy={lazy}, max_time=100)
print(result.status, result.complete, result.expanded > 0)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(("heuristic", "lazy"), [("blind", False), ("blind", True), ("hmax", False)])
def test_signals(number: signal.Signals, heuristic: str, lazy: bool) -> None:
    """The search returns with its statistics; the signal's exception does not escape it."""
    script = SCRIPT.format(heuristic=heuristic, lazy=lazy)
    process = subprocess.Popen(
        [sys.executable, "-c", script], cwd=Path(__file__).parent, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    threading.Event().wait(0.3)
    process.send_signal(number)
    output, _ = process.communicate(timeout=60)
    assert output == "interrupted False True\n"
    assert process.returncode == 0


def test_other_threads_run_during_a_search(lamps: _core.GroundTask) -> None:
    """Without the GIL released, the thread would not get a turn before the search ends."""
    turns, started, done = 0, threading.Event(), threading.Event()

    def count() -> None:
        nonlocal turns
        started.set()
        while not done.is_set():
            turns += 1

    thread = threading.Thread(target=count)
    thread.start()
    started.wait()
    before = turns
    result = blind_search(lamps, max_time=0.5)
    after = turns
    done.set()
    thread.join()
    assert result.status == "time"
    assert after - before > 1000


def test_searches_in_several_threads(lamps: _core.GroundTask) -> None:
    """Spaces and evaluators of their own on one shared task."""
    results: list[_core.SearchResult] = []

    def search() -> None:
        heuristic = _core.heuristic("ff", lamps)
        open_list = _core.SingleOpenList(_core.sum([_core.g(), _core.weight(heuristic, 2)]))
        results.append(_core.search(_core.GroundSpace(lamps), open_list, preferred=[heuristic]))

    threads = [threading.Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [result.plan_cost for result in results] == [40] * 4
    assert len({result.expanded for result in results}) == 1
