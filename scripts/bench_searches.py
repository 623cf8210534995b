"""The searches with a shipped model side by side: what they solve, and with how many expansions.

    python scripts/bench_searches.py BENCHMARKS/ipc2023-learning --out DIR [--table FILE] [--domain sokoban ...]

Runs `gsp-compare run` on some test problems of five domains (what DIR has is not run again): 10,000 expansions, 30 s of
CPU time. Writes a table: problems solved, and in parentheses the mean of the expansions; an unsolved one counts with
the limit.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from gsp_fd.compare.cli import main as compare
from gsp_fd.compare.comparison import Comparison, Result, solved
from gsp_fd.compare.results import FILE_NAME, read_results

PROBLEMS = {
    "ferry": ("easy/p30", "medium/p05", "medium/p15"),
    "miconic": ("easy/p30", "medium/p05"),
    "transport": ("easy/p30", "medium/p05"),
    "sokoban": ("easy/p17", "easy/p20", "easy/p26"),
    "floortile": ("easy/p15",),
}
"""Of sokoban, problems that the greedy policy of the shipped model does not solve."""
EXPANSIONS, CPU_SECONDS = 10_000, 30
SEARCHES = {
    "policy": "policy(gsp())",
    "wastar": "gsp_wastar([gsp()], w=2)",
    "gbfs": "gsp_gbfs([gsp()])",
    "regret": "gsp_regret(gsp())",
    "levin": "gsp_levin(gsp())",
    "phs": "gsp_phs(gsp())",
    "phs-star": "gsp_phs_star(gsp())",
    "value+regret": "gsp_queues(gsp())",
    "q+hff": "let(h, ff(), lazy_greedy([gsp(), h], preferred=[h]))",
    "wastar-dead-ends": "gsp_wastar([gsp()], w=2, dead_ends=ff())",
    "phs-star-dead-ends": "gsp_phs_star(gsp(), dead_ends=ff())",
    "value+regret-dead-ends": "gsp_queues(gsp(), dead_ends=ff())",
    "value+regret+hff": "let(h, ff(), gsp_queues(gsp(), [h], preferred=[h]))",
    "value+regret+hff-boost": "let(h, ff(), gsp_queues(gsp(), [h], preferred=[h], boost=1000))",
}


def lay_out(benchmarks: Path, domains: Sequence[str], folder: Path) -> list[str]:
    """The chosen problems as links, in folders as gsp-compare knows them."""
    for domain in domains:
        for name in ("domain.pddl", *(f"testing/{problem}.pddl" for problem in PROBLEMS[domain])):
            link = folder / domain / name
            link.parent.mkdir(parents=True, exist_ok=True)
            if not link.exists():
                link.symlink_to((benchmarks / domain / name).resolve())
    return [str(folder / domain) for domain in domains]


def run(options: argparse.Namespace) -> None:
    """Every search on every problem."""
    suites = lay_out(options.benchmarks, options.domain, options.out / "problems")
    arguments = ["run", *suites, "--out", str(options.out)]
    arguments += ["--time-limit", str(CPU_SECONDS), "--max-expansions", str(EXPANSIONS), "--memory-limit", "4G"]
    for name, search in SEARCHES.items():
        arguments += ["--configuration", f"{name}={search}"]
    if code := compare(arguments):
        raise SystemExit(code)


def cell(results: Sequence[Result]) -> str:
    """What a search solved, and its expansions."""
    if not results:
        return "-"
    found = solved(results)
    counted = [result["expansions"] or 0 for result in found] + [EXPANSIONS] * (len(results) - len(found))
    return f"{len(found)} ({fmean(counted):,.0f})"


def table(comparison: Comparison) -> str:
    """A row for each search, a column for each domain and split."""
    columns = list(comparison.problems)
    titles = [f"{domain} {split} /{comparison.problems[domain, split]}" for domain, split in columns]
    lines = ["| search | " + " | ".join(titles) + " | all |", "|---|" + "--:|" * (len(columns) + 1)]
    for name in comparison.compared:
        runs = [comparison.runs(name, domain, split) for domain, split in columns]
        cells = [*(cell(results) for results in runs), cell([result for results in runs for result in results])]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("benchmarks", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="folder of gsp-compare's results")
    parser.add_argument("--table", type=Path, help="Markdown file for the table; default: only printed")
    parser.add_argument("--domain", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    options = parser.parse_args()
    run(options)
    read = read_results([options.out / FILE_NAME])
    text = table(Comparison(read.headers, read.results))
    print(text)
    if options.table is not None:
        options.table.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
