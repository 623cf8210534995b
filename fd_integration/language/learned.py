"""Rows of the registry for learned heuristics: the evaluator ``gsp``, and the searches over state-action pairs."""

from __future__ import annotations

from typing import Any

from gsp_fd import _core
from gsp_fd.fd_integration.language.algorithms import algorithm, search_spec
from gsp_fd.fd_integration.language.context import Context, SearchSpec
from gsp_fd.fd_integration.language.evaluators import EVALUATORS, labels
from gsp_fd.fd_integration.language.features import EVALUATOR, NAME, NONE, STRING, EnumType, Feature, Parameter, Type

DEVICES = EnumType(
    {"auto": "CUDA where it is usable, otherwise the CPU", "cpu": "the CPU", "cuda": "CUDA, or an error"}
)
SYMMETRIES = EnumType(
    {"objects": "of actions that differ only in interchangeable objects, one", "none": "all applicable actions"}
)


def _gsp(context: Context, values: dict[str, Any]) -> _core.Heuristic:
    from gsp_fd.model import Model, find_model

    task = context.lifted_task("gsp")
    model = Model(find_model(values["model"], task), device=values["device"], threads=values["threads"])
    context.models.append(model)
    context.symmetries.add(values["symmetry"])
    plans = context.relaxed_plans() if model.metadata.relaxed_plan else None
    return model.heuristic(context.task, values["description"], plans)


GSP = Feature(
    "gsp",
    EVALUATOR,
    "GSP: a learned Q-function",
    (
        Parameter("model", NAME, "auto", "an .onnx file, the name of a shipped model, or auto (--model)"),
        Parameter("device", DEVICES, "auto", "where the network runs (--device)"),
        Parameter("threads", Type("int", 1), "1", "threads of the network (--threads)"),
        Parameter("domain", STRING, NONE, "PDDL domain, where the search gets SAS (GSP_DOMAIN in the environment)"),
        Parameter("problem", STRING, NONE, "PDDL problem, where the search gets SAS (GSP_PROBLEM in the environment)"),
        *labels("gsp"),
        Parameter("symmetry", SYMMETRIES, "objects", "which actions the search looks at (--symmetry)"),
    ),
    _gsp,
    "h = -max_a Q(s, a) of a model made by gsp-export; in lazy searches every action has its own value -Q(s, a). "
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
_EVALS = Parameter("evals", EVALUATORS, None, "evaluators, each with an open list of its own")


def _policy(context: Context, values: dict[str, Any]) -> SearchSpec:
    return search_spec(context, values, _core.DepthFirstOpenList(values["eval"]), lazy=True)


def _open_lists(keys: list[_core.Evaluator]) -> _core.OpenList:
    lists = [_core.SingleOpenList(key, False) for key in keys]
    return lists[0] if len(lists) == 1 else _core.AlternationOpenList(lists, 0)


def _wastar(context: Context, values: dict[str, Any]) -> SearchSpec:
    weight = values["w"]
    keys = [_core.sum([_core.g(), _core.weight(evaluator, weight)]) for evaluator in values["evals"]]
    return search_spec(context, values, _open_lists(keys), lazy=True)


def _gbfs(context: Context, values: dict[str, Any]) -> SearchSpec:
    return search_spec(context, values, _open_lists(values["evals"]), lazy=True)


LEARNED_ALGORITHMS = (
    algorithm(
        "policy",
        "Greedy policy",
        "Takes the best action of the current state that leads to a new one; where there is none, it goes back. "
        "Every state entered is an expansion.",
        _policy,
        _EVAL,
    ),
    algorithm(
        "gsp_wastar",
        "WA* over state-action pairs",
        "GSP's search: pairs (s, a) ordered by g(s) - w·Q(s, a), no reopening. Every pair taken is an expansion.",
        _wastar,
        _EVALS,
        Parameter("w", Type("double", 0), "2.0", "weight of Q against g"),
    ),
    algorithm(
        "gsp_gbfs",
        "Greedy best-first search over state-action pairs",
        "Pairs (s, a) ordered by Q(s, a). Every pair taken is an expansion.",
        _gbfs,
        _EVALS,
    ),
)
