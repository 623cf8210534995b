"""What the planner prints: Fast Downward's lines in its order, and a status line on terminals."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO

from gsp_fd import _core
from gsp_fd.common.untrusted import printable_lines

_LEVELS = {"debug": 0, "info": 1, "warning": 2}


class Log:
    """Lines on standard output. A reader that goes away (``| head``) never stops the planner."""

    def __init__(self, level: str = "info", stream: IO[str] | None = None) -> None:
        self.stream = stream or sys.stdout or open(os.devnull, "w")  # noqa: SIM115 (until the end)
        self.level = _LEVELS[level]
        self.status = StatusLine.for_terminal(self.stream)
        self._start = time.process_time()
        self._initial_values: set[str] = set()

    def line(self, text: str = "") -> None:
        """A line as it is."""
        self.status.clear()
        try:
            print(printable_lines(text), file=self.stream, flush=True)
        except OSError:
            # What is still buffered would fail again when the interpreter ends, and change the exit code.
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self.stream.fileno())
            os.close(null)

    def info(self, text: str) -> None:
        """A line of the driver, shown unless ``--log-level warning``."""
        if self.level <= _LEVELS["info"]:
            self.line(f"INFO     {text}")

    def debug(self, text: str) -> None:
        """A line of the driver, shown with ``--log-level debug``."""
        if self.level <= _LEVELS["debug"]:
            self.line(f"DEBUG    {text}")

    def start_search(self) -> None:
        """From now on ``t`` counts from 0, as for Fast Downward's search component."""
        self._start = time.process_time()

    def start_phase(self) -> None:
        """Initial values may be printed again."""
        self._initial_values.clear()

    def search(self, text: str, stamp: str | None = None) -> None:
        """A line of the search, with time and peak memory in front."""
        self.line(f"{stamp or self.stamp()} {text}")

    def native(self, text: str) -> None:
        """A line from the native search. Lab expects one initial value per name of a heuristic."""
        if text.startswith("Initial heuristic value for "):
            name = text.rpartition(":")[0]
            if name in self._initial_values:
                return
            self._initial_values.add(name)
        self.search(text)

    @property
    def search_time(self) -> float:
        """CPU seconds since the search component started."""
        return time.process_time() - self._start

    def stamp(self) -> str:
        """``[t=0.000228s, 10156 KB]``"""
        return f"[t={self.search_time:.6f}s, {peak_memory_kb()} KB]"


class StatusLine:
    """Progress on one line that overwrites itself; nothing at all where the output is no terminal."""

    def __init__(self, terminal: IO[str] | None) -> None:
        self.terminal = terminal
        self._shown = False
        self._start = time.monotonic()
        self._last = (self._start, 0)

    @classmethod
    def for_terminal(cls, stream: IO[str]) -> StatusLine:
        """A status line on standard error, if both that and ``stream`` are terminals."""
        try:
            terminals = stream.isatty() and sys.stderr.isatty()
        except ValueError:
            terminals = False
        return cls(sys.stderr if terminals else None)

    def progress(self, expanded: int, evaluated: int, best: float) -> None:
        """Called by the native search a few times a second."""
        if self.terminal is None:
            return
        now = time.monotonic()
        rate = (expanded - self._last[1]) / max(now - self._last[0], 1e-6)
        if rate < 0:
            rate = 0.0
        self._last = (now, expanded)
        text = f"{expanded:,} expanded, {evaluated:,} evaluated, best h {best:g}, {rate:,.0f} expansions/s"
        self._show(text)

    def grounding(self, instances: int) -> None:
        """Called by the native core a few times a second while it grounds a task or makes a heuristic."""
        self._show(f"grounding: {instances:,} instances of actions")

    def _show(self, text: str) -> None:
        self._write(f"\r\x1b[K{text}")
        self._shown = True

    def clear(self) -> None:
        """Take the status away before a line is printed."""
        if self._shown:
            self._write("\r\x1b[K")
            self._shown = False

    def _write(self, text: str) -> None:
        if self.terminal is not None:
            try:
                self.terminal.write(text)
                self.terminal.flush()
            except OSError:
                self.terminal = None


class Stopwatch:
    """CPU and wall-clock time in the translator's format."""

    def __init__(self) -> None:
        self._cpu = time.process_time()
        self._wall = time.monotonic()

    def __str__(self) -> str:
        cpu, wall = time.process_time() - self._cpu, time.monotonic() - self._wall
        return f"[{cpu:.3f}s CPU, {wall:.3f}s wall-clock]"


_peak = 0


def peak_memory_kb() -> int:
    """The largest resident memory of this process so far, in KiB."""
    global _peak
    # The kernel's own numbers lag behind a little and may even fall.
    _peak = max(_peak, _measured_peak_kb())
    return _peak


def _measured_peak_kb() -> int:
    try:
        with open("/proc/self/status", "rb") as status:
            for line in status:
                if line.startswith(b"VmHWM:"):
                    return int(line.split()[1])
    except OSError:
        pass
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // 1024 if sys.platform == "darwin" else peak


def translator_statistics(ground: _core.GroundTask) -> list[str]:
    """The lines that Lab's translator parser reads, for a ground task of the native core."""
    values = {
        "variables": ground.num_variables,
        "derived variables": ground.num_derived_variables,
        "facts": ground.num_facts,
        "goal facts": ground.num_goals,
        "mutex groups": ground.num_mutex_groups,
        "total mutex groups size": ground.mutex_groups_size,
        "operators": ground.num_operators,
        "axioms": ground.num_axioms,
        "task size": ground.encoding_size,
    }
    lines = [f"Translator {name}: {value}" for name, value in values.items()]
    return [*lines, f"Translator peak memory: {peak_memory_kb()} KB"]


@dataclass
class Statistics:
    """Counters of all searches of a run."""

    expanded: int = 0
    reopened: int = 0
    evaluated: int = 0
    evaluations: int = 0
    generated: int = 0
    dead_ends: int = 0

    def add(self, result: _core.SearchResult) -> None:
        """Add the counters of one native search."""
        for name in ("expanded", "reopened", "evaluated", "evaluations", "generated", "dead_ends"):
            setattr(self, name, getattr(self, name) + getattr(result, name))


def search_statistics(result: _core.SearchResult | Statistics) -> list[str]:
    """Statistics of one native search, or of all of them."""
    lines = [
        f"Expanded {result.expanded} state(s).",
        f"Reopened {result.reopened} state(s).",
        f"Evaluated {result.evaluated} state(s).",
        f"Evaluations: {result.evaluations}",
        f"Generated {result.generated} state(s).",
        f"Dead ends: {result.dead_ends} state(s).",
    ]
    if isinstance(result, _core.SearchResult) and result.jumped:
        lines += [
            f"Expanded until last jump: {result.expanded_until_last_jump} state(s).",
            f"Reopened until last jump: {result.reopened_until_last_jump} state(s).",
            f"Evaluated until last jump: {result.evaluated_until_last_jump} state(s).",
            f"Generated until last jump: {result.generated_until_last_jump} state(s).",
        ]
    return lines


def plan_lines(actions: Sequence[str], costs: Sequence[int]) -> list[str]:
    """``unstack b4 b5 (1)``, one line per step."""
    return [f"{action} ({cost})" for action, cost in zip(actions, costs, strict=True)]
