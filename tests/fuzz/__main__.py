"""``python -m tests.fuzz``: mutated input for everything that reads input."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from . import ROOT
from .runner import case_of, run
from .targets import TARGETS

ROUND = 2000


def parser() -> argparse.ArgumentParser:
    """The command line."""
    targets = "\n".join(f"  {name:12}{kind.__doc__}" for name, kind in TARGETS.items())
    result = argparse.ArgumentParser(
        prog="python -m tests.fuzz",
        description="Reads mutated input in child processes, each with a time and a memory limit. Crashes, tracebacks, "
        "wrong exit codes, hangs and too much memory are findings; their input is saved.",
        epilog=f"targets:\n{targets}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    result.add_argument("targets", nargs="*", metavar="TARGET", help="what to read (default: all)")
    result.add_argument("--count", type=int, default=1000, help="inputs of each target, 0 for no end (1000)")
    result.add_argument("--seed", type=int, default=0, help="the same seed gives the same inputs (0)")
    result.add_argument("--first", type=int, default=0, help="number of the first input (0)")
    result.add_argument("--out", type=Path, default=ROOT / "build" / "fuzz" / "findings", help="where findings go")
    result.add_argument("--write", action="store_true", help="only write the input, to look at it")
    return result


def main(arguments: list[str] | None = None) -> int:
    """Runs the campaign; returns 1 if there are findings."""
    options = parser().parse_args(arguments)
    unknown = set(options.targets) - set(TARGETS)
    if unknown:
        parser().error(f"there is no target {', '.join(sorted(unknown))}")
    os.environ.update({"OMP_NUM_THREADS": "1", "GSP_FD_NO_CUDA": "1"})
    targets = [TARGETS[name]() for name in options.targets or TARGETS]
    if options.write:
        for target in targets:
            folder = Path(tempfile.mkdtemp(prefix=f"{target.name}-"))
            case = case_of(target, options.seed, options.first)
            case.write(folder)
            print(folder, case.arguments)
        return 0
    found, first, left = 0, options.first, options.count
    while True:  # in rounds, so that an endless run reads for all targets
        size = ROUND if not options.count else min(ROUND if len(targets) > 1 else left, left)
        for target in targets:
            summary = run(target, options.seed, first, size, options.out, lambda finding: print(finding, flush=True))
            print(summary, flush=True)
            found += len(summary.findings)
        first, left = first + size, left - size
        if options.count and left <= 0:
            break
    if found:
        print(f"{found} findings, their input is in {options.out}", flush=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
