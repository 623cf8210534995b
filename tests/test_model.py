"""Models in the planner: which files are taken, which tasks they fit, that Q is the same however it is asked for."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tasks
from random_models import Batch, lifted_of, random_model

from gsp_fd import _core as core
from gsp_fd import model_library
from gsp_fd.common.errors import InputError
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.generate import domain_text, generate
from gsp_fd.inference import NativeNetwork
from gsp_fd.model import Model
from gsp_fd.model_library import find_model
from gsp_fd.task import Task

onnx = pytest.importorskip("onnx", reason="the training extra is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

TOWER = tasks.load(tasks.TOWER_DOMAIN, tasks.TOWER)
COURIER = tasks.load(tasks.COURIER_DOMAIN, tasks.COURIER)
BLOCKS = tasks.load(domain_text("blocksworld"), generate("blocksworld", 12, 4))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    for name, task in (("tower", TOWER), ("courier", COURIER), ("blocks", BLOCKS)):
        random_model(task, folder / f"{name}.onnx")
    return folder


def refusal(file: Path, task: Task | None = None, threads: int = 1) -> str:
    """The message with which a file is refused, on load or for a task."""

    def use() -> None:
        model = Model(file, threads=threads)
        if task is not None:
            model.encoder(lifted_of(task), task.native_lifted())

    with pytest.raises(InputError) as caught:
        use()
    assert caught.value.exit_code == ExitCode.SEARCH_INPUT_ERROR
    assert str(caught.value).startswith(f"{file}: ")
    return caught.value.message


# Files


def test_missing_file(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none.onnx") == "cannot read the model: No such file or directory"
    assert refusal(tmp_path).startswith("cannot read the model: ")


def test_file_that_is_no_model(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    for data in (b"", b"(define (domain blocks))", bytes(range(256)) * 50):
        path.write_bytes(data)
        assert refusal(path) == "not an ONNX model, or a truncated one"
    graph = onnx.helper.make_graph([], "other", [], [])
    path.write_bytes(onnx.helper.make_model(graph).SerializeToString())
    assert "no gsp-fd model" in refusal(path)


def test_truncated_model(files: Path, tmp_path: Path) -> None:
    whole, path = (files / "tower.onnx").read_bytes(), tmp_path / "m.onnx"
    for length in range(1, len(whole), len(whole) // 40):
        path.write_bytes(whole[:length])
        assert refusal(path)


def test_damaged_graph(files: Path, tmp_path: Path) -> None:
    """The metadata is fine, the graph is not."""
    model = onnx.load(files / "tower.onnx")
    model.graph.node[0].op_type = "NoSuchOperator"
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    assert refusal(path, threads=2).startswith("ONNX Runtime cannot load the model: ")


def test_arrays_that_are_missing(files: Path, tmp_path: Path) -> None:
    """The native code does not take such a file; ONNX Runtime says what it lacks."""
    for change in ("name", "size"):
        model = onnx.load(files / "tower.onnx")
        for tensor in model.graph.initializer:
            if tensor.name == "update.w1":
                tensor.name = "update.other" if change == "name" else tensor.name
                tensor.raw_data = tensor.raw_data[:-4] if change == "size" else tensor.raw_data
        path = tmp_path / "m.onnx"
        path.write_bytes(model.SerializeToString())
        assert refusal(path).startswith("ONNX Runtime cannot load the model: ")


def test_other_format_version(files: Path, tmp_path: Path) -> None:
    model = onnx.load(files / "tower.onnx")
    (entry,) = [entry for entry in model.metadata_props if entry.key == "gsp_fd.format_version"]
    entry.value = "7"
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    assert "format version 7, this program reads version 1" in refusal(path)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_no_numbers(files: Path, tmp_path: Path, value: float) -> None:
    model = onnx.load(files / "tower.onnx")
    for tensor in model.graph.initializer:
        if tensor.name == "readout.b2":
            tensor.CopyFrom(onnx.numpy_helper.from_array(np.full(tensor.dims, value, np.float32), tensor.name))
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    batch = Batch(Model(path), TOWER, 3)
    with pytest.raises(core.CoreInputError) as caught:
        heuristic_of(batch).evaluate(batch.space, batch.states)
    assert caught.value.args[0] == f"{path}: the model yields Q-values that are no numbers: its weights are damaged"


# Tasks


def test_fit_names_predicates_arities_and_schemas(files: Path) -> None:
    domain = tasks.TOWER_DOMAIN.replace("(clear ?x) (empty)", "(clear ?x ?why) (empty)", 1)
    domain = domain.replace("(clear ?x)", "(clear ?x ?x)").replace("(clear ?y)", "(clear ?y ?y)")
    domain = domain.replace("(:action drop", "(:action release")
    problem = tasks.TOWER.replace("(clear c)", "(clear c c)").replace("(clear d)", "(clear d d)")
    message = refusal(files / "tower.onnx", tasks.load(domain, problem))
    assert message == (
        "the model does not fit the task: predicate clear has 2 arguments in the domain and 1 in the model; "
        "action schema release of the domain is unknown to the model; "
        "action schema drop of the model is unknown to the domain"
    )


def test_model_of_another_domain(files: Path) -> None:
    message = refusal(files / "tower.onnx", COURIER)
    assert "predicate road of the domain is unknown to the model" in message
    assert message.endswith(" more")


def test_negative_goals_need_a_model_that_knows_them(files: Path) -> None:
    task = tasks.load(tasks.TOWER_DOMAIN, tasks.TOWER.replace("(on c d))", "(not (on c d)))"))
    assert "negative goal of predicate on" in refusal(files / "tower.onnx", task)


def test_names_of_shipped_models(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_library, "SHIPPED_MODELS", files)
    assert find_model("tower", lifted_of(TOWER)) == files / "tower.onnx"
    assert find_model("auto", lifted_of(COURIER)) == files / "courier.onnx"
    assert find_model("auto", lifted_of(TOWER)) == files / "tower.onnx"
    assert find_model("other.onnx", lifted_of(TOWER)) == Path("other.onnx")
    with pytest.raises(InputError, match=r"no model 'rovers': .* blocks, courier, tower"):
        find_model("rovers", lifted_of(TOWER))
    lamps = tasks.load(tasks.LAMPS_DOMAIN, tasks.lamps(2))
    with pytest.raises(InputError, match=r"no model fits: there is none for domain lamps, only blocks, courier, tower"):
        find_model("auto", lifted_of(lamps))


def test_nothing_shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_library, "SHIPPED_MODELS", tmp_path)
    for name in ("auto", "tower"):
        with pytest.raises(InputError, match="none is installed") as caught:
            find_model(name, lifted_of(TOWER))
        assert caught.value.exit_code == ExitCode.SEARCH_INPUT_ERROR


def test_cuda_where_there_is_none(files: Path) -> None:
    if "CUDAExecutionProvider" in onnxruntime.get_available_providers():
        pytest.skip("this ONNX Runtime has CUDA")
    with pytest.raises(InputError, match=r"CUDA was asked for, .*--device cpu") as caught:
        Model(files / "tower.onnx", device="cuda")
    assert caught.value.exit_code == ExitCode.SEARCH_INPUT_ERROR
    assert isinstance(Model(files / "tower.onnx", device="auto").backend, NativeNetwork)
    assert Model(files / "tower.onnx", threads=2).describe().endswith("on the CPU (CPUExecutionProvider)")


# Values


def test_single_and_batched_values_are_the_same(files: Path) -> None:
    batch = Batch(Model(files / "blocks.onnx"), BLOCKS, 40)
    together = batch.q()
    alone = np.concatenate([batch.q(batch.states[i : i + 1]) for i in range(40)])
    assert np.ptp(together) > 1e-3
    np.testing.assert_allclose(together, alone, rtol=1e-5, atol=1e-5)


def heuristic_of(batch: Batch, function: Any = None, limit: float = 1e5) -> core.Heuristic:
    """-Q of the model, or of another function of an encoded batch."""
    function = function or batch.model.backend.q_function
    return core.q_heuristic(batch.encoder, function, messages_per_call=limit, name="gsp", model=str(batch.model.path))


class Counted:
    """A Q-function that notes how many states each call has."""

    def __init__(self, batch: Batch) -> None:
        self.backend = batch.model.backend
        self.sizes: list[int] = []

    def __call__(self, encoded: core.EncodedBatch) -> Any:
        self.sizes.append(len(encoded.state_sizes))
        return self.backend.q_values(encoded)


@pytest.mark.parametrize("limit", [1, 200, 1000])
def test_large_batches_are_split(files: Path, limit: int) -> None:
    batch = Batch(Model(files / "blocks.onnx"), BLOCKS, 33)
    whole, counted = Counted(batch), Counted(batch)
    expected = heuristic_of(batch, whole).evaluate(batch.space, batch.states)
    values = heuristic_of(batch, counted, limit).evaluate(batch.space, batch.states)
    np.testing.assert_allclose(values, expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(heuristic_of(batch).evaluate(batch.space, batch.states), expected, rtol=1e-5, atol=1e-5)
    assert whole.sizes == [33]
    assert sum(counted.sizes) == 33
    assert max(counted.sizes) < 33
    assert limit > 1 or counted.sizes == [1] * 33


def test_a_function_that_is_no_q_function(files: Path) -> None:
    batch = Batch(Model(files / "blocks.onnx"), BLOCKS, 3)
    short = heuristic_of(batch, lambda encoded: np.zeros(1, np.float32))
    with pytest.raises(core.CoreInputError, match="yields 1 Q-values for"):
        short.evaluate(batch.space, batch.states)
    with pytest.raises(ZeroDivisionError):
        heuristic_of(batch, lambda encoded: 1 / 0).evaluate(batch.space, batch.states)
    ground = core.GroundSpace(BLOCKS.ground())
    other = core.LiftedSpace(TOWER.native_lifted())
    for space in (ground, other):
        states = np.array([space.initial_state()], np.int32)
        with pytest.raises(core.CoreInputError, match="needs a lifted space of the task"):
            heuristic_of(batch).evaluate(space, states)


MEMORY_PROGRAM = """
import resource, sys
sys.path.insert(0, sys.argv[1])
import numpy as np
from test_model import BLOCKS, Batch, Counted, Model, heuristic_of
batch = Batch(Model(sys.argv[2], threads=int(sys.argv[3])), BLOCKS, 6000)
counted = Counted(batch)
few = heuristic_of(batch).evaluate(batch.space, batch.states[:20])
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (int(sys.argv[4]) << 20), -1))
values = heuristic_of(batch, counted, 1e9).evaluate(batch.space, batch.states)
np.testing.assert_allclose(values[:20], few, rtol=1e-5, atol=1e-5)
print(counted.sizes)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space as Linux does")
@pytest.mark.parametrize(("threads", "megabytes"), [(1, 20), (2, 6)], ids=["native", "onnxruntime"])
def test_batches_too_large_for_memory_are_split(files: Path, threads: int, megabytes: int) -> None:
    arguments = [str(argument) for argument in (Path(__file__).parent, files / "blocks.onnx", threads, megabytes)]
    command = [sys.executable, "-c", MEMORY_PROGRAM, *arguments]
    done = subprocess.run(command, cwd=files, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    calls = [int(size) for size in done.stdout.strip("[]\n").split(",")]
    assert len(calls) > 1
    assert calls[-1] < 6000


def test_two_sessions_give_the_same_bits(files: Path) -> None:
    first, second = (Batch(Model(files / "blocks.onnx"), BLOCKS, 20).q() for _ in range(2))
    assert first.tobytes() == second.tobytes()


def test_heuristic_is_the_best_action(files: Path) -> None:
    batch = Batch(Model(files / "tower.onnx"), TOWER, 10)
    heuristic = batch.model.heuristic(TOWER)
    begin, _ = core.applicable_rows(batch.space, batch.states)
    q = batch.q()
    best = [-q[a:b].max() for a, b in pairwise(begin)]
    np.testing.assert_array_equal(heuristic.evaluate(batch.space, batch.states), best)


def test_heuristic_of_goals_and_of_states_without_actions(tmp_path: Path) -> None:
    domain = (
        "(define (domain d) (:predicates (p ?x) (q ?x))"
        "(:action a :parameters (?x) :precondition (p ?x) :effect (and (q ?x) (not (p ?x)))))"
    )
    task = tasks.load(domain, "(define (problem x) (:domain d) (:objects o n) (:init (p o) (p n)) (:goal (q o)))")
    space = core.LiftedSpace(task.native_lifted())
    start = space.initial_state()
    goal, other = sorted((space.apply(start, op) for op in space.applicable(start)), key=space.is_goal, reverse=True)
    (last,) = (space.apply(goal, op) for op in space.applicable(goal))
    empty = space.import_state(np.zeros(0, np.int32))
    model = Model(random_model(task, tmp_path / "m.onnx"))
    heuristic = model.heuristic(task)
    values = heuristic.evaluate(space, np.array([start, goal, other, last, empty], np.int32))
    assert np.isfinite(values[[0, 2]]).all()
    assert (values[1], values[3], values[4]) == (0.0, 0.0, np.inf)
    assert heuristic.evaluate(space, np.array([empty], np.int32)).tolist() == [np.inf]
