"""A linear, non-recursive s-expression reader that keeps line numbers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gsp_fd.common.errors import InputError
from gsp_fd.common.exit_codes import ExitCode

MAX_DEPTH = 400
"""Deepest nesting of parentheses; keeps every recursive walk over a file's formulas within Python's stack."""

# A list without sublists, with its line end, is one token: large problem files are lists of such facts.
_TOKEN = re.compile(r"\([^()]*\)\n?|[()]|\n|[^\s()]+")
_COMMENT = re.compile(r";[^\n]*")
_NON_ASCII = re.compile(r"[^\x00-\x7f]")


class SList(list[Any]):
    """A parenthesised list: items are lower-case words (``str``) or further :class:`SList`.

    Inside ``(:init ...)`` a fact without sublists stays unread, as its text ``"(on a b)"``: there can be
    hundreds of thousands of them, see :func:`fact_words`.
    """

    __slots__ = ("_where", "line")

    line: int
    _where: list[int] | str | None  # the items' lines, or the text between the parentheses

    def __init__(self, items: Iterable[Any], line: int, where: list[int] | str | None = None) -> None:
        super().__init__(items)
        self.line = line
        self._where = where

    def item_line(self, index: int) -> int:
        """The line on which item ``index`` starts."""
        if isinstance(self._where, list):
            return self._where[index]
        if self._where is None or not self:
            return self.line
        starts = [match.start() for match in re.finditer(r"\S+", self._where)]
        return self.line + self._where.count("\n", 0, starts[index])


def read_text(path: str | os.PathLike[str]) -> str:
    """The file's text with Unix line ends and without a byte order mark; one character per byte."""
    name = os.fspath(path)
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = f"cannot read the file: {_reason(error)}"
        raise InputError(reason, name, exit_code=ExitCode.TRANSLATE_CRITICAL_ERROR) from None
    if b"\0" in data:
        raise InputError("this is a binary file, not PDDL", name, data.count(b"\n", 0, data.index(b"\0")) + 1)
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    return data.decode("latin-1").replace("\r\n", "\n").replace("\r", "\n")


def _reason(error: Exception) -> str:
    return (error.strerror or str(error)).lower() if isinstance(error, OSError) else str(error)


def read_file(path: str | os.PathLike[str]) -> SList:
    """The one s-expression in a file; :class:`InputError` for anything else."""
    return parse_text(read_text(path), os.fspath(path))


def parse_text(text: str, file: str) -> SList:
    """The one s-expression in ``text`` (Unix line ends), with comments dropped and words in lower case."""
    if ";" in text:
        text = _COMMENT.sub("", text)
    if not text.isascii():
        match = _NON_ASCII.search(text)
        assert match is not None
        line = text.count("\n", 0, match.start()) + 1
        raise InputError(f"non-ASCII character {match.group()!r} outside a comment", file, line)
    return _build(_TOKEN.findall(text.lower()), file)


def _build(tokens: list[str], file: str) -> SList:
    lines: list[int] = []
    top = current = SList([], 1, lines)
    stack: list[tuple[SList, list[int]]] = []
    line, in_init = 1, False
    for token in tokens:
        if token == "\n":
            line += 1
        elif token == "(":
            child_lines: list[int] = []
            current.append(child := SList([], line, child_lines))
            lines.append(line)
            stack.append((current, lines))
            current, lines, in_init = child, child_lines, False
            if len(stack) > MAX_DEPTH:
                raise InputError(f"parentheses nested more than {MAX_DEPTH} levels deep", file, line)
        elif token[0] == "(":
            current.append(token if in_init else read_fact(token, line))
            lines.append(line)
            if "\n" in token:
                line += token.count("\n")
        elif token == ")":
            if not stack:
                raise InputError("')' without a matching '('", file, line)
            current, lines = stack.pop()
            in_init = bool(current) and current[0] == ":init"
        else:
            # A question mark starts a new word, as in Fast Downward: (on?x ?y).
            words = [token] if token.rfind("?") <= 0 else token.replace("?", " ?").split()
            current.extend(words)
            lines.extend([line] * len(words))
            in_init = current[0] == ":init"
    if stack:
        raise InputError("missing ')': this '(' is never closed", file, current.line)
    return _single(top, file)


def fact_words(text: str) -> list[str]:
    """The words of a fact that the reader left as text, provided it has no question mark."""
    return text.strip("()\n").split()


def read_fact(text: str, line: int) -> SList:
    """The list for a fact that the reader left as text."""
    inner = text[1 : text.rindex(")")].replace("?", " ?")
    return SList(inner.split(), line, inner if "\n" in inner else None)


def _single(top: SList, file: str) -> SList:
    if not top:
        raise InputError("the file is empty: expected (define ...)", file, 1)
    if not isinstance(top[0], SList):
        raise InputError(f"expected '(', got '{top[0]}'", file, top.item_line(0))
    if len(top) > 1:
        what = "'('" if isinstance(top[1], SList) else f"'{top[1]}'"
        raise InputError(f"text after the end of the definition: {what}", file, top.item_line(1))
    return top[0]
