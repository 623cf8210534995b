"""Plan files: where they go, how they are numbered, and that each is complete or not there at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

from gsp_fd.common.errors import InputError, search_error
from gsp_fd.common.files import write_atomically
from gsp_fd.validate import format_plan


class PlanFiles:
    """The plan file ``PREFIX`` of a single search, or ``PREFIX.1``, ``PREFIX.2`` … of several searches."""

    def __init__(self, prefix: Path, previous: int | None = None) -> None:
        self.prefix = prefix
        self.numbered = previous is not None
        self._number = previous or 0
        self.written: list[Path] = []

    def check_writable(self) -> None:
        """Raise InputError now rather than after the search, if no plan can be written."""
        folder = self.prefix.parent
        try:
            if not folder.is_dir():
                raise self._error(f"the folder {folder} does not exist")
            if self.prefix.is_dir():
                raise self._error("this is a folder")
            target = self.prefix if self.prefix.exists() and not _is_ordinary(self.prefix) else folder
        except OSError as error:
            raise self._error(f"no plan can be written there: {error.strerror}") from None
        if not os.access(target, os.W_OK):
            raise self._error(f"no permission to write in {folder}")

    def existing(self) -> Iterator[Path]:
        """Plan files of an earlier run."""
        if _is_ordinary(self.prefix):
            yield self.prefix
        for number in count(1):
            path = self._numbered(number)
            if not _is_ordinary(path):
                return
            yield path

    def delete_existing(self) -> None:
        """Delete the plan files of an earlier run."""
        for path in list(self.existing()):
            try:
                path.unlink()
            except OSError as error:
                raise self._error(f"cannot delete the old plan file {path}: {error.strerror}") from None

    def save(self, actions: Sequence[str], cost: int, unit_cost: bool) -> Path:
        """Write the next plan; a reader never sees a part of it."""
        self._number += 1
        path = self._numbered(self._number) if self.numbered else self.prefix
        text = format_plan(actions, cost, unit_cost=unit_cost)
        try:
            if path.exists() and not _is_ordinary(path):
                path.write_text(text)
            else:
                write_atomically(path, text.encode())
        except OSError as error:
            raise self._error(f"cannot write the plan: {error.strerror}") from None
        if path not in self.written:
            self.written.append(path)
        return path

    def withdraw(self, path: Path) -> None:
        """Take back a plan that turned out to be wrong."""
        path.unlink(missing_ok=True)
        self.written.remove(path)

    def _numbered(self, number: int) -> Path:
        return Path(f"{self.prefix}.{number}")

    def _error(self, message: str) -> InputError:
        return search_error(f"plan file: {message}", self.prefix)


def _is_ordinary(path: Path) -> bool:
    """Whether this is a file we may delete and replace: no device, and no link such as /dev/stdout."""
    try:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            return path.is_file() and Path("/dev") not in path.absolute().parents
        return stat.S_ISREG(mode)
    except OSError:
        return False
