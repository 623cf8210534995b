"""Tiny training runs for the tests: small instances, small networks, and watchers that look at what happens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from gsp_fd.generate import domain_text, generate_set
from gsp_fd.training.checkpoint import Checkpoint
from gsp_fd.training.config import TrainingConfig
from gsp_fd.training.instance_sets import InstanceSets, load_sets
from gsp_fd.training.learning.validation import Score
from gsp_fd.training.progress import Row

TINY: dict[str, float | str] = {"d": 16, "layers": 4, "batch_size": 16, "budget": 60, "lockstep": 8}
TINY |= {"validate_every": 3.0, "varied": 0.0, "relaxed_plan": "no"}
"""Hyper-parameters with which a few blocks are learned in seconds."""
TINY_OPTIONS = [f"--{name.replace('_', '-')}={value}" for name, value in TINY.items()]


def write_problems(folder: Path, domain: str = "blocksworld", sizes: tuple[int, int] = (2, 4), count: int = 16) -> Path:
    """A domain file and problems of a generator."""
    folder.mkdir(parents=True)
    (folder / "domain.pddl").write_text(domain_text(domain))
    for number, problem in enumerate(generate_set(domain, count, sizes, 7, "even"), 1):
        (folder / f"p{number:02}.pddl").write_text(problem)
    return folder


def tiny_sets(folder: Path, config: TrainingConfig, domain: str = "blocksworld", smallest: int = 2) -> InstanceSets:
    """Instances of three sizes for training, of the largest and the next one for validation."""
    train = write_problems(folder / "train", domain, (smallest, smallest + 2))
    valid = write_problems(folder / "valid", domain, (smallest + 2, smallest + 3), 8)
    return load_sets(train / "domain.pddl", train, valid, config, folder / "generated")


class Listener:
    """A watcher that keeps what it is told, and may react to it."""

    def __init__(self, react: Callable[[Row], None] = lambda row: None) -> None:
        self.rows: list[Row] = []
        self.messages: list[str] = []
        self.react = react

    def row(self, row: Row) -> None:
        self.rows.append(row)
        self.react(row)

    def message(self, text: str) -> None:
        self.messages.append(text)

    def close(self) -> None:
        pass


class Memory:
    """A store that keeps the last checkpoint and the best one."""

    def __init__(self) -> None:
        self.saved: list[Checkpoint] = []
        self.best: list[tuple[Checkpoint, Score]] = []

    def save(self, checkpoint: Checkpoint) -> None:
        self.saved = [checkpoint]

    def keep_best(self, checkpoint: Checkpoint, score: Score) -> None:
        self.best.append((checkpoint, score))
