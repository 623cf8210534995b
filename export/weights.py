"""The arrays of the ONNX graph, from a torch network and back: factors folded in, for fewer operations in the graph.

The graph carries Z = scale * X, where scale is alpha for the exponential aggregations. Then the exponents of the
messages are the messages themselves, and no layer multiplies by alpha. Layer norm ignores the scale of its input.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import torch

from gsp_fd.common.errors import driver_error
from gsp_fd.model_format import ModelMetadata, NetworkConfig, weights_of, weights_prefix
from gsp_fd.training.network import PHI_SCALE, RelationalNetwork

Array = npt.NDArray[np.float32]
FIRST_MESSAGES = "first_messages"


def scale_of(config: NetworkConfig) -> float:
    """Factor between the embeddings of the graph and those of the network."""
    return 1.0 if config.aggregation == "max" else config.alpha


def graph_weights(network: RelationalNetwork, *, fp16: bool = False) -> dict[str, Array]:
    """All arrays of the graph by name; with ``fp16`` every matrix holds values that half precision can represent.

    ``first_messages`` [slots, d] are the messages of the first layer, one per relation and argument position: all
    embeddings are 0 there, so they do not depend on the state.
    """
    arrays = {name: _numpy(tensor) * factor for name, tensor, factor in _parts(network)}
    rounded = {
        name: np.ascontiguousarray(array.astype(np.float16) if fp16 and is_matrix(name) else array, dtype=np.float32)
        for name, array in arrays.items()
    }
    return rounded | {FIRST_MESSAGES: _first_messages(network, rounded)}


def network_of(model: bytes, metadata: ModelMetadata, file: str | None = None) -> RelationalNetwork:
    """The torch network of a model, to go on learning from; InputError if the model lacks weights of it."""
    network = RelationalNetwork(metadata.relations, metadata.network)
    arrays = weights_of(model, file)
    with torch.no_grad():
        for name, tensor, factor in _parts(network):
            if name not in arrays or arrays[name].size != tensor.numel() or not np.isfinite(arrays[name]).all():
                raise driver_error(f"the model has no weights {name} for a network of its sizes", file)
            tensor.copy_(torch.from_numpy(arrays[name].reshape(tensor.shape) / factor))
    return network


def _parts(network: RelationalNetwork) -> Iterator[tuple[str, torch.Tensor, float | Array]]:
    """(name, tensor as the graph has it, factor in the graph) of all weights."""
    config, scale = network.config, scale_of(network.config)
    for (relation, _), (w1, b1, w2) in zip(network.relations, network.relation_weights(), strict=True):
        name = weights_prefix(relation)
        yield from ((f"{name}.w1", w1, 1 / scale), (f"{name}.b1", b1, 1.0), (f"{name}.w2", w2, scale))
    yield from _mlp("update", network.update, 1 / scale, scale)
    gain, shift = network.norm.parameters()
    yield from (("norm.weight", gain, scale), ("norm.bias", shift, scale))
    pool_scale = scale
    if config.pool == "phi":
        yield from _mlp("phi", network.phi, 1 / scale, PHI_SCALE)
        pool_scale = 1.0
    if config.readout == "sum":
        yield from _mlp("readout", network.readout, 1 / scale, 1.0)
        yield from _mlp("value", network.value, 1 / pool_scale, 1.0)
    else:
        inputs = np.repeat(np.array([1 / scale, 1 / pool_scale], np.float32), config.d)[:, None]
        yield from _mlp("readout", network.readout, inputs, 1.0)


def is_matrix(name: str) -> bool:
    """Whether an array is one of the large ones that half precision shrinks."""
    return name.endswith((".w1", ".w2"))


def _numpy(tensor: torch.Tensor) -> Array:
    return tensor.detach().cpu().numpy().astype(np.float32)


def _mlp(
    name: str, module: torch.nn.Module, inputs: float | Array, outputs: float
) -> Iterator[tuple[str, torch.Tensor, float | Array]]:
    first, _, second = module.children()
    assert isinstance(first, torch.nn.Linear)
    assert isinstance(second, torch.nn.Linear)
    yield from ((f"{name}.w1", first.weight.T, inputs), (f"{name}.b1", first.bias, 1.0))
    yield f"{name}.w2", second.weight.T, outputs
    if second.bias is not None:
        yield f"{name}.b2", second.bias, outputs


def _first_messages(network: RelationalNetwork, arrays: dict[str, Array]) -> Array:
    rows = [np.zeros((0, network.config.d), np.float32)]
    for relation, _ in network.relations:
        name = weights_prefix(relation)
        bias = arrays[f"{name}.b1"]
        hidden = bias / (1 + np.exp(-bias))
        rows.append((hidden @ arrays[f"{name}.w2"]).reshape(-1, network.config.d))
    return np.concatenate(rows)
