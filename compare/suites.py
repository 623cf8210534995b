"""Which problems a comparison is about: folders, the IPC layout, generated problems, list files."""

from __future__ import annotations

import math
from argparse import ArgumentTypeError
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import parse_qsl

from gsp_fd.common.discovery import find_domain
from gsp_fd.common.errors import InputError, driver_error
from gsp_fd.common.files import problem_files
from gsp_fd.common.untrusted import file_name, parse_json, printable
from gsp_fd.pddl import read_domain

SPLITS = ("easy", "medium", "hard")
"""In this order; other splits follow."""
GENERATE = "generate:"
_GENERATOR_OPTIONS = {"count": "10", "size": "", "seed": "0", "distribution": "even"}
MAX_GENERATED = 1000
"""Problems of one generated suite: a list of suites may come from a stranger, and one line of it fill a disk."""


@dataclass(frozen=True)
class SuiteProblem:
    """A problem with its place in the suite; ``error`` says why it cannot be run."""

    domain: str
    split: str
    name: str
    domain_file: Path = Path()
    problem_file: Path = Path()
    best_known: int | None = None
    error: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from all others."""
        return self.domain, self.split, self.name

    def __str__(self) -> str:
        return "/".join(part for part in self.key if part)


@dataclass(frozen=True)
class Selection:
    """Which problems of a suite are taken."""

    splits: tuple[str, ...] = ()
    """Only these; empty for all."""
    every: int = 1
    """Of each split of a domain, the first, and then every n-th."""


def read_suites(texts: Sequence[str], selection: Selection, generated: Path) -> list[SuiteProblem]:
    """All problems of some suites; a suite that cannot be read is one problem with an error.

    Generated problems are written below ``generated``. InputError if two problems have the same name.
    """
    found: dict[tuple[str, str, str], SuiteProblem] = {}
    for text in texts:
        try:
            problems = list(_suite(text, generated))
        except InputError as error:
            problems = [_unreadable(text, str(error))]
        except OSError as error:
            problems = [_unreadable(text, error.strerror or str(error))]
        for problem in _selected(problems, selection):
            other = found.setdefault(problem.key, problem)
            if other is not problem and other.problem_file != problem.problem_file:
                raise driver_error(f"{other.problem_file} and {problem.problem_file} would both be called {problem}")
    return list(found.values())


def _unreadable(text: str, reason: str) -> SuiteProblem:
    return SuiteProblem(
        _suite_name(text), "", "", error=printable(f"unreadable suite: {_without_folders(reason, text)}")
    )


def _suite_name(text: str) -> str:
    return text if text.startswith(GENERATE) else file_name(Path(text).name or text)


def _without_folders(reason: str, text: str) -> str:
    """Messages go into results files, which should not speak of folders of this machine."""
    return reason.replace(str(Path(text).absolute().parent) + "/", "").replace(str(Path(text).parent) + "/", "")


def read_bounds(file: Path) -> dict[str, int]:
    """Best known plan costs by ``domain/testing/split/problem.pddl``, as the IPC 2023 learning track gives them."""
    try:
        bounds = parse_json(file.read_bytes())
    except OSError as error:
        raise driver_error(f"cannot read the file: {error.strerror}", file) from None
    except ValueError as error:
        raise driver_error(f"this is no JSON: {error}", file) from None
    if not isinstance(bounds, dict) or not all(
        isinstance(bound, int | float) and math.isfinite(bound) for bound in bounds.values()
    ):
        raise driver_error('expected an object such as {"ferry/testing/easy/p01.pddl": 12}', file)
    return {name: int(bound) for name, bound in bounds.items()}


def with_bounds(problems: Sequence[SuiteProblem], bounds: dict[str, int]) -> list[SuiteProblem]:
    """The problems with their best known costs; names match with and without ``testing`` and ``.pddl``."""

    def plain(name: str) -> tuple[str, ...]:
        return tuple(part for part in name.removesuffix(".pddl").split("/") if part != "testing")

    by_name = {plain(name): bound for name, bound in bounds.items()}
    return [replace(problem, best_known=by_name.get(plain(str(problem)))) for problem in problems]


def with_domain(problems: Sequence[SuiteProblem], domain: Path) -> list[SuiteProblem]:
    """The problems with one domain file for all of them, whether they have found one or not."""
    return [
        replace(problem, domain_file=domain.absolute(), error="") if problem.problem_file != Path() else problem
        for problem in problems
    ]


def pddl_names(problems: Sequence[SuiteProblem]) -> dict[str, str]:
    """What the domains of a suite are called in their files, where those can be read."""
    files = {problem.domain: problem.domain_file for problem in problems if not problem.error}
    names = {}
    for domain, file in files.items():
        with suppress(InputError):
            names[domain] = printable(read_domain(file).name)
    return names


def _selected(problems: Sequence[SuiteProblem], selection: Selection) -> Iterator[SuiteProblem]:
    groups: dict[tuple[str, str], list[SuiteProblem]] = {}
    for problem in problems:
        if not selection.splits or problem.split in selection.splits or problem.error:
            groups.setdefault((problem.domain, problem.split), []).append(problem)
    for group in groups.values():
        yield from group[:: selection.every]


def _suite(text: str, generated: Path) -> Iterator[SuiteProblem]:
    if text.startswith(GENERATE):
        yield from _generated(text.removeprefix(GENERATE), generated)
        return
    path = Path(text)
    if path.is_dir():
        yield from _folder(path)
    elif path.suffix == ".pddl":
        yield _problem(path, path.absolute().parent.name, "")
    else:
        yield from _list_file(path, generated)


def _folder(folder: Path) -> Iterator[SuiteProblem]:
    """A domain, or a folder of domains."""
    problems = list(_domain_folder(folder))
    if not problems:
        domains = sorted(path for path in folder.iterdir() if path.is_dir())
        problems = [problem for domain in domains for problem in _domain_folder(domain)]
    if not problems:
        raise driver_error("found no problems: neither PDDL files nor domain/testing/{easy,medium,hard}", folder)
    yield from problems


def _domain_folder(folder: Path) -> Iterator[SuiteProblem]:
    domain, testing = folder / "domain.pddl", folder / "testing"
    if testing.is_dir():
        splits = sorted(path for path in testing.iterdir() if path.is_dir())
        for split in sorted(splits, key=lambda path: SPLITS.index(path.name) if path.name in SPLITS else len(SPLITS)):
            for file in sorted(split.glob("*.pddl")):
                yield _problem(file, folder.absolute().name, split.name, domain)
        for file in sorted(testing.glob("*.pddl")):
            yield _problem(file, folder.absolute().name, "", domain)
        return
    for file in problem_files(folder):
        yield _problem(file, folder.absolute().name, "")


def _problem(file: Path, domain_name: str, split: str, domain: Path | None = None) -> SuiteProblem:
    names = file_name(domain_name), file_name(split), file_name(file.stem)
    result = SuiteProblem(*names, domain or Path(), file.absolute())
    try:
        return replace(result, domain_file=(domain or find_domain(file)).absolute())
    except InputError as error:
        return replace(result, error=error.message.partition(";")[0])


def _list_file(file: Path, generated: Path) -> Iterator[SuiteProblem]:
    """One suite per line, or a domain file and a problem file; seen from the folder of the list."""
    for number, line in enumerate(_text(file).splitlines(), start=1):
        words = line.partition("#")[0].split()
        paths = [file.parent / word for word in words]
        if len(words) == 1 and words[0].startswith(GENERATE):
            yield from _suite(words[0], generated)
        elif len(words) == 1 and (paths[0].is_dir() or paths[0].suffix == ".pddl"):
            yield from _suite(str(paths[0]), generated)
        elif len(words) == 2:
            domain, problem = paths
            yield _problem(problem, problem.absolute().parent.name, "", domain)
        elif words:
            message = f"'{line.strip()}' is neither a folder, nor a problem, nor a domain and a problem"
            raise InputError(message, str(file), number)


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise driver_error("neither a folder nor a PDDL file nor a list of problems", file) from None
    except FileNotFoundError:
        raise driver_error("there is no such file or folder", file) from None


def _generated(text: str, folder: Path) -> Iterator[SuiteProblem]:
    """``blocksworld?count=5&size=3-8&seed=1``, written once per combination."""
    from gsp_fd.generate.cli import parse_count, parse_sizes, write_set
    from gsp_fd.generate.registry import DISTRIBUTIONS, GENERATORS, check_size

    name, _, query = text.partition("?")
    given = dict(parse_qsl(query, keep_blank_values=True))
    if name not in GENERATORS:
        raise driver_error(f"there is no generator '{name}'; known are {', '.join(GENERATORS)}")
    if unknown := sorted(set(given) - set(_GENERATOR_OPTIONS)):
        raise driver_error(f"unknown option '{unknown[0]}' of {name}; known are {', '.join(_GENERATOR_OPTIONS)}")
    options = {**_GENERATOR_OPTIONS, **given}
    options["size"] = options["size"] or "-".join(map(str, GENERATORS[name].training))
    if options["distribution"] not in DISTRIBUTIONS:
        raise driver_error(f"'{options['distribution']}' is no distribution; known are {', '.join(DISTRIBUTIONS)}")
    target = folder / "-".join([name, *(f"{key}{value}" for key, value in sorted(options.items()))])
    try:
        sizes, count, seed = parse_sizes(options["size"]), parse_count(options["count"]), int(options["seed"])
        if count > MAX_GENERATED:
            raise driver_error(f"at most {MAX_GENERATED} problems are generated for a suite; gsp-generate writes more")
        for size in sizes:
            check_size(name, size)
        if not target.is_dir():
            write_set(name, count, sizes, seed, options["distribution"], target)
    except (ArgumentTypeError, ValueError) as error:
        raise driver_error(str(error)) from None
    for problem in _domain_folder(target):
        yield replace(problem, domain=name, split=f"size {options['size']}")
