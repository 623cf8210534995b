"""Downward Lab's own parsers read our logs: no unexplained errors, and every number where Lab expects it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cli_support as cli
import pytest

pytest.importorskip("downward", reason="Downward Lab is not installed")

from downward.parsers.anytime_search_parser import AnytimeSearchParser
from downward.parsers.exitcode_parser import ExitcodeParser
from downward.parsers.planner_parser import PlannerParser
from downward.parsers.single_search_parser import SingleSearchParser
from downward.parsers.translator_parser import TranslatorParser
from lab.tools import Properties

LAB = ["--validate", "--overall-time-limit", "30m", "--overall-memory-limit", "3584M"]
SINGLE = [ExitcodeParser, TranslatorParser, SingleSearchParser, PlannerParser]
ANYTIME = [ExitcodeParser, TranslatorParser, AnytimeSearchParser, PlannerParser]


def parsed(folder: Path, arguments: list[str], parsers: list[Any]) -> Any:
    """Run the planner the way Lab's run scripts do, and parse the run directory."""
    run = cli.gsp_plan(folder, *arguments)
    (folder / "run.log").write_text(run.stdout)
    (folder / "run.err").write_text(run.stderr)
    (folder / "driver.log").write_text(
        f"node: test\nplanner exit code: {run.returncode}\nplanner wall-clock time: 0.5s\n"
    )
    properties = Properties()
    for parser in parsers:
        parser().parse(folder, properties)
    return properties


def test_single_search(tmp_path: Path) -> None:
    cli.write_files(tmp_path, cli.TOWER)
    arguments = [*LAB, "domain.pddl", "problem.pddl", "--search", "astar(hmax())"]
    run = parsed(tmp_path, arguments, SINGLE)
    assert "unexplained_errors" not in run
    assert (tmp_path / "run.err").read_text() == ""
    assert run["error"] == "success"
    assert (run["coverage"], run["cost"], run["plan_length"], run["unsolvable"]) == (1, 6, 6, 0)
    assert 1798 < run["limit_search_time"] <= 1800
    assert run["limit_search_memory"] == 3584
    assert (run["planner_time_limit"], run["planner_memory_limit"]) == (1800, 3584)
    assert run["expansions"] >= run["expansions_until_last_jump"] > 0
    assert run["evaluated"] == run["evaluations"] > 0
    assert run["generated"] > 0
    assert run["reopened"] == run["dead_ends"] == 0
    assert list(run["initial_h_values"]) == ["hmax"]
    assert run["initial_h_value"] > 0
    assert run["memory"] == run["raw_memory"] > 0
    assert run["search_time"] <= run["total_time"]
    assert run["planner_time"] > 0
    assert run["translator_time_done"] >= 0
    for name in ("variables", "facts", "goal_facts", "operators", "task_size", "peak_memory", "mutex_groups"):
        assert run[f"translator_{name}"] > 0
    assert run["translator_axioms"] == run["translator_derived_variables"] == 0
    assert 0 < run["score_expansions"] <= 1


def test_preferred_operators_and_two_heuristics(tmp_path: Path) -> None:
    cli.write_files(tmp_path, cli.COURIER)
    run = parsed(tmp_path, [*LAB, "--alias", "lama-first", "domain.pddl", "problem.pddl"], SINGLE)
    assert "unexplained_errors" not in run
    assert set(run["initial_h_values"]) == {"ff", "landmark_sum_heuristic"}
    assert run["coverage"] == 1


def test_separate_heuristics_of_one_name(tmp_path: Path) -> None:
    cli.write_files(tmp_path, cli.TOWER)
    search = "lazy_greedy([ff(), ff()], preferred=[ff()])"
    run = parsed(tmp_path, [*LAB, "domain.pddl", "problem.pddl", "--search", search], SINGLE)
    assert "unexplained_errors" not in run


@pytest.mark.parametrize("files", [cli.HOUSE, cli.GAME], ids=["strata", "ground strata"])
def test_axioms(tmp_path: Path, files: dict[str, str]) -> None:
    cli.write_files(tmp_path, files)
    run = parsed(tmp_path, [*LAB, "domain.pddl", "problem.pddl", "--search", "astar(blind())"], SINGLE)
    assert "unexplained_errors" not in run
    assert run["translator_axioms"] > 0
    assert run["translator_time_done"] >= 0
    assert run["coverage"] == 1


@pytest.mark.parametrize(
    ("files", "search", "outcome"),
    [
        (cli.UNSOLVABLE, "astar(blind())", "search-unsolvable"),
        (cli.ENDLESS, "astar(blind(), max_time=0.2)", "search-unsolved-incomplete"),
    ],
)
def test_no_plan(tmp_path: Path, files: dict[str, str], search: str, outcome: str) -> None:
    cli.write_files(tmp_path, files)
    run = parsed(tmp_path, [*LAB, "domain.pddl", "problem.pddl", "--search", search], SINGLE)
    assert "unexplained_errors" not in run
    assert run["error"] == outcome
    assert run["coverage"] == 0
    assert run["unsolvable"] == int(outcome == "search-unsolvable")


@pytest.mark.parametrize(
    ("limit", "outcome"),
    [("--search-time-limit=1", "search-out-of-time"), ("--search-memory-limit=80M", "search-out-of-memory")],
)
def test_limits(tmp_path: Path, limit: str, outcome: str) -> None:
    cli.write_files(tmp_path, cli.ENDLESS)
    arguments = [*LAB, limit, "domain.pddl", "problem.pddl", "--search", "astar(blind())"]
    run = parsed(tmp_path, arguments, SINGLE)
    assert "unexplained_errors" not in run
    assert run["error"] == outcome
    assert run["coverage"] == 0


def test_anytime_search(tmp_path: Path) -> None:
    cli.write_files(tmp_path, cli.COURIER)
    run = parsed(tmp_path, [*LAB, "--alias", "anytime-hff", "domain.pddl", "problem.pddl"], ANYTIME)
    assert "unexplained_errors" not in run
    assert run["error"] == "success"
    assert run["cost"] == min(run["cost:all"]) == 270019
    assert run["coverage"] == 1
    assert run["memory"] > 0


def test_plan_found_then_out_of_time(tmp_path: Path) -> None:
    cli.write_files(tmp_path, cli.ENDLESS)
    search = "iterated([eager_greedy([goalcount()]), astar(blind())])"
    arguments = [*LAB, "--search-time-limit", "1", "domain.pddl", "problem.pddl", "--search", search]
    run = parsed(tmp_path, arguments, ANYTIME)
    assert "unexplained_errors" not in run
    assert run["error"] == "search-plan-found-and-out-of-time"
    assert run["cost"] == 60


def test_input_error_is_told_by_its_name(tmp_path: Path) -> None:
    cli.write_files(tmp_path, cli.TOWER)
    run = parsed(tmp_path, [*LAB, "domain.pddl", "problem.pddl", "--search", "astar(lmcut())"], SINGLE)
    assert run["error"] == "search-input-error"
