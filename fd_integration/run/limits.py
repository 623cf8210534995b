"""Time and memory limits, and what is left of them."""

from __future__ import annotations

import math
import os
import sys
import time
from dataclasses import dataclass

EARLY_SECONDS = 0.5
"""How long before a CPU limit set from outside a search stops by itself."""

ADDRESS_SPACE_SLACK = 512 << 20


@dataclass(frozen=True)
class Limits:
    """Limits of one component, in CPU seconds and bytes; None for no limit."""

    time: float | None = None
    memory: int | None = None

    def lines(self, component: str) -> list[str]:
        """The two lines that Downward Lab reads."""
        seconds = None if self.time is None else f"{self.time}s"
        megabytes = None if self.memory is None else f"{self.memory >> 20} MB"
        return [f"{component} time limit: {seconds}", f"{component} memory limit: {megabytes}"]

    def within(self, overall: Limits) -> Limits:
        """The stricter of these limits and what is left of the overall ones, in whole seconds."""
        seconds = self.time
        if overall.time is not None:
            left = max(0, int(overall.time - planner_time() + 0.001))
            seconds = left if seconds is None else min(seconds, left)
        sizes = [size for size in (self.memory, overall.memory) if size is not None]
        return Limits(seconds, min(sizes, default=None))


class Deadline:
    """Limits that count from now on. Those set from outside (ulimit, a portfolio) count too."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._end = math.inf if limits.time is None else planner_time() + limits.time
        # A signal may arrive too late for native code: be done before the system asks for it.
        self._external_end = _soft_limit("RLIMIT_CPU") - EARLY_SECONDS

    def left(self) -> float | None:
        """CPU seconds left, at least 0; None without a limit."""
        left = min(self._end - planner_time(), self._external_end - time.process_time())
        return None if math.isinf(left) else max(0.0, left)

    def memory_kb(self) -> int | None:
        """The stricter of our own memory limit and the one set from outside, in KiB; None without a limit."""
        own = math.inf if self.limits.memory is None else self.limits.memory
        size = min(own, _soft_limit("RLIMIT_AS") - _unused_address_space())
        return None if math.isinf(size) else max(1, int(size) >> 10)


def _soft_limit(name: str) -> float:
    try:
        import resource
    except ImportError:
        return math.inf
    soft = resource.getrlimit(getattr(resource, name))[0]
    return math.inf if soft == resource.RLIM_INFINITY else float(soft)


def _unused_address_space() -> int:
    """Bytes that the process has reserved but not used: they count for RLIMIT_AS and for nothing else."""
    try:
        with open("/proc/self/statm") as file:
            size, resident = (int(number) for number in file.read().split()[:2])
        return (size - resident) * os.sysconf("SC_PAGESIZE")
    except OSError:
        return 0


def limit_address_space(memory: int | None) -> None:
    """Let allocations far above the memory limit fail, as a safety net below the checks of the search.

    Libraries reserve address space that they never use, so the net hangs somewhat lower than the limit.
    """
    if memory is None or sys.platform != "linux":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = memory + ADDRESS_SPACE_SLACK
    if all(limit == resource.RLIM_INFINITY or wanted < limit for limit in (soft, hard)):
        resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))


def planner_time() -> float:
    """CPU seconds of this process and the processes it waited for, as Fast Downward's driver counts."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system
