"""Fast Downward's search language: text to a small syntax tree.

Case does not matter outside strings. ``let(name, definition, expression)`` names an evaluator; positional
arguments come before keyword arguments; lists need brackets; commas never trail.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Union

from gsp_fd.common.errors import InputError, search_error

MAX_DEPTH = 150
"""Deeper nesting is refused, so that no input can exhaust the interpreter's stack."""

MAX_INT = 2**31 - 1
"""Fast Downward's ``infinity`` for integers."""

_SUFFIXES = {"k": 10**3, "m": 10**6, "g": 10**9}
_TOKEN = re.compile(
    r"""\s*(?:
      (?P<punctuation>[()\[\],=])
    | (?P<string>"(?:\\\\|\\"|\\n|[^"\\])*")
    | (?P<float>[+-]?(?:(?:\d*\.\d+|\d+\.)(?:e[+-]?\d+)?|\d+e[+-]?\d+)(?![\w.]))
    | (?P<int>[+-]?(?:infinity\b|\d+(?:[kmg]\b)?))
    | (?P<word>[a-z_]\w*)
    )\s*""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_ESCAPES = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}


@dataclass(frozen=True)
class Source:
    """The text an expression came from, for messages that point into it."""

    text: str
    origin: str = "--search"

    def error(self, message: str, position: int) -> InputError:
        """An input error of the search component that shows the place."""
        start = self.text.rfind("\n", 0, position) + 1
        end = self.text.find("\n", position)
        line = self.text[start : end if end >= 0 else len(self.text)]
        first = max(0, position - start - 60)
        shown = line[first : position - start + 40]
        caret = " " * (position - start - first) + "^"
        return search_error(
            f"{self.origin}, character {position + 1}: {message}\n  {shown}\n  {caret}",
        )


@dataclass(frozen=True)
class Literal:
    """A constant: ``bool``, ``int`` (infinity: ``math.inf``), ``double``, ``string``, or a bare ``symbol``."""

    kind: str
    value: bool | int | float | str
    position: int = field(compare=False)


@dataclass(frozen=True)
class ListNode:
    """``[a, b, …]``"""

    items: tuple[Node, ...]
    position: int = field(compare=False)


@dataclass(frozen=True)
class Call:
    """``name(a, b, key=c)``"""

    name: str
    args: tuple[Node, ...]
    kwargs: tuple[tuple[str, Node], ...]
    position: int = field(compare=False)


@dataclass(frozen=True)
class Let:
    """``let(name, definition, body)``"""

    name: str
    definition: Node
    body: Node
    position: int = field(compare=False)


Node = Union[Literal, ListNode, Call, Let]  # noqa: UP007  (evaluated at run time, Python 3.10 included)


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    position: int


def tokenize(source: Source) -> Iterator[_Token]:
    """The tokens of the text, words in lower case, ended by a token of kind ``end``."""
    text, position = source.text, 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            if not text[position:].strip():
                break
            position += len(text[position:]) - len(text[position:].lstrip())
            raise source.error(f"unexpected character {text[position]!r}", position)
        kind = match.lastgroup or ""
        value = match.group(kind)
        if kind == "word":
            value = value.lower()
            kind = {"let": "let", "true": "bool", "false": "bool"}.get(value, "word")
        yield _Token(value if kind == "punctuation" else kind, value, match.start(match.lastgroup or 0))
        position = match.end()
    yield _Token("end", "", len(text))


def called_names(text: str) -> set[str]:
    """What is called in a text, which need not be an expression: up to where it can be read."""
    names = set()
    with suppress(InputError):
        for token, following in pairwise(tokenize(Source(text))):
            if token.kind == "word" and following.kind == "(":
                names.add(token.text)
    return names


def parse(text: str, origin: str = "--search") -> Node:
    """Parse one expression; raises InputError (exit code 33) with the position of what is wrong."""
    source = Source(text, origin)
    parser = _Parser(source, list(tokenize(source)))
    node = parser.expression(0)
    parser.expect("end", "the end of the expression")
    return node


class _Parser:
    def __init__(self, source: Source, tokens: list[_Token]) -> None:
        self.source = source
        self.tokens = tokens
        self.index = 0

    @property
    def token(self) -> _Token:
        return self.tokens[self.index]

    def error(self, message: str, token: _Token | None = None) -> InputError:
        return self.source.error(message, (token or self.token).position)

    def accept(self, kind: str) -> _Token | None:
        token = self.token
        if token.kind != kind:
            return None
        self.index += 1
        return token

    def expect(self, kind: str, what: str) -> _Token:
        token = self.accept(kind)
        if token is None:
            raise self.error(f"expected {what}, found {_describe(self.token)}")
        return token

    def expression(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise self.error(f"nested more than {MAX_DEPTH} deep")
        token = self.token
        self.index += 1
        if token.kind == "[":
            items = self.sequence("]", depth, keywords=False)[0]
            return ListNode(items, token.position)
        if token.kind == "let":
            return self.let(token, depth)
        if token.kind == "word":
            if self.accept("(") is None:
                return Literal("symbol", token.text, token.position)
            args, kwargs = self.sequence(")", depth, keywords=True)
            return Call(token.text, args, kwargs, token.position)
        if token.kind in ("bool", "int", "float", "string"):
            return self.constant(token)
        self.index -= 1
        what = "the search is empty" if len(self.tokens) == 1 else f"expected a value, found {_describe(token)}"
        raise self.error(what, token)

    def let(self, token: _Token, depth: int) -> Let:
        self.expect("(", "'(' after let")
        name = self.expect("word", "the name of a variable").text
        self.expect(",", "','")
        definition = self.expression(depth + 1)
        self.expect(",", "',' and the expression that uses the variable")
        body = self.expression(depth + 1)
        self.expect(")", "')'")
        return Let(name, definition, body, token.position)

    def sequence(
        self, close: str, depth: int, *, keywords: bool
    ) -> tuple[tuple[Node, ...], tuple[tuple[str, Node], ...]]:
        args: list[Node] = []
        kwargs: dict[str, Node] = {}
        if self.accept(close):
            return (), ()
        while True:
            token = self.token
            if keywords and token.kind == "word" and self.tokens[self.index + 1].kind == "=":
                self.index += 2
                if token.text in kwargs:
                    raise self.error(f"option '{token.text}' is given twice", token)
                kwargs[token.text] = self.expression(depth + 1)
            else:
                argument = self.expression(depth + 1)
                if kwargs:
                    raise self.error("positional arguments come before keyword arguments", token)
                args.append(argument)
            if self.accept(close):
                return tuple(args), tuple(kwargs.items())
            self.expect(",", f"',' or '{close}'")
            if self.token.kind == close:
                raise self.error("no comma before a closing bracket")

    def constant(self, token: _Token) -> Literal:
        text = token.text
        if token.kind == "bool":
            return Literal("bool", text == "true", token.position)
        if token.kind == "float":
            value = float(text)
            if math.isinf(value):
                raise self.error(f"the number {text[:40]} is too large", token)
            return Literal("double", value, token.position)
        if token.kind == "string":
            plain = re.sub(r'\\[\\"n]', lambda match: _ESCAPES[match.group()], text[1:-1])
            return Literal("string", plain, token.position)
        return Literal("int", self.integer(token), token.position)

    def integer(self, token: _Token) -> int | float:
        text = token.text.lower()
        if text.endswith("infinity"):
            return -math.inf if text.startswith("-") else math.inf
        factor = _SUFFIXES.get(text[-1], 1)
        digits = text.rstrip("kmg")
        # int() of very long digit strings is refused by newer Pythons, and slow in all of them.
        value = int(digits) * factor if len(digits) < 20 else MAX_INT + 1
        if abs(value) > MAX_INT:
            raise self.error(f"the number {text[:40]} is too large (at most {MAX_INT}, or infinity)", token)
        return value


def _describe(token: _Token) -> str:
    return "the end" if token.kind == "end" else f"'{token.text}'"


def to_text(node: Node) -> str:
    """The expression in canonical spelling; ``parse(to_text(node)) == node``."""
    if isinstance(node, Literal):
        return _literal_text(node)
    if isinstance(node, ListNode):
        return "[" + ", ".join(map(to_text, node.items)) + "]"
    if isinstance(node, Let):
        return f"let({node.name}, {to_text(node.definition)}, {to_text(node.body)})"
    parts = [to_text(arg) for arg in node.args] + [f"{name}={to_text(value)}" for name, value in node.kwargs]
    return f"{node.name}({', '.join(parts)})"


def _literal_text(node: Literal) -> str:
    if node.kind == "bool":
        return "true" if node.value else "false"
    if node.kind == "string":
        escaped = str(node.value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{escaped}"'
    if isinstance(node.value, float) and math.isinf(node.value):
        return "infinity" if node.value > 0 else "-infinity"
    return repr(node.value) if node.kind == "double" else str(node.value)
