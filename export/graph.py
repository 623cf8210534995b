"""The ONNX graph of the relational GNN, written with ``onnx.helper`` rather than traced.

Standard operators only. One ``Loop`` holds the layers, whose weights are shared; a layer makes one row of messages
per argument of an atom and brings them to their nodes with one or two row-wise ``ScatterND``. The first layer, where
all embeddings are 0, stands before the loop and looks its messages up in a table. Everything is dynamic: the number
of states, nodes, actions, and atoms of each relation, which may be 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

from gsp_fd.export.weights import FIRST_MESSAGES, Array, is_matrix, scale_of
from gsp_fd.model_format import (
    ACTION_NODE,
    ACTION_STATE,
    EXPONENT_LIMIT,
    HALF_SUFFIX,
    NODE_STATE,
    OUTPUT,
    STATE_SIZES,
    ModelMetadata,
    relation_input,
    weights_prefix,
)

OPSET = 18
IR_VERSION = 9
LAYER_NORM_EPSILON = 1e-5
LOWEST = float(np.finfo(np.float32).min)


class Nodes:
    """A growing list of nodes; shares its constants and its counter of names with the bodies of its loops."""

    def __init__(self, outer: Nodes | None = None) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = outer.constants if outer else {}
        self.names: list[int] = outer.names if outer else [0]

    def op(self, kind: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """Appends an operator with one output and returns the output's name."""
        self.names[0] += 1
        name = f"{kind}_{self.names[0]}"
        output = output or name
        self.nodes.append(helper.make_node(kind, list(inputs), [output], name=name, **attributes))
        return output

    def constant(self, value: npt.ArrayLike, dtype: npt.DTypeLike = np.int64) -> str:
        """Name of a constant; equal constants share one."""
        array = np.asarray(value, dtype=dtype)
        name = f"{array.dtype}{array.shape}{array.tolist()}"
        self.constants.setdefault(name, numpy_helper.from_array(array, name))
        return name

    def filled(self, shape: str, value: float) -> str:
        """A float tensor of a run-time shape."""
        tensor = numpy_helper.from_array(np.array([value], np.float32))
        return self.op("ConstantOfShape", shape, value=tensor)

    def mlp(self, name: str, x: str, *addend: str) -> str:
        """MLP with SiLU (which ONNX Runtime fuses from Sigmoid and Mul), plus a bias or a residual."""
        hidden = self.op("Gemm", x, f"{name}.w1", f"{name}.b1")
        hidden = self.op("Mul", hidden, self.op("Sigmoid", hidden))
        return self.op("Gemm", hidden, f"{name}.w2", *addend)


class GraphWriter:
    """Writes the graph of one model."""

    def __init__(self, metadata: ModelMetadata) -> None:
        self.relations = metadata.relations
        self.config = metadata.network
        self.main = Nodes()
        self.index = self.targets = self.node_shape = self.base = self.zeros = ""
        self.arguments: list[str] = []

    def write(self) -> Nodes:
        """All nodes, from the inputs to Q."""
        main = self.main
        self._prepare()
        z = self._first_layer()
        if self.config.layers > 1:
            z = self._loop(z)
        source = main.mlp("phi", z, "phi.b2") if self.config.pool == "phi" else z
        shape = main.op("Concat", main.op("Shape", STATE_SIZES), main.constant([self.config.d]), axis=0)
        pooled = main.op("ScatterND", main.filled(shape, 0.0), self._column(NODE_STATE), source, reduction="add")
        if self.config.pool == "mean":
            pooled = main.op("Div", pooled, self._column(STATE_SIZES))
        actions = main.op("Gather", z, ACTION_NODE, axis=0)
        if self.config.readout == "sum":
            of_states = main.op("Gather", main.mlp("value", pooled, "value.b2"), ACTION_STATE, axis=0)
            values = main.op("Add", main.mlp("readout", actions, "readout.b2"), of_states)
        else:
            context = main.op("Gather", pooled, ACTION_STATE, axis=0)
            values = main.mlp("readout", main.op("Concat", actions, context, axis=1), "readout.b2")
        main.op("Reshape", values, main.constant([-1]), output=OUTPUT)
        return main

    def _column(self, name: str) -> str:
        return self.main.op("Unsqueeze", name, self.main.constant([1]))

    def _prepare(self) -> None:
        """What all layers share: flat indices, zeros, and the value a node's aggregate starts from."""
        main, flat = self.main, self.main.constant([-1])
        self.arguments = [main.op("Reshape", relation_input(name), flat) for name, _ in self.relations]
        self.index = main.op("Concat", *self.arguments, axis=0)
        self.targets = self._column(self.index)
        nodes = main.op("Shape", NODE_STATE)
        self.node_shape = main.op("Concat", nodes, main.constant([self.config.d]), axis=0)
        self.zeros = main.filled(self.node_shape, 0.0)
        # A node without messages aggregates to 0: its sum starts from 1 (0 / 1 and log 1), its maximum from 0.
        is_max = self.config.aggregation == "max"
        lonely, reached = (0.0, LOWEST) if is_max else (1.0, 0.0)
        updates = main.filled(main.op("Shape", self.index), reached)
        start = main.op("ScatterND", main.filled(nodes, lonely), self.targets, updates)
        self.base = main.op("Expand", self._column(start), self.node_shape)

    def _first_layer(self) -> str:
        main = self.main
        slots, first = [], 0
        for name, arity in self.relations:
            numbers = main.constant([list(range(first, first + arity))])
            first += arity
            numbers = main.op("Expand", numbers, main.op("Shape", relation_input(name)))
            slots.append(main.op("Reshape", numbers, main.constant([-1])))
        slot = main.op("Concat", *slots, axis=0)
        terms = [main.op("Gather", term, slot, axis=0) for term in self._terms(main, FIRST_MESSAGES)]
        return self._update(main, self.zeros, self._aggregate(main, terms))

    def _loop(self, z: str) -> str:
        """The other layers, as a Loop that carries Z [N, d]."""
        body, d = Nodes(self.main), self.config.d
        messages = []
        for (name, arity), index in zip(self.relations, self.arguments, strict=True):
            atoms = body.op("Gather", "Z", index, axis=0)
            if arity > 1:
                atoms = body.op("Reshape", atoms, body.constant([-1, arity * d]))
            message = body.mlp(weights_prefix(name), atoms)
            messages.append(body.op("Reshape", message, body.constant([-1, d])) if arity > 1 else message)
        terms = self._terms(body, body.op("Concat", *messages, axis=0))
        self._update(body, "Z", self._aggregate(body, terms), output="Z_next")
        body.op("Identity", "go_on", output="go_on_next")
        value = helper.make_tensor_value_info
        graph = helper.make_graph(
            body.nodes,
            "layer",
            [
                value("layer", TensorProto.INT64, []),
                value("go_on", TensorProto.BOOL, []),
                value("Z", TensorProto.FLOAT, ["nodes", d]),
            ],
            [value("go_on_next", TensorProto.BOOL, []), value("Z_next", TensorProto.FLOAT, ["nodes", d])],
        )
        count = self.main.constant(self.config.layers - 1)
        return self.main.op("Loop", count, self.main.constant(True, np.bool_), z, body=graph)

    def _terms(self, nodes: Nodes, messages: str) -> list[str]:
        """The rows to scatter for these messages: themselves, exp, or exp and its product with them."""
        if self.config.aggregation == "max":
            return [messages]
        limits = nodes.constant(-EXPONENT_LIMIT, np.float32), nodes.constant(EXPONENT_LIMIT, np.float32)
        weights = nodes.op("Exp", nodes.op("Clip", messages, *limits))
        if self.config.aggregation == "logsumexp":
            return [weights]
        return [weights, nodes.op("Mul", weights, messages)]

    def _aggregate(self, nodes: Nodes, terms: Sequence[str]) -> str:
        reduction = "max" if self.config.aggregation == "max" else "add"
        first = nodes.op("ScatterND", self.base, self.targets, terms[0], reduction=reduction)
        if self.config.aggregation == "max":
            return first
        if self.config.aggregation == "logsumexp":
            return nodes.op("Log", first)
        return nodes.op("Div", nodes.op("ScatterND", self.zeros, self.targets, terms[1], reduction="add"), first)

    def _update(self, nodes: Nodes, z: str, aggregated: str, output: str | None = None) -> str:
        updated = nodes.mlp("update", nodes.op("Concat", z, aggregated, axis=1), z)
        epsilon = LAYER_NORM_EPSILON * scale_of(self.config) ** 2
        return nodes.op(
            "LayerNormalization", updated, "norm.weight", "norm.bias", output=output, axis=-1, epsilon=epsilon
        )


def build_model(metadata: ModelMetadata, weights: Mapping[str, Array], *, fp16: bool = False) -> onnx.ModelProto:
    """The ONNX model of these weights (see :func:`gsp_fd.export.weights.graph_weights`).

    fp16: matrices are stored in half precision and cast when the session loads.
    """
    main = GraphWriter(metadata).write()
    prologue = Nodes(main)
    for name, array in weights.items():
        half = fp16 and is_matrix(name)
        stored = name + HALF_SUFFIX if half else name
        main.constants[stored] = numpy_helper.from_array(array.astype(np.float16) if half else array, stored)
        if half:
            prologue.op("Cast", stored, output=name, to=TensorProto.FLOAT)
    output = helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, ["actions"])
    nodes = prologue.nodes + main.nodes
    graph = helper.make_graph(nodes, "gsp_fd", _inputs(metadata), [output], list(main.constants.values()))
    model: onnx.ModelProto = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="gsp-fd",
        producer_version=metadata.package_version,
    )
    helper.set_model_props(model, metadata.to_strings())
    return model


def _inputs(metadata: ModelMetadata) -> list[onnx.ValueInfoProto]:
    value, integer = helper.make_tensor_value_info, TensorProto.INT64
    relations = [value(relation_input(name), integer, [f"atoms:{name}", arity]) for name, arity in metadata.relations]
    return [
        *relations,
        value(NODE_STATE, integer, ["nodes"]),
        value(ACTION_NODE, integer, ["actions"]),
        value(ACTION_STATE, integer, ["actions"]),
        value(STATE_SIZES, TensorProto.FLOAT, ["states"]),
    ]
