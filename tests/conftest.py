"""Fixtures shared by all tests."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import chromium
import hypothesis
import pytest
import tasks

from gsp_fd.pddl import LiftedTask

# No test depends on time, however busy the machine is.
hypothesis.settings.register_profile("tests", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("tests")


@pytest.fixture(autouse=True)
def no_models_of_the_user(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests see shipped models only, whatever the person who runs them has added."""
    monkeypatch.setenv("GSP_MODELS", str(tmp_path_factory.getbasetemp() / "no-models"))


@pytest.fixture(scope="session")
def benchmarks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the unpacked benchmark archives: ``GSP_BENCHMARKS``, or unpacked for this session."""
    if folder := os.environ.get("GSP_BENCHMARKS"):
        return Path(folder)
    script = Path(__file__).parents[2] / "shared" / "benchmarks" / "unpack"
    if not script.is_file():
        pytest.skip("no benchmark archives: GSP_BENCHMARKS is not set, ../shared/benchmarks is not there")
    target = tmp_path_factory.mktemp("benchmarks")
    subprocess.run([script, target], check=True, stdout=subprocess.DEVNULL)
    return target


@pytest.fixture(scope="session")
def browser() -> Iterator[chromium.Page]:
    """A tab of a Chromium without a window."""
    program = chromium.executable()
    if program is None:
        pytest.skip("no Chromium: install Debian's chromium to test pages")
    with chromium.open_page(program) as page:
        yield page


def _lifted(domain: str, problem: str) -> LiftedTask:
    task = tasks.load(domain, problem).lifted
    assert task is not None
    return task


@pytest.fixture(scope="session")
def tower() -> LiftedTask:
    """Four blocks; STRIPS without types, unit costs."""
    return _lifted(tasks.TOWER_DOMAIN, tasks.TOWER)


@pytest.fixture(scope="session")
def courier() -> LiftedTask:
    """A ring of places; types, constants, inequality, negation, zero and large costs."""
    return _lifted(tasks.COURIER_DOMAIN, tasks.COURIER)
