"""What a model file says about itself, and the arrays it takes: shared by the writer (export) and the reader (planner).

A model is a standard ONNX file; everything else it has to say is JSON in its ``metadata_props``. Reading it
needs neither ``onnx`` nor a session: :func:`read_metadata` walks the top-level protobuf fields.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from gsp_fd.common.errors import InputError, search_error
from gsp_fd.common.untrusted import parse_json

FORMAT_VERSION = 1
PLAIN_ENCODER, RELAXED_PLAN_ENCODER, ADDED_ATOMS_ENCODER = 1, 2, 3
"""Versions of the encoder: states, goals and actions; the operators of relaxed plans as well; and what these add."""
ENCODERS = (PLAIN_ENCODER, RELAXED_PLAN_ENCODER, ADDED_ATOMS_ENCODER)
MAX_ARITY = 8
MAX_WIDTH = 1 << 16
MAX_LAYERS = 1000
"""A file states them, and they decide how much time and memory a call of the network takes."""
KEY_PREFIX = "gsp_fd."
EXPONENT_LIMIT = 60.0
"""Exponents alpha * m of an aggregation are clamped to +- this: sums of exp stay finite in float32."""

NODE_STATE = "node_state"
ACTION_NODE = "action_node"
ACTION_STATE = "action_state"
STATE_SIZES = "state_sizes"
RELATION_PREFIX = "relation:"
OUTPUT = "q"
NETWORK_PARTS = ("update", "norm", "phi", "readout", "value")
HALF_SUFFIX = ".fp16"
"""Ends the name of an array that is stored in half precision; a Cast gives it its own name."""

Aggregation = Literal["max", "smoothmax", "logsumexp"]
Pool = Literal["phi", "sum", "mean"]
Readout = Literal["sum", "concat"]
IntArray = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Parsed = TypeVar("Parsed")


def relation_input(relation: str) -> str:
    """Name of the ONNX input that holds the atoms of a relation."""
    return RELATION_PREFIX + relation


def weights_prefix(relation: str) -> str:
    """What the names of a relation's arrays begin with: its name, but never that of another part of the network."""
    return f"{relation}@" if relation in NETWORK_PARTS else relation


@dataclass(frozen=True, slots=True)
class NetworkConfig:
    """Sizes and options of the relational GNN. The paper gives d = 32, smoothmax and one MLP per predicate."""

    d: int = 32
    """Width of an object embedding (paper: 32)."""
    layers: int = 8
    """Rounds of message passing, with shared weights (paper: not given; 8 suffice for the IPC domains)."""
    message_hidden: int = 0
    """A relation's MLP has arity * d hidden units, at most this many; 0 means any number (paper: not given)."""
    aggregation: Aggregation = "max"
    """``max``: true maximum, whatever the number of messages; ``smoothmax``: softmax-weighted mean, which many low
    messages pull down; ``logsumexp``: log-sum-exp / alpha, which grows by log(n) / alpha with n equal messages
    (paper: "smoothmax")."""
    alpha: float = 8.0
    """Inverse temperature of ``smoothmax`` and ``logsumexp`` (paper: not given)."""
    pool: Pool = "phi"
    """``phi``: sum of 0.3 MLP(x); ``sum``; ``mean`` over the nodes of a state (paper: a permutation-invariant pool)."""

    readout: Readout = "sum"
    """``sum``: MLP(X(o_a)) + MLP(pool): the order of the actions of a state does not depend on the pool, which grows
    with the state; ``concat``: MLP([X(o_a), pool]) (the paper's)."""

    def __post_init__(self) -> None:
        options = (("aggregation", Aggregation), ("pool", Pool), ("readout", Readout))
        for name, allowed in options:
            if getattr(self, name) not in get_args(allowed):
                raise InputError(f"{name} is {getattr(self, name)!r}; it must be one of {', '.join(get_args(allowed))}")
        for name, least, most in (("d", 1, MAX_WIDTH), ("layers", 1, MAX_LAYERS), ("message_hidden", 0, MAX_WIDTH)):
            value = getattr(self, name)
            if not is_integer(value) or not least <= value <= most:
                raise InputError(f"{name} is {value!r:.100}; it must be a whole number from {least} to {most}")
        if not isinstance(self.alpha, int | float) or not 0 < self.alpha < math.inf:
            raise InputError(f"alpha is {self.alpha!r:.100}; it must be a positive number")

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> NetworkConfig:
        """From the metadata of a model, which said ``norm: post`` as long as there was a choice."""
        values = dict(data)
        if (norm := values.pop("norm", "post")) != "post":
            raise InputError(f"the network has norm {norm!r}; this program has only networks with layer norm ('post')")
        return cls(**values)

    def hidden_of(self, arity: int) -> int:
        """Hidden units of the MLP of a relation of this arity."""
        return min(arity * self.d, self.message_hidden or arity * self.d)


@dataclass(frozen=True, slots=True)
class EncodedBatch:
    """A batch of states as one graph; per state: task objects, one global node, one node per applicable action.

    relations: per relation of the model, in its order, node indices [n_r, arity_r] (n_r may be 0);
    node_state: state of each node [N], non-decreasing; action_node: node of each action [A], grouped by state;
    action_state: state of each action [A]; state_sizes: nodes per state, float32 [B].
    """

    relations: tuple[IntArray, ...]
    node_state: IntArray
    action_node: IntArray
    action_state: IntArray
    state_sizes: npt.NDArray[np.float32]


class Batch(Protocol):
    """What :class:`EncodedBatch` and the native batch have in common."""

    @property
    def relations(self) -> Sequence[IntArray]: ...
    @property
    def node_state(self) -> IntArray: ...
    @property
    def action_node(self) -> IntArray: ...
    @property
    def action_state(self) -> IntArray: ...
    @property
    def state_sizes(self) -> Floats: ...


def feeds_of(batch: Batch, relations: Sequence[tuple[str, int]]) -> dict[str, npt.NDArray[Any]]:
    """The ONNX inputs of a batch for a model with these (name, arity) relations."""
    named: dict[str, npt.NDArray[Any]] = {
        relation_input(name): atoms for (name, _), atoms in zip(relations, batch.relations, strict=True)
    }
    return named | {
        NODE_STATE: batch.node_state,
        ACTION_NODE: batch.action_node,
        ACTION_STATE: batch.action_state,
        STATE_SIZES: batch.state_sizes,
    }


def relations_of(
    predicates: Iterable[tuple[str, int]],
    types: Iterable[str],
    constants: Iterable[str],
    schemas: Collection[tuple[str, int]],
    *,
    fluents: Collection[str] | None = None,
    goal_split: bool = True,
    negative_goals: bool = False,
    relaxed_plan: bool = False,
    added: Collection[str] = (),
) -> tuple[tuple[str, int], ...]:
    """All (name, arity) relations of a domain, in the model's order.

    ``schemas`` are (name, number of parameters), met among the applicable actions and with ``relaxed_plan`` in the
    relaxed plan; ``added`` are the predicates of which it is told what the relaxed plan makes true; ``fluents`` those
    that some action changes: no others matter in goals. A nullary atom is a unary atom on the global node. The type
    ``object`` tells nothing, so it is no relation.
    """
    atoms = [(name, max(1, arity)) for name, arity in predicates]
    goals = [(name, arity) for name, arity in atoms if fluents is None or name in fluents]
    suffixes = ["@goal"] + ["@goal_true"] * goal_split
    if negative_goals:
        suffixes += ["@not_goal"] + ["@not_goal_true"] * goal_split
    result = atoms + [(name + suffix, arity) for suffix in suffixes for name, arity in goals]
    result += [(f"type@{name}", 1) for name in types if name != "object"]
    result += [(f"const@{name}", 1) for name in constants]
    groups = ["action"] + ["plan"] * relaxed_plan
    result += [(f"{group}@{name}", 1 + parameters) for group in groups for name, parameters in schemas]
    result += [(f"added@{name}", arity) for name, arity in atoms if name in added]
    for name, arity in result:
        if arity > MAX_ARITY:
            raise InputError(f"relation {name} has arity {arity}; the network takes at most {MAX_ARITY}")
    return tuple(result)


_KINDS = {
    "network": dict,
    "training": dict,
    "validation": dict,
    "fp16": bool,
    "goal_split": bool,
}
"""Of values that are used as they stand in the file."""


def is_integer(value: object) -> bool:
    """Whether this is a whole number, and neither true nor false."""
    return isinstance(value, int) and not isinstance(value, bool)


def _pairs(value: Any) -> tuple[tuple[str, int], ...]:
    """Names with arities; ValueError if they are something else, or more than a network takes."""
    pairs = tuple((_name(name), arity) for name, arity in _items(value))
    for name, arity in pairs:
        if not is_integer(arity) or not 0 <= arity <= MAX_ARITY:
            raise ValueError(f"{name} has the arity {arity!r:.100}; the network takes at most {MAX_ARITY}")
    return pairs


def _check_relations(data: Mapping[str, Any]) -> None:
    """ValueError for a relation that is none of the domain's, or of another arity than what is encoded there."""
    names = [name for name, _ in data["predicates"]]
    parts = [data[key] for key in ("predicates", "types", "constants", "schemas")]
    known = dict(relations_of(*parts, negative_goals=True, relaxed_plan=True, added=names))
    for name, arity in data["relations"]:
        if known.get(name) != arity:
            raise ValueError(f"{name} with {arity} arguments is no relation of the domain")


def _items(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{value!r:.100} is no list")
    return value


def _name(value: Any) -> str:
    """A name such as PDDL has them: nothing that could pass for a line of the log, or that a terminal would obey."""
    if not isinstance(value, str) or not value.isprintable() or not value or " " in value:
        raise ValueError(f"{value!r:.100} is no name")
    return value


@dataclass(frozen=True, slots=True)
class ModelMetadata:
    """Everything a model file says about itself; ``schemas`` are (name, number of parameters)."""

    domain: str
    predicates: tuple[tuple[str, int], ...]
    types: tuple[str, ...]
    constants: tuple[str, ...]
    schemas: tuple[tuple[str, int], ...]
    relations: tuple[tuple[str, int], ...]
    goal_split: bool = True
    network: NetworkConfig = field(default_factory=NetworkConfig)
    encoder_version: int = PLAIN_ENCODER
    training: Mapping[str, Any] = field(default_factory=dict)
    validation: Mapping[str, Any] = field(default_factory=dict)
    package_version: str = "unknown"
    fp16: bool = False
    unseen: tuple[str, ...] = ()
    """Relations that were empty in all of training, goals of some predicate for example."""
    format_version: int = FORMAT_VERSION

    @property
    def relaxed_plan(self) -> bool:
        """Whether the network sees the relaxed plan of a state."""
        return self.encoder_version != PLAIN_ENCODER

    def to_strings(self) -> dict[str, str]:
        """The metadata as the string map of an ONNX file: one JSON value per field."""
        return {KEY_PREFIX + key: json.dumps(value) for key, value in asdict(self).items()}

    @classmethod
    def from_strings(cls, strings: Mapping[str, str], file: str | None = None) -> ModelMetadata:
        """Inverse of :meth:`to_strings`; keys of other tools are ignored. InputError names what is missing."""
        if f"{KEY_PREFIX}format_version" not in strings:
            raise search_error("this ONNX file is no gsp-fd model: it has no gsp_fd metadata", file)
        try:
            data = {
                key[len(KEY_PREFIX) :]: parse_json(value)
                for key, value in strings.items()
                if key.startswith(KEY_PREFIX)
            }
            version = data["format_version"]
            if version != FORMAT_VERSION:
                raise search_error(
                    f"the model has format version {version!r:.100}, this program reads version {FORMAT_VERSION}: "
                    "export its checkpoint again with this version of gsp-export",
                    file,
                )
            encoder = data.get("encoder_version", PLAIN_ENCODER)
            if encoder not in ENCODERS:
                raise search_error(
                    f"the model was trained with version {encoder!r:.90} of the encoder; this program knows "
                    f"{', '.join(map(str, ENCODERS))}: use the gsp-fd that trained it, or train it again",
                    file,
                )
            for key in ("predicates", "schemas", "relations"):
                data[key] = _pairs(data[key])
            data.setdefault("unseen", [])
            for key in ("types", "constants", "unseen"):
                data[key] = tuple(_name(name) for name in _items(data[key]))
            _check_relations(data)
            for name in (data["domain"], data.get("package_version", "unknown")):
                _name(name)
            for key, kind in _KINDS.items():
                if key in data and not isinstance(data[key], kind):
                    raise ValueError(f"{key} is {data[key]!r:.100}")
            data["network"] = NetworkConfig.from_json(data["network"])
            known = {entry.name for entry in fields(cls)}
            return cls(**{key: value for key, value in data.items() if key in known})
        except InputError as error:
            raise search_error(error.message, file) from None
        except (KeyError, TypeError, ValueError) as error:
            raise search_error(f"the model's metadata is damaged ({type(error).__name__}: {error})", file) from None


def fit_problems(
    metadata: ModelMetadata,
    predicates: Iterable[tuple[str, int]],
    schemas: Iterable[tuple[str, int]],
    types: Iterable[str] | None = None,
    constants: Iterable[str] | None = None,
    negative_goals: Iterable[str] = (),
) -> list[str]:
    """Why the model does not fit a domain, one sentence per predicate, schema, type or constant; empty if it fits.

    ``schemas`` are (name, number of parameters); types and constants are compared where they are given;
    ``negative_goals`` are the predicates of the problem's negative goals.
    """
    problems = _arity_problems("predicate", metadata.predicates, predicates)
    problems += _arity_problems("action schema", metadata.schemas, schemas)
    for kind, ours, theirs in (("type", metadata.types, types), ("constant", metadata.constants, constants)):
        if theirs is not None:
            pairs = ([(name, 0) for name in names if (kind, name) != ("type", "object")] for names in (ours, theirs))
            problems += _arity_problems(kind, *pairs)
    known = {name for name, _ in metadata.relations}
    problems += [
        f"the problem has a negative goal of predicate {name}; the model was trained without negative goals"
        for name in dict.fromkeys(negative_goals)
        if f"{name}@not_goal" not in known
    ]
    return problems


def _arity_problems(kind: str, model: Iterable[tuple[str, int]], task: Iterable[tuple[str, int]]) -> list[str]:
    model_arities, task_arities = dict(model), dict(task)
    problems = []
    for name, arity in task_arities.items():
        if name not in model_arities:
            problems.append(f"{kind} {name} of the domain is unknown to the model")
        elif model_arities[name] != arity:
            problems.append(f"{kind} {name} has {arity} arguments in the domain and {model_arities[name]} in the model")
    missing = [name for name in model_arities if name not in task_arities]
    return problems + [f"{kind} {name} of the model is unknown to the domain" for name in missing]


def read_metadata(path: str | Path) -> ModelMetadata:
    """Metadata of a model file. InputError if it cannot be read, is not ONNX, is truncated or of another version."""
    return metadata_of(read_model(path), str(path))


def read_model(path: str | Path) -> bytes:
    """The bytes of a model file."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise search_error(f"cannot read the model: {error.strerror}", str(path)) from None


def metadata_of(model: bytes, file: str | None = None) -> ModelMetadata:
    """Metadata in the bytes of a model file, which is named in errors."""
    return ModelMetadata.from_strings(_parsed(model, _metadata_props, file), file)


def weights_of(model: bytes, file: str | None = None) -> dict[str, Floats]:
    """The arrays of floats in a model by name, flat; half precision is widened. InputError as above."""
    return _parsed(model, _initializers, file)


def _parsed(model: bytes, parse: Callable[[bytes], Parsed], file: str | None) -> Parsed:
    try:
        return parse(model)
    except (ValueError, IndexError):
        raise search_error("not an ONNX model, or a truncated one", file) from None


def _metadata_props(data: bytes) -> dict[str, str]:
    """``metadata_props`` (field 14) of a serialised ModelProto; ValueError or IndexError if it is none."""
    strings: dict[str, str] = {}
    seen = set()
    for number, value in _protobuf_fields(data):
        seen.add(number)
        if number == 14:
            entry = dict(_protobuf_fields(value))
            strings[entry[1].decode()] = entry[2].decode()
    if not {1, 7, 8} <= seen:  # ir_version, graph, opset_import
        raise ValueError("no ONNX model")
    return strings


def _initializers(data: bytes) -> dict[str, Floats]:
    """``graph.initializer`` (field 5 of field 7) of a serialised ModelProto, those of type float or float16."""
    types = {1: "<f4", 10: "<f2"}
    arrays = {}
    for number, graph in _protobuf_fields(data):
        for inner, tensor in _protobuf_fields(graph) if number == 7 else ():
            if inner != 5:
                continue
            entry = dict(_protobuf_fields(tensor))  # 2 data_type, 8 name, 9 raw_data
            kind = _varint(entry[2], 0)[0] if 2 in entry else 0
            if kind in types and {8, 9} <= entry.keys():
                name = entry[8].decode().removesuffix(HALF_SUFFIX)
                arrays[name] = np.frombuffer(entry[9], types[kind]).astype(np.float32)
    return arrays


def _protobuf_fields(data: bytes) -> Iterable[tuple[int, bytes]]:
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        if tag & 7 == 0:
            _, end = _varint(data, position)
        elif tag & 7 == 2:
            length, position = _varint(data, position)
            end = position + length
        else:
            raise ValueError("a wire type that no ONNX model has")
        if end > len(data) or tag >> 3 == 0:
            raise ValueError("truncated")
        yield tag >> 3, data[position:end]
        position = end


def _varint(data: bytes, position: int) -> tuple[int, int]:
    result = shift = 0
    while True:
        byte = data[position]
        position += 1
        result |= (byte & 127) << shift
        if byte < 128:
            return result, position
        shift += 7
        if shift > 63:
            raise ValueError("varint too long")
