"""The program `gsp-generate`: a domain file and a set of problem files in a directory."""

from __future__ import annotations

import argparse
import itertools
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from gsp_fd.common.errors import InputError
from gsp_fd.generate.registry import DISTRIBUTIONS, GENERATORS, check_size, domain_text, generate_set, read_set

RANDOM_PROBLEMS = 10
EXAMPLES = """\
examples:
  gsp-generate blocksworld --count 100 --size 2-20 --seed 1 --out train
  gsp-generate sokoban --count 10 --size 400-2000 --distribution even --out validate
  gsp-generate sokoban-boxes --from levels.txt --out levels
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; returns its exit code (wrong arguments exit with 2, as argparse does)."""
    command_line = parser()
    options = command_line.parse_args(arguments)
    try:
        what = _write_levels(options) if options.levels else _write_random(options)
    except InputError as error:
        print(f"gsp-generate: {error}", file=sys.stderr)
        return error.exit_code
    except ValueError as error:
        command_line.error(str(error))
    except OSError as error:
        command_line.error(f"cannot write to {options.out}: {error.strerror}")
    except KeyboardInterrupt:
        print("gsp-generate: interrupted", file=sys.stderr)
        return 130
    print(f"{what} and domain.pddl written to {options.out}")
    return 0


def _write_random(options: argparse.Namespace) -> str:
    """Writes problems that are drawn; returns what they are."""
    sizes: tuple[int, int] = options.size or GENERATORS[options.domain].training
    count = options.count or RANDOM_PROBLEMS
    for size in sizes:
        check_size(options.domain, size)
    write_set(options.domain, count, sizes, options.seed, options.distribution, options.out, force=options.force)
    return f"{count} problems of sizes {sizes[0]}-{sizes[1]}"


def _write_levels(options: argparse.Namespace) -> str:
    """Writes problems that are read from text files; returns what they are."""
    if options.size:
        raise ValueError("--size is for random problems: levels have the size they have")
    problems = list(itertools.islice(read_set(options.domain, options.levels), options.count))
    _write(options.domain, problems, len(problems), options.out, force=options.force)
    return f"{len(problems)} problem{'s' if len(problems) > 1 else ''}"


def parser() -> argparse.ArgumentParser:
    """The command line of ``gsp-generate``."""
    rows = [
        _row(
            name,
            generator.smallest,
            "-".join(map(str, generator.training)),
            generator.largest,
            generator.size,
        )
        for name, generator in GENERATORS.items()
    ]
    header = _row("domain", "min", "train", "largest", "what the size counts")
    epilog = "\n".join(["sizes, in objects (domain constants included):", header, *rows, "", EXAMPLES])
    result = argparse.ArgumentParser(
        prog="gsp-generate",
        description="Write a domain file and random problems, solvable and not solved yet, to a directory. "
        "The same arguments always write the same bytes.",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    result.add_argument("domain", metavar="DOMAIN", choices=list(GENERATORS), help="one of the domains below")
    result.add_argument(
        "--from",
        dest="levels",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="text files with levels of a puzzle, in its public format, instead of random problems",
    )
    result.add_argument(
        "--count", type=parse_count, metavar="N", help="how many problems (default 10; with --from: all of them)"
    )
    result.add_argument(
        "--size", type=parse_sizes, metavar="A-B", help="sizes, or one size (default: the domain's training sizes)"
    )
    result.add_argument("--seed", type=int, default=0, metavar="S", help="random seed (default 0)")
    result.add_argument("--out", type=Path, required=True, metavar="DIR", help="directory to create")
    result.add_argument(
        "--distribution",
        choices=DISTRIBUTIONS,
        default="small",
        help="small: half of the sizes in the lowest quarter, for training (default); "
        "uniform: all sizes alike; even: equal steps from A to B",
    )
    result.add_argument(
        "--force",
        action="store_true",
        help="replace the domain.pddl and pNN.pddl files in DIR; without it, DIR must be new or empty",
    )
    return result


def _row(*columns: object) -> str:
    return "  {:<13} {:>4} {:>7} {:>8}   {}".format(*columns)


def parse_count(text: str) -> int:
    """A positive whole number; ArgumentTypeError if it is none."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive whole number")
    return int(text)


def parse_sizes(text: str) -> tuple[int, int]:
    """``5-20`` or ``5``; ArgumentTypeError if it is neither."""
    match = re.fullmatch(r"(\d+)(?:-(\d+))?", text, re.ASCII)
    if match is None:
        raise argparse.ArgumentTypeError(f"'{text}' is neither a size nor a range of sizes such as 5-20")
    smallest, largest = int(match[1]), int(match[2] or match[1])
    if smallest > largest:
        raise argparse.ArgumentTypeError(f"'{text}' is an empty range, did you mean {largest}-{smallest}?")
    return smallest, largest


def write_set(
    domain: str, count: int, sizes: tuple[int, int], seed: int, distribution: str, target: Path, *, force: bool = False
) -> None:
    """Write a domain and random problems to a directory; ValueError if that is not new or empty, and not forced."""
    _write(domain, generate_set(domain, count, sizes, seed, distribution), count, target, force=force)


def _write(domain: str, problems: Iterable[str], count: int, target: Path, *, force: bool) -> None:
    """Write a domain and `count` problems to a directory.

    Everything is written beside the directory first, so that it appears complete or not at all.
    """
    out = target.absolute()
    if out.exists() and not out.is_dir():
        raise ValueError(f"{target} exists and is not a directory")
    if out.is_dir() and any(out.iterdir()) and not force:
        raise ValueError(f"{target} is not empty; name a new directory, or replace its files with --force")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as scratch:
        new = Path(scratch) / "set"
        new.mkdir()
        (new / "domain.pddl").write_text(domain_text(domain), encoding="ascii", newline="\n")
        width = max(2, len(str(count)))
        for number, problem in enumerate(problems, 1):
            (new / f"p{number:0{width}}.pddl").write_text(problem, encoding="ascii", newline="\n")
        if out.is_dir():
            _replace_files(new, out)
        else:
            new.rename(out)


def _replace_files(new: Path, out: Path) -> None:
    """Move the files of a set over those of an older one, and remove what is left of the older one."""
    names = {path.name for path in new.iterdir()}
    for name in sorted(names):
        os.replace(new / name, out / name)
    for old in out.iterdir():
        if re.fullmatch(r"p\d+\.pddl", old.name) and old.name not in names:
            old.unlink()


if __name__ == "__main__":
    sys.exit(main())
