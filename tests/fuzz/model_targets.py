"""What is about models: ONNX files, checkpoints, configurations of training, task files of the C interface."""

from __future__ import annotations

import io
import random
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import plugin_support
import tasks
from random_models import Batch, random_checkpoint, random_model

from gsp_fd import _core, models_cli
from gsp_fd.export import cli as export_cli
from gsp_fd.export import writer  # noqa: F401  (loaded before the forks)
from gsp_fd.fd_integration.tools.plugin_task import task_text
from gsp_fd.generate import domain_text, generate
from gsp_fd.model import Model
from gsp_fd.model_library import SHIPPED_MODELS
from gsp_fd.task import Task
from gsp_fd.training.checkpoint import save_checkpoint
from gsp_fd.training.config import TrainingConfig
from gsp_fd.training.run import cli as train_cli
from gsp_fd.training.run.settings import RunInputs, to_toml

from .library import compiled
from .mutators import edited, edited_json, edited_json_text
from .programs import plan, takes
from .runner import Case, Wrong

FERRY = SHIPPED_MODELS / "ferry.onnx"
OTHER_OPERATORS = ("Add", "Mul", "Identity", "Loop", "If", "Scan", "Cast", "Expand", "Nothing")
OTHER_TYPES = ("f4", "f8", "i8", "i4", "u1", "U3", "c8", "f2", "?", "M8[s]")
OTHER_SHAPES = ((), (0,), (1,), (5,), (0, 2), (3, 1), (2, 2, 2))


def load_ferry() -> Task:
    """A small task of the domain of a shipped model."""
    return tasks.load(domain_text("ferry"), generate("ferry", 3, 1))


class Models:
    """gsp-plan and gsp-models with a mutated model"""

    name = "model"

    def __init__(self) -> None:
        # A shipped model now and then: most inputs are small ones, of which more can be read.
        with tempfile.TemporaryDirectory() as folder:
            small = random_model(load_ferry(), Path(folder, "m.onnx")).read_bytes()
        self.seeds = [FERRY.read_bytes(), *[small] * 19]
        self.texts = {"domain.pddl": domain_text("ferry").encode(), "problem.pddl": generate("ferry", 3, 1).encode()}

    def case(self, rng: random.Random) -> Case:
        data = rng.choice(self.seeds)
        data = edited(rng, data) if rng.random() < 0.3 else self.rewritten(rng, data)
        files = {**self.texts, "m.onnx": data}
        if rng.random() < 0.2:
            return Case(["show", *rng.choice(([], ["--json"])), "m.onnx"], files)
        common = [*self.texts, "--max-expansions", "10", "--heuristic", "gsp", "--model", "m.onnx", "--device", "cpu"]
        return Case([*common, "--search", rng.choice(("policy", "wastar", "gbfs"))], files)

    @staticmethod
    def rewritten(rng: random.Random, data: bytes) -> bytes:
        """A model with other metadata, other weights or another graph, but a well-formed file."""
        model = onnx.load_from_string(data)
        for _ in range(rng.choice((1, 1, 2, 3))):
            kind = rng.random()
            if kind < 0.6:
                entry = rng.choice(model.metadata_props)
                entry.value = edited_json_text(rng, entry.value).encode(errors="replace").decode()
            elif kind < 0.8:
                tensor = rng.choice(model.graph.initializer)
                data, size = edited(rng, tensor.raw_data), len(tensor.raw_data)
                tensor.raw_data = data if rng.random() < 0.5 else data[:size].ljust(size)
            elif kind < 0.9:
                rng.choice(model.graph.node).op_type = rng.choice(OTHER_OPERATORS)
            else:
                rng.choice(model.graph.initializer).name = rng.choice(model.graph.initializer).name
        return bytes(model.SerializeToString())

    def read(self, case: Case) -> bool:
        if case.arguments[0] == "show":
            return takes(models_cli.main, case.arguments)[0]
        return plan(case.arguments)


def other_metadata(rng: random.Random, content: Any) -> Any:
    """The JSON of a checkpoint with other metadata, each of which is JSON as well."""
    metadata = content["metadata"]
    key = rng.choice(list(metadata))
    return {**content, "metadata": {**metadata, key: edited_json_text(rng, metadata[key])}}


class Checkpoints:
    """gsp-export with a mutated checkpoint"""

    name = "checkpoint"

    def __init__(self) -> None:
        tower = tasks.load(tasks.TOWER_DOMAIN, tasks.TOWER)
        with tempfile.TemporaryDirectory() as folder:
            model = Model(random_model(tower, Path(folder, "m.onnx")), device="cpu")
            batch = Batch(model, tower, 3)
            encoded = batch.encoder.encode(batch.space, batch.states, *_core.applicable_rows(batch.space, batch.states))
            checkpoint = replace(random_checkpoint(tower), batches=[encoded], arrays={"more": np.zeros(3)})
            save_checkpoint(Path(folder, "c.npz"), checkpoint)
            self.data = Path(folder, "c.npz").read_bytes()
        with np.load(io.BytesIO(self.data)) as data:
            self.entries = {name: data[name] for name in data.files}

    def case(self, rng: random.Random) -> Case:
        data = edited(rng, self.data) if rng.random() < 0.3 else self.rewritten(rng)
        return Case(["c.npz", "m.onnx"], {"c.npz": data})

    def rewritten(self, rng: random.Random) -> bytes:
        """A well-formed archive with other arrays or other JSON."""
        entries = dict(self.entries)
        for _ in range(rng.choice((1, 1, 2))):
            name = rng.choice([*entries, "json", "json"])
            change = self.other_json if name == "json" else self.other_array
            entries[name] = change(rng, entries[name])
        buffer = io.BytesIO()
        save = rng.choice((np.savez, np.savez_compressed))
        save(buffer, **{name: array for name, array in entries.items() if rng.random() < 0.995})
        return buffer.getvalue()

    @staticmethod
    def other_json(rng: random.Random, array: Any) -> Any:
        change = other_metadata if rng.random() < 0.5 else edited_json
        text = edited_json_text(rng, array.tobytes().decode(errors="replace"), change)
        return np.frombuffer(text.encode(errors="replace"), np.uint8)

    def other_array(self, rng: random.Random, array: Any) -> Any:
        how = rng.randrange(6)
        if how == 0:
            return array.astype(rng.choice(OTHER_TYPES))
        if how == 1:
            return array.reshape(rng.choice(((-1,), (1, -1), (-1, 1), (*array.shape, 1))))
        if how == 2:
            return np.zeros(rng.choice(OTHER_SHAPES), array.dtype)
        if how == 3:
            return np.full(array.shape, rng.choice((-100000, -1, 0, 1, 100000, 2**31 - 1))).astype(array.dtype)
        if how == 4 and array.dtype.kind == "f":
            return array * rng.choice((float("nan"), float("inf"), 1e30, 0.0))
        flat = array.copy().reshape(-1)
        if len(flat):
            with np.errstate(all="ignore"):
                flat[rng.randrange(len(flat))] = np.float64(rng.choice((-1, 2**31, -(2**40), 7))).astype(array.dtype)
        return flat.reshape(array.shape)

    def read(self, case: Case) -> bool:
        taken = takes(export_cli.main, case.arguments)[0]
        if taken != Path("m.onnx").exists():
            raise Wrong("a model was written, and the program says that it could not" if not taken else "no model")
        return taken


class Toml:
    """gsp-train with a mutated configuration; it ends before it trains, because no problems are given"""

    name = "toml"
    TOKENS = ("=", "[run]", "[[run]]", '"', "'''", "[", "]", "{a=1}", "true", "1979-05-27", "nan", "inf", ".", "0x")

    def __init__(self) -> None:
        self.text = to_toml(TrainingConfig(), RunInputs()).encode()

    def case(self, rng: random.Random) -> Case:
        data = self.text
        if rng.random() < 0.5:
            lines = [line for line in data.splitlines(keepends=True) if not line.startswith(b"#")]
            data = b"".join(rng.sample(lines, rng.randint(1, len(lines))))
        return Case(["--config", "c.toml"], {"c.toml": edited(rng, data, self.TOKENS)})

    def read(self, case: Case) -> bool:
        return "is missing" in takes(train_cli.main, case.arguments)[1]


class TaskFiles:
    """the C interface with a mutated task file"""

    name = "task"
    TOKENS = (
        *("object", "type", "predicate", "function", "value", "network", "relation", "weights", "schema", "positive"),
        *("add", "delete", "cost", "equal", "unequal", "init", "goal", "not_goal", "metric", "end"),
    )

    def __init__(self) -> None:
        self.library = plugin_support.load_library(compiled())
        courier = tasks.load(tasks.COURIER_DOMAIN, tasks.COURIER)
        with tempfile.TemporaryDirectory() as folder:
            model = random_model(courier, Path(folder, "m.onnx"))
            self.seeds = [self.parts(courier, model), self.parts(load_ferry(), FERRY)]

    @staticmethod
    def parts(task: Task, model: Path) -> tuple[bytes, list[bytes]]:
        """The lines of a task file before those of the weights, and these."""
        assert task.lifted is not None
        lines = task_text(task.lifted, model).splitlines(keepends=True)
        head = b"".join(line for line in lines if not line.startswith((b"weights", b"end")))
        return head, [line for line in lines if line.startswith(b"weights")]

    def case(self, rng: random.Random) -> Case:
        head, weights = rng.choice(self.seeds)
        if rng.random() < 0.2:
            where = rng.randrange(len(weights))
            weights = [*weights[:where], edited(rng, weights[where][:3000]), *weights[where + 1 :]]
        if rng.random() < 0.9:
            head = edited(rng, head, self.TOKENS)
        return Case([], {"task": head + b"".join(weights) + b"end\n"})

    def read(self, case: Case) -> bool:
        try:
            task = plugin_support.CTask(self.library, case.files["task"])
        except ValueError:
            return False
        state = task.call("initial_state")
        try:
            for step in range(3):
                successors, _ = task.successors(state)
                task.values([state])
                task.call("atom", b"Atom at-ferry(loc1)")
                if not successors:
                    break
                state = successors[step % len(successors)]
        except RuntimeError:  # the interface says so: no cost of an action, Q-values that are no numbers
            return False
        task.call("forget_states")
        return True
