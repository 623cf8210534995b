"""The comparison's page in people's hands: keyboard, table, small screens, hostile and missing values."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import chromium
import compare_records
import pytest
from page_support import HEADERS, RESULTS, choose, number, open_saved, save, solved, table_rows, text_of

HOSTILE = '</script><img src=x onerror="document.title=1"><b>&amp;"\'\u2028\ud800'
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture
def page(browser: chromium.Page, tmp_path: Path) -> chromium.Page:
    """The page of RESULTS, freshly opened."""
    return open_saved(browser, save(tmp_path, RESULTS))


def test_keyboard_reaches_a_plot_and_opens_a_point_in_the_table(page: chromium.Page) -> None:
    for _ in range(60):
        page.press("Tab")
        if page.evaluate("document.activeElement.id") == "expansions-plot":
            break
    style = "getComputedStyle(document.getElementById('expansions-plot'))"
    assert page.evaluate(f"{style}.outlineStyle") == "solid"
    for key in ("ArrowUp", "ArrowUp", "ArrowLeft", "ArrowDown"):
        page.press(key)
        assert text_of(page, "announcement") == page.evaluate(
            "[...tooltip.children].map(e => e.textContent).join('; ')"
        )
    assert page.evaluate("[announcement.role, announcement.ariaLive, tooltip.hidden]") == ["status", "polite", False]
    page.press("Escape")
    assert page.evaluate("tooltip.hidden")
    problem = text_of(page, "announcement").split("; ")[0]
    page.press("Enter")
    rows = table_rows(page, "result-table")
    assert [" ".join(row[:3]) for row in rows] == [problem] * len(compare_records.CONFIGURATIONS)


COLUMNS = ["domain", "split", "problem", "configuration", "status", "cost", "best_known", "steps", "expansions"]
COLUMNS += ["generated", "evaluations", "cpu_seconds"]


@pytest.mark.parametrize("column", ["domain", "problem", "configuration", "cost", "evaluations", "cpu_seconds"])
def test_table_sorts_both_ways_with_unknown_values_last(page: chromium.Page, column: str) -> None:
    place = COLUMNS.index(column)
    values = [r[column] for r in RESULTS]
    order = list(compare_records.CONFIGURATIONS).index if column == "configuration" else lambda value: value
    known = sorted((value for value in values if value is not None), key=order)
    for direction, expected in (("ascending", known), ("descending", known[::-1])):
        page.click(f"#result-table th:nth-child({place + 1}) button")
        states = page.evaluate("[...document.querySelectorAll('#result-table th')].map(h => h.ariaSort)")
        assert states == [direction if i == place else "none" for i in range(len(states))]
        cells = [row[place] for row in table_rows(page, "result-table")]
        while page.evaluate("!document.getElementById('page-next').disabled"):
            page.click("#page-next")
            cells += [row[place] for row in table_rows(page, "result-table")]
        assert cells[len(known) :] == ["–"] * values.count(None)
        shown = cells[: len(known)]
        assert (
            shown == expected
            if isinstance(known[0], str)
            else [*map(number, shown)] == pytest.approx(expected, rel=1e-3)
        )


def test_table_filters(page: chromium.Page) -> None:
    choose(page, "filter-domain", "ferry")
    choose(page, "filter-configuration", "hmax-wastar")
    chosen = [r for r in RESULTS if r["domain"] == "ferry" and r["configuration"] == "hmax-wastar"]
    assert text_of(page, "page-position") == f"1–{len(chosen)} of {len(chosen)} results"
    choose(page, "filter-status", "expansion-limit")
    chosen = [r for r in chosen if r["status"] == "expansion-limit"]
    assert [row[:5] for row in table_rows(page, "result-table")] == [[r[name] for name in COLUMNS[:5]] for r in chosen]
    page.evaluate("document.getElementById('filter-text').focus()")
    page.type("HARD p03")
    assert [row[1:3] for row in table_rows(page, "result-table")] == [["hard", "p03"]] * sum(
        r["split"] == "hard" and r["problem"] == "p03" for r in chosen
    )
    page.type(" nowhere")
    assert text_of(page, "page-position") == "No result matches"
    page.click("#filters button")
    assert text_of(page, "page-position") == f"1–50 of {len(RESULTS)} results"


@pytest.mark.parametrize("width", [320, 768])
def test_page_never_scrolls_sideways(browser: chromium.Page, tmp_path: Path, width: int) -> None:
    long = "x" * 300
    headers = [compare_records.header(["gsp-policy", long, HOSTILE])]
    results = compare_records.results(
        2, domains=["ferry", long], splits=["easy", long], configurations=["gsp-policy", long]
    )
    browser.resize(width, 640, mobile=True)
    browser.open(save(tmp_path, [*RESULTS, *results], headers))
    assert browser.evaluate("[innerWidth, document.documentElement.clientWidth]") == [width, width]
    assert browser.evaluate(OVERFLOW) == 0
    browser.evaluate("document.getElementById('steps-plot').focus()")
    browser.press("End")
    left, right = browser.evaluate("(box => [box.left, box.right])(tooltip.getBoundingClientRect())")
    assert left >= 0
    assert right <= width
    assert browser.evaluate(OVERFLOW) == 0


def test_only_what_scrolls_has_a_hint(browser: chromium.Page, tmp_path: Path) -> None:
    wide = [f"a-configuration-with-a-long-name-{i}" for i in range(5)]
    browser.resize(390, 844, mobile=True)
    for configurations, hints in (["one"], False), (wide, True):
        results = compare_records.results(2, configurations=configurations)
        browser.open(save(tmp_path, results, [compare_records.header(configurations)]))
        parts = "[...document.querySelectorAll('#coverage .scroll[role=region]')]"
        assert browser.evaluate(f"{parts}.some(part => getComputedStyle(part, '::before').content != 'none')") == hints
        assert browser.evaluate(f"{parts}.some(part => part.scrollWidth > part.clientWidth)") == hints


def test_hostile_texts_stay_texts(browser: chromium.Page, tmp_path: Path) -> None:
    names = ("domain", "split", "problem", "configuration", "message")
    hostile = [
        {**RESULTS[0], **dict.fromkeys(names, HOSTILE)},
        {**RESULTS[0], "status": HOSTILE, "problem": "p" + "9" * 5000},
    ]
    header = compare_records.header([HOSTILE])
    header |= {name: HOSTILE for name in ("suite", "command", "started")} | {"versions": {HOSTILE: HOSTILE}}
    page = open_saved(browser, save(tmp_path, hostile, [header]))
    assert page.complaints() == []
    assert page.evaluate("document.querySelectorAll('img, main b b').length") == 0
    written = HOSTILE.replace("\ud800", "?")
    assert page.evaluate("document.title") == f"Comparison of planners on {written} and blocksworld"
    rows = page.evaluate(
        "[...document.querySelectorAll('#result-table tbody tr')].map(r => [...r.cells].map(c => c.textContent))"
    )
    assert [written] * 4 in [row[:4] for row in rows]
    page.evaluate("document.getElementById('time-plot').focus()")
    page.press("Home")
    assert written in text_of(page, "announcement")
    assert page.complaints() == []


def test_no_results(browser: chromium.Page, tmp_path: Path) -> None:
    for headers in ([], HEADERS):
        page = open_saved(browser, save(tmp_path, [], headers))
        assert page.complaints() == []
        assert "No results yet." in text_of(page, "coverage")
        assert page.evaluate("[...document.querySelectorAll('.scripted')].some(e => e.checkVisibility())") is False
    assert "60 problems" not in page.evaluate("document.querySelector('header p').textContent")
    assert "480 of 480 runs are missing" in page.evaluate("document.querySelector('header p').textContent")


def test_one_configuration_has_no_pairs(browser: chromium.Page, tmp_path: Path) -> None:
    results = compare_records.results(3, domains=["ferry"], splits=[""], configurations=["gsp-policy"])
    page = open_saved(browser, save(tmp_path, results, []))
    assert page.complaints() == []
    assert page.evaluate("document.getElementById('pairs').checkVisibility()") is False
    assert table_rows(page, "coverage-table") == [["ferry", "", "3", str(len(solved("gsp-policy", results)))]]
    assert len(table_rows(page, "result-table")) == 3


def test_missing_and_senseless_values_are_unknown(browser: chromium.Page, tmp_path: Path) -> None:
    bare: dict[str, Any] = {
        "kind": "result",
        "domain": "ferry",
        "problem": "p1",
        "configuration": "a",
        "status": "solved",
    }
    numbers = {"cost": math.nan, "steps": math.inf, "expansions": 10**400, "cpu_seconds": "fast", "best_known": True}
    results = [
        bare,
        {**bare, **numbers, "problem": "p2", "split": None},
        {**bare, "problem": "p3", "status": "crash"},
        {**bare, "problem": "p3", "cost": 0, "best_known": 0, "expansions": 0, "cpu_seconds": 0, "steps": 0},
        {**bare, "problem": "p1", "configuration": "b", "cost": 3, "best_known": 0, "expansions": 5, "steps": 3},
    ]
    page = open_saved(browser, save(tmp_path, results, [{"kind": "header"}]))
    assert page.complaints() == []
    assert table_rows(page, "coverage-table") == [["ferry", "", "3", "3", "1 of 1 run"]]
    assert [row[:7] for row in table_rows(page, "result-table")] == [
        ["ferry", "", "p1", "a", "solved", "–", "–"],
        ["ferry", "", "p1", "b", "solved", "3", "0"],
        ["ferry", "", "p2", "a", "solved", "–", "–"],
        ["ferry", "", "p3", "a", "solved", "0", "0"],
    ]
    assert table_rows(page, "quality-table") == [["a", "1", "0", "1", "0", "–"], ["b", "1", "0", "0", "1", "–"]]
    assert "1 without a known number" in text_of(page, "steps-caption")
    assert "2 not run by both" in text_of(page, "steps-caption")
    assert "3 solved runs did not report it" in text_of(page, "time-caption")
    choose(page, "quality-configuration", "all configurations")
    assert "best cost is 0" in text_of(page, "quality-plot")


def test_unreadable_parts_of_a_suite_are_named(browser: chromium.Page, tmp_path: Path) -> None:
    broken = {**RESULTS[0], "domain": "gone", "problem": "", "status": "input-error", "message": "no <domain.pddl>"}
    page = open_saved(browser, save(tmp_path, [*RESULTS, broken]))
    assert "Not run: gone: no <domain.pddl>" in text_of(page, "coverage")
    assert "gone" not in [row[0] for row in table_rows(page, "coverage-table")]


EXPLANATION = {
    "action": ["board c1", "sail a b", "<b>debark</b> c1"],
    "rest": [3, 2, 1],
    "gsp": [2.913, 2.04, 0.98],
    "hff": [3, None, 1],
    "better": [0, 1, 0],
    "best": [
        [["board c1", -2.913], ["sail a b", -4.5]],
        [["debark c1", -2.04], ["sail a b", -2.5]],
        [["<b>debark</b> c1", -0.98]],
    ],
}


def test_a_click_explains_a_plan(browser: chromium.Page, tmp_path: Path) -> None:
    explained = [{**RESULTS[0], "status": "solved", "steps": 3, "explanation": EXPLANATION}, *RESULTS[1:]]
    page = open_saved(browser, save(tmp_path, explained))
    assert page.evaluate("[document.getElementById('plan').hidden, document.querySelectorAll('.explain').length]") == [
        True,
        1,
    ]
    page.click(".explain")
    first = RESULTS[0]
    title = f"A plan of {first['configuration']} for {first['domain']} {first['split']} {first['problem']}"
    assert text_of(page, "plan-title") == title
    assert page.evaluate("document.activeElement.id") == "plan-title"
    assert "3 steps; 1 of them, marked below" in text_of(page, "plan-summary")
    assert table_rows(page, "step-table")[:2] == [
        ["1", "3", "2.9", "3", "board c1", "-2.91 board c1-4.50 sail a b"],
        ["2", "2", "2.0", "–", "sail a b (1 better)", "-2.04 debark c1-2.50 sail a b"],
    ]
    assert table_rows(page, "step-table")[2][4:] == ["<b>debark</b> c1", "-0.98 <b>debark</b> c1"]
    assert page.evaluate("document.querySelectorAll('#step-table tr.left').length") == 1
    assert page.evaluate("document.querySelectorAll('#plan-plot .line').length") == 3
    page.evaluate("document.getElementById('plan-plot').focus()")
    page.press("ArrowRight")
    assert text_of(page, "announcement") == "1. board c1; plan 3, GSP 2.9, hFF 3; -2.91 board c1; -4.50 sail a b"
    assert page.complaints() == []
    page.resize(390, 844, mobile=True)
    assert page.evaluate(OVERFLOW) == 0


def test_resumed_runs_are_shown_once(browser: chromium.Page, tmp_path: Path) -> None:
    other = HEADERS[0] | {"started": "2026-11-18T00:00:00Z"}
    page = open_saved(browser, save(tmp_path, RESULTS, [HEADERS[0], other, other | {"limits": {"expansions": 5}}]))
    assert page.evaluate("document.querySelectorAll('#setup dl').length") == 2
    assert "2026-11-17T01:02:03Z (resumed 2026-11-18T00:00:00Z)" in text_of(page, "setup")


CONTRAST = """((names) => {
  const light = (name) => {
    const probe = document.body.appendChild(document.createElement('i'));
    probe.style.color = `var(--${name})`;
    const parts = getComputedStyle(probe).color.match(/[\\d.]+/g).slice(0, 3).map((c) => c / 255);
    probe.remove();
    const [r, g, b] = parts.map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  return names.map((name) => [light(name), light('page')]).map(([a, b]) => Math.max(a, b) / Math.min(a, b));
})"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_in_light_and_dark(page: chromium.Page, scheme: str) -> None:
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    try:
        brightness = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0]")
        assert (int(brightness) < 128) == (scheme == "dark")
        names = ["ink", "quiet", "focus", *(f"colour-{i}" for i in range(8))]
        assert min(page.evaluate(f"{CONTRAST}({json.dumps(names)})")) >= 4.5
    finally:
        page.call("Emulation.setEmulatedMedia", features=[])


def test_curves_differ_without_colour(browser: chromium.Page, tmp_path: Path) -> None:
    names = [f"c{i}" for i in range(20)]
    page = open_saved(browser, save(tmp_path, compare_records.results(1, configurations=names), []))
    looks = page.evaluate(
        "[...document.querySelectorAll('#time-legend .key')].map(k => getComputedStyle(k.querySelector('path'))"
        ".strokeDasharray + ' #' + k.querySelector('path:last-child').getAttribute('d'))"
    )
    assert len(looks) == len(set(looks)) == 20
    lines = page.evaluate(
        "[...document.querySelectorAll('#time-plot .line')].map(l => getComputedStyle(l).strokeDasharray)"
    )
    assert lines == [look.split(" #")[0] for look in looks]
