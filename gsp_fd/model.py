"""A learned Q-function in the planner: an ONNX model, the encoder of a task, the heuristic that the search calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from gsp_fd import _core
from gsp_fd.common.errors import search_error
from gsp_fd.inference import Backend, Device, OnnxSession, backend_of
from gsp_fd.model_format import ModelMetadata, fit_problems, metadata_of, read_model
from gsp_fd.pddl import LiftedTask
from gsp_fd.task import Task

QOfStates: TypeAlias = Callable[[_core.LiftedSpace, npt.NDArray[np.int32]], list[list[tuple[int, float]]]]
"""(operator, Q) of all actions that a space has in states."""


class Model:
    """An ONNX model, and what evaluates it."""

    def __init__(self, path: str | Path, *, device: Device = "auto", threads: int = 1) -> None:
        self.path = Path(path)
        data = read_model(path)
        self.metadata: ModelMetadata = metadata_of(data, str(path))
        self.backend: Backend = backend_of(data, self.metadata, device, threads, str(path))

    def describe(self) -> str:
        """One line for the log."""
        return f"{self.path} for domain {self.metadata.domain}, on {self.backend.name}"

    def check_fit(self, task: LiftedTask) -> None:
        """InputError with every predicate, schema, type or constant that does not fit."""
        problems = task_fit_problems(self.metadata, task)
        if problems:
            shown = problems[:5] + ([f"and {len(problems) - 5} more"] if len(problems) > 5 else [])
            raise search_error(f"the model does not fit the task: {'; '.join(shown)}", self.path)

    def unseen(self, task: LiftedTask) -> list[str]:
        """The relations of a task that training never showed the model: there its values are guesses."""
        return sorted(present_relations(task) & set(self.metadata.unseen))

    def encoder(self, task: LiftedTask, native_task: _core.LiftedTask) -> _core.Encoder:
        """The native encoder of states of a task for this model."""
        self.check_fit(task)
        return _core.Encoder(native_task, relation_specs(self.metadata, task))

    def q_of_states(self, task: Task) -> QOfStates:
        """Q-values outside of a search, for spaces of the task."""
        if task.lifted is None:
            raise search_error("a learned heuristic needs the lifted task, but the task came as SAS")
        encoder = self.encoder(task.lifted, task.native_lifted())
        plans = task.heuristic("ff") if self.metadata.relaxed_plan else None

        def rows(space: _core.LiftedSpace, states: npt.NDArray[np.int32]) -> list[list[tuple[int, float]]]:
            begin, operators = _core.applicable_rows(space, states)
            if not len(operators):
                return [[] for _ in states]
            q = self.backend.q_values(encoder.encode(space, states, begin, operators, plans))
            pairs = list(zip(operators.tolist(), q.tolist(), strict=True))
            return [pairs[first:end] for first, end in pairwise(begin.tolist())]

        return rows

    def heuristic(self, task: Task, name: str = "gsp", plans: _core.Heuristic | None = None) -> _core.Heuristic:
        """h = -Q as a heuristic of searches over lifted spaces of the task: see ``core/q_heuristic.h``.

        ``plans``: hFF of the same search, for a model that sees relaxed plans; by default one of its own.
        """
        assert task.lifted is not None
        encoder, backend = self.encoder(task.lifted, task.native_lifted()), self.backend
        common: dict[str, Any] = {
            "plans": (plans or task.heuristic("ff")) if self.metadata.relaxed_plan else None,
            "messages_per_call": backend.messages_per_call,
            "name": name,
            "model": str(self.path),
        }
        if isinstance(backend, OnnxSession):
            return _core.q_heuristic(encoder, backend.q_function, cancel=backend.cancel, **common)
        return _core.q_heuristic(encoder, backend.q_function, **common)


def task_fit_problems(metadata: ModelMetadata, task: LiftedTask) -> list[str]:
    """Why a model does not fit a task; empty if it does."""
    return fit_problems(
        metadata,
        task.signature,
        [(schema.name, len(schema.parameters)) for schema in task.schemas],
        [name for name in task.types if not name.startswith("either ")],
        task.objects[: task.constants],
        [task.predicates[predicate] for predicate, _ in task.goal_negative],
    )


def present_relations(task: LiftedTask) -> set[str]:
    """The relations that can have atoms in some state of a task."""
    predicates = {predicate for predicate, _ in task.init}
    rules = [rule for stratum in task.axioms for rule in stratum]
    rules += [rule for schema in task.schemas for rule in schema.conditional]
    effects = [*(schema.add for schema in task.schemas), *(rule.add for rule in rules)]
    predicates |= {literal.predicate for literals in effects for literal in literals}
    found = {task.predicates[predicate] for predicate in predicates}
    for suffix, goals in (("goal", task.goal_positive), ("not_goal", task.goal_negative)):
        names = {task.predicates[predicate] for predicate, _ in goals}
        found |= {f"{name}@{ending}" for name in names for ending in (suffix, f"{suffix}_true")}
    found |= {f"type@{name}" for name, members in zip(task.types, task.type_members, strict=True) if members}
    found |= {f"const@{name}" for name in task.objects[: task.constants]}
    found |= {f"added@{task.predicates[literal.predicate]}" for literals in effects for literal in literals}
    return found | {f"{group}@{schema.name}" for group in ("action", "plan") for schema in task.schemas}


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
        "plan": ("plan", schemas),
        "added": ("added", task.predicates),
    }

    def spec(name: str) -> tuple[str, int]:
        group, _, member = name.partition("@")
        predicate, _, goal = name.rpartition("@")
        names: Sequence[str] = task.predicates
        if goal in goals and predicate in names:
            kind, symbol = goals[goal], predicate
        elif group in fixed and member:
            (kind, names), symbol = fixed[group], member
        else:
            kind, symbol = "state", name
        return kind, names.index(symbol) if symbol in names else -1

    return [(*spec(name), columns) for name, columns in metadata.relations]
