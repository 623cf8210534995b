"""The parts of the comparison's page that need no script: coverage with bars, outcomes, plan costs and the setup."""

from __future__ import annotations

import html
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from gsp_fd.compare.comparison import Cell, Comparison, number, solved, split_order, status_order, text
from gsp_fd.compare.results import result_key

SHAPES = (
    "m-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0z",
    "m-3.5,-3.5h7v7h-7z",
    "m0,-4.5l4.5,8h-9z",
    "m0,-5l5,5l-5,5l-5,-5z",
    "m-4.5,0h9m-4.5,-4.5v9",
    "m-3.5,-3.5l7,7m-7,0l7,-7",
    "m0,4.5l4.5,-8h-9z",
    "m-2,-4.5h4l3,4.5l-3,4.5h-4l-3,-4.5z",
)
"""Outlines of the marks in plots, as path data that starts from the mark's centre."""
HATCHES = 4
COLOURS = 12
"""As many as the style has."""
NONE_YET = '<p class="note">No results yet.</p>'


def mark(place: int) -> dict[str, int]:
    """Colour, shape and dashes of a configuration or domain; 64 differ in shape or dashes."""
    return {"colour": place % COLOURS, "shape": place % len(SHAPES), "dash": (place + place // 8) % 8}


TITLE_DOMAINS = 5
"""A heading names no more domains than this."""


def title(comparison: Comparison) -> str:
    """The heading, with the names that the PDDL files give to their domains."""
    names = list(dict.fromkeys(comparison.pddl_names.get(domain, domain) for domain in comparison.domains))
    if len(names) > TITLE_DOMAINS:
        names[TITLE_DOMAINS:] = [f"{len(names) - TITLE_DOMAINS} more domains"]
    if not names:
        return "Comparison of planners"
    return f"Comparison of planners on {' and '.join(filter(None, [', '.join(names[:-1]), names[-1]]))}"


def _domain_title(comparison: Comparison, domain: str) -> str:
    """A domain as the suite calls it, with the name in its file where that is another one."""
    name = comparison.pddl_names.get(domain, domain)
    return domain if name == domain else f"{domain} ({name})"


def lead(comparison: Comparison) -> str:
    """The figures under the heading."""
    runs, problems = len(comparison.results), sum(comparison.problems.values())
    parts = [
        _count(len(comparison.configurations), "configuration"),
        _count(problems, "problem"),
        _count(len(comparison.domains), "domain"),
        f"{_count(runs, 'run')}, {len(solved(comparison.results)):,} solved",
    ]
    expected = 0
    if comparison.headers:
        header = comparison.headers[-1]
        expected = int(number(header.get("problems")) or 0) * len(header.get("configurations") or [])
    if runs < expected:
        parts.append(f"unfinished: {expected - runs:,} of {expected:,} runs are missing")
    return " · ".join(parts)


def coverage(comparison: Comparison) -> str:
    """Solved problems per domain, split and configuration: a table, and bars per domain."""
    unreadable = "".join(f'<p class="note">Not run: {html.escape(line)}</p>' for line in comparison.unreadable)
    if not comparison.results:
        return unreadable + NONE_YET
    groups = list(comparison.problems)
    rows = []
    for domain in comparison.domains:
        own = [group for group in groups if group[0] == domain]
        rows += [_coverage_row(comparison, [group], domain, group[1], "") for group in own]
        if len(own) > 1:
            rows.append(_coverage_row(comparison, own, domain, "all", "sum"))
    if len(comparison.domains) > 1:
        rows.append(_coverage_row(comparison, groups, "all domains", "", "total"))
    names = "".join(f'<th scope="col">{_key(comparison, name)}</th>' for name in comparison.configurations)
    head = '<th scope="col">Domain</th><th scope="col" class="text">Split</th><th scope="col">Problems</th>' + names
    note = '<p class="note">Problems solved with a valid plan; the best of each row in bold, marked ★.</p>'
    table = _table("coverage-table", "Coverage", f"<tr>{head}</tr>", rows)
    return unreadable + _bars(comparison) + note + table


def _coverage_row(comparison: Comparison, groups: Sequence[tuple[str, str]], domain: str, split: str, kind: str) -> str:
    problems = sum(comparison.problems[group] for group in groups)
    counts = [comparison.covered(groups, name) for name in comparison.configurations]
    best = max(solved for solved, _ in counts)
    cells = "".join(_coverage_cell(cell, problems, 0 < best == cell[0] and len(counts) > 1) for cell in counts)
    head = f'<th scope="row">{html.escape(domain)}</th><td class="text">{html.escape(split)}</td>'
    return f'<tr class="{kind}">{head}<td>{problems:,}</td>{cells}</tr>'


def _coverage_cell(cell: Cell, problems: int, best: bool) -> str:
    solved, run = cell
    if not run:
        return "<td>–</td>"
    share = "" if run == problems else f" <small>of {run:,} run</small>"
    return f'<td class="best">{solved:,}{share}</td>' if best else f"<td>{solved:,}{share}</td>"


def _bars(comparison: Comparison) -> str:
    splits = sorted({split for _, split in comparison.problems}, key=split_order)
    places = {split: i % HATCHES for i, split in enumerate(splits)}
    legend = ""
    if len(splits) > 1:
        swatch = '<span><svg class="swatch" aria-hidden="true">{}</svg>{}</span>'.format
        swatches = (swatch(_segment(0, 100, places[name]), html.escape(name or "no split")) for name in splits)
        legend = f'<div class="legend">{"".join(swatches)}</div>'
    own = {domain: [group for group in comparison.problems if group[0] == domain] for domain in comparison.domains}
    cards = [_card(comparison, _domain_title(comparison, domain), groups, places) for domain, groups in own.items()]
    headline = ""
    if len(cards) > 1:
        headline = f'<div class="headline">{_card(comparison, "All problems", list(comparison.problems), places)}</div>'
    return f'{headline}{legend}<div class="cards">{"".join(cards)}</div>'


def _card(comparison: Comparison, title: str, groups: Sequence[tuple[str, str]], places: Mapping[str, int]) -> str:
    problems = sum(comparison.problems[group] for group in groups)
    rows = []
    for name in comparison.configurations:
        start, segments = 0.0, ""
        for split in places:
            own = [group for group in groups if group[1] == split]
            width = 100 * comparison.covered(own, name)[0] / problems
            segments += _segment(start, width, places[split]) if width else ""
            start += width
        colour = mark(comparison.configurations.index(name))["colour"]
        bar = f'<svg class="bar colour-{colour}" aria-hidden="true">{segments}</svg>'
        solved = comparison.covered(groups, name)[0]
        rows.append(f"<li>{_key(comparison, name)}{bar}<b>{solved:,}</b></li>")
    return (
        f'<div class="card"><h3>{html.escape(title)} <small>of {problems:,}</small></h3><ul>{"".join(rows)}</ul></div>'
    )


def _segment(start: float, width: float, hatch: int) -> str:
    place = f'x="{start:.2f}%" width="{width:.2f}%" height="100%"'
    over = f'<rect {place} fill="url(#hatch-{hatch})"/>' if hatch else ""
    return f'<rect {place} class="fill"/>{over}<rect {place} class="edge"/>'


def outcomes(comparison: Comparison) -> str:
    """How many runs of each configuration ended with which status."""
    if not comparison.results:
        return NONE_YET
    counts = Counter((result["configuration"], result["status"]) for result in comparison.results)
    statuses = sorted({status for _, status in counts}, key=status_order)
    rows = []
    for name in comparison.configurations:
        cells = [counts[name, status] for status in statuses]
        numbers = "".join(f"<td>{cell:,}</td>" if cell else '<td class="zero">0</td>' for cell in cells)
        rows.append(f'<tr><th scope="row">{_key(comparison, name)}</th><td>{sum(cells):,}</td>{numbers}</tr>')
    names = "".join(f'<th scope="col">{html.escape(status or "unknown")}</th>' for status in statuses)
    head = f'<tr><th scope="col">Configuration</th><th scope="col">runs</th>{names}</tr>'
    return _table("outcome-table", "Outcomes", head, rows)


def quality(comparison: Comparison) -> str:
    """Plan costs of each configuration against the best costs."""
    rows = []
    for name in comparison.configurations:
        pairs = _cost_pairs(comparison, name)
        if not pairs:
            continue
        signs = Counter((cost > best) - (cost < best) for cost, best in pairs)
        logs = [math.log(cost / best) for cost, best in pairs if cost > 0 and best > 0]
        mean = f"{math.exp(sum(logs) / len(logs)):.3f}" if logs else "–"
        cells = "".join(f"<td>{cell}</td>" for cell in (len(pairs), signs[-1], signs[0], signs[1], mean))
        rows.append(f'<tr><th scope="row">{_key(comparison, name)}</th>{cells}</tr>')
    if not rows:
        return '<p class="note">No plan can be compared: there is neither a best known cost nor another plan.</p>'
    columns = ("Configuration", "plans compared", "cheaper", "equal", "dearer", "geometric mean of cost ÷ best")
    head = "".join(f'<th scope="col">{column}</th>' for column in columns)
    return _best_costs(comparison) + _table("quality-table", "Plan cost", f"<tr>{head}</tr>", rows)


def _best_costs(comparison: Comparison) -> str:
    """What the plans are compared with."""
    costs = {result_key(r)[:3]: r["best_known"] is None for r in comparison.results if r["best_cost"] is not None}
    found = sum(costs.values())
    parts = [f"the best known cost ({_count(len(costs) - found, 'problem')})"] if len(costs) > found else []
    parts += [f"the best plan found here ({_count(found, 'problem')})"] if found else []
    return f'<p class="note">Compared with {", or ".join(parts)}.</p>'


def _cost_pairs(comparison: Comparison, name: str) -> list[tuple[float, float]]:
    """Cost and best cost of the problems a configuration solved."""
    own = [result for result in solved(comparison.results) if result["configuration"] == name]
    pairs = [(result["cost"], result["best_cost"]) for result in own]
    return [(cost, best) for cost, best in pairs if cost is not None and best is not None]


def setup(comparison: Comparison) -> str:
    """Configurations, limits, machine, versions and command."""
    entries = {text(e.get("name")): e for header in comparison.headers for e in header.get("configurations") or []}
    rows = []
    for name in comparison.configurations:
        entry = entries.get(name, {})
        cells = [f'<td class="text">{html.escape(text(entry.get(field)))}</td>' for field in ("description", "planner")]
        cells.append(f'<td class="text"><code>{html.escape(text(entry.get("spec")))}</code></td>')
        rows.append(f'<tr><th scope="row">{_key(comparison, name)}</th>{"".join(cells)}</tr>')
    columns = ("Configuration", "description", "planner", "what is run")
    head = "".join(f'<th scope="col" class="text">{column}</th>' for column in columns)
    table = _table("setup-table", "Configurations", f"<tr>{head}</tr>", rows) if rows else ""
    return table + "".join(_run(starts, header) for starts, header in _runs(comparison.headers))


def _runs(headers: Sequence[Mapping[str, Any]]) -> list[tuple[list[str], Mapping[str, Any]]]:
    """Headers that differ only in their start are one run that was resumed."""
    runs: list[tuple[list[str], Mapping[str, Any]]] = []
    for header in headers:
        rest = {name: value for name, value in header.items() if name != "started"}
        for starts, known in runs:
            if known == rest:
                starts.append(text(header.get("started")))
                break
        else:
            runs.append(([text(header.get("started"))], rest))
    return runs


def _run(starts: Sequence[str], header: Mapping[str, Any]) -> str:
    resumed = f" (resumed {', '.join(starts[1:])})" if len(starts) > 1 else ""
    facts = {
        "Started": starts[0] + resumed,
        "Suite": text(header.get("suite")),
        "Limits": _facts(header.get("limits")),
        "Machine": _facts(header.get("machine")),
        "Versions": _facts(header.get("versions")),
    }
    items = "".join(f"<dt>{name}</dt><dd>{html.escape(value) or '–'}</dd>" for name, value in facts.items())
    command = html.escape(text(header.get("command")))
    return f'<dl>{items}<dt>Command</dt><dd><pre class="scroll" tabindex="0">{command}</pre></dd></dl>'


def _facts(values: Any) -> str:
    if not isinstance(values, Mapping):
        return text(values)
    names = {"cpu_seconds": "CPU seconds", "memory_mb": "memory (MB)", "cpu": "CPU"}
    shown = ((names.get(name, text(name)), value) for name, value in values.items())
    return " · ".join(f"{name}: {'none' if value is None else _value(value)}" for name, value in shown)


def _value(value: Any) -> str:
    return f"{value:,}" if number(value) is not None else text(value)


def _key(comparison: Comparison, name: str) -> str:
    """A configuration's mark and name."""
    style = mark(comparison.configurations.index(name))
    line = f'<path class="dash-{style["dash"]}" d="M0,7H26"/><path d="M13,7{SHAPES[style["shape"]]}"/>'
    glyph = f'<svg class="key colour-{style["colour"]}" aria-hidden="true" width="26" height="14">{line}</svg>'
    return f'<span class="name">{glyph}{html.escape(name)}</span>'


def _table(identity: str, label: str, head: str, rows: Sequence[str]) -> str:
    table = f'<table id="{identity}"><thead>{head}</thead><tbody>{"".join(rows)}</tbody></table>'
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{label}">{table}</div>'


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
