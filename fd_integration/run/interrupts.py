"""Signals: Ctrl-C, SIGTERM and the CPU alarm end the work between two steps, never inside one."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from types import CodeType, FrameType
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_HANDLED = (signal.SIGINT, signal.SIGTERM, signal.SIGXCPU, signal.SIGPROF, signal.SIGALRM)
_RETRY_SECONDS = 0.005


class InterruptionError(Exception):
    """A signal asked for the end."""


class Interrupts:
    """The first signal raises :class:`InterruptionError`, a second one ends the process at once.

    The native search polls for signals and returns with its statistics when a handler raises. Where the error would
    lose something, as in a callback of the search or while a plan is written, the signal waits.
    """

    def __init__(self, number: int | None = None) -> None:
        self.signal = number
        self.out_of_time = False
        """Whether it was the CPU alarm."""
        self._previous: dict[signal.Signals, Any] = {}
        self._waits_in: dict[CodeType, bool] = {}

    def __enter__(self) -> Interrupts:
        """Handle signals until the end of the block; in other threads than the main one, leave them alone."""
        with suppress(ValueError):
            for number in _HANDLED:
                self._previous[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *exception: object) -> None:
        self.set_alarm(None)
        self.forget()
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        self._previous.clear()

    def set_alarm(self, seconds: float | None) -> None:
        """Interrupt after this many CPU seconds of this process; None for never."""
        if self._previous:
            signal.setitimer(signal.ITIMER_PROF, 0 if seconds is None else max(seconds, 1e-3))

    @property
    def exit_code(self) -> int:
        """How Fast Downward's driver reports a component that died of a signal: 256 minus its number."""
        return 256 - (self.signal or signal.SIGTERM)

    def cause(self, reason: str) -> str:
        """Why work ended that says it was interrupted: the CPU alarm is a time limit."""
        return "time" if reason == "interrupted" and self.out_of_time and self.signal is None else reason

    def deferred(self, function: Callable[P, R]) -> Callable[P, R]:
        """The function such that signals wait until it has ended, or until :meth:`allowed` work inside it."""

        def deferring(*args: P.args, **kwargs: P.kwargs) -> R:
            return function(*args, **kwargs)

        self._waits_in[deferring.__code__] = True
        return deferring

    def allowed(self, function: Callable[P, R]) -> Callable[P, R]:
        """The function such that signals may interrupt it, although they wait around it."""

        def allowing(*args: P.args, **kwargs: P.kwargs) -> R:
            return function(*args, **kwargs)

        self._waits_in[allowing.__code__] = False
        return allowing

    def forget(self) -> None:
        """Drop a signal that still waits: the work it should have ended has ended by itself."""
        if self._previous:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _waits(self, frame: FrameType | None) -> bool:
        while frame is not None:
            if frame.f_code in self._waits_in:
                return self._waits_in[frame.f_code]
            frame = frame.f_back
        return False

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if number in (signal.SIGPROF, signal.SIGXCPU):
            self.out_of_time = True
        elif number != signal.SIGALRM:
            if self.signal is not None:
                os._exit(self.exit_code)
            self.signal = number
        if not self._waits(frame):
            raise InterruptionError
        signal.setitimer(signal.ITIMER_REAL, _RETRY_SECONDS)
