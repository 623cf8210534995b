"""Processes that do not outlive the one that started them."""

from __future__ import annotations

import importlib.util
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


def fast_downward_command() -> list[str]:
    """The command of the real Fast Downward from the package up-fast-downward; empty if it is not installed."""
    spec = importlib.util.find_spec("up_fast_downward")
    driver = Path(spec.origin).parent / "downward" / "fast-downward.py" if spec and spec.origin else None
    return [sys.executable, str(driver)] if driver and driver.is_file() else []


def limited(command: Sequence[str], seconds: int | None, size: int | None) -> list[str]:
    """A command with limits on CPU seconds and bytes of address space; its exit code is 127 if it cannot be started.

    A process of its own sets them: a function between fork and exec is unsafe in a process with threads.
    """
    if not seconds and not size:
        return list(command)
    return [sys.executable, "-I", "-S", "-c", _LIMIT, str(seconds or 0), str(size or 0), *command]


_LIMIT = """\
import os, resource, sys
def limit(kind, soft, hard):
    current = resource.getrlimit(kind)[1]
    hard = hard if current == resource.RLIM_INFINITY else min(hard, current)
    resource.setrlimit(kind, (min(soft, hard), hard))
seconds, size = int(sys.argv[1]), int(sys.argv[2])
if seconds:
    limit(resource.RLIMIT_CPU, seconds, seconds + 1)
if size:
    limit(resource.RLIMIT_AS, size, size)
try:
    os.execvp(sys.argv[3], sys.argv[3:])
except OSError as error:
    print(f"{sys.argv[3]}: {error.strerror}", file=sys.stderr)
    os._exit(127)"""


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
