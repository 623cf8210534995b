"""What a derived predicate is worth to a learned heuristic: mazes with and without `leads-out`, which no action needs.

    python scripts/bench_derived.py [--minutes 3] [--out DIR]

Both are trained for the same time on the same problems, with the same seed, and without relaxed plans in the network;
the table says how far their greedy policies walk in larger mazes. They never enter a cell twice, so they find the exit.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import fmean

import gsp_fd
from gsp_fd.generate import domain_text, generate_set

TRAINING, VALIDATION = (30, (4, 36)), (20, (49, 144))
"""How many mazes, and of how many cells."""
RULE = re.compile(r"    \(:derived .*?\n    \)\n", re.DOTALL)


def write_problems(folder: Path, domain: str, count: int, sizes: tuple[int, int], seed: int) -> None:
    """A domain file and mazes."""
    folder.mkdir(parents=True)
    (folder / "domain.pddl").write_text(domain)
    for number, problem in enumerate(generate_set("maze", count, sizes, seed, "even"), 1):
        (folder / f"p{number:02}.pddl").write_text(problem)


def trained(folder: Path, domain: str, minutes: float) -> tuple[float, float]:
    """In larger mazes, on average: the steps of the way out, and those that the policy tries until it is found."""
    for seed, (name, (count, sizes)) in enumerate((("train", TRAINING), ("validate", VALIDATION)), 1):
        write_problems(folder / name, domain, count, sizes, seed)
    command = [
        sys.executable,
        "-m",
        "gsp_fd.training.run.cli",
        str(folder / "train" / "domain.pddl"),
        str(folder / "train"),
    ]
    command += ["--validate", str(folder / "validate"), "--out", str(folder / "run"), "--minutes", str(minutes)]
    subprocess.run([*command, "--workers", "0", "--varied", "0", "--relaxed-plan", "no"], check=True)
    problems = [problem for problem in sorted((folder / "validate").iterdir()) if problem.stem != "domain"]
    found = [gsp_fd.plan(gsp_fd.load(problem), "policy", model=folder / "run") for problem in problems]
    return fmean(len(result.plan or ()) for result in found), fmean(result.statistics.expanded for result in found)


def main() -> None:
    """Trains twice, and prints a row for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=3)
    parser.add_argument("--out", type=Path, help="keep problems and runs in this folder")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.out or Path(scratch)
        domain = domain_text("maze")
        without, rules = RULE.subn("", domain)
        assert rules == 1
        for name, text in (("with", domain), ("without", without)):
            steps, tried = trained(folder / name, text, options.minutes)
            rows.append(f"| {name} | {steps:.1f} | {tried:.1f} |")
    print("\n".join(["", "| `leads-out` | steps to the exit | steps that the policy tries |", "|---|--:|--:|", *rows]))


if __name__ == "__main__":
    main()
