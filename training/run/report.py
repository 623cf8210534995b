"""``report.html``: the paper's figure of a run (expansions with quartiles, solve rate) in one file without scripts."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gsp_fd.training.progress import COLUMNS, Row, cells

WIDTH, HEIGHT = 760, 320
LEFT, RIGHT, TOP, BOTTOM = 70, 60, 16, 46
TABLE_ROWS = 60
EXPANSIONS = (
    "Expansions of the last episode of each training instance: median (line) and quartiles (shaded), left axis; "
    "solve rate, the share of training instances for which a plan was found so far (dashed), right axis."
)
VALIDATION = "Greedy policy on the validation instances: coverage (line), left axis; loss (dashed), right axis."
STYLE = """\
body { font: 16px/1.5 system-ui, sans-serif; max-width: 820px; margin: 2em auto; padding: 0 1em; color: #111; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
td, th { padding: 2px 9px; text-align: right; border-bottom: 1px solid #ccc; }
td.text { text-align: left; } figure { margin: 1.5em 0; } figcaption { font-size: 14px; color: #333; }
svg { width: 100%; height: auto; } text { font: 13px system-ui, sans-serif; fill: #111; }
pre { background: #f3f3f3; padding: .7em; overflow-x: auto; font-size: 13px; }"""


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
        step = next(step * factor for factor in (1, 2, 2.5, 5, 10) if (self.high - self.low) / (step * factor) <= 5)
        first = math.ceil(self.low / step - 1e-9)
        return [i * step for i in range(first, int(self.high / step + 1e-9) + 1)]


def report_html(title: str, facts: Mapping[str, str], rows: Sequence[Row], command: str) -> str:
    """The page. ``facts`` are shown as a table of names and values."""
    shown = [row for row in rows if row.validated]
    stride = max(1, math.ceil(len(shown) / TABLE_ROWS))
    figures = [(expansions_figure(rows), EXPANSIONS), (validation_figure(rows), VALIDATION)]
    body = [f"<h1>{html.escape(title)}</h1>", _facts(facts), f"<pre>{html.escape(command)}</pre>"]
    body += [f"<figure>{svg}<figcaption>{caption}</figcaption></figure>" for svg, caption in figures]
    body.append(_table(shown[::stride] if not shown else [*shown[:-1:stride], shown[-1]]))
    page = ["<!DOCTYPE html>", '<html lang="en"><head><meta charset="utf-8">', f"<title>{html.escape(title)}</title>"]
    return "\n".join([*page, f"<style>{STYLE}</style></head><body>", *body, "</body></html>", ""])


def expansions_figure(rows: Sequence[Row]) -> str:
    """Median expansions with quartiles, and solve rate, over time."""
    known = [row for row in rows if not math.isnan(row.expansions_median)]
    minutes = _minutes(rows)
    left = Axis(0, max([1.0, *(row.expansions_high for row in known)]), HEIGHT - BOTTOM, TOP)
    right = Axis(0, 100, HEIGHT - BOTTOM, TOP)
    parts = _frame(minutes, left, right, "expansions", "solve rate (%)")
    band = [(minutes(row.minutes), left(row.expansions_high)) for row in known]
    band += [(minutes(row.minutes), left(row.expansions_low)) for row in reversed(known)]
    if known:
        parts.append(f'<polygon points="{_points(band)}" fill="#999" fill-opacity="0.4"/>')
    parts.append(_line([(minutes(row.minutes), left(row.expansions_median)) for row in known], "#1f4fbf", ""))
    parts.append(_line([(minutes(row.minutes), right(100 * row.solve_rate)) for row in rows], "#111", "7 4"))
    return _svg(parts, "Expansions and solve rate over time")


def validation_figure(rows: Sequence[Row]) -> str:
    """Coverage of the validation set, and loss, over time."""
    minutes = _minutes(rows)
    validated = [row for row in rows if row.validated]
    losses = [row for row in rows if math.isfinite(row.loss)]
    left = Axis(0, max([1, *(row.validation_of for row in validated)]), HEIGHT - BOTTOM, TOP)
    right = Axis(0, max([1e-3, *(row.loss for row in losses)]), HEIGHT - BOTTOM, TOP)
    parts = _frame(minutes, left, right, "validation instances solved", "loss")
    points = [(minutes(row.minutes), left(row.validation_covered)) for row in validated]
    parts.append(_line(points, "#1f4fbf", ""))
    parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="#1f4fbf"/>' for x, y in points]
    parts.append(_line([(minutes(row.minutes), right(row.loss)) for row in losses], "#111", "7 4"))
    return _svg(parts, "Validation coverage and loss over time")


def _minutes(rows: Sequence[Row]) -> Axis:
    return Axis(0, max([1e-3, *(row.minutes for row in rows)]), LEFT, WIDTH - RIGHT)


def _frame(minutes: Axis, left: Axis, right: Axis, left_label: str, right_label: str) -> list[str]:
    bottom, edge = HEIGHT - BOTTOM, WIDTH - RIGHT
    parts = [f'<path d="M{LEFT} {TOP}V{bottom}H{edge}V{TOP}" fill="none" stroke="#111"/>']
    for tick in minutes.ticks():
        parts.append(f'<text x="{minutes(tick):.1f}" y="{bottom + 18}" text-anchor="middle">{tick:g}</text>')
    for tick in left.ticks():
        parts.append(f'<path d="M{LEFT} {left(tick):.1f}H{edge}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 7}" y="{left(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>')
    for tick in right.ticks():
        parts.append(f'<text x="{edge + 7}" y="{right(tick) + 4:.1f}">{tick:g}</text>')
    middle = (TOP + bottom) / 2
    for x, label in ((16, left_label), (WIDTH - 8, right_label)):
        parts.append(f'<text transform="translate({x} {middle}) rotate(-90)" text-anchor="middle">{label}</text>')
    parts.append(f'<text x="{(LEFT + edge) / 2}" y="{HEIGHT - 8}" text-anchor="middle">minutes</text>')
    return parts


def _line(points: Sequence[tuple[float, float]], colour: str, dashes: str) -> str:
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<polyline points="{_points(points)}" fill="none" stroke="{colour}" stroke-width="2"{dashed}/>'


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _svg(parts: Sequence[str], label: str) -> str:
    inner = "\n".join(parts)
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">\n{inner}\n</svg>'


def _facts(facts: Mapping[str, str]) -> str:
    cell = '<td class="text">{}</td>'.format
    lines = [f"<tr>{cell(html.escape(name))}{cell(html.escape(value))}</tr>" for name, value in facts.items()]
    return f"<table>{''.join(lines)}</table>"


def _table(rows: Sequence[Row]) -> str:
    head = "".join(f"<th>{name}</th>" for name, _ in COLUMNS)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells(row))}</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"
