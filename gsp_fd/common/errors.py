"""Errors that are the user's to fix: what is wrong, in which file and line, and the exit code for it."""

from __future__ import annotations

from gsp_fd.common.exit_codes import ExitCode


class InputError(Exception):
    """Input that cannot be used. ``str()`` is ``file:line: message``, without the parts that are unknown."""

    def __init__(
        self,
        message: str,
        file: str | None = None,
        line: int | None = None,
        *,
        exit_code: ExitCode = ExitCode.TRANSLATE_INPUT_ERROR,
    ) -> None:
        super().__init__(message, file, line, exit_code)
        self.message = message
        self.file = file
        self.line = line
        self.exit_code = exit_code

    def __str__(self) -> str:
        place = [part for part in (self.file, str(self.line) if self.line is not None else None) if part]
        if self.file is None and self.line is not None:
            place = [f"line {self.line}"]
        return ": ".join([":".join(place), self.message] if place else [self.message])

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.message, self.file, self.line, self.exit_code)


def _rebuild(kind: type[InputError], message: str, file: str | None, line: int | None, code: ExitCode) -> InputError:
    return kind(message, file, line, exit_code=code)
