"""The planner and training search alike: the same expansions and plans for the same task, network and budget."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
import tasks
from random_models import metadata_of, random_model

from gsp_fd import _core
from gsp_fd.fd_integration.driver import main
from gsp_fd.generate import domain_text, generate
from gsp_fd.model import Model
from gsp_fd.task import Task
from gsp_fd.training.instances import make_instances
from gsp_fd.training.learning.episodes import Running, advance_all

SIZES = {"blocksworld": 4, "childsnack": 9, "ferry": 6, "lift": 7, "miconic": 7, "spanner": 11, "stacking": 4}
SETTINGS = [(domain, seed, "no") for domain in SIZES for seed in (1, 2)] + [(domain, 1, "yes") for domain in SIZES]
"""Domain, seed, and whether the network sees relaxed plans."""
BUDGETS = (7, 150, 2000)
Outcome = tuple[int, "list[str] | None"]
"""Expansions, and the plan if there is one."""


class Setting:
    """A task with a random network."""

    def __init__(self, folder: Path, domain: str, seed: int, relaxed_plan: str) -> None:
        texts = {"domain.pddl": domain_text(domain), "problem.pddl": generate(domain, SIZES[domain], seed)}
        for name, text in texts.items():
            (folder / name).write_text(text)
        self.folder = folder
        self.task: Task = tasks.load(*texts.values())
        self.model = Model(random_model(self.task, folder / "m.onnx", seed, relaxed_plan=relaxed_plan), device="cpu")
        (self.instance,) = make_instances([self.task], metadata_of(self.task, relaxed_plan=relaxed_plan))

    def planned(self, budget: int, search: str) -> Outcome:
        """By ``gsp-plan``."""
        plan, files = self.folder / "sas_plan", [str(self.folder / name) for name in ("domain.pddl", "problem.pddl")]
        plan.unlink(missing_ok=True)
        options = ["--model", str(self.model.path), "--device", "cpu", "--max-expansions", str(budget)]
        log = io.StringIO()
        with redirect_stdout(log):
            assert main([*files, "--search", search, *options, "--plan-file", str(plan)]) in (0, 12)
        (expanded,) = re.findall(r"Expanded (\d+) state", log.getvalue())
        return int(expanded), re.findall(r"^\((.*)\)", plan.read_text(), re.MULTILINE) if plan.exists() else None

    def trained(self, options: list[dict[str, Any]]) -> list[Outcome]:
        """By episodes that share each call of the network."""
        instance = self.instance
        known: dict[str, Any] = {"plans": instance.plans, "dead_ends": instance.plans}
        episodes = [_core.Episode(instance.native, **known, **chosen) for chosen in options]
        running = [Running(i, self.instance, episode, 0.0, False) for i, episode in enumerate(episodes)]
        while running:
            over = {item.index for item in advance_all(running, self.model.backend.q_values)}
            running = [item for item in running if item.index not in over]
        return [(episode.expansions, episode.plan if episode.solved else None) for episode in episodes]


@pytest.fixture(scope="module", params=SETTINGS, ids=str)
def setting(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Setting:
    return Setting(tmp_path_factory.mktemp("setting"), *request.param)


def test_gsp_plan_and_episodes(setting: Setting) -> None:
    """The policy and WA*; with budgets that are too small and large enough."""
    ways: dict[str, dict[str, Any]] = {
        "policy": {"greedy": True},
        "gsp_wastar([gsp()], w=3)": {"weight": 3.0},
    }
    trained = setting.trained([{**options, "budget": budget} for budget in BUDGETS for options in ways.values()])
    assert trained == [setting.planned(budget, search) for budget in BUDGETS for search in ways]
    assert all(plan is not None for _, plan in trained[-len(ways) :])
    assert max(expanded for expanded, _ in trained) > BUDGETS[0]
