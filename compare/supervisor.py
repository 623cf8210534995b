"""A small process that runs planners one after another under limits and leaves nothing of them behind.

It reads one request per line from standard input (JSON, see :class:`gsp_fd.compare.runner.Supervisor`) and answers with
one line each. The end of standard input means that nobody waits any more: it ends the planner that is running, deletes
its folder and goes. Only the standard library, so that it starts at once and forking it is cheap.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import Any

from gsp_fd.common import guard

POLL_SECONDS = 0.1
POLL_SHARE = 0.05
"""At most this part of the time is spent looking at the processes of the run."""
CPU_GRACE_SECONDS = 0.5
"""Planners that know their limit stop by themselves: they get this long to say so."""

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGESIZE")
_STATE, _TIMES, _RESIDENT = 0, slice(11, 15), 21
"""Fields of /proc/PID/stat from the state on: user and system time, also of reaped children; resident pages."""


def main() -> None:
    """Serve requests until standard input ends."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # the pipe is the only way to stop
    guard.adopt_orphans()
    wake, on_child = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(on_child, False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(on_child, warn_on_full_buffer=False)
    requests = os.fdopen(0, "rb", buffering=0)
    folder: str | None = None
    while line := requests.readline():
        request = json.loads(line)
        folder = request["folder"]
        answer = Run(request, wake).execute()
        if answer["reason"] == "abandoned":
            break
        print(json.dumps(answer), flush=True)
    if folder is not None:  # whoever asked may not have had the time to delete it
        shutil.rmtree(folder, ignore_errors=True)


@dataclass
class Run:
    """One command with all processes that it starts."""

    request: dict[str, Any]
    wake: int
    cpu: float = 0.0
    """Seconds of the processes that have been reaped."""
    waiting: float = 0.0
    """Seconds in which no process of the run was ready for a processor: it waits, rather than a busy machine."""
    peak_bytes: int = 0
    exit_code: int | None = None
    leader: int = 0
    interval: float = POLL_SECONDS
    start: float = field(default_factory=time.monotonic)

    def execute(self) -> dict[str, Any]:
        """How the command ended: ``reason`` is empty, a limit, ``abandoned``, or why it could not start."""
        try:
            self.spawn()
        except OSError as error:
            return self.answer(f"cannot start {self.request['command'][0]}: {error.strerror}")
        reason = self.wait()
        guard.end_all(self.leader, self.reap)
        return self.answer(reason)

    def answer(self, reason: str) -> dict[str, Any]:
        return {
            "reason": reason,
            "exit_code": self.exit_code,
            "cpu_seconds": round(self.cpu, 3),
            "wall_seconds": round(time.monotonic() - self.start, 3),
            "memory_mb": round(self.peak_bytes / 2**20, 1),
        }

    def spawn(self) -> None:
        with open(self.request["log"], "wb") as log:
            child = subprocess.Popen(
                self.request["command"],
                cwd=self.request["folder"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=self.prepare_child,
            )
        self.leader = child.pid
        child.returncode = 0  # reaped here and not there, with what it used

    def prepare_child(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        guard.die_with_parent()
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")  # if the machine runs out of memory, the planner is the one to go
        seconds, disk = int(self.request["cpu_seconds"]) + 2, self.request["disk_mb"] << 20
        for kind, soft, hard in (
            (resource.RLIMIT_CPU, seconds, seconds + 2),
            (resource.RLIMIT_FSIZE, disk, disk),
            (resource.RLIMIT_CORE, 0, 0),
        ):
            with contextlib.suppress(OSError, ValueError):  # stricter limits are set already
                resource.setrlimit(kind, (soft, hard))

    def wait(self) -> str:
        """Wait for the end of the command or a limit."""
        last = time.monotonic()
        while not self.reap():
            left = last + self.interval - time.monotonic()
            if left <= 0:
                now = time.monotonic()
                if limit := self.exceeded(now - last):
                    return limit
                last = now
                continue
            ready, _, _ = select.select([0, self.wake], [], [], left)
            if self.wake in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(self.wake, 512)
            if 0 in ready:
                return "abandoned"  # no request comes before the answer to the last one
        return "disk" if self.exit_code == -signal.SIGXFSZ or self.too_large() else ""

    def reap(self) -> bool:
        """Collect processes that have ended; returns whether the command itself has."""
        with contextlib.suppress(ChildProcessError):
            while True:
                process, status, usage = os.wait4(-1, os.WNOHANG)
                if process == 0:
                    break
                self.cpu += usage.ru_utime + usage.ru_stime
                unit = 1 if sys.platform == "darwin" else 1024
                self.peak_bytes = max(self.peak_bytes, usage.ru_maxrss * unit)
                if process == self.leader:
                    self.exit_code = os.waitstatus_to_exitcode(status)
        return self.exit_code is not None

    def exceeded(self, passed: float) -> str:
        """The limit that the processes of the run have exceeded, if any; ``passed`` since the last look at them."""
        begin = time.monotonic()
        processes = guard.descendants().values()
        cpu = self.cpu + sum(int(ticks) for fields in processes for ticks in fields[_TIMES]) / _TICKS
        resident = sum(int(fields[_RESIDENT]) for fields in processes) * _PAGE
        self.peak_bytes = max(self.peak_bytes, resident)
        if all(fields[_STATE] != "R" for fields in processes):
            self.waiting += passed
        too_large = self.too_large()
        self.interval = max(POLL_SECONDS, (time.monotonic() - begin) / POLL_SHARE)
        if cpu > self.request["cpu_seconds"] + CPU_GRACE_SECONDS:
            return "time"
        if resident > self.request["memory_mb"] << 20:
            return "memory"
        if self.waiting >= self.request["wall_seconds"]:
            return "wall"
        return "disk" if too_large else ""

    def too_large(self) -> bool:
        """Whether the folder of the run holds more than its quota."""
        used = 0
        for folder, _, files in os.walk(self.request["folder"]):
            for name in files:
                with contextlib.suppress(OSError):
                    used += os.lstat(os.path.join(folder, name)).st_blocks * 512
        return used > int(self.request["disk_mb"]) << 20
