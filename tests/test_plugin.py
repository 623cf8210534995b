"""The plugin for Fast Downward's source tree: its task files, the C interface of the core, its values, Fast Downward.

The last part runs where GSP_FD_SOURCES names a checkout of Fast Downward, in which builds/gsp is made (minutes, the
first time).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import plugin_support as plugin
import pytest
import tasks
from random_models import random_model

from gsp_fd import _core as core
from gsp_fd.common.errors import InputError
from gsp_fd.fd_integration.tools import plugin_task
from gsp_fd.generate import domain_text, generate
from gsp_fd.inference import NativeNetwork, OnnxSession
from gsp_fd.model import Model
from gsp_fd.model_library import find_model
from gsp_fd.pddl import LiftedTask
from gsp_fd.task import Task
from gsp_fd.translator import translate, translator_available

TEXTS = {
    "tower": (tasks.TOWER_DOMAIN, tasks.TOWER),
    "courier": (tasks.COURIER_DOMAIN, tasks.COURIER),
    "lamps": (tasks.LAMPS_DOMAIN, tasks.lamps(4, "(lit l0) (not (lit l1)) (not (lit l2))")),
    "guards": (tasks.GUARDS_DOMAIN, tasks.GUARDS),
    **{
        name: (domain_text(name), generate(name, size, 3))
        for name, size in (("rovers", 12), ("satellite", 12), ("lift", 7), ("stacking", 4))
    },
}
CONFIGS: list[dict[str, Any]] = [{}, {"pool": "mean"}, {"message_hidden": 24, "fp16": True}, {"relaxed_plan": "yes"}]
SHIPPED = {name: (domain_text(name), generate(name, 8, 1)) for name in ("blocksworld", "ferry", "miconic")}


@pytest.fixture(scope="session")
def library_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("plugin") / "libgsp_c.so"
    return plugin.compile_strictly(target, "-shared", *plugin.core_sources())


@pytest.fixture(scope="session")
def library(library_file: Path) -> Any:
    return plugin.load_library(library_file)


def compile_program(library_file: Path, name: str, *sources: Path) -> Path:
    """A program of these tests, with the library."""
    main, run_path = Path(__file__).with_name(f"{name}.cpp"), f"-Wl,-rpath,{library_file.parent}"
    target = library_file.with_name(name)
    return plugin.compile_strictly(target, f"-I{plugin.PLUGIN}", main, *sources, library_file, run_path)


@pytest.fixture(scope="session")
def values_program(library_file: Path) -> Path:
    return compile_program(library_file, "plugin_values", plugin.PLUGIN / "state_values.cc")


@pytest.fixture(scope="session")
def tensors_program(library_file: Path) -> Path:
    return compile_program(library_file, "plugin_tensors")


def lifted(task: Task) -> LiftedTask:
    assert task.lifted is not None
    return task.lifted


def expand_both(c_task: plugin.CTask, space: core.LiftedSpace, steps: int) -> list[int]:
    """Inner states of a path, taken in both spaces alike, so that states, atoms and actions get the same numbers."""
    state, states = space.initial_state(), []
    assert c_task.call("initial_state") == state
    for step in range(steps):
        operators, successors = space.expand(state)
        assert c_task.successors(state) == (successors.tolist(), [space.cost(int(op)) for op in operators])
        if space.is_goal(state) or not len(operators):
            break
        states.append(state)
        state = int(successors[step % len(successors)])
    return states


@pytest.mark.parametrize("name", TEXTS)
def test_same_tensors(name: str, library: Any, tensors_program: Path, tmp_path: Path) -> None:
    task = tasks.load(*TEXTS[name])
    model = Model(random_model(task, tmp_path / "model.onnx"))
    (tmp_path / "task.gsp").write_bytes(plugin_task.task_text(lifted(task), model.path))
    space, encoder = core.LiftedSpace(task.native_lifted()), model.encoder(lifted(task), task.native_lifted())
    c_task = plugin.CTask(library, (tmp_path / "task.gsp").read_bytes())
    states = np.array(expand_both(c_task, space, 8), dtype=np.int32)
    batch = encoder.encode(space, states, *core.applicable_rows(space, states))
    expected: list[npt.NDArray[Any]] = [*batch.relations, batch.node_state, batch.action_node, batch.action_state]
    expected.append(batch.state_sizes)
    command = [str(tensors_program), str(tmp_path / "task.gsp")]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [[int(n) for n in line.split()] for line in lines] == [array.reshape(-1).tolist() for array in expected]


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_same_q_values(name: str, config: dict[str, Any], library: Any, tmp_path: Path) -> None:
    """Those of the Python side, natively and by ONNX Runtime."""
    task = tasks.load(*TEXTS[name])
    path = random_model(task, tmp_path / "model.onnx", **config)
    c_task = plugin.CTask(library, plugin_task.task_text(lifted(task), path))
    assert c_task.call("task_model").decode() == str(path)
    space = core.LiftedSpace(task.native_lifted())
    path_states = expand_both(c_task, space, 8)
    states = np.array(path_states, dtype=np.int32)
    q = -np.concatenate([c_task.action_values(state) for state in path_states])
    for threads, backend, tolerance in ((1, NativeNetwork, 2e-6), (2, OnnxSession, 1e-5)):
        model = Model(path, device="cpu", threads=threads)
        assert isinstance(model.backend, backend)
        encoder = model.encoder(lifted(task), task.native_lifted())
        plans = task.heuristic("ff") if model.metadata.relaxed_plan else None
        batch = encoder.encode(space, states, *core.applicable_rows(space, states), plans)
        np.testing.assert_allclose(q, model.backend.q_values(batch), rtol=0, atol=tolerance)
        expected = model.heuristic(task).evaluate(space, states)
        np.testing.assert_allclose(c_task.values(path_states), expected, rtol=0, atol=tolerance)
    again = -np.concatenate([c_task.action_values(state) for state in path_states])
    assert again.tobytes() == q.tobytes(), "what was computed before changes nothing"
    assert c_task.values([]).size == 0
    of_last = c_task.action_values(path_states[-1])
    atoms = c_task.atoms(path_states[-1])
    c_task.call("forget_states")
    assert c_task.action_values(c_task.state(atoms)).tobytes() == of_last.tobytes(), "nor does what was forgotten"


def test_states_by_the_names_of_atoms(courier: LiftedTask, library: Any, tmp_path: Path) -> None:
    task = tasks.load(*TEXTS["courier"])
    text = plugin_task.task_text(courier, random_model(task, tmp_path / "model.onnx"))
    c_task = plugin.CTask(library, text)
    space = core.LiftedSpace(task.native_lifted())
    known: dict[str, int] = {}
    for state in expand_both(c_task, space, 6):
        flat, names = space.export_state(state).tolist(), []
        while flat:
            arity = courier.arities[flat[0]]
            objects = ", ".join(courier.objects[o] for o in flat[1 : 1 + arity])
            names.append(f"Atom {courier.predicates[flat[0]]}({objects})")
            flat = flat[1 + arity :]
        atoms = [c_task.call("atom", atom.encode()) for atom in reversed(names)]
        assert c_task.state(atoms + atoms[:1]) == state
        assert c_task.atoms(state) == sorted(atoms)
        known |= dict(zip(reversed(names), atoms, strict=True))
    for name in ("NegatedAtom at(truck, a)", "<none of those>", "Atom nowhere()", "Atom", "Atom at(", "Atom at(x, y)"):
        assert c_task.call("atom", name.encode()) == -1
    c_task.call("forget_states")
    assert c_task.call("num_states") == 1
    assert {name: c_task.call("atom", name.encode()) for name in known} == known


def test_values_of_goals_and_dead_ends(library: Any, tmp_path: Path) -> None:
    action = "(:action a :parameters () :precondition (p) :effect (and (q) (not (p))))"
    domain = f"(define (domain d) (:predicates (p) (q) (r)) {action})"
    for goal, value in (("(q)", 0.0), ("(r)", np.inf)):
        task = tasks.load(domain, f"(define (problem x) (:domain d) (:objects o) (:init (p)) (:goal {goal}))")
        model = random_model(task, tmp_path / "model.onnx")
        c_task = plugin.CTask(library, plugin_task.task_text(lifted(task), model))
        ((successor,), (cost,)) = c_task.successors(0)
        assert (c_task.values([successor]).tolist(), cost) == ([value], 1)
        assert c_task.values([0]).tolist() == c_task.action_values(0).tolist()
        assert c_task.action_values(successor).size == 0


LIFT = "relation action 0 2 16 action@lift"
BIAS = "weights norm.bias " + 8 * "00000000"


@pytest.mark.parametrize(
    ("line", "changed", "message"),
    [
        ("gsp-task 4", "gsp-task 2", "line 1: version 2 of the format, but this program reads version 4"),
        ("gsp-task 4", "begin_version", "line 1: not a task file of gsp-fd"),
        ("gsp-task 4", "gsp-task 2x", "line 1: '2x' is no number (version)"),
        ("metric 0", "metric 2", "line 3: the flag must be from 0 to 1"),
        ("metric 0", "metre 0", "line 3: unknown keyword 'metre'"),
        ("metric 0", "metric 0 0", "line 3: '0' is too much in this line"),
        ("object a", "object", "a name is missing"),
        ("type 0 1 2 3", "type 0 1 2 4", "there is no object 4; the file has 4 before this line"),
        ("predicate clear 1 1", "predicate clear 64 1", "the arity must be from 0 to 63"),
        ("schema lift 1 0", "schema lift 1 1", "there is no type 1; the file has 1 before this line"),
        ("positive 2 0", "positive 2 1", "term 1 is neither a parameter nor an object"),
        ("positive 2 0", "positive 2 -5", "term -5 is neither a parameter nor an object"),
        ("positive 2 0", "positive 2", "'' is no number (term)"),
        ("init 1 0", "init 9 0", "there is no predicate 9"),
        (LIFT, "relation action 0 3 16 x", "the relation has 3 columns"),
        (LIFT, "relation deed 0 2 16 x", "unknown kind of relation 'deed'"),
        (LIFT, "relation action 9 2 16 x", "the relation has 2 columns"),
        (LIFT, "relation action 0 2 12 action@lift", "hidden units come in multiples of 8"),
        (LIFT, "relation action 0 2 24 action@lift", "the weights action@lift.w1 have another size"),
        (LIFT, "relation action 0 2 16 action@left", "there are no weights action@left.w1"),
        ("network 8 3 phi", "network 12 3 phi", "d must be a multiple of 8"),
        ("network 8 3 phi", "network 2147483640 3 phi", "d must be a multiple of 8, at most 65536"),
        ("network 8 3 phi", "network 8 0 phi", "1 to 1000 layers"),
        ("network 8 3 phi", "network 8 3 max", "unknown pool 'max'"),
        ("network 8 3 phi", "", "the file has no model, no network"),
        (BIAS, BIAS[:-1], "the weights norm.bias have not eight digits each"),
        (BIAS, BIAS[:-8], "the weights norm.bias have another size"),
        (BIAS, f"{BIAS}\n{BIAS}", "the weights norm.bias stand here twice"),
        (BIAS, BIAS.replace("norm", "form"), "there are no weights norm.bias"),
        (BIAS, "", "there are no weights norm.bias"),
        *((BIAS, BIAS[:-8] + bits, "norm.bias are not all numbers") for bits in ("0000000x", "-0000000", "7fc00000")),
        ("end", "", "the file ends without 'end'"),
    ],
)
def test_wrong_task_files(tower_text: str, library: Any, line: str, changed: str, message: str) -> None:
    assert f"\n{line}\n" in f"\n{tower_text}"
    text = f"\n{tower_text}".replace(f"\n{line}\n", f"\n{changed}\n" if changed else "\n", 1)[1:]
    with pytest.raises(ValueError, match=re.escape(message)):
        plugin.CTask(library, text.encode())


@pytest.fixture(scope="session")
def tower_text(tower: LiftedTask, tmp_path_factory: pytest.TempPathFactory) -> str:
    model = random_model(tasks.load(*TEXTS["tower"]), tmp_path_factory.mktemp("model") / "tower.onnx")
    return plugin_task.task_text(tower, model).decode()


def test_any_truncated_task_file_is_refused(tower_text: str, library: Any) -> None:
    lines = tower_text.splitlines(keepends=True)
    plugin.CTask(library, tower_text.encode())
    for count in range(len(lines)):
        with pytest.raises(ValueError, match=r"^line|must start with"):
            plugin.CTask(library, "".join(lines[:count]).encode())


def test_command_writes_a_task_file(tmp_path: Path, library: Any, capfdbinary: Any) -> None:
    for name, text in zip(("domain.pddl", "p01.pddl"), SHIPPED["blocksworld"], strict=True):
        (tmp_path / name).write_text(text)
    problem, output = f"--problem={tmp_path / 'p01.pddl'}", tmp_path / "task.gsp"
    assert plugin_task.main([problem, "--output", str(output)]) == 0
    assert plugin.CTask(library, output.read_bytes()).call("task_model").endswith(b"blocksworld.onnx")
    assert plugin_task.main([problem, "--model=blocksworld"]) == 0
    assert capfdbinary.readouterr().out == output.read_bytes()
    assert plugin_task.main([problem, "--model=ferry", "--output", str(tmp_path / "other.gsp")]) == 33
    assert b"the model does not fit the task" in capfdbinary.readouterr().err
    assert plugin_task.main(["--problem", str(tmp_path / "p02.pddl")]) == 30
    assert b"p02.pddl" in capfdbinary.readouterr().err
    assert plugin_task.main([problem, "--output", str(tmp_path / "no" / "task.gsp")]) == 36
    assert sorted(path.name for path in tmp_path.iterdir()) == ["domain.pddl", "p01.pddl", "task.gsp"]


@pytest.mark.parametrize(
    "config",
    [{"aggregation": "smoothmax"}, {"readout": "concat"}, {"d": 12}, {"message_hidden": 12}],
    ids=str,
)
def test_networks_that_the_plugin_does_not_take(config: dict[str, Any], tmp_path: Path, capfd: Any) -> None:
    model = random_model(tasks.load(*TEXTS["tower"]), tmp_path / "model.onnx", **config)
    for name, text in zip(("domain.pddl", "problem.pddl"), TEXTS["tower"], strict=True):
        (tmp_path / name).write_text(text)
    files = [f"--{name}={tmp_path / name}.pddl" for name in ("domain", "problem")]
    assert plugin_task.main([*files, f"--model={model}", "--output", str(tmp_path / "task.gsp")]) == 34
    error = capfd.readouterr().err
    assert "the plugin takes networks with max aggregation" in error
    assert "use gsp-plan or gsp-fd-build, or train with" in error
    assert not (tmp_path / "task.gsp").exists()


def test_models_without_their_arrays(tower: LiftedTask, tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="the training extra is not installed")
    path = random_model(tasks.load(*TEXTS["tower"]), tmp_path / "model.onnx")
    model = onnx.load(path)
    for tensor in model.graph.initializer:
        tensor.name = tensor.name.replace("update.w1", "update.other")
    path.write_bytes(model.SerializeToString())
    with pytest.raises(InputError, match=r"the model is damaged: there are no weights update\.w1") as caught:
        plugin_task.task_text(tower, path)
    assert (caught.value.exit_code, caught.value.file) == (33, str(path))


class Learned:
    """A shipped model on the states of a task."""

    def __init__(self, task: Task, threads: int = 1) -> None:
        self.space = core.LiftedSpace(task.native_lifted())
        self.model = Model(find_model("auto", lifted(task)), device="cpu", threads=threads)
        self.encoder = self.model.encoder(lifted(task), task.native_lifted())
        self.plans = task.heuristic("ff") if self.model.metadata.relaxed_plan else None
        self.heuristic = self.model.heuristic(task)

    def of_states(self, states: Any) -> Any:
        return self.heuristic.evaluate(self.space, np.array(states, dtype=np.int32))

    def of_operators(self, state: int) -> Any:
        states = np.array([state], dtype=np.int32)
        batch = self.encoder.encode(self.space, states, *core.applicable_rows(self.space, states), self.plans)
        return -self.model.backend.q_values(batch)


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("parent_q", [False, True])
@pytest.mark.parametrize("threads", [1, 2], ids=["native", "onnxruntime"])
def test_values_of_the_network(name: str, parent_q: bool, threads: int, values_program: Path, tmp_path: Path) -> None:
    if threads > 1:
        pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    task = tasks.load(*SHIPPED[name])
    learned = Learned(task, threads)
    space = learned.space
    file = tmp_path / "task.gsp"
    file.write_bytes(plugin_task.task_text(lifted(task), learned.model.path))
    outputs = []
    for cache in ("100000000", "0"):
        run = subprocess.run(
            [str(values_program), str(file), str(int(parent_q)), cache], capture_output=True, text=True, check=True
        )
        *lines, last = run.stdout.splitlines()
        outputs.append([[float(value) for value in line.split()] for line in lines])
        calls, strangers = map(int, re.findall(r"\d+", last))
        assert (calls <= 7, strangers) == (True, 0), "one call for the initial state, at most one per parent"
    state = space.initial_state()
    assert np.allclose(outputs[0][0], learned.of_states([state]), atol=1e-4)
    for step, values in enumerate(outputs[0][1:]):
        operators, successors = space.expand(state)
        if not parent_q:
            assert np.allclose(values, learned.of_states(successors), atol=1e-4)
        elif step == 0:
            expected = learned.of_operators(state)
            assert np.allclose(values, expected - [space.cost(int(op)) for op in operators], atol=1e-4)
        state = int(successors[step % len(successors)])
    if not parent_q:
        keeping, forgetful = (np.concatenate(output) for output in outputs)
        assert np.allclose(forgetful, keeping, atol=1e-4), "forgetting states changes nothing"


def test_a_network_that_overflows(values_program: Path, tower_text: str, tmp_path: Path) -> None:
    def error(text: str) -> str:
        (tmp_path / "task.gsp").write_text(text)
        command = [str(values_program), str(tmp_path / "task.gsp"), "0", "0"]
        run = subprocess.run(command, capture_output=True, text=True)
        assert run.returncode == 1
        return run.stderr

    huge = re.sub("(weights readout.w2 )[0-9a-f]+", lambda match: match[1] + 16 * "7f7fffff", tower_text)
    assert huge != tower_text
    assert "tower.onnx: the model yields Q-values that are no numbers: its weights are damaged" in error(huge)
    assert error(tower_text[:-4]).startswith(f"{tmp_path / 'task.gsp'}: line ")


# ---- with the sources of Fast Downward


def test_compiles_against_fast_downward_without_warnings(tmp_path: Path) -> None:
    sources = plugin.fast_downward_sources()
    more = "-Wnon-virtual-dtor -Wfloat-conversion -Wmissing-declarations -Wzero-as-null-pointer-constant -Wno-restrict"
    include = f"-I{sources / 'src' / 'search'}"
    for name in ("gsp_heuristic", "state_values"):
        source = plugin.PLUGIN / f"{name}.cc"
        plugin.compile_strictly(
            tmp_path / "x.o", *more.split(), include, '-DGSP_DEFAULT_PYTHON="python3"', "-c", source
        )


@pytest.fixture(scope="session")
def downward() -> Path:
    """Fast Downward's search with the plugin, and of its own only what the tests need."""
    sources = plugin.fast_downward_sources()
    build = sources / "builds" / "gsp"
    options = {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_PROJECT_downward_INCLUDE": plugin.PLUGIN / "gsp.cmake",
        "USE_LP": "NO",
        "DISABLE_LIBRARIES_BY_DEFAULT": "YES",
        "LIBRARY_PLUGIN_EAGER_WASTAR_ENABLED": "YES",
        "LIBRARY_PLUGIN_LAZY_GREEDY_ENABLED": "YES",
    }
    defined = [f"-D{name}={value}" for name, value in options.items()]
    subprocess.run(["cmake", "-S", sources / "src", "-B", build, *defined], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", build], check=True, stdout=subprocess.DEVNULL)
    return build / "bin" / "downward"


def run_downward(binary: Path, folder: Path, search: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [str(binary), "--search", search, "--internal-plan-file", "sas_plan"]
    variables = {**os.environ, "GSP_PYTHON": sys.executable, **environment}
    with (folder / "output.sas").open() as sas:
        return subprocess.run(command, stdin=sas, cwd=folder, capture_output=True, text=True, env=variables)


@pytest.fixture(params=SHIPPED)
def problem(request: pytest.FixtureRequest, tmp_path: Path) -> Task:
    if not translator_available():
        pytest.skip("fast-downward-translate is not installed")
    texts = SHIPPED[request.param]
    files = tmp_path / "domain.pddl", tmp_path / "problem.pddl"
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    assert translate(*files, tmp_path / "output.sas").exit_code == 0
    return tasks.load(*texts)


def test_searches_of_fast_downward(downward: Path, problem: Task, tmp_path: Path) -> None:
    learned = Learned(problem)
    initial = learned.of_states([learned.space.initial_state()])[0]
    gsp = 'gsp(domain="domain.pddl", problem="problem.pddl", scale=1000{})'
    for search in ("eager_wastar([{}], w=2)", "lazy_greedy([{}])"):
        for options in ("", ", parent_q=true", ", cache_mb=1"):
            run = run_downward(downward, tmp_path, search.format(gsp.format(options)))
            assert run.returncode == 0, run.stdout + run.stderr
            (value,) = re.findall(r"Initial heuristic value for gsp: (\d+)", run.stdout)
            assert int(value) == pytest.approx(1000 * initial, abs=1)
            actions = re.findall(r"^\((.*)\)", (tmp_path / "sas_plan").read_text(), re.MULTILINE)
            verdict = problem.validate(actions)
            assert verdict.valid, verdict.reason
            assert "Warning: the translator dropped" not in run.stdout


def test_task_files_and_errors_in_fast_downward(downward: Path, problem: Task, tmp_path: Path) -> None:
    files = [f"--{name}={tmp_path / name}.pddl" for name in ("domain", "problem")]
    assert plugin_task.main([*files, "--output", str(tmp_path / "task.gsp")]) == 0
    run = run_downward(downward, tmp_path, 'eager_wastar([gsp(task="task.gsp")])', GSP_PYTHON="/nowhere")
    assert run.returncode == 0, run.stdout + run.stderr
    text = (tmp_path / "task.gsp").read_text()
    (tmp_path / "half.gsp").write_text(text[: len(text) // 2])
    (tmp_path / "nan.gsp").write_text(re.sub("(weights update.w1 )[0-9a-f]{8}", r"\g<1>7fc00000", text))
    for options, environment, message in (
        ('model="no.onnx", problem="problem.pddl"', {}, "no.onnx"),
        ('problem="problem.pddl"', {"GSP_PYTHON": "/nowhere"}, "got no task from gsp-fd in /nowhere"),
        ('task="no.gsp"', {}, "cannot read the task file no.gsp"),
        ('task="domain.pddl"', {}, "domain.pddl: line 1: not a task file"),
        ('task="task.gsp", model="auto"', {}, "a task file has its model and PDDL already"),
        ('task="half.gsp"', {}, "half.gsp: line"),
        ('task="nan.gsp"', {}, "are not all numbers: the model or this file is damaged"),
    ):
        run = run_downward(downward, tmp_path, f"eager_wastar([gsp({options})])", **environment)
        assert (run.returncode, message in run.stderr) == (12, True), run.stdout + run.stderr
    text = (tmp_path / "problem.pddl").read_text()
    first = re.search(r"\(:init\s+(\([^()]*\))", text)
    assert first
    (tmp_path / "problem.pddl").write_text(text.replace(first[1], "", 1))
    run = run_downward(downward, tmp_path, 'eager_wastar([gsp(problem="problem.pddl")])')
    assert (run.returncode, "their initial states differ" in run.stderr) == (12, True), run.stdout + run.stderr
