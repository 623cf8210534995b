"""The page of a comparison: one HTML file with its data, style and script inside, which loads nothing."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from string import Template
from typing import Any

from gsp_fd.common.pages import content_policy, script_data
from gsp_fd.compare import page_tables
from gsp_fd.compare.comparison import Comparison, natural_order, split_order, status_order
from gsp_fd.compare.page_tables import SHAPES
from gsp_fd.compare.results import NUMBER_COLUMNS, TEXT_COLUMNS


def render(comparison: Comparison) -> str:
    """The page of a comparison."""
    style, script = _file("page.css"), "".join(map(_file, ("plot.js", "explain.js", "page.js")))
    return Template(_file("page.html")).substitute(
        policy=content_policy(style, script),
        title=html.escape(page_tables.title(comparison)),
        lead=page_tables.lead(comparison),
        coverage=page_tables.coverage(comparison),
        outcomes=page_tables.outcomes(comparison),
        quality=page_tables.quality(comparison),
        setup=page_tables.setup(comparison),
        data=script_data(_data(comparison)),
        style=style,
        script=script,
    )


def _file(name: str) -> str:
    return resources.files("gsp_fd.compare").joinpath(name).read_text(encoding="utf-8")


def _data(comparison: Comparison) -> dict[str, Any]:
    """What the script reads: columns, names in the order in which they are shown, and how they are drawn."""
    orders: dict[str, Callable[[str], Any]] = {
        "split": split_order,
        "status": status_order,
    }
    columns: dict[str, Any] = {
        name: _text_column(comparison.results, name, orders.get(name, natural_order)) for name in TEXT_COLUMNS
    }
    # A configuration without results keeps its place, so that numbers and marks agree with the tables.
    columns["configuration"] = {
        "names": comparison.configurations,
        "index": [comparison.configurations.index(result["configuration"]) for result in comparison.results],
    }
    for name in (*NUMBER_COLUMNS, "best_cost"):
        columns[name] = [result[name] for result in comparison.results]
    marks = max(len(comparison.configurations), len(comparison.domains))
    explained = {row: result["explanation"] for row, result in enumerate(comparison.results) if result["explanation"]}
    styles = [page_tables.mark(i) for i in range(max(marks, 3))]
    return {"shapes": SHAPES, "marks": styles, "columns": columns, "explanations": explained}


def _text_column(results: Sequence[Mapping[str, Any]], name: str, order: Callable[[str], Any]) -> dict[str, Any]:
    names = sorted({result[name] for result in results}, key=order)
    places = {text: place for place, text in enumerate(names)}
    return {"names": names, "index": [places[result[name]] for result in results]}
