"""The limits of a run: the same for all configurations, and enforced from outside."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

DEFAULT_SECONDS, DEFAULT_MEMORY_MB, DEFAULT_EXPANSIONS, DEFAULT_DISK_MB = 300, 4096, 10_000, 4096


@dataclass(frozen=True)
class RunLimits:
    """CPU time of all processes together, their resident memory, and what the folder of the run may hold."""

    cpu_seconds: int
    memory_mb: int
    expansions: int | None
    """None for no limit. Planners without such an option run on: their plan does not count if it took more."""
    wall_seconds: float
    """Time by the clock, without that in which its processes were ready for a processor: they should not hang."""
    disk_mb: int

    def header(self) -> dict[str, Any]:
        """What the results file says about them."""
        return asdict(self)


def run_limits(
    seconds: int, memory_mb: int, expansions: int | None, wall: float | None = None, disk_mb: int = DEFAULT_DISK_MB
) -> RunLimits:
    """Limits of a run; unless given, three times the CPU time by the clock, for planners that wait."""
    return RunLimits(seconds, memory_mb, expansions, 3 * seconds + 10.0 if wall is None else wall, disk_mb)
