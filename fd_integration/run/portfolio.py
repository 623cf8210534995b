"""``gsp-plan --portfolio FILE``: Fast Downward's portfolios, with any planners in them.

A configuration is ``(relative time, arguments)``. Arguments that start with an option are a search of this planner;
otherwise they are a command, in which braces stand for {python} {domain} {problem} {plan} {bound} {time} {memory}. Time
is wall-clock time here, because external planners may wait or use several cores.
"""

from __future__ import annotations

import math
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from gsp_fd.common.errors import InputError, driver_error
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.common.processes import PLANNER, run_guarded
from gsp_fd.fd_integration.language.registry import is_learned
from gsp_fd.fd_integration.run.limits import Limits
from gsp_fd.fd_integration.run.log import Log
from gsp_fd.fd_integration.run.options import Options
from gsp_fd.fd_integration.run.plans import PlanFiles
from gsp_fd.pddl import read_domain, read_problem
from gsp_fd.validate import Validation, parse_plan, validate_plan, validate_sas_plan

Config = tuple[float, list[str]]
Validator = Callable[[Sequence[str]], Validation]

_COST_LINE = re.compile(r"; cost = \d+ \((unit|general) cost\)\s*\Z")
_COST_TYPES = ("H_COST_TYPE", "S_COST_TYPE")


@dataclass(frozen=True)
class Portfolio:
    """What a portfolio file defines."""

    optimal: bool
    configs: list[Config]
    final_config: list[str] | None = None
    final_config_builder: Callable[[list[str]], list[str]] | None = None


def read_portfolio(path: Path) -> Portfolio:
    """Runs a portfolio file; InputError with exit code 35, as in Fast Downward, if that gives no portfolio."""

    def error(message: str, line: int | None = None) -> InputError:
        return InputError(message, str(path), line, exit_code=ExitCode.DRIVER_CRITICAL_ERROR)

    attributes: dict[str, Any] = {}
    try:
        exec(compile(path.read_bytes(), str(path), "exec"), attributes)
    except OSError as problem:
        raise error(f"cannot read the portfolio: {problem.strerror}") from None
    except SyntaxError as problem:
        raise error(f"the portfolio is no Python: {problem.msg}", problem.lineno) from None
    except Exception as problem:
        raise error(f"the portfolio cannot be loaded: {type(problem).__name__}: {problem}") from None
    for name in ("CONFIGS", "OPTIMAL"):
        if name not in attributes:
            raise error(f"portfolios must define {name}")
    final = attributes.get("FINAL_CONFIG")
    try:
        configs = [(float(share), _arguments(arguments)) for share, arguments in attributes["CONFIGS"]]
        final = None if final is None else _arguments(final)
    except (TypeError, ValueError) as problem:
        raise error(f"CONFIGS must be a list of (relative time, [arguments]): {problem}") from None
    if not configs or not all(share > 0 and arguments for share, arguments in configs):
        raise error("CONFIGS must hold at least one configuration, each with arguments and a relative time above 0")
    return Portfolio(bool(attributes["OPTIMAL"]), configs, final, attributes.get("FINAL_CONFIG_BUILDER"))


def _arguments(value: Any) -> list[str]:
    arguments = list(value)
    if isinstance(value, str) or not all(isinstance(argument, str) for argument in arguments):
        raise ValueError(f"expected a list of strings, got {value!r}")
    return arguments


def portfolio_exit_code(codes: Sequence[int], found: bool) -> int:
    """Fast Downward's rule, except that failures of some members do not take away plans that others found."""
    time_out, memory_out = ExitCode.SEARCH_OUT_OF_TIME in codes, ExitCode.SEARCH_OUT_OF_MEMORY in codes
    if found:
        return int(time_out) * 2 + int(memory_out)
    errors = {code for code in codes if 30 <= code < 40}
    if errors:
        return errors.pop() if len(errors) == 1 else ExitCode.SEARCH_CRITICAL_ERROR
    for code in (
        ExitCode.SEARCH_UNSOLVABLE,
        ExitCode.SEARCH_UNSOLVABLE_WITHIN_BOUND,
        ExitCode.SEARCH_UNSOLVED_INCOMPLETE,
    ):
        if code in codes:
            return code
    if time_out and memory_out:
        return ExitCode.SEARCH_OUT_OF_MEMORY_AND_TIME
    return ExitCode.SEARCH_OUT_OF_MEMORY if memory_out else ExitCode.SEARCH_OUT_OF_TIME


@dataclass
class PortfolioRun:
    """One run of a portfolio on one task."""

    portfolio: Portfolio
    options: Options
    files: list[Path]
    """Domain and problem, or a SAS file."""
    plans: PlanFiles
    log: Log
    limits: Limits
    best: int | None = None
    """The cost that plans must stay below."""
    validator: Validator = field(init=False)
    unit_cost: bool | None = field(init=False)
    """Whether all actions cost 1; None as long as no planner has told."""
    _cost_types: dict[str, str] = field(default_factory=lambda: dict.fromkeys(_COST_TYPES, "one"))
    _end: float = 0.0

    def __post_init__(self) -> None:
        """Reads the task, for the validation of plans; InputError if that fails."""
        if len(self.files) == 2:
            domain = read_domain(self.files[0])
            problem = read_problem(self.files[1], domain)
            self.validator = partial(validate_plan, domain, problem)
            self.unit_cost = None if problem.minimize_cost else True
        else:
            sas, name = self.files[0].read_bytes(), str(self.files[0])
            self.validator = partial(validate_sas_plan, sas, file=name)
            self.unit_cost = None

    def execute(self) -> int:
        """Run configurations until the time is over or nothing better is to be had; returns the exit code."""
        if self.limits.time is None:
            raise driver_error("portfolios need a time limit: add --overall-time-limit or --search-time-limit")
        self._end = time.monotonic() + self.limits.time
        self.best = self.options.portfolio_bound
        self.plans.numbered = not (self.portfolio.optimal or self.options.portfolio_single_plan)
        codes = list(self._optimal() if self.portfolio.optimal else self._satisficing())
        self.log.line(f"Exit codes: {[int(code) for code in codes]}")
        return portfolio_exit_code(codes, bool(self.plans.written))

    def _optimal(self) -> Iterator[int]:
        for position in range(len(self.portfolio.configs)):
            code = self._slice(self.portfolio.configs, position)
            if code is not None:
                yield code
            if code in (ExitCode.SUCCESS, ExitCode.SEARCH_UNSOLVABLE):
                return

    def _satisficing(self) -> Iterator[int]:
        """Rounds of all configurations, each round with those that found something in the last one."""
        configs, final = self.portfolio.configs, self.portfolio.final_config
        while configs:
            successful: list[Config] = []
            for position, config in enumerate(configs):
                for code in self._with_real_costs(configs, position):
                    yield code
                    if code in _PROOFS or (code == ExitCode.SUCCESS and self.options.portfolio_single_plan):
                        return
                    if code == ExitCode.SUCCESS and config not in successful:
                        successful.append(config)
                if successful and self.portfolio.final_config_builder is not None:
                    final = list(self.portfolio.final_config_builder(successful[-1][1]))
                    break
            if final is not None:
                self.log.line("Abort portfolio and run final config.")
                last = self._slice([(1.0, final)], 0)
                if last is not None:
                    yield last
                return
            configs = successful

    def _with_real_costs(self, configs: list[Config], position: int) -> Iterator[int]:
        """One configuration; the first success under unit costs is repeated under real ones, as in Fast Downward."""
        code = self._slice(configs, position)
        if code is None:
            return
        yield code
        uses_costs = any(name in argument for argument in configs[position][1] for name in _COST_TYPES)
        if code == ExitCode.SUCCESS and uses_costs and self.unit_cost is False and "one" in self._cost_types.values():
            self.log.line("Switch to real costs and repeat last run.")
            self._cost_types = {"H_COST_TYPE": "plusone", "S_COST_TYPE": "normal"}
            code = self._slice(configs, position)
            if code is not None:
                yield code

    def _slice(self, configs: list[Config], position: int) -> int | None:
        """Run one configuration for its part of the time that is left; None if there is no time for it."""
        left = self._end - time.monotonic()
        share = configs[position][0] / sum(share for share, _ in configs[position:])
        seconds = left * share
        if seconds < _SHORTEST:
            return None
        arguments = configs[position][1]
        self.log.line(
            f"Configuration {position + 1} of {len(configs)}: {seconds:.1f}s of {left:.1f}s, bound {self.bound}"
        )
        with tempfile.TemporaryDirectory(prefix="gsp-portfolio-", ignore_cleanup_errors=True) as name:
            member = _Member(self, arguments, Path(name), seconds)
            code = member.run()
        self.log.line(f"Configuration {position + 1} of {len(configs)} ended: {int(code)}")
        self.log.line()
        return code

    @property
    def bound(self) -> str:
        """Plans must be cheaper than this."""
        return "infinity" if self.best is None else str(self.best)

    def offer(self, text: str, file: str) -> bool:
        """Publish the plan in a file if it is valid and cheaper than all before; returns whether it was."""
        try:
            actions = parse_plan(text, file)
        except InputError:
            return False
        verdict = self.validator(actions)
        if not verdict.valid or (self.best is not None and verdict.cost >= self.best):
            return False
        line = _COST_LINE.search(text)
        if self.unit_cost is None and line is not None:
            self.unit_cost = line[1] == "unit"
        path = self.plans.save(actions, verdict.cost, bool(self.unit_cost))
        self.best = verdict.cost
        self.log.line(f"New best plan with cost {verdict.cost} in {path}")
        return True


_PROOFS = (ExitCode.SEARCH_UNSOLVABLE, ExitCode.SEARCH_UNSOLVABLE_WITHIN_BOUND)
_SHORTEST = 0.05
"""Seconds below which a configuration is not worth its start."""


class _Member:
    """One run of one configuration."""

    def __init__(self, portfolio: PortfolioRun, arguments: list[str], folder: Path, seconds: float) -> None:
        self.portfolio = portfolio
        self.seconds = seconds
        self.folder = folder
        self.plan = folder / "plan"
        self.ours = arguments[0].startswith("-")
        self.learned = self.ours and any(map(is_learned, arguments))
        self.command = self._our_command(arguments) if self.ours else self._their_command(arguments)
        self.found = False
        self._seen: dict[Path, str] = {}

    def run(self) -> int:
        self.portfolio.log.line(f"command: {self.command}")
        memory = self.portfolio.limits.memory
        megabytes = None if self.ours or memory is None else memory >> 20
        code = run_guarded(self.command, self.folder, seconds=self.seconds, megabytes=megabytes, meanwhile=self.collect)
        self.collect()
        return self._code(code)

    def collect(self) -> None:
        """Publish plans that have appeared since the last time."""
        for path in [self.plan, *sorted(self.folder.glob("plan.[0-9]*"), key=lambda file: int(file.suffix[1:] or 0))]:
            try:
                text = path.read_text(errors="replace")
            except OSError:
                continue
            if self._seen.get(path) != text:
                self._seen[path] = text
                self.found |= self.portfolio.offer(text, str(path))

    def _code(self, code: int | None) -> int:
        if self.found:
            return ExitCode.SUCCESS
        if code is None:
            return ExitCode.SEARCH_OUT_OF_TIME
        if self.ours and code in set(ExitCode) and code > ExitCode.SEARCH_PLAN_FOUND_AND_OUT_OF_MEMORY_AND_TIME:
            # A model that does not apply is no failure of the portfolio.
            return ExitCode.SEARCH_UNSOLVED_INCOMPLETE if code == 33 and self.learned else code
        if not self.ours and code != 0:
            self.portfolio.log.line(f"{self.command[0]} ended with exit code {code} and without a plan")
        return ExitCode.SEARCH_UNSOLVED_INCOMPLETE

    def _our_command(self, arguments: list[str]) -> list[str]:
        portfolio = self.portfolio
        values = {"BOUND": portfolio.bound, **portfolio._cost_types}
        search = [_replaced(argument, values) for argument in arguments]
        limits = ["--overall-time-limit", str(math.ceil(self.seconds))]
        if portfolio.limits.memory is not None:
            limits += ["--overall-memory-limit", f"{portfolio.limits.memory >> 10}k"]
        start = [*PLANNER, *limits, "--plan-file", str(self.plan), *portfolio.options.forwarded(self.learned)]
        return [*start, *map(str, portfolio.files), *search]

    def _their_command(self, arguments: list[str]) -> list[str]:
        portfolio = self.portfolio
        values = {
            "{python}": sys.executable,
            "{plan}": str(self.plan),
            "{bound}": portfolio.bound,
            "{time}": str(max(1, int(self.seconds))),
            "{memory}": str((portfolio.limits.memory or 0) >> 20),
        }
        if len(portfolio.files) == 2:
            values |= {"{domain}": str(portfolio.files[0]), "{problem}": str(portfolio.files[1])}
        command = [_replaced(argument, values) for argument in arguments]
        missing = [name for name in ("{domain}", "{problem}") if any(name in argument for argument in command)]
        if missing:
            raise driver_error(f"{arguments[0]} wants {missing[0]}, but the task came as SAS: give the PDDL files")
        return command


def _replaced(text: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(name, value)
    return text
