"""What a feature of the search language is: its name, typed parameters, what it promises; and type checking.

Checking a syntax tree gives a tree of :class:`Component`, which still knows nothing of a task. ``let``
variables are shared components: whatever they stand for is built once and evaluated once per state.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gsp_fd.common.errors import InputError
from gsp_fd.common.spelling import near_miss
from gsp_fd.fd_integration.language.syntax import MAX_INT, Call, Let, ListNode, Literal, Node, Source, parse

if TYPE_CHECKING:
    from gsp_fd.fd_integration.language.context import Context

NONE = "<none>"
"""The printed default of a parameter that may be left out and then has no value at all."""


@dataclass(frozen=True)
class Type:
    """``bool``, ``int``, ``double``, ``string``, or a kind of features (``Evaluator``, ``OpenList``, …)."""

    name: str
    minimum: float | None = None

    def __str__(self) -> str:
        return self.name if self.minimum is None else f"{self.name} [{self.minimum:g}, infinity]"


@dataclass(frozen=True)
class EnumType:
    """One of a few symbols; each has a line of documentation."""

    values: Mapping[str, str]

    def __str__(self) -> str:
        return "{" + ", ".join(self.values) + "}"


@dataclass(frozen=True)
class ListType:
    """A list in brackets."""

    item: Type
    nonempty: bool = False

    def __str__(self) -> str:
        return f"list of {self.item}"


AnyType = Type | EnumType | ListType

BOOL, INT, DOUBLE, STRING = Type("bool"), Type("int"), Type("double"), Type("string")
NAME = Type("string or name")
"""A string whose quotes may be left out where it looks like a name."""
EVALUATOR, OPEN_LIST, SEARCH_ALGORITHM = Type("Evaluator"), Type("OpenList"), Type("SearchAlgorithm")
PRUNING, TRANSFORM = Type("PruningMethod"), Type("AbstractTask")
LANDMARK_FACTORY = Type("LandmarkFactory")
VARIABLES = (EVALUATOR, LANDMARK_FACTORY)
"""Kinds of features that ``let`` can give a name."""


@dataclass(frozen=True)
class Parameter:
    """A parameter; ``default`` is written in the search language, ``None`` makes the parameter mandatory."""

    name: str
    type: AnyType
    default: str | None
    help: str
    deferred: bool = False
    """The feature builds these components itself, in its own time or context."""


@dataclass(frozen=True)
class Feature:
    """A row of the registry. ``build`` receives the context of a task and the checked values by name."""

    name: str
    kind: Type
    title: str
    parameters: tuple[Parameter, ...]
    build: Callable[[Context, dict[str, Any]], Any]
    help: str = ""
    properties: tuple[tuple[str, str], ...] = ()
    """What it promises, in Fast Downward's words: admissible, safe, preferred operators, axioms, …"""
    wants_ground: bool = False
    """Whether it is faster on the ground task, where that is small."""
    learned: bool = False
    """Whether it needs a model."""
    short_names: tuple[str, ...] = ()
    """What ``--heuristic`` calls it."""

    def signature(self) -> str:
        """``name(a, b=default, …)`` as Fast Downward's help prints it."""
        parts = [p.name if p.default is None else f"{p.name}={p.default}" for p in self.parameters]
        return f"{self.name}({', '.join(parts)})"


@dataclass(eq=False)
class Component:
    """A feature with checked values: plain values, components, or lists of components."""

    feature: Feature
    values: dict[str, Any] = field(default_factory=dict)

    def parts(self) -> Iterator[Component]:
        """This component and all that it is made of, with repetitions."""
        pending: list[object] = [self]
        while pending:
            value = pending.pop()
            if isinstance(value, list):
                pending += value
            elif isinstance(value, Component):
                yield value
                pending += value.values.values()

    @property
    def learned(self) -> bool:
        """Whether it needs a model."""
        return any(part.feature.learned for part in self.parts())

    @property
    def wants_ground(self) -> bool:
        """Whether it is faster on the ground task, where that is small; what is learned is on the lifted task."""
        return not self.learned and any(part.feature.wants_ground for part in self.parts())


class Checker:
    """Turns syntax trees into components, by the features of one registry."""

    def __init__(self, features: Mapping[str, Feature], source: Source) -> None:
        self.features = features
        self.source = source

    def check(self, node: Node, expected: AnyType, scope: Mapping[str, Component]) -> Any:
        """The value of the node, or an InputError that says what was expected."""
        if isinstance(node, Let):
            return self._let(node, expected, scope)
        if isinstance(expected, ListType):
            return self._list(node, expected, scope)
        if isinstance(expected, EnumType):
            return self._symbol(node, expected)
        if expected in (BOOL, STRING, NAME) or expected.name in ("int", "double"):
            return self._constant(node, expected)
        return self._component(node, expected, scope)

    def error(self, message: str, node: Node) -> InputError:
        return self.source.error(message, node.position)

    def _let(self, node: Let, expected: AnyType, scope: Mapping[str, Component]) -> Any:
        if node.name in scope:
            raise self.error(f"variable '{node.name}' is already defined", node)
        definition = node.definition
        if not isinstance(definition, (Call, Let)) and not self._is_variable(definition, scope):
            raise self.error(f"variable '{node.name}' can only stand for an evaluator such as ff()", definition)
        value = self.check(definition, self._kind(definition, scope), scope)
        return self.check(node.body, expected, {**scope, node.name: value})

    def _kind(self, definition: Node, scope: Mapping[str, Component]) -> Type:
        """The kind of what a variable is to stand for; an evaluator, where that is not clear."""
        if isinstance(definition, Let):
            return EVALUATOR
        feature = self.features.get(definition.name) if isinstance(definition, Call) else None
        if isinstance(definition, Literal):
            feature = scope[str(definition.value)].feature
        return feature.kind if feature is not None and feature.kind in VARIABLES else EVALUATOR

    @staticmethod
    def _is_variable(node: Node, scope: Mapping[str, Component]) -> bool:
        return isinstance(node, Literal) and node.kind == "symbol" and node.value in scope

    def _list(self, node: Node, expected: ListType, scope: Mapping[str, Component]) -> list[Any]:
        if not isinstance(node, ListNode):
            raise self.error(f"expected a {expected} in brackets, as in [{_shown(node)}]", node)
        if expected.nonempty and not node.items:
            raise self.error("this list must not be empty", node)
        return [self.check(item, expected.item, scope) for item in node.items]

    def _symbol(self, node: Node, expected: EnumType) -> str:
        if not isinstance(node, Literal) or node.kind != "symbol":
            raise self.error(f"expected one of {expected}, found {_shown(node)}", node)
        name = str(node.value)
        if name not in expected.values:
            raise self.error(f"'{name}' is not one of {expected}{near_miss(name, expected.values)}", node)
        return name

    def _constant(self, node: Node, expected: Type) -> Any:
        kinds = _LITERALS.get(expected.name, (expected.name,))
        if not isinstance(node, Literal) or node.kind not in kinds:
            raise self.error(f"expected {_article(expected.name)}, found {_shown(node)}", node)
        value = node.value
        if isinstance(value, (int, float)) and expected.minimum is not None and value < expected.minimum:
            raise self.error(f"expected at least {expected.minimum:g}, found {_shown(node)}", node)
        if expected.name == "int" and isinstance(value, float):
            return MAX_INT if value > 0 else -MAX_INT
        return float(value) if expected.name == "double" else value

    def _component(self, node: Node, expected: Type, scope: Mapping[str, Component]) -> Component:
        if isinstance(node, Literal) and node.kind == "symbol":
            name = str(node.value)
            if name not in scope:
                raise self.error(self._unknown_symbol(name, expected, scope), node)
            component = scope[name]
        elif isinstance(node, Call):
            component = self._call(node, expected, scope)
        else:
            raise self.error(f"expected {_article(expected.name)}, found {_shown(node)}", node)
        if component.feature.kind != expected:
            found = f"{component.feature.name}, which is {_article(component.feature.kind.name)}"
            raise self.error(f"expected {_article(expected.name)}, found {found}", node)
        return component

    def _unknown_symbol(self, name: str, expected: Type, scope: Mapping[str, Component]) -> str:
        if name in self.features:
            return f"'{name}' is no variable; write {name}() for the feature"
        known = [*scope, *(feature.name for feature in self.features.values() if feature.kind == expected)]
        return f"'{name}' is neither a variable nor a call{near_miss(name, known)}"

    def _call(self, node: Call, expected: Type, scope: Mapping[str, Component]) -> Component:
        feature = self.features.get(node.name)
        if feature is None:
            same_kind = [other.name for other in self.features.values() if other.kind == expected]
            hint = near_miss(node.name, same_kind) or f"; known here: {', '.join(same_kind)}"
            raise self.error(f"there is no {expected.name} '{node.name}'{hint}", node)
        given = self._bind(node, feature)
        values = {}
        for parameter in feature.parameters:
            if parameter.name in given:
                values[parameter.name] = self.check(given[parameter.name], parameter.type, scope)
            elif parameter.default is None:
                raise self.error(f"{feature.name} needs a value for '{parameter.name}' ({parameter.type})", node)
            else:
                values[parameter.name] = self._default(feature, parameter)
        return Component(feature, values)

    def _bind(self, node: Call, feature: Feature) -> dict[str, Node]:
        names = [parameter.name for parameter in feature.parameters]
        if len(node.args) > len(names):
            what = f"{feature.name} takes at most {len(names)} arguments: {feature.signature()}"
            raise self.error(what, node.args[len(names)])
        given = dict(zip(names, node.args, strict=False))
        for name, value in node.kwargs:
            if name not in names:
                hint = near_miss(name, names) or f"; it has {', '.join(names) or 'none'}"
                raise self.error(f"{feature.name} has no option '{name}'{hint}", value)
            if name in given:
                raise self.error(f"'{name}' is given by position and by name", value)
            given[name] = value
        return given

    def _default(self, feature: Feature, parameter: Parameter) -> Any:
        if parameter.default == NONE:
            return None
        source = Source(parameter.default or "", f"default of {feature.name}.{parameter.name}")
        return Checker(self.features, source).check(parse(source.text, source.origin), parameter.type, {})


_LITERALS = {"double": ("int", "double"), NAME.name: ("string", "symbol")}
"""Kinds of literals that a type takes, where these are not just its own."""


def _article(noun: str) -> str:
    return f"an {noun}" if noun[0].lower() in "aeio" else f"a {noun}"


def _shown(node: Node) -> str:
    if isinstance(node, Call):
        return f"{node.name}(…)"
    if isinstance(node, ListNode):
        return "a list"
    if isinstance(node, Let):
        return "let(…)"
    if isinstance(node.value, float) and math.isinf(node.value):
        return "infinity"
    return f'"{node.value}"' if node.kind == "string" else str(node.value).lower()
