"""From the options to one search: aliases, ``--if-unit-cost``, predefined evaluators, short forms for people.

Everything ends as text of the search language: one way to say a search, and the log can show it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property

from gsp_fd.common.errors import driver_error, search_error
from gsp_fd.common.spelling import near_miss
from gsp_fd.fd_integration.language.aliases import ALIASES, DEFAULT_ALIAS, alias_tokens
from gsp_fd.fd_integration.language.features import EVALUATOR, AnyType, Component, EnumType
from gsp_fd.fd_integration.language.registry import FEATURES, check_search, is_learned
from gsp_fd.fd_integration.language.syntax import Call, Let, ListNode, Literal, Node, parse, to_text
from gsp_fd.fd_integration.run.options import LEARNED_PARAMETERS, SEARCH_PARAMETERS, SELECTORS, Options

SHORT_HEURISTICS = {short: feature.name for feature in FEATURES.values() for short in feature.short_names}
DEFAULT_WEIGHT = 2
DEFAULT_SEARCH = "wastar"


@dataclass(frozen=True)
class ShortSearch:
    """A search by its short name: the algorithm, and what may be said about it."""

    algorithm: str
    help: str
    default_heuristic: str = "hff"
    weighted: bool = False
    several: bool = True
    """Takes a list of evaluators, and preferred operators."""


SHORT_SEARCHES = {
    "astar": ShortSearch("astar", "optimal with hmax and blind", default_heuristic="hmax", several=False),
    "wastar": ShortSearch("eager_wastar", "weighted A*, the default", weighted=True),
    "gbfs": ShortSearch("eager_greedy", "greedy best-first search"),
    "lazy_gbfs": ShortSearch("lazy_greedy", "greedy, states evaluated when they are expanded"),
    "lazy_wastar": ShortSearch("lazy_wastar", "weighted A*, states evaluated when they are expanded", weighted=True),
    "policy": ShortSearch("policy", "follow a learned policy", default_heuristic="gsp", several=False),
}
PAIR_SEARCHES = {
    "wastar": ShortSearch("gsp_wastar", "", weighted=True),
    "gbfs": ShortSearch("gsp_gbfs", ""),
}
"""What the short forms mean with a learned heuristic: the paper's searches over state-action pairs."""


@dataclass(frozen=True)
class CheckedSearch:
    """A checked search and its text."""

    text: str
    component: Component

    def components(self, name: str | None = None) -> Iterator[Component]:
        """The components of the search with repetitions, or only those of one feature."""
        return (part for part in self.component.parts() if name in (None, part.feature.name))

    @property
    def wants_ground(self) -> bool:
        """Whether the search is faster on the ground task, where that is small."""
        return self.component.wants_ground

    @cached_property
    def learned(self) -> bool:
        """Whether some feature is learned."""
        return is_learned(self.text)


def check_combinations(options: Options) -> None:
    """Refuse options that contradict one another (exit code 36)."""
    given = [
        ("--alias", options.alias is not None),
        ("--portfolio", options.portfolio is not None),
        ("options for search component", bool(options.search_tokens)),
    ]
    names = [name for name, is_given in given if is_given]
    if len(names) > 1:
        raise driver_error(f"cannot combine {names[0]} with {names[1]}")
    if options.portfolio is None and (options.portfolio_bound is not None or options.portfolio_single_plan):
        name = "--portfolio-single-plan" if options.portfolio_single_plan else "--portfolio-bound"
        raise driver_error(f"{name} may only be used with --portfolio")
    if options.debug and options.build is not None:
        raise driver_error("--debug stands for --build=debug --validate: do not give both --debug and --build")


def chosen_alias(options: Options) -> str | None:
    """The alias to run: the one that was given, or without any search the default."""
    if options.alias is None and not options.search_tokens:
        return DEFAULT_ALIAS
    return options.alias


def without_model(options: Options) -> Options:
    """The options for a task that no model can be used for: with the alias that their alias has for this."""
    alias = ALIASES[chosen_alias(options) or ""]
    return replace(options.with_model(None), alias=alias.without_model)


def configurations(options: Options) -> list[CheckedSearch]:
    """Every search the options may lead to: which one it is may depend on the costs of the task."""
    tokens = _tokens(options)
    if any(token in SELECTORS for token in tokens):
        return [configuration(options, unit_cost) for unit_cost in (True, False)]
    return [configuration(options, True)]


def configuration(options: Options, unit_cost: bool) -> CheckedSearch:
    """The search for a task with or without unit costs; InputError 33 for the search itself, 36 around it."""
    text = _search_text(_select(_tokens(options), unit_cost), options)
    component = check_search(text)
    values = options.parameters(learned=True)
    unused = [name for name in LEARNED_PARAMETERS if name in values and not is_learned(text)]
    if unused:
        raise driver_error(f"--{unused[0]} is only for learned heuristics, and this search has none: {text}")
    if not values:
        return CheckedSearch(text, component)
    names = SEARCH_PARAMETERS | LEARNED_PARAMETERS
    text = filled(text, {names[option]: value for option, value in values.items()})
    return CheckedSearch(text, check_search(text))


def filled(text: str, values: Mapping[str, str | int]) -> str:
    """The text of a search with these values for the parameters that it leaves open."""
    return to_text(_filled(parse(text), values))


def _filled(node: Node, values: Mapping[str, str | int]) -> Node:
    if isinstance(node, ListNode):
        return replace(node, items=tuple(_filled(item, values) for item in node.items))
    if isinstance(node, Let):
        return replace(node, definition=_filled(node.definition, values), body=_filled(node.body, values))
    if isinstance(node, Literal):
        return node
    kwargs = {name: _filled(value, values) for name, value in node.kwargs}
    for parameter in FEATURES[node.name].parameters[len(node.args) :]:
        if parameter.name in values and parameter.name not in kwargs:
            kwargs[parameter.name] = _literal(values[parameter.name], parameter.type)
    return Call(node.name, tuple(_filled(arg, values) for arg in node.args), tuple(kwargs.items()), node.position)


def _literal(value: str | int, expected: AnyType) -> Literal:
    kind = "int" if isinstance(value, int) else "symbol" if isinstance(expected, EnumType) else "string"
    return Literal(kind, value, 0)


def _tokens(options: Options) -> list[str]:
    alias = chosen_alias(options)
    return options.search_tokens if alias is None else alias_tokens(alias)


def _select(tokens: Sequence[str], unit_cost: bool) -> list[str]:
    """What is left after ``--if-unit-cost``, ``--if-non-unit-cost`` and ``--always``."""
    active, kept = True, []
    for token in tokens:
        if token in SELECTORS:
            active = {"--if-unit-cost": unit_cost, "--if-non-unit-cost": not unit_cost}.get(token, True)
        elif active:
            kept.append(token)
    return kept


def _search_text(tokens: Sequence[str], options: Options) -> str:
    definitions: list[tuple[str, str]] = []
    heuristics: list[str] = []
    search: str | None = None
    pending = list(tokens)
    while pending:
        name = pending.pop(0)
        if not name.startswith("--"):
            raise search_error(f"unexpected argument '{name}' among the search options")
        if not pending or (pending[0].startswith("--") and name != "--search") or pending[0] == "--search":
            raise search_error(f"{name} needs a value")
        value = pending.pop(0)
        if name == "--search":
            if search is not None:
                raise search_error("--search is given twice; one search runs at a time")
            search = value
        elif search is not None and "=" in value:
            raise search_error(f"{name} {value} must stand before --search")
        elif match := re.match(r"\s*(\w+)\s*=", value, re.ASCII):
            definitions.append((match[1], value[match.end() :]))
        elif name == "--heuristic":
            heuristics.append(value)
        else:
            raise search_error(f"{name} '{value}' should be NAME=DEFINITION, as in h=ff()")
    if search is None and not heuristics:
        raise driver_error(
            "no search given: add --search or --heuristic to the definitions of evaluators, or leave all of them out"
        )
    return _with_definitions(definitions, _main_search(search, heuristics, options))


def _with_definitions(definitions: Sequence[tuple[str, str]], text: str) -> str:
    for name, definition in reversed(definitions):
        text = f"let({name}, {definition}, {text})"
    return text


def _main_search(search: str | None, heuristics: Sequence[str], options: Options) -> str:
    """The search itself; a bare word is a short form."""
    name = (DEFAULT_SEARCH if search is None else search).strip().lower()
    if search is not None and not re.fullmatch(r"\w+", name, re.ASCII):
        for option, given in (
            ("--heuristic", heuristics),
            ("--weight", options.weight is not None),
            ("--preferred", options.preferred),
        ):
            if given:
                raise driver_error(
                    f"{option} belongs to the short forms of --search ({', '.join(SHORT_SEARCHES)}); "
                    f"say it inside the search: {search}"
                )
        return search
    if name not in SHORT_SEARCHES:
        hint = near_miss(name, SHORT_SEARCHES) or f"; short names are {', '.join(SHORT_SEARCHES)}"
        if name in FEATURES:
            hint = f"; write {FEATURES[name].signature()}, or a short name: {', '.join(SHORT_SEARCHES)}"
        raise search_error(f"there is no search '{name}'{hint}")
    return _short_search(name, heuristics, options)


def _short_search(name: str, heuristics: Sequence[str], options: Options) -> str:
    short = SHORT_SEARCHES[name]
    evaluators = [_short_heuristic(value) for value in heuristics or [short.default_heuristic]]
    if any(map(is_learned, evaluators)):
        short = PAIR_SEARCHES.get(name, short)
    elif options.weight is not None and options.weight != int(options.weight):
        raise driver_error(
            f"--weight {_decimal(options.weight)} is only for learned heuristics; others take whole numbers"
        )
    if options.weight is not None and not short.weighted:
        weighted = " and ".join(other for other, row in SHORT_SEARCHES.items() if row.weighted)
        raise driver_error(f"--weight is for {weighted}, not for {name}")
    if not short.several:
        if len(evaluators) > 1:
            raise driver_error(f"{name} takes one --heuristic")
        if options.preferred:
            raise driver_error(f"{name} does not use preferred operators")
        return f"{short.algorithm}({evaluators[0]})"
    weight = f", w={_decimal(DEFAULT_WEIGHT if options.weight is None else options.weight)}" if short.weighted else ""
    if not options.preferred:
        return f"{short.algorithm}([{', '.join(evaluators)}]{weight})"
    _check_preferred(evaluators)
    names = ["h"] if len(evaluators) == 1 else [f"h{i}" for i in range(1, len(evaluators) + 1)]
    listed = f"[{', '.join(names)}]"
    text = f"{short.algorithm}({listed}, preferred={listed}{weight})"
    return _with_definitions(list(zip(names, evaluators, strict=True)), text)


def _decimal(number: float) -> str:
    """A number as the search language writes it: all of its digits and no exponent."""
    return str(int(number)) if number == int(number) else f"{Decimal(repr(number)):f}"


def _short_heuristic(value: str) -> str:
    name = value.strip().lower()
    if "(" in name:
        return value
    if name not in SHORT_HEURISTICS or SHORT_HEURISTICS[name] not in FEATURES:
        known = [short for short, feature in SHORT_HEURISTICS.items() if feature in FEATURES]
        hint = near_miss(name, known) or f"; known are {', '.join(known)}"
        raise search_error(f"there is no heuristic '{value}'{hint}")
    return f"{SHORT_HEURISTICS[name]}()"


def _check_preferred(evaluators: Sequence[str]) -> None:
    if not any(prefers_operators(evaluator.split("(")[0]) for evaluator in evaluators):
        able = ", ".join(name for name, row in FEATURES.items() if row.kind == EVALUATOR and prefers_operators(name))
        raise driver_error(f"--preferred needs a heuristic with preferred operators: {able}")


def prefers_operators(name: str) -> bool:
    """Whether a heuristic, by its name or a short form of it, has preferred operators."""
    feature = FEATURES.get(SHORT_HEURISTICS.get(name, name))
    return feature is not None and ("preferred operators", "yes") in feature.properties
