"""Text and JSON from strangers: whatever they hold, reading and showing them is harmless."""

from __future__ import annotations

import json
import os
from typing import Any

MAX_INTEGER_DIGITS = 400
"""Longer numbers are refused: no value of ours has them, and some conversions of theirs take quadratic time."""


def parse_json(text: str | bytes) -> Any:
    """The value of a JSON text; ValueError for whatever is none, nested too deeply for Python, or a huge number."""
    try:
        return json.loads(text, parse_int=_integer)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _integer(digits: str) -> int:
    if len(digits) > MAX_INTEGER_DIGITS:
        raise ValueError(f"a number of {len(digits)} digits")
    return int(digits)


def printable(text: str) -> str:
    """The text with whatever a terminal would obey, or UTF-8 cannot encode, shown as an escape; one line stays one."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else _escaped(letter) for letter in text)


def printable_lines(text: str) -> str:
    """The same for a text of several lines."""
    return text if text.isprintable() else "\n".join(map(printable, text.split("\n")))


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape").decode()


def file_name(name: str | os.PathLike[str]) -> str:
    """A file name as text that can be written anywhere: bytes that are no UTF-8 become ``\\xff``."""
    return printable(os.fsencode(name).decode(errors="backslashreplace"))
