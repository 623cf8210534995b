"""Running a search, or several in turn: limits, validation, plan files, statistics, the exit code."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from gsp_fd import _core
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.fd_integration.language.context import Context, IteratedSpec, SearchSpec
from gsp_fd.fd_integration.language.features import Component
from gsp_fd.fd_integration.language.syntax import MAX_INT
from gsp_fd.fd_integration.run.interrupts import Interrupts
from gsp_fd.fd_integration.run.limits import Deadline
from gsp_fd.fd_integration.run.log import Log, Statistics, plan_lines, search_statistics
from gsp_fd.fd_integration.run.plans import PlanFiles

LAST_RESORT_SECONDS = 1.0
"""Beyond the time limit; the search itself looks at it every few milliseconds."""


class InvalidPlanError(Exception):
    """The validator rejected a plan of the search: a bug, and no plan is written."""


@dataclass(frozen=True)
class Plan:
    """A validated plan."""

    actions: tuple[str, ...]
    cost: int
    costs: tuple[int, ...] = ()
    """Of the actions."""


@dataclass
class Run:
    """The searches of one run of the planner on one task.

    A verdict says how a search ended: ``solved``, ``unsolvable``, ``bounded`` (no plan within the bound),
    ``failed`` (incomplete, or a limit inside the search), ``time``, ``memory`` or ``interrupted``.
    """

    context: Context
    log: Log
    plans: PlanFiles | None
    """Where plans are written; None to keep them in memory only."""
    deadline: Deadline
    interrupts: Interrupts = field(default_factory=Interrupts)
    max_expansions: int | None = None
    own_process: bool = True
    """Whether the process may be ended where nothing else enforces the time limit: not inside someone's program."""
    text: str = ""
    """The search, in the search language."""
    best: Plan | None = None
    statistics: Statistics = field(default_factory=Statistics)
    _searched_bound: int = MAX_INT

    def execute(self, component: Component) -> int:
        """Run a search to its end and print everything that belongs to it, down to the peak memory's line."""
        start = time.process_time()
        spec = self.build(component)
        iterated = isinstance(spec, IteratedSpec)
        if self.plans is not None and iterated:
            self.plans.numbered = True
        verdict = self.iterate(spec, MAX_INT) if iterated else self.single(spec, MAX_INT)
        stamp = self.log.stamp()
        if iterated:
            self.log.search(f"Actual search time: {time.process_time() - start:.6f}s")
            self.log.search("Cumulative statistics:", stamp)
            for line in search_statistics(self.statistics):
                self.log.search(line, stamp)
        self.log.search(f"Search time: {time.process_time() - start:.6f}s", stamp)
        self.log.search(f"Total time: {self.log.search_time:.6f}s", stamp)
        return self.conclude(verdict)

    def build(self, component: Component) -> Any:
        """The native search of a component, with its models loaded; signals need not wait for that."""
        with self.last_resort():
            return self.interrupts.allowed(self.context.build)(component)

    @contextmanager
    def last_resort(self) -> Iterator[None]:
        """The process ends soon after its time is used up, even if something inside does not look at it."""
        left = self.deadline.left()
        code = ExitCode.SEARCH_OUT_OF_TIME if self.best is None else ExitCode.SEARCH_PLAN_FOUND_AND_OUT_OF_TIME
        if left is not None and self.own_process:
            _core.set_last_resort(left + LAST_RESORT_SECONDS, code)
        try:
            yield
        finally:
            if self.own_process:
                _core.set_last_resort(0, code)

    # One search

    def single(self, spec: SearchSpec, bound: int) -> str:
        """One best-first search for plans of real cost below ``bound`` and the search's own bound."""
        bound = self._searched_bound = min(bound, spec.bound)
        self.announce(spec, bound)
        left = self.deadline.left()
        # Where both limits are the same, the one from outside the search counts.
        outer_limit = left is not None and left <= spec.max_time
        max_time = max(0.0, left if outer_limit and left is not None else spec.max_time)
        native_log = self.interrupts.deferred(self.log.native) if spec.verbosity != "silent" else None
        start = time.process_time()
        space = self.context.new_space()
        for model in self.context.models:
            self.log.search(f"Model: {model.describe()}")
            if unseen := model.unseen(self.context.lifted_task("gsp")):
                self.log.search(f"Warning: the problem has what the model never saw in training: {', '.join(unseen)}")
        self.interrupts.set_alarm(None)
        with self.last_resort():
            result = self.interrupts.allowed(_core.search)(
                space,
                spec.open_list,
                f_eval=spec.f_eval,
                preferred=list(spec.preferred),
                lazy=spec.lazy,
                reopen_closed=spec.reopen_closed,
                cost_type=spec.cost_type,
                bound=None if bound == MAX_INT else bound,
                max_time=None if math.isinf(max_time) else max_time,
                max_expansions=self.expansions_left(),
                max_memory_kb=self.deadline.memory_kb(),
                batch_size=spec.batch_size,
                randomize_successors=spec.randomize_successors,
                preferred_successors_first=spec.preferred_successors_first,
                random_seed=max(0, spec.random_seed),
                log=native_log,
                progress=self.interrupts.deferred(self.log.status.progress) if self.log.status.terminal else None,
            )
        self.statistics.add(result)
        verdict = self.verdict(result, bound, outer_limit)
        self.log.search(f"Actual search time: {time.process_time() - start:.6f}s")
        if verdict == "solved":
            self.accept(result, space)
        stamp = self.log.stamp()
        for line in [*search_statistics(result), *self.memory_lines(result), *self.symmetry_lines(space)]:
            self.log.search(line, stamp)
        return verdict

    def announce(self, spec: SearchSpec, bound: int) -> None:
        self.log.start_phase()
        kind = "lazy best first search"
        if not spec.lazy:
            kind = f"best first search {'with' if spec.reopen_closed else 'without'} reopening closed nodes"
        self.log.search(f"Conducting {kind}, (real) bound = {bound}")

    def expansions_left(self) -> int | None:
        if self.max_expansions is None:
            return None
        return max(0, self.max_expansions - self.statistics.expanded)

    def verdict(self, result: _core.SearchResult, bound: int, outer_limit: bool) -> str:
        """How the search ended, and the line that says so."""
        status = result.status
        if status == "interrupted" and self.interrupts.signal is None and self.interrupts.out_of_time:
            status, outer_limit = "time", True
        if status == "exhausted":
            if not result.complete:
                return self.say("failed", "Completely explored state space -- no solution!")
            if result.bounded:
                return self.say("bounded", f"Search terminated -- no plan with cost {bound - 1} or less exists!")
            return self.say("unsolvable", "Search terminated -- no plan exists!")
        if status == "time":
            return self.say("time" if outer_limit else "failed", "Time limit reached. Abort search.")
        lines = {
            "solved": ("solved", "Solution found!"),
            "memory": ("memory", "Memory limit reached. Abort search."),
            "expansions": ("failed", "Expansion limit reached. Abort search."),
            "interrupted": ("interrupted", "Interrupted. Abort search."),
        }
        return self.say(*lines[status])

    def say(self, verdict: str, line: str) -> str:
        self.log.search(line)
        return verdict

    def memory_lines(self, result: _core.SearchResult) -> list[str]:
        return [
            f"Number of registered states: {result.registered_states}",
            f"Bytes per registered state: {result.bytes_per_state:.1f}",
        ]

    def symmetry_lines(self, space: _core.StateSpace) -> list[str]:
        if not isinstance(space, _core.LiftedSpace):
            return []
        generated, represented = space.generated_actions, space.represented_actions
        return [f"Symmetry reduction: {generated} actions generated, standing for {represented:.0f}."]

    def accept(self, result: _core.SearchResult, space: _core.StateSpace) -> None:
        """Validate a plan, print it, and write it if it is cheaper than any before."""
        actions = tuple(space.operator_name(op) for op in result.plan)
        verdict = self.context.task.validate(actions)
        if not verdict.valid:
            where = "at its end" if verdict.step is None else f"at step {verdict.step + 1}"
            raise InvalidPlanError(f"the plan of the search is wrong {where}: {verdict.reason}")
        if verdict.cost != result.plan_cost:
            raise InvalidPlanError(f"the plan costs {verdict.cost}, but the search counted {result.plan_cost}")
        costs = tuple(space.cost(op) for op in result.plan)
        for line in plan_lines(actions, costs):
            self.log.line(line)
        stamp = self.log.stamp()
        self.log.search(f"Plan length: {len(actions)} step(s).", stamp)
        self.log.search(f"Plan cost: {verdict.cost}", stamp)
        if self.best is None or verdict.cost < self.best.cost:
            self.best = Plan(actions, verdict.cost, costs)
            if self.plans is not None:
                self.plans.save(actions, verdict.cost, space.unit_cost)

    # Several searches

    def iterate(self, spec: IteratedSpec, bound: int) -> str:
        """Searches one after another, each for cheaper plans than the best so far."""
        bound = min(bound, spec.bound)
        end = time.process_time() + spec.max_time
        best_before = self.best
        verdict, index = "failed", 0
        while True:
            verdict = self.phase(spec.phases[min(index, len(spec.phases) - 1)], spec, bound)
            if verdict == "bounded" and self._searched_bound < bound:
                verdict = "failed"  # the phase looked only at a part of what this iteration looks for
            index += 1
            if self.stops(verdict, spec, bound, last=index >= len(spec.phases)):
                break
            if self.best is not None and spec.pass_bound:
                bound = min(bound, self.best.cost)
            if self.interrupts.signal is not None:
                verdict = self.say("interrupted", "Interrupted. Abort search.")
                break
            if time.process_time() >= end:
                self.log.search("Time limit reached. Abort search.")
                break
        self._searched_bound = bound
        if self.best is not best_before and verdict in ("failed", "bounded", "unsolvable"):
            return "solved"
        return verdict

    def phase(self, component: Component, spec: IteratedSpec, bound: int) -> str:
        from gsp_fd.task import LimitReached

        # Evaluators belong to one search at a time: each phase gets its own.
        self.context = self.context.fresh()
        try:
            built = self.build(component)
        except LimitReached as error:
            return self.say(error.reason, f"{error.reason.capitalize()} limit reached. Abort search.")
        self.log.search(f"Starting search: {built.description}")
        limit = bound if spec.pass_bound else MAX_INT
        verdict = self.iterate(built, limit) if isinstance(built, IteratedSpec) else self.single(built, limit)
        if self.best is not None:
            self.log.search(f"Best solution cost so far: {self.best.cost}")
        return verdict

    def stops(self, verdict: str, spec: IteratedSpec, bound: int, *, last: bool) -> bool:
        """Whether the iteration ends after a phase, with the line that says why."""
        if verdict in ("time", "memory", "interrupted"):
            return True
        if verdict in ("unsolvable", "bounded"):
            within = f" with cost {bound - 1} or less" if verdict == "bounded" else ""
            self.log.search(f"No plan{within} exists - stop searching")
            return True
        keep_on = spec.continue_on_solve if verdict == "solved" else spec.continue_on_fail
        stop = not keep_on or (last and not (verdict == "solved" and spec.repeat_last))
        found = "Solution found" if verdict == "solved" else "No solution found"
        self.log.search(f"{found} - {'stop' if stop else 'keep'} searching")
        return stop

    # The end

    def conclude(self, verdict: str) -> int:
        """The exit code, and Fast Downward's last lines."""
        if verdict == "interrupted":
            self.log.line(f"caught signal {self.interrupts.signal} -- exiting")
            return self.interrupts.exit_code
        code, line = _ENDS[verdict]
        if self.best is not None and verdict in _ENDS_WITH_PLAN:
            code = _ENDS_WITH_PLAN[verdict]
            self.log.line("Solution found.")
        self.log.line(line)
        return code


_ENDS = {
    "solved": (ExitCode.SUCCESS, "Solution found."),
    "unsolvable": (ExitCode.SEARCH_UNSOLVABLE, "Task is provably unsolvable."),
    "bounded": (
        ExitCode.SEARCH_UNSOLVABLE_WITHIN_BOUND,
        "Task is provably unsolvable within the given bound.",
    ),
    "failed": (ExitCode.SEARCH_UNSOLVED_INCOMPLETE, "Search stopped without finding a solution."),
    "time": (ExitCode.SEARCH_OUT_OF_TIME, "Time limit has been reached."),
    "memory": (ExitCode.SEARCH_OUT_OF_MEMORY, "Memory limit has been reached."),
}
_ENDS_WITH_PLAN = {
    "time": ExitCode.SEARCH_PLAN_FOUND_AND_OUT_OF_TIME,
    "memory": ExitCode.SEARCH_PLAN_FOUND_AND_OUT_OF_MEMORY,
}
