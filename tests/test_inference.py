"""The native network: the values of ONNX Runtime, whatever the network, the domain and what it has seen before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tasks
from random_models import Batch, random_model

from gsp_fd import _core as core
from gsp_fd.generate import GENERATORS, domain_text, generate
from gsp_fd.inference import NativeNetwork, OnnxSession
from gsp_fd.model import Model
from gsp_fd.model_format import metadata_of, weights_of
from gsp_fd.task import Task

pytest.importorskip("onnx", reason="the training extra is not installed")
pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

BLOCKS = tasks.load(domain_text("blocksworld"), generate("blocksworld", 12, 4))
SIZES = {"sokoban": 30, "floortile": 20, "pushworld": 25, "visitall": 12}


def agree(path: Path, task: Task, states: int = 40) -> None:
    """The two backends agree on states of a random walk, on all at once and one by one."""
    native, session = (Batch(Model(path, threads=threads), task, states) for threads in (1, 2))
    assert isinstance(native.model.backend, NativeNetwork)
    assert isinstance(session.model.backend, OnnxSession)
    expected = session.q()
    assert np.ptp(expected) > 1e-3
    np.testing.assert_allclose(native.q(), expected, rtol=1e-5, atol=1e-5)
    single = Batch(Model(path), task, states)
    alone = [single.q(single.states[i : i + 1]) for i in range(states)]
    np.testing.assert_allclose(np.concatenate(alone), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "config",
    [
        {"pool": "sum"},
        {"pool": "mean"},
        {"message_hidden": 24},
        {"d": 32, "layers": 8},
        {"d": 24, "layers": 1},
        {"goal_split": False},
        {"fp16": True},
    ],
    ids=str,
)
def test_networks(tmp_path: Path, config: dict[str, Any]) -> None:
    agree(random_model(BLOCKS, tmp_path / "m.onnx", **config), BLOCKS)


@pytest.mark.parametrize("states", [1, 2, 3, 7, 60])
def test_threads_share_the_states(tmp_path: Path, states: int) -> None:
    """And not the operators of the graph: ONNX Runtime loses updates of ScatterND where several threads work on one."""
    path = random_model(BLOCKS, tmp_path / "m.onnx")
    batch = Batch(Model(path, threads=3), BLOCKS, states)
    backend = batch.model.backend
    assert isinstance(backend, OnnxSession)
    assert backend.session.get_session_options().intra_op_num_threads == 1
    np.testing.assert_allclose(batch.q(), Batch(Model(path), BLOCKS, states).q(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("domain", sorted(GENERATORS))
def test_domains(tmp_path: Path, domain: str) -> None:
    task = tasks.load(domain_text(domain), generate(domain, SIZES.get(domain, 15), 3))
    agree(random_model(task, tmp_path / "m.onnx"), task)


@pytest.mark.parametrize(
    ("domain", "problem"),
    [(tasks.COURIER_DOMAIN, tasks.COURIER), (tasks.LAMPS_DOMAIN, tasks.lamps(5)), (tasks.TOWER_DOMAIN, tasks.TOWER)],
)
def test_constants_types_and_nullary_predicates(tmp_path: Path, domain: str, problem: str) -> None:
    task = tasks.load(domain, problem)
    agree(random_model(task, tmp_path / "m.onnx"), task)


def test_predicates_with_names_of_parts_of_the_network(tmp_path: Path) -> None:
    renamed = []
    for text in (tasks.TOWER_DOMAIN, tasks.TOWER):
        for old, new in (("(on ", "(update "), ("(clear ", "(value "), ("(empty)", "(norm)")):
            text = text.replace(old, new)
        renamed.append(text)
    task = tasks.load(*renamed)
    assert task.lifted is not None
    assert {"update", "value", "norm"} <= set(task.lifted.predicates)
    agree(random_model(task, tmp_path / "m.onnx"), task)


def test_networks_for_onnx_runtime(tmp_path: Path) -> None:
    for config in ({"aggregation": "smoothmax"}, {"aggregation": "logsumexp"}, {"readout": "concat"}, {"d": 12}):
        model = Model(random_model(BLOCKS, tmp_path / "m.onnx", **config))
        assert isinstance(model.backend, OnnxSession), config


def test_what_was_computed_before_changes_nothing(tmp_path: Path) -> None:
    """Not a bit, whether embeddings are kept, known already, or thrown away after every call."""
    path = random_model(BLOCKS, tmp_path / "m.onnx")
    data = path.read_bytes()
    metadata = metadata_of(data)

    def network(kept: int) -> NativeNetwork:
        return NativeNetwork(metadata.network, metadata.relations, weights_of(data), kept=kept)

    walk = Batch(Model(path), BLOCKS, 50)
    batches = [walk.encoded(walk.states[i : i + 1]) for i in (*range(50), *range(0, 50, 7))]
    keeping, forgetting = network(200_000), network(0)
    for batch in batches:
        q = network(0).q_values(batch)
        assert keeping.q_values(batch).tobytes() == q.tobytes()
        assert forgetting.q_values(batch).tobytes() == q.tobytes()


def test_interchangeable_actions_have_the_same_value(tmp_path: Path) -> None:
    """To the last bit: their nodes are one class."""
    domain = domain_text("childsnack")
    task = tasks.load(domain, generate("childsnack", 25, 1))
    walk = Batch(Model(random_model(task, tmp_path / "m.onnx")), task, 1)
    begin, operators = core.applicable_rows(walk.space, walk.states)
    reduced = core.LiftedSpace(task.native_lifted(), True)
    classes = core.applicable_rows(reduced, np.array([reduced.initial_state()], np.int32))[1]
    assert begin[-1] == len(operators) > len(classes)
    assert len(np.unique(walk.q())) <= len(classes)


def test_a_batch_of_another_model(tmp_path: Path) -> None:
    blocks = Model(random_model(BLOCKS, tmp_path / "blocks.onnx"))
    courier = tasks.load(tasks.COURIER_DOMAIN, tasks.COURIER)
    walk = Batch(Model(random_model(courier, tmp_path / "courier.onnx")), courier, 1)
    with pytest.raises(ValueError, match="other relations"):
        blocks.backend.q_values(walk.encoded())
    with pytest.raises(ValueError, match="other relations"):
        core.q_heuristic(walk.encoder, blocks.backend.q_function, messages_per_call=1e5, name="gsp", model="m.onnx")
