"""The fused CPU kernel for message passing (``kernel/message_passing.cpp``) as a torch function.

It computes what :func:`gsp_fd.training.network.grouped_messages` computes, for float32 on the CPU, in one pass over
the atoms. Where the library was not built, or on another device, the network uses the grouped torch operations.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import gsp_fd.training
from gsp_fd.model_format import EXPONENT_LIMIT, Aggregation, NetworkConfig

LIBRARY_VARIABLE = "GSP_KERNEL"
AGGREGATIONS: tuple[Aggregation, ...] = ("max", "smoothmax", "logsumexp")
LANES = 8

_Pointer = ctypes.c_void_p


class _Call(ctypes.Structure):
    """Mirrors ``struct Call`` of the kernel."""

    _fields_ = [
        *((name, _Pointer) for name in ("x", "arity", "hidden", "count", "index", "w1", "b1", "w2")),
        *((name, _Pointer) for name in ("pre", "message", "sum", "out", "grad", "gx")),
        *((name, _Pointer) for name in ("gw1", "gb1", "gw2")),
        *((name, ctypes.c_int64) for name in ("nodes", "d", "relations")),
        ("alpha", ctypes.c_float),
        ("limit", ctypes.c_float),
        ("aggregation", ctypes.c_int),
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
            for function in (loaded.gsp_messages_forward, loaded.gsp_messages_backward):
                function.argtypes = [ctypes.POINTER(_Call)]
                function.restype = None
            return loaded
    return None


def usable(x: Tensor, config: NetworkConfig) -> bool:
    """Whether the kernel can take these embeddings [N, d]."""
    whole = config.d % LANES == 0 and config.message_hidden % LANES == 0
    return whole and x.device.type == "cpu" and x.dtype == torch.float32 and library() is not None


class MessagePlan:
    """What all layers of one forward pass share: the atoms, and where each relation's weights lie.

    index: node of every argument of every atom, relation by relation [rows]; counts: atoms per relation;
    slots: per relation (arity, position among the relations of that arity).
    """

    def __init__(
        self, index: Tensor, counts: Sequence[int], slots: Sequence[tuple[int, int]], config: NetworkConfig
    ) -> None:
        self.index = index.contiguous()
        self.slots = slots
        self.config = config
        hidden = [config.hidden_of(arity) for arity, _ in slots]
        self.units = sum(count * width for count, width in zip(counts, hidden, strict=True))
        self.arity = torch.tensor([arity for arity, _ in slots], dtype=torch.int64)
        self.hidden = torch.tensor(hidden, dtype=torch.int64)
        self.count = torch.tensor(counts, dtype=torch.int64)
        self.arities = sorted({arity for arity, _ in slots})

    def pointers(self, weights: Sequence[Tensor]) -> list[ctypes.Array[_Pointer]]:
        """Addresses per relation of w1, b1, w2; ``weights`` are these three, stacked, for each arity in order."""
        offset = {arity: 3 * i for i, arity in enumerate(self.arities)}
        result = []
        for part in range(3):
            addresses = [
                weights[offset[arity] + part].data_ptr() + 4 * slot * weights[offset[arity] + part][0].numel()
                for arity, slot in self.slots
            ]
            result.append((_Pointer * len(addresses))(*addresses))
        return result

    def call(self, x: Tensor, weights: Sequence[ctypes.Array[_Pointer]], **tensors: Tensor | None) -> _Call:
        """The argument of the kernel, without gradients; the caller keeps all tensors alive."""
        call = _Call(
            x=x.data_ptr(),
            arity=self.arity.data_ptr(),
            hidden=self.hidden.data_ptr(),
            count=self.count.data_ptr(),
            index=self.index.data_ptr(),
            nodes=x.shape[0],
            d=self.config.d,
            relations=len(self.slots),
            alpha=self.config.alpha,
            limit=EXPONENT_LIMIT,
            aggregation=AGGREGATIONS.index(self.config.aggregation),
        )
        for name, array in zip(("w1", "b1", "w2"), weights, strict=True):
            setattr(call, name, ctypes.addressof(array))
        for name, tensor in tensors.items():
            setattr(call, name, None if tensor is None else tensor.data_ptr())
        return call


class FusedMessages(torch.autograd.Function):
    """(x [N, d], plan, stacked weights) -> aggregated messages [N, d]."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, plan: MessagePlan, *weights: Tensor) -> Tensor:
        kernel = library()
        assert kernel is not None
        x = x.contiguous()
        rows = plan.index.shape[0]
        keep = any(ctx.needs_input_grad)
        pre = x.new_empty(plan.units) if keep else None
        message = x.new_empty(rows, plan.config.d) if keep else None
        total, out = torch.empty_like(x), torch.empty_like(x)
        pointers = plan.pointers(weights)
        call = plan.call(x, pointers, pre=pre, message=message, sum=total, out=out)
        kernel.gsp_messages_forward(ctypes.byref(call))
        if keep:
            ctx.plan = plan
            ctx.save_for_backward(x, pre, message, total, out, *weights)
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        kernel = library()
        assert kernel is not None
        plan: MessagePlan = ctx.plan
        x, pre, message, total, out, *weights = ctx.saved_tensors
        grad = grads[0].contiguous()
        gx = torch.empty_like(x)
        gradients = [torch.zeros_like(weight) for weight in weights]
        pointers, targets = plan.pointers(weights), plan.pointers(gradients)
        call = plan.call(x, pointers, pre=pre, message=message, sum=total, out=out, grad=grad, gx=gx)
        for name, array in zip(("gw1", "gb1", "gw2"), targets, strict=True):
            setattr(call, name, ctypes.addressof(array))
        kernel.gsp_messages_backward(ctypes.byref(call))
        return gx, None, *gradients


fused_messages: Callable[..., Tensor] = FusedMessages.apply
"""(x [N, d], plan, w1, b1, w2 of each arity, stacked) -> aggregated messages [N, d]."""
