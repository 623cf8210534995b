"""Models that no training would make."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import onnx
import tasks
from onnx import TensorProto, helper
from random_models import random_model

from gsp_fd.model_format import KEY_PREFIX, OUTPUT


def with_metadata(source: Path, target: Path, **values: str) -> Path:
    """A model with other JSON in its metadata."""
    model = onnx.load(str(source))
    for entry in model.metadata_props:
        entry.value = values.pop(entry.key.removeprefix(KEY_PREFIX), entry.value)
    assert not values
    target.write_bytes(model.SerializeToString())
    return target


def with_network(source: Path, target: Path, **sizes: Any) -> Path:
    """A model that announces other sizes of its network."""
    model = onnx.load(str(source))
    network = next(json.loads(e.value) for e in model.metadata_props if e.key == f"{KEY_PREFIX}network")
    return with_metadata(source, target, network=json.dumps({**network, **sizes}))


def endless_model(target: Path) -> Path:
    """A model for the towers that ONNX Runtime takes, and that loops 2 to the power of 62 times before it answers."""
    random_model(tasks.load(tasks.TOWER_DOMAIN, tasks.TOWER), target, aggregation="smoothmax")
    model = onnx.load(str(target))
    for node in model.graph.node:
        node.output[:] = ["inner" if name == OUTPUT else name for name in node.output]
    body = helper.make_graph(
        [helper.make_node("Identity", ["going"], ["on"]), helper.make_node("Identity", ["value"], ["next"])],
        "body",
        [
            helper.make_tensor_value_info("round", TensorProto.INT64, []),
            helper.make_tensor_value_info("going", TensorProto.BOOL, []),
            helper.make_tensor_value_info("value", TensorProto.FLOAT, None),
        ],
        [
            helper.make_tensor_value_info("on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("next", TensorProto.FLOAT, None),
        ],
    )
    model.graph.initializer.append(helper.make_tensor("rounds", TensorProto.INT64, [], [2**62]))
    model.graph.initializer.append(helper.make_tensor("yes", TensorProto.BOOL, [], [True]))
    model.graph.node.append(helper.make_node("Loop", ["rounds", "yes", "inner"], [OUTPUT], body=body))
    target.write_bytes(model.SerializeToString())
    return target
