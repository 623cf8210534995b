"""Names that are almost right."""

from __future__ import annotations

from collections.abc import Iterable


def near_miss(name: str, known: Iterable[str]) -> str:
    """``; did you mean 'x'?`` where something similar is known, otherwise nothing."""
    from difflib import get_close_matches

    names = {other.lstrip("-"): other for other in known}
    plain = name.lstrip("-")
    close = [other for other in names if plain and other.startswith(plain)] or get_close_matches(plain, names, n=1)
    return f"; did you mean '{names[close[0]]}'?" if close else ""
