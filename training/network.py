"""The relational GNN for Q(s, a), section "Representing Q with Relational GNNs" of the paper, as a torch module.

Equations, for every atom q = p(o_1, ..., o_k) and L layers with shared weights:
    (m_1, ..., m_k) = MLP_p([X(o_1), ..., X(o_k)])                position-wise messages, one MLP per relation
    X(o) <- X(o) + MLP_U([X(o), Agg of the messages to o])         then layer norm
    Q(s, a) = MLP_Q([X(o_a), Pool of all nodes of s])                   or MLP_A(X(o_a)) + MLP_V(Pool), readout = "sum"
All MLPs have one hidden layer with SiLU. A residual message, m_i + X(o_i), would be the same network: it adds X(o) to
whatever maximum over the messages to o, and MLP_U's first layer sees X(o) anyway. The output layers of MLP_p and MLP_U
have no bias: their hidden biases and the layer norm can express it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.utils import scatter

from gsp_fd import _core
from gsp_fd.model_format import EXPONENT_LIMIT, EncodedBatch, NetworkConfig
from gsp_fd.training.fused import Plan, fused_embedding, usable

Kernel = Literal["auto", "torch"]
PHI_SCALE = 0.3
"""Factor of the phi pool: keeps the sum over hundreds of nodes in the range in which the readout learns fast."""


@dataclass(frozen=True, slots=True)
class GraphBatch:
    """An :class:`EncodedBatch` as tensors; index: atoms of all relations, flat [rows]; counts: atoms per relation."""

    index: Tensor
    counts: tuple[int, ...]
    node_state: Tensor
    action_node: Tensor
    action_state: Tensor
    state_sizes: Tensor

    @classmethod
    def from_encoded(cls, batch: EncodedBatch | _core.EncodedBatch, device: torch.device | str = "cpu") -> GraphBatch:
        """Copies a batch to a device, the relations as one flat index."""
        flat = np.concatenate([np.zeros(0, np.int64), *(atoms.ravel() for atoms in batch.relations)])
        arrays = (flat, batch.node_state, batch.action_node, batch.action_state, batch.state_sizes)
        index, *rest = (torch.from_numpy(np.ascontiguousarray(array)).to(device) for array in arrays)
        return cls(index, tuple(len(atoms) for atoms in batch.relations), *rest)


class RelationMlps(nn.Module):
    """The MLPs of the K relations of one arity, stacked: w1 [K, n, h], b1 [K, h], w2 [K, h, n]."""

    def __init__(self, relations: int, width: int, hidden: int) -> None:
        super().__init__()

        def uniform(fan_in: int, *shape: int) -> nn.Parameter:
            return nn.Parameter(torch.empty(*shape).uniform_(-1, 1) / math.sqrt(fan_in))

        self.w1, self.b1 = uniform(width, relations, width, hidden), uniform(width, relations, hidden)
        self.w2 = uniform(hidden, relations, hidden, width)


def mlp(inputs: int, hidden: int, outputs: int, *, bias: bool = True) -> nn.Sequential:
    """One hidden layer with SiLU; ``bias``: whether the output layer has one."""
    return nn.Sequential(nn.Linear(inputs, hidden), nn.SiLU(), nn.Linear(hidden, outputs, bias=bias))


def aggregate(messages: Tensor, index: Tensor, nodes: int, config: NetworkConfig) -> Tensor:
    """Messages [rows, d] to the nodes ``index`` [rows], aggregated per node [nodes, d]; 0 where there is none."""

    def reduced(rows: Tensor, how: str) -> Tensor:
        result: Tensor = scatter(rows, index, dim=0, dim_size=nodes, reduce=how)
        return result

    if config.aggregation == "max":
        return reduced(messages, "max")
    weights: Tensor = (config.alpha * messages).clamp(-EXPONENT_LIMIT, EXPONENT_LIMIT).exp()
    total = reduced(weights, "sum")
    total = total.masked_fill(total == 0, 1.0)
    return (
        total.log() / config.alpha if config.aggregation == "logsumexp" else reduced(weights * messages, "sum") / total
    )


class RelationalNetwork(nn.Module):
    """Q(s, a) for every applicable action of a batch of states."""

    def __init__(
        self, relations: Sequence[tuple[str, int]], config: NetworkConfig | None = None, kernel: Kernel = "auto"
    ) -> None:
        """``relations``: (name, arity) in the order of the batches; ``kernel``: "auto" takes the fused one on CPUs."""
        super().__init__()
        self.config = config = config or NetworkConfig()
        self.relations = tuple(relations)
        self.kernel = kernel
        d = config.d
        members: dict[int, int] = {}
        self.slots: list[tuple[int, int]] = []
        for _, arity in self.relations:
            self.slots.append((arity, members.get(arity, 0)))
            members[arity] = members.get(arity, 0) + 1
        self.messages = nn.ModuleDict(
            {str(a): RelationMlps(members[a], a * d, config.hidden_of(a)) for a in sorted(members)}
        )
        self.update = mlp(2 * d, 2 * d, d, bias=False)
        self.norm = nn.LayerNorm(d)
        self.phi = mlp(d, d, d) if config.pool == "phi" else nn.Identity()
        self.readout = mlp(2 * d if config.readout == "concat" else d, 2 * d, 1)
        self.value = mlp(d, 2 * d, 1) if config.readout == "sum" else nn.Identity()
        nn.init.zeros_(list(self.readout.parameters())[-1])

    @property
    def device(self) -> torch.device:
        """Where the weights are, and batches must be."""
        return next(self.parameters()).device

    def forward(self, batch: GraphBatch) -> Tensor:
        """Q-values [A], in the order of ``batch.action_node``."""
        x = self.embed(batch)
        pooled = self._pool(x, batch)
        actions = x.index_select(0, batch.action_node)
        if self.config.readout == "sum":
            values: Tensor = self.readout(actions) + self.value(pooled).index_select(0, batch.action_state)
        else:
            context = pooled.index_select(0, batch.action_state)
            values = self.readout(torch.cat([actions, context], 1))
        return values.squeeze(1)

    def embed(self, batch: GraphBatch) -> Tensor:
        """Embeddings X_L [N, d]."""
        nodes = batch.node_state.shape[0]
        stacked = [weight for stack in self.stacks().values() for weight in (stack.w1, stack.b1, stack.w2)]
        if self.kernel == "auto" and usable(stacked[0], self.config):
            plan = Plan(batch.index, batch.counts, nodes, self.slots, self.config)
            return fused_embedding(plan, *self.update.parameters(), *self.norm.parameters(), *stacked)
        x = stacked[0].new_zeros(nodes, self.config.d)
        weights = self.relation_weights()
        for _ in range(self.config.layers):
            x = self._updated(x, self.grouped_messages(x, batch, weights))
        return x

    def grouped_messages(self, x: Tensor, batch: GraphBatch, relation_weights: Sequence[Sequence[Tensor]]) -> Tensor:
        """Aggregated messages [N, d] with torch operations only: the reference, and what a GPU runs."""
        gathered = x.index_select(0, batch.index)
        sizes = [count * arity for count, (_, arity) in zip(batch.counts, self.relations, strict=True)]
        outputs = []
        # split, not slices: the backward pass of a slice allocates a full tensor of zeros.
        for part, (_, arity), (w1, b1, w2) in zip(
            torch.split(gathered, sizes), self.relations, relation_weights, strict=True
        ):
            if part.shape[0]:
                inputs = part.reshape(-1, arity * self.config.d)
                outputs.append((functional.silu(torch.addmm(b1, inputs, w1)) @ w2).reshape(-1, self.config.d))
        messages = torch.cat(outputs) if outputs else gathered
        return aggregate(messages, batch.index, x.shape[0], self.config)

    def relation_weights(self) -> list[tuple[Tensor, ...]]:
        """w1, b1, w2 of every relation, as views whose gradients are stacked once."""
        views = {
            arity: [weight.unbind(0) for weight in (stack.w1, stack.b1, stack.w2)]
            for arity, stack in self.stacks().items()
        }
        return [tuple(part[slot] for part in views[arity]) for arity, slot in self.slots]

    def stacks(self) -> dict[int, RelationMlps]:
        """The MLPs of the relations, by their arity."""
        return {int(arity): cast(RelationMlps, stack) for arity, stack in self.messages.items()}

    def _updated(self, x: Tensor, aggregated: Tensor) -> Tensor:
        result: Tensor = self.norm(x + self.update(torch.cat([x, aggregated], 1)))
        return result

    def _pool(self, x: Tensor, batch: GraphBatch) -> Tensor:
        if self.config.pool == "phi":
            x = PHI_SCALE * self.phi(x)
        states = batch.state_sizes.shape[0]
        total: Tensor = scatter(x, batch.node_state, dim=0, dim_size=states, reduce="sum")
        return total / batch.state_sizes.unsqueeze(1) if self.config.pool == "mean" else total

    def parameter_groups(self) -> tuple[list[nn.Parameter], list[nn.Parameter]]:
        """(parameters of the GNN, parameters of the readout): the paper gives them different learning rates."""
        readout = [*self.readout.parameters(), *self.value.parameters()]
        chosen = {id(parameter) for parameter in readout}
        return [parameter for parameter in self.parameters() if id(parameter) not in chosen], readout
