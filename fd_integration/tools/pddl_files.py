"""Where the PDDL files of a SAS task are: models need them, and Fast Downward tells its search component no paths."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from gsp_fd.common.discovery import find_domain
from gsp_fd.common.errors import InputError, search_error
from gsp_fd.fd_integration.run.configuration import CheckedSearch
from gsp_fd.fd_integration.run.options import parse_command_line

DOMAIN_VARIABLE, PROBLEM_VARIABLE = "GSP_DOMAIN", "GSP_PROBLEM"
_DRIVERS = ("fast-downward.py", "fast-downward")
_GENERATIONS = 8


def pddl_files(search: CheckedSearch, environment: Mapping[str, str] = os.environ) -> tuple[Path, Path]:
    """Domain and problem: from the options of ``gsp(…)``, the environment, or the driver that started this process."""
    options = next(search.components("gsp"), None)
    given = {name: options.values[name] if options else None for name in ("domain", "problem")}
    return find_pddl_files(given["domain"], given["problem"], environment)


def find_pddl_files(
    domain: str | None, problem: str | None, environment: Mapping[str, str] = os.environ
) -> tuple[Path, Path]:
    """Domain and problem: those given, from the environment, or of the driver; InputError if there is no problem."""
    domain = domain or environment.get(DOMAIN_VARIABLE)
    problem = problem or environment.get(PROBLEM_VARIABLE)
    if problem is None:
        for files in _driver_files():
            return files if domain is None else (Path(domain), files[1])
        raise search_error(
            "a learned heuristic needs the PDDL files, and this process got SAS only: say "
            f'gsp(domain="domain.pddl", problem="problem.pddl", …), or set {DOMAIN_VARIABLE} and {PROBLEM_VARIABLE}',
        )
    return Path(domain) if domain is not None else find_domain(Path(problem)), Path(problem)


def _driver_files() -> Iterator[tuple[Path, Path]]:
    """The PDDL files on the command line of the closest Fast Downward driver among the ancestors."""
    process = os.getppid()
    for _ in range(_GENERATIONS):
        try:
            folder = Path("/proc") / str(process)
            arguments = [
                part.decode(errors="surrogateescape") for part in (folder / "cmdline").read_bytes().split(b"\0")
            ]
            status = (folder / "stat").read_text(errors="replace")
            place = Path(os.readlink(folder / "cwd"))
        except OSError:
            return
        for position, argument in enumerate(arguments[:-1]):
            if Path(argument).name in _DRIVERS:
                yield from _files_of(arguments[position + 1 : -1], place)
                return
        # pid (name) state parent …, where the name may contain anything
        process = int(status.rpartition(")")[2].split()[1])


def _files_of(arguments: list[str], place: Path) -> Iterator[tuple[Path, Path]]:
    try:
        files = [place / file for file in parse_command_line(arguments).files]
        if len(files) == 2:
            yield files[0], files[1]
        elif len(files) == 1 and files[0].suffix != ".sas":
            yield find_domain(files[0]), files[0]
    except InputError:
        return
