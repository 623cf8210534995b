"""The torch network against NumPy written from the paper's equations, the fused kernel against torch, checkpoints."""

from __future__ import annotations

import copy
import io
import itertools
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

torch = pytest.importorskip("torch", reason="the training extra is not installed")
pytest.importorskip("torch_geometric", reason="the training extra is not installed")
pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from gsp_fd.common.errors import InputError  # noqa: E402
from gsp_fd.export.parity import random_batch, random_batches  # noqa: E402
from gsp_fd.model_format import Aggregation, EncodedBatch, ModelMetadata, NetworkConfig, Pool, Readout  # noqa: E402
from gsp_fd.training import fused  # noqa: E402
from gsp_fd.training.checkpoint import Checkpoint, load_checkpoint, save_checkpoint  # noqa: E402
from gsp_fd.training.network import GraphBatch, RelationalNetwork, aggregate  # noqa: E402

RELATIONS = (("on", 2), ("clear", 1), ("on@goal", 2), ("road", 3), ("empty", 1), ("wide", 5), ("action@move", 3))
AGGREGATIONS: tuple[Aggregation, ...] = ("max", "smoothmax", "logsumexp")
SHAPES: tuple[tuple[Pool, Readout, int], ...] = (
    ("phi", "sum", 0),
    ("sum", "concat", 16),
    ("mean", "concat", 0),
)
CONFIGS = [
    NetworkConfig(8, 3, hidden, aggregation, 8.0, pool, readout)
    for aggregation, (pool, readout, hidden) in itertools.product(AGGREGATIONS, SHAPES)
]
Array = npt.NDArray[np.float64]


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)


def numpy_q(network: RelationalNetwork, batch: EncodedBatch) -> Array:
    """Q(s, a) in float64, node by node and atom by atom, as the paper writes it."""
    config = network.config
    weights = {name: tensor.numpy().astype(np.float64) for name, tensor in network.state_dict().items()}

    def mlp(name: str, x: Array) -> Array:
        hidden = weights[f"{name}.0.weight"] @ x + weights[f"{name}.0.bias"]
        bias = weights.get(f"{name}.2.bias", 0.0)
        return np.asarray(weights[f"{name}.2.weight"] @ (hidden / (1 + np.exp(-hidden))) + bias)

    def comb(relation: int, x: Array) -> Array:
        arity, slot = network.slots[relation]
        w1, b1, w2 = (weights[f"messages.{arity}.{part}"][slot] for part in ("w1", "b1", "w2"))
        hidden = x @ w1 + b1
        return np.asarray((hidden / (1 + np.exp(-hidden))) @ w2)

    def agg(messages: Sequence[Array]) -> Array:
        if not messages:
            return np.zeros(config.d)
        m = np.stack(messages)
        if config.aggregation == "max":
            return np.asarray(m.max(0))
        e = np.exp(config.alpha * m)
        smooth = np.log(e.sum(0)) / config.alpha if config.aggregation == "logsumexp" else (e * m).sum(0) / e.sum(0)
        return np.asarray(smooth)

    x = np.zeros((len(batch.node_state), config.d))
    for _ in range(config.layers):
        inbox: list[list[Array]] = [[] for _ in x]
        for relation, atoms in enumerate(batch.relations):
            for atom in atoms:
                for node, message in zip(atom, comb(relation, x[atom].ravel()).reshape(-1, config.d), strict=True):
                    inbox[node].append(message)
        x = np.stack([x[o] + mlp("update", np.concatenate([x[o], agg(inbox[o])])) for o in range(len(x))])
        x = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)
        x = x * weights["norm.weight"] + weights["norm.bias"]
    values = []
    for node, state in zip(batch.action_node, batch.action_state, strict=True):
        members = x[batch.node_state == state]
        parts = np.stack([0.3 * mlp("phi", o) for o in members]) if config.pool == "phi" else members
        pooled = parts.mean(0) if config.pool == "mean" else parts.sum(0)
        if config.readout == "concat":
            values.append(mlp("readout", np.concatenate([x[node], pooled]))[0])
        else:
            values.append((mlp("readout", x[node]) + mlp("value", pooled))[0])
    return np.array(values)


def q_of(network: RelationalNetwork, batch: EncodedBatch) -> npt.NDArray[np.float32]:
    with torch.inference_mode():
        values: npt.NDArray[np.float32] = network(GraphBatch.from_encoded(batch)).numpy()
    return values


def needs_kernel() -> None:
    if fused.library() is None:
        pytest.skip("the fused kernel was not built (no libgsp_kernel, and GSP_KERNEL names none)")


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: f"{c.aggregation}-{c.pool}")
def test_equals_the_equations(config: NetworkConfig) -> None:
    network = RelationalNetwork(RELATIONS, config, kernel="torch")
    for parameter in network.parameters():  # layer norm starts as the identity, which would hide a mistake
        torch.nn.init.normal_(parameter, std=0.3)
    for batch in random_batches(RELATIONS)[:3]:
        expected = numpy_q(network, batch)
        np.testing.assert_allclose(q_of(network, batch), expected, rtol=1e-4, atol=1e-5)


def assert_kernel_equals_torch(kernel: RelationalNetwork, encoded: EncodedBatch) -> None:
    """Values and gradients of all parameters."""
    reference = copy.deepcopy(kernel)
    reference.kernel = "torch"
    batch = GraphBatch.from_encoded(encoded)
    results = []
    for network in (kernel, reference):
        network.zero_grad()
        q = network(batch)
        (q * torch.linspace(-1, 2, len(q))).sum().backward()
        results.append((q.detach(), {name: p.grad for name, p in network.named_parameters()}))
    torch.testing.assert_close(results[0][0], results[1][0], rtol=1e-5, atol=1e-5)
    for name, expected in results[1][1].items():
        actual = results[0][1][name]
        if expected is None:  # torch never saw this arity; the kernel says zero
            assert actual is None or not actual.any(), name
            continue
        assert actual is not None, name
        scale = max(1.0, float(expected.abs().max()))
        torch.testing.assert_close(actual / scale, expected / scale, rtol=1e-5, atol=1e-5, msg=name)


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: f"{c.aggregation}-{c.pool}")
def test_fused_kernel_equals_torch(config: NetworkConfig) -> None:
    needs_kernel()
    network = RelationalNetwork(RELATIONS, config)
    for encoded in random_batches(RELATIONS):
        assert_kernel_equals_torch(network, encoded)


@pytest.mark.parametrize("lanes", [1, 8, 16])
@pytest.mark.parametrize("aggregation", ["max", "smoothmax", "logsumexp"])
def test_fused_kernel_with_all_instruction_sets(
    monkeypatch: pytest.MonkeyPatch, aggregation: Aggregation, lanes: int
) -> None:
    """Where the processor lacks one, the next smaller takes its place. The widest MLP has three vectors of 16."""
    needs_kernel()
    monkeypatch.setattr(fused, "MOST_LANES", lanes)
    network = RelationalNetwork(RELATIONS, NetworkConfig(d=16, layers=3, message_hidden=48, aggregation=aggregation))
    for parameter in network.parameters():  # layer norm starts as the identity, which would hide a mistake
        torch.nn.init.normal_(parameter, std=0.3)
    assert_kernel_equals_torch(network, random_batch(RELATIONS, np.random.default_rng(7), states=20))


@pytest.mark.parametrize("aggregation", ["max", "smoothmax"])
def test_fused_kernel_with_nodes_that_cannot_be_told_apart(aggregation: Aggregation) -> None:
    """Nodes without links, in no, one or two unary relations; the kernel computes one of each kind."""
    needs_kernel()
    relations = (("wall", 1), ("cell", 1), ("next", 2), ("action@move", 2))
    walls, cells = np.arange(3, 25), np.arange(11, 40)
    atoms = (walls[:, None], cells[:, None], np.array([[0, 1], [1, 2], [2, 30]]), np.array([[41, 0], [42, 30]]))
    batch = EncodedBatch(
        tuple(atoms), np.repeat([0, 1], [43, 5]), np.array([41, 42]), np.array([0, 0]), np.array([43, 5], np.float32)
    )
    network = RelationalNetwork(relations, NetworkConfig(d=16, layers=3, aggregation=aggregation))
    assert_kernel_equals_torch(network, batch)


def test_fused_kernel_forgets_what_backward_has_read() -> None:
    needs_kernel()
    network = RelationalNetwork(RELATIONS, NetworkConfig(d=8, layers=2))
    total = network(GraphBatch.from_encoded(random_batches(RELATIONS)[2])).sum()
    total.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="second time"):
        total.backward()


@pytest.mark.parametrize("aggregation", ["smoothmax", "logsumexp"])
def test_fused_kernel_equals_torch_beyond_the_clamp(aggregation: Aggregation) -> None:
    needs_kernel()
    config = NetworkConfig(d=8, layers=2, aggregation=aggregation, pool="mean")
    kernel = RelationalNetwork((("p", 2),), config)
    with torch.no_grad():
        kernel.stacks()[2].w2.mul_(60)
        kernel.stacks()[2].b1.mul_(6)
    reference = copy.deepcopy(kernel)
    reference.kernel = "torch"
    batch = GraphBatch.from_encoded(random_batch((("p", 2),), np.random.default_rng(5), states=8))
    values = [network(batch) for network in (kernel, reference)]
    assert torch.isfinite(values[0]).all()
    torch.testing.assert_close(values[0], values[1], rtol=1e-4, atol=1e-4)
    for value in values:
        value.sum().backward()
    expected, actual = reference.stacks()[2].w2.grad, kernel.stacks()[2].w2.grad
    assert expected is not None
    assert actual is not None
    scale = expected.abs().max()
    torch.testing.assert_close(actual / scale, expected / scale, rtol=1e-4, atol=1e-4)


def test_fused_kernel_takes_other_integers_and_refuses_nodes_that_are_not_there() -> None:
    needs_kernel()
    network = RelationalNetwork(RELATIONS, NetworkConfig(d=8, layers=2))
    batch = random_batches(RELATIONS)[2]
    narrow = replace(batch, relations=tuple(atoms.astype(np.int32) for atoms in batch.relations))
    np.testing.assert_array_equal(q_of(network, narrow), q_of(network, batch))
    for shift in (len(batch.node_state), -100_000):
        broken = replace(batch, relations=(batch.relations[0] + shift, *batch.relations[1:]))
        with pytest.raises(IndexError, match=r"an atom refers to node -?\d+ of \d+"):
            q_of(network, broken)


def test_width_that_the_kernel_cannot_take() -> None:
    config = NetworkConfig(d=5, layers=2)
    network = RelationalNetwork(RELATIONS, config)
    batch = random_batches(RELATIONS)[2]
    np.testing.assert_allclose(q_of(network, batch), numpy_q(network, batch), rtol=1e-4, atol=1e-5)


@settings(max_examples=30, deadline=None)
@given(count=st.integers(1, 2000), value=st.floats(-3, 3))
def test_only_logsumexp_drifts_with_the_number_of_messages(count: int, value: float) -> None:
    messages, index = torch.full((count, 1), value), torch.zeros(count, dtype=torch.int64)
    for aggregation, drift in (("max", 0.0), ("smoothmax", 0.0), ("logsumexp", np.log(count) / 8)):
        config = NetworkConfig(aggregation=aggregation)  # type: ignore[arg-type]
        result = aggregate(messages, index, 2, config)
        assert result[0, 0].item() == pytest.approx(value + drift, abs=1e-4)
        assert result[1, 0].item() == 0.0


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), aggregation=st.sampled_from(["max", "smoothmax", "logsumexp"]))
def test_equivariance(seed: int, aggregation: str) -> None:
    """Renaming nodes and reordering atoms and actions permutes Q and nothing else."""
    rng = np.random.default_rng(seed)
    network = RelationalNetwork(RELATIONS, NetworkConfig(d=8, layers=3, aggregation=aggregation))  # type: ignore[arg-type]
    batch = random_batch(RELATIONS, rng, states=1)
    nodes, actions = rng.permutation(len(batch.node_state)), rng.permutation(len(batch.action_node))
    renamed = EncodedBatch(
        tuple(nodes[rng.permutation(atoms)] for atoms in batch.relations),
        batch.node_state,
        nodes[batch.action_node][actions],
        batch.action_state[actions],
        batch.state_sizes,
    )
    np.testing.assert_allclose(q_of(network, renamed), q_of(network, batch)[actions], rtol=1e-4, atol=1e-5)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_states_of_a_batch_do_not_touch(seed: int) -> None:
    rng = np.random.default_rng(seed)
    network = RelationalNetwork(RELATIONS, NetworkConfig(d=8, layers=3))
    singles = [random_batch(RELATIONS, rng, states=1, objects=int(rng.integers(1, 9))) for _ in range(3)]
    offsets = np.cumsum([0, *(len(single.node_state) for single in singles)])
    joined = EncodedBatch(
        tuple(
            np.concatenate([single.relations[r] + offset for single, offset in zip(singles, offsets[:-1], strict=True)])
            for r in range(len(RELATIONS))
        ),
        np.concatenate([single.node_state + i for i, single in enumerate(singles)]),
        np.concatenate([single.action_node + o for single, o in zip(singles, offsets[:-1], strict=True)]),
        np.concatenate([single.action_state + i for i, single in enumerate(singles)]),
        np.concatenate([single.state_sizes for single in singles]),
    )
    expected = np.concatenate([q_of(network, single) for single in singles])
    np.testing.assert_allclose(q_of(network, joined), expected, rtol=1e-4, atol=1e-5)


def test_parameter_groups_are_a_partition() -> None:
    network = RelationalNetwork(RELATIONS)
    gnn, readout = network.parameter_groups()
    assert len(readout) == 8
    assert {id(p) for p in gnn} | {id(p) for p in readout} == {id(p) for p in network.parameters()}
    assert len(gnn) + len(readout) == len(list(network.parameters()))


def metadata_of(config: NetworkConfig) -> ModelMetadata:
    predicates = (("on", 2), ("clear", 1), ("road", 3), ("empty", 1), ("wide", 5))
    return ModelMetadata("toy", predicates, (), (), (("move", 2),), RELATIONS, network=config)


def test_checkpoint_round_trip(tmp_path: Path) -> None:
    network = RelationalNetwork(RELATIONS, CONFIGS[3])
    batches = random_batches(RELATIONS)[:2]
    moments = {"adam/step": np.array(7), "adam/m": np.arange(6.0).reshape(2, 3)}
    saved = Checkpoint.of(network, metadata_of(CONFIGS[3]), batches=batches, arrays=moments, state={"steps": 12})
    path = tmp_path / "last.npz"
    save_checkpoint(path, saved)
    save_checkpoint(path, saved)
    assert [entry.name for entry in tmp_path.iterdir()] == ["last.npz"]
    loaded = load_checkpoint(path)
    assert (loaded.metadata, loaded.state) == (saved.metadata, {"steps": 12})
    assert {name: array.tolist() for name, array in loaded.arrays.items()} == {
        name: array.tolist() for name, array in moments.items()
    }
    for original, copied in zip(batches, loaded.batches, strict=True):
        np.testing.assert_array_equal(q_of(loaded.network(), copied), q_of(network, original))


def test_unusable_checkpoints(tmp_path: Path) -> None:
    path = tmp_path / "broken.npz"
    with pytest.raises(InputError, match="No such file"):
        load_checkpoint(path)
    save_checkpoint(path, Checkpoint.of(RelationalNetwork(RELATIONS, CONFIGS[0]), metadata_of(CONFIGS[0])))
    whole = path.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 255
    for data in (b"", b"text", whole[: len(whole) // 2], bytes(flipped)):
        path.write_bytes(data)
        with pytest.raises(InputError, match="not a gsp-fd checkpoint"):
            load_checkpoint(path)
    path.write_bytes(whole)
    shrunk = load_checkpoint(path)
    with pytest.raises(InputError, match="do not match its network sizes"):
        Checkpoint(metadata_of(CONFIGS[1]), shrunk.weights).network()


@pytest.mark.parametrize(
    ("entry", "change"),
    [
        ("relations/0", lambda a: np.full_like(a, -100_000)),
        ("relations/0", lambda a: a + 10_000),
        ("relations/0", lambda a: a.ravel()),
        ("relations/0", lambda a: np.zeros((4, 3), np.int64)),
        ("relations/0", lambda a: a.astype(np.float64)),
        ("node_state", lambda a: a - 1),
        ("action_node", lambda a: a[:-1]),
        ("action_state", lambda a: a + 1000),
        ("state_sizes", lambda a: a[None]),
    ],
)
def test_damaged_batches_of_a_checkpoint(tmp_path: Path, entry: str, change: Callable[[Any], Any]) -> None:
    """The kernels trust these arrays: a wrong one would read beyond its memory."""
    path = tmp_path / "damaged.npz"
    network = RelationalNetwork(RELATIONS, CONFIGS[0])
    save_checkpoint(path, Checkpoint.of(network, metadata_of(CONFIGS[0]), batches=random_batches(RELATIONS)[1:3]))
    with np.load(path) as data:
        entries = dict(data)
    entries[f"batches/1/{entry}"] = change(entries[f"batches/1/{entry}"])
    np.savez(path, **entries)
    with pytest.raises(InputError, match="not a gsp-fd checkpoint, or a damaged one"):
        load_checkpoint(path)


def test_a_pickle_is_never_loaded(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, ...]:
            return (tmp_path.joinpath("sprung").write_text, ("x",))

    buffer = io.BytesIO()
    np.savez(buffer, json=np.array([Trap()], dtype=object), allow_pickle=True)
    path = tmp_path / "trap.npz"
    path.write_bytes(buffer.getvalue())
    assert zipfile.is_zipfile(path)
    with pytest.raises(InputError, match="not a gsp-fd checkpoint"):
        load_checkpoint(path)
    assert not (tmp_path / "sprung").exists()
