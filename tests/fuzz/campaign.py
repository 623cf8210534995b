"""The command line that the campaigns with numbered inputs share."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from . import ROOT
from .runner import Target, case_of, run

ROUND = 2000
"""Inputs of a target until the next one has its turn."""


def campaign(
    name: str,
    description: str,
    targets: Mapping[str, Callable[[], Target]],
    arguments: Sequence[str] | None = None,
    *,
    default: int,
) -> int:
    """Runs a campaign over some of the targets; the exit code is 1 if there are findings."""
    parser = _parser(name, description, targets, default)
    options = parser.parse_args(arguments)
    if unknown := sorted(set(options.targets) - set(targets)):
        parser.error(f"there is no target {', '.join(unknown)}")
    os.environ["OMP_NUM_THREADS"] = "1"
    chosen = [targets[target]() for target in options.targets or targets]
    if options.write:
        for target in chosen:
            case = case_of(target, options.seed, options.first)
            options.write.mkdir(parents=True, exist_ok=True)
            case.write(options.write)
            print(f"{target.name}: {case.arguments}")
        return 0
    found = _rounds(chosen, options)
    if found:
        print(f"{found} findings; their input is in {options.out}", flush=True)
    return 1 if found else 0


def _rounds(targets: Sequence[Target], options: argparse.Namespace) -> int:
    """In rounds, so that an endless campaign has time for all targets."""
    found, at = 0, options.first
    while not options.count or at < options.first + options.count:
        size = min(ROUND, options.first + options.count - at) if options.count else ROUND
        for target in targets:
            summary = run(target, options.seed, at, size, options.out, lambda finding: print(finding, flush=True))
            print(summary, flush=True)
            found += len(summary.findings)
        at += size
    return found


def _parser(name: str, description: str, targets: Mapping[str, object], default: int) -> argparse.ArgumentParser:
    rows = "\n".join(f"  {target:12}{kind.__doc__}" for target, kind in targets.items())
    result = argparse.ArgumentParser(
        prog=f"python -m tests.fuzz.{name}".removesuffix(".mutated"),
        description=f"{description} Each input is read in a child process with a time and a memory limit; what fails "
        "is saved, and the command that repeats it is printed.",
        epilog=f"targets:\n{rows}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    result.add_argument("targets", nargs="*", metavar="TARGET", help="some of those below (default: all)")
    result.add_argument("--count", type=int, default=default, help=f"inputs of each target, 0 for no end ({default})")
    result.add_argument("--seed", type=int, default=0, help="the same seed gives the same inputs (0)")
    result.add_argument("--first", type=int, default=0, help="number of the first input (0)")
    result.add_argument("--out", type=Path, default=ROOT / "build" / "fuzz" / "findings", help="where findings go")
    result.add_argument("--write", type=Path, metavar="DIR", help="only write the input, to look at it")
    return result
