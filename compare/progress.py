"""What the terminal shows while a comparison runs: a line per run, and an estimate of the time that is left."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from gsp_fd.compare.runner import Job


class Progress:
    """Counts runs and estimates: a run takes as long as those of its configuration on that split did on average."""

    def __init__(self, jobs: Sequence[Job], parallel: int) -> None:
        self.total = len(jobs)
        self.done = 0
        self.parallel = max(1, parallel)
        self._left: dict[tuple[str, str, str], int] = {}
        for job in jobs:
            group = job.configuration.name, job.problem.domain, job.problem.split
            self._left[group] = self._left.get(group, 0) + 1
        self._seconds: dict[tuple[str, ...], list[float]] = {}

    def finished(self, result: dict[str, Any]) -> str:
        """The line for a run that has ended."""
        self.done += 1
        group = str(result["configuration"]), str(result["domain"]), str(result["split"])
        self._left[group] -= 1
        for part in (group, group[:2], group[:1], ()):
            self._seconds.setdefault(part, []).append(result["wall_seconds"])
        place = "/".join(part for part in (result["domain"], result["split"], result["problem"]) if part)
        steps = f", {result['steps']} steps" if result["steps"] is not None else ""
        message = f" ({result['message']})" if result["message"] else ""
        left = f"; about {duration(self.seconds_left())} left" if self.done < self.total else ""
        return (
            f"[{self.done}/{self.total}] {place} {result['configuration']}: {result['status']}{steps}, "
            f"{result['cpu_seconds']:.1f} s{message}{left}"
        )

    def seconds_left(self) -> float:
        """The estimate; groups without a finished run take as long as the nearest wider group."""
        total = 0.0
        for group, count in self._left.items():
            known = next(self._seconds[part] for part in (group, group[:2], group[:1], ()) if part in self._seconds)
            total += count * fmean(known)
        return total / self.parallel


def duration(seconds: float) -> str:
    """``40 s``, ``12 min``, ``3 h 20 min``."""
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
