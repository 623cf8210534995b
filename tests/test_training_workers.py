"""Search workers: Ray actors without torch, lost ones replaced, stale results dropped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="the training extra is not installed")
pytest.importorskip("torch_geometric", reason="the training extra is not installed")
pytest.importorskip("onnxruntime", reason="the training extra is not installed")

from training_support import TINY, Listener, Memory, tiny_sets

from gsp_fd.export.writer import model_bytes
from gsp_fd.inference import NativeNetwork, OnnxSession
from gsp_fd.training.config import TrainingConfig
from gsp_fd.training.instance_sets import InstanceSets
from gsp_fd.training.learning.collector_state import collector_state
from gsp_fd.training.learning.trainer import Trainer
from gsp_fd.training.learning.validation import validate
from gsp_fd.training.learning.workers import Fleet, SearchWorker
from gsp_fd.training.progress import Row

CONFIG = TrainingConfig(**TINY, minutes=10, worker_seconds=0.2)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> InstanceSets:
    return tiny_sets(tmp_path_factory.mktemp("workers"), CONFIG)


@pytest.fixture
def fleet(sets: InstanceSets) -> Iterator[Fleet]:
    ray = pytest.importorskip("ray", reason="the extra ray is not installed")
    tasks, model_of = (sets.training_tasks, sets.validation_tasks), partial(model_bytes, metadata=sets.metadata)
    result = Fleet(1, "", CONFIG, sets.metadata, tasks, model_of)
    yield result
    result.close()
    ray.shutdown()


def test_workers_never_import_torch() -> None:
    code = "import sys, gsp_fd.training.learning.workers; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.parametrize(("aggregation", "backend"), [("max", NativeNetwork), ("smoothmax", OnnxSession)])
def test_a_worker_searches_as_the_learner_does(sets: InstanceSets, aggregation: str, backend: type) -> None:
    """The planner's networks and torch give the same validation; episodes come back whole."""
    config = replace(CONFIG, aggregation=aggregation)
    sets = replace(sets, metadata=replace(sets.metadata, network=config.network()))
    trainer = Trainer(sets, config, Listener(), Memory())
    model = model_bytes(trainer.learner.average, sets.metadata)
    worker = SearchWorker(1, sets.training_tasks, sets.validation_tasks, sets.metadata, config)
    score = worker.validate(model)
    expected = validate(sets.validation, trainer.learner.q_function, config)
    assert score == replace(expected, negated_rmse=score.negated_rmse)
    assert score.rmse == pytest.approx(expected.rmse, rel=1e-3)
    harvest = worker.collect(7, model, collector_state(trainer.collector))
    assert isinstance(worker.backend, backend)
    assert harvest.version == 7
    assert harvest.found
    assert {found.record.dtype for found in harvest.found} == {np.dtype(np.int32)}


def test_a_lost_worker_is_replaced(sets: InstanceSets, fleet: Fleet) -> None:
    """The first worker is killed as soon as it has delivered; training goes on with another and learns."""
    killed: list[int] = []

    def react(row: Row) -> None:
        if fleet.pids and not killed:
            killed.append(fleet.pids[0])
            os.kill(killed[0], signal.SIGKILL)
        elif killed and fleet.pids[0] != killed[0] and row.gradient_steps > 20 and row.validation_of:
            trainer.stop()

    listener, memory = Listener(react), Memory()
    trainer = Trainer(sets, CONFIG, listener, memory, fleet)
    trainer.run()
    assert fleet.losses == 1
    assert any("search worker 0 was lost" in message and "replaced" in message for message in listener.messages)
    assert fleet.pids[0] != killed[0]
    last = listener.rows[-1]
    assert last.transitions > 0
    assert last.gradient_steps > 20
    assert memory.best
    assert trainer.collector.episodes == sum(record.episodes for record in trainer.collector.pools.records)
    # Weights that are too old: what was found with them is dropped.
    fleet.publish(10**6, trainer.learner.average)
    before = trainer.collector.episodes
    while not fleet.stale:
        for item in fleet.poll(trainer.collector, 1.0)[0]:
            trainer.collector.note(item)
    assert trainer.collector.episodes == before


def test_without_ray_the_extra_is_named(tmp_path: Path) -> None:
    """As where Ray is not installed: the import fails."""
    (tmp_path / "ray.py").write_text("raise ModuleNotFoundError(\"No module named 'ray'\", name='ray')\n")
    arguments = "1, '', needed_by='search workers need', otherwise='say --workers 0'"
    code = f"from gsp_fd.common.cluster import connect\nconnect({arguments})"
    path = os.pathsep.join([str(tmp_path), *sys.path])
    result = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True
    )
    assert "pip install 'gsp-fd[ray]', or say --workers 0" in result.stderr


def test_ray_of_this_machine_is_for_nobody_else() -> None:
    """Its servers listen on the loopback interface only, and demand a token that others do not know."""
    pytest.importorskip("ray", reason="the extra ray is not installed")
    psutil = pytest.importorskip("psutil", reason="psutil, which comes with Ray, is not installed")
    code = "from gsp_fd.common.cluster import connect; connect(1, '', needed_by='', otherwise=''); print(flush=True)"
    code += "; input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        owner.stdout.readline()
        servers = psutil.Process(owner.pid).children(recursive=True)
        sockets = [socket for server in servers for socket in server.net_connections() if socket.status == "LISTEN"]
        settings = [server.environ() for server in servers if server.name() in ("gcs_server", "raylet")]
        owner.communicate("\n", timeout=60)
    assert {socket.laddr.ip.removeprefix("::ffff:") for socket in sockets} == {"127.0.0.1"}
    assert {(each["RAY_AUTH_MODE"], len(each["RAY_AUTH_TOKEN"])) for each in settings} == {("token", 64)}
