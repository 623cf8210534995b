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
    adopt_orphans()
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
    end_all(child.pid, lambda: _reaped(child))
    if why == "abandoned":
        shutil.rmtree(folder, ignore_errors=True)
    else:
        _tell(int(result), why)


def _limits(megabytes: int) -> Callable[[], None]:
    def set_limits() -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        die_with_parent()
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


def _reaped(child: subprocess.Popen[bytes]) -> bool:
    """Whether the command has ended; then its orphans, which are our children, are reaped too."""
    if child.poll() is None:
        return False
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return True


def adopt_orphans() -> None:
    """From now on, processes below this one whose parent ends become its children."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(number: signal.Signals = signal.SIGKILL) -> None:
    """On Linux: receive this signal when the parent process ends, even if it is killed; also after an exec."""
    parent = os.getppid()
    _prctl(_PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:  # it ended before the kernel knew of our wish
        os.kill(os.getpid(), number)


def end_all(leader: int, ended: Callable[[], bool]) -> None:
    """Ask a process group to end, then make every process below this one end.

    ``ended`` reaps children and tells whether the leader of the group is among those that ended.
    """
    if not ended():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, signal.SIGTERM)
        end = time.monotonic() + GRACE_SECONDS
        while not ended() and time.monotonic() < end:
            time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
    while _has_children():  # orphans are children too, so without children nothing is left
        for process in descendants():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        ended()
        time.sleep(0.005)


def _has_children() -> bool:
    if sys.platform != "linux":  # no orphans are adopted there, and the process group is gone
        return False
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def descendants() -> dict[int, list[str]]:
    """Every process below this one with the fields of its /proc/PID/stat from the state on; none without a /proc."""
    children: dict[int, dict[int, list[str]]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            # pid (name) state parent …, where the name may contain anything
            fields = entry.read_text(errors="replace").rpartition(")")[2].split()
            children.setdefault(int(fields[1]), {})[int(entry.parent.name)] = fields
    found: dict[int, list[str]] = {}
    pending = [os.getpid()]
    while pending:
        below = children.get(pending.pop(), {})
        found |= below
        pending += below
    return found


if __name__ == "__main__":
    main()
