"""The features of the search language: one table of evaluators, open lists and search algorithms.

The help texts are printed from here.
"""

from __future__ import annotations

from collections.abc import Iterable

from gsp_fd.common.errors import search_error
from gsp_fd.common.spelling import near_miss
from gsp_fd.fd_integration.language.algorithms import ALGORITHMS, FIRST_OF, ITERATED, OPEN_LISTS, PRUNING_METHODS
from gsp_fd.fd_integration.language.evaluators import COST_ADJUSTMENTS, EXPRESSIONS, HEURISTICS
from gsp_fd.fd_integration.language.features import (
    EVALUATOR,
    LANDMARK_FACTORY,
    OPEN_LIST,
    PRUNING,
    SEARCH_ALGORITHM,
    TRANSFORM,
    Checker,
    Component,
    EnumType,
    Feature,
)
from gsp_fd.fd_integration.language.landmarks import FACTORIES, LANDMARK_SUM
from gsp_fd.fd_integration.language.learned import GSP, LEARNED_ALGORITHMS, PATH_EVALUATORS
from gsp_fd.fd_integration.language.syntax import Source, called_names, parse

GROUPS = {
    SEARCH_ALGORITHM: "Search algorithms",
    EVALUATOR: "Evaluators",
    LANDMARK_FACTORY: "Landmark factories",
    OPEN_LIST: "Open lists",
    PRUNING: "Pruning methods",
    TRANSFORM: "Cost transformations",
}


_ROWS = (
    *ALGORITHMS,
    *LEARNED_ALGORITHMS,
    ITERATED,
    FIRST_OF,
    *HEURISTICS,
    LANDMARK_SUM,
    *FACTORIES,
    GSP,
    *EXPRESSIONS,
    *PATH_EVALUATORS,
    *COST_ADJUSTMENTS,
    *OPEN_LISTS,
    *PRUNING_METHODS,
)
FEATURES = {feature.name: feature for feature in _ROWS}


def check_search(text: str, origin: str = "--search") -> Component:
    """Parse and check a search; raises InputError with exit code 33."""
    checker = Checker(FEATURES, Source(text, origin))
    component: Component = checker.check(parse(text, origin), SEARCH_ALGORITHM, {})
    return component


def is_learned(text: str) -> bool:
    """Whether a text of the search language calls a learned feature; it need not be a correct search."""
    return any(name in FEATURES and FEATURES[name].learned for name in called_names(text))


def describe(names: Iterable[str] = ()) -> str:
    """Help for the named features, or for all of them; raises InputError for a name that is unknown."""
    chosen = list(names)
    for name in chosen:
        if name.lower() not in FEATURES:
            message = f"there is no feature '{name}'{near_miss(name.lower(), FEATURES)}"
            raise search_error(message)
    if chosen:
        return "\n\n".join(_describe(FEATURES[name.lower()]) for name in chosen)
    parts = []
    for kind, title in GROUPS.items():
        parts.append(f"{title}\n{'=' * len(title)}")
        parts += [_describe(feature) for feature in FEATURES.values() if feature.kind == kind]
    return "\n\n".join(parts)


def _describe(feature: Feature) -> str:
    lines = [f"== {feature.title} ==", feature.signature()]
    if feature.help:
        lines.append(feature.help)
    for parameter in feature.parameters:
        lines.append(f" {parameter.name} ({parameter.type}): {parameter.help}")
        if isinstance(parameter.type, EnumType) and parameter.name not in ("verbosity", "cost_type"):
            lines += [f"  - {value}: {help}" for value, help in parameter.type.values.items()]
    lines += [f" * {name}: {value}" for name, value in feature.properties]
    return "\n".join(lines)
