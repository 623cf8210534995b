"""The campaign: it finds what there is to find; and short runs of all its parts (``python -m tests.fuzz --help``)."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from fuzz import runner
from fuzz.runner import Case, Wrong, case_of, run

from gsp_fd.translator import translator_available

ROOT = Path(__file__).parents[1]


class Toy:
    """Reads a number; some numbers are bad for it."""

    name = "toy"

    def __init__(self, bad: Callable[[], None], every: int = 5) -> None:
        self.bad = bad
        self.every = every
        self.cases = 0

    def case(self, rng: random.Random) -> Case:
        return Case([], {"number": str(rng.randrange(10**6)).encode()})

    def read(self, case: Case) -> bool:
        assert Path("number").read_bytes() == case.files["number"]
        self.cases += 1  # in the child, which starts anew after a finding
        if self.cases == self.every:
            self.bad()
        return int(case.files["number"]) % 2 == 0


def segfault() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def hang() -> None:
    while True:
        pass


def exhaust() -> None:
    bytearray(8 << 30)


def crash() -> None:
    raise KeyError("x")


def lie() -> None:
    raise Wrong("a false proof")


@pytest.mark.parametrize(
    ("bad", "kind"),
    [(segfault, "signal SIGSEGV"), (hang, "time"), (exhaust, "memory"), (crash, "KeyError"), (lie, "wrong")],
)
def test_what_goes_wrong_is_found_and_the_rest_is_read(
    bad: Callable[[], None], kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "CPU_SECONDS", 0.3)
    target = Toy(bad)
    summary = run(target, 3, 10, 12, tmp_path)
    assert (summary.read, [finding.kind for finding in summary.findings]) == (12, [kind, kind])
    assert [finding.index for finding in summary.findings] == [14, 19]
    saved = tmp_path / "toy-3-14" / "number"
    assert saved.read_bytes() == case_of(target, 3, 14).files["number"] != case_of(target, 4, 14).files["number"]
    assert "--seed 3 --first 14 --count 1" in str(summary.findings[0])


def test_nothing_to_find() -> None:
    summary = run(Toy(lambda: None), 0, 0, 50)
    assert (summary.read, summary.findings) == (50, [])
    assert 0 < summary.taken < 50
    assert "50 inputs with seed 0" in str(summary)


def campaign(module: str, *arguments: str) -> str:
    """The output of a campaign, which finds nothing."""
    run = subprocess.run(
        [sys.executable, "-m", module, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=600, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


@pytest.mark.parametrize(
    ("targets", "count"),
    [
        (("pddl", "sas", "search", "plan", "results", "lists"), 300),
        (("toml",), 200),
        (("task",), 300),
        (("model",), 60),
        (("checkpoint",), 100),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_mutated_input(targets: tuple[str, ...], count: int, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the training extra is not installed")
    printed = campaign("tests.fuzz", *targets, "--count", str(count), "--seed", "2026", "--out", str(tmp_path))
    assert f"{len(targets) * count} inputs in all, 0 findings" in printed


@pytest.mark.parametrize(("target", "count"), [("sas-tasks", 60), ("pddl-tasks", 12), ("adl-tasks", 15)])
def test_random_tasks_against_fast_downward(target: str, count: int, tmp_path: Path) -> None:
    pytest.importorskip("up_fast_downward", reason="up-fast-downward is not installed")
    if not translator_available():
        pytest.skip("Fast Downward's translator is not installed")
    printed = campaign(
        "tests.fuzz.differential", target, "--count", str(count), "--seed", "2026", "--out", str(tmp_path)
    )
    assert f"{count} inputs in all, 0 findings" in printed


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found by Linux's /proc")
@pytest.mark.parametrize("scenario", ["planner", "portfolio", "comparison"])
def test_kills(scenario: str) -> None:
    assert f"{scenario}: 2 kills with seed 7, 0 findings" in campaign(
        "tests.fuzz.kills", scenario, "--count", "2", "--seed", "7"
    )
