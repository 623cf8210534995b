"""The written ONNX graph against torch, model metadata, and the commands gsp-export and gsp-models."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="the training extra is not installed")
torch = pytest.importorskip("torch", reason="the training extra is not installed")
pytest.importorskip("torch_geometric", reason="the training extra is not installed")
pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

from gsp_fd import models_cli  # noqa: E402
from gsp_fd.common.errors import InputError  # noqa: E402
from gsp_fd.common.exit_codes import ExitCode  # noqa: E402
from gsp_fd.export import cli, weights  # noqa: E402
from gsp_fd.export.graph import build_model  # noqa: E402
from gsp_fd.export.parity import cpu_session, largest_difference, random_batch, random_batches  # noqa: E402
from gsp_fd.export.weights import graph_weights  # noqa: E402
from gsp_fd.export.writer import FP16_TOLERANCE, TOLERANCE, export_model  # noqa: E402
from gsp_fd.model_format import (  # noqa: E402
    Aggregation,
    ModelMetadata,
    NetworkConfig,
    Pool,
    Readout,
    fit_problems,
    read_metadata,
    relations_of,
)
from gsp_fd.training.checkpoint import Checkpoint, save_checkpoint  # noqa: E402
from gsp_fd.training.network import RelationalNetwork  # noqa: E402

PREDICATES = (("on", 2), ("clear", 1), ("armempty", 0))
SCHEMAS = (("pick", 1), ("stack", 2))
CONFIG = NetworkConfig(d=16, layers=4)
AGGREGATIONS: tuple[Aggregation, ...] = ("max", "smoothmax", "logsumexp")
SHAPES: tuple[tuple[Pool, Readout, int, int], ...] = (
    ("phi", "concat", 0, 8),
    ("sum", "concat", 0, 2),
    ("mean", "sum", 24, 3),
    ("phi", "sum", 8, 1),
)


def metadata_of(config: NetworkConfig = CONFIG) -> ModelMetadata:
    relations = relations_of(PREDICATES, ["object", "block"], ["table"], SCHEMAS)
    return ModelMetadata(
        "blocks",
        PREDICATES,
        ("block",),
        ("table",),
        SCHEMAS,
        relations,
        network=config,
        training={"minutes": 2.5, "seed": 1},
        validation={"solved": 13, "of": 13},
        package_version="0.1",
    )


def network_of(metadata: ModelMetadata, seed: int = 0) -> RelationalNetwork:
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    network = RelationalNetwork(metadata.relations, metadata.network)
    with torch.no_grad():  # what training would have changed
        for name, parameter in network.named_parameters():
            if name.startswith("norm") or name.endswith("bias"):
                parameter.add_(0.3 * torch.randn_like(parameter))
    return network.eval()


def checkpoint_of(metadata: ModelMetadata) -> Checkpoint:
    batches = [random_batch(metadata.relations, np.random.default_rng(9), states=3)]
    return Checkpoint.of(network_of(metadata), metadata, batches=batches)


@pytest.mark.parametrize("fp16", [False, True])
@pytest.mark.parametrize(
    "config",
    [
        NetworkConfig(16, layers, hidden, aggregation, 8.0, pool, readout)
        for aggregation, (pool, readout, hidden, layers) in itertools.product(AGGREGATIONS, SHAPES)
    ],
    ids=lambda c: f"{c.aggregation}-{c.pool}-{c.readout}",
)
def test_graph_equals_torch(config: NetworkConfig, fp16: bool) -> None:
    metadata = metadata_of(config)
    network = network_of(metadata)
    model = build_model(metadata, graph_weights(network, fp16=fp16), fp16=fp16)
    onnx.checker.check_model(model, full_check=True)
    difference = largest_difference(cpu_session(model.SerializeToString()), network, random_batches(metadata.relations))
    assert difference <= (FP16_TOLERANCE if fp16 else TOLERANCE)
    read = weights.network_of(model.SerializeToString(), metadata).state_dict()
    for name, tensor in network.state_dict().items():
        torch.testing.assert_close(read[name], tensor, rtol=1e-3 if fp16 else 1e-6, atol=1e-6)


def test_weights_of_another_network_are_refused() -> None:
    model = build_model(metadata_of(), graph_weights(network_of(metadata_of()))).SerializeToString()
    with pytest.raises(InputError, match=r"x\.onnx: the model has no weights \S+ for a network of its sizes"):
        weights.network_of(model, metadata_of(replace(CONFIG, d=32)), "x.onnx")


def test_arities_up_to_eight() -> None:
    relations = tuple((f"r{arity}", arity) for arity in range(1, 9))
    metadata = replace(metadata_of(NetworkConfig(d=8, layers=2)), relations=relations)
    network = network_of(metadata)
    session = cpu_session(build_model(metadata, graph_weights(network)).SerializeToString())
    assert largest_difference(session, network, random_batches(relations)) <= TOLERANCE
    with pytest.raises(InputError, match=r"action@carry has arity 9"):
        relations_of([], [], [], [("carry", 8)])


def test_only_standard_operators_and_one_loop() -> None:
    metadata = metadata_of()
    model = build_model(metadata, graph_weights(network_of(metadata)))
    assert [(entry.domain, entry.version) for entry in model.opset_import] == [("", 18)]
    body = [
        attribute.g
        for node in model.graph.node
        for attribute in node.attribute
        if attribute.type == onnx.AttributeProto.GRAPH
    ]
    assert len(body) == 1
    assert not body[0].initializer
    assert all(node.domain == "" for graph in (model.graph, body[0]) for node in graph.node)


@pytest.mark.parametrize("aggregation", ["max", "smoothmax", "logsumexp"])
def test_extreme_weights_stay_finite(aggregation: Aggregation) -> None:
    """Messages far beyond the clamp must neither overflow nor divide by zero."""
    metadata = metadata_of(replace(CONFIG, aggregation=aggregation))
    network = network_of(metadata)
    with torch.no_grad():
        for stack in network.stacks().values():
            stack.w2.mul_(1000)
    session = cpu_session(build_model(metadata, graph_weights(network)).SerializeToString())
    assert largest_difference(session, network, random_batches(metadata.relations)) <= 1e-2


def test_half_precision_halves_the_file(tmp_path: Path) -> None:
    metadata = metadata_of(NetworkConfig())
    checkpoint = checkpoint_of(metadata)
    full = export_model(checkpoint, tmp_path / "full.onnx")
    half = export_model(checkpoint, tmp_path / "half.onnx", fp16=True)
    assert half.size < 0.6 * full.size
    assert full.random_difference <= TOLERANCE < half.random_difference <= FP16_TOLERANCE
    assert read_metadata(tmp_path / "half.onnx").fp16
    assert not read_metadata(tmp_path / "full.onnx").fp16


def test_a_model_that_differs_is_not_written(tmp_path: Path) -> None:
    checkpoint = checkpoint_of(metadata_of())
    checkpoint.weights["readout.0.weight"][:] = np.nan
    path = tmp_path / "model.onnx"
    path.write_text("the old one")
    with pytest.raises(InputError, match="differs from torch by inf"):
        export_model(checkpoint, path)
    assert path.read_text() == "the old one"
    assert len(list(tmp_path.iterdir())) == 1


def test_command_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    metadata = metadata_of()
    source, target = str(tmp_path / "best.npz"), str(tmp_path / "blocks.onnx")
    save_checkpoint(source, checkpoint_of(metadata))
    assert cli.main([source, target]) == ExitCode.SUCCESS
    assert "on 3 real states: " in capsys.readouterr().out
    assert models_cli.main(["show", target]) == ExitCode.SUCCESS
    shown = capsys.readouterr().out
    for text in ("on/2, clear/1, armempty/0", "pick/1, stack/2", "4 layers of width 16", "solved 13, of 13"):
        assert text in shown
    assert "goal split, without the relaxed plan of the state" in shown
    assert "goal split, with the relaxed plan of the state" in models_cli.describe(replace(metadata, encoder_version=2))
    assert models_cli.main(["show", "--json", target]) == ExitCode.SUCCESS
    shown_json = json.loads(capsys.readouterr().out)
    assert shown_json["relations"] == [list(pair) for pair in metadata.relations]
    assert shown_json["network"]["aggregation"] == "max"
    assert cli.main([str(tmp_path / "none.npz"), target]) == ExitCode.DRIVER_INPUT_ERROR
    assert models_cli.main(["show", source]) == ExitCode.SEARCH_INPUT_ERROR
    assert cli.main([source, str(tmp_path / "nowhere" / "model.onnx")]) == ExitCode.DRIVER_INPUT_ERROR
    errors = capsys.readouterr().err
    for text in ("cannot read the checkpoint", "not an ONNX model", "cannot write the model"):
        assert text in errors
    with np.load(source) as data:
        damaged = dict(data)
    damaged["batches/0/relations/0"] = np.full_like(damaged["batches/0/relations/0"], -100_000)
    np.savez(source, **damaged)
    assert cli.main([source, target]) == ExitCode.DRIVER_INPUT_ERROR
    assert "not a gsp-fd checkpoint, or a damaged one" in capsys.readouterr().err
    assert "Traceback" not in errors


def test_metadata_round_trip(tmp_path: Path) -> None:
    metadata = metadata_of()
    assert ModelMetadata.from_strings(metadata.to_strings() | {"author": "someone else"}) == metadata
    path = tmp_path / "model.onnx"
    export_model(checkpoint_of(metadata), path)
    assert read_metadata(path) == metadata
    assert {entry.key: entry.value for entry in onnx.load(path).metadata_props} == metadata.to_strings()


def test_models_that_still_say_their_norm() -> None:
    """As older versions wrote them: layer norm is the only one there is."""
    metadata = metadata_of()
    strings = metadata.to_strings()
    network = json.loads(strings["gsp_fd.network"])
    older = {name: strings | {"gsp_fd.network": json.dumps(network | {"norm": name})} for name in ("post", "none")}
    assert ModelMetadata.from_strings(older["post"]) == metadata
    with pytest.raises(InputError, match=r"the network has norm 'none'; .* only networks with layer norm") as caught:
        ModelMetadata.from_strings(older["none"], "old.onnx")
    assert caught.value.file == "old.onnx"


def test_unreadable_models(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    with pytest.raises(InputError, match="cannot read the model: No such file"):
        read_metadata(path)
    export_model(checkpoint_of(metadata_of(NetworkConfig(d=8, layers=1))), path)
    whole = path.read_bytes()
    for length in [0, 1, 10, *range(100, len(whole) - 1, len(whole) // 60), len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(InputError, match=r"truncated|damaged|no gsp-fd model"):
            read_metadata(path)
    path.write_text("(define (domain blocks))")
    with pytest.raises(InputError, match="not an ONNX model") as caught:
        read_metadata(path)
    assert caught.value.exit_code == ExitCode.SEARCH_INPUT_ERROR
    assert caught.value.file == str(path)
    other = onnx.helper.make_model(onnx.helper.make_graph([], "other", [], []))
    path.write_bytes(other.SerializeToString())
    with pytest.raises(InputError, match="no gsp-fd model"):
        read_metadata(path)
    strings = metadata_of().to_strings()
    with pytest.raises(InputError, match="format version 99"):
        ModelMetadata.from_strings(strings | {"gsp_fd.format_version": "99"})
    with pytest.raises(InputError, match=r"version 4 of the encoder; this program knows 1, 2, 3: .* train it again"):
        ModelMetadata.from_strings(strings | {"gsp_fd.encoder_version": "4"})
    for key, value in (("relations", "[1]"), ("network", '{"d": 0}'), ("predicates", "{"), ("network", '{"q": 1}')):
        with pytest.raises(InputError, match=r"damaged|must be"):
            ModelMetadata.from_strings(strings | {f"gsp_fd.{key}": value})


def test_fit_names_what_does_not_fit() -> None:
    metadata = metadata_of()
    assert fit_problems(metadata, PREDICATES, SCHEMAS, ["object", "block"], ["table"]) == []
    problems = fit_problems(
        metadata,
        [("on", 3), ("clear", 1), ("holding", 1)],
        [("pick", 1)],
        ["block"],
        [],
        negative_goals=["on", "on"],
    )
    assert problems == [
        "predicate on has 3 arguments in the domain and 2 in the model",
        "predicate holding of the domain is unknown to the model",
        "predicate armempty of the model is unknown to the domain",
        "action schema stack of the model is unknown to the domain",
        "constant table of the model is unknown to the domain",
        "the problem has a negative goal of predicate on; the model was trained without negative goals",
    ]


def test_relation_order() -> None:
    assert relations_of(PREDICATES, ["object", "block"], ["table"], SCHEMAS, fluents=["on"], goal_split=True) == (
        ("on", 2), ("clear", 1), ("armempty", 1), ("on@goal", 2), ("on@goal_true", 2),
        ("type@block", 1), ("const@table", 1), ("action@pick", 2), ("action@stack", 3),
    )  # fmt: skip
    names = [name for name, _ in relations_of([("p", 1)], [], [], [], goal_split=False, negative_goals=True)]
    assert names == ["p", "p@goal", "p@not_goal"]
