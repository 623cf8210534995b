"""Rows of the registry for learned heuristics: the evaluator ``gsp``, and the searches over state-action pairs."""

from __future__ import annotations

from typing import Any

from gsp_fd.fd_integration.language.algorithms import algorithm, search_spec
from gsp_fd.fd_integration.language.context import Context, SearchSpec
from gsp_fd.fd_integration.language.evaluators import EVALUATORS, labels
from gsp_fd.fd_integration.language.features import EVALUATOR, NAME, NONE, STRING, EnumType, Feature, Parameter, Type

DEVICES = EnumType(
    {"auto": "CUDA where it is usable, otherwise the CPU", "cpu": "the CPU", "cuda": "CUDA, or an error"}
)


def _gsp(context: Context, values: dict[str, Any]) -> Any:
    from gsp_fd.model import LearnedHeuristic, Model, find_model

    task = context.lifted_task("gsp")
    chosen = {**{"model": "auto", "device": "auto", "threads": 1}, **context.model_options}
    chosen |= {name: values[name] for name in ("model", "device", "threads") if values[name] is not None}
    model = Model(find_model(chosen["model"], task), device=chosen["device"], threads=chosen["threads"])
    learned = LearnedHeuristic(model, task, context.task.native_lifted(), values["description"])
    context.learned.append(learned)
    return learned.native


GSP = Feature(
    "gsp",
    EVALUATOR,
    "GSP: a learned Q-function",
    (
        Parameter("model", NAME, NONE, "an .onnx file, the name of a shipped model, or auto (--model)"),
        Parameter("device", DEVICES, NONE, "where the network runs (--device)"),
        Parameter("threads", Type("int", 1), NONE, "threads of the network (--threads)"),
        Parameter("domain", STRING, NONE, "PDDL domain, where the search gets SAS (GSP_DOMAIN in the environment)"),
        Parameter("problem", STRING, NONE, "PDDL problem, where the search gets SAS (GSP_PROBLEM in the environment)"),
        *labels("gsp"),
    ),
    _gsp,
    "h = -max_a Q(s, a) of a model made by gsp-export; in lazy searches every action has its own value -Q(s, a). "
    "Works on the lifted task, so nothing is grounded.",
    (
        ("admissible", "no"),
        ("consistent", "no"),
        ("safe", "no"),
        ("preferred operators", "no"),
        ("action costs", "as the model was trained"),
        ("conditional effects", "not supported"),
        ("axioms", "not supported"),
    ),
    short_names=("gsp",),
)

_EVAL = Parameter("eval", EVALUATOR, None, "learned evaluator")
_EVALS = Parameter("evals", EVALUATORS, None, "evaluators, each with an open list of its own")


def _policy(context: Context, values: dict[str, Any]) -> SearchSpec:
    return search_spec(context, values, context.core.DepthFirstOpenList(values["eval"]), lazy=True)


def _open_lists(context: Context, keys: list[Any]) -> Any:
    lists = [context.core.SingleOpenList(key, False) for key in keys]
    return lists[0] if len(lists) == 1 else context.core.AlternationOpenList(lists, 0)


def _wastar(context: Context, values: dict[str, Any]) -> SearchSpec:
    core, weight = context.core, values["w"]
    keys = [core.sum([core.g(), core.weight(evaluator, weight)]) for evaluator in values["evals"]]
    return search_spec(context, values, _open_lists(context, keys), lazy=True)


def _gbfs(context: Context, values: dict[str, Any]) -> SearchSpec:
    return search_spec(context, values, _open_lists(context, values["evals"]), lazy=True)


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
