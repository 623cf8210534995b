"""A learned Q-function in the planner: an ONNX model, the encoder of a task, the heuristic that the search calls."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gsp_fd import _core
from gsp_fd.errors import InputError
from gsp_fd.exit_codes import ExitCode
from gsp_fd.model_format import (
    ACTION_NODE,
    ACTION_STATE,
    NODE_STATE,
    OUTPUT,
    STATE_SIZES,
    ModelMetadata,
    fit_problems,
    read_metadata,
    relation_input,
)
from gsp_fd.pddl import LiftedTask

Device = Literal["auto", "cpu", "cuda"]
IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]
Feeds = dict[str, Any]

SHIPPED_MODELS = Path(__file__).parent / "models"
MESSAGES_PER_CALL = {"CPUExecutionProvider": 10_000, "CUDAExecutionProvider": 2_000_000}
"""Messages (arguments of atoms) in one call of the network, about: larger batches are split. On a CPU their arrays,
128 bytes a message each, then stay in the cache (128 states of 488 blocks: 2.2 us a message, 3.7 us all at once)."""


def _error(message: str, file: str | None = None) -> InputError:
    return InputError(message, file, exit_code=ExitCode.SEARCH_INPUT_ERROR)


class Model:
    """An ONNX model and its session."""

    def __init__(self, path: str | Path, *, device: Device = "auto", threads: int = 1) -> None:
        self.path = Path(path)
        self.metadata: ModelMetadata = read_metadata(path)
        self.session, self.provider = _session(self.path, device, threads)
        self._inputs = [relation_input(name) for name, _ in self.metadata.relations]
        self._messages_per_call: float = MESSAGES_PER_CALL[self.provider]
        self._messages_per_state = self._messages_per_call  # the first call tells how large a state is

    def describe(self) -> str:
        """One line for the log."""
        device = "CUDA" if self.provider == "CUDAExecutionProvider" else "the CPU"
        return f"{self.path} for domain {self.metadata.domain}, on {device} ({self.provider})"

    def check_fit(self, task: LiftedTask) -> None:
        """InputError with every predicate, schema, type or constant that does not fit."""
        problems = task_fit_problems(self.metadata, task)
        if problems:
            shown = problems[:5] + ([f"and {len(problems) - 5} more"] if len(problems) > 5 else [])
            raise _error(f"the model does not fit the task: {'; '.join(shown)}", str(self.path))

    def encoder(self, task: LiftedTask, native_task: Any) -> Any:
        """The native encoder of states of a task for this model; ``native_task`` is its ``_core.LiftedTask``."""
        self.check_fit(task)
        return _core.Encoder(native_task, relation_specs(self.metadata, task))

    def q_values(self, encoder: Any, space: Any, states: IntArray, begin: IntArray, operators: IntArray) -> FloatArray:
        """Q(states[i], operators[begin[i]:begin[i + 1]]) for all i, [len(operators)]."""
        values, at = [np.zeros(0)], 0
        while at < len(states):
            after = min(len(states), at + self.states_per_call())
            first, last = int(begin[at]), int(begin[after])
            piece = states[at:after], begin[at : after + 1] - first, operators[first:last]
            try:
                values.append(self.evaluate(self.feeds(encoder, space, *piece)))
            except MemoryError:
                if after - at == 1:
                    raise
                self._messages_per_call = self._messages_per_state * (after - at) / 2
                continue
            at = after
        return np.concatenate(values)

    def states_per_call(self) -> int:
        """How many states like the last ones one call of the network should have."""
        return max(1, int(self._messages_per_call / self._messages_per_state))

    def feeds(self, encoder: Any, space: Any, states: IntArray, begin: IntArray, operators: IntArray) -> Feeds:
        """The inputs of the network for one call."""
        batch = encoder.encode(space, states, begin, operators)
        relations = batch.relations
        self._messages_per_state = max(1.0, sum(atoms.size for atoms in relations) / max(1, len(states)))
        return dict(zip(self._inputs, relations, strict=True)) | {
            NODE_STATE: batch.node_state,
            ACTION_NODE: batch.action_node,
            ACTION_STATE: batch.action_state,
            STATE_SIZES: batch.state_sizes,
        }

    def evaluate(self, feeds: Feeds) -> FloatArray:
        """One call of the network."""
        q = self._run(feeds)
        if not np.isfinite(q).all():
            raise _error("the model yields Q-values that are no numbers: its weights are damaged", str(self.path))
        return q.astype(np.float64)

    def _run(self, feeds: Feeds) -> npt.NDArray[np.float32]:
        try:
            if self.provider == "CPUExecutionProvider":
                (q,) = self.session.run([OUTPUT], feeds)
            else:
                q = self._run_bound(feeds)
        except Exception as error:  # ONNX Runtime raises classes of its own, with no common base
            if "alloc" in str(error).lower() or "memory" in str(error).lower():
                raise MemoryError(str(error)) from None
            raise _error(f"ONNX Runtime cannot evaluate the model: {error}", str(self.path)) from None
        return np.asarray(q).reshape(-1)

    def _run_bound(self, feeds: Feeds) -> Any:
        """One copy to the device per input, and one back for the result."""
        binding = self.session.io_binding()
        for name, array in feeds.items():
            binding.bind_cpu_input(name, np.ascontiguousarray(array))
        binding.bind_output(OUTPUT, "cuda")
        self.session.run_with_iobinding(binding)
        return binding.copy_outputs_to_cpu()[0]


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
    raise _error(f"there is no model '{name}': give an .onnx file, auto, or one of {_names(shipped_models())}")


def shipped_models() -> list[Path]:
    """The models that come with the package."""
    return sorted(SHIPPED_MODELS.glob("*.onnx"))


def _names(paths: Sequence[Path]) -> str:
    return ", ".join(path.stem for path in paths) or "(none is shipped)"


def _fitting_model(task: LiftedTask) -> Path:
    fitting = [path for path in shipped_models() if not task_fit_problems(read_metadata(path), task)]
    if not fitting:
        raise _error(
            f"no shipped model fits domain {task.domain_name} (there are {_names(shipped_models())}): "
            "train one with gsp-train, or choose another heuristic"
        )
    return fitting[0]


def _session(path: Path, device: Device, threads: int) -> tuple[Any, str]:
    """A session and the provider it runs on. CUDA where it is usable, unless the CPU is asked for."""
    try:
        import onnxruntime
    except ImportError:
        raise InputError(
            "learned heuristics need ONNX Runtime: run pip install 'gsp-fd[cpu]' (or 'gsp-fd[gpu]')",
            exit_code=ExitCode.SEARCH_UNSUPPORTED,
        ) from None
    usable = "CUDAExecutionProvider" in onnxruntime.get_available_providers()
    if device == "cuda" and not usable:
        raise _error("CUDA was asked for, but this ONNX Runtime has none: install 'gsp-fd[gpu]' or say --device cpu")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    wanted = ["CUDAExecutionProvider"] * (usable and device != "cpu") + ["CPUExecutionProvider"]
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=wanted)
    except Exception as error:  # ONNX Runtime raises classes of its own, with no common base
        raise _error(f"ONNX Runtime cannot load the model: {error}", str(path)) from None
    provider = session.get_providers()[0]
    if device == "cuda" and provider != "CUDAExecutionProvider":
        raise _error("CUDA was asked for, but ONNX Runtime cannot use it here: see its messages, or say --device cpu")
    return session, provider
