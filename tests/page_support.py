"""A saved page of made-up records, and hands and eyes for it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import chromium
import compare_records

from gsp_fd.compare.comparison import Comparison
from gsp_fd.compare.page import render

HEADERS = [compare_records.header(problems=60)]
RESULTS = compare_records.results(4)
ROWS = "[...document.querySelectorAll('#{} tbody tr')].map(r => [...r.cells].map(c => c.textContent.trim()))"


def save(folder: Path, results: list[dict[str, Any]], headers: list[dict[str, Any]] = HEADERS) -> Path:
    path = folder / "page.html"
    path.write_text(render(Comparison(headers, results)), encoding="utf-8")
    return path


def open_saved(browser: chromium.Page, path: Path) -> chromium.Page:
    browser.resize(1200, 900)
    browser.move(0, 0)
    browser.open(path)
    return browser


def table_rows(page: chromium.Page, table: str) -> list[list[str]]:
    rows: list[list[str]] = page.evaluate(ROWS.format(table))
    return rows


def text_of(page: chromium.Page, identity: str) -> str:
    return str(page.evaluate(f"document.getElementById('{identity}').textContent"))


def choose(page: chromium.Page, identity: str, label: str) -> None:
    page.evaluate(
        f"(s => {{ s.value = [...s.options].find(o => o.text === {json.dumps(label)}).value; "
        "for (const kind of ['input', 'change']) s.dispatchEvent(new Event(kind, {bubbles: true})); })"
        f"(document.getElementById('{identity}'))"
    )


def solved(name: str, results: list[dict[str, Any]] = RESULTS) -> list[dict[str, Any]]:
    return [r for r in results if r["configuration"] == name and r["status"] == "solved"]


def number(text: str) -> float:
    return math.nan if text == "–" else float(text.replace(",", ""))
