"""The fused CPU kernel for message passing (``kernel/message_passing.cpp``) as a torch function.

It computes what :func:`gsp_fd.training.network.grouped_messages` computes, for float32 on the CPU, in one pass over
the atoms. Where the library was not built, or on another device, the network uses the grouped torch operations.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import gsp_fd.training
from gsp_fd.common.errors import InputError
from gsp_fd.model_format import EXPONENT_LIMIT, Aggregation, NetworkConfig

LIBRARY_VARIABLE = "GSP_KERNEL"
AGGREGATIONS: tuple[Aggregation, ...] = ("max", "smoothmax", "logsumexp")
LANES = 8
KERNEL_VERSION = 2

_Pointer = ctypes.c_void_p


class _Call(ctypes.Structure):
    """Mirrors ``struct Call`` of the kernel; ``arrays`` keeps the arrays of pointers alive."""

    arrays: Mapping[str, ctypes.Array[_Pointer]]

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
            if not hasattr(loaded, "gsp_kernel_version") or loaded.gsp_kernel_version() != KERNEL_VERSION:
                raise InputError("the fused kernel is of another version than the package: build it again", str(path))
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
        self.index = index.to(torch.int64).contiguous()
        self.reach = int(self.index.max()) + 1 if len(index) else 0
        self.slots = slots
        self.config = config
        hidden = [config.hidden_of(arity) for arity, _ in slots]
        self.units = sum(count * width for count, width in zip(counts, hidden, strict=True))
        self.arity = torch.tensor([arity for arity, _ in slots], dtype=torch.int64)
        self.hidden = torch.tensor(hidden, dtype=torch.int64)
        self.count = torch.tensor(counts, dtype=torch.int64)
        self._transposed: dict[str, list[Tensor]] = {}
        self.order = {arity: i for i, arity in enumerate(sorted({arity for arity, _ in slots}))}

    def pointers(self, stacks: Sequence[Tensor]) -> ctypes.Array[_Pointer]:
        """The address of every relation's part of arrays that are stacked, one stack per arity in ascending order."""
        places = [(stack.data_ptr(), 4 * stack.stride(0)) for stack in stacks]
        addresses = (places[self.order[arity]][0] + slot * places[self.order[arity]][1] for arity, slot in self.slots)
        return (_Pointer * len(self.slots))(*addresses)

    def transposed(self, weights: Sequence[Tensor]) -> dict[str, list[Tensor]]:
        """w1 and w2 [K, out, in], made once for the backward passes of all layers."""
        if not self._transposed:
            for name, stacks in (("w1", weights[0::3]), ("w2", weights[2::3])):
                self._transposed[name] = [stack.transpose(1, 2).contiguous() for stack in stacks]
        return self._transposed

    def call(self, nodes: int, stacks: Mapping[str, Sequence[Tensor]], **tensors: Tensor | None) -> _Call:
        """The argument of the kernel, which trusts it; the caller keeps all tensors alive."""
        if self.reach > nodes:
            raise IndexError(f"an atom refers to node {self.reach - 1} of {nodes}")
        call = _Call(
            arity=self.arity.data_ptr(),
            hidden=self.hidden.data_ptr(),
            count=self.count.data_ptr(),
            index=self.index.data_ptr(),
            nodes=nodes,
            d=self.config.d,
            relations=len(self.slots),
            alpha=self.config.alpha,
            limit=EXPONENT_LIMIT,
            aggregation=AGGREGATIONS.index(self.config.aggregation),
        )
        call.arrays = {name: self.pointers(stack) for name, stack in stacks.items()}
        for name, array in call.arrays.items():
            setattr(call, name, ctypes.addressof(array))
        for name, tensor in tensors.items():
            setattr(call, name, None if tensor is None else tensor.data_ptr())
        return call


class FusedMessages(torch.autograd.Function):
    """(x [N, d], plan, first, w1, b1, w2 of each arity, stacked) -> aggregated messages [N, d].

    ``first`` promises that x is 0, as it is in the first layer: each relation then has one message per position.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, plan: MessagePlan, first: bool, *weights: Tensor) -> Tensor:
        kernel = library()
        assert kernel is not None
        x = x.contiguous()
        rows = plan.index.shape[0]
        keep = any(ctx.needs_input_grad)
        pre = x.new_empty(plan.units) if keep and not first else None
        message = x.new_empty(rows, plan.config.d) if keep else None
        total, out = torch.empty_like(x), torch.empty_like(x)
        stacks = {"w1": weights[0::3], "b1": weights[1::3], "w2": weights[2::3]}
        kept = {"x": None if first else x, "pre": pre, "message": message, "sum": total, "out": out}
        kernel.gsp_messages_forward(ctypes.byref(plan.call(x.shape[0], stacks, **kept)))
        if keep:
            ctx.plan, ctx.first = plan, first
            ctx.save_for_backward(x, pre, message, total, out, *weights)
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        kernel = library()
        assert kernel is not None
        plan: MessagePlan = ctx.plan
        x, pre, message, total, out, *weights = ctx.saved_tensors
        grad = grads[0].contiguous()
        gx = None if ctx.first else torch.empty_like(x)
        gradients = [torch.zeros_like(weight) for weight in weights]
        stacks = {"b1": weights[1::3], **plan.transposed(weights)}
        stacks |= {"gw1": gradients[0::3], "gb1": gradients[1::3], "gw2": gradients[2::3]}
        kept = {"x": None if ctx.first else x, "pre": pre, "message": message, "sum": total, "out": out}
        call = plan.call(x.shape[0], stacks, grad=grad, gx=gx, **kept)
        kernel.gsp_messages_backward(ctypes.byref(call))
        return gx, None, None, *gradients


fused_messages: Callable[..., Tensor] = FusedMessages.apply
"""(x [N, d], plan, first, w1, b1, w2 of each arity, stacked) -> aggregated messages [N, d]."""
