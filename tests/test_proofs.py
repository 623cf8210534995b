"""Exit codes as proofs: optimal is optimal, unsolvable is unsolvable, whatever the costs, bounds and batches."""

from __future__ import annotations

from pathlib import Path

import cli_support as cli
import pytest
import sas_reference as sas
import search_configs
import tasks

from gsp_fd import _core
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.fd_integration.driver import main
from gsp_fd.task import load_pddl

LARGE = 600_000_000
"""Two of them are more than 2 to the power of 30, four more than 2 to the power of 32."""


def chain(steps: int, cost: int, name: str = "op") -> sas.SasTask:
    """A task whose only plan has this many steps of this cost."""
    return sas.SasTask(
        variables=(sas.Variable(-1, tuple(f"Atom at({i})" for i in range(steps + 1))),),
        initial=(0,),
        goal=((0, steps),),
        operators=tuple(sas.Operator(f"{name}{i}", ((0, i),), (((), 0, i + 1),), cost) for i in range(steps)),
        metric=True,
    )


def solve(folder: Path, task: sas.SasTask, *search: str) -> int:
    (folder / "output.sas").write_bytes(sas.write(task))
    return main([str(folder / "output.sas"), "--plan-file", str(folder / "sas_plan"), "--search", *search])


SEARCHES = (
    "astar(blind())",
    "astar(hmax())",
    "lazy_greedy([ff()])",
    "eager_wastar([add()], w=3)",
    "lazy_wastar([ff()])",
)


@pytest.mark.parametrize("search", SEARCHES)
def test_plans_that_cost_more_than_thirty_bits(tmp_path: Path, search: str) -> None:
    assert solve(tmp_path, chain(2, LARGE), search) == ExitCode.SUCCESS
    assert (tmp_path / "sas_plan").read_text() == "(op0)\n(op1)\n; cost = 1200000000 (general cost)\n"


@pytest.mark.parametrize("search", SEARCHES)
def test_paths_that_cost_too_much_prove_nothing(tmp_path: Path, search: str) -> None:
    assert solve(tmp_path, chain(4, LARGE), search) == ExitCode.SEARCH_UNSOLVED_INCOMPLETE
    bounded = f"{search[:-1]}, bound=1000)"
    assert solve(tmp_path, chain(4, LARGE), bounded) == ExitCode.SEARCH_UNSOLVABLE_WITHIN_BOUND


def test_the_plan_that_fast_downward_finds(tmp_path: Path) -> None:
    """Fast Downward and we agree up to the largest cost that it can count."""
    (tmp_path / "output.sas").write_bytes(sas.write(chain(3, LARGE)))
    theirs = cli.fast_downward_search(tmp_path, "--search", "astar(blind())")
    assert theirs.returncode == ExitCode.SUCCESS, theirs.stdout
    plan = (tmp_path / "sas_plan").read_text()
    assert solve(tmp_path, chain(3, LARGE), "astar(blind())") == ExitCode.SUCCESS
    assert (tmp_path / "sas_plan").read_text() == plan


@pytest.mark.parametrize("search", ["astar(blind(), bound=0)", "lazy_greedy([ff()], bound=0)"])
def test_no_plan_costs_less_than_nothing(tmp_path: Path, search: str) -> None:
    assert solve(tmp_path, chain(0, 1), search) == ExitCode.SEARCH_UNSOLVABLE_WITHIN_BOUND


TWO_WAYS = sas.SasTask(
    variables=(sas.Variable(-1, tuple(f"Atom at({i})" for i in range(4))),),
    initial=(0,),
    goal=((0, 3),),
    operators=tuple(
        sas.Operator(name, ((0, start),), (((), 0, end),), cost)
        for name, start, end, cost in (("dear", 0, 1, 2), ("cheap", 0, 2, 1), ("on", 2, 1, 0), ("last", 1, 3, 1))
    ),
    metric=True,
)
"""One state is met on the dear way first, from which the goal costs 3; on the other way it costs 2."""


@pytest.mark.parametrize(
    ("search", "code"),
    [
        ("lazy_greedy([blind()], bound=3)", ExitCode.SEARCH_UNSOLVED_INCOMPLETE),
        ("eager_greedy([blind()], bound=3)", ExitCode.SEARCH_UNSOLVED_INCOMPLETE),
        (
            "eager(tiebreaking([blind()]), reopen_closed=true, cost_type=one, bound=3)",
            ExitCode.SEARCH_UNSOLVED_INCOMPLETE,
        ),
        ("lazy_wastar([blind()], cost_type=one, bound=3)", ExitCode.SEARCH_UNSOLVED_INCOMPLETE),
        ("lazy_wastar([blind()], bound=3)", ExitCode.SUCCESS),
        ("astar(blind(), bound=3)", ExitCode.SUCCESS),
        ("lazy_greedy([blind()], bound=2)", ExitCode.SEARCH_UNSOLVABLE_WITHIN_BOUND),
        ("astar(blind(), bound=2)", ExitCode.SEARCH_UNSOLVABLE_WITHIN_BOUND),
    ],
)
def test_a_bound_proves_nothing_where_a_cheaper_way_was_given_up(tmp_path: Path, search: str, code: ExitCode) -> None:
    assert solve(tmp_path, TWO_WAYS, search) == code


def test_an_iteration_ends_with_a_plan_that_costs_nothing(tmp_path: Path) -> None:
    search = "iterated([lazy_greedy([ff()]), astar(blind())], repeat_last=true)"
    assert solve(tmp_path, chain(3, 0), search) == ExitCode.SUCCESS
    assert [path.name for path in tmp_path.glob("sas_plan*")] == ["sas_plan.1"]


@pytest.mark.parametrize("batch_size", [2, 3, 7, 100])
@pytest.mark.parametrize("heuristic", ["blind", "hmax"])
def test_batches_do_not_make_astar_worse(batch_size: int, heuristic: str) -> None:
    """The goal is generated over an expensive path, and taken in the batch that would find the cheap one."""
    values = tuple(f"Atom at({i})" for i in range(4))

    def move(start: int, end: int, cost: int) -> sas.Operator:
        return sas.Operator(f"move{start}{end}", ((0, start),), (((), 0, end),), cost)

    task = sas.SasTask(
        variables=(sas.Variable(-1, values),),
        initial=(0,),
        goal=((0, 3),),
        operators=(move(0, 3, 6), move(0, 1, 1), move(1, 2, 0), move(2, 3, 1)),
        metric=True,
    )
    ground = _core.GroundTask.from_sas(sas.write(task))
    _, result = search_configs.run(ground, lambda g: search_configs.astar(g, heuristic), batch_size=batch_size)
    assert (result.status, result.plan_cost) == ("solved", 2)


# -- costs that no action has


COSTLY = tasks.COURIER_DOMAIN.replace("(increase (total-cost) 3)", f"(increase (total-cost) {2**31})")


@pytest.mark.parametrize(
    ("domain", "problem", "line"),
    [
        (COSTLY, tasks.COURIER, 19),
        (tasks.COURIER_DOMAIN, tasks.COURIER.replace("70000", str(2**31)), 6),
        (tasks.COURIER_DOMAIN, tasks.COURIER.replace("70000", "9" * 5000), 6),
    ],
)
def test_action_costs_of_more_than_31_bits(tmp_path: Path, domain: str, problem: str, line: int) -> None:
    cli.write_files(tmp_path, {"domain.pddl": domain, "problem.pddl": problem})
    run = cli.gsp_plan(tmp_path, "domain.pddl", "problem.pddl", "--search", "astar(blind())")
    assert run.returncode == ExitCode.TRANSLATE_INPUT_ERROR
    assert f"{line}: the number" in run.stderr
    assert "is too large: costs are at most 2147483647" in run.stderr


def test_the_largest_cost(tmp_path: Path) -> None:
    problem = tasks.COURIER.replace("70000", str(2**31 - 1))
    cli.write_files(tmp_path, {"domain.pddl": tasks.COURIER_DOMAIN, "problem.pddl": problem})
    assert load_pddl(tmp_path / "domain.pddl", tmp_path / "problem.pddl").ground().num_operators > 0


# -- names of operators


@pytest.mark.parametrize("name", ["MOVE", "Move a ", "a\vb", "a\x1cb", "a\x85b", "a\u2028b", "a\tb  c", "\u0130", "é"])
def test_operators_may_have_any_name(tmp_path: Path, name: str) -> None:
    assert solve(tmp_path, chain(2, 1, name), "astar(blind())") == ExitCode.SUCCESS
    assert (tmp_path / "sas_plan").read_bytes().count(b"\n") == 3
