"""The results file: JSON lines, a header whenever a run starts on it and one line per finished run."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gsp_fd.common.errors import driver_error

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
"""What a result says."""


def result_key(result: Mapping[str, Any]) -> Key:
    """What a result is about."""
    domain, split, problem, configuration = (str(result[name]) for name in TEXT_COLUMNS[:4])
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
        """A line of a results file; KeyError or ValueError if it is none."""
        if entry["kind"] == "header":
            if entry["version"] != VERSION:
                raise ValueError(f"version {entry['version']} is not known here")
            self.headers.append(entry)
        elif entry["kind"] == "result":
            self.by_key[result_key(entry)] = {"message": "", **entry, "status": entry["status"]}
        else:
            raise ValueError(f"'{entry['kind']}' is no kind of line")


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
            together.add(json.loads(line))
        except (ValueError, KeyError, TypeError) as error:
            if number == len(lines):
                return
            raise driver_error(f"this is no line of a results file: {error!r}"[:200], file, number) from None


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
            Results().add(json.loads(text[start:]))
        except (ValueError, KeyError, TypeError):
            os.ftruncate(self._descriptor, start)
        else:
            os.write(self._descriptor, b"\n")

    def write(self, entry: dict[str, Any]) -> None:
        """Append a line, in one piece and at once."""
        os.write(self._descriptor, json.dumps(entry, ensure_ascii=False).encode() + b"\n")

    def close(self) -> None:
        """Let others write."""
        os.close(self._descriptor)
