"""``import gsp_fd``: what it promises in its examples, and that it is the command line's own machinery."""

from __future__ import annotations

import doctest
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import tasks

import gsp_fd
from gsp_fd import api
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.fd_integration import driver

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
MODULES = ("gsp_fd", *(f"gsp_fd.api.{name}" for name in ("models", "planning", "tasks", "training")))


def load(domain: str, problem: str = "p01") -> gsp_fd.Task:
    return gsp_fd.load(EXAMPLES / domain / "domain.pddl", EXAMPLES / domain / f"{problem}.pddl")


@pytest.fixture
def blocks() -> gsp_fd.Task:
    return load("blocksworld")


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_the_docstrings_are_true(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    outcome = doctest.testmod(importlib.import_module(name))
    assert outcome.failed == 0
    assert outcome.attempted or name.endswith("training")


def test_the_door_shows_what_the_room_has() -> None:
    assert set(gsp_fd.__all__) == {*api.__all__, "__version__"}
    assert set(api.__all__) <= set(dir(gsp_fd))
    assert all(getattr(gsp_fd, name).__doc__ for name in api.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        _ = gsp_fd.nothing  # type: ignore[attr-defined]


def test_import_loads_next_to_nothing_and_planning_never_torch() -> None:
    code = (
        "import json, sys, gsp_fd; first = [name for name in sys.modules if name.startswith('gsp_fd.')];"
        "task = gsp_fd.load('examples/blocksworld/domain.pddl', 'examples/blocksworld/p01.pddl');"
        "gsp_fd.plan(task, 'policy');"
        "print(json.dumps([first, 'torch' in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [[], False]


# Tasks and states


def test_a_plan_walks_from_the_initial_state_to_a_goal(blocks: gsp_fd.Task) -> None:
    state, result = blocks.initial, gsp_fd.plan(blocks, "astar", heuristic="hmax")
    assert result.plan is not None
    for action in result.plan:
        assert action in state.actions()
        state = state.apply(action)
    assert state.is_goal
    assert blocks.goal <= state.atoms()
    assert not blocks.initial.is_goal
    assert sum(action.cost for action in result.plan) == result.cost
    assert blocks.validate(result.plan).valid


def test_states_are_what_they_hold(blocks: gsp_fd.Task) -> None:
    lifted = blocks.initial.apply("unstack b4 b1")
    back = lifted.apply("(STACK b4 b1)")
    assert back == blocks.initial
    assert hash(back) == hash(blocks.initial)
    assert lifted != blocks.initial
    assert blocks.initial != load("blocksworld").initial


def test_an_action_that_cannot_be_applied(blocks: gsp_fd.Task) -> None:
    with pytest.raises(ValueError, match=r"\(unstack b4 b2\) is not applicable.*unstack b4 b1"):
        blocks.initial.apply("unstack b4 b2")


def test_static_atoms_and_costs() -> None:
    task = tasks_of(tasks.COURIER_DOMAIN, tasks.COURIER)
    assert task.initial.atoms(static=False) < task.initial.atoms()
    result = gsp_fd.plan(task, "astar", heuristic="blind")
    assert result.cost == sum(action.cost for action in result.plan or ())


def tasks_of(domain: str, problem: str) -> gsp_fd.Task:
    return gsp_fd.Task(tasks.load(domain, problem))


def test_a_sas_file_has_the_same_states(blocks: gsp_fd.Task, tmp_path: Path) -> None:
    file = tmp_path / "output.sas"
    file.write_bytes(blocks.loaded.ground().to_sas())
    task = gsp_fd.load(file)
    assert task.domain is None
    assert not task.is_lifted
    assert task.initial.atoms() <= blocks.initial.atoms()
    assert task.goal <= blocks.goal
    assert [action.name for action in task.initial.actions()] == [action.name for action in blocks.initial.actions()]
    assert task.heuristic("hff")(task.initial) == blocks.heuristic("hff")(blocks.initial)
    with pytest.raises(gsp_fd.InputError, match="needs the lifted task"):
        gsp_fd.Model("blocksworld").q(task.initial)


def test_files_that_cannot_be_used(tmp_path: Path) -> None:
    broken = tmp_path / "domain.pddl"
    broken.write_text("(define (domain d)\n(:predicates (p ?x\n")
    with pytest.raises(gsp_fd.InputError, match=r"domain\.pddl"):
        gsp_fd.load(broken, EXAMPLES / "blocksworld" / "p01.pddl")
    assert gsp_fd.load(EXAMPLES / "gripper" / "p01.pddl").domain == load("gripper").domain


# Models and heuristics


def test_q_is_what_the_policy_follows(blocks: gsp_fd.Task) -> None:
    model, state, followed = gsp_fd.Model("blocksworld"), blocks.initial, []
    result = gsp_fd.plan(blocks, "policy", model=model, symmetry="none")
    while not state.is_goal:
        values = model.q(state)
        assert list(values) == sorted(values, key=lambda action: (-values[action], action))
        assert set(values) == set(state.actions())
        followed.append(next(iter(values)))
        assert model.h(state) == -values[followed[-1]]
        state = state.apply(followed[-1])
    assert tuple(followed) == result.plan
    assert model.h(state) == 0


@pytest.mark.parametrize("domain", ["blocksworld", "sokoban"])
def test_a_batch_has_the_values_of_its_states(domain: str) -> None:
    task, model = load(domain), gsp_fd.Model(domain)
    states = [task.initial, *(task.initial.apply(action) for action in task.initial.actions())] * 60
    for batch, alone in zip(model.q_batch(states), [model.q(state) for state in states[:6]], strict=False):
        assert list(batch.values()) == pytest.approx(list(alone.values()), abs=1e-4)
    assert model.h_batch(states)[-1] == pytest.approx(model.h(states[-1]), abs=1e-4)
    assert model.q_batch([]) == []


def test_models_that_do_not_fit(blocks: gsp_fd.Task) -> None:
    model = gsp_fd.Model("ferry")
    assert not model.fits(blocks)
    assert gsp_fd.Model("blocksworld").fits(blocks)
    with pytest.raises(gsp_fd.InputError, match="does not fit"):
        model.q(blocks.initial)
    with pytest.raises(gsp_fd.InputError, match="no model 'fairy'"):
        gsp_fd.Model("fairy")
    with pytest.raises(ValueError, match="another task"):
        model.q_batch([blocks.initial, load("blocksworld").initial])


def test_heuristics(blocks: gsp_fd.Task) -> None:
    result = gsp_fd.plan(blocks, "astar", heuristic="blind")
    state, left = blocks.initial, float(result.cost or 0)
    for action in result.plan or ():
        assert blocks.heuristic("hmax")(state) <= left
        assert set(blocks.heuristic("hff").preferred(state)) <= set(state.actions())
        state, left = state.apply(action), left - action.cost
    assert blocks.heuristic("hff").batch([blocks.initial, state])[1] == 0
    with pytest.raises(gsp_fd.InputError, match="hff"):
        blocks.heuristic("hfff")


# Searches


@pytest.mark.parametrize(
    ("search", "heuristic", "options"),
    [
        ("eager_wastar([ff()], w=3)", (), ()),
        ("wastar", "hff", ("--weight", "3")),
        ("policy", "gsp", ()),
        ("lama-first", (), ()),
    ],
)
def test_plan_is_what_the_command_line_does(
    search: str, heuristic: str, options: tuple[str, ...], blocks: gsp_fd.Task, tmp_path: Path
) -> None:
    weight = 3.0 if options else None
    result = gsp_fd.plan(blocks, search, heuristic=heuristic, weight=weight)
    folder, file = EXAMPLES / "blocksworld", tmp_path / "plan"
    said = ["--alias", search] if search == "lama-first" else ["--search", search]
    said += ["--heuristic", heuristic] if heuristic else []
    before, after = (said, []) if "--alias" in said else ([], said)
    files = [str(folder / "domain.pddl"), str(folder / "p01.pddl")]
    assert driver.main(["--plan-file", str(file), *before, *files, *after, *options]) == ExitCode.SUCCESS
    result.save(tmp_path / "saved")
    assert (tmp_path / "saved").read_text() == file.read_text()
    assert f"Expanded {result.statistics.expanded} state(s)." in result.log


def test_every_end_of_a_search_is_a_result(blocks: gsp_fd.Task) -> None:
    assert gsp_fd.plan(blocks, "astar", heuristic="blind", max_expansions=1).status == "failed"
    late = gsp_fd.plan(blocks, "astar", heuristic="blind", time_limit=1e-9)
    assert (late.status, late.plan, late.cost, late.solved) == ("out of time", None, None, False)
    assert gsp_fd.plan(blocks, "astar(blind(), bound=2)").status == "no plan within the bound"
    impossible = tasks_of(tasks.TOWER_DOMAIN, tasks.TOWER.replace("(:goal (and", "(:goal (and (on a a)"))
    assert gsp_fd.plan(impossible, "astar(blind())").exit_code == ExitCode.SEARCH_UNSOLVABLE
    with pytest.raises(ValueError, match="no plan to save"):
        late.save("plan")


def test_anytime_searches_keep_the_cheapest_plan(blocks: gsp_fd.Task) -> None:
    best = gsp_fd.plan(blocks, "anytime-hff")
    assert best.cost == gsp_fd.plan(blocks, "astar", heuristic="blind").cost
    assert best.statistics.expanded > 0


def test_searches_that_cannot_be_used(blocks: gsp_fd.Task) -> None:
    with pytest.raises(gsp_fd.InputError, match="wastar"):
        gsp_fd.plan(blocks, "wastarr")
    with pytest.raises(gsp_fd.InputError, match="does not fit"):
        gsp_fd.plan(blocks, "policy", model="ferry")


def test_without_arguments_there_is_a_plan(capsys: pytest.CaptureFixture[str]) -> None:
    for domain in ("blocksworld", "gripper"):  # with a shipped model, and without
        result = gsp_fd.plan(load(domain), verbose=True)
        assert result.solved
        assert capsys.readouterr().out == result.log


def test_train_gives_a_model_to_plan_with(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from training_support import write_problems

    problems = write_problems(tmp_path / "problems")
    model = gsp_fd.train(problems / "domain.pddl", problems, tmp_path / "run", minutes=0.05, workers=0, d=8, layers=2)
    assert model.path == tmp_path / "run" / "model.onnx"
    task = gsp_fd.load(problems / "domain.pddl", sorted(problems.glob("p*.pddl"))[0])
    assert model.fits(task)
    assert gsp_fd.plan(task, "gbfs", heuristic="gsp", model=tmp_path / "run").solved
    with pytest.raises(gsp_fd.InputError, match="exists already"):
        gsp_fd.train(problems / "domain.pddl", problems, tmp_path / "run")


def test_the_notebook_runs_from_its_first_cell_to_its_last(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    notebook = nbformat.read(EXAMPLES / "tour.ipynb", as_version=4)
    shown = [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]
    nbclient.NotebookClient(notebook, timeout=None, resources={"metadata": {"path": str(EXAMPLES)}}).execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert len(cells) == len(shown) > 8
    assert all(any(output.output_type != "error" for output in outputs) for outputs in shown)
    assert cells[-1].outputs[-1]["data"]["text/plain"] == "'solved'"
