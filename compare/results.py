"""The results file: JSON lines, a header whenever a run starts on it and one line per finished run."""

from __future__ import annotations

import fcntl
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gsp_fd.common.errors import InputError, driver_error
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.common.untrusted import parse_json

FILE_NAME = "results.jsonl"
VERSION = 1
Key = tuple[str, str, str, str]
"""Domain, split, problem, configuration."""
TEXT_COLUMNS = ("domain", "split", "problem", "configuration", "status", "message")
NUMBER_COLUMNS = (
    *("exit_code", "cost", "best_known", "steps", "expansions", "generated", "evaluations"),
    *("cpu_seconds", "wall_seconds", "memory_mb", "objects"),
)
COLUMNS = (*TEXT_COLUMNS, *NUMBER_COLUMNS, "finished")
"""What a result says; it may have an explanation, too."""
EXPLAINED_NUMBERS = ("rest", "gsp", "hff", "better")


def result_key(result: Mapping[str, Any]) -> Key:
    """What a result is about."""
    domain, split, problem, configuration = (result[name] for name in TEXT_COLUMNS[:4])
    return domain, split, problem, configuration


@dataclass
class Results:
    """Headers in their order, and the last result for each key."""

    headers: list[dict[str, Any]] = field(default_factory=list)
    by_key: dict[Key, dict[str, Any]] = field(default_factory=dict)

    @property
    def results(self) -> list[dict[str, Any]]:
        """The results, in the order in which their keys first came up."""
        return list(self.by_key.values())

    def add(self, entry: dict[str, Any]) -> None:
        """A line of a results file; ValueError if it is none."""
        kind = entry.get("kind") if isinstance(entry, dict) else None
        if kind == "header":
            self.headers.append(_checked_header(entry))
        elif kind == "result":
            result = _checked_result(entry)
            self.by_key[result_key(result)] = result
        else:
            raise ValueError("it has no kind, header or result")


def _checked_header(entry: dict[str, Any]) -> dict[str, Any]:
    if entry.get("version") != VERSION:
        raise ValueError("it is of a version that is not known here")
    header = {"limits": {}, "configurations": [], "command": "", **entry}
    if not isinstance(header["limits"], dict) or not isinstance(header["configurations"], list):
        raise ValueError("limits must be an object, configurations a list")
    for configuration in header["configurations"]:
        if not isinstance(configuration, dict):
            raise ValueError("a configuration must be an object")
        _check_text(configuration, "name")
        configuration.setdefault("spec", "")
        _check_text(configuration, "spec")
    _check_text(header, "command")
    for name, limit in header["limits"].items():
        _check_number(name, limit)
    return header


def _checked_result(entry: dict[str, Any]) -> dict[str, Any]:
    result = {"message": "", "finished": "", **dict.fromkeys(NUMBER_COLUMNS), **entry}
    for name in (*TEXT_COLUMNS, "finished"):
        _check_text(result, name)
    for name in NUMBER_COLUMNS:
        _check_number(name, result[name])
    result["explanation"] = checked_explanation(result.get("explanation"))
    return result


def checked_explanation(value: Any) -> dict[str, Any] | None:
    """Columns about the steps of a plan, see :mod:`gsp_fd.compare.explain`, or None; ValueError if it is neither."""
    if value is None:
        return None
    if not isinstance(value, dict) or set(value) != {"action", "best", *EXPLAINED_NUMBERS}:
        raise ValueError("explanation must have the columns of one")
    if not all(isinstance(column, list) for column in value.values()) or len({*map(len, value.values())}) != 1:
        raise ValueError("the columns of an explanation must be lists of one length")
    for name in value["action"]:
        _check_text({"action": name}, "action")
    for name in EXPLAINED_NUMBERS:
        for number in value[name]:
            _check_number(name, number)
    for best in value["best"]:
        for pair in best if isinstance(best, list) else [None]:
            if not isinstance(pair, list) or len(pair) != 2:
                raise ValueError("the best actions of an explanation must be pairs of action and value")
            _check_text({"best": pair[0]}, "best")
            _check_number("best", pair[1])
    return value


def _check_text(entry: dict[str, Any], name: str) -> None:
    value = entry.get(name)
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a text")
    value.encode()  # not every string of JSON is one of UTF-8


def _check_number(name: str, value: Any) -> None:
    known = isinstance(value, (int, float)) and not isinstance(value, bool)
    if value is not None and not (known and abs(value) <= sys.float_info.max):
        raise ValueError(f"{name} must be a number")


def read_results(places: Sequence[Path]) -> Results:
    """Results files, or folders that hold one, together; InputError with file and line if one is broken.

    Where several have a result for the same run, the last one counts. A last line that was not written to its end is
    left out.
    """
    together = Results()
    for place in places:
        file = place / FILE_NAME if place.is_dir() else place
        try:
            text = file.read_bytes()
        except OSError as error:
            raise driver_error(f"cannot read the results: {error.strerror}", file) from None
        _parse(text, file, together)
    return together


def _parse(text: bytes, file: Path, together: Results) -> None:
    lines = text.split(b"\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            together.add(parse_json(line))
        except ValueError as error:
            if number == len(lines):
                return
            raise driver_error(f"this is no line of a results file: {error}"[:200], file, number) from None


class ResultsWriter:
    """Appends to a results file, which no other process may do at the same time."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.file = folder / FILE_NAME
        self._descriptor = os.open(self.file, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._repair()
            self.before = read_results([self.file])
        except BlockingIOError:
            os.close(self._descriptor)
            raise driver_error("another gsp-compare writes to this file", self.file) from None
        except BaseException:
            os.close(self._descriptor)
            raise

    def _repair(self) -> None:
        """A last line without its end is what a killed run leaves: finish it if nothing is missing, or take it away."""
        text = self.file.read_bytes()
        if not text or text.endswith(b"\n"):
            return
        start = text.rfind(b"\n") + 1
        try:
            Results().add(parse_json(text[start:]))
        except ValueError:
            os.ftruncate(self._descriptor, start)
        else:
            self._append(b"\n")

    def write(self, entry: dict[str, Any]) -> None:
        """Append a line at once. Where there is no room for all of it, nothing of it stays, and InputError says so."""
        self._append(json.dumps(entry, ensure_ascii=False).encode() + b"\n")

    def _append(self, data: bytes) -> None:
        end = os.fstat(self._descriptor).st_size
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
        except OSError as error:
            os.ftruncate(self._descriptor, end)
            raise _unwritable(error, self.file) from None

    def close(self) -> None:
        """Let others write."""
        os.close(self._descriptor)


def _unwritable(error: OSError, file: Path) -> InputError:
    reason = f"cannot write the results: {error.strerror}; the same command goes on where it was"
    return InputError(reason, file, exit_code=ExitCode.DRIVER_CRITICAL_ERROR)
