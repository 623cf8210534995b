"""Rows of the registry: open lists, and search algorithms as ways to fill them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gsp_fd import _core
from gsp_fd.fd_integration.language.context import UNLIMITED_SECONDS, Context, IteratedSpec, SearchSpec
from gsp_fd.fd_integration.language.evaluators import COST_TYPES, EVALUATORS, VERBOSITY, labels
from gsp_fd.fd_integration.language.features import (
    BOOL,
    DOUBLE,
    EVALUATOR,
    INT,
    NONE,
    OPEN_LIST,
    PRUNING,
    SEARCH_ALGORITHM,
    Feature,
    ListType,
    Parameter,
    Type,
)

Values = dict[str, Any]

_PREF_ONLY = Parameter("pref_only", BOOL, "false", "keep only successors by preferred operators")

OPEN_LISTS = (
    Feature(
        "single",
        OPEN_LIST,
        "Best-first open list",
        (Parameter("eval", EVALUATOR, None, "evaluator"), _PREF_ONLY),
        lambda context, values: _core.SingleOpenList(values["eval"], values["pref_only"]),
        "Ordered by one evaluator, first in first out among equals.",
    ),
    Feature(
        "tiebreaking",
        OPEN_LIST,
        "Tie-breaking open list",
        (
            Parameter("evals", EVALUATORS, None, "evaluators, the most important first"),
            Parameter("unsafe_pruning", BOOL, "true", "prune where the first evaluator sees a dead end"),
            _PREF_ONLY,
        ),
        lambda context, values: _core.TieBreakingOpenList(
            values["evals"], values["pref_only"], values["unsafe_pruning"]
        ),
        "Ordered by several evaluators one after another.",
    ),
    Feature(
        "alt",
        OPEN_LIST,
        "Alternation open list",
        (
            Parameter("sublists", ListType(OPEN_LIST, nonempty=True), None, "open lists that take turns"),
            Parameter("boost", INT, "0", "turns for the preferred lists after progress"),
        ),
        lambda context, values: _core.AlternationOpenList(values["sublists"], values["boost"]),
        "Takes from several open lists in turn.",
    ),
)

PRUNING_METHODS = (
    Feature(
        "null",
        PRUNING,
        "No pruning",
        (Parameter("verbosity", VERBOSITY, "normal", "how much to print"),),
        lambda context, values: None,
    ),
)


def _common(name: str) -> tuple[Parameter, ...]:
    return (
        Parameter("cost_type", COST_TYPES, "normal", "how the search counts the costs of actions"),
        Parameter("bound", Type("int", 0), "infinity", "only plans of real cost below this"),
        Parameter("max_time", DOUBLE, "infinity", "CPU seconds after which the search fails (exit code 12)"),
        *labels(name),
    )


_EVALS = Parameter("evals", EVALUATORS, None, "evaluators, each with an open list of its own")
PREFERRED = Parameter("preferred", ListType(EVALUATOR), "[]", "use the preferred operators of these")
_PRUNING = Parameter("pruning", PRUNING, "null()", "only null()")
_WEIGHT = Parameter("w", Type("int", 0), "1", "weight of the evaluators against g")
_RANDOM = (
    Parameter("randomize_successors", BOOL, "false", "successors in random order"),
    Parameter("preferred_successors_first", BOOL, "false", "preferred successors before the others"),
    Parameter("random_seed", Type("int", -1), "-1", "seed (--seed); -1 is 0"),
)
_BATCH_SIZE = Parameter("batch_size", Type("int", 1), "1", "open nodes taken per evaluation (--batch-size)")


def boost(default: int) -> Parameter:
    """For how long an alternation turns to preferred successors after progress."""
    return Parameter("boost", INT, str(default), "turns for the preferred open lists after progress")


def _reopen(default: str) -> Parameter:
    return Parameter("reopen_closed", BOOL, default, "look at a state again when a cheaper path to it is found")


def _open_list(values: Values, keys: list[_core.Evaluator]) -> _core.OpenList:
    """One list for one key; for several keys or preferred operators an alternation, as in Fast Downward."""
    preferred = bool(values["preferred"])
    if len(keys) == 1 and not preferred:
        return _core.SingleOpenList(keys[0], False)
    lists = []
    for key in keys:
        lists.append(_core.SingleOpenList(key, False))
        if preferred:
            lists.append(_core.SingleOpenList(key, True))
    return _core.AlternationOpenList(lists, values["boost"])


def _weighted_keys(values: Values) -> list[_core.Evaluator]:
    """g + w·h for every evaluator h; h is not even computed for w = 0."""
    weight = values["w"]
    if weight == 0:
        return [_core.g()]
    return [_core.sum([_core.g(), h if weight == 1 else _core.weight(h, weight)]) for h in values["evals"]]


def search_spec(context: Context, values: Values, open_list: _core.OpenList, **options: Any) -> SearchSpec:
    """The search with the values of its common parameters."""
    options.setdefault("reopen_closed", values.get("reopen_closed", False))
    for name in ("randomize_successors", "preferred_successors_first", "random_seed", "max_expansions"):
        if name in values:
            options[name] = values[name]
    return SearchSpec(
        open_list=open_list,
        preferred=context.heuristics_among(values.get("preferred", [])),
        **{name: values[name] for name in ("description", "cost_type", "bound", "max_time", "verbosity", "batch_size")},
        **options,
    )


def _eager_wastar(context: Context, values: Values) -> SearchSpec:
    return search_spec(context, values, _open_list(values, _weighted_keys(values)))


def _eager_greedy(context: Context, values: Values) -> SearchSpec:
    return search_spec(context, values, _open_list(values, values["evals"]))


def _astar(context: Context, values: Values) -> SearchSpec:
    h = values["eval"]
    f = _core.sum([_core.g(), h])
    open_list = _core.TieBreakingOpenList([f, h], False, False)
    return search_spec(context, values, open_list, f_eval=f, reopen_closed=True)


def _lazy_greedy(context: Context, values: Values) -> SearchSpec:
    return search_spec(context, values, _open_list(values, values["evals"]), lazy=True)


def _lazy_wastar(context: Context, values: Values) -> SearchSpec:
    return search_spec(context, values, _open_list(values, _weighted_keys(values)), lazy=True)


def _eager(context: Context, values: Values) -> SearchSpec:
    return search_spec(context, values, values["open"], f_eval=values["f_eval"])


def _lazy(context: Context, values: Values) -> SearchSpec:
    return search_spec(context, values, values["open"], lazy=True)


def _iterated(context: Context, values: Values) -> IteratedSpec:
    names = ("pass_bound", "repeat_last", "continue_on_fail", "continue_on_solve")
    return IteratedSpec(
        phases=tuple(values["algorithm_configs"]),
        shares=tuple(values["shares"]),
        **{name: values[name] for name in (*names, "description", "bound", "max_time")},
    )


def _first_of(context: Context, values: Values) -> IteratedSpec:
    return IteratedSpec(
        phases=tuple(values["algorithm_configs"]),
        shares=tuple(values["shares"]),
        pass_bound=True,
        repeat_last=False,
        continue_on_fail=True,
        continue_on_solve=False,
        numbered=False,
        **{name: values[name] for name in ("description", "bound", "max_time")},
    )


def algorithm(
    name: str, title: str, help: str, build: Callable[[Context, Values], SearchSpec], *parameters: Parameter
) -> Feature:
    """A row for a search algorithm, with the parameters that all of them have."""
    return Feature(name, SEARCH_ALGORITHM, title, (*parameters, *_common(name), _BATCH_SIZE), build, help)


ALGORITHMS = (
    algorithm(
        "astar",
        "A* search (eager)",
        "Optimal with an admissible evaluator. Ties on f are broken by h; closed states are reopened.",
        _astar,
        Parameter("eval", EVALUATOR, None, "evaluator for h"),
        Parameter("lazy_evaluator", EVALUATOR, NONE, "accepted; states are not evaluated again"),
        _PRUNING,
    ),
    algorithm(
        "eager_wastar",
        "Eager weighted A* search",
        "Open lists ordered by g + w·h.",
        _eager_wastar,
        _EVALS,
        PREFERRED,
        _reopen("true"),
        boost(0),
        _WEIGHT,
        _PRUNING,
    ),
    algorithm(
        "eager_greedy",
        "Greedy search (eager)",
        "Open lists ordered by h.",
        _eager_greedy,
        _EVALS,
        PREFERRED,
        boost(0),
        _PRUNING,
    ),
    algorithm(
        "eager",
        "Eager best-first search",
        "Any open list; states are evaluated when they are generated.",
        _eager,
        Parameter("open", OPEN_LIST, None, "open list"),
        _reopen("false"),
        Parameter("f_eval", EVALUATOR, NONE, "reports jumps of f"),
        PREFERRED,
        _PRUNING,
    ),
    algorithm(
        "lazy_greedy",
        "Greedy search (lazy)",
        "Open lists ordered by h of the parent.",
        _lazy_greedy,
        _EVALS,
        boost(1000),
        _reopen("false"),
        PREFERRED,
        *_RANDOM,
    ),
    algorithm(
        "lazy_wastar",
        "Weighted A* search (lazy)",
        "Open lists ordered by g + w·h of the parent.",
        _lazy_wastar,
        _EVALS,
        PREFERRED,
        _reopen("true"),
        boost(1000),
        _WEIGHT,
        *_RANDOM,
    ),
    algorithm(
        "lazy",
        "Lazy best-first search",
        "Any open list; states are evaluated when they are expanded.",
        _lazy,
        Parameter("open", OPEN_LIST, None, "open list"),
        _reopen("false"),
        PREFERRED,
        *_RANDOM,
    ),
)

_PHASES = Parameter(
    "algorithm_configs", ListType(SEARCH_ALGORITHM, nonempty=True), None, "one search per phase", deferred=True
)
_SHARES = Parameter(
    "shares",
    ListType(Type("double", 0)),
    "[]",
    "parts of the time that is left when a phase starts (without a time limit: of "
    f"{UNLIMITED_SECONDS / 60:g} minutes), for the phases in their order; those beyond the list may use all of it",
)

ITERATED = Feature(
    "iterated",
    SEARCH_ALGORITHM,
    "Iterated search",
    (
        _PHASES,
        Parameter("pass_bound", BOOL, "true", "phases only look for cheaper plans than the best so far"),
        Parameter("repeat_last", BOOL, "false", "repeat the last phase while it finds plans"),
        Parameter("continue_on_solve", BOOL, "true", "go on after a plan is found"),
        *_common("iterated"),
        Parameter("continue_on_fail", BOOL, "true", "go on after a phase that found no plan"),
        _SHARES,
    ),
    _iterated,
    "Several searches one after another; plans are numbered and strictly cheaper each time.",
)

FIRST_OF = Feature(
    "first_of",
    SEARCH_ALGORITHM,
    "First plan of several searches",
    (_PHASES, _SHARES, *_common("first_of")),
    _first_of,
    "Several searches one after another, until one finds a plan or proves that there is none.",
)
