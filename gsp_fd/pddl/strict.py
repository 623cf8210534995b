"""What the ``pddl`` package, which follows the standard to the letter, finds wrong with a task."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

from gsp_fd.common.errors import InputError
from gsp_fd.pddl.parser import read_domain, read_problem


def strict_findings(domain_path: str | os.PathLike[str], problem_path: str | os.PathLike[str]) -> list[str]:
    """One line per deviation from standard PDDL; an empty list if there is none.

    Each file is reported up to its first deviation. :class:`InputError` for files that cannot be used at all.
    """
    # Slow to import, and needed by nothing else that plans.
    from pddl.parser.domain import DomainParser
    from pddl.parser.problem import ProblemParser

    domain = read_domain(domain_path)
    problem = read_problem(problem_path, domain)
    findings = [*domain.warnings, *problem.warnings]
    parsed: list[Any] = []
    for path, parser in ((domain_path, DomainParser), (problem_path, ProblemParser)):
        name = os.fspath(path)
        with open(name, encoding="utf-8", errors="replace") as stream:
            text = stream.read()
        findings += _complaint(name, partial(_parse, parser, text, parsed))
    if len(parsed) == 2:
        findings += _complaint(os.fspath(problem_path), partial(parsed[1].check, parsed[0]))
    return findings


def _parse(parser: Any, text: str, parsed: list[Any]) -> None:
    parsed.append(parser()(text))


def _complaint(file: str, check: Callable[[], Any]) -> list[str]:
    try:
        check()
    except Exception as error:  # the package raises exceptions of several libraries, and bare asserts
        cause = getattr(error, "orig_exc", error)
        text = " ".join(str(cause).split()) or type(cause).__name__
        line = getattr(error, "line", None)
        line = line if isinstance(line, int) and line > 0 else None
        return [str(InputError(text, file, line))]
    return []
