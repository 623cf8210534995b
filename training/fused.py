"""The fused CPU kernel (``kernel/embedding.cpp``) as a torch function: all layers of the relational network.

It computes what :meth:`gsp_fd.training.network.RelationalNetwork.embed` computes with torch operations, for float32 on
the CPU. Where the library was not built, or on another device, the network uses the torch operations.
"""

from __future__ import annotations

import ctypes
import os
import weakref
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

import gsp_fd.training
from gsp_fd.common.errors import InputError
from gsp_fd.model_format import EXPONENT_LIMIT, Aggregation, NetworkConfig

LIBRARY_VARIABLE = "GSP_KERNEL"
AGGREGATIONS: tuple[Aggregation, ...] = ("max", "smoothmax", "logsumexp")
LANES = 8
"""All widths must be multiples of this."""
MOST_LANES = 16
"""Floats of the longest vectors that the kernel may use; below 8 it does without vector instructions."""
KERNEL_VERSION = 3
SHARED = ("update_w1", "update_b1", "update_w2", "norm_weight", "norm_bias")
"""Weights that all relations share."""
STACKED = ("w1", "b1", "w2")
"""Weights of the relations' MLPs, stacked by arity."""

_Pointer = ctypes.c_void_p


class _Call(ctypes.Structure):
    """Mirrors ``struct Call`` of the kernel; ``alive`` keeps arrays that it points to."""

    alive: list[Any]

    _fields_ = [
        ("plan", _Pointer),
        ("d", ctypes.c_int64),
        ("layers", ctypes.c_int64),
        *((name, _Pointer) for name in (*STACKED, *SHARED, "buffer", "result", "grad")),
        *((f"g{name}", _Pointer) for name in (*STACKED, *SHARED)),
        ("alpha", ctypes.c_float),
        ("limit", ctypes.c_float),
        ("aggregation", ctypes.c_int),
        ("keep", ctypes.c_int),
        ("lanes", ctypes.c_int),
    ]


@cache
def library() -> ctypes.CDLL | None:
    """The kernel's shared library: from $GSP_KERNEL or from this package, None if it was not built."""
    named = os.environ.get(LIBRARY_VARIABLE)
    candidates = [Path(named)] if named else []
    for folder in gsp_fd.training.__path__:
        candidates += sorted(Path(folder).glob("libgsp_kernel.*"))
    for path in candidates:
        if path.is_file():
            loaded = ctypes.CDLL(str(path))
            if not hasattr(loaded, "gsp_kernel_version") or loaded.gsp_kernel_version() != KERNEL_VERSION:
                raise InputError("the fused kernel is of another version than the package: build it again", str(path))
            for function in (loaded.gsp_embed, loaded.gsp_embed_backward):
                function.argtypes = [ctypes.POINTER(_Call)]
                function.restype = None
            number, numbers = ctypes.c_int64, _Pointer
            loaded.gsp_buffer_size.argtypes, loaded.gsp_buffer_size.restype = [ctypes.POINTER(_Call)], number
            loaded.gsp_plan.argtypes = [number, *[numbers] * 4, number, number, ctypes.c_int, ctypes.POINTER(number)]
            loaded.gsp_plan.restype = _Pointer
            loaded.gsp_plan_free.argtypes, loaded.gsp_plan_free.restype = [_Pointer], None
            return loaded
    return None


def usable(weight: Tensor, config: NetworkConfig) -> bool:
    """Whether the kernel can compute a network with such weights."""
    whole = config.d % LANES == 0 and config.message_hidden % LANES == 0
    return whole and weight.device.type == "cpu" and weight.dtype == torch.float32 and library() is not None


class Plan:
    """What the passes over one batch share: its atoms, and where each relation's weights lie.

    index: node of every argument of every atom, relation by relation [rows]; counts: atoms per relation; nodes: N;
    slots: per relation (arity, position among the relations of that arity).
    """

    def __init__(
        self,
        index: Tensor,
        counts: Sequence[int],
        nodes: int,
        slots: Sequence[tuple[int, int]],
        config: NetworkConfig,
    ) -> None:
        kernel = library()
        assert kernel is not None
        self.config, self.nodes = config, nodes
        arities = [arity for arity, _ in slots]
        self._stack = np.unique(arities, return_inverse=True)[1]
        self._number = np.array([number for _, number in slots], np.int64)
        self._aggregation = AGGREGATIONS.index(config.aggregation)
        sizes = np.array([arities, [config.hidden_of(arity) for arity in arities], counts], np.int64)
        index, wrong = index.to(torch.int64).contiguous(), ctypes.c_int64()
        self._plan = kernel.gsp_plan(
            len(slots),
            *(row.ctypes.data for row in sizes),
            index.data_ptr(),
            nodes,
            config.layers,
            self._aggregation,
            ctypes.byref(wrong),
        )
        if self._plan is None:
            raise IndexError(f"an atom refers to node {int(index[wrong.value])} of {nodes}")
        weakref.finalize(self, kernel.gsp_plan_free, self._plan)

    def call(self, keep: bool) -> _Call:
        """The argument of the kernel, which trusts it; the caller keeps what it points to alive."""
        config = self.config
        call = _Call(plan=self._plan, d=config.d, layers=config.layers, alpha=config.alpha, limit=EXPONENT_LIMIT)
        call.aggregation, call.keep, call.lanes = self._aggregation, keep, MOST_LANES
        call.alive = []
        return call

    def add_weights(self, call: _Call, weights: Sequence[Tensor], prefix: str = "") -> None:
        """Puts the addresses of the weights (SHARED, then STACKED of each arity in ascending order) into a call."""
        for name, tensor in zip(SHARED, weights, strict=False):
            setattr(call, prefix + name, tensor.data_ptr())
        for i, name in enumerate(STACKED):
            stacks = weights[len(SHARED) + i :: len(STACKED)]
            places = np.array([(stack.data_ptr(), 4 * stack.stride(0)) for stack in stacks], np.int64)[self._stack]
            pointers = places[:, 0] + places[:, 1] * self._number
            call.alive.append(pointers)
            setattr(call, prefix + name, pointers.ctypes.data)


class Buffers:
    """Memory for the passes, used again and again: fresh pages would cost as much as the arithmetic on them."""

    def __init__(self) -> None:
        self._free: list[Tensor] = []

    def take(self, size: int) -> Tensor:
        """At least this many floats."""
        while self._free:
            buffer = self._free.pop()
            if len(buffer) >= size:
                return buffer
        return torch.empty(size + size // 4)

    def give(self, buffer: Tensor) -> None:
        """Back, for another pass."""
        self._free.append(buffer)


class FusedEmbedding(torch.autograd.Function):
    """(plan, weights as in :meth:`Plan.add_weights`) -> embeddings after the last layer [N, d]."""

    buffers = Buffers()

    @staticmethod
    def forward(ctx: Any, plan: Plan, *weights: Tensor) -> Tensor:
        kernel = library()
        assert kernel is not None
        keep = any(ctx.needs_input_grad)
        call = plan.call(keep)
        buffer = FusedEmbedding.buffers.take(kernel.gsp_buffer_size(ctypes.byref(call)))
        result = torch.empty(plan.nodes, plan.config.d)
        call.buffer, call.result = buffer.data_ptr(), result.data_ptr()
        plan.add_weights(call, weights)
        kernel.gsp_embed(ctypes.byref(call))
        if keep:
            ctx.plan, ctx.buffer = plan, buffer
            ctx.save_for_backward(*weights)
        else:
            FusedEmbedding.buffers.give(buffer)
        return result

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        kernel = library()
        assert kernel is not None
        if ctx.buffer is None:
            raise RuntimeError("trying to go backward through the network a second time")
        plan: Plan = ctx.plan
        weights = ctx.saved_tensors
        gradients = [torch.zeros_like(weight) for weight in weights]
        grad = grads[0].contiguous()
        call = plan.call(keep=True)
        call.buffer, call.grad = ctx.buffer.data_ptr(), grad.data_ptr()
        plan.add_weights(call, weights)
        plan.add_weights(call, gradients, "g")
        kernel.gsp_embed_backward(ctypes.byref(call))
        FusedEmbedding.buffers.give(ctx.buffer)
        ctx.buffer = None
        return None, *gradients


fused_embedding: Callable[..., Tensor] = FusedEmbedding.apply
"""(plan, weights as in :meth:`Plan.add_weights`) -> embeddings after the last layer [N, d]."""
