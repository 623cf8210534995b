"""``gsp-plan --compare hff,hmax,gsp``: configurations side by side on one problem, as a table on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from gsp_fd.common.discovery import find_domain, looks_like_sas
from gsp_fd.common.errors import driver_error
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.compare.configurations import Configuration, find_configurations, heuristic_configuration, split_names
from gsp_fd.compare.limits import DEFAULT_EXPANSIONS, DEFAULT_MEMORY_MB, DEFAULT_SECONDS, run_limits
from gsp_fd.compare.outcome import SOLVED
from gsp_fd.compare.runner import Job, run_local
from gsp_fd.compare.suites import SuiteProblem
from gsp_fd.fd_integration.run.configuration import SHORT_HEURISTICS, prefers_operators
from gsp_fd.fd_integration.run.log import Log
from gsp_fd.fd_integration.run.options import (
    LEARNED_PARAMETERS,
    SEARCH_PARAMETERS,
    Options,
    option_name,
)
from gsp_fd.pddl import read_domain, read_problem

_COLUMNS = {
    "status": 15,
    "cost": 8,
    "steps": 8,
    "expansions": 12,
    "evaluations": 12,
    "CPU s": 8,
    "MB": 8,
}


_SHORT_FORMS = {"search_tokens": "--search", "weight": "--weight", "preferred": "--preferred"}
_UNDERSTOOD = {
    *("files", "compare", "overall_time", "overall_memory", "max_expansions", "log_level", "debug"),
    *_SHORT_FORMS,
    *SEARCH_PARAMETERS,
    *LEARNED_PARAMETERS,
}


def compare(options: Options) -> int:
    """Run the configurations that the options name; returns 0 if one of them found a plan."""
    problem = _problem([Path(file) for file in options.files])
    limits = run_limits(
        options.overall_time or DEFAULT_SECONDS,
        (options.overall_memory or DEFAULT_MEMORY_MB << 20) >> 20 or 1,
        options.max_expansions or DEFAULT_EXPANSIONS,
    )
    configurations = compared(options)
    log = Log(options.log_level)
    log.line(
        f"Limits for each: {limits.expansions:,} expansions, {limits.cpu_seconds} s of CPU time, {limits.memory_mb} MB"
    )
    for configuration in configurations:
        log.line(f"{configuration.name}: {configuration.description}")
    width = max(len("configuration"), *(len(configuration.name) for configuration in configurations))
    log.line(_line("configuration", width, list(_COLUMNS)))
    jobs = [Job(problem, configuration) for configuration in configurations]
    statuses = []
    with closing(run_local(jobs, limits, 1)) as records:
        for result in records:
            statuses.append(result["status"])
            log.line(_line(result["configuration"], width, _cells(result)) + _note(result))
    return _exit_code(statuses)


def _problem(files: Sequence[Path]) -> SuiteProblem:
    if len(files) not in (1, 2) or any(looks_like_sas(file) for file in files):
        raise driver_error("--compare needs a PDDL problem, or a domain and a problem")
    problem = files[-1].absolute()
    domain = files[0].absolute() if len(files) == 2 else find_domain(problem)
    read_problem(problem, read_domain(domain))  # says at once, and with its line, what is wrong with a file
    return SuiteProblem(problem.parent.name, "", problem.stem, domain, problem)


def compared(options: Options) -> list[Configuration]:
    """The configurations that ``--compare`` names, with what the other options say about them."""
    given = options.given()
    if other := [name for name in given if name not in _UNDERSTOOD]:
        raise driver_error(f"--compare does not take {option_name(other[0])}; a configuration may: NAME=OPTIONS")
    searches = options.search_tokens
    if searches and (searches[0] != "--search" or len(searches) != 2):
        raise driver_error("--compare names the heuristics; beside it, --search NAME says what searches with them")
    common = replace(options, model=options.model or "auto")
    names = split_names(options.compare or "")
    heuristics = [name.lower() for name in names if name.lower() in SHORT_HEURISTICS]
    if not heuristics and (short := [option for name, option in _SHORT_FORMS.items() if name in given]):
        raise driver_error(f"{short[0]} is for heuristics such as hff, and --compare names none")
    if options.preferred and not any(map(prefers_operators, heuristics)):
        raise driver_error("--preferred: none of these heuristics has preferred operators")
    found: list[Configuration] = []
    for name in names:
        if name.lower() in SHORT_HEURISTICS:
            found.append(heuristic_configuration(name.lower(), _short_forms(name.lower(), options), common))
        else:
            found += find_configurations([name], common)
    if not found:
        raise driver_error("--compare needs names, such as hff,hmax,gsp")
    for name in LEARNED_PARAMETERS:
        if name in given and not any(f"--{name}" in configuration.command for configuration in found):
            raise driver_error(f"--{name} makes no difference to any of these configurations")
    return found


def _short_forms(heuristic: str, options: Options) -> list[str]:
    weight = [] if options.weight is None else ["--weight", f"{options.weight:g}"]
    preferred = ["--preferred"] if options.preferred and prefers_operators(heuristic) else []
    return [*options.search_tokens, *weight, *preferred]


def _cells(result: dict[str, Any]) -> list[str]:
    known = [result["cost"], result["steps"], result["expansions"], result["evaluations"]]
    shown = ["-" if value is None else str(value) for value in known]
    return [result["status"], *shown, f"{result['cpu_seconds']:.2f}", f"{result['memory_mb']:.0f}"]


def _line(name: str, width: int, cells: Sequence[str]) -> str:
    return "  ".join(
        [name.ljust(width), *(cell.rjust(size) for cell, size in zip(cells, _COLUMNS.values(), strict=True))]
    )


def _note(result: dict[str, Any]) -> str:
    return f"  {result['message']}" if result["message"] else ""


def _exit_code(statuses: Sequence[str]) -> int:
    if SOLVED in statuses:
        return ExitCode.SUCCESS
    if "unsolvable" in statuses:
        return ExitCode.SEARCH_UNSOLVABLE
    return ExitCode.DRIVER_INPUT_ERROR if set(statuses) == {"input-error"} else ExitCode.SEARCH_UNSOLVED_INCOMPLETE
