"""A learned Q-function in the planner: an ONNX model, the encoder of a task, the heuristic that the search calls."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gsp_fd import _core
from gsp_fd.inference import Device, Evaluator, evaluator_of, input_error
from gsp_fd.model_format import ModelMetadata, fit_problems, read_metadata
from gsp_fd.pddl import LiftedTask

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]

SHIPPED_MODELS = Path(__file__).parent / "models"


class Model:
    """An ONNX model, and what evaluates it."""

    def __init__(self, path: str | Path, *, device: Device = "auto", threads: int = 1) -> None:
        self.path = Path(path)
        self.metadata: ModelMetadata = read_metadata(path)
        self.evaluator: Evaluator = evaluator_of(self.path, self.metadata, device, threads)
        self._messages_per_call = self.evaluator.messages_per_call
        self._messages_per_state = self._messages_per_call  # the first call tells how large a state is

    def describe(self) -> str:
        """One line for the log."""
        return f"{self.path} for domain {self.metadata.domain}, on {self.evaluator.name}"

    def check_fit(self, task: LiftedTask) -> None:
        """InputError with every predicate, schema, type or constant that does not fit."""
        problems = task_fit_problems(self.metadata, task)
        if problems:
            shown = problems[:5] + ([f"and {len(problems) - 5} more"] if len(problems) > 5 else [])
            raise input_error(f"the model does not fit the task: {'; '.join(shown)}", self.path)

    def encoder(self, task: LiftedTask, native_task: Any) -> Any:
        """The native encoder of states of a task for this model; ``native_task`` is its ``_core.LiftedTask``."""
        self.check_fit(task)
        return _core.Encoder(native_task, relation_specs(self.metadata, task))

    def q_values(self, encoder: Any, space: Any, states: IntArray, begin: IntArray, operators: IntArray) -> FloatArray:
        """Q(states[i], operators[begin[i]:begin[i + 1]]) for all i, [len(operators)]."""
        values, at = [np.zeros(0, np.float32)], 0
        while at < len(states):
            after = min(len(states), at + self.states_per_call())
            first, last = int(begin[at]), int(begin[after])
            rows = begin[at : after + 1] - first, operators[first:last]
            try:
                batch = encoder.encode(space, states[at:after], *rows)
                self._messages_per_state = max(1.0, batch.messages / (after - at))
                values.append(self.evaluator.q_values(batch))
            except MemoryError:
                if after - at == 1:
                    raise
                self._messages_per_call = self._messages_per_state * (after - at) / 2
                continue
            at = after
        q = np.concatenate(values).astype(np.float64)
        if not np.isfinite(q).all():
            raise input_error("the model yields Q-values that are no numbers: its weights are damaged", self.path)
        return q

    def states_per_call(self) -> int:
        """How many states like the last ones one call of the network should have."""
        return max(1, int(self._messages_per_call / self._messages_per_state))


def task_fit_problems(metadata: ModelMetadata, task: LiftedTask) -> list[str]:
    """Why a model does not fit a task; empty if it does."""
    return fit_problems(
        metadata,
        list(zip(task.predicates, task.arities, strict=True)),
        [(schema.name, len(schema.parameters)) for schema in task.schemas],
        [name for name in task.types if not name.startswith("either ")],
        task.objects[: task.constants],
        [task.predicates[predicate] for predicate, _ in task.goal_negative],
    )


def present_relations(task: LiftedTask) -> set[str]:
    """The relations that can have atoms in some state of a task."""
    predicates = {predicate for predicate, _ in task.init}
    predicates |= {literal.predicate for schema in task.schemas for literal in schema.add}
    found = {task.predicates[predicate] for predicate in predicates}
    for suffix, goals in (("goal", task.goal_positive), ("not_goal", task.goal_negative)):
        names = {task.predicates[predicate] for predicate, _ in goals}
        found |= {f"{name}@{ending}" for name in names for ending in (suffix, f"{suffix}_true")}
    found |= {f"type@{name}" for name, members in zip(task.types, task.type_members, strict=True) if members}
    found |= {f"const@{name}" for name in task.objects[: task.constants]}
    return found | {f"action@{schema.name}" for schema in task.schemas}


def unseen_relations(metadata: ModelMetadata, task: LiftedTask) -> list[str]:
    """The relations of a task that the training of a model never showed it: there its values are guesses."""
    return sorted(present_relations(task) & set(metadata.unseen))


def relation_specs(metadata: ModelMetadata, task: LiftedTask) -> list[tuple[str, int, int]]:
    """What the encoder puts into each relation of the model: (kind, number in the task or -1, columns)."""
    schemas = [schema.name for schema in task.schemas]
    constants = task.objects[: task.constants]
    any_goal = "" if metadata.goal_split else "_any"
    goals = {"goal": f"goal{any_goal}", "goal_true": "goal_true", "not_goal": f"not_goal{any_goal}"}
    goals["not_goal_true"] = "not_goal_true"
    fixed: dict[str, tuple[str, Sequence[str]]] = {
        "type": ("type", task.types),
        "const": ("constant", constants),
        "action": ("action", schemas),
    }

    def spec(name: str) -> tuple[str, int]:
        group, _, member = name.partition("@")
        predicate, _, goal = name.rpartition("@")
        names: Sequence[str] = task.predicates
        if goal in goals:
            kind, symbol = goals[goal], predicate
        elif group in fixed and member:
            (kind, names), symbol = fixed[group], member
        else:
            kind, symbol = "state", name
        return kind, names.index(symbol) if symbol in names else -1

    return [(*spec(name), columns) for name, columns in metadata.relations]


class LearnedHeuristic:
    """h = -Q of a model, as a heuristic (``native``) of a search over ``space``, a lifted space of the task.

    In a lazy search every applicable action has its own value -Q(s, a), as in the paper; elsewhere a state has
    -max_a Q(s, a), or infinity if nothing is applicable. Goal states have 0.
    Values may be below 0 on states unlike those of training: their order still counts, so they are not cut off.
    """

    def __init__(self, model: Model, task: LiftedTask, native_task: Any, name: str = "gsp", space: Any = None) -> None:
        self.model = model
        self.space = space
        self.unseen = unseen_relations(model.metadata, task)
        self._encoder = model.encoder(task, native_task)
        self.native = _core.callback(self.of_states, name, self.of_operators)

    def of_operators(self, states: IntArray, begin: IntArray, operators: IntArray) -> FloatArray:
        """-Q(states[i], operators[begin[i]:begin[i + 1]]) for all i."""
        if not len(operators):
            return np.zeros(0)
        return -self.model.q_values(self._encoder, self.space, states, begin, operators)

    def of_states(self, states: IntArray) -> FloatArray:
        """-max_a Q(states[i], a) for all i."""
        begin, operators = _core.applicable_rows(self.space, states)
        values = self.of_operators(states, begin, operators)
        best = np.full(len(states), np.inf)
        np.minimum.at(best, np.repeat(np.arange(len(states)), np.diff(begin)), values)
        goal = [self.space.is_goal(int(state)) for state in states]
        return np.where(goal, 0.0, best)


def find_model(name: str, task: LiftedTask) -> Path:
    """A model file: a path, the name of a shipped model, or ``auto`` for the shipped one that fits the task."""
    if name == "auto":
        return _fitting_model(task)
    path = Path(name)
    if path.exists() or path.suffix == ".onnx":
        return path
    shipped = SHIPPED_MODELS / f"{name}.onnx"
    if shipped.exists():
        return shipped
    raise input_error(f"there is no model '{name}': give an .onnx file, auto, or one of {_names(shipped_models())}")


def shipped_models() -> list[Path]:
    """The models that come with the package."""
    return sorted(SHIPPED_MODELS.glob("*.onnx"))


def _names(paths: Sequence[Path]) -> str:
    return ", ".join(path.stem for path in paths) or "(none is shipped)"


def _fitting_model(task: LiftedTask) -> Path:
    fitting = [path for path in shipped_models() if not task_fit_problems(read_metadata(path), task)]
    if not fitting:
        raise input_error(
            f"no shipped model fits domain {task.domain_name} (there are {_names(shipped_models())}): "
            "train one with gsp-train, or choose another heuristic"
        )
    return fitting[0]
