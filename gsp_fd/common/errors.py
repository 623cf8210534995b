"""Errors that are the user's to fix: what is wrong, in which file and line, and the exit code for it."""

from __future__ import annotations

import os

from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.common.untrusted import printable_lines


class InputError(Exception):
    """Input that cannot be used. ``str()`` is ``file:line: message``, without the parts that are unknown."""

    def __init__(
        self,
        message: str,
        file: str | os.PathLike[str] | None = None,
        line: int | None = None,
        *,
        exit_code: ExitCode = ExitCode.TRANSLATE_INPUT_ERROR,
    ) -> None:
        super().__init__(message, file, line, exit_code)
        self.message = message
        self.file = None if file is None else os.fspath(file)
        self.line = line
        self.exit_code = exit_code

    def __str__(self) -> str:
        place = [part for part in (self.file, str(self.line) if self.line is not None else None) if part]
        if self.file is None and self.line is not None:
            place = [f"line {self.line}"]
        return printable_lines(": ".join([":".join(place), self.message] if place else [self.message]))

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.message, self.file, self.line, self.exit_code)


def _rebuild(kind: type[InputError], message: str, file: str | None, line: int | None, code: ExitCode) -> InputError:
    return kind(message, file, line, exit_code=code)


def driver_error(message: str, file: str | os.PathLike[str] | None = None, line: int | None = None) -> InputError:
    """A mistake in a command line, or in a file that is none of the task's: exit code 36."""
    return InputError(message, file, line, exit_code=ExitCode.DRIVER_INPUT_ERROR)


def search_error(message: str, file: str | os.PathLike[str] | None = None, line: int | None = None) -> InputError:
    """A mistake in what the search gets, its options, models and SAS files: exit code 33."""
    return InputError(message, file, line, exit_code=ExitCode.SEARCH_INPUT_ERROR)
