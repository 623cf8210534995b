"""What a results file says about where it was made."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from collections.abc import Sequence
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Any

from gsp_fd import __version__
from gsp_fd.compare.configurations import FAST_DOWNWARD, Configuration, fast_downward_driver


def machine() -> dict[str, Any]:
    """Processor, cores, memory and operating system; no names."""
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return {
        "cpu": found[1] if found else platform.processor() or platform.machine(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_mb": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE") >> 20,
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }


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
    from gsp_fd.model import shipped_models

    files = [file for file in shipped_models() if model in ("auto", file.stem)]
    if Path(model).is_file():
        files = [Path(model)]
    return {f"model {file.stem}": sha256(file.read_bytes()).hexdigest()[:12] for file in files}


def _fast_downward_version() -> str:
    driver = fast_downward_driver()
    if driver is None:
        return "not installed"
    command = [sys.executable, str(driver), "--version"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(r"Fast Downward (\S+)", result.stdout)
    return found[1] if found else "unknown"
