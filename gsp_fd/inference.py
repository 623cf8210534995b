"""Q-values of encoded batches: native code on the CPU, ONNX Runtime on CUDA and for what native code does not take."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from gsp_fd import _core
from gsp_fd.common.errors import InputError, search_error
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.model_format import (
    ACTION_NODE,
    ACTION_STATE,
    NODE_STATE,
    OUTPUT,
    RELATION_PREFIX,
    STATE_SIZES,
    Floats,
    ModelMetadata,
    NetworkConfig,
    feeds_of,
    weights_of,
    weights_prefix,
)

Device = Literal["auto", "cpu", "cuda"]
QValues = npt.NDArray[np.float32]
Relations = Sequence[tuple[str, int]]

LANES = 8


class Backend(Protocol):
    """What evaluates a model."""

    name: str
    messages_per_call: float
    """Messages (arguments of atoms) that one batch should have at most, about."""

    @property
    def q_function(self) -> _core.Network | Callable[[_core.EncodedBatch], QValues]:
        """What a native heuristic calls: the native network, which involves no Python, or a function."""

    def q_values(self, batch: _core.EncodedBatch) -> QValues:
        """Q of every action of a native encoded batch. MemoryError if it is too large."""


class NativeNetwork:
    """The network in native code, from the weights in the ONNX file: see ``core/network.h``."""

    name = "the CPU (native code)"
    messages_per_call = _core.Network.messages_per_call

    def __init__(
        self, config: NetworkConfig, relations: Relations, weights: Mapping[str, Floats], **options: int
    ) -> None:
        """``kept`` among the options: classes of nodes whose embeddings are kept from call to call, about."""
        self.q_function = _core.Network(
            d=config.d,
            layers=config.layers,
            pool=config.pool,
            relations=[(weights_prefix(name), arity, config.hidden_of(arity)) for name, arity in relations],
            weights=dict(weights),
            **options,
        )

    @staticmethod
    def takes(config: NetworkConfig) -> bool:
        """Whether there is native code for such a network."""
        whole = config.d % LANES == 0 and config.message_hidden % LANES == 0
        return whole and config.aggregation == "max" and config.readout == "sum"

    @classmethod
    def of_model(cls, model: bytes, metadata: ModelMetadata) -> NativeNetwork | None:
        """The network of a model; None if there is no native code for it, or the model lacks arrays it should have."""
        if not cls.takes(metadata.network):
            return None
        try:
            return cls(metadata.network, metadata.relations, weights_of(model))
        except _core.CoreInputError:
            return None

    def q_values(self, batch: _core.EncodedBatch) -> QValues:
        """Q of every action of the batch."""
        return self.q_function.q_values(batch)


class OnnxSession:
    """A session of ONNX Runtime, on CUDA if it can be used."""

    def __init__(
        self, model: bytes, metadata: ModelMetadata, device: Device, threads: int, file: str | None = None
    ) -> None:
        self.file = file
        self.relations = metadata.relations
        self.session, self.provider = _session(model, device, file)
        self.on_cuda = self.provider == "CUDAExecutionProvider"
        self.threads = 1 if self.on_cuda else threads
        self._pool = ThreadPoolExecutor(max(1, self.threads - 1))
        self.name = f"{'CUDA' if self.on_cuda else 'the CPU'} ({self.provider})"
        # On a CPU the arrays, 128 bytes a message each, then stay in the cache (128 states of 488 blocks: 2.2 us a
        # message, 3.7 us all at once).
        self.messages_per_call = 2e6 if self.on_cuda else 1e4 * threads
        self.q_function = self.q_values
        self._run_options: Any = None

    def q_values(self, batch: _core.EncodedBatch) -> QValues:
        """Q of every action of the batch, in one call."""
        import onnxruntime

        feeds = feeds_of(batch, self.relations)
        options = self._run_options = onnxruntime.RunOptions()
        first, *others = split(feeds, self.threads) if self.threads > 1 else [feeds]
        try:
            answers = [self._pool.submit(self._run, part, options) for part in others]
            q = np.concatenate([self._run(first, options), *(answer.result() for answer in answers)])
        except Exception as error:  # ONNX Runtime raises classes of its own, with no common base
            if any(word in str(error).lower() for word in ("alloc", "memory", "start new thread")):
                raise MemoryError(str(error)) from None
            raise search_error(f"ONNX Runtime cannot evaluate the model: {error}", self.file) from None
        return q

    def cancel(self) -> None:
        """Makes a call that is under way in another thread end soon, in an error."""
        if self._run_options is not None:
            self._run_options.terminate = True

    def _run(self, feeds: dict[str, npt.NDArray[Any]], options: Any) -> QValues:
        if not self.on_cuda:
            return np.asarray(self.session.run([OUTPUT], feeds, options)[0], np.float32).reshape(-1)
        # One copy to the device per input, and one back for the result.
        binding = self.session.io_binding()
        for name, array in feeds.items():
            binding.bind_cpu_input(name, np.ascontiguousarray(array))
        binding.bind_output(OUTPUT, "cuda")
        self.session.run_with_iobinding(binding, options)
        return np.asarray(binding.copy_outputs_to_cpu()[0], np.float32).reshape(-1)


def backend_of(
    model: bytes, metadata: ModelMetadata, device: Device = "cpu", threads: int = 1, file: str | None = None
) -> Backend:
    """CUDA where it is asked for or usable; else native code, or ONNX Runtime for other networks and more threads.

    ``model``: the bytes of the model file; ``file``: its name for messages.
    """
    native = NativeNetwork.of_model(model, metadata) if threads == 1 and device != "cuda" else None
    if native and (device == "cpu" or not _may_have_cuda()):
        return native
    session = OnnxSession(model, metadata, device, threads, file)
    return session if session.on_cuda or not native else native


def _may_have_cuda() -> bool:
    """Whether the ONNX Runtime that is installed was built for CUDA; found without loading it, which takes long."""
    package = importlib.util.find_spec("onnxruntime")
    if package is None or package.origin is None:
        return False
    return any((Path(package.origin).parent / "capi").glob("*onnxruntime_providers_cuda*"))


def clashing_runtimes() -> str:
    """What to say where both builds of ONNX Runtime are installed, which share a folder; pip lets that happen."""
    package = importlib.util.find_spec("onnxruntime")
    if package is None or package.origin is None:
        return ""
    site = Path(package.origin).parents[1]
    if not all(any(site.glob(f"{name}-*.dist-info")) for name in ("onnxruntime", "onnxruntime_gpu")):
        return ""
    return (
        "onnxruntime and onnxruntime-gpu are both installed and overwrite each other, so that CUDA may be gone: "
        "run pip uninstall -y onnxruntime onnxruntime-gpu, then pip install 'gsp-fd[gpu]' (or 'gsp-fd[train-gpu]')"
    )


def _in_thread(work: Callable[[], Any]) -> Any:
    """What work returns. It has a thread of its own: signals do not reach native code, but this thread handles them."""
    outcome: Future[Any] = Future()

    def run() -> None:
        try:
            outcome.set_result(work())
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return outcome.result()


def split(feeds: Mapping[str, npt.NDArray[Any]], parts: int) -> list[dict[str, npt.NDArray[Any]]]:
    """The inputs of a batch as those of at most so many smaller ones, with about as many states each."""
    states = len(feeds[STATE_SIZES])
    bounds = np.linspace(0, states, min(parts, max(states, 1)) + 1).astype(np.int64)
    nodes, actions = (np.searchsorted(feeds[name], bounds) for name in (NODE_STATE, ACTION_STATE))
    state_of = feeds[NODE_STATE]
    rows = {
        name: np.searchsorted(state_of[atoms[:, 0]], bounds)
        for name, atoms in feeds.items()
        if name.startswith(RELATION_PREFIX)
    }
    return [
        {name: feeds[name][begin[k] : begin[k + 1]] - nodes[k] for name, begin in rows.items()}
        | {
            NODE_STATE: state_of[nodes[k] : nodes[k + 1]] - bounds[k],
            ACTION_NODE: feeds[ACTION_NODE][actions[k] : actions[k + 1]] - nodes[k],
            ACTION_STATE: feeds[ACTION_STATE][actions[k] : actions[k + 1]] - bounds[k],
            STATE_SIZES: feeds[STATE_SIZES][bounds[k] : bounds[k + 1]],
        }
        for k in range(len(bounds) - 1)
    ]


def _session(model: bytes, device: Device, file: str | None) -> tuple[Any, str]:
    """A session and the provider it runs on. CUDA where it is usable, unless the CPU is asked for."""
    try:
        import onnxruntime
    except ImportError:
        raise InputError(
            "CUDA, more threads than one, and models with another aggregation than max need ONNX Runtime: "
            "run pip install 'gsp-fd[cpu]' (or 'gsp-fd[gpu]')",
            exit_code=ExitCode.SEARCH_UNSUPPORTED,
        ) from None
    usable = "CUDAExecutionProvider" in onnxruntime.get_available_providers()
    if device == "cuda" and not usable:
        advice = clashing_runtimes() or "install 'gsp-fd[gpu]' or say --device cpu"
        raise search_error(f"CUDA was asked for, but this ONNX Runtime has none: {advice}")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # several lose updates of ScatterND with reduction (onnxruntime issue 18048)
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    wanted = ["CUDAExecutionProvider"] * (usable and device != "cpu") + ["CPUExecutionProvider"]
    try:
        session = _in_thread(lambda: onnxruntime.InferenceSession(model, options, providers=wanted))
    except Exception as error:  # ONNX Runtime raises classes of its own, with no common base
        raise search_error(f"ONNX Runtime cannot load the model: {error}", file) from None
    provider = session.get_providers()[0]
    if device == "cuda" and provider != "CUDAExecutionProvider":
        raise search_error(
            "CUDA was asked for, but ONNX Runtime cannot use it here: see its messages, or say --device cpu"
        )
    return session, provider
