"""``gsp-plan --explain``: every step of the plan, with the values of the model and of hFF, as text and as a page."""

from __future__ import annotations

import re
from pathlib import Path

import chromium
import pytest

import gsp_fd
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.fd_integration.driver import main

EXAMPLES = Path(__file__).parents[1] / "examples"


def explained(domain: str, problem: str, out: Path, *options: str) -> Path:
    files = [str(EXAMPLES / domain / name) for name in ("domain.pddl", f"{problem}.pddl")]
    page = out / "plan.html"
    assert main([*files, *options, "--plan-file", str(out / "plan"), "--explain", str(page)]) == ExitCode.SUCCESS
    return page


def test_every_step_has_its_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A plan that is not the model's: the steps where it leaves the greedy choice are those that the API finds."""
    page = explained("blocksworld", "p02", tmp_path, "--search", "lazy_greedy([ff()])").read_text()
    printed = capsys.readouterr().out
    task = gsp_fd.load(EXAMPLES / "blocksworld" / "p02.pddl")
    model, hff, state = gsp_fd.Model("blocksworld"), task.heuristic("hff"), task.initial
    plan = [line.strip("()\n") for line in (tmp_path / "plan").read_text().splitlines() if line.startswith("(")]
    left = []
    for number, name in enumerate(plan, 1):
        values = {action.name: q for action, q in model.q(state).items()}
        row = re.search(rf"^ +{number} +{len(plan) - number + 1} +(\S+) +(\S+)  {name} ", printed, re.MULTILINE)
        assert row is not None
        assert float(row[1]) == pytest.approx(model.h(state), abs=0.06)
        assert float(row[2]) == hff(state)
        if better := sum(q > values[name] for q in values.values()):
            left.append(number)
            assert f"! {better} better: " in printed[row.start() :].partition("\n")[0]
        state = state.apply(name)
    assert left, "this plan should not be the model's own"
    assert page.count('<tr class="left">') == len(left)
    assert f"in {len(left)} of them" in page
    assert not re.search(r"(src|href)=|https?://|<script", page)


def test_without_a_model_there_is_hff(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = explained("gripper", "p01", tmp_path, "--heuristic", "hff", "--search", "gbfs").read_text()
    assert "only hFF is shown" in page
    assert "No learned values: no model fits" in capsys.readouterr().out


def test_an_explanation_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(EXAMPLES / "gripper" / name) for name in ("domain.pddl", "p01.pddl")]
    options = ["--search", "policy(gsp())", "--plan-file", str(tmp_path / "plan")]
    file = str(EXAMPLES / "blocksworld" / "p01.pddl")
    assert main([file, *options, "--explain", str(tmp_path / "no" / "plan.html")]) == ExitCode.DRIVER_INPUT_ERROR
    assert "cannot write the explanation" in capsys.readouterr().err
    assert (tmp_path / "plan").is_file(), "the plan was written before"
    assert main([*files, "--search", "astar(blind())", "--explain"]) == ExitCode.DRIVER_INPUT_ERROR


@pytest.mark.parametrize(("width", "mobile"), [(1280, False), (390, True)])
def test_the_page_fits_the_screen(browser: chromium.Page, tmp_path: Path, width: int, mobile: bool) -> None:
    page = explained("blocksworld", "p01", tmp_path, "--search", "policy")
    browser.resize(width, 844, mobile)
    browser.open(page)
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert browser.evaluate("document.querySelectorAll('polyline').length") == 6
    assert not browser.complaints()
    assert browser.requests() == [page.resolve().as_uri()]
