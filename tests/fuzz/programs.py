"""The programs as functions, and what they may do with any input at all."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Collection
from contextlib import redirect_stderr, redirect_stdout
from typing import Any
from unittest import mock

from gsp_fd import task
from gsp_fd.common.errors import InputError
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.fd_integration import driver

from .runner import Wrong

ARGPARSE_ERROR = 2
REFUSED = (
    *(ExitCode.TRANSLATE_INPUT_ERROR, ExitCode.SEARCH_INPUT_ERROR, ExitCode.SEARCH_UNSUPPORTED),
    *(ExitCode.DRIVER_INPUT_ERROR, ExitCode.DRIVER_UNSUPPORTED),
)
"""Exit codes that say that the input is wrong."""
ENDED = (*range(4), *range(10, 14), *range(20, 25))
"""Exit codes with which the planner may end on good input."""


def plan(arguments: list[str]) -> bool:
    """Runs gsp-plan, but for Fast Downward's translator, which is not ours; whether it took the input."""
    before = set(os.listdir())
    with mock.patch.object(task, "translate", _no_translator):
        code, out, messages = driver_run(arguments)
    _check(code, messages, ENDED)
    searched, written = "search exit code" in out, set(os.listdir()) - before
    if searched and (code < 4) != bool(written):
        raise Wrong(f"exit code {code} with the plan files {written}")
    return code in ENDED


def driver_run(arguments: list[str]) -> tuple[int, str, str]:
    """Exit code, output and messages of gsp-plan."""
    return _run(driver.main, arguments)


def _no_translator(*arguments: Any, **options: Any) -> Any:
    raise InputError("Fast Downward's translator is not part of this")


def takes(main: Callable[[list[str]], int], arguments: list[str]) -> tuple[bool, str]:
    """Whether another program took the input, and its messages."""
    code, _, messages = _run(main, arguments)
    _check(code, messages, (0, ARGPARSE_ERROR))
    return code == 0, messages


def _check(code: int, messages: str, good: Collection[int]) -> None:
    """Exit codes are those of wrong input or of a good end; no message is a traceback or moves the cursor."""
    unreadable = code == ExitCode.TRANSLATE_CRITICAL_ERROR and "cannot read the file" in messages
    if code not in (*good, *REFUSED) and not unreadable:
        raise Wrong(f"{messages[-3000:]}\nexit code {code}: {messages.strip().splitlines()[-1:]}")
    for sign in ("Traceback", "internal error", "\x1b"):
        if sign in messages:
            raise Wrong(f"{messages[-3000:]}\n{sign!r} among the messages")


def _run(main: Callable[[list[str]], int], arguments: list[str]) -> tuple[int, str, str]:
    """Exit code, output and messages of a program that is called in this process."""
    out, messages = _Stream(), _Stream()
    with redirect_stdout(out), redirect_stderr(messages):
        try:
            code = int(main(arguments))
        except SystemExit as end:  # argparse
            code = end.code if isinstance(end.code, int) else 1
    return code, out.text(), messages.text()


class _Stream(io.TextIOWrapper):
    """As strict as a real standard output: not every string can be written to it."""

    def __init__(self) -> None:
        self.data = io.BytesIO()
        super().__init__(self.data, encoding="utf-8", write_through=True)

    def text(self) -> str:
        return self.data.getvalue().decode(errors="replace")
