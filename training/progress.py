"""Progress of a run for those who watch it: a table on the terminal or plain lines, a CSV file, TensorBoard."""

from __future__ import annotations

import csv
import io
import math
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Protocol, TextIO

from gsp_fd.common.files import write_atomically

HEADER_EVERY = 20
"""Rows of the table between two headers."""
FILE_EVERY = 10.0
"""Seconds between two rows in files; rows with a validation are always written."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """The state of a run at one moment. Validation figures are those of the last validation, NaN before the first."""

    minutes: float
    unsolved: int
    satisficed: int
    solved: int
    solve_rate: float
    """Share of the training instances for which a plan was found at least once."""
    expansions_low: float
    """First quartile of the expansions of the last episode, over the training instances searched so far."""
    expansions_median: float
    expansions_high: float
    """Third quartile."""
    validation_covered: int
    validation_of: int
    validation_steps: int
    validation_rmse: float
    loss: float
    episodes: int
    transitions: int
    gradient_steps: int
    transitions_per_second: float
    """Since the last row."""
    gradient_steps_per_second: float
    validated: bool
    """Whether a validation has just ended."""
    pools: str = ""
    """One letter for each training instance, smallest first: u(nsolved), s(atisficed) or p, solved perfectly."""


class Watcher(Protocol):
    """Someone who is told about progress."""

    def row(self, row: Row) -> None:
        """The state of the run now."""

    def message(self, text: str) -> None:
        """Something people should know."""

    def close(self) -> None:
        """The run is over."""


COLUMNS: tuple[tuple[str, int], ...] = (
    ("min", 6), ("solved", 6), ("satisf", 6), ("unsolv", 6), ("expans", 6), ("valid", 6), ("steps", 6), ("rmse", 6),
    ("loss", 7), ("trans/s", 7), ("grad/s", 6),
)  # fmt: skip
"""Headers and widths: the table fits into 80 columns."""

MEANINGS = {
    "min": "minutes of training",
    "solved": "training problems whose last search expanded nothing but its plan",
    "satisf": "training problems whose last search found a plan, with detours",
    "unsolv": "training problems whose last search found no plan",
    "expans": "median expansions of these searches",
    "valid": "validation problems that the greedy policy solves: what counts",
    "steps": "steps of these plans in all",
    "rmse": "by how many steps Q is wrong along these plans",
    "loss": "of the last gradient steps",
    "trans/s": "transitions searched a second",
    "grad/s": "gradient steps a second",
}
"""What the columns mean, for people."""


def explanation() -> str:
    """The columns in a few lines, for those who see the table for the first time."""
    return "\n".join(f"  {name:8}{meaning}" for name, meaning in MEANINGS.items())


class Table:
    """A table: on a terminal its last line is always up to date, elsewhere there is one line per validation."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stdout
        self.live = self.stream.isatty()
        self.lines = 0
        self.open = False

    def row(self, row: Row) -> None:
        """Prints the row, or on a terminal replaces the last one."""
        if not row.validated and not self.live:
            return
        self._clear()
        if self.lines % HEADER_EVERY == 0 and not (self.open and not row.validated):
            self._print(" ".join(f"{name:>{width}}" for name, width in COLUMNS))
            self.lines += 1
        text = " ".join(f"{cell:>{width}}" for cell, (_, width) in zip(cells(row), COLUMNS, strict=True))
        if row.validated:
            self._print(text)
            self.lines += 1
        else:
            self.stream.write(text[: shutil.get_terminal_size().columns - 1])
            self.stream.flush()
        self.open = not row.validated

    def message(self, text: str) -> None:
        """Prints a line of its own."""
        self._clear()
        self._print(text)

    def close(self) -> None:
        """Ends the line that was being updated."""
        self._clear()

    def _clear(self) -> None:
        if self.open:
            self.stream.write("\r\x1b[K")
            self.open = False

    def _print(self, text: str) -> None:
        print(text, file=self.stream, flush=True)


def cells(row: Row) -> list[str]:
    """The cells of the table, in the order of its columns."""
    known = row.validation_of > 0
    return [
        f"{row.minutes:.2f}",
        str(row.solved),
        str(row.satisficed),
        str(row.unsolved),
        _number(row.expansions_median, ".0f"),
        f"{row.validation_covered}/{row.validation_of}" if known else "-",
        str(row.validation_steps) if known else "-",
        _number(row.validation_rmse, ".2f"),
        _number(row.loss, ".4f"),
        f"{row.transitions_per_second:.0f}",
        f"{row.gradient_steps_per_second:.1f}",
    ]


def _number(value: float, form: str) -> str:
    return "-" if math.isnan(value) else format(value, form)


class Thinning:
    """Which rows go into files."""

    def __init__(self) -> None:
        self.last = -math.inf

    def takes(self, row: Row) -> bool:
        """Whether the row comes long enough after the last one, or with a validation."""
        if not row.validated and 60 * (row.minutes - self.last) < FILE_EVERY:
            return False
        self.last = row.minutes
        return True


class CsvFile:
    """Rows in a file. A resumed run drops the rows that its checkpoint does not know of."""

    def __init__(self, path: Path, resumed_at: float = 0.0) -> None:
        self.thinning = Thinning()
        names = [field.name for field in fields(Row)]
        kept = [row for row in read_rows(path) if row.minutes <= resumed_at] if path.exists() else []
        text = io.StringIO()
        old = csv.DictWriter(text, names, lineterminator="\n")
        old.writeheader()
        old.writerows(asdict(row) for row in kept)
        write_atomically(path, text.getvalue().encode())
        self.stream = path.open("a", newline="", encoding="utf-8")
        self.writer = csv.DictWriter(self.stream, names, lineterminator="\n")

    def row(self, row: Row) -> None:
        """Appends the row."""
        if not self.thinning.takes(row):
            return
        self.writer.writerow(asdict(row))
        self.stream.flush()

    def message(self, text: str) -> None:
        """Messages have no place in a CSV file."""

    def close(self) -> None:
        """Closes the file."""
        self.stream.close()


def read_rows(path: Path) -> list[Row]:
    """The rows of a CSV file; a last line that was cut short is left out."""
    with path.open(newline="", encoding="utf-8") as stream:
        lines = list(csv.DictReader(stream))
    kinds: dict[str, Any] = {"int": int, "float": float, "bool": lambda text: text == "True", "str": str}
    newer = {"pools": ""}  # columns that files of older versions lack
    rows = []
    for line in lines:
        try:
            rows.append(
                Row(**{field.name: kinds[str(field.type)]({**newer, **line}[field.name]) for field in fields(Row)})
            )
        except (KeyError, TypeError, ValueError):
            break
    return rows


class EventFiles:
    """TensorBoard: the numbers of every row over gradient steps, with the time they were written."""

    def __init__(self, folder: Path) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self.thinning = Thinning()
        self.writer: Any = SummaryWriter(str(folder))

    def row(self, row: Row) -> None:
        """Adds all numbers of the row."""
        if not self.thinning.takes(row):
            return
        for name, value in asdict(row).items():
            is_validation = name.startswith("validation_")
            if name in ("validated", "pools") or (is_validation and not row.validated):
                continue
            self.writer.add_scalar(name.replace("validation_", "validation/"), value, row.gradient_steps)

    def message(self, text: str) -> None:
        """Adds a text."""
        self.writer.add_text("messages", text)

    def close(self) -> None:
        """Writes what is left."""
        self.writer.close()


class Watchers:
    """Several watchers as one."""

    def __init__(self, watchers: Sequence[Watcher] = ()) -> None:
        self.watchers = list(watchers)

    def row(self, row: Row) -> None:
        """Tells everyone."""
        for watcher in self.watchers:
            watcher.row(row)

    def message(self, text: str) -> None:
        """Tells everyone."""
        for watcher in self.watchers:
            watcher.message(text)

    def close(self) -> None:
        """Tells everyone."""
        for watcher in self.watchers:
            watcher.close()


def event_files(folder: Path) -> EventFiles | None:
    """TensorBoard's writer, or None where TensorBoard is not installed."""
    try:
        return EventFiles(folder)
    except ImportError:
        return None
