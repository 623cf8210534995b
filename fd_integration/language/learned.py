"""Rows of the registry for learned heuristics: ``gsp``, what its ranking says of paths, and the searches over pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gsp_fd import _core
from gsp_fd.common.errors import search_error
from gsp_fd.fd_integration.language.algorithms import PREFERRED, algorithm, boost, search_spec
from gsp_fd.fd_integration.language.context import Context, SearchSpec
from gsp_fd.fd_integration.language.evaluators import EVALUATORS, expression, labels
from gsp_fd.fd_integration.language.features import (
    BOOL,
    EVALUATOR,
    NAME,
    NONE,
    STRING,
    EnumType,
    Feature,
    ListType,
    Parameter,
    Type,
)

DEVICES = EnumType(
    {"auto": "CUDA where it is usable, otherwise the CPU", "cpu": "the CPU", "cuda": "CUDA, or an error"}
)
SYMMETRIES = EnumType(
    {"objects": "of actions that differ only in interchangeable objects, one", "none": "all applicable actions"}
)


def _gsp(context: Context, values: dict[str, Any]) -> _core.Heuristic:
    model = context.model(values["model"], values["device"], values["threads"])
    context.symmetries.add(values["symmetry"])
    plans = context.relaxed_plans() if model.metadata.relaxed_plan else None
    return model.heuristic(context.task, values["description"], plans)


GSP = Feature(
    "gsp",
    EVALUATOR,
    "GSP: a learned Q-function",
    (
        Parameter("model", NAME, "auto", "an .onnx file, the folder of a run, a name, or auto (--model)"),
        Parameter("device", DEVICES, "auto", "where the network runs (--device)"),
        Parameter("threads", Type("int", 1), "1", "threads that share the states of a batch (--threads)"),
        Parameter("domain", STRING, NONE, "PDDL domain, where the search gets SAS (GSP_DOMAIN in the environment)"),
        Parameter("problem", STRING, NONE, "PDDL problem, where the search gets SAS (GSP_PROBLEM in the environment)"),
        *labels("gsp"),
        Parameter("symmetry", SYMMETRIES, "objects", "which actions the search looks at (--symmetry)"),
    ),
    _gsp,
    "h = -max_a Q(s, a) of a model made by gsp-train; in lazy searches every action has its own value -Q(s, a). "
    "Works on the lifted task; nothing is grounded unless the model sees relaxed plans.",
    (
        ("admissible", "no"),
        ("consistent", "no"),
        ("safe", "no"),
        ("preferred operators", "no"),
        ("action costs", "as the model was trained"),
        ("conditional effects", "supported"),
        ("axioms", "supported"),
    ),
    learned=True,
    short_names=("gsp",),
)

_EVAL = Parameter("eval", EVALUATOR, None, "learned evaluator")
_WEIGHT = Parameter("w", Type("double", 0), "2.0", "weight of Q against g")
_H = Parameter("h", EVALUATOR, NONE, "evaluator for the actions that are left; none: the learned one")


def _temperature(default: str) -> Parameter:
    """Q-values of good actions are close together, and π of a path is a product: a policy must be nearly greedy."""
    return Parameter(
        "temperature", Type("double", 0.001), default, "of the policy: π(a | s) ~ exp(Q(s, a) / temperature)"
    )


def _heuristic(evaluator: _core.Evaluator, parameter: str) -> _core.Heuristic:
    if not isinstance(evaluator, _core.Heuristic):
        raise search_error(f"{parameter} must be a heuristic, not an expression over evaluators")
    return evaluator


def _q(values: dict[str, Any]) -> _core.Heuristic:
    return _heuristic(values["eval"], "eval")


def _levin_key(values: dict[str, Any]) -> _core.Evaluator:
    return _core.levin(_q(values), values["temperature"])


def _phs_key(values: dict[str, Any], star: bool) -> _core.Evaluator:
    h = values["eval"] if values["h"] is None else values["h"]
    return _core.phs(_q(values), h, values["temperature"], star)


PATH_EVALUATORS = (
    expression(
        "depth", "Depth", "Number of actions of the path; in lazy searches.", lambda context, values: _core.depth()
    ),
    expression(
        "regret",
        "Accumulated regret",
        "The sum of max_a' Q(s, a') - Q(s, a) over the path: what its actions lose by the ranking; in lazy searches.",
        lambda context, values: _core.regret(_q(values)),
        _EVAL,
    ),
    expression(
        "levin",
        "Cost of Levin tree search",
        "log(d / π) of a path of d actions with probability π; in lazy searches.",
        lambda context, values: _levin_key(values),
        _EVAL,
        _temperature("0.01"),
    ),
    expression(
        "phs",
        "Cost of policy-guided heuristic search",
        "log((d + h) / π) of a path of d actions with probability π, or log((d + h) / π^(1 + h/d)); in lazy searches.",
        lambda context, values: _phs_key(values, values["star"]),
        _EVAL,
        _H,
        _temperature("0.01"),
        Parameter("star", BOOL, "false", "π^(1 + h/d) in the place of π (PHS*)"),
    ),
)
_EVALS = Parameter("evals", EVALUATORS, None, "evaluators, each with an open list of its own")


def _pair_search(
    context: Context,
    values: dict[str, Any],
    open_list: _core.OpenList,
    kind: str = "best first search over state-action pairs",
) -> SearchSpec:
    dead_ends = values["dead_ends"]
    if dead_ends is not None:
        dead_ends = _heuristic(dead_ends, "dead_ends")
    elif any(model.metadata.relaxed_plan for model in context.models):
        dead_ends = context.relaxed_plans()  # the network needs them anyway, and where there is none nothing leads on
    return search_spec(context, values, open_list, lazy=True, dead_ends=dead_ends, kind=kind)


def _policy(context: Context, values: dict[str, Any]) -> SearchSpec:
    return _pair_search(context, values, _core.DepthFirstOpenList(values["eval"]), "greedy policy search")


def _open_lists(keys: list[_core.Evaluator]) -> _core.OpenList:
    lists = [_core.SingleOpenList(key, False) for key in keys]
    return lists[0] if len(lists) == 1 else _core.AlternationOpenList(lists, 0)


def _wastar_key(evaluator: _core.Evaluator, weight: float) -> _core.Evaluator:
    return _core.sum([_core.g(), _core.weight(evaluator, weight)])


def _wastar(context: Context, values: dict[str, Any]) -> SearchSpec:
    return _pair_search(context, values, _open_lists([_wastar_key(h, values["w"]) for h in values["evals"]]))


def _gbfs(context: Context, values: dict[str, Any]) -> SearchSpec:
    return _pair_search(context, values, _open_lists(values["evals"]))


def _regret_list(q: _core.Heuristic) -> _core.OpenList:
    """Among equals the deepest first: so the search follows the policy until it regrets something."""
    return _core.TieBreakingOpenList([_core.regret(q), _core.weight(_core.depth(), -1)])


def _regret(context: Context, values: dict[str, Any]) -> SearchSpec:
    return _pair_search(context, values, _regret_list(_q(values)))


def _queues(context: Context, values: dict[str, Any]) -> SearchSpec:
    q = _q(values)
    lists = [_core.SingleOpenList(_wastar_key(q, values["w"])), _regret_list(q)]
    for h in values["evals"]:
        lists += [_core.SingleOpenList(h, preferred) for preferred in (False, True)[: 1 + bool(values["preferred"])]]
    return _pair_search(context, values, _core.AlternationOpenList(lists, values["boost"]))


def _levin(context: Context, values: dict[str, Any]) -> SearchSpec:
    return _pair_search(context, values, _core.SingleOpenList(_levin_key(values)))


def _phs(context: Context, values: dict[str, Any]) -> SearchSpec:
    return _pair_search(context, values, _core.SingleOpenList(_phs_key(values, star=False)))


def _phs_star(context: Context, values: dict[str, Any]) -> SearchSpec:
    return _pair_search(context, values, _core.SingleOpenList(_phs_key(values, star=True)))


def pair_search(
    name: str, title: str, help: str, build: Callable[[Context, dict[str, Any]], SearchSpec], *parameters: Parameter
) -> Feature:
    """A row for a search over state-action pairs."""
    help_text = "heuristic whose certain dead ends are left out; none: ff(), if the model sees its relaxed plans"
    dead_ends = Parameter("dead_ends", EVALUATOR, NONE, help_text)
    return algorithm(name, title, help, build, *parameters, dead_ends)


LEARNED_ALGORITHMS = (
    pair_search(
        "policy",
        "Greedy policy",
        "Takes the best action of the current state that leads to a new one; where there is none, it goes back. "
        "Every state entered is an expansion.",
        _policy,
        _EVAL,
        Parameter("max_expansions", Type("int", 1), "infinity", "expansions after which the policy fails"),
    ),
    pair_search(
        "gsp_wastar",
        "WA* over state-action pairs",
        "GSP's search: pairs (s, a) ordered by g(s) - w·Q(s, a), no reopening. Every pair taken is an expansion.",
        _wastar,
        _EVALS,
        _WEIGHT,
    ),
    pair_search(
        "gsp_gbfs",
        "Greedy best-first search over state-action pairs",
        "Pairs (s, a) ordered by Q(s, a). Every pair taken is an expansion.",
        _gbfs,
        _EVALS,
    ),
    pair_search(
        "gsp_regret",
        "Best-first search by accumulated regret",
        "Pairs (s, a) ordered by regret(eval), the deepest first among equals: the policy's path, then what deviates "
        "least from it. It compares actions of one state only, never states. Every pair taken is an expansion.",
        _regret,
        _EVAL,
    ),
    pair_search(
        "gsp_queues",
        "Value, regret and other heuristics in turn",
        "Takes turns between pairs (s, a) by g(s) - w·Q(s, a), by regret as gsp_regret does, and by each of evals, "
        "which have a second queue, for preferred successors, if preferred is given. Every pair taken is an expansion.",
        _queues,
        _EVAL,
        Parameter("evals", ListType(EVALUATOR), "[]", "other evaluators, such as ff()"),
        PREFERRED,
        boost(0),
        _WEIGHT,
    ),
    pair_search(
        "gsp_levin",
        "Levin tree search",
        "Pairs (s, a) ordered by levin(eval): the length of their path by its probability, no reopening. Every pair "
        "taken is an expansion.",
        _levin,
        _EVAL,
        _temperature("0.01"),
    ),
    pair_search(
        "gsp_phs",
        "Policy-guided heuristic search PHS_h",
        "Pairs (s, a) ordered by phs(eval, h): Levin tree search with the length of the whole plan, estimated by h, no "
        "reopening. Every pair taken is an expansion.",
        _phs,
        _EVAL,
        _H,
        _temperature("0.01"),
    ),
    pair_search(
        "gsp_phs_star",
        "Policy-guided heuristic search PHS*",
        "Pairs (s, a) ordered by phs(eval, h, star=true): PHS_h with the probability of the whole plan, estimated from "
        "that of the path, no reopening. Every pair taken is an expansion.",
        _phs_star,
        _EVAL,
        _H,
        _temperature("0.1"),
    ),
)
