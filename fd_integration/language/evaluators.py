"""Rows of the registry: heuristics of the native core, and expressions over them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gsp_fd import _core
from gsp_fd.fd_integration.language.context import DEFAULT_AXIOMS, Context
from gsp_fd.fd_integration.language.features import (
    BOOL,
    EVALUATOR,
    INT,
    NONE,
    STRING,
    TRANSFORM,
    EnumType,
    Feature,
    ListType,
    Parameter,
    Type,
)

COST_TYPES = EnumType(
    {
        "normal": "every action at its real cost",
        "one": "every action at cost 1",
        "plusone": "every action at its real cost + 1, except that a task with unit costs keeps them",
    }
)
VERBOSITY = EnumType(
    {
        "silent": "only the most basic output",
        "normal": "what is needed to follow the progress",
        "verbose": "the same as normal here",
        "debug": "the same as normal here",
    }
)
AXIOMS = EnumType(
    {
        "approximate_negative": "negated derived facts are free",
        "approximate_negative_cycles": "negated axioms tell when they hold; free where derived facts depend on each "
        "other in a circle",
    }
)
EVALUATORS = ListType(EVALUATOR, nonempty=True)


def labels(name: str) -> tuple[Parameter, ...]:
    """The parameters that only matter for the log."""
    return (
        Parameter("description", STRING, f'"{name}"', "name in the log"),
        Parameter("verbosity", VERBOSITY, "normal", "how much to print"),
    )


AXIOMS_PARAMETER = Parameter("axioms", AXIOMS, DEFAULT_AXIOMS, "negated derived facts")


def heuristic_parameters(name: str, before_transform: tuple[Parameter, ...] = ()) -> tuple[Parameter, ...]:
    """The parameters that all heuristics have."""
    return (
        Parameter("cache_estimates", BOOL, "true", "accepted; values are always kept"),
        *labels(name),
        *before_transform,
        Parameter("transform", TRANSFORM, NONE, "adapt_costs(…), the older form of eval_modify_costs"),
    )


def _heuristic(
    name: str,
    title: str,
    help: str,
    *,
    short: tuple[str, ...],
    axioms: bool = False,
    costs: bool = True,
    **promises: str,
) -> Feature:
    """A heuristic of the native core, which knows it by the same name."""

    def build(context: Context, values: dict[str, Any]) -> _core.Heuristic:
        if values["transform"] is not None:
            context = context.with_cost_type(values["transform"])
        return context.heuristic(name, values["description"], values.get("axioms", DEFAULT_AXIOMS))

    parameters = ((AXIOMS_PARAMETER,) if axioms else ()) + heuristic_parameters(name)
    properties = {key.replace("_", " "): value for key, value in promises.items()}
    properties |= {
        "action costs": "supported" if costs else "ignored by design",
        "conditional effects": "supported",
        "axioms": "supported (negated derived atoms are taken to be true)" if axioms else "supported",
    }
    return Feature(
        name,
        EVALUATOR,
        title,
        parameters,
        build,
        help,
        tuple(properties.items()),
        wants_ground=True,
        short_names=short,
    )


def expression(
    name: str,
    title: str,
    help: str,
    build: Callable[[Context, dict[str, Any]], _core.Evaluator],
    *parameters: Parameter,
) -> Feature:
    """A row for an expression over evaluators."""
    return Feature(name, EVALUATOR, title, (*parameters, *labels(name)), build, help)


HEURISTICS = (
    _heuristic(
        "ff",
        "FF heuristic",
        "Cost of a relaxed plan that follows the best supporters by add.",
        short=("hff", "ff"),
        axioms=True,
        admissible="no",
        consistent="no",
        safe="yes",
        preferred_operators="yes",
    ),
    _heuristic(
        "hmax",
        "Max heuristic",
        "Relaxed cost of the most expensive goal.",
        short=("hmax",),
        axioms=True,
        admissible="yes, for tasks without axioms",
        consistent="yes, for tasks without axioms",
        safe="yes",
        preferred_operators="no",
    ),
    _heuristic(
        "add",
        "Additive heuristic",
        "Sum of the relaxed costs of the goals.",
        short=("hadd", "add"),
        axioms=True,
        admissible="no",
        consistent="no",
        safe="yes",
        preferred_operators="yes",
    ),
    _heuristic(
        "goalcount",
        "Goal count heuristic",
        "Number of goals that do not hold.",
        short=("goalcount",),
        costs=False,
        admissible="no",
        consistent="no",
        safe="yes",
        preferred_operators="no",
    ),
    _heuristic(
        "blind",
        "Blind heuristic",
        "0 in goal states, the cost of the cheapest action elsewhere.",
        short=("blind",),
        admissible="yes",
        consistent="yes",
        safe="yes",
        preferred_operators="no",
    ),
)

_EVALS = Parameter("evals", EVALUATORS, None, "at least one evaluator")

EXPRESSIONS = (
    expression("g", "g-value", "Cost of the path to the state.", lambda context, values: _core.g()),
    expression(
        "const",
        "Constant",
        "The same number for every state.",
        lambda context, values: _core.const(values["value"]),
        Parameter("value", Type("int", 0), "1", "the number"),
    ),
    expression(
        "weight",
        "Weighted evaluator",
        "An evaluator times a number.",
        lambda context, values: _core.weight(values["eval"], values["weight"]),
        Parameter("eval", EVALUATOR, None, "evaluator"),
        Parameter("weight", INT, "1", "factor"),
    ),
    expression(
        "sum",
        "Sum",
        "The sum of evaluators.",
        lambda context, values: _core.sum(values["evals"]),
        _EVALS,
    ),
    expression(
        "max",
        "Maximum",
        "The maximum of evaluators.",
        lambda context, values: _core.max(values["evals"]),
        _EVALS,
    ),
)

COST_ADJUSTMENTS = (
    Feature(
        "eval_modify_costs",
        EVALUATOR,
        "Evaluator under other costs",
        (
            Parameter("nested", EVALUATOR, None, "the evaluator", deferred=True),
            Parameter("cost_type", COST_TYPES, "normal", "the costs it sees"),
        ),
        lambda context, values: context.with_cost_type(values["cost_type"]).build(values["nested"]),
        "An evaluator that sees other action costs than the search.",
    ),
    Feature(
        "adapt_costs",
        TRANSFORM,
        "Task under other costs",
        (Parameter("cost_type", COST_TYPES, "normal", "the costs the heuristic sees"),),
        lambda context, values: values["cost_type"],
        "For transform=… of a heuristic.",
    ),
    Feature(
        "no_transform",
        TRANSFORM,
        "Task as it is",
        (),
        lambda context, values: "normal",
        "For transform=… of a heuristic.",
    ),
)
