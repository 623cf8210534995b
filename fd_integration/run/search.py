"""Running a search, or several in turn: limits, validation, plan files, statistics, the exit code."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from gsp_fd import _core
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.fd_integration.language.context import UNLIMITED_SECONDS, Context, IteratedSpec, SearchSpec
from gsp_fd.fd_integration.language.features import Component
from gsp_fd.fd_integration.language.syntax import MAX_INT
from gsp_fd.fd_integration.run.interrupts import InterruptionError, Interrupts
from gsp_fd.fd_integration.run.limits import Deadline
from gsp_fd.fd_integration.run.log import Log, Statistics, plan_lines, search_statistics
from gsp_fd.fd_integration.run.options import IMPROVE_SLICE
from gsp_fd.fd_integration.run.plans import PlanFiles

IMPROVE_AT_LEAST = 5.0
"""CPU seconds for which a plan is improved by default where no limit says how much time there is."""

LAST_RESORT_SECONDS = 1.0
"""Beyond the time limit; the search itself looks at it every few milliseconds."""


class InvalidPlanError(Exception):
    """The validator rejected a plan of the search: a bug, and no plan is written."""


@dataclass(frozen=True)
class Plan:
    """A validated plan."""

    actions: tuple[str, ...]
    cost: int
    costs: tuple[int, ...]
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
    improve_seconds: float = 0.0
    """How long the plan of a search is improved afterwards: 0 for not at all, :data:`IMPROVE_SLICE` for a slice of the
    time, after every search of several."""
    own_process: bool = True
    """Whether the process may be ended where nothing else enforces the time limit: not inside someone's program."""
    text: str = ""
    """The search, in the search language."""
    best: Plan | None = None
    statistics: Statistics = field(default_factory=Statistics)
    _searched_bound: int = MAX_INT
    _slice_end: float = math.inf
    """When the phase under way has used its share of the time."""
    _improved: Plan | None = None
    """The plan that the last improvement ended with."""
    _tells_at_the_end: bool = False
    """A plan that is improved is told once, as it is in the end: tools that read logs take the first cost they meet."""
    _unit_cost: bool = True
    _validation_seconds: float = 0.0

    def execute(self, component: Component) -> int:
        """Run a search to its end and print everything that belongs to it, down to the peak memory's line."""
        self.set_last_resort()
        try:
            return self.search(component)
        finally:
            if self.own_process:
                _core.set_last_resort(0, ExitCode.SUCCESS)

    def set_last_resort(self) -> None:
        """The process ends soon after its time is used up, even if something inside does not look at it."""
        left = self.deadline.left()
        code = ExitCode.SEARCH_OUT_OF_TIME if self.best is None else ExitCode.SEARCH_PLAN_FOUND_AND_OUT_OF_TIME
        if left is not None and self.own_process:
            _core.set_last_resort(left + LAST_RESORT_SECONDS, code)

    def search(self, component: Component) -> int:
        """The search, the improvement of its plan, the statistics; returns the exit code."""
        start = time.process_time()
        spec = self.build(component)
        iterated = isinstance(spec, IteratedSpec)
        numbered = iterated and spec.numbered
        if self.plans is not None and numbered:
            self.plans.numbered = True
        self._tells_at_the_end = self.improve_seconds != 0 and not numbered
        verdict = self.iterate(spec, MAX_INT) if iterated else self.single(spec, MAX_INT)
        if verdict != "interrupted":
            self.improve(self.improvement_time())
            verdict = verdict if self.interrupts.signal is None else "interrupted"
        if self._tells_at_the_end and self.best is not None:
            self.tell(self.best)
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
        return self.interrupts.allowed(self.context.build)(component)

    # One search

    def single(self, spec: SearchSpec, bound: int) -> str:
        """One best-first search for plans of real cost below ``bound`` and the search's own bound."""
        bound = self._searched_bound = min(bound, spec.bound)
        self.announce(spec, bound)
        left = self.deadline.left()
        own = min(spec.max_time, self._slice_end - time.process_time())
        # Where both limits are the same, the one from outside the search counts.
        outer_limit = left is not None and left <= own
        max_time = max(0.0, left if outer_limit and left is not None else own)
        native_log = self.interrupts.deferred(self.log.native) if spec.verbosity != "silent" else None
        start = time.process_time()
        space = self.context.new_space()
        for model in self.context.models:
            from gsp_fd.inference import clashing_runtimes

            self.log.search(f"Model: {model.describe()}")
            if clash := clashing_runtimes():
                self.log.search(f"Warning: {clash}")
            if unseen := model.unseen(self.context.lifted_task("gsp")):
                self.log.search(f"Warning: the problem has what the model never saw in training: {', '.join(unseen)}")
        self.interrupts.set_alarm(None)
        result = self.interrupts.allowed(_core.search)(
            space,
            spec.open_list,
            f_eval=spec.f_eval,
            preferred=list(spec.preferred),
            dead_ends=spec.dead_ends,
            lazy=spec.lazy,
            reopen_closed=spec.reopen_closed,
            cost_type=spec.cost_type,
            bound=None if bound == MAX_INT else bound,
            max_time=None if math.isinf(max_time) else max_time,
            max_expansions=self.expansions_left(spec),
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
        kind = spec.kind or "lazy best first search"
        if spec.kind is None and not spec.lazy:
            kind = f"best first search {'with' if spec.reopen_closed else 'without'} reopening closed nodes"
        self.log.search(f"Conducting {kind}, (real) bound = {bound}")

    def expansions_left(self, spec: SearchSpec) -> int | None:
        own = None if spec.max_expansions == MAX_INT else spec.max_expansions
        if self.max_expansions is None:
            return own
        left = max(0, self.max_expansions - self.statistics.expanded)
        return left if own is None else min(left, own)

    def verdict(self, result: _core.SearchResult, bound: int, outer_limit: bool) -> str:
        """How the search ended, and the line that says so."""
        status = self.interrupts.cause(result.status)
        outer_limit = outer_limit or status != result.status
        if status == "exhausted":
            if not result.complete:
                return self.say("failed", "Completely explored state space -- no solution!")
            if result.bounded:
                return self.say("bounded", f"Search terminated -- no plan with cost {bound - 1} or less exists!")
            return self.say("unsolvable", "Search terminated -- no plan exists!")
        if status == "solved":
            return self.say("solved", "Solution found!")
        if status == "expansions":
            return self.say("failed", "Expansion limit reached. Abort search.")
        self.log.search(_STOPS[status])
        return "failed" if status == "time" and not outer_limit else status

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
        plan = self.validated([space.operator_name(op) for op in result.plan], [space.cost(op) for op in result.plan])
        for line in plan_lines(plan.actions, plan.costs):
            self.log.line(line)
        if not self._tells_at_the_end:
            self.tell(plan)
        self._unit_cost = space.unit_cost
        if self.best is None or plan.cost < self.best.cost:
            self.save(plan)

    def validated(self, names: Sequence[str], costs: Sequence[int]) -> Plan:
        """The plan, if it is right and costs what was counted."""
        start = time.process_time()
        actions = tuple(names)
        verdict = self.interrupts.allowed(self.context.task.validate)(actions)
        if not verdict.valid:
            where = "at its end" if verdict.step is None else f"at step {verdict.step + 1}"
            raise InvalidPlanError(f"the plan of the search is wrong {where}: {verdict.reason}")
        if verdict.cost != sum(costs):
            raise InvalidPlanError(f"the plan costs {verdict.cost}, but the search counted {sum(costs)}")
        self._validation_seconds = time.process_time() - start
        return Plan(actions, verdict.cost, tuple(costs))

    def tell(self, plan: Plan) -> None:
        stamp = self.log.stamp()
        self.log.search(f"Plan length: {len(plan.actions)} step(s).", stamp)
        self.log.search(f"Plan cost: {plan.cost}", stamp)

    def save(self, plan: Plan) -> None:
        self.best = plan
        if self.plans is not None:
            self.plans.save(plan.actions, plan.cost, self._unit_cost)
        self.set_last_resort()

    # Better plans from the best one

    def improvement_time(self) -> float:
        """What was asked for; by default half of the time that is left, or without a limit as much as was used so far,
        if that is not very little."""
        if self.improve_seconds != IMPROVE_SLICE:
            return self.improve_seconds
        left = self.deadline.left()
        return max(IMPROVE_AT_LEAST, time.process_time()) if left is None else left / 2

    def improve(self, seconds: float = math.inf) -> str:
        """Make the best plan better, until nothing helps any more or the time is used up; without a plan, do nothing.

        Every better plan is validated, told in the log and written like a plan of a search; among numbered plans, only
        if it is cheaper and not just shorter. Returns ``done``, ``time``, ``memory`` or ``interrupted``.
        """
        if self.best is None or self.best is self._improved or seconds == 0:
            return "done"
        first = self.best
        left = self.deadline.left()
        native = self.improvable()
        if native is None:
            return "done"
        if left is not None:
            seconds = min(seconds, left - 2 * self._validation_seconds)
        limited = "" if math.isinf(seconds) else f", for up to {seconds:.1f}s"
        self.log.search(f"Improving the plan of cost {first.cost}{limited}")
        self.interrupts.set_alarm(None)
        try:
            status = self.interrupts.allowed(_core.improve_plan)(
                native,
                first.actions,
                self.interrupts.deferred(self.improved),
                max_time=None if math.isinf(seconds) else max(0.0, seconds),
                max_memory_kb=self.deadline.memory_kb(),
            )
        except InterruptionError:  # while a better plan was validated
            status = "interrupted"
        if self.best is not first and not self._tells_at_the_end:
            self.tell(self.best)
        self._improved = self.best
        return status

    def improvable(self) -> _core.LiftedTask | _core.GroundTask | None:
        """The task in a form in which plans can be improved; None if that is too large."""
        from gsp_fd.task import LimitReached

        task = self.context.task
        if task.is_lifted and task.native_lifted().strips:
            return task.native_lifted()
        try:
            return task.ground_if_small(*([self.context.limits()] if self.context.limits else []))
        except LimitReached:
            return None

    def improved(self, method: str, actions: list[str], costs: list[int], seconds: float) -> None:
        """Take a better plan from the native core."""
        assert self.best is not None
        before, plan = self.best, self.validated(actions, costs)
        steps = f"{len(before.actions)} -> {len(plan.actions)} steps, cost {before.cost} -> {plan.cost}"
        self.log.search(f"Plan improved: {steps}, by {method}, {seconds:.2f}s")
        if plan.cost < before.cost or self.plans is None or not self.plans.numbered:
            self.save(plan)
        else:
            self.best = plan

    # Several searches

    def iterate(self, spec: IteratedSpec, bound: int) -> str:
        """Searches one after another, each for cheaper plans than the best so far."""
        bound = min(bound, spec.bound)
        end = time.process_time() + spec.max_time
        best_before = self.best
        verdict, index = "failed", 0
        while True:
            verdict = self.phase(min(index, len(spec.phases) - 1), spec, bound)
            if verdict == "bounded" and self._searched_bound < bound:
                verdict = "failed"  # the phase looked only at a part of what this iteration looks for
            index += 1
            if verdict == "solved" and spec.numbered and self.improve_seconds == IMPROVE_SLICE:
                self.improve(self.improvement_time())
            if self.stops(verdict, spec, bound, last=index >= len(spec.phases)):
                break
            if self.best is not None and spec.pass_bound:
                bound = min(bound, self.best.cost)
            if self.interrupts.signal is not None:
                verdict = self.say("interrupted", _STOPS["interrupted"])
                break
            if time.process_time() >= end:
                self.log.search(_STOPS["time"])
                break
        self._searched_bound = bound
        if self.best is not best_before and verdict in ("failed", "bounded", "unsolvable"):
            return "solved"
        return verdict

    def phase(self, index: int, spec: IteratedSpec, bound: int) -> str:
        from gsp_fd.task import LimitReached

        component = spec.phases[index]
        try:
            self.context = self.interrupts.allowed(self.context.for_search)(component)
            built = self.build(component)
        except LimitReached as error:
            reason = self.interrupts.cause(error.reason)
            return self.say(reason, _STOPS[reason])
        limit = bound if spec.pass_bound else MAX_INT
        with self.time_slice(spec, index) as seconds:
            limited = "" if seconds is None else f", for up to {seconds:.1f}s"
            self.log.search(f"Starting search: {built.description}{limited}")
            verdict = self.iterate(built, limit) if isinstance(built, IteratedSpec) else self.single(built, limit)
        if self.best is not None:
            self.log.search(f"Best solution cost so far: {self.best.cost}")
        return verdict

    @contextmanager
    def time_slice(self, spec: IteratedSpec, index: int) -> Iterator[float | None]:
        """Limits a phase to its share of the time, if it has one: CPU seconds."""
        seconds, before = None, self._slice_end
        if index < len(spec.shares):
            left = self.deadline.left()
            seconds = spec.shares[index] * (UNLIMITED_SECONDS if left is None else left)
            self._slice_end = min(before, time.process_time() + seconds)
        try:
            yield seconds
        finally:
            self._slice_end = before

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


_STOPS = {
    "time": "Time limit reached. Abort search.",
    "memory": "Memory limit reached. Abort search.",
    "interrupted": "Interrupted. Abort search.",
}

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
