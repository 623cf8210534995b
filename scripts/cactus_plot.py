"""A picture of results of gsp-compare: how many problems each configuration solves within how much CPU time.

Writes one SVG with a panel for each folder of results, for light and dark rooms. The one of the README is made by
``python scripts/cactus_plot.py docs/results/comparison docs/results/default --out docs/images/cactus.svg``.
"""

from __future__ import annotations

import argparse
import html
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from gsp_fd.compare.comparison import Comparison, solved
from gsp_fd.compare.results import read_results

Scale: TypeAlias = Callable[[float], float]
"""From a value to pixels."""
WIDTH, HEIGHT = 520, 380
"""Of a panel."""
LEFT, RIGHT, TOP, BOTTOM = 46, 342, 62, 348
LABEL_HEIGHT = 19
FIRST_SECOND = 0.1
"""Where the axis of time begins: planners take longer to start."""
STYLE = """\
svg { --page: #fff; --ink: #16191f; --quiet: #4d5563; --rule: #e3e6eb; --learned: #0b5cad; --other: #c2410c; }
@media (prefers-color-scheme: dark) { svg { --page: #14171c; --ink: #eceef2; --quiet: #b3bac6; --rule: #2c323d;
  --learned: #6cb2ff; --other: #ff9a62; } }
text { font: 14px system-ui, -apple-system, 'Segoe UI', sans-serif; fill: var(--quiet); }
.page { fill: var(--page); } .title { font-size: 16px; font-weight: 600; fill: var(--ink); }
.grid { stroke: var(--rule); fill: none; } .curve { fill: none; stroke-width: 2.2; stroke-linejoin: round; }
.leader { stroke-width: 1; opacity: .5; fill: none; }
.learned { stroke: var(--learned); } .other { stroke: var(--other); stroke-dasharray: 6 3; }
.label { font-size: 13.5px; font-weight: 600; } .label.learned { fill: var(--learned); stroke: none; }
.label.other { fill: var(--other); stroke: none; }"""


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", type=Path, metavar="DIR", help="folders with a results.jsonl")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.svg")
    options = parser.parse_args()
    options.out.write_text(picture(options.results), encoding="utf-8")


def picture(folders: Sequence[Path]) -> str:
    """The SVG."""
    comparisons = [(results.headers, results.results) for results in (read_results([folder]) for folder in folders)]
    panels = [panel(Comparison(*comparison), WIDTH * place) for place, comparison in enumerate(comparisons)]
    size = f'viewBox="0 0 {WIDTH * len(panels)} {HEIGHT}" width="{WIDTH * len(panels)}" height="{HEIGHT}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="Problems solved over CPU time">'
    return "\n".join(
        [head, f"<style>{STYLE}</style>", '<rect class="page" width="100%" height="100%"/>', *panels, "</svg>\n"]
    )


def panel(comparison: Comparison, x: int) -> str:
    """The curves of one comparison; those of learned heuristics are full lines."""
    limit = float(comparison.headers[-1]["limits"]["cpu_seconds"])
    problems = sum(comparison.problems.values())
    times = {
        name: sorted(r["cpu_seconds"] for r in solved(comparison.results) if r["configuration"] == name)
        for name in comparison.compared
    }

    def across(seconds: float) -> float:
        share = math.log(max(seconds, FIRST_SECOND) / FIRST_SECOND) / math.log(limit / FIRST_SECOND)
        return LEFT + (RIGHT - LEFT) * min(1.0, share)

    def up(count: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * count / problems

    parts = [_frame(comparison, problems, [tick for tick in (0.1, 1, 10, 100, 1000) if tick <= limit], across, up)]
    heights = _apart([(up(len(seconds)), name) for name, seconds in times.items()])
    for name, seconds in times.items():
        kind = "learned" if name.startswith("gsp") else "other"
        steps = "".join(f"H{across(second):.1f}V{up(count):.1f}" for count, second in enumerate(seconds, 1))
        parts.append(f'<path class="curve {kind}" d="M{LEFT},{BOTTOM}{steps}H{RIGHT}"/>')
        end, place = up(len(seconds)), heights[name]
        parts.append(f'<path class="leader {kind}" d="M{RIGHT},{end:.1f}L{RIGHT + 12},{place:.1f}"/>')
        text = f"{len(seconds)} {html.escape(name)}"
        parts.append(f'<text class="label {kind}" x="{RIGHT + 16}" y="{place + 4.5:.1f}">{text}</text>')
    return f'<g transform="translate({x})">' + "\n".join(parts) + "</g>"


def _frame(comparison: Comparison, problems: int, ticks: Sequence[float], across: Scale, up: Scale) -> str:
    parts = [
        f'<text class="title" x="{LEFT - 30}" y="28">{problems} problems of {len(comparison.domains)} domains</text>',
        f'<text x="{LEFT - 30}" y="48">solved within CPU seconds</text>',
    ]
    for tick in ticks:
        parts.append(f'<path class="grid" d="M{across(tick):.1f},{BOTTOM}V{TOP}"/>')
        parts.append(f'<text x="{across(tick):.1f}" y="{BOTTOM + 20}" text-anchor="middle">{tick:g} s</text>')
    for count in range(0, problems + 1, max(1, problems // 6)):
        parts.append(f'<path class="grid" d="M{LEFT},{up(count):.1f}H{RIGHT}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{up(count) + 5:.1f}" text-anchor="end">{count}</text>')
    return "\n".join(parts)


def _apart(wanted: Sequence[tuple[float, str]]) -> dict[str, float]:
    """Heights of labels near those wanted, from the top to the bottom, such that no two overlap."""
    placed: dict[str, float] = {}
    lowest = -math.inf
    for height, name in sorted(wanted):
        lowest = placed[name] = max(height, lowest + LABEL_HEIGHT)
    return placed


if __name__ == "__main__":
    main()
