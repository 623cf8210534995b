"""Time and memory as people write them."""

from __future__ import annotations

import re

_TIME = {"s": 1, "m": 60, "h": 3600}
_MEMORY = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def parse_time(text: str) -> int:
    """Seconds from ``300``, ``5m``, ``1h`` (default unit: seconds)."""
    return _parse(text, _TIME, "s", "time", "90, 90s, 5m or 1h")


def parse_memory(text: str) -> int:
    """Bytes from ``4g``, ``3584M``, ``512`` (default unit: MiB)."""
    return _parse(text, _MEMORY, "m", "memory", "2000, 500000k, 3584m or 4g")


def _parse(text: str, units: dict[str, int], default: str, what: str, examples: str) -> int:
    match = re.fullmatch(rf"(\d{{1,15}})([{''.join(units)}])?", text, re.IGNORECASE | re.ASCII)
    if match is None:
        raise ValueError(f"'{text}' is no {what} limit; write for example {examples}")
    value = int(match[1]) * units[(match[2] or default).lower()]
    if value == 0:
        raise ValueError(f"a {what} limit must be more than 0")
    return value
