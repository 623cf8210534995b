"""Made-up but plausible records of a comparison, always the same for the same arguments."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

DOMAINS = ("blocksworld", "childsnack", "ferry", "miconic", "spanner")
SPLITS = ("easy", "medium", "hard")
CONFIGURATIONS = {
    "gsp-policy": (0.6, 1.05),
    "gsp-wastar": (1.0, 1.02),
    "gsp-gbfs": (0.9, 1.1),
    "gsp-wastar-32": (2.0, 1.02),
    "hff-wastar": (60.0, 1.15),
    "hmax-wastar": (900.0, 1.04),
    "fd-ff": (55.0, 1.15),
    "lama-first": (12.0, 1.3),
}
"""How many times the plan's length each expands, and how much longer than necessary its plans are."""


def header(configurations: Sequence[str] = tuple(CONFIGURATIONS), problems: int = 0) -> dict[str, Any]:
    """A header line."""
    return {
        "kind": "header",
        "version": 1,
        "started": "2026-11-17T01:02:03Z",
        "command": "gsp-compare benchmarks/ipc2023-learning --configurations " + ",".join(configurations),
        "limits": {"expansions": 10000, "cpu_seconds": 300, "memory_mb": None},
        "configurations": [
            {
                "name": name,
                "description": f"the one called {name}",
                "planner": "gsp-fd",
                "spec": f"wastar({name}(), w=2)",
            }
            for name in configurations
        ],
        "machine": {"cpu": "Example CPU 3.1 GHz", "cores": 2, "memory_mb": 24000, "system": "Linux 6.1"},
        "versions": {"gsp-fd": "0.1.0", "python": "3.11.7"},
        "suite": "ipc2023-learning",
        "problems": problems,
    }


def results(
    per_split: int,
    domains: Sequence[str] = DOMAINS,
    splits: Sequence[str] = SPLITS,
    configurations: Sequence[str] = tuple(CONFIGURATIONS),
    seed: int = 0,
) -> list[dict[str, Any]]:
    """Result lines of every configuration on ``per_split`` problems of each domain and split."""
    rng = random.Random(seed)
    found = []
    for domain in domains:
        difficulty = rng.uniform(0.7, 1.4)
        for level, split in enumerate(splits):
            for problem in range(1, per_split + 1):
                objects = int((5 + problem) * 3**level * rng.uniform(0.9, 1.1))
                best = max(1, int(2.2 * objects * rng.uniform(0.8, 1.2)))
                found += [
                    _result(rng, name, difficulty, best)
                    | {"domain": domain, "split": split, "problem": f"p{problem:02}", "objects": objects}
                    for name in configurations
                ]
    return found


def _result(rng: random.Random, name: str, difficulty: float, best: int) -> dict[str, Any]:
    effort, length = CONFIGURATIONS.get(name, (5.0, 1.1))
    expansions = int(best * (1 + effort * difficulty * rng.lognormvariate(0, 0.9) * best / 60))
    cost = max(best - 1, int(best * (1 + (length - 1) * rng.expovariate(1))))
    seconds = round(0.08 + expansions * 2e-3 * rng.uniform(0.7, 1.3), 4)
    solved = expansions <= 10000
    failure = rng.choices(["expansion-limit", "time-limit", "memory-limit", "crash"], [80, 15, 4, 1])[0]
    return {
        "kind": "result",
        "configuration": name,
        "status": "solved" if solved else failure,
        "message": "" if solved else {"crash": "killed by signal 11"}.get(failure, "limit reached"),
        "exit_code": 0 if solved else 12,
        "cost": cost if solved else None,
        "steps": cost if solved else None,
        "expansions": min(expansions, 10000),
        "generated": min(expansions, 10000) * 7,
        "evaluations": None if name.startswith("fd") else min(expansions, 10000) * 3,
        "cpu_seconds": seconds,
        "wall_seconds": round(seconds * 1.05, 4),
        "memory_mb": round(40 + expansions / 200, 1),
        "best_known": best,
        "finished": "2026-11-17T02:00:00Z",
    }
