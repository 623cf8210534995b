"""The figures that README and docs tell of folders of results: by domain and configuration, and for all domains.

    python scripts/summarize_results.py docs/results/policy

Steps, expansions and seconds of CPU time are of the problems solved; quality is best known cost over ours, at most 1
each: its mean over the problems solved, and its sum.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median

from gsp_fd.common.errors import InputError
from gsp_fd.compare.comparison import Comparison, Result, solved
from gsp_fd.compare.results import read_results
from gsp_fd.compare.tables import Table

COLUMNS = ("Domain", "Configuration", "Solved", "Steps", "Exp.", "median", "CPU s", "median", "most", "Quality", "sum")


def figures(runs: Sequence[Result]) -> list[str]:
    """Those of some runs of one configuration, from the third column on."""
    done = solved(runs)
    steps, expansions, seconds = ([r[name] for r in done] for name in ("steps", "expansions", "cpu_seconds"))
    qualities = [min(1.0, r["best_known"] / r["cost"]) for r in done if r["best_known"] and r["cost"]]
    cells = [f"{len(done)}/{len(runs)}"]
    if done:
        cells += [f"{fmean(steps):.1f}", f"{fmean(expansions):,.0f}", f"{median(expansions):,.0f}"]
        cells += [f"{value(seconds):.1f}" for value in (fmean, median, max)]
    if qualities:
        cells += [f"{fmean(qualities):.2f}", f"{sum(qualities):.1f}"]
    return cells + ["-"] * (len(COLUMNS) - 2 - len(cells))


def summary(comparison: Comparison) -> Table:
    """A row for each domain and configuration, and for all domains."""
    rows = []
    for domain in (*comparison.domains, "all"):
        for name in comparison.compared:
            domains = comparison.domains if domain == "all" else [domain]
            runs = [run for each in domains for run in comparison.runs(name, each)]
            if runs:
                rows.append([domain, name, *figures(runs)])
    return Table("", "", [("", len(COLUMNS) - 1)], COLUMNS, rows)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", type=Path, metavar="DIR", help="folder with a results.jsonl")
    for folder in parser.parse_args().results:
        try:
            found = read_results([folder])
        except InputError as error:
            parser.error(str(error))
        print(f"{folder}\n{summary(Comparison(found.headers, found.results)).text()}\n")


if __name__ == "__main__":
    main()
