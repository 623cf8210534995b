"""The command line that the campaigns with numbered inputs share."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from . import ROOT
from .runner import Finding, Summary, Target, case_of, run

TURN_SECONDS = 60.0
"""How long a target reads until the next one has its turn."""


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
    found = _turns(chosen, options)
    if found:
        print(f"the input of findings is in {options.out}", flush=True)
    return 1 if found else 0


def _turns(targets: Sequence[Target], options: argparse.Namespace) -> int:
    """Targets take turns, so that an endless campaign has time for all of them; returns the number of findings."""
    totals = {target.name: Summary(target.name, options.seed) for target in targets}
    count = options.count or sys.maxsize
    pending = list(targets)
    try:
        while pending:
            target = pending.pop(0)
            total = totals[target.name]
            first, left = options.first + total.read, count - total.read
            total.add(run(target, options.seed, first, left, options.out, _report, TURN_SECONDS))
            print(total, flush=True)
            if total.read < count:
                pending.append(target)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    found = sum(len(total.findings) for total in totals.values())
    print(f"{sum(total.read for total in totals.values())} inputs in all, {found} findings", flush=True)
    return found


def _report(finding: Finding) -> None:
    print(finding, flush=True)


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
