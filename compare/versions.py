"""What a results file says about the programs and models that took part."""

from __future__ import annotations

import platform
import re
import subprocess
from collections.abc import Sequence
from hashlib import sha256
from importlib import metadata

from gsp_fd import __version__
from gsp_fd.common.processes import fast_downward_command
from gsp_fd.compare.configurations import FAST_DOWNWARD, Configuration


def versions(configurations: Sequence[Configuration]) -> dict[str, str]:
    """Versions of what takes part; of models the beginning of their SHA-256."""
    found = {"gsp-fd": __version__, "python": platform.python_version()}
    for package in ("onnxruntime", "onnxruntime-gpu"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    if any(configuration.planner == FAST_DOWNWARD for configuration in configurations):
        found["fast-downward"] = _fast_downward_version()
    for model in {configuration.model: None for configuration in configurations if configuration.model}:
        found |= _models(model)
    return found


def _models(model: str) -> dict[str, str]:
    from gsp_fd.model_library import AUTO, installed_models, named_model

    # Of two models with one name it is the first that is used: it has the last word.
    files = [named.path for named in reversed(installed_models())] if model == AUTO else [named_model(model)]
    return {f"model {file.stem}": sha256(file.read_bytes()).hexdigest()[:12] for file in files if file.is_file()}


def _fast_downward_version() -> str:
    command = fast_downward_command()
    if not command:
        return "not installed"
    result = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"Fast Downward (\S+)", result.stdout)
    return found[1] if found else "unknown"
