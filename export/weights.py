"""The arrays of the ONNX graph, from a torch network: factors folded in, so that the graph has fewer operations.

The graph carries Z = scale * X, where scale is alpha for the exponential aggregations. Then the exponents of the
messages are the messages themselves, and no layer multiplies by alpha. Layer norm ignores the scale of its input.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch

from gsp_fd.model_format import NetworkConfig, weights_prefix
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
    config, scale = network.config, scale_of(network.config)
    arrays: dict[str, npt.NDArray[np.floating]] = {}
    with torch.no_grad():
        for (relation, _), (w1, b1, w2) in zip(network.relations, network.relation_weights(), strict=True):
            name = weights_prefix(relation)
            arrays |= {f"{name}.w1": _numpy(w1) / scale, f"{name}.b1": _numpy(b1), f"{name}.w2": _numpy(w2) * scale}
        arrays |= _mlp("update", network.update, 1 / scale, scale)
        gain, shift = network.norm.parameters()
        arrays |= {"norm.weight": _numpy(gain) * scale, "norm.bias": _numpy(shift) * scale}
        pool_scale = scale
        if config.pool == "phi":
            arrays |= _mlp("phi", network.phi, 1 / scale, PHI_SCALE)
            pool_scale = 1.0
        if config.readout == "sum":
            arrays |= _mlp("readout", network.readout, 1 / scale, 1.0)
            arrays |= _mlp("value", network.value, 1 / pool_scale, 1.0)
        else:
            inputs = np.repeat(np.array([1 / scale, 1 / pool_scale], np.float32), config.d)[:, None]
            arrays |= _mlp("readout", network.readout, inputs, 1.0)
    rounded = {
        name: np.ascontiguousarray(array.astype(np.float16) if fp16 and is_matrix(name) else array, dtype=np.float32)
        for name, array in arrays.items()
    }
    return rounded | {FIRST_MESSAGES: _first_messages(network, rounded)}


def is_matrix(name: str) -> bool:
    """Whether an array is one of the large ones that half precision shrinks."""
    return name.endswith((".w1", ".w2"))


def _numpy(tensor: torch.Tensor) -> Array:
    return tensor.detach().cpu().numpy().astype(np.float32)


def _mlp(
    name: str, module: torch.nn.Module, inputs: float | Array, outputs: float
) -> dict[str, npt.NDArray[np.floating]]:
    first, _, second = module.children()
    assert isinstance(first, torch.nn.Linear)
    assert isinstance(second, torch.nn.Linear)
    arrays = {
        f"{name}.w1": _numpy(first.weight).T * inputs,
        f"{name}.b1": _numpy(first.bias),
        f"{name}.w2": _numpy(second.weight).T * outputs,
    }
    if second.bias is not None:
        arrays[f"{name}.b2"] = _numpy(second.bias) * outputs
    return arrays


def _first_messages(network: RelationalNetwork, arrays: dict[str, Array]) -> Array:
    rows = [np.zeros((0, network.config.d), np.float32)]
    for relation, _ in network.relations:
        name = weights_prefix(relation)
        bias = arrays[f"{name}.b1"]
        hidden = bias / (1 + np.exp(-bias))
        rows.append((hidden @ arrays[f"{name}.w2"]).reshape(-1, network.config.d))
    return np.concatenate(rows)
