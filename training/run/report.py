"""``report.html``: how a run went and what came of it; one file without scripts, in light and dark, for phones too."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence

from gsp_fd.training.progress import COLUMNS, MEANINGS, Row, cells
from gsp_fd.training.run import figures
from gsp_fd.training.run.card import CardFacts, card_facts, verdict
from gsp_fd.training.run.figures import Searched

TABLE_ROWS = 60
STYLE = """\
:root { --ink: #16181d; --soft: #5a6070; --grid: #dfe2e8; --page: #fff; --box: #f3f4f7; --blue: #2456c8;
  --band: #2456c8; --u: #d9dce3; --s: #e0a53d; --p: #2e8b57; --hff: #b03a5b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaf0; --soft: #a4abba; --grid: #343a46; --page: #14171d;
  --box: #1f242d; --blue: #8ab0ff; --band: #8ab0ff; --u: #3a414e; --s: #d19a3a; --p: #4fb37d; --hff: #f08aa8; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 1180px; margin: 0 auto; padding: 1em; color: var(--ink);
  background: var(--page); }
h1 { line-height: 1.2; } h2 { margin-top: 1.6em; } .verdict { font-size: 1.15em; max-width: 60em; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 480px), 1fr)); gap: 1em 2em; }
figure { margin: 0; } figcaption { font-size: 14px; color: var(--soft); } svg { width: 100%; height: auto; }
svg text { font: 16px system-ui, sans-serif; fill: var(--ink); } .grid { stroke: var(--grid); }
.axis { stroke: var(--soft); fill: none; } .line { fill: none; stroke: var(--blue); stroke-width: 2.5; }
.dot { fill: var(--blue); } .plan .line { stroke-width: 1; opacity: .45; }
.plan:hover .line { stroke-width: 3; opacity: 1; }
path.hff { fill: none; stroke: var(--hff); stroke-width: 2; stroke-dasharray: 6 4; }
circle.hff { fill: none; stroke: var(--hff); stroke-width: 1.5; } svg text.hff { fill: var(--hff); }
.band { fill: var(--band); fill-opacity: .22; } .unsolved { fill: var(--u); } .satisficed { fill: var(--s); }
.perfect { fill: var(--p); } .named { white-space: nowrap; }
.key { display: inline-block; width: .8em; height: .8em; margin: 0 .3em 0 .8em; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: 14px; font-variant-numeric: tabular-nums; }
td, th { padding: 3px 10px 3px 0; text-align: right; border-bottom: 1px solid var(--grid); vertical-align: top; }
td.text, th.text { text-align: left; } pre { background: var(--box); padding: .7em; overflow-x: auto; font-size: 13px; }
.no { color: var(--soft); }"""
KEYS = "".join(
    f'<span class="named"><span class="key" style="background: var(--{letter})"></span>{name}</span> '
    for letter, name in (("u", "unsolved"), ("s", "satisficed: a plan"), ("p", "solved: nothing but the plan expanded"))
)


def report_html(facts: CardFacts, rows: Sequence[Row], searches: Sequence[Searched]) -> str:
    """The page; ``searches`` are the last ones on the training problems."""
    title = f"Training of {facts.metadata.domain}"
    shown = [row for row in rows if row.validated]
    stride = max(1, math.ceil(len(shown) / TABLE_ROWS))
    body = [
        f"<h1>{html.escape(title)}</h1>",
        f'<p class="verdict">{html.escape(verdict(facts))}</p>',
        f'<div class="figures">{"".join(_figures(facts, rows, searches))}</div>',
        "<h2>Validation problems</h2>",
        _problems(facts),
        "<h2>The run</h2>",
        _facts(card_facts(facts)),
        f"<pre>{html.escape(facts.command)}</pre>",
        "<h2>Over time</h2>",
        _table([] if not shown else [*shown[:-1:stride], shown[-1]]),
        _facts(MEANINGS),
    ]
    head = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{html.escape(title)}</title>",
    ]
    return "\n".join([*head, f"<style>{STYLE}</style></head><body>", *body, "</body></html>", ""])


def _figures(facts: CardFacts, rows: Sequence[Row], searches: Sequence[Searched]) -> Iterable[str]:
    steps = facts.baseline.steps
    policy = [(i.size, length) for i, length in zip(facts.validation, facts.score.lengths, strict=True)]
    hff = [(i.size, steps[i.name]) for i in facts.validation if i.name in steps]
    pairs = [
        (
            figures.coverage_figure(rows, facts.baseline.solved if steps else None),
            "The greedy policy on problems that training never saw. Dashed: how many greedy search with hFF solves.",
        ),
        (
            figures.size_figure(policy, hff),
            "Validation problems by size: the length of the policy's plan (filled) and of hFF's (rings); on top, those "
            "without a plan.",
        ),
        (figures.heat_map(rows), f"The last search on each training problem. {KEYS}"),
        (
            figures.calibration_figure(facts.score.calibration, [instance.name for instance in facts.validation]),
            "Is Q right? −Q against what the rest of the plan costs, a line for each validation problem that is solved "
            "(point at it for its name); exact values lie on the dashed line.",
        ),
        (
            figures.expansions_figure(rows),
            "Expansions of the last search on each training problem: median and quartiles.",
        ),
        (
            figures.status_by_size_figure(searches),
            f"Training problems by size, in groups of about as many: how their last search ended. {KEYS}",
        ),
        (
            figures.searches_figure(searches),
            f"Expansions of the last search against the size of the training problem. {KEYS}",
        ),
        (figures.solve_rate_figure(rows), "Training problems for which a plan was found so far (solve rate)."),
        (figures.loss_figure(rows), "Loss of the gradient steps."),
    ]
    return [f"<figure>{svg}<figcaption>{caption}</figcaption></figure>" for svg, caption in pairs if svg]


def _problems(facts: CardFacts) -> str:
    """Every validation problem with the results of the policy and of hFF."""
    lines = ['<tr><th class="text">problem</th><th>objects</th><th>GSP policy</th><th>hFF</th></tr>']
    for instance, length in zip(facts.validation, facts.score.lengths, strict=True):
        known = facts.baseline.steps
        cells_of = [_steps(length), _steps(known[instance.name]) if instance.name in known else "not tried"]
        cells_shown = "".join(f"<td{_dim(cell)}>{cell}</td>" for cell in cells_of)
        lines.append(
            f'<tr><td class="text">{html.escape(instance.name)}</td><td>{instance.size}</td>{cells_shown}</tr>'
        )
    return f'<div class="wide"><table>{"".join(lines)}</table></div>'


def _steps(length: int | None) -> str:
    return "no plan" if length is None else f"{length} steps"


def _dim(cell: str) -> str:
    return ' class="no"' if cell.startswith("no") else ""


def _facts(facts: Mapping[str, str]) -> str:
    cell = '<td class="text">{}</td>'.format
    lines = [f"<tr>{cell(html.escape(name))}{cell(html.escape(value))}</tr>" for name, value in facts.items()]
    return f'<div class="wide"><table>{"".join(lines)}</table></div>'


def _table(rows: Sequence[Row]) -> str:
    head = "".join(f"<th>{name}</th>" for name, _ in COLUMNS)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells(row))}</tr>" for row in rows)
    return f'<div class="wide"><table><tr>{head}</tr>{body}</table></div>'
