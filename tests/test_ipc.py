"""The entry points of the IPC's learning track, and the package folder for planutils."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import tasks
from random_models import random_model

import gsp_fd.fd_integration
from gsp_fd.generate import domain_text, generate
from gsp_fd.task import load_pddl
from gsp_fd.validate import parse_plan

FOLDER = Path(gsp_fd.fd_integration.__path__[0])


def ipc(name: str, folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    settings = {**os.environ, "GSP_PYTHON": sys.executable, **environment}
    command = [str(FOLDER / "ipc" / name), *arguments]
    return subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True, timeout=200, check=False)


@pytest.fixture
def blocks(tmp_path: Path) -> Path:
    (tmp_path / "domain.pddl").write_text(domain_text("blocksworld"))
    for size in (3, 4, 5):
        (tmp_path / f"task {size}.pddl").write_text(generate("blocksworld", size, 1))
    return tmp_path


def assert_plan(folder: Path, problem: str) -> None:
    task = load_pddl(folder / "domain.pddl", folder / problem)
    actions = parse_plan((folder / "plan").read_text(), "plan")
    assert task.validate(actions).valid


def test_plan_with_knowledge(blocks: Path) -> None:
    task = tasks.load((blocks / "domain.pddl").read_text(), (blocks / "task 4.pddl").read_text())
    random_model(task, blocks / "the knowledge")
    run = ipc("plan", blocks, "the knowledge", "domain.pddl", "task 4.pddl", "plan")
    assert run.returncode == 0, run.stdout + run.stderr
    assert "Initial heuristic value for gsp" in run.stdout
    assert_plan(blocks, "task 4.pddl")


def test_plan_without_knowledge(blocks: Path) -> None:
    run = ipc(
        "plan", blocks, "nothing", "domain.pddl", "task 5.pddl", "plan", GSP_PLAN_OPTIONS="--overall-time-limit 60"
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "planning without it" in run.stderr
    assert_plan(blocks, "task 5.pddl")


def test_learn_then_plan(blocks: Path) -> None:
    pytest.importorskip("torch", reason="the training extra is not installed")
    pytest.importorskip("torch_geometric", reason="the training extra is not installed")
    pytest.importorskip("gsp_fd.training.run.cli", reason="there is no training here")
    options = {"GSP_LEARN_MINUTES": "0.1", "GSP_LEARN_OPTIONS": "--workers 0 --d 8 --layers 2", "TMPDIR": str(blocks)}
    run = ipc("learn", blocks, "dk", "domain.pddl", "task 3.pddl", "task 4.pddl", "task 5.pddl", **options)
    assert run.returncode == 0, run.stdout + run.stderr
    assert not list(blocks.glob("gsp-learn-*")), "nothing is left in the folder for temporary files"
    run = ipc("plan", blocks, "dk", "domain.pddl", "task 3.pddl", "plan")
    assert run.returncode == 0, run.stdout + run.stderr
    assert_plan(blocks, "task 3.pddl")


@pytest.mark.parametrize("name", ["plan", "learn"])
def test_usage(tmp_path: Path, name: str) -> None:
    run = ipc(name, tmp_path, "dk")
    assert run.returncode == 36
    assert run.stderr.startswith("usage: ")


def test_planutils_manifest() -> None:
    manifest = json.loads((FOLDER / "planutils" / "manifest.json").read_text())
    assert manifest["shortname"] == "gsp"
    assert manifest["endpoint"]["services"]["solve"]["return"]["files"] == "plan"
    for name in ("install", "run"):
        assert os.access(FOLDER / "planutils" / name, os.X_OK)
