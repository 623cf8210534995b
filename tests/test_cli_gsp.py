"""Learned heuristics on the command line: searches, their statistics, and what is refused."""

from __future__ import annotations

import heapq
import itertools
import os
import re
import shlex
import sys
from dataclasses import replace
from pathlib import Path

import cli_support as cli
import numpy as np
import pytest
import tasks
from random_models import random_checkpoint, random_model

from gsp_fd import _core as core
from gsp_fd.generate import domain_text, generate
from gsp_fd.model import Model
from gsp_fd.task import Task, load_pddl

FILES = ["domain.pddl", "problem.pddl"]
GSP = [*FILES, "--heuristic", "gsp", "--model", "m.onnx"]
PICTURES = {
    "domain.pddl": """\
(define (domain pictures)
  (:requirements :strips :negative-preconditions)
  (:predicates (nail ?x) (bare ?x) (hung ?p ?x) (lying ?p))
  (:action hang :parameters (?p ?x) :precondition (and (lying ?p) (bare ?x))
    :effect (and (hung ?p ?x) (not (bare ?x)) (not (lying ?p))))
  (:action drop :parameters (?p ?x) :precondition (hung ?p ?x)
    :effect (and (lying ?p) (bare ?x) (not (hung ?p ?x)))))
""",
    "problem.pddl": """\
(define (problem five) (:domain pictures)
  (:objects p1 p2 p3 n1 n2 n3)
  (:init (lying p1) (lying p2) (lying p3) (bare n1) (bare n2) (bare n3))
  (:goal (and (not (bare n1)) (not (bare n2)))))
""",
}
"""Three interchangeable pictures, and one of the three nails is not like the others."""


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    for name, files in (("tower", cli.TOWER), ("courier", cli.COURIER), ("pictures", PICTURES)):
        random_model(tasks.load(files["domain.pddl"], files["problem.pddl"]), folder / f"{name}.onnx")
    return folder


def prepare(folder: Path, files: dict[str, str], model: Path) -> Path:
    cli.write_files(folder, files)
    (folder / "m.onnx").write_bytes(model.read_bytes())
    return folder


@pytest.fixture
def tower(tmp_path: Path, models: Path) -> Path:
    return prepare(tmp_path, cli.TOWER, models / "tower.onnx")


@pytest.fixture
def courier(tmp_path: Path, models: Path) -> Path:
    return prepare(tmp_path, cli.COURIER, models / "courier.onnx")


@pytest.fixture
def pictures(tmp_path: Path, models: Path) -> Path:
    return prepare(tmp_path, PICTURES, models / "pictures.onnx")


def solved(folder: Path, *arguments: str) -> str:
    """The log of a run that must find a plan."""
    run = cli.gsp_plan(folder, *arguments)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stderr == ""
    assert (folder / "sas_plan").exists()
    assert "Solution found." in run.stdout
    return run.stdout


def complaint(folder: Path, *arguments: str, code: int) -> str:
    """The one message of a run that must fail."""
    run = cli.gsp_plan(folder, *arguments)
    assert run.returncode == code, run.stdout + run.stderr
    assert "Traceback" not in run.stdout + run.stderr
    assert run.stderr.count("gsp-plan: error: ") == 1, run.stderr
    assert f"search exit code: {code}" in run.stdout
    assert cli.plan_files(folder) == []
    return run.stderr


def count(log: str, verb: str) -> int:
    match = re.search(rf"{verb} (\d+) state\(s\)\.", log)
    assert match is not None
    return int(match[1])


SEARCHES = {
    "policy": ["--search", "policy"],
    "wastar": ["--search", "wastar", "-w", "1.5"],
    "gbfs": ["--search", "gbfs", "--batch-size", "8"],
    "batch": ["--search", "wastar", "--batch-size", "8", "--threads", "2", "--device", "cpu"],
    "no symmetry": ["--search", "wastar", "--symmetry", "none"],
    "symmetry": ["--search", "wastar", "--symmetry", "objects"],
    "lazy": ["--search", "lazy_gbfs"],
}


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("task", ["tower", "courier", "pictures"])
def test_searches(task: str, search: str, request: pytest.FixtureRequest) -> None:
    folder = request.getfixturevalue(task)
    log = solved(folder, *GSP, *SEARCHES[search])
    assert "Model: m.onnx for domain " in log
    evaluator = "CPUExecutionProvider" if "--threads" in SEARCHES[search] else "native code"
    assert f"on the CPU ({evaluator})" in log
    assert re.search(r"Symmetry reduction: \d+ actions generated, standing for \d+\.", log)


IN_THE_LANGUAGE = [
    'eager_greedy([gsp(model="m.onnx")])',
    'astar(gsp(model="m.onnx", device=cpu, threads=1))',
    'lazy_wastar([gsp(model="m.onnx")], w=3)',
    'gsp_wastar([gsp(model="m.onnx")], w=0.5)',
    'gsp_wastar([gsp(model="m.onnx"), ff()])',
    'gsp_gbfs([gsp(model="m.onnx"), goalcount()])',
    'let(h, gsp(model="m.onnx"), eager(tiebreaking([sum([g(), weight(h, 2)]), h])))',
    'let(h, ff(), lazy_greedy([h, gsp(model="m.onnx")], preferred=[h]))',
    'iterated([policy(gsp(model="m.onnx")), gsp_wastar([gsp(model="m.onnx")])], continue_on_fail=true)',
]


@pytest.mark.parametrize("search", IN_THE_LANGUAGE)
@pytest.mark.parametrize("task", ["tower", "courier"])
def test_search_language(task: str, search: str, request: pytest.FixtureRequest) -> None:
    folder = request.getfixturevalue(task)
    run = cli.gsp_plan(folder, *FILES, "--search", search)
    assert run.returncode == 0, run.stdout + run.stderr
    assert cli.plan_files(folder)


def test_warning_of_what_training_never_saw(tower: Path) -> None:
    task = load_pddl(tower / "domain.pddl", tower / "problem.pddl")
    checkpoint = random_checkpoint(task)
    unseen = ("on@goal", "holding@goal", "on@goal_true")
    from gsp_fd.export.writer import export_model

    export_model(replace(checkpoint, metadata=replace(checkpoint.metadata, unseen=unseen)), tower / "new.onnx")
    arguments = (*FILES, "--heuristic", "gsp", "--search", "policy")
    log = solved(tower, *arguments, "--model", "new.onnx")
    assert "Warning: the problem has what the model never saw in training: on@goal, on@goal_true\n" in log
    assert "Warning" not in solved(tower, *arguments, "--model", "m.onnx")


def test_options_are_defaults_of_the_evaluator(tower: Path) -> None:
    assert "Model: m.onnx" in solved(tower, *FILES, "--search", "policy(gsp())", "--model", "m.onnx")
    message = complaint(tower, *FILES, "--search", 'policy(gsp(model="other.onnx"))', "--model", "m.onnx", code=33)
    assert "other.onnx: cannot read the model" in message


def test_pairs_taken_are_expansions(tower: Path) -> None:
    """Every pair (s, a) taken from the frontier counts, and so do budgets."""
    log = solved(tower, *GSP, "--search", "wastar")
    expanded = count(log, "Expanded")
    assert expanded == count(log, "Generated")
    assert expanded >= count(log, "Evaluated") > 1
    run = cli.gsp_plan(tower, *GSP, "--search", "wastar", "--max-expansions", str(expanded))
    assert run.returncode == 0
    (tower / "sas_plan").unlink()
    run = cli.gsp_plan(tower, *GSP, "--search", "wastar", "--max-expansions", str(expanded - 1))
    assert run.returncode == 12, run.stdout + run.stderr
    assert "Expansion limit reached." in run.stdout
    assert count(run.stdout, "Expanded") == expanded - 1
    assert cli.plan_files(tower) == []


def search_in_python(task: Task, model: Model, weight: float | None) -> tuple[list[str], int]:
    """Plan and expansions: the pairs that WA* takes, or the states that the policy (no weight) enters."""
    assert task.lifted is not None
    space = core.LiftedSpace(task.native_lifted(), True)
    encoder = model.encoder(task.lifted, task.native_lifted())
    start = space.initial_state()
    costs, parents = {start: 0}, {start: (-1, -1)}
    frontier: list[tuple[float, float, int, int, int]] = []
    order, taken, state = itertools.count(), 0, start
    while not space.is_goal(state):
        states = np.array([state], np.int32)
        begin, operators = core.applicable_rows(space, states)
        q = model.backend.q_values(encoder.encode(space, states, begin, operators))
        for op, value in zip(operators.tolist(), q.tolist(), strict=True):
            if weight is not None and space.apply(state, op) in parents:
                continue
            first, second = (-len(costs), -value) if weight is None else (costs[state] - weight * value, 0.0)
            heapq.heappush(frontier, (first, second, next(order), state, op))
        while state in parents:
            *_, parent, op = heapq.heappop(frontier)
            state = space.apply(parent, op)
            taken += weight is not None or state not in parents
        parents[state], costs[state] = (parent, op), costs[parent] + space.cost(op)
    plan = []
    while state != start:
        state, op = parents[state]
        plan.append(space.operator_name(op))
    return plan[::-1], taken


@pytest.mark.parametrize("task", ["tower", "courier", "pictures"])
@pytest.mark.parametrize(("search", "weight"), [("policy", None), ("wastar", 1.5), ("wastar", 0.0), ("wastar", 50.0)])
def test_searches_against_python(task: str, search: str, weight: float | None, request: pytest.FixtureRequest) -> None:
    folder = request.getfixturevalue(task)
    plan, taken = search_in_python(load_pddl(*(folder / name for name in FILES)), Model(folder / "m.onnx"), weight)
    log = solved(folder, *GSP, "--search", search, *(["-w", str(weight)] if weight is not None else []))
    assert count(log, "Expanded") == taken
    assert (folder / "sas_plan").read_text().splitlines()[:-1] == [f"({name})" for name in plan]


def test_symmetry_is_printed_and_can_be_turned_off(pictures: Path) -> None:
    pattern = re.compile(r"Symmetry reduction: (\d+) actions generated, standing for (\d+)\.")
    counts = {}
    for kind in ("objects", "none"):
        run = cli.gsp_plan(pictures, *GSP, "--search", "policy", "--max-expansions", "1", "--symmetry", kind)
        match = pattern.search(run.stdout)
        assert match is not None
        counts[kind] = int(match[1]), int(match[2])
    # Initially 9 actions: any picture on any nail. The pictures are alike; so are n1 and n2.
    generated, represented = counts["objects"]
    assert generated < represented
    assert counts["none"][0] == counts["none"][1]


def test_the_log_has_the_whole_search(pictures: Path) -> None:
    """What the log prints as the search is all there is to it: a second run needs no other option."""
    options = ["--search", "wastar", "--symmetry", "none", "--batch-size", "4", "--device", "cpu", "--threads", "1"]
    log = solved(pictures, *GSP, *options)
    plan = (pictures / "sas_plan").read_text()
    match = re.search(r"search command line string: (.*)", log)
    assert match is not None
    search = shlex.split(match[1])[-1]
    expected = 'gsp_wastar([gsp(model="m.onnx", device=cpu, threads=1, symmetry=none)], w=2, batch_size=4)'
    assert search == expected
    again = solved(pictures, *FILES, "--search", search)
    for line in ("Expanded", "Evaluations", "Symmetry reduction"):
        assert re.findall(rf"{line}.*", again) == re.findall(rf"{line}.*", log)
    assert (pictures / "sas_plan").read_text() == plan
    other = solved(pictures, *GSP, "--search", "wastar")
    assert re.findall(r"Symmetry reduction.*", other) != re.findall(r"Symmetry reduction.*", log)


def test_the_log_names_policy_model_and_values(tower: Path) -> None:
    output = solved(tower, *GSP, "--search", "policy")
    assert "Conducting greedy policy search, (real) bound" in output
    assert re.search(r"command line string: .*gsp\(model=.*\.onnx", output)
    lines = re.findall(r"New best heuristic value for gsp: (.+)", output)
    assert len(set(lines)) == len(lines)
    assert any("." in line for line in lines)
    assert re.search(r"(?m)Initial heuristic value for gsp: (-?\d+|infinity)$", output)
    assert "Conducting best first search over state-action pairs" in solved(tower, *GSP, "--search", "wastar")


def test_two_runs_are_the_same(tower: Path) -> None:
    """The same plan and the same values of Q in the log, to the last digit."""
    logs, plans = [], []
    for _ in range(2):
        log = solved(tower, *GSP, "--search", "wastar", "--batch-size", "4", "--seed", "3")
        logs.append([re.sub(r"^\[t=.*?\] ", "", line) for line in log.splitlines() if "heuristic value" in line])
        plans.append((tower / "sas_plan").read_text())
    assert logs[0] == logs[1]
    assert any("for gsp: " in line for line in logs[0])
    assert plans[0] == plans[1]


def test_goal_that_holds_already(tower: Path) -> None:
    text = re.sub(r"\(:goal .*\)\)", "(:goal (on c b)))", cli.TOWER["problem.pddl"])
    (tower / "problem.pddl").write_text(text)
    for search in ("policy", "wastar"):
        assert "Plan length: 0 step(s)." in solved(tower, *GSP, "--search", search)


@pytest.mark.parametrize("search", ["policy", "wastar", "gbfs"])
def test_unsolvable_task(tower: Path, search: str) -> None:
    cli.write_files(tower, cli.UNSOLVABLE)
    run = cli.gsp_plan(tower, *GSP, "--search", search)
    assert run.returncode == 11, run.stdout + run.stderr
    assert "no plan exists" in run.stdout


# What is refused


def test_model_of_another_domain(courier: Path, models: Path) -> None:
    (courier / "m.onnx").write_bytes((models / "tower.onnx").read_bytes())
    message = complaint(courier, *GSP, code=33)
    assert "m.onnx: the model does not fit the task: predicate road of the domain is unknown to the model" in message


@pytest.mark.parametrize(("data", "words"), [(None, "cannot read"), (b"", "not an ONNX"), (b"PK\3\4xx", "not an ONNX")])
def test_files_that_are_no_models(tower: Path, data: bytes | None, words: str) -> None:
    (tower / "m.onnx").unlink()
    if data is not None:
        (tower / "m.onnx").write_bytes(data)
    assert f"m.onnx: {words}" in complaint(tower, *GSP, code=33)


def test_unknown_name(tower: Path) -> None:
    assert "there is no model 'nosuchmodel'" in complaint(tower, *FILES, "--model", "nosuchmodel", *GSP[2:4], code=33)


def test_cuda(tower: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    if "CUDAExecutionProvider" in onnxruntime.get_available_providers():
        pytest.skip("this ONNX Runtime has CUDA")
    assert "CUDA was asked for" in complaint(tower, *GSP, "--device", "cuda", code=33)


def test_two_builds_of_onnx_runtime(tower: Path) -> None:
    """What pip leaves of asking for both extras is seen, and the way out is said."""
    site = tower / "site"
    for name in ("onnxruntime", "onnxruntime-1.20.0.dist-info"):
        (site / name).mkdir(parents=True)
    (site / "onnxruntime" / "__init__.py").touch()
    environment = {**os.environ, "PYTHONPATH": str(site)}
    assert "Warning" not in cli.gsp_plan(tower, *GSP, "--search", "policy", env=environment).stdout
    (site / "onnxruntime_gpu-1.20.0.dist-info").mkdir()
    run = cli.gsp_plan(tower, *GSP, "--search", "policy", env=environment)
    assert run.returncode == 0
    assert "Warning: onnxruntime and onnxruntime-gpu are both installed" in run.stdout
    assert "pip uninstall -y onnxruntime onnxruntime-gpu, then pip install 'gsp-fd[gpu]'" in run.stdout


def test_sas_file(tower: Path) -> None:
    assert cli.gsp_plan(tower, "--translate", *FILES).returncode == 0
    message = complaint(tower, "output.sas", *GSP[2:], code=34)
    assert "gsp needs the lifted task" in message
    assert "SAS" in message


ADL = {
    "conditional effects": (domain_text("lift"), generate("lift", 7, 1)),
    "derived predicates": (domain_text("stacking"), generate("stacking", 4, 1)),
    "both": (tasks.HOUSE_DOMAIN, tasks.HOUSE),
    "ground strata": (tasks.GUARDS_DOMAIN, tasks.GUARDS),
}


@pytest.mark.parametrize("name", ADL)
@pytest.mark.parametrize("relaxed_plan", ["no", "yes"])
def test_all_kinds_of_pddl(name: str, relaxed_plan: str, tmp_path: Path) -> None:
    cli.write_files(tmp_path, dict(zip(FILES, ADL[name], strict=True)))
    task = tasks.load(*ADL[name])
    random_model(task, tmp_path / "m.onnx", relaxed_plan=relaxed_plan)
    for search in ("policy", "gbfs", "no symmetry"):
        solved(tmp_path, *GSP, *SEARCHES[search])
        plan = re.findall(r"^\((.*)\)", (tmp_path / "sas_plan").read_text(), re.MULTILINE)
        assert task.validate(plan).valid


def test_model_options_without_a_learned_heuristic(tower: Path) -> None:
    run = cli.gsp_plan(tower, *FILES, "--heuristic", "hff", "--model", "m.onnx")
    assert run.returncode == 36
    assert "--model is only for learned heuristics" in run.stderr


NO_TORCH = """
import sys
sys.argv[0] = "gsp-plan"
from gsp_fd.fd_integration.driver import main
code = main()
unwanted = {"torch", "torch_geometric", "onnx", "onnxruntime", "scipy", "pddl"}
loaded = sorted({name.split(".")[0] for name in sys.modules} & unwanted)
print(f"exit {code}, loaded {loaded}")
"""


def test_planning_imports_neither_torch_nor_onnx_runtime(tower: Path) -> None:
    command = [sys.executable, "-c", NO_TORCH, *GSP, "--search", "policy"]
    run = cli._run(command, tower, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    assert run.stdout.splitlines()[-1] == "exit 0, loaded []", run.stdout + run.stderr
