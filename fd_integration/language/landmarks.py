"""Rows of the registry: landmark factories, and the sum of the landmarks that must still become true."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gsp_fd import _core
from gsp_fd.fd_integration.language.context import Context
from gsp_fd.fd_integration.language.evaluators import AXIOMS_PARAMETER, VERBOSITY, heuristic_parameters
from gsp_fd.fd_integration.language.features import BOOL, EVALUATOR, LANDMARK_FACTORY, Feature, Parameter

_VERBOSITY = Parameter("verbosity", VERBOSITY, "normal", "how much to print")
_FACTORY = Parameter("lm_factory", LANDMARK_FACTORY, None, "finds the landmarks")


@dataclass(frozen=True)
class LandmarkFactory:
    """Which landmarks to find, and which orders between them."""

    disjunctive: bool
    orders: bool
    reasonable: bool = False


FACTORIES = (
    Feature(
        "lm_rhw",
        LANDMARK_FACTORY,
        "RHW landmarks",
        (
            Parameter("disjunctive_landmarks", BOOL, "true", "keep disjunctive landmarks"),
            Parameter("use_orders", BOOL, "true", "use orders between landmarks"),
            _VERBOSITY,
        ),
        lambda context, values: LandmarkFactory(values["disjunctive_landmarks"], values["use_orders"]),
        "Backchaining from the goals, with disjunctive landmarks and domain transition graphs: Richter, Helmert and "
        "Westphal (AAAI 2008).",
        (("conditional effects", "supported"),),
    ),
    Feature(
        "lm_reasonable_orders_hps",
        LANDMARK_FACTORY,
        "HPS orders",
        (_FACTORY, _VERBOSITY),
        lambda context, values: LandmarkFactory(values["lm_factory"].disjunctive, values["lm_factory"].orders, True),
        "The landmarks of another factory, with the reasonable orders of Hoffmann, Porteous and Sebastia (JAIR 2004).",
        (("conditional effects", "supported"),),
    ),
)


def _landmark_sum(context: Context, values: dict[str, Any]) -> _core.Heuristic:
    if values["transform"] is not None:
        context = context.with_cost_type(values["transform"])
    factory: LandmarkFactory = values["lm_factory"]
    log = context.log if values["verbosity"] != "silent" else lambda line: None
    landmarks = context.landmarks(
        log,
        disjunctive_landmarks=factory.disjunctive,
        use_orders=factory.orders,
        reasonable_orders=factory.reasonable,
        axioms=values["axioms"],
    )
    name = values["description"]
    if landmarks is None:
        return _core.goal_sum(context.task.native_lifted(), context.cost_type, name)
    chosen = {option: values[option] for option in ("pref", "prog_goal", "prog_gn", "prog_r")}
    return _core.landmark_sum(landmarks, context.cost_type, name, **chosen)


LANDMARK_SUM = Feature(
    "landmark_sum",
    EVALUATOR,
    "Landmark sum heuristic",
    (
        _FACTORY,
        Parameter("pref", BOOL, "false", "prefer operators that make a landmark true which must become true"),
        Parameter("prog_goal", BOOL, "true", "goals that do not hold must become true"),
        Parameter("prog_gn", BOOL, "true", "so must what is needed right before a landmark that was never true"),
        Parameter("prog_r", BOOL, "true", "so must what is reasonably ordered after a landmark that was never true"),
        *heuristic_parameters("landmark_sum_heuristic", before_transform=(AXIOMS_PARAMETER,)),
    ),
    _landmark_sum,
    "Costs of the landmarks that must still become true on every path to the state, each at that of its cheapest "
    "achiever. Of a task with more than a million ground actions, only the goals are taken for landmarks.",
    (
        ("admissible", "no"),
        ("consistent", "no"),
        ("safe", "yes, for tasks without axioms"),
        ("preferred operators", "yes, with pref=true"),
        ("action costs", "supported"),
        ("conditional effects", "supported"),
        ("axioms", "supported"),
    ),
    wants_ground=True,
)
