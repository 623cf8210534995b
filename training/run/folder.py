"""The folder of a run: configuration, checkpoints, model with its card, progress, status; each written whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gsp_fd.common.errors import driver_error
from gsp_fd.common.files import write_atomically
from gsp_fd.training.config import TrainingConfig
from gsp_fd.training.run.settings import RunInputs, make_config, read_toml, to_toml


@dataclass(frozen=True)
class RunFolder:
    """Names of the files of a run."""

    path: Path

    @property
    def config(self) -> Path:
        """The resolved configuration."""
        return self.path / "config.toml"

    @property
    def checkpoint(self) -> Path:
        """Where a resumed run goes on."""
        return self.path / "checkpoint.npz"

    @property
    def best(self) -> Path:
        """The checkpoint with the best validation."""
        return self.path / "best.npz"

    @property
    def model(self) -> Path:
        """The best checkpoint as an ONNX model."""
        return self.path / "model.onnx"

    @property
    def card(self) -> Path:
        """What there is to know about the model."""
        return self.path / "card.md"

    @property
    def progress(self) -> Path:
        """Progress over time, as CSV."""
        return self.path / "progress.csv"

    @property
    def report(self) -> Path:
        """Progress over time, for people."""
        return self.path / "report.html"

    @property
    def events(self) -> Path:
        """TensorBoard's event files."""
        return self.path / "tensorboard"

    @property
    def status(self) -> Path:
        """How the run is doing or how it ended."""
        return self.path / "status.json"

    @property
    def baseline(self) -> Path:
        """What hFF achieves on the validation instances."""
        return self.path / "hff.json"

    @property
    def validation(self) -> Path:
        """Generated validation instances."""
        return self.path / "validation"

    def seed(self, seed: int) -> RunFolder:
        """The folder of one of several seeds."""
        return RunFolder(self.path / f"seed-{seed}")

    def trial(self, relaxed_plan: str) -> RunFolder:
        """The folder of the trial with or without the relaxed plan."""
        return RunFolder(self.path / f"trial-{relaxed_plan}")

    def take_over(self, other: RunFolder) -> None:
        """Goes on where another run ended: its checkpoints, model, card and progress become those of this one."""
        for name in ("progress", "model", "card", "best", "checkpoint"):
            file: Path = getattr(other, name)
            if file.is_file():
                self.path.mkdir(parents=True, exist_ok=True)
                file.replace(getattr(self, name))

    def create(self, config: TrainingConfig, inputs: RunInputs) -> None:
        """Makes the folder, which must be new or empty, and writes the configuration."""
        if self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
            raise driver_error("this exists already: choose another --out, or go on with it by --resume", self.path)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            write_atomically(self.config, to_toml(config, inputs).encode())
        except OSError as error:
            raise driver_error(f"cannot write there: {error.strerror}", self.path) from None

    def read_config(self) -> tuple[TrainingConfig, RunInputs]:
        """What :meth:`create` wrote. InputError if this is not the folder of a run."""
        if not self.config.is_file():
            raise driver_error("this is not the folder of a run: it has no config.toml", self.path)
        values, inputs = read_toml(self.config)
        return make_config(values, str(self.config)), RunInputs(**inputs)

    def has_begun(self) -> bool:
        """Whether any training, of a seed or a trial either, has begun here."""
        return any(self.path.rglob(self.status.name))

    def write_status(self, status: Mapping[str, Any]) -> None:
        """Replaces the status."""
        write_atomically(self.status, (json.dumps(status, indent=2) + "\n").encode())

    def read_status(self) -> dict[str, Any]:
        """The status; empty if there is none yet."""
        try:
            status: dict[str, Any] = json.loads(self.status.read_text())
        except (OSError, ValueError):
            return {}
        return status
