"""From what a planner left behind, exit code, log and plan files, to one record of the results file."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from gsp_fd.common.errors import InputError
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.compare.configurations import COMMAND, Configuration
from gsp_fd.compare.limits import RunLimits
from gsp_fd.compare.results import COLUMNS, TEXT_COLUMNS
from gsp_fd.compare.suites import SuiteProblem
from gsp_fd.pddl import Domain, Problem, read_domain, read_problem
from gsp_fd.validate import Validation, parse_plan, validate_plan

SOLVED, EXPANSION_LIMIT = "solved", "expansion-limit"
STATUSES = (
    SOLVED,
    "unsolvable",
    EXPANSION_LIMIT,
    "time-limit",
    "memory-limit",
    "incomplete",
    "invalid-plan",
    "input-error",
    "crash",
)
"""How a run can end. ``incomplete``: the search ended without a plan and without a proof that there is none."""

_BY_CODE = {
    ExitCode.TRANSLATE_UNSOLVABLE: "unsolvable",
    ExitCode.SEARCH_UNSOLVABLE: "unsolvable",
    ExitCode.SEARCH_UNSOLVED_INCOMPLETE: "incomplete",
    ExitCode.SEARCH_UNSOLVABLE_WITHIN_BOUND: "incomplete",
    ExitCode.TRANSLATE_OUT_OF_MEMORY: "memory-limit",
    ExitCode.TRANSLATE_OUT_OF_TIME: "time-limit",
    ExitCode.SEARCH_OUT_OF_MEMORY: "memory-limit",
    ExitCode.SEARCH_OUT_OF_TIME: "time-limit",
    ExitCode.SEARCH_OUT_OF_MEMORY_AND_TIME: "time-limit",
    ExitCode.TRANSLATE_INPUT_ERROR: "input-error",
    ExitCode.SEARCH_INPUT_ERROR: "input-error",
    ExitCode.SEARCH_UNSUPPORTED: "input-error",
    ExitCode.DRIVER_INPUT_ERROR: "input-error",
    ExitCode.DRIVER_UNSUPPORTED: "input-error",
}
_COUNTERS = {
    "expansions": (rb"Expanded (\d+) state\(s\)\.", rb"(\d+) expanded\]"),
    "generated": (rb"Generated (\d+) state\(s\)\.",),
    "evaluations": (rb"Evaluations: (\d+)", rb"(\d+) evaluated, \d+ expanded\]"),
}
"""Patterns in the log; those further back only give what the planner had reached before it was stopped."""
_LOG_END, _MESSAGE_LENGTH = 4 << 20, 300
_NEARLY_ALL = 0.9
"""Share of the CPU time after which a planner that was killed is taken to have run out of it."""
_COMPLAINT = re.compile(r"error|exception|abort|fault|cannot|failed", re.IGNORECASE)
_ROUTINE = re.compile(r"exit code: -?\d+$|^INFO |^Driver aborting|^\[t=|^Peak memory|^Remove intermediate")


@dataclass(frozen=True)
class Ending:
    """What the supervisor says of a run; see :mod:`gsp_fd.compare.supervisor`."""

    reason: str = ""
    exit_code: int | None = None
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    memory_mb: float = 0.0


@dataclass
class Tasks:
    """Parsed problems; the last one is kept, because all configurations of a problem come one after another."""

    _last: tuple[SuiteProblem, Domain, Problem] | None = field(default=None, repr=False)

    def parse(self, problem: SuiteProblem) -> tuple[Domain, Problem]:
        """The parsed files; InputError if that fails."""
        if self._last is None or self._last[0] != problem:
            domain = read_domain(problem.domain_file)
            self._last = problem, domain, read_problem(problem.problem_file, domain)
        return self._last[1:]

    def objects(self, problem: SuiteProblem) -> int | None:
        """The number of objects and constants; None if the files cannot be read."""
        try:
            domain, parsed = self.parse(problem)
        except InputError:
            return None
        return len({constant.name for constant in domain.constants} | {item.name for item in parsed.objects})

    def validate(self, problem: SuiteProblem, text: str) -> tuple[Validation, list[str]]:
        """The verdict on a plan file, and its actions."""
        try:
            actions = parse_plan(text, "plan")
            return validate_plan(*self.parse(problem), actions), actions
        except InputError as error:
            place = f"line {error.line}: " if error.line is not None else ""
            return Validation(False, 0, f"{place}{error.message}"), []


def record(problem: SuiteProblem, configuration: Configuration, **values: Any) -> dict[str, Any]:
    """A line of the results file; values that are not given are unknown."""
    return {
        "kind": "result",
        **dict.fromkeys(COLUMNS),
        **dict(zip(TEXT_COLUMNS, (*problem.key, configuration.name, "crash", ""), strict=True)),
        **dict.fromkeys(("cpu_seconds", "wall_seconds", "memory_mb"), 0.0),
        "best_known": problem.best_known,
        "finished": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        **values,
    }


def judge(
    problem: SuiteProblem, configuration: Configuration, ending: Ending, folder: Path, limits: RunLimits, tasks: Tasks
) -> tuple[dict[str, Any], list[str]]:
    """The record of a run whose files are still in its folder: ``log``, ``plan``, ``plan.1`` …; and its best plan."""
    log = _log_end(folder / "log")
    counters = {name: _count(log, patterns) for name, patterns in _COUNTERS.items()}
    status, message, best = _from_plans(problem, folder, tasks)
    if status != SOLVED:
        status, message = _without_plan(configuration, ending, log, limits, status, message)
    expansions = counters["expansions"]
    if status == SOLVED and limits.expansions is not None and (expansions or 0) > limits.expansions:
        status, message = EXPANSION_LIMIT, f"its plan took {expansions} expansions, more than the limit"
    cost, plan = best or (None, [])
    values = record(
        problem,
        configuration,
        status=status,
        message=_tidy(message, folder),
        exit_code=ending.exit_code,
        cost=cost,
        steps=len(plan) if best else None,
        **counters,
        cpu_seconds=ending.cpu_seconds,
        wall_seconds=ending.wall_seconds,
        memory_mb=ending.memory_mb,
        objects=tasks.objects(problem),
    )
    return values, plan


def _from_plans(problem: SuiteProblem, folder: Path, tasks: Tasks) -> tuple[str, str, tuple[int, list[str]] | None]:
    """Status, message, and cost and actions of the cheapest valid plan; an empty status if there is no plan file."""
    status, message, best = "", "", None
    for file in sorted(folder.glob("plan")) + sorted(folder.glob("plan.[0-9]*")):
        try:
            text = file.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            status, message = status or "invalid-plan", message or f"cannot read the plan: {error.strerror}"
            continue
        verdict, actions = tasks.validate(problem, text)
        if not verdict.valid:
            status, message = status or "invalid-plan", message or (verdict.reason or "")
        elif best is None or verdict.cost < best[0]:
            best = verdict.cost, actions
    return (SOLVED, "", best) if best else (status, message, None)


def _without_plan(
    configuration: Configuration, ending: Ending, log: bytes, limits: RunLimits, status: str, message: str
) -> tuple[str, str]:
    """Status and message of a run that left no valid plan."""
    code = ending.exit_code
    if ending.reason:
        return _stopped(ending, limits)
    if status:
        return status, message
    # A driver that enforces the limit itself passes the signal that ended its planner on as an exit code.
    by_limit = {code for number in (signal.SIGXCPU, signal.SIGKILL) for code in (-number, 256 - number, 128 + number)}
    if code == -signal.SIGXCPU or (code in by_limit and ending.cpu_seconds >= _NEARLY_ALL * limits.cpu_seconds):
        return "time-limit", ""
    if code is not None and code < 0:
        return "crash", f"killed by {_signal_name(-code)}{_said(log)}"
    if configuration.planner == COMMAND:
        # Only Fast Downward's exit codes mean what they say.
        return ("incomplete" if code == 0 else "crash"), f"exit code {code} and no plan{_said(log)}"
    if code == ExitCode.SEARCH_UNSOLVED_INCOMPLETE and b"Expansion limit reached" in log:
        return EXPANSION_LIMIT, ""
    by_code = _BY_CODE.get(ExitCode(code)) if code in set(ExitCode) else None
    if by_code is None:
        return "crash", f"exit code {code} and no plan{_said(log)}"
    return by_code, _complaint(log) if by_code == "input-error" else ""


def _stopped(ending: Ending, limits: RunLimits) -> tuple[str, str]:
    if ending.reason == "time":
        return "time-limit", ""
    if ending.reason == "wall":
        return "time-limit", f"hung: it waited for {limits.wall_seconds:g} s, with {ending.cpu_seconds:g} s of CPU time"
    if ending.reason == "memory":
        return "memory-limit", ""
    if ending.reason == "disk":
        return "crash", f"filled the {limits.disk_mb} MB that its folder may hold"
    return "input-error" if ending.reason.startswith("cannot start") else "crash", ending.reason


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _said(log: bytes) -> str:
    complaint = _complaint(log)
    return f": {complaint}" if complaint else ""


def _complaint(log: bytes) -> str:
    """The line of the log that says most about what went wrong."""
    lines = [line.strip() for line in log.decode("utf-8", "replace").splitlines()]
    lines = [line for line in lines if line and not _ROUTINE.search(line)]
    complaints = [line for line in lines if _COMPLAINT.search(line)]
    return (complaints or lines or [""])[-1]


def _count(log: bytes, patterns: Sequence[bytes]) -> int | None:
    for pattern in patterns:
        if found := re.findall(pattern, log):
            return int(found[-1])
    return None


def _log_end(file: Path) -> bytes:
    try:
        with file.open("rb") as log:
            log.seek(max(0, file.stat().st_size - _LOG_END))
            return log.read(_LOG_END)
    except OSError:
        return b""


def _tidy(message: str, folder: Path) -> str:
    """One printable line without the folder of the run."""
    text = message.replace(f"{folder}/", "")
    text = "".join(character if character.isprintable() else " " for character in text)
    text = re.sub(r"^gsp-plan: error: ", "", " ".join(text.split()))
    return text if len(text) <= _MESSAGE_LENGTH else f"{text[: _MESSAGE_LENGTH - 1]}…"
