"""Our results beside the paper's, table by table, with the way ours were obtained.

    python scripts/reproduce_paper.py --list
    python scripts/reproduce_paper.py --results docs/results/comparison

DIR is a folder of ``gsp-compare run``. The paper's figures and where they stand in it: ``paper_results.json``. Coverage
is averaged over the splits, which all have the same number of problems in the paper. Between ours and theirs stands ≥
or <, or ? where results of a split are missing.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from gsp_fd.common.errors import InputError
from gsp_fd.compare.comparison import Comparison, Result, solved
from gsp_fd.compare.results import read_results
from gsp_fd.compare.tables import Table, mean

PAPER_RESULTS = Path(__file__).with_name("paper_results.json")
ATTRIBUTES = {"steps": "Steps", "expansions": "Exp."}
SECONDS = "seconds"
"""What some tables of the paper have, too: seconds of a machine with a GPU, beside our seconds of CPU time."""


def coverage(
    comparison: Comparison, configuration: str, domain: str, splits: Sequence[str]
) -> tuple[str, float, bool] | None:
    """``(solved/all, percentage, whether there are results of all splits)``; None without results."""
    runs = [group for split in splits if (group := comparison.runs(configuration, domain, split))]
    if not runs:
        return None
    counts = [len(solved(group)) for group in runs]
    share = fmean(100 * count / len(group) for count, group in zip(counts, runs, strict=True))
    return f"{sum(counts)}/{sum(map(len, runs))}", share, len(runs) == len(splits)


def compared_runs(comparison: Comparison, table: dict[str, Any], configuration: str, domain: str) -> list[Result]:
    """The solved problems that averages are over: all, or those that the other of a pair has solved too."""
    other = table.get("pairs", {}).get(configuration)
    if other is None:
        results = solved(comparison.runs(configuration, domain))
    else:
        results = [mine for mine, _ in comparison.common(configuration, other, domain)]
    return [result for result in results if result["split"] in table["splits"]]


def tenths(values: Sequence[float | None]) -> str:
    """The average of known values with one decimal; a dash if there are none."""
    known = [value for value in values if value is not None]
    return f"{fmean(known):.1f}" if known else "-"


def has_seconds(table: dict[str, Any]) -> bool:
    """Whether the paper's table says how long anything took."""
    return any(SECONDS in figures for columns in table["domains"].values() for figures in columns.values())


def rows(comparison: Comparison, table: dict[str, Any]) -> Iterator[list[str]]:
    """Domain, column of the paper, ours and theirs for every figure that both have."""
    for domain, columns in table["domains"].items():
        for column, figures in columns.items():
            configuration = table["ours"].get(column, column)
            ours = coverage(comparison, configuration, domain, table["splits"])
            if ours is None:
                continue
            results = compared_runs(comparison, table, configuration, domain)
            verdict = "<" if round(ours[1]) < round(figures["coverage"]) else "≥"
            verdict = verdict if ours[2] else "?"
            row = [domain, configuration, ours[0], f"{ours[1]:.0f}%", verdict, f"{figures['coverage']:g}%"]
            for attribute in ATTRIBUTES:
                row += [mean([result[attribute] for result in results]), f"{figures.get(attribute, '-')}"]
            if has_seconds(table):
                row += [tenths([result["cpu_seconds"] for result in results]), f"{figures.get(SECONDS, '-')}"]
            yield row


def how(comparison: Comparison) -> Iterator[str]:
    """The way our results were obtained."""
    for header in comparison.headers:
        limits, machine = header["limits"], header.get("machine", {})
        expansions = f"{limits['expansions']:,} expansions, " if limits.get("expansions") else ""
        yield f"{header['command']}"
        budget = f"{expansions}{limits['cpu_seconds']} s of CPU time, {limits['memory_mb']} MB"
        where = f"{machine.get('cpu', 'unknown processor')}, {machine.get('cores', '?')} cores"
        versions = ", ".join(f"{name} {version}" for name, version in header.get("versions", {}).items())
        yield f"    {header.get('started', '')}: {budget}; {where}; {versions}"
    specs = {entry["name"]: entry["spec"] for header in comparison.headers for entry in header["configurations"]}
    yield from (f"    {name}: {spec}" for name, spec in specs.items())


def show(comparison: Comparison, table: dict[str, Any]) -> str | None:
    """A table as text; None if there are no results for it."""
    found = list(rows(comparison, table))
    if not found:
        return None
    columns = ["Domain", "Configuration", "Solved", "Cov.", "", "Paper"]
    for title in [*ATTRIBUTES.values(), *(["Seconds"] if has_seconds(table) else [])]:
        columns += [title, "Paper"]
    shown = Table(table["title"], "", [("", len(columns) - 1)], columns, found)
    lines = [f"{table['name']}: {table['title']} ({table['source']})", f"The paper's budget: {table['budget']}."]
    lines += [table["note"]] if table["note"] else []
    return "\n".join([*lines, "", shown.text(), ""])


def describe(table: dict[str, Any]) -> str:
    """What a table needs."""
    domains = ", ".join(table["domains"])
    facts = {key: table[key] for key in ("source", "suite", "problems", "budget", "models")}
    lines = [f"{table['name']}: {table['title']}", *(f"{key}: {value}" for key, value in facts.items())]
    wrapped = [textwrap.fill(line, 110, subsequent_indent="    ") for line in [*lines, f"domains: {domains}"]]
    return "\n  ".join(wrapped) + "\n"


def main() -> int:
    """Prints the tables; returns 1 if there are results for none of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="which table needs which suite, models and budget")
    parser.add_argument("--results", nargs="+", type=Path, metavar="DIR", help="folders of gsp-compare run")
    parser.add_argument("--table", metavar="NAME", help="only this one")
    options = parser.parse_args()
    tables = json.loads(PAPER_RESULTS.read_text(encoding="utf-8"))["tables"]
    if options.table is not None:
        names = [table["name"] for table in tables]
        tables = [table for table in tables if table["name"] == options.table]
        if not tables:
            parser.error(f"there is no table '{options.table}'; known are {', '.join(names)}")
    if options.list or not options.results:
        print("\n".join(describe(table) for table in tables))
        return 0
    try:
        results = read_results(options.results)
        comparison = Comparison(results.headers, results.results)
    except InputError as error:
        print(f"reproduce_paper.py: {error}", file=sys.stderr)
        return error.exit_code
    shown = [text for table in tables if (text := show(comparison, table))]
    if not shown:
        print("reproduce_paper.py: none of these results belong to a table; see --list", file=sys.stderr)
        return 1
    print("\n".join([*shown, "Ours were obtained with", *how(comparison)]))
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # a reader such as head may go away
    sys.exit(main())
