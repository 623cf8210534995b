"""Tables of a comparison in the form of the paper's, as Markdown and LaTeX, and all results as CSV."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from statistics import fmean

from gsp_fd.compare.comparison import Comparison, Result, solved, text
from gsp_fd.compare.outcome import EXPANSION_LIMIT
from gsp_fd.compare.results import COLUMNS

REFERENCE = "gsp-wastar"
"""What others are compared with, as in the paper; where it is missing, the first configuration."""


@dataclass(frozen=True)
class Table:
    """A table before its markup. ``groups``: headings above the columns but the first, with their widths."""

    title: str
    caption: str
    groups: Sequence[tuple[str, int]]
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    total: Sequence[str] | None = None

    def markdown(self) -> str:
        """With the groups in the names of the columns, because Markdown has one row of headings."""
        prefixes = [name for name, width in self.groups for _ in range(width)]
        shown = [f"{prefix} {name}".strip() for prefix, name in zip(prefixes, self.columns[1:], strict=True)]
        lines = [_row([self.columns[0], *shown]), _row(["---", *(["--:"] * len(shown))])]
        lines += [_row(row) for row in self.rows]
        if self.total is not None:
            lines.append(_row([f"**{cell}**" for cell in self.total]))
        return "\n".join([f"## {self.title}", "", *([self.caption, ""] if self.caption else []), *lines, ""])

    def text(self) -> str:
        """For a terminal, without the groups."""
        rows = [self.columns, *self.rows, *([self.total] if self.total is not None else [])]
        widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in rows
        )

    def latex(self) -> str:
        """With booktabs, as in the paper."""
        aligned = "|".join(["l", *("r" * width for _, width in self.groups)])
        heads = "".join(f" & \\multicolumn{{{width}}}{{c}}{{{_tex(name)}}}" for name, width in self.groups)
        lines = ["\\begin{table*}[t]", "\\centering", f"\\begin{{tabular}}{{{aligned}}}", "\\toprule"]
        lines += [f"{heads} \\\\", _tex_row(self.columns), "\\midrule", *(_tex_row(row) for row in self.rows)]
        if self.total is not None:
            lines += ["\\midrule", _tex_row(self.total)]
        lines += [
            "\\bottomrule",
            "\\end{tabular}",
            f"\\caption{{{_tex(f'{self.title}. {self.caption}'.strip())}}}",
            "\\end{table*}",
            "",
        ]
        return "\n".join(lines)


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _tex_row(cells: Iterable[str]) -> str:
    return " & ".join(_tex(cell) for cell in cells) + " \\\\"


def _tex(text: str) -> str:
    special = {"\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}"}
    return "".join(
        special.get(character, f"\\{character}" if character in "&%$#_{}" else character) for character in text
    )


def coverage_table(comparison: Comparison) -> Table:
    """The form of the paper's main table: coverage, and steps over the solved problems."""
    names = comparison.compared
    rows = []
    for domain in comparison.domains:
        row = [domain]
        for name in names:
            row += _coverage(comparison.runs(name, domain))
        rows.append(row)
    total = ["total"]
    for name in names:
        total += _coverage([result for domain in comparison.domains for result in comparison.runs(name, domain)])
    return Table(
        "Coverage and steps",
        f"Solved problems, and their average plan length. {limits(comparison)}",
        [(name, 2) for name in names],
        ["Domain", *["Cov.", "Steps"] * len(names)],
        rows,
        total,
    )


def _coverage(results: Sequence[Result]) -> list[str]:
    plans = solved(results)
    share = f"{100 * len(plans) / len(results):.0f}% ({len(plans)}/{len(results)})" if results else "-"
    return [share, mean([result["steps"] for result in plans])]


def split_table(comparison: Comparison) -> Table:
    """Solved problems of each split."""
    names = comparison.compared
    rows = []
    for domain in comparison.domains:
        for split in comparison.splits(domain):
            counts = [comparison.runs(name, domain, split) for name in names]
            rows.append([f"{domain} {split}".strip(), *(f"{len(solved(runs))}/{len(runs)}" for runs in counts)])
    return Table(
        "Solved problems of each split", "", [(name, 1) for name in names], ["Domain", *[""] * len(names)], rows
    )


def overview(comparison: Comparison) -> Table:
    """Solved problems with a row for each configuration."""
    rows = []
    for name in comparison.compared:
        runs = [comparison.runs(name, domain) for domain in comparison.domains]
        runs.append([result for group in runs for result in group])
        rows.append([name, *(f"{len(solved(group))}/{len(group)}" for group in runs)])
    columns = [*comparison.domains, "total"]
    return Table("Solved problems", "", [("", len(columns))], ["", *columns], rows)


def searches(comparison: Comparison) -> list[str]:
    """What ran under each name."""
    entries = [entry for header in comparison.headers for entry in header.get("configurations") or []]
    described = {text(entry.get("name")): text(entry.get("description")) for entry in entries}
    return [f"{name}: {described[name]}" for name in comparison.compared if described.get(name)]


def sign_test(fewer: int, more: int) -> float:
    """How likely a difference at least as lopsided is, if neither is better: two-sided, ties left out."""
    count = fewer + more
    tail = sum(comb(count, k) for k in range(min(fewer, more) + 1)) / (1 << count)
    return min(1.0, 2 * tail)


def _signs(first: str, second: str, pairs: Sequence[tuple[Result, Result]]) -> str:
    """Who has fewer, and whether that can be chance."""
    parts = []
    for attribute in ("expansions", "steps"):
        known = [(a[attribute], b[attribute]) for a, b in pairs if None not in (a[attribute], b[attribute])]
        fewer, more = sum(a < b for a, b in known), sum(a > b for a, b in known)
        parts.append(f"{attribute} {fewer} : {more} (p = {sign_test(fewer, more):.2g})")
    return f"Fewer for {first} : for {second}, with a two-sided sign test: {', '.join(parts)}."


def pair_table(comparison: Comparison, first: str, second: str) -> Table:
    """The form of the appendix: expansions and steps on the problems that both have solved."""
    rows, together = [], []
    for domain in comparison.domains:
        pairs = comparison.common(first, second, domain)
        together += pairs
        rows.append([domain, *_pair_cells(pairs)])
    return Table(
        f"{first} and {second}",
        f"Averages over the problems that both have solved. {_signs(first, second, together)}",
        [("", 1), (first, 2), (second, 2)],
        ["Domain", "Solved by both", "Exp.", "Steps", "Exp.", "Steps"],
        rows,
        ["total", *_pair_cells(together)],
    )


def _pair_cells(pairs: Sequence[tuple[Result, Result]]) -> list[str]:
    cells = [str(len(pairs))]
    for position in (0, 1):
        for attribute in ("expansions", "steps"):
            cells.append(mean([pair[position][attribute] for pair in pairs]))
    return cells


def pair_tables(comparison: Comparison, reference: str | None) -> list[Table]:
    """The reference against every other configuration; all pairs if it is ``all``."""
    names = comparison.compared
    if reference == "all":
        return [pair_table(comparison, first, second) for first, second in combinations(names, 2)]
    first = reference or (REFERENCE if REFERENCE in names else names[0])
    return [pair_table(comparison, first, name) for name in names if name != first]


def mean(values: Sequence[float | None]) -> str:
    """The average of known values, rounded; a dash if there are none."""
    known = [value for value in values if value is not None]
    return f"{fmean(known):.0f}" if known else "-"


def limits(comparison: Comparison) -> str:
    """The limits of the runs in words."""
    if not comparison.headers:
        return ""
    given = comparison.headers[-1].get("limits", {})
    expansions = given.get("expansions")
    parts = [f"{expansions:,} expansions"] if expansions else []
    parts += [f"{given.get('cpu_seconds')} s of CPU time", f"{given.get('memory_mb')} MB of memory"]
    return f"Limits for each run: {', '.join(parts)}."


def notes(comparison: Comparison) -> list[str]:
    """What the tables do not show: runs that did not go as they should, and plans beyond the limit on expansions."""
    lines = list(comparison.unreadable)
    for name in comparison.compared:
        results = [result for result in comparison.results if result["configuration"] == name]
        late = Counter(
            result["domain"]
            for result in results
            if result["status"] == EXPANSION_LIMIT and result["steps"] is not None
        )
        if late:
            places = ", ".join(f"{domain} {count}" for domain, count in sorted(late.items()))
            lines.append(
                f"{name}: {late.total()} more valid plan(s) within the time, found beyond the limit on expansions "
                f"({places})."
            )
        for status in ("invalid-plan", "input-error", "crash"):
            bad = [result for result in results if result["status"] == status]
            if bad:
                place = "/".join(part for part in (bad[0]["domain"], bad[0]["split"], bad[0]["problem"]) if part)
                lines.append(
                    f"{name}: {len(bad)} run(s) ended with {status}, the first on {place}: {bad[0]['message']}"
                )
    return lines


def _document(comparison: Comparison, reference: str | None, show: Callable[[Table], str]) -> list[str]:
    tables = [coverage_table(comparison), split_table(comparison), *pair_tables(comparison, reference)]
    return [show(table) for table in tables]


def markdown(comparison: Comparison, reference: str | None = None) -> str:
    """All tables, the notes, and how they were made."""
    parts = _document(comparison, reference, Table.markdown)
    if lines := notes(comparison):
        parts += ["## Notes", "", *(f"- {line}" for line in lines), ""]
    made = dict.fromkeys(header.get("command", "") for header in comparison.headers)
    parts += ["## Made with", "", *(f"    {command}" for command in made if command), ""]
    return "\n".join(parts)


def latex(comparison: Comparison, reference: str | None = None) -> str:
    """All tables, to be included in a document that uses the package booktabs."""
    return "\n".join(_document(comparison, reference, Table.latex))


def csv_text(results: Sequence[Result]) -> str:
    """One row per result."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _csv_cell(result.get(name)) for name in COLUMNS} for result in results)
    return text.getvalue()


def _csv_cell(value: object) -> object:
    """Spreadsheets take texts that begin like this for formulas, and those may do anything."""
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value
