"""Pictures of plans: what lies where in which state, in the terminal and in Chromium."""

from __future__ import annotations

import io
import re
from pathlib import Path

import chromium
import cli_support as cli
import pytest

from gsp_fd.fd_integration.run.options import parse_command_line
from gsp_fd.generate import domain_text, generate
from gsp_fd.generate.cli import main as gsp_generate
from gsp_fd.pddl import read_domain, read_problem
from gsp_fd.picture import Film, film
from gsp_fd.picture.page import render
from gsp_fd.picture.terminal import frame_lines, play

CORRIDOR = "######\n#@$. #\n######"
BOARD = "[...document.querySelectorAll('#board tr')].map(r => [...r.cells].map(c => c.className + c.textContent))"
DRAWN = ("sokoban", "visitall", "floortile", "sokoban-boxes", "sliding-tiles", "witness", "pushworld")


def level_film(folder: Path, puzzle: str, level: str, plan: list[str]) -> Film:
    (folder / "level").write_text(level)
    assert gsp_generate([puzzle, "--from", str(folder / "level"), "--out", str(folder / "pddl")]) == 0
    domain = read_domain(folder / "pddl" / "domain.pddl")
    drawn = film(domain, read_problem(folder / "pddl" / "p01.pddl", domain), plan)
    assert drawn is not None
    return drawn


def kinds(drawn: Film, frame: int) -> list[list[str]]:
    tiles = [[drawn.tile(frame, row, column) for column in range(drawn.columns)] for row in range(drawn.rows)]
    return [[tile.kind + tile.text for tile in row] for row in tiles]


def test_sokoban_looks_as_levels_are_written(tmp_path: Path) -> None:
    plan = ["push c_2_2 c_2_3 c_2_4", "push c_2_3 c_2_4 c_2_5"]
    drawn = level_film(tmp_path, "sokoban-boxes", CORRIDOR, plan)
    pictures = [["".join(line.split(" ")[1:]) for line in _signs(drawn, frame)] for frame in range(3)]
    assert pictures[0] == ["######", "#@$.#", "######"]  # floor is blank
    assert pictures[1] == ["######", "#@*#", "######"]
    assert pictures[2] == ["######", "#+$#", "######"]


def _signs(drawn: Film, frame: int) -> list[str]:
    return frame_lines(drawn, frame)[1:]


def test_tiles_show_their_numbers_and_which_are_home(tmp_path: Path) -> None:
    drawn = level_film(tmp_path, "sliding-tiles", "1 0 2 3", ["slide-right t1 c_1_1 c_1_2"])
    assert kinds(drawn, 0) == [["box1", "floor"], ["box-home2", "box-home3"]]
    assert kinds(drawn, 1) == [["floor", "box-home1"], ["box-home2", "box-home3"]]


def test_a_witness_line_grows_along_border_and_between_cells(tmp_path: Path) -> None:
    level = "Size: 1 2\nInit: 0 0\nGoal: 1 1\nColors: |0 0 1|0 1 2"
    drawn = level_film(tmp_path, "witness", level, ["skirt n_2_1 n_2_2", "pass n_2_2 n_1_2 c_1_1 c_1_2"])
    assert kinds(drawn, 0) == [
        ["node", "way", "node-goal", "way", "node"],
        ["way", "colour-11", "way", "colour-22", "way"],
        ["tip", "way", "node", "way", "node"],
    ]
    assert kinds(drawn, 2) == [
        ["node", "way", "tip", "way", "node"],
        ["way", "colour-11", "line", "colour-22", "way"],
        ["line", "line", "line", "way", "node"],
    ]


def test_pushworld_shows_shapes_goals_and_walls(tmp_path: Path) -> None:
    drawn = level_film(tmp_path, "pushworld", "A M1 . G1\n. W AW .", ["step right"])
    assert kinds(drawn, 0)[1:3] == [
        ["wall", "robot", "colour-11", "floor", "goal1", "wall"],
        ["wall", "floor", "wall", "agent-wall", "floor", "wall"],
    ]
    assert kinds(drawn, 1)[1] == ["wall", "floor", "robot", "colour-11", "goal1", "wall"]


@pytest.mark.parametrize("domain", DRAWN)
def test_generated_problems_are_drawn_to_the_last_state(domain: str, tmp_path: Path) -> None:
    (tmp_path / "domain.pddl").write_text(domain_text(domain))
    smallest = {"floortile": 12, "visitall": 9, "sokoban": 31, "pushworld": 24}.get(domain, 15)
    (tmp_path / "p.pddl").write_text(generate(domain, smallest, 1))
    search = (
        ["--heuristic", "hff", "--search", "gbfs"]
        if domain in ("floortile", "sokoban")
        else ["--search", "astar(blind())"]
    )
    result = cli.gsp_plan(tmp_path, "domain.pddl", "p.pddl", *search, "--show")
    assert result.returncode == 0, result.stderr
    steps = int(re.findall(r"Plan length: (\d+)", result.stdout)[-1])
    assert "Initial state\n" in result.stdout
    assert f"Step {steps} of {steps}: " in result.stdout


def test_domains_without_picture_say_so(tmp_path: Path) -> None:
    cli.write_files(tmp_path, cli.TOWER)
    result = cli.gsp_plan(tmp_path, "domain.pddl", "problem.pddl", "--heuristic", "hff", "--show", "plan.html")
    assert result.returncode == 0
    assert "No picture" in result.stdout
    assert not (tmp_path / "plan.html").exists()


def test_show_takes_a_page_or_nothing() -> None:
    for arguments, where, files in (
        (["--show", "p.pddl"], "-", ["p.pddl"]),
        (["--show", "plan.html", "p.pddl"], "plan.html", ["p.pddl"]),
        (["p.pddl", "--show"], "-", ["p.pddl"]),
        (["p.pddl", "--show", "--seed", "1"], "-", ["p.pddl"]),
        (["p.pddl", "--show=plan.html"], "plan.html", ["p.pddl"]),
    ):
        options = parse_command_line(arguments)
        assert (options.show, options.files) == (where, files)


def test_a_page_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "level").write_text(CORRIDOR)
    assert gsp_generate(["sokoban-boxes", "--from", str(tmp_path / "level"), "--out", str(tmp_path / "pddl")]) == 0
    files = ["pddl/domain.pddl", "pddl/p01.pddl"]
    result = cli.gsp_plan(tmp_path, *files, "--heuristic", "hff", "--show", "missing/plan.html")
    assert result.returncode == 36
    assert "cannot write the picture" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_terminal_gets_one_frame_in_place_of_the_other(tmp_path: Path) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    drawn = level_film(tmp_path, "sokoban-boxes", CORRIDOR, ["push c_2_2 c_2_3 c_2_4"])
    stream = Terminal()
    play(drawn, stream, pause=0)
    assert stream.getvalue().count("\x1b[5A\x1b[J") == 1  # a title, three rows and a blank line
    plain = io.StringIO()
    play(drawn, plain)
    assert "\x1b" not in plain.getvalue()


# ---- in Chromium


@pytest.fixture
def page(browser: chromium.Page, tmp_path: Path) -> chromium.Page:
    plan = ["push c_2_2 c_2_3 c_2_4", "move c_2_3 c_2_2", "move c_2_2 c_2_3"]
    (tmp_path / "plan.html").write_text(render(level_film(tmp_path, "sokoban-boxes", CORRIDOR, plan)))
    browser.resize(1000, 700)
    browser.open(tmp_path / "plan.html")
    return browser


STATES = [
    ["wall", "robot", "box", "goal", "floor", "wall"],
    ["wall", "floor", "robot", "box-home", "floor", "wall"],
    ["wall", "robot", "floor", "box-home", "floor", "wall"],
    ["wall", "floor", "robot", "box-home", "floor", "wall"],
]


def test_steps_forward_and_back(page: chromium.Page) -> None:
    for button, state in (("forward", 1), ("forward", 2), ("back", 1), ("last", 3), ("first", 0)):
        page.click(f"#{button}")
        assert page.evaluate(BOARD)[1] == STATES[state]
    page.click("#last")
    assert page.evaluate("document.getElementById('caption').textContent") == "Step 3 of 3: move c_2_2 c_2_3"
    assert page.evaluate("document.querySelector('#plan [aria-current]').textContent") == "move c_2_2 c_2_3"
    assert page.evaluate("document.getElementById('forward').disabled")


def test_the_slider_goes_to_any_state(page: chromium.Page) -> None:
    page.evaluate("document.getElementById('place').focus()")
    page.press("End")
    assert page.evaluate(BOARD)[1] == STATES[3]
    page.press("ArrowLeft")
    assert page.evaluate(BOARD)[1] == STATES[2]


def test_it_plays_to_the_end_and_stops(page: chromium.Page) -> None:
    page.evaluate("document.getElementById('speed').value = '80'")
    page.click("#play")
    page.evaluate(
        "new Promise(done => setInterval(() => document.getElementById('play').textContent === 'Play' && done(), 20))"
    )
    assert page.evaluate("document.getElementById('play').textContent") == "Play"
    assert page.evaluate(BOARD)[1] == STATES[3]


def test_nothing_is_requested_and_nothing_complains(page: chromium.Page, tmp_path: Path) -> None:
    page.click("#last")
    assert page.requests() == [(tmp_path / "plan.html").resolve().as_uri()]
    assert page.complaints() == []


def test_without_javascript_the_first_state_and_the_plan_show(browser: chromium.Page, tmp_path: Path) -> None:
    drawn = level_film(tmp_path, "sokoban-boxes", CORRIDOR, ["push c_2_2 c_2_3 c_2_4"])
    (tmp_path / "plan.html").write_text(render(drawn))
    browser.open(tmp_path / "plan.html", script=False)
    page = (tmp_path / "plan.html").read_text()
    assert "<li>push c_2_2 c_2_3 c_2_4</li>" in page
    assert '<td class="robot"></td><td class="box"></td><td class="goal"></td>' in page


def test_names_from_files_stay_text(tmp_path: Path) -> None:
    drawn = level_film(tmp_path, "sokoban-boxes", CORRIDOR, [])
    hostile = Film("<script>alert(1)</script>", drawn.rows, drawn.columns, drawn.frames, ["</script><b>"])
    page = render(hostile)
    assert "<script>alert" not in page
    assert "<b>" not in page
