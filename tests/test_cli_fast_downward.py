"""Side by side with the real Fast Downward: the same command lines, exit codes, plan files and log lines."""

from __future__ import annotations

import re
from pathlib import Path

import cli_support as cli
import pytest

GOOD = "eager_greedy([ff()])"

LAB_PATTERNS = [
    r"search time limit: (.+)s",
    r"search memory limit: (\d+) MB",
    r"planner time limit: (.+)s",
    r"planner memory limit: (.+) MB",
    r"Peak memory: (.+) KB",
    r"Plan cost: (.+)\n",
    r"Plan length: (\d+) step\(s\)\.",
    r"Evaluations: (.+)\n",
    r"Dead ends: (\d+) state\(s\)\.",
    r"Evaluated (\d+) state\(s\)\.",
    r"Expanded (\d+) state\(s\)\.",
    r"Generated (\d+) state\(s\)\.",
    r"Reopened (\d+) state\(s\)\.",
    r"Evaluated until last jump: (\d+) state\(s\)\.",
    r"Expanded until last jump: (\d+) state\(s\)\.",
    r"Search time: (.+)s",
    r"Total time: (.+)s",
    r"Planner time: (.+)s",
    r"(?m)^translate exit code: (-?\d+)$",
    r"(?m)^search exit code: (-?\d+)$",
    r"(?m)^Translator (?:.+): (\d+)(?: KB|)$",
    r"(?m)Initial heuristic value for (.+): (?:[-]?\d+|infinity)$",
    r"(?m)^(Done!) \[.+s CPU, .+s wall-clock\]$",
    r"(?m)^(Solution found\.|Search stopped without finding a solution\.|Task is provably unsolvable\.)$",
    r"(?m)^(Task is provably unsolvable within the given bound\.|Time limit has been reached\.)$",
    r"(?m)^(Memory limit has been reached\.)$",
    r"\[t=\d+\.\d{6}s, \d+ KB\] (Solution found!)",
    r"Actual (search) time: \d",
    r"Conducting (.+) search",
]

COMMANDS = {
    "astar": (cli.TOWER, ["domain.pddl", "problem.pddl", "--search", "astar(hmax())"]),
    "limits": (
        cli.TOWER,
        [
            *("--overall-time-limit", "30m", "--overall-memory-limit", "3584M", "domain.pddl", "problem.pddl"),
            *("--search", "let(h, ff(), eager_wastar([h], preferred=[h], w=2))"),
        ],
    ),
    "discovery": (cli.TOWER, ["problem.pddl", "--search", GOOD]),
    "costs": (cli.COURIER, ["domain.pddl", "problem.pddl", "--search", "astar(blind())"]),
    "cost types": (
        cli.COURIER,
        [
            *("problem.pddl", "--search"),
            "let(h, eval_modify_costs(ff(), cost_type=plusone), lazy_wastar([h], preferred=[h], w=3, cost_type=one))",
        ],
    ),
    "evaluator": (cli.TOWER, ["problem.pddl", "--evaluator", "h=add()", "--search", "lazy_greedy([h])"]),
    "selection": (
        cli.COURIER,
        [
            "problem.pddl",
            "--if-unit-cost",
            "--search",
            "astar(ff())",
            "--if-non-unit-cost",
            "--search",
            "astar(hmax())",
        ],
    ),
    "iterated": (
        cli.TOWER,
        ["problem.pddl", "--search", "iterated([lazy_greedy([ff()]), astar(hmax())], repeat_last=true)"],
    ),
    "plan file": (cli.TOWER, ["--plan-file", "my_sas_plan", "problem.pddl", "--search", GOOD]),
    "keep": (cli.TOWER, ["--keep-sas-file", "problem.pddl", "--search", GOOD]),
    "translate only": (cli.TOWER, ["--translate", "domain.pddl", "problem.pddl"]),
    "separator": (cli.TOWER, ["domain.pddl", "problem.pddl", "--", "--search", GOOD]),
    "component options": (cli.TOWER, ["problem.pddl", "--translate-options", "--search-options", "--search", GOOD]),
    "conditional effects and axioms": (cli.HOUSE, ["problem.pddl", "--search", "astar(blind())"]),
    "unsolvable": (cli.UNSOLVABLE, ["problem.pddl", "--search", "astar(blind())"]),
    "bound": (cli.TOWER, ["problem.pddl", "--search", "astar(blind(), bound=6)"]),
    "max_time": (cli.ENDLESS, ["problem.pddl", "--search", "astar(blind(), max_time=0.2)"]),
    "search time": (cli.ENDLESS, ["--search-time-limit", "1", "problem.pddl", "--search", "astar(blind())"]),
    "search memory": (cli.ENDLESS, ["--search-memory-limit", "60M", "problem.pddl", "--search", "astar(blind())"]),
    "wrong search": (cli.TOWER, ["problem.pddl", "--search", "eager_greedy(ff())"]),
    "two searches": (cli.TOWER, ["problem.pddl", "--search", GOOD, "--search", GOOD]),
    "unknown search option": (cli.TOWER, ["problem.pddl", "--search", GOOD, "--frobnicate"]),
    "unknown alias": (cli.TOWER, ["--alias", "nonsense", "problem.pddl"]),
    "alias and search": (cli.TOWER, ["--alias", "lama-first", "problem.pddl", "--search", GOOD]),
    "alias": (cli.TOWER, ["--alias", "lama-first", "problem.pddl"]),
    "wrong limit": (cli.TOWER, ["--overall-time-limit", "5x", "problem.pddl", "--search", GOOD]),
    "no domain": ({"problem.pddl": cli.TOWER["problem.pddl"]}, ["problem.pddl", "--search", GOOD]),
    "no problem": (cli.TOWER, ["domain.pddl", "missing.pddl", "--search", GOOD]),
    "malformed problem": (
        {**cli.TOWER, "problem.pddl": cli.TOWER["problem.pddl"][:-30]},
        ["domain.pddl", "problem.pddl", "--search", GOOD],
    ),
    "no folder for the plan": (cli.TOWER, ["--plan-file", "none/plan", "problem.pddl", "--search", GOOD]),
    "too many files": (cli.TOWER, ["domain.pddl", "problem.pddl", "problem.pddl", "--search", GOOD]),
    "cleanup": ({**cli.TOWER, "sas_plan": "", "sas_plan.1": "", "output.sas": ""}, ["--cleanup"]),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_same_behaviour(tmp_path: Path, name: str) -> None:
    files, arguments = COMMANDS[name]
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    for folder in (theirs, ours):
        folder.mkdir()
        cli.write_files(folder, files)
    expected = cli.fast_downward(theirs, *arguments)
    actual = cli.gsp_plan(ours, *arguments)
    assert actual.returncode == expected.returncode, actual.stdout + actual.stderr
    left = [sorted(p.name for p in folder.iterdir()) for folder in (ours, theirs)]
    if actual.returncode >= 30 and "output.sas" in left[1]:
        left[1].remove("output.sas")  # left over by Fast Downward's driver
    assert left[0] == left[1]
    assert [plan_shape(ours / plan) for plan in cli.plan_files(ours)] == [
        plan_shape(theirs / plan) for plan in cli.plan_files(theirs)
    ]
    if actual.returncode < 30:
        for pattern in LAB_PATTERNS:
            if re.search(pattern, expected.stdout):
                assert re.search(pattern, actual.stdout), pattern
    if re.search(r"\bastar\(", str(arguments)) and "Plan cost" in expected.stdout:
        costs = [re.findall(r"Plan cost: (\d+)", run.stdout)[-1] for run in (actual, expected)]
        assert costs[0] == costs[1]


def plan_shape(path: Path) -> list[str]:
    """What must be the same in the plan files of two planners: the kinds of lines, and the last."""
    lines = path.read_text().splitlines()
    kinds = {"step" if re.fullmatch(r"\(\w[\w -]*\)", line) else line for line in lines[:-1]}
    return [*sorted(kinds), re.sub(r"\d+", "N", lines[-1])]


def test_fast_downward_searches_our_sas_files(tmp_path: Path) -> None:
    for number, files in enumerate((cli.TOWER, cli.COURIER, cli.HOUSE)):
        folder = tmp_path / str(number)
        folder.mkdir()
        cli.write_files(folder, files)
        own = cli.gsp_plan(folder, "--keep-sas-file", "problem.pddl", "--search", "astar(blind())")
        run = cli.fast_downward(folder, "output.sas", "--search", "astar(blind())")
        assert run.returncode == own.returncode == 0
        costs = [re.findall(r"Plan cost: (\d+)", output) for output in (own.stdout, run.stdout)]
        assert costs[0] == costs[1]


def test_we_search_the_sas_files_of_fast_downward(tmp_path: Path) -> None:
    cli.write_files(tmp_path, cli.COURIER)
    assert cli.fast_downward(tmp_path, "--translate", "problem.pddl").returncode == 0
    run = cli.gsp_plan(tmp_path, "output.sas", "--search", "astar(hmax())")
    assert run.returncode == 0
    assert "Plan cost: 270019" in run.stdout


@pytest.mark.parametrize("heuristic", ["hmax", "add", "blind", "goalcount"])
def test_initial_values_under_other_costs(tmp_path: Path, heuristic: str) -> None:
    cli.write_files(tmp_path, cli.COURIER)
    assert cli.fast_downward(tmp_path, "--translate", "problem.pddl").returncode == 0
    for cost_type in ("normal", "one", "plusone"):
        evaluator = f"eval_modify_costs({heuristic}(), cost_type={cost_type})"
        search = f"eager_greedy([{evaluator}], bound=0)"
        older = f"eager_greedy([{heuristic}(transform=adapt_costs({cost_type}))], bound=0)"
        runs = [cli.fast_downward_search(tmp_path, "--search", search)]
        runs += [cli.gsp_plan(tmp_path, "output.sas", "--search", text) for text in (search, older)]
        pattern = rf"Initial heuristic value for {heuristic}: (\d+)"
        theirs, *ours = [re.findall(pattern, run.stdout) for run in runs]
        assert len(theirs) == 1
        assert ours == [theirs, theirs], cost_type
