"""Broken versions of good input, drawn from a random number generator."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

NUMBERS = (
    *(0, -1, 1, 2, 3, 7, 8, 255, 256, 65535, 65536, 100_000),
    *(2**30 - 1, 2**30, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**62, 2**63 - 1, 2**63, 2**64, 10**30),
    *(-(2**31), -(2**31) - 1, -(2**63), -(2**63) - 1),
)
LOOK_LIKE_NUMBERS = (
    *("0.5", "-0.0", "1e400", "nan", "NaN", "inf", "-Infinity", "infinity", "9" * 5000, "0x10", "1_000", "٣", "true"),
    "",
)
ODD = (
    *("\0", "\n", "\r", "\t", "\v", "\f", "\x1c", "\x85", "\u2028", "\x1b[31m", "\ufeff", "é"),
    *("=", '"', "\\", "'", ";", "#", "A"),
)
_NUMBER = re.compile(rb"-?\d+")
_WORD = re.compile(rb"[^\s()\[\],=]+")


def number(rng: random.Random) -> bytes:
    """A number that programs get wrong, or something that only looks like one."""
    kind = rng.random()
    if kind < 0.4:
        return str(rng.randint(0, 5)).encode()
    return (str(rng.choice(NUMBERS)) if kind < 0.9 else rng.choice(LOOK_LIKE_NUMBERS)).encode()


def edited(rng: random.Random, data: bytes, tokens: Sequence[str] = ()) -> bytes:
    """A few edits: numbers, words, spans and single bytes exchanged, doubled, moved, cut off."""
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 5))):
        data = rng.choice(_EDITS)(rng, data, tokens)
    return data


def _exchange(rng: random.Random, data: bytes, pattern: re.Pattern[bytes], new: bytes) -> bytes:
    places = list(pattern.finditer(data))
    if not places:
        return data + new
    place = rng.choice(places)
    return data[: place.start()] + new + data[place.end() :]


def _new_number(rng: random.Random, data: bytes, tokens: Sequence[str]) -> bytes:
    return _exchange(rng, data, _NUMBER, number(rng))


def _new_word(rng: random.Random, data: bytes, tokens: Sequence[str]) -> bytes:
    words = _WORD.findall(data) or [b"x"]
    choice = rng.random()
    new = rng.choice(words) if choice < 0.5 or not tokens else rng.choice(tokens).encode()
    return _exchange(rng, data, _WORD, new if choice < 0.9 else rng.choice(ODD).join("ab").encode())


def _span(rng: random.Random, data: bytes) -> tuple[int, int]:
    start = rng.randint(0, len(data))
    return start, min(len(data), start + rng.choice((1, 1, 2, 4, 16, 64, 256)))


def _delete(rng: random.Random, data: bytes, tokens: Sequence[str]) -> bytes:
    start, end = _span(rng, data)
    return data[:start] + data[end:]


def _double(rng: random.Random, data: bytes, tokens: Sequence[str]) -> bytes:
    start, end = _span(rng, data)
    return data[:end] + data[start:end] * rng.choice((1, 1, 2, 100)) + data[end:]


def _move(rng: random.Random, data: bytes, tokens: Sequence[str]) -> bytes:
    start, end = _span(rng, data)
    rest = data[:start] + data[end:]
    where = rng.randint(0, len(rest))
    return rest[:where] + data[start:end] + rest[where:]


def _insert(rng: random.Random, data: bytes, tokens: Sequence[str]) -> bytes:
    where = rng.randint(0, len(data))
    some = rng.choice(tokens) if tokens and rng.random() < 0.7 else rng.choice(ODD)
    return data[:where] + some.encode() + data[where:]


def _flip(rng: random.Random, data: bytes, tokens: Sequence[str]) -> bytes:
    if not data:
        return data
    where = rng.randrange(len(data))
    return data[:where] + bytes([data[where] ^ 1 << rng.randrange(8)]) + data[where + 1 :]


def _cut(rng: random.Random, data: bytes, tokens: Sequence[str]) -> bytes:
    return data[: rng.randint(0, len(data))]


def _swap_lines(rng: random.Random, data: bytes, tokens: Sequence[str]) -> bytes:
    lines = data.split(b"\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[i], lines[j] = lines[j], lines[i]
    return b"\n".join(lines)


_EDITS = (*[_new_number] * 6, *[_new_word] * 4, *[_swap_lines] * 2, _delete, _double, _move, _insert, _flip, _cut)

STRANGE: tuple[Any, ...] = (
    None, True, False, [], {}, "", "x", "\0", "=1+1", "\ud800", "a" * 10_000, 0.5, -0.0, float("nan"), float("inf"),
    float("-inf"), [[]], {"": {}}, [1, "2", None], *NUMBERS,
)  # fmt: skip


def edited_json(rng: random.Random, value: Any) -> Any:
    """The value with something strange in some place of it."""
    if isinstance(value, (dict, list)) and value and rng.random() < 0.85:
        if isinstance(value, dict):
            entries = dict(value)
            key = rng.choice(list(entries))
            action = rng.random()
            if action < 0.1:
                del entries[key]
            elif action < 0.15:
                entries[rng.choice(("", "x", *entries))] = entries.pop(key)
            else:
                entries[key] = edited_json(rng, entries[key])
            return entries
        items = list(value)
        where = rng.randrange(len(items))
        if rng.random() < 0.1:
            items[where : where + 1] = rng.choice(([], [items[where]] * 2, [items[where]] * 300))
        else:
            items[where] = edited_json(rng, items[where])
        return items
    return value if rng.random() < 0.05 else rng.choice(STRANGE)


def json_text(rng: random.Random | None, value: Any) -> str:
    """JSON, and if there is a generator, sometimes with what only some readers of JSON take."""
    text = json.dumps(value)
    if rng is None:
        return text
    if rng.random() < 0.03:
        return "[" * (depth := rng.choice((50, 1000, 100_000))) + text + "]" * depth
    if rng.random() < 0.03:
        return edited(rng, text.encode()).decode(errors="replace")
    return text


def edited_json_text(rng: random.Random, text: str, change: Callable[[random.Random, Any], Any] = edited_json) -> str:
    """JSON with a change in it; if an edit before this one broke it, with any edits."""
    try:
        return json_text(rng, change(rng, json.loads(text)))
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return edited(rng, text.encode(errors="replace")).decode(errors="replace")
