"""``python -m tests.fuzz.differential``: random tasks, our searches against Fast Downward; without end unless told."""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path
from typing import Any

import cli_support
import sas_reference

from gsp_fd import _core
from gsp_fd.common.errors import InputError
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.task import Task, load_pddl
from gsp_fd.validate import parse_plan

from . import fast_downward
from .adl_tasks import adl_task
from .campaign import campaign
from .programs import driver_run
from .random_tasks import pddl_task, sas_task
from .runner import Case, Wrong

HEURISTICS = ("blind()", "hmax()", "ff()", "add()", "goalcount()", "ff(transform=adapt_costs(one))")
OPTIMAL = tuple(f"astar({h})" for h in ("blind()", "hmax()", "max([blind(), hmax()])"))
SATISFICING = (
    "astar({h})",
    "eager_greedy([{h}])",
    "eager_wastar([{h}], w=3)",
    "lazy_greedy([{h}])",
    "lazy_wastar([{h}], w=2)",
    "let(h, {h}, lazy_greedy([h, goalcount()], preferred=[h]))",
    "let(h, {h}, eager_greedy([h, ff()], preferred=[h], boost=100))",
    "lazy_greedy([{h}], randomize_successors=true, random_seed=4)",
    "let(h, ff(), lazy_wastar([h], preferred=[h], preferred_successors_first=true, w=5, cost_type=one))",
    "eager(tiebreaking([{h}, g()], unsafe_pruning=false), reopen_closed=true)",
    "eager(alt([single({h}), single(sum([g(), {h}]))]), cost_type=plusone)",
    "lazy(tiebreaking([sum([g(), weight({h}, 2)]), {h}], unsafe_pruning=false))",
)
ANYTIME = "iterated([lazy_greedy([{h}]), eager_wastar([{h}], w=2), astar(blind())], repeat_last=true)"
SEARCHES_PER_TASK = 6
FILES = Path("domain.pddl"), Path("problem.pddl")
MAX_STATES = 150
"""With more of them, only Fast Downward says what is optimal: the reference implementation is slow."""
MAX_LIFTED_EXPANSIONS = 20_000
"""Where a search needs more, it says nothing."""


def searches(rng: random.Random) -> list[str]:
    """All arguments of some runs: optimal searches, others, bounds, batches."""
    runs = []
    for _ in range(SEARCHES_PER_TASK):
        kind, h = rng.random(), rng.choice(HEURISTICS)
        text = rng.choice(OPTIMAL) if kind < 0.4 else ANYTIME if kind < 0.5 else rng.choice(SATISFICING)
        text = text.format(h=h) if "{h}" in text else text
        if rng.random() < 0.3 and "let(" not in text:
            text = f"{text[:-1]}, bound={rng.choice((0, 1, 2, 3, 5, 10, 1000, 2**31 - 1))})"
        batch = f" --batch-size {rng.choice((2, 7))}" if rng.random() < 0.2 else ""
        runs.append(f"{text}{batch}")
    return runs


def check(arguments: list[str], optimum: int | None, validated: Any) -> None:
    """One run of ours: its plan must be valid, and its exit code no false claim."""
    search = arguments[arguments.index("--search") + 1]
    code, _, messages = driver_run(arguments)
    bound = int(found[1]) if (found := re.search(r", bound=(\d+)\)$", search)) else 2**31 - 1
    plans = sorted(Path().glob("sas_plan*"))
    says = f"{search}: exit code {code}, optimal cost {optimum}: {messages.strip()}"
    costs = [validated(parse_plan(path.read_text(), str(path))) for path in plans]
    if any(cost is None for cost in costs):
        raise Wrong(f"{says}: a plan is invalid")
    if any(optimum is None or cost < optimum or cost >= bound for cost in costs):
        raise Wrong(f"{says}: plans of cost {costs}")
    solvable = optimum is not None and optimum < bound
    proof_ok = {
        ExitCode.SUCCESS: bool(costs),
        ExitCode.SEARCH_UNSOLVABLE: optimum is None,
        ExitCode.SEARCH_UNSOLVABLE_WITHIN_BOUND: not solvable,
        ExitCode.SEARCH_UNSOLVED_INCOMPLETE: not solvable or "goalcount" in search or "bound" in search,
        # A walk at random may find no end where there are many states, and what has no plan may have more than fit.
        ExitCode.SEARCH_OUT_OF_MEMORY: optimum is None or "randomize_successors=true" in search,
        ExitCode.DRIVER_INPUT_ERROR: "--batch-size" in arguments,
        ExitCode.SEARCH_INPUT_ERROR: "--batch-size" in arguments,
    }
    if not proof_ok.get(ExitCode(code), False):
        raise Wrong(f"{says}: a false claim")
    if code == ExitCode.SUCCESS and (search.startswith(OPTIMAL) or "iterated" in search) and min(costs) != optimum:
        raise Wrong(f"{says}: plans of cost {costs} are not optimal")
    for path in plans:
        path.unlink()


class SasTasks:
    """random SAS tasks, also against the reference implementation of the tests"""

    name = "sas-tasks"

    def case(self, rng: random.Random) -> Case:
        return Case(searches(rng), {"output.sas": sas_reference.write(sas_task(rng))})

    def read(self, case: Case) -> bool:
        task = sas_reference.read(case.files["output.sas"])
        optimum = fast_downward.optimum()
        costs = sas_reference.explore(task, MAX_STATES)
        if costs is not None and (reference := sas_reference.optimal_cost(task, costs)) != optimum:
            raise Wrong(f"Fast Downward says {optimum}, the reference says {reference}")
        numbers = {operator.name: number for number, operator in enumerate(task.operators)}

        def validated(plan: list[str]) -> int | None:
            state, cost = sas_reference.initial(task), 0
            for name in plan:
                operator = numbers[name]
                if operator not in sas_reference.applicable(task, state):
                    return None
                state = sas_reference.successor(task, state, operator)
                cost += task.operators[operator].cost
            return cost if sas_reference.holds(state, task.goal) else None

        for run in case.arguments:
            search, *batch = run.split(" --batch-size ")
            check(["output.sas", *(["--batch-size", *batch] if batch else []), "--search", search], optimum, validated)
        return optimum is not None


class PddlTasks:
    """random PDDL tasks, grounded by us and by Fast Downward's translator"""

    name = "pddl-tasks"

    def case(self, rng: random.Random) -> Case:
        domain, problem = pddl_task(rng)
        return Case(searches(rng), {"domain.pddl": domain.encode(), "problem.pddl": problem.encode()})

    def read(self, case: Case) -> bool:
        return self.compared(case, load_pddl(*FILES), fast_downward.translate(*FILES)) is not None

    def compared(self, case: Case, task: Task, translated: ExitCode) -> int | None:
        """Our searches against the optimal cost, which is returned; None if there is no plan."""
        if translated != ExitCode.SUCCESS:
            raise RuntimeError(f"Fast Downward's translator: {translated!r}")
        optimum = fast_downward.optimum()

        def validated(plan: list[str]) -> int | None:
            verdict = task.validate(plan)
            return verdict.cost if verdict.valid else None

        for run in case.arguments:
            search, *batch = run.split(" --batch-size ")
            more = ["--batch-size", *batch] if batch else []
            check([*map(str, FILES), *more, "--search", search], optimum, validated)
        return optimum


class AdlTasks(PddlTasks):
    """random tasks with quantifiers, conditional effects and derived predicates; searches on lifted states as well"""

    name = "adl-tasks"

    def case(self, rng: random.Random) -> Case:
        domain, problem = adl_task(rng)
        return Case(searches(rng)[:2], {"domain.pddl": domain.encode(), "problem.pddl": problem.encode()})

    def read(self, case: Case) -> bool:
        # Derived atoms that depend on their own negation are refused; by the translator even if an atom that is always
        # true keeps them from doing so.
        translated = fast_downward.translate(*FILES)
        refused = translated == ExitCode.TRANSLATE_INPUT_ERROR
        try:
            task = load_pddl(*FILES)
        except InputError:
            if not refused:
                raise
        if refused or translated == ExitCode.TRANSLATE_OUT_OF_TIME:
            return False
        optimum = self.compared(case, task, translated)
        for symmetry in (False, True) if task.is_lifted else ():
            for kind in ("blind", "hmax"):
                space = _core.LiftedSpace(task.native_lifted(), symmetry, relevant_only=symmetry)
                found = cli_support.astar(space, task.heuristic(kind), MAX_LIFTED_EXPANSIONS)
                if found.status == "expansions":
                    continue
                plan = [space.operator_name(operator) for operator in found.plan]
                if (found.plan_cost if found.status == "solved" else None) != optimum:
                    raise Wrong(f"lifted, {kind}, symmetry {symmetry}: {found.status}, optimal cost {optimum}")
                if found.status == "solved" and not task.validate(plan).valid:
                    raise Wrong(f"lifted, {kind}, symmetry {symmetry}: the plan is invalid")
        return optimum is not None


TARGETS = {kind.name: kind for kind in (SasTasks, PddlTasks, AdlTasks)}

if __name__ == "__main__":
    sys.exit(campaign("differential", "All our searches against Fast Downward on random tasks.", TARGETS, default=0))
