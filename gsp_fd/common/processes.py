"""Processes that do not outlive the one that started them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from gsp_fd.common import guard

_POLL_SECONDS = 0.1


def python_command(module: str) -> list[str]:
    """The command that runs ``main`` of a module of this package.

    -c instead of -m: modules in the current folder must not come before ours.
    """
    return [sys.executable, "-c", main_code(module)]


def main_code(module: str, first: str = "") -> str:
    """The code that runs ``main`` of a module, after some other statements."""
    return f"{OWN_MODULES_ONLY}{first}from {module} import main\nsys.exit(main())"


OWN_MODULES_ONLY = """\
import sys
if sys.path and not sys.path[0]:
    sys.path.pop(0)
"""
"""The first statements of code that Python gets by ``-c``: no modules from the current folder."""


PLANNER = python_command("gsp_fd.fd_integration.driver")
"""The command of this planner, for arguments to follow."""


def run_guarded(
    command: Sequence[str],
    folder: Path,
    *,
    seconds: float,
    megabytes: int | None = None,
    meanwhile: Callable[[], None] = lambda: None,
) -> int | None:
    """Run a command for at most some seconds of wall-clock time, with all that it starts.

    Returns its exit code (minus the signal that killed it), or None if its time was over.

    ``meanwhile`` is called a few times a second. However this process ends, and whatever processes the command has
    started by then, none is left; ``folder`` is deleted if this process was killed.
    """
    reader, writer = os.pipe()
    limits = [f"{seconds:.3f}", str(megabytes or 0), str(writer), str(folder)]
    start = [sys.executable, "-I", "-S", str(Path(guard.__file__).resolve()), *limits, *command]
    sys.stdout.flush()
    with open(reader, "rb") as result:
        try:
            process = subprocess.Popen(start, stdin=subprocess.PIPE, pass_fds=[writer])
        finally:
            os.close(writer)
        assert process.stdin is not None
        try:
            while True:
                try:
                    process.wait(_POLL_SECONDS)
                    break
                except subprocess.TimeoutExpired:
                    meanwhile()
        finally:
            process.stdin.close()
            process.wait()
        word, _, number = result.read().decode().partition(" ")
    return int(number) if word == "exit" else None
