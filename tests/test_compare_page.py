"""The numbers of the comparison's page in a real browser, against the records they come from."""

from __future__ import annotations

import math
import re
from collections import Counter
from pathlib import Path
from typing import Any

import chromium
import compare_records
import pytest
from page_support import HEADERS, RESULTS, choose, number, open_saved, save, solved, table_rows, text_of

from gsp_fd.compare.page_tables import COLOURS, mark


@pytest.fixture
def page(browser: chromium.Page, tmp_path: Path) -> chromium.Page:
    """The page of RESULTS, freshly opened."""
    return open_saved(browser, save(tmp_path, RESULTS))


def _coverage(domain: str | None = None, split: str | None = None) -> list[str]:
    names = compare_records.CONFIGURATIONS
    chosen = [r for r in RESULTS if domain in (None, r["domain"]) and split in (None, r["split"])]
    return [f"{len(chosen) // len(names)}", *(str(len(solved(name, chosen))) for name in names)]


def test_tables_have_the_numbers_of_the_records(page: chromium.Page) -> None:
    expected = []
    for domain in compare_records.DOMAINS:
        expected += [[domain, split, *_coverage(domain, split)] for split in compare_records.SPLITS]
        expected.append([domain, "all", *_coverage(domain)])
    expected.append(["all domains", "", *_coverage()])
    assert table_rows(page, "coverage-table") == expected
    best = page.evaluate("[...document.querySelectorAll('tr.total .best')].map(c => c.textContent)")
    assert best == [count for count in _coverage()[1:] if count == max(_coverage()[1:], key=int)]
    totals = page.evaluate("[...document.querySelectorAll('.headline b')].map(b => b.textContent)")
    assert totals == _coverage()[1:]
    bars = page.evaluate("[...document.querySelectorAll('.cards b')].map(b => b.textContent)")
    assert bars == [count for domain in compare_records.DOMAINS for count in _coverage(domain)[1:]]
    statuses = page.evaluate(
        "[...document.querySelectorAll('#outcome-table thead th')].slice(2).map(h => h.textContent)"
    )
    counts = Counter((r["configuration"], r["status"]) for r in RESULTS)
    assert {status for _, status in counts} == set(statuses)
    names = compare_records.CONFIGURATIONS
    assert table_rows(page, "outcome-table") == [
        [name, "60", *(str(counts[name, status]) for status in statuses)] for name in names
    ]
    for row, name in zip(table_rows(page, "quality-table"), names, strict=True):
        ratios = [r["cost"] / r["best_known"] for r in solved(name)]
        signs = [sum(x < 1 for x in ratios), sum(x == 1 for x in ratios), sum(x > 1 for x in ratios)]
        assert row[:5] == [name, str(len(ratios)), *map(str, signs)]
        assert float(row[5]) == pytest.approx(math.prod(x ** (1 / len(ratios)) for x in ratios), abs=6e-4)


def test_bars_are_as_long_as_the_coverage(page: chromium.Page) -> None:
    widths = page.evaluate(
        "[...document.querySelectorAll('.cards .card:first-child .bar')].map(b => [...b.querySelectorAll('.fill')]"
        ".reduce((sum, f) => sum + parseFloat(f.getAttribute('width')), 0))"
    )
    total, *counts = map(int, _coverage("blocksworld"))
    assert widths == pytest.approx([100 * count / total for count in counts], abs=0.05)


def test_nine_and_more_configurations_have_colours_of_their_own(page: chromium.Page) -> None:
    assert len({mark(place)["colour"] for place in range(COLOURS)}) == COLOURS >= 9
    style = "getComputedStyle(document.documentElement).getPropertyValue('--colour-{}').trim()".format
    assert len({page.evaluate(style(number)) for number in range(COLOURS)} - {""}) == COLOURS


def test_titles_have_the_names_of_the_files(browser: chromium.Page, tmp_path: Path) -> None:
    names = {"problems": "delivery", "ferry": "ferry"}
    results = compare_records.results(1, domains=list(names), splits=[""])
    page = open_saved(browser, save(tmp_path, results, [compare_records.header() | {"domains": names}]))
    assert page.evaluate("document.title") == "Comparison of planners on ferry and delivery"
    headings = page.evaluate("[...document.querySelectorAll('.cards h3')].map(h => h.firstChild.textContent.trim())")
    assert headings == ["ferry", "problems (delivery)"]
    many = compare_records.results(1, domains=[f"d{i}" for i in range(10)], splits=[""])
    page = open_saved(browser, save(tmp_path, many, []))
    assert page.evaluate("document.title") == "Comparison of planners on d0, d1, d2, d3, d4 and 5 more domains"


def test_without_bounds_plans_are_compared_with_the_best_found(browser: chromium.Page, tmp_path: Path) -> None:
    results = [r | {"best_known": None if r["domain"] == "ferry" else r["best_known"]} for r in RESULTS]
    page = open_saved(browser, save(tmp_path, results))
    found: dict[tuple[str, str], int] = {}
    for r in results:
        if r["domain"] == "ferry" and r["status"] == "solved":
            key = r["split"], r["problem"]
            found[key] = min(r["cost"], found.get(key, r["cost"]))
    assert f"Compared with the best known cost (48 problems), or the best plan found here ({len(found)} problems)." in (
        text_of(page, "quality")
    )
    for row, name in zip(table_rows(page, "quality-table"), compare_records.CONFIGURATIONS, strict=True):
        bests = [r["best_known"] or found[r["split"], r["problem"]] for r in solved(name, results)]
        pairs = [(r["cost"], best) for r, best in zip(solved(name, results), bests, strict=True)]
        signs = [sum(a < b for a, b in pairs), sum(a == b for a, b in pairs), sum(a > b for a, b in pairs)]
        assert row[1:5] == [str(len(pairs)), *map(str, signs)]
    only = [r for r in results if r["domain"] == "ferry" and r["configuration"] == "gsp-policy"]
    page = open_saved(browser, save(tmp_path, only, []))
    assert "neither a best known cost nor another plan" in text_of(page, "quality")


def test_setup_says_what_was_run_where(page: chromium.Page) -> None:
    text = text_of(page, "setup")
    for fact in ("expansions: 10,000", "CPU seconds: 300", "memory (MB): none", "Example CPU 3.1 GHz", "gsp-fd: 0.1.0"):
        assert fact in text
    assert HEADERS[0]["command"] in text
    assert "wastar(gsp-gbfs(), w=2)" in text
    assert page.evaluate("document.querySelector('header p').textContent").startswith(
        f"8 configurations · 60 problems · 5 domains · 480 runs, {sum(r['status'] == 'solved' for r in RESULTS)} solved"
    )


def test_nothing_is_requested_and_nothing_complains(browser: chromium.Page, tmp_path: Path) -> None:
    saved = save(tmp_path, RESULTS)
    page = open_saved(browser, saved)
    assert page.requests() == [saved.resolve().as_uri()]
    assert page.complaints() == []
    refused = page.evaluate(
        "new Promise(done => { document.addEventListener('securitypolicyviolation', e => done(e.effectiveDirective)); "
        "fetch('http://127.0.0.1:9/').catch(() => 0); })"
    )
    assert refused == "connect-src"


def test_coverage_shows_without_javascript(browser: chromium.Page, tmp_path: Path) -> None:
    browser.open(save(tmp_path, RESULTS), script=False)
    root = browser.call("DOM.getDocument")["root"]["nodeId"]

    def shown(selector: str) -> bool:
        nodes = browser.call("DOM.querySelectorAll", nodeId=root, selector=selector)["nodeIds"]
        assert nodes, selector
        styles = [browser.call("CSS.getComputedStyleForNode", nodeId=node)["computedStyle"] for node in nodes]
        return any({"name": "display", "value": "none"} not in style for style in styles)

    browser.call("DOM.enable")
    browser.call("CSS.enable")
    try:
        assert shown("#coverage-table tbody tr")
        assert shown("noscript p")
        assert not shown("section.scripted, #scope, nav .scripted")
    finally:
        browser.call("CSS.disable")
        browser.call("DOM.disable")


@pytest.mark.parametrize("measure", ["cpu_seconds", "expansions"])
def test_curves_count_what_is_solved_in_time(page: chromium.Page, measure: str) -> None:
    if measure == "expansions":
        choose(page, "time-measure", "expansions")
    page.evaluate("document.getElementById('time-plot').focus()")
    values = sorted(r[measure] for r in solved("gsp-policy"))
    for i in range(3):
        page.press("ArrowRight")
        words = re.match(r"gsp-policy; (\d+) solved within (\S+)", page.evaluate("announcement.textContent"))
        assert words is not None
        assert int(words[1]) == i + 1
        assert number(words[2]) == pytest.approx(values[i], rel=1e-3)
    page.press("End")
    assert f"lama-first; {len(solved('lama-first'))} solved within" in text_of(page, "announcement")
    page.click("#time-legend button:last-child")
    assert page.evaluate("document.querySelector('#time-legend button:last-child').ariaPressed") == "false"
    total = sum(len(solved(name)) for name in compare_records.CONFIGURATIONS if name != "lama-first")
    assert page.evaluate("document.getElementById('time-plot').ariaLabel").startswith(
        f"Solved over time: {total} points"
    )


def _pairs(across: str, up: str, domain: str | None = None) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    def rows(name: str) -> list[dict[str, Any]]:
        return [r for r in RESULTS if r["configuration"] == name and domain in (None, r["domain"])]

    return list(zip(rows(across), rows(up), strict=True))


@pytest.mark.parametrize("measure", ["expansions", "steps"])
@pytest.mark.parametrize("domain", [None, "ferry"])
def test_scatter_counts_and_draws_every_pair(page: chromium.Page, measure: str, domain: str | None) -> None:
    across, up = "hff-wastar", "lama-first"
    choose(page, "pair-x", across)
    choose(page, "pair-y", up)
    if domain:
        choose(page, "scope-domain", domain)
    kinds = Counter((x["status"] == "solved", y["status"] == "solved") for x, y in _pairs(across, up, domain))
    both = [(x[measure], y[measure]) for x, y in _pairs(across, up, domain) if x["status"] == y["status"] == "solved"]
    signs = Counter((y > x) - (y < x) for x, y in both)
    mean = math.exp(sum(math.log(y / x) for x, y in both) / len(both))
    caption = text_of(page, f"{measure}-caption")
    assert f"Solved by both: {len(both)}; " in caption
    assert f"fewer {measure} in {signs[-1]}, equally many in {signs[0]}, more in {signs[1]}; " in caption
    assert f"up ÷ across {mean:.3f}; two-sided sign test p = " in caption
    only = f"only by {across}: {kinds[True, False]}, only by {up}: {kinds[False, True]}"
    assert only in caption
    assert f"by neither: {kinds[False, False]} " in caption
    drawn = page.evaluate(
        f"[...document.querySelectorAll('#{measure}-plot .mark')].map(m => m.getAttribute('d')).join('')"
        ".split('M').length - 1"
    )
    assert drawn == sum(kinds.values()) - kinds[False, False]


def test_pointer_shows_the_instance(page: chromium.Page) -> None:
    choose(page, "pair-y", "hff-wastar")
    page.evaluate("document.getElementById('expansions-plot').scrollIntoView()")
    x, y = page.evaluate(
        "(m => { const [, x, y] = /M([^,]+),([^m]+)m/.exec(m.getAttribute('d'));"
        " const box = m.ownerSVGElement.getBoundingClientRect();"
        " return [box.x + Number(x), box.y + Number(y)]; })(document.querySelector('#expansions-plot .mark'))"
    )
    page.move(x, y)
    assert page.evaluate("!tooltip.hidden")
    title, first, second = page.evaluate("[...tooltip.children].map(e => e.textContent)")
    pair = next(
        (a, b)
        for a, b in _pairs("gsp-policy", "hff-wastar")
        if " ".join((a["domain"], a["split"], a["problem"])) == title
    )
    for result, line in zip(pair, (first, second), strict=True):
        assert line.startswith(result["configuration"] + ": ")
        assert f"{result['expansions']:,} expansions" in line
        assert (result["status"] == "solved") == (f"{result['steps']} steps" in line)
        assert (result["status"] == "solved") != (result["status"] in line)
    page.move(1, 1)
    assert page.evaluate("tooltip.hidden")


def test_unsolved_problems_stand_on_the_border(page: chromium.Page) -> None:
    choose(page, "pair-y", "hmax-wastar")
    page.evaluate("document.getElementById('steps-plot').focus()")
    height = "Number(document.querySelector('#steps-plot .highlight').getAttribute('cy'))"
    frame = page.evaluate("Number(/,([^V]+)V/.exec(document.querySelector('#steps-plot .axis').getAttribute('d'))[1])")
    above, seen = 0, set()
    page.press("Home")
    while (words := text_of(page, "announcement")) not in seen:
        seen.add(words)
        on_border = page.evaluate(height) < frame
        assert on_border == (" steps" not in words.split("; ")[2])
        above += on_border
        page.press("ArrowRight")
    kinds = Counter((a["status"] == "solved", b["status"] == "solved") for a, b in _pairs("gsp-policy", "hmax-wastar"))
    assert above == kinds[True, False]
    assert len(seen) == kinds[True, False] + kinds[False, True] + kinds[True, True]
