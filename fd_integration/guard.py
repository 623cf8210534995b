"""Runs a command for a while and leaves nothing of it behind, even if the process that asked for it is killed.

Run as a program of its own, by its path: ``guard.py SECONDS MEGABYTES RESULT_FD FOLDER COMMAND…``. Standard input is a
pipe from the process that asked: its end is the request to stop. RESULT_FD gets ``exit N`` or ``time``; where nobody
waits for that any more, FOLDER is deleted. Only the standard library, and nothing of this package: it starts at once.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

GRACE_SECONDS = 1.0
"""Between the friendly signal and the other one."""

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


def main() -> None:
    """Run the command, say how it ended, and end whatever it started."""
    seconds, megabytes, result, folder, *command = sys.argv[1:]
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # the pipe is the only way to stop
    wake, on_child = os.pipe()
    os.set_blocking(on_child, False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(on_child, warn_on_full_buffer=False)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)  # orphans among the descendants become our children
    end = time.monotonic() + float(seconds)
    try:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=_limits(int(megabytes))
        )
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        _tell(int(result), "exit 127")
        return
    why = _wait(child, wake, end)
    _end_all(child)
    if why == "abandoned":
        shutil.rmtree(folder, ignore_errors=True)
    else:
        _tell(int(result), why)


def _limits(megabytes: int) -> Callable[[], None]:
    def set_limits() -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if megabytes:
            resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    return set_limits


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _tell(result: int, text: str) -> None:
    with contextlib.suppress(OSError):
        os.write(result, text.encode())


def _wait(child: subprocess.Popen[bytes], wake: int, end: float) -> str:
    while child.poll() is None:
        left = end - time.monotonic()
        if left <= 0:
            return "time"
        ready, _, _ = select.select([0, wake], [], [], left)
        if wake in ready:
            os.read(wake, 512)
        if 0 in ready and not os.read(0, 512):
            return "abandoned"
    return f"exit {child.returncode}"


def _end_all(child: subprocess.Popen[bytes]) -> None:
    """Ask the command's process group to end, then make every descendant end."""
    if child.poll() is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGTERM)
        end = time.monotonic() + GRACE_SECONDS
        while child.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    while processes := _descendants():
        for process in processes:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.005)


def _descendants() -> list[int]:
    """Every process below this one, by Linux's /proc; elsewhere none beyond the process group."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            # pid (name) state parent …, where the name may contain anything
            parent = int(entry.read_text(errors="replace").rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(entry.parent.name))
    found, pending = [], [os.getpid()]
    while pending:
        below = children.get(pending.pop(), [])
        found += below
        pending += below
    return found


if __name__ == "__main__":
    main()
