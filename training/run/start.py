"""What a run starts from, or goes on with: its folder, hyper-parameters and inputs, checked before anything is made."""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, replace
from itertools import count
from pathlib import Path
from typing import Any

from gsp_fd.common.errors import InputError, driver_error
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.common.files import write_atomically
from gsp_fd.common.machine import usable_cores
from gsp_fd.model_format import read_metadata
from gsp_fd.model_library import named_model
from gsp_fd.training.config import TrainingConfig
from gsp_fd.training.run.folder import RunFolder
from gsp_fd.training.run.settings import RunInputs, make_config, option_of, to_toml

Run = tuple[RunFolder, TrainingConfig, RunInputs]

RESUMABLE = ("minutes", "device", "validate_every", "checkpoint_every", "worker_seconds", "staleness")
"""Hyper-parameters that may change when a run is resumed."""


def check_extra() -> None:
    """InputError if what training needs is not installed."""
    needed = ("torch", "torch_geometric", "onnx", "onnxruntime")
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        raise driver_error(f"training needs {', '.join(missing)}: pip install 'gsp-fd[train]'")


def new_run(out: Path, values: Mapping[str, Any], inputs: Mapping[str, Any]) -> Run:
    """A new run, with its folder; ``values``: hyper-parameters, ``inputs``: fields of :class:`RunInputs`."""
    if inputs.get("start"):
        model = named_model(inputs["start"])
        values, inputs = _as_model(values, model), {**inputs, "start": os.path.abspath(model)}
    config = make_config(values)
    paths = {name: os.path.abspath(inputs[name]) for name in ("domain", "train", "validate") if inputs.get(name)}
    workers = inputs["workers"] if "workers" in inputs else default_workers()
    resolved = RunInputs(**{**inputs, **paths, "workers": workers})
    _check_inputs(resolved, config)
    folder = RunFolder(out)
    folder.create(config, resolved)
    return folder, config, resolved


def resumed_run(path: Path, given: Mapping[str, Any], changes: Mapping[str, Any]) -> Run:
    """A run that goes on, with other values of what may change."""
    folder = RunFolder(path)
    config, inputs = folder.read_config()
    config = make_config({**{name: getattr(config, name) for name in TrainingConfig.types()}, **given})
    inputs = replace(inputs, **changes)
    _check_inputs(inputs, config)
    write_atomically(folder.config, to_toml(config, inputs).encode())
    return folder, config, inputs


def _as_model(values: Mapping[str, Any], model: Path) -> dict[str, Any]:
    """The hyper-parameters with the network of a model, which a run that starts from it keeps."""
    metadata = read_metadata(model)
    own = {**asdict(metadata.network), "goal_split": metadata.goal_split}
    own["relaxed_plan"] = "yes" if metadata.relaxed_plan else "no"
    for name, value in own.items():
        if values.get(name, value) not in (value, "auto"):
            raise driver_error(f"{option_of(name)} cannot differ from that of the model to start from: {value}", model)
    return {**values, **{name: value for name, value in own.items() if name in TrainingConfig.types()}}


def free_folder(domain: Path) -> Path:
    """Where a run goes that was given no folder: named after the domain, and not there yet."""
    from gsp_fd.pddl import read_domain

    name = re.sub(r"[^\w.-]", "_", read_domain(domain).name).lstrip(".") or "domain"
    folders = (Path(f"{name}-run{'' if number == 1 else f'-{number}'}") for number in count(1))
    return next(folder for folder in folders if not folder.exists())


def default_workers() -> int:
    """One less than there are processors, if Ray is installed."""
    if importlib.util.find_spec("ray") is None:
        return 0
    return max(1, usable_cores() - 1)


def _check_inputs(inputs: RunInputs, config: TrainingConfig) -> None:
    """What can be seen to be wrong before a folder is made."""
    from gsp_fd.training.device import choose_device

    for name in ("domain", "train", "validate"):
        path = getattr(inputs, name)
        if path and not Path(path).exists():
            raise InputError(f"there is no such {'file' if name == 'domain' else 'folder'} ({option_of(name)})", path,
                             exit_code=ExitCode.DRIVER_INPUT_ERROR)  # fmt: skip
    if inputs.workers and importlib.util.find_spec("ray") is None:
        raise driver_error("--workers needs Ray: pip install 'gsp-fd[ray]', or say --workers 0")
    choose_device(config.device)
