"""Figures of a run as SVG: one quantity on each axis, colours from the page, readable on a phone."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gsp_fd.training.progress import Row

WIDTH, HEIGHT = 560, 300
LEFT, RIGHT, TOP, BOTTOM = 58, 14, 14, 46
STATUS_CLASSES = {"p": "perfect", "s": "satisficed", "u": "unsolved"}
SIZE_GROUPS = 8
"""Bars of the figure of training problems by size, at most."""

Point = tuple[float, float]


class Searched(NamedTuple):
    """The last search on a training problem."""

    size: int
    expansions: int
    status: str
    """A letter, as in the pools of a row."""


@dataclass(frozen=True)
class Axis:
    """A linear scale from values to coordinates."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The coordinate of a value."""
        return self.start + (self.end - self.start) * (value - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        """About five round values."""
        step = 10.0 ** math.floor(math.log10((self.high - self.low) / 4))
        step = next(step * factor for factor in (1, 2, 5, 10) if (self.high - self.low) / (step * factor) <= 5)
        first = math.ceil(self.low / step - 1e-9)
        return [i * step for i in range(first, int(self.high / step + 1e-9) + 1)]


def horizontal(values: Iterable[float]) -> Axis:
    """From 0 to the largest value, along the bottom."""
    return Axis(0, max([1e-3, *values]), LEFT, WIDTH - RIGHT)


def vertical(values: Iterable[float], least: float = 1.0) -> Axis:
    """From 0 to the largest value, upwards."""
    return Axis(0, max([least, *values]), HEIGHT - BOTTOM, TOP)


def coverage_figure(rows: Sequence[Row], baseline: int | None) -> str:
    """Validation problems solved over time, and how many hFF solves."""
    validated = [row for row in rows if row.validated]
    x, y = horizontal(row.minutes for row in rows), vertical(row.validation_of for row in validated)
    parts = _frame(x, y, "minutes", "validation problems solved")
    if baseline is not None:
        height = y(baseline)
        parts.append(f'<path class="hff" d="M{LEFT} {height:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text class="hff" x="{WIDTH - RIGHT - 4}" y="{height + 17:.1f}" text-anchor="end">hFF</text>')
    points = [(x(row.minutes), y(row.validation_covered)) for row in validated]
    parts += [_line(points), *_dots(points)]
    return _svg(parts, "Validation problems solved over time")


def expansions_figure(rows: Sequence[Row]) -> str:
    """Median expansions with quartiles over time."""
    known = [row for row in rows if not math.isnan(row.expansions_median)]
    x, y = horizontal(row.minutes for row in rows), vertical(row.expansions_high for row in known)
    parts = _frame(x, y, "minutes", "expansions")
    band = [(x(row.minutes), y(row.expansions_high)) for row in known]
    band += [(x(row.minutes), y(row.expansions_low)) for row in reversed(known)]
    if known:
        parts.append(f'<polygon class="band" points="{_points(band)}"/>')
    parts.append(_line([(x(row.minutes), y(row.expansions_median)) for row in known]))
    return _svg(parts, "Expansions over time")


def searches_figure(searches: Sequence[Searched]) -> str:
    """Expansions of the last searches against problem size, by powers of ten."""
    if not searches:
        return ""
    x = Axis(0, max(search.size for search in searches) * 1.05, LEFT, WIDTH - RIGHT)
    powers = max(1, math.ceil(math.log10(max(search.expansions for search in searches) or 1)))
    y = Axis(0, powers, HEIGHT - BOTTOM, TOP)
    parts = _frame(x, y, "objects", "expansions", [(power, f"{10**power:,}") for power in range(powers + 1)])
    parts += [
        f'<circle class="{STATUS_CLASSES[search.status]}" cx="{x(search.size):.1f}" '
        f'cy="{y(math.log10(max(1, search.expansions))):.1f}" r="4"/>'
        for search in searches
    ]
    return _svg(parts, "Expansions against problem size")


def status_by_size_figure(searches: Sequence[Searched]) -> str:
    """How many training problems of each size are unsolved, satisficed, solved, in groups of about as many."""
    ordered = sorted(searches)
    length = max(1, math.ceil(len(ordered) / SIZE_GROUPS))
    groups = [ordered[first : first + length] for first in range(0, len(ordered), length)]
    if not groups:
        return ""
    y = vertical(map(len, groups))
    bar = (WIDTH - RIGHT - LEFT) / len(groups)
    parts = _frame(None, y, "objects", "training problems")
    for index, group in enumerate(groups):
        left, below = LEFT + bar * index, 0
        sizes = f"{group[0].size}" if group[0].size == group[-1].size else f"{group[0].size}–{group[-1].size}"
        parts.append(f'<text x="{left + bar / 2:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{sizes}</text>')
        for letter, kind in STATUS_CLASSES.items():
            count = sum(search.status == letter for search in group)
            parts.append(
                f'<rect class="{kind}" x="{left + 3:.1f}" y="{y(below + count):.1f}" width="{bar - 6:.1f}" '
                f'height="{y(below) - y(below + count):.1f}"/>'
            )
            below += count
    return _svg(parts, "Training problems by size: unsolved, satisficed, solved")


def solve_rate_figure(rows: Sequence[Row]) -> str:
    """The share of training problems for which a plan was found so far."""
    x, y = horizontal(row.minutes for row in rows), Axis(0, 100, HEIGHT - BOTTOM, TOP)
    parts = _frame(x, y, "minutes", "solve rate (%)")
    parts.append(_line([(x(row.minutes), y(100 * row.solve_rate)) for row in rows]))
    return _svg(parts, "Solve rate over time")


def loss_figure(rows: Sequence[Row]) -> str:
    """Loss over time."""
    known = [row for row in rows if math.isfinite(row.loss)]
    x, y = horizontal(row.minutes for row in rows), vertical((row.loss for row in known), 1e-3)
    parts = [*_frame(x, y, "minutes", "loss"), _line([(x(row.minutes), y(row.loss)) for row in known])]
    return _svg(parts, "Loss over time")


def heat_map(rows: Sequence[Row]) -> str:
    """Training problems over time, the smallest at the bottom: unsolved, satisficed, solved."""
    known = [row for row in rows if row.pools]
    if not known:
        return ""
    count, x = len(known[-1].pools), horizontal(row.minutes for row in known)
    bottom = HEIGHT - BOTTOM
    size = (bottom - TOP) / count
    parts = [
        f'<rect class="{STATUS_CLASSES[letter]}" x="{x(start):.1f}" y="{bottom - size * (index + length):.2f}" '
        f'width="{x(row.minutes) - x(start) + 0.3:.1f}" height="{size * length + 0.05:.2f}"/>'
        for start, row in zip([0.0, *(row.minutes for row in known)], known, strict=False)
        for index, length, letter in _runs(row.pools)
    ]
    parts += _x_axis(x, "minutes")
    label = "training problems by size"
    parts.append(
        f'<text transform="translate(16 {(TOP + bottom) / 2:.0f}) rotate(-90)" text-anchor="middle">{label}</text>'
    )
    return _svg(parts, "Training problems over time: unsolved, satisficed, solved")


def size_figure(policy: Sequence[tuple[int, int | None]], hff: Sequence[tuple[int, int | None]]) -> str:
    """Plan lengths against problem size; where there is no plan, a mark above the line."""
    sizes = [size for size, _ in policy]
    x = Axis(0, max([1, *sizes]) * 1.05, LEFT, WIDTH - RIGHT)
    lengths = [length for _, length in (*policy, *hff) if length is not None]
    y = Axis(0, max([1, *lengths]), HEIGHT - BOTTOM, TOP + 44)
    parts = _frame(x, y, "objects", "steps of the plan")
    parts.append(f'<text x="{LEFT + 4}" y="{TOP + 8}">no plan:</text>')
    for kind, pairs, height in (("hff", hff, TOP + 24), ("dot", policy, TOP + 12)):
        radius = 5 if kind == "hff" else 3
        points = [(x(size), height if length is None else y(length)) for size, length in pairs]
        parts += [f'<circle class="{kind}" cx="{across:.1f}" cy="{up:.1f}" r="{radius}"/>' for across, up in points]
    return _svg(parts, "Plan lengths against problem size, GSP and hFF")


def calibration_figure(points: Sequence[tuple[int, float, float]], names: Sequence[str]) -> str:
    """-Q against what the rest of the plan costs: a line for each validation problem, which tells its name."""
    high = max([1.0, *(max(cost, value) for _, cost, value in points)])
    x, y = Axis(0, high, LEFT, WIDTH - RIGHT), Axis(0, high, HEIGHT - BOTTOM, TOP)
    parts = _frame(x, y, "cost of the rest of the plan", "−Q")
    parts.append(f'<path class="hff" d="M{x(0)} {y(0)}L{x(high)} {y(high)}"/>')
    plans: dict[int, list[Point]] = {}
    for index, cost, value in points:
        plans.setdefault(index, []).append((x(cost), y(max(0.0, value))))
    for index, plan in plans.items():
        name = html.escape(names[index]) if index < len(names) else ""
        marks = "".join(_dots(plan, 2.2))
        parts.append(f'<g class="plan"><title>{name}</title>{_line(plan)}{marks}</g>')
    return _svg(parts, "Q against the truth on validation plans")


def _runs(letters: str) -> list[tuple[int, int, str]]:
    """(first, length, letter) of the stretches of equal letters."""
    runs: list[tuple[int, int, str]] = []
    for index, letter in enumerate(letters):
        if runs and runs[-1][2] == letter:
            first, length, _ = runs[-1]
            runs[-1] = first, length + 1, letter
        else:
            runs.append((index, 1, letter))
    return runs


def _frame(
    x: Axis | None, y: Axis, x_label: str, y_label: str, ticks: Sequence[tuple[float, str]] | None = None
) -> list[str]:
    """Axes and grid; without ``x`` nothing is written at the horizontal one but its label."""
    bottom, edge = HEIGHT - BOTTOM, WIDTH - RIGHT
    parts = []
    for tick, text in ticks or [(tick, f"{tick:g}") for tick in y.ticks()]:
        parts.append(f'<path class="grid" d="M{LEFT} {y(tick):.1f}H{edge}"/>')
        parts.append(f'<text x="{LEFT - 7}" y="{y(tick) + 4:.1f}" text-anchor="end">{text}</text>')
    middle = (TOP + bottom) / 2
    parts.append(f'<text transform="translate(14 {middle}) rotate(-90)" text-anchor="middle">{y_label}</text>')
    return [*parts, *_x_axis(x, x_label)]


def _x_axis(x: Axis | None, label: str) -> list[str]:
    bottom = HEIGHT - BOTTOM
    parts = [f'<path class="axis" d="M{LEFT} {TOP}V{bottom}H{WIDTH - RIGHT}"/>']
    ticks = [(x(tick), tick) for tick in x.ticks()] if x else []
    parts += [f'<text x="{at:.1f}" y="{bottom + 18}" text-anchor="middle">{tick:g}</text>' for at, tick in ticks]
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{bottom + 37}" text-anchor="middle">{label}</text>')
    return parts


def _line(points: Sequence[Point]) -> str:
    return f'<polyline class="line" points="{_points(points)}"/>'


def _dots(points: Iterable[Point], radius: float = 3) -> list[str]:
    return [f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="{radius}"/>' for x, y in points]


def _points(points: Iterable[Point]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _svg(parts: Iterable[str], label: str) -> str:
    inner = "\n".join(parts)
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">\n{inner}\n</svg>'
