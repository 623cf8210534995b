"""An engine for unified-planning: ``OneshotPlanner(name="gsp")`` and ``AnytimePlanner(name="gsp")``.

Register it by :func:`register`, or in ``up.ini``::

    [engine gsp]
    module_name: gsp_fd.fd_integration.unified_planning
    class_name: GSPEngine
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeGuard

from unified_planning.engines import (
    AnytimeGuarantee,
    Credits,
    OptimalityGuarantee,
    PDDLAnytimePlanner,
    PlanGenerationResultStatus,
)
from unified_planning.environment import get_environment
from unified_planning.model import ProblemKind

from gsp_fd.common.errors import InputError
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.common.processes import main_code
from gsp_fd.fd_integration.language.aliases import ALIASES

AUTO = "auto"
_WITHOUT_MODEL = {"policy": "gbfs"}
"""What a search by its short name becomes without a model."""

# The first argument is for the log.
_FIRST = """\
print(sys.argv.pop(1), flush=True)
from signal import SIGTERM
from gsp_fd.common.guard import die_with_parent
die_with_parent(SIGTERM)
"""
_START = main_code("gsp_fd.fd_integration.driver", _FIRST)

_STATUS = {
    ExitCode.TRANSLATE_UNSOLVABLE: PlanGenerationResultStatus.UNSOLVABLE_PROVEN,
    ExitCode.SEARCH_UNSOLVABLE: PlanGenerationResultStatus.UNSOLVABLE_PROVEN,
    ExitCode.SEARCH_UNSOLVED_INCOMPLETE: PlanGenerationResultStatus.UNSOLVABLE_INCOMPLETELY,
    ExitCode.SEARCH_UNSOLVABLE_WITHIN_BOUND: PlanGenerationResultStatus.UNSOLVABLE_INCOMPLETELY,
    ExitCode.TRANSLATE_OUT_OF_MEMORY: PlanGenerationResultStatus.MEMOUT,
    ExitCode.TRANSLATE_OUT_OF_TIME: PlanGenerationResultStatus.TIMEOUT,
    ExitCode.SEARCH_OUT_OF_MEMORY: PlanGenerationResultStatus.MEMOUT,
    ExitCode.SEARCH_OUT_OF_TIME: PlanGenerationResultStatus.TIMEOUT,
    ExitCode.SEARCH_OUT_OF_MEMORY_AND_TIME: PlanGenerationResultStatus.MEMOUT,
    ExitCode.SEARCH_UNSUPPORTED: PlanGenerationResultStatus.UNSUPPORTED_PROBLEM,
    ExitCode.DRIVER_UNSUPPORTED: PlanGenerationResultStatus.UNSUPPORTED_PROBLEM,
}


def register(environment: Any = None, name: str = "gsp") -> None:
    """Make the engine known to an environment of unified-planning (default: the global one)."""
    factory = (environment or get_environment()).factory
    if name not in factory.engines:
        factory.add_engine(name, __name__, GSPEngine.__name__)


class GSPEngine(PDDLAnytimePlanner):  # type: ignore[misc]
    """What gsp-plan does by default, or another search; the log of a result says which model was used, or why none was.

    :param model: name, .onnx file or run of gsp-train, ``auto`` for the one that fits if there is one, None for none.
    :param search: None for the default; ``wastar``, ``gbfs``, ``policy`` or a search in Fast Downward's language.
    :param weight: the weight of the heuristic in ``wastar`` (default 2); alone it means ``wastar``.
    :param batch_size: how many open nodes are evaluated together (default 1).
    """

    def __init__(
        self,
        model: str | None = AUTO,
        search: str | None = None,
        weight: float | None = None,
        batch_size: int | None = None,
    ) -> None:
        super().__init__()
        self._model = model
        self._search = "wastar" if search is None and weight is not None else search
        self._weight = weight
        self._batch_size = batch_size

    @property
    def name(self) -> str:
        """The name that results carry."""
        return "GSP"

    @staticmethod
    def get_credits(**kwargs: Any) -> Credits:
        """Who made it."""
        return Credits(
            name="GSP",
            author="the authors of gsp-fd",
            contact="",
            website="",
            license="MIT",
            short_description="A planner with learned heuristics behind Fast Downward's interface.",
            long_description="Plans with a Q-function learned for the domain, or as LAMA does where there is none.",
        )

    @staticmethod
    def supported_kind() -> ProblemKind:
        """Classical planning with everything that Fast Downward's translator takes, and integer action costs."""
        kind = ProblemKind(version=2)
        kind.set_problem_class("ACTION_BASED")
        for value in ("FLAT_TYPING", "HIERARCHICAL_TYPING"):
            kind.set_typing(value)
        for value in ("NEGATIVE", "DISJUNCTIVE", "EXISTENTIAL", "UNIVERSAL"):
            kind.set_conditions_kind(f"{value}_CONDITIONS")
        kind.set_conditions_kind("EQUALITIES")
        kind.set_effects_kind("CONDITIONAL_EFFECTS")
        kind.set_effects_kind("STATIC_FLUENTS_IN_BOOLEAN_ASSIGNMENTS")
        kind.set_effects_kind("FLUENTS_IN_BOOLEAN_ASSIGNMENTS")
        kind.set_effects_kind("FORALL_EFFECTS")
        kind.set_quality_metrics("ACTIONS_COST")
        kind.set_quality_metrics("PLAN_LENGTH")
        kind.set_actions_cost_kind("STATIC_FLUENTS_IN_ACTIONS_COST")
        kind.set_actions_cost_kind("INT_NUMBERS_IN_ACTIONS_COST")
        return kind

    @staticmethod
    def supports(problem_kind: ProblemKind) -> bool:
        """Whether problems of this kind can be solved."""
        return bool(problem_kind <= GSPEngine.supported_kind())

    @staticmethod
    def satisfies(optimality_guarantee: OptimalityGuarantee) -> bool:
        """Plans need not be optimal."""
        return bool(optimality_guarantee == OptimalityGuarantee.SATISFICING)

    @staticmethod
    def ensures(anytime_guarantee: AnytimeGuarantee) -> bool:
        """Every plan is cheaper than the one before."""
        return bool(anytime_guarantee == AnytimeGuarantee.INCREASING_QUALITY)

    # The command

    def _get_cmd(self, domain_filename: str, problem_filename: str, plan_filename: str) -> list[str]:
        return self._command([domain_filename, problem_filename], plan_filename, anytime=False)

    def _get_anytime_cmd(self, domain_filename: str, problem_filename: str, plan_filename: str) -> list[str]:
        return self._command([domain_filename, problem_filename], plan_filename, anytime=True)

    def _command(self, files: Sequence[str], plan: str, *, anytime: bool) -> list[str]:
        if anytime and not _is_expression(self._search):
            search, model, note = self._default("gsp-anytime")
        elif self._search is None:
            search, model, note = self._default("gsp")
        else:
            model, note = self._fitting_model(self._search, Path(files[0]), Path(files[1]))
            search = self._named_search(self._search, model)
        options = [] if self._batch_size is None else ["--batch-size", str(self._batch_size)]
        if model is not None:
            options += ["--model", str(model)]
        return [sys.executable, "-c", _START, note, "--plan-file", plan, *files, *search, *options]

    def _default(self, alias: str) -> tuple[list[str], str | None, str]:
        """An alias that finds a model itself, and says so; its options, the model, and a line for the log."""
        if self._model is None:
            return ["--alias", ALIASES[alias].without_model], None, "No model was asked for."
        return ["--alias", alias], self._model, f"Model: {self._model}"

    def _fitting_model(self, search: str, domain: Path, problem: Path) -> tuple[str | None, str]:
        """The model to use, if any, and a line for the log that says why."""
        if self._model is None or (_is_expression(search) and "gsp" not in search.lower()):
            return None, "No model was asked for."
        if self._model != AUTO:
            return self._model, f"Model: {self._model}"
        reason = _why_no_model_fits(domain, problem)
        return (AUTO, "Model: the one that fits.") if reason is None else (None, f"Using hFF: {reason}")

    def _named_search(self, search: str, model: str | None) -> list[str]:
        if _is_expression(search):
            return ["--search", search]
        weight = [] if self._weight is None else ["--weight", f"{self._weight:g}"]
        if model is None:
            return ["--heuristic", "hff", "--search", _WITHOUT_MODEL.get(search, search), *weight]
        return ["--heuristic", "gsp", "--search", search, *weight]

    # What it says

    def _result_status(
        self, problem: Any, plan: Any, retval: int, log_messages: Any = None
    ) -> PlanGenerationResultStatus:
        if retval in (0, 1, 2, 3):
            # Anytime searches number their plan files: there the last plan comes from the log.
            solved = plan is not None
            status = PlanGenerationResultStatus
            return status.SOLVED_SATISFICING if solved else status.UNSOLVABLE_INCOMPLETELY
        return _STATUS.get(retval, PlanGenerationResultStatus.INTERNAL_ERROR)  # type: ignore[call-overload]

    def _starting_plan_str(self) -> str:
        return "Solution found!"

    def _ending_plan_str(self) -> str:
        return "step(s)."

    def _skip_plan_line(self, plan_line: str) -> bool:
        return plan_line.startswith("[t=")

    def _parse_plan_line(self, plan_line: str) -> str:
        return f"({plan_line.rpartition('(')[0].strip()})"


def _is_expression(search: str | None) -> TypeGuard[str]:
    return search is not None and "(" in search


def _why_no_model_fits(domain_file: Path, problem_file: Path) -> str | None:
    """None if some model can be used for the task, otherwise the reason."""
    from gsp_fd.model_library import find_model
    from gsp_fd.pddl import lifted_task, read_domain, read_problem

    try:
        domain = read_domain(domain_file)
        task = lifted_task(domain, read_problem(problem_file, domain))
        find_model(AUTO, task)
    except InputError as error:
        return error.message
    return None
