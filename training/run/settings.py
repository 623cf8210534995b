"""The hyper-parameters as command-line options and as a TOML file, both made from :class:`TrainingConfig`."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, get_args, get_origin

from gsp_fd.common.errors import InputError, driver_error
from gsp_fd.training.config import TrainingConfig, documented

RUN_TABLE = "run"
MAX_INTEGER = 2**63


@dataclass(frozen=True, kw_only=True)
class RunInputs:
    """What a run is about, beside its hyper-parameters: the table ``[run]`` of its TOML file."""

    domain: str = ""
    """Domain file."""
    train: str = ""
    """Folder of training problems."""
    validate: str = ""
    """Folder of validation problems; empty: generated, or split off."""
    start: str = ""
    """Model whose weights the run starts from; empty: random weights."""
    seeds: int = 1
    """Runs with consecutive seeds, of which the best is kept."""
    workers: int = 0
    """Ray actors that search; 0: search in this process."""
    ray_address: str = ""
    """Ray cluster; empty: this machine."""
    command: str = ""
    """The command that started the run."""
    decision: str = ""
    """Why the network sees the relaxed plan, or does not, where that was left to the program."""


def option_of(name: str) -> str:
    """``learning_rate`` -> ``--learning-rate``."""
    return "--" + name.replace("_", "-")


GROUPS = {
    "d": "network",
    "wastar_weights": "search",
    "pool_weights": "which problems",
    "learning_rate": "learning",
    "dead_end_supervision": "ablations of the paper",
    "minutes": "pace of a run",
}
"""The first hyper-parameter of each group of options."""
FOR_MOST = "minutes"
"""The hyper-parameter that stands with the options that most people need."""


def add_options(parser: argparse.ArgumentParser, for_most: argparse._ArgumentGroup | None = None) -> None:
    """One option per hyper-parameter; what is not given on the command line stays out of the namespace."""
    docs, defaults = documented(TrainingConfig), {field.name: field.default for field in fields(TrainingConfig)}
    note = "defaults in brackets, the paper's values in parentheses"
    group: Any = parser
    for name, kind in TrainingConfig.types().items():
        if name in GROUPS:
            group = parser.add_argument_group(f"hyper-parameters: {GROUPS[name]} ({note})")
        place = for_most if name == FOR_MOST and for_most is not None else group
        shown = " ".join(map(_plain, default)) if isinstance(default := defaults[name], tuple) else _plain(default)
        help_text = f"{docs[name]} [{shown}]".replace("%", "%%")
        common: dict[str, Any] = {"dest": name, "default": argparse.SUPPRESS, "help": help_text}
        if kind is bool:
            place.add_argument(option_of(name), action=argparse.BooleanOptionalAction, **common)
        elif get_origin(kind) is tuple:
            items = get_args(kind)
            count: int | str = "+" if Ellipsis in items else len(items)
            place.add_argument(option_of(name), type=items[0], nargs=count, metavar="X", **common)
        else:
            metavar = {int: "N", float: "X", str: "NAME"}[kind]
            place.add_argument(option_of(name), type=kind, metavar=metavar, **common)


def given_options(options: argparse.Namespace) -> dict[str, Any]:
    """The hyper-parameters that stand on the command line."""
    return {name: getattr(options, name) for name in TrainingConfig.types() if hasattr(options, name)}


def make_config(values: Mapping[str, Any], file: str | None = None) -> TrainingConfig:
    """A configuration from values by name; InputError names what is unknown or of the wrong type."""
    types = TrainingConfig.types()
    _check_known(values, types, file)
    checked = {name: _checked(name, value, types[name], file) for name, value in values.items()}
    try:
        return TrainingConfig(**checked)
    except InputError as error:
        raise driver_error(error.message, file) from None


def read_toml(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """(hyper-parameters, run inputs) of a TOML file, as they stand there."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise driver_error(f"cannot read the configuration: {error.strerror}", path) from None
    except (ValueError, RecursionError) as error:  # also what is no UTF-8, and numbers of thousands of digits
        raise driver_error(f"this is no TOML: {error}", path) from None
    inputs = values.pop(RUN_TABLE, {})
    if not isinstance(inputs, dict):
        raise driver_error(f"{RUN_TABLE} must be a table", path)
    kinds = {field.name: type(field.default) for field in fields(RunInputs)}
    _check_known(inputs, kinds, str(path))
    make_config(values, str(path))
    return values, {name: _checked(name, value, kinds[name], str(path)) for name, value in inputs.items()}


def to_toml(config: TrainingConfig, inputs: RunInputs) -> str:
    """The resolved configuration, with the documentation of each field."""
    docs = documented(TrainingConfig)
    lines = []
    for name, value in asdict(config).items():
        lines += [f"# {docs[name]}", f"{name} = {_toml(value)}"]
    lines += ["", f"[{RUN_TABLE}]", *(f"{name} = {_toml(value)}" for name, value in asdict(inputs).items())]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, str):
        return json.dumps(value)  # a JSON string is a TOML string
    return repr(value)


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _checked(name: str, value: Any, kind: Any, file: str | None) -> Any:
    if get_origin(kind) is tuple:
        items = get_args(kind)
        if not isinstance(value, (list, tuple)) or (Ellipsis not in items and len(value) != len(items)):
            raise driver_error(f"{name} must be a list of {'' if Ellipsis in items else f'{len(items)} '}numbers", file)
        return tuple(_checked(name, item, items[0], file) for item in value)
    if isinstance(value, int) and not -MAX_INTEGER <= value <= MAX_INTEGER:
        raise driver_error(f"{name} is too large a number", file)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        wanted = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}[kind]
        raise driver_error(f"{name} is {value!r}; it must be {wanted}", file)
    if isinstance(value, float) and not math.isfinite(value):
        raise driver_error(f"{name} is {value}; it must be finite", file)
    return value


def _check_known(values: Mapping[str, Any], known: Mapping[str, Any], file: str | None) -> None:
    unknown = [name for name in values if name not in known]
    if unknown:
        raise driver_error(f"unknown key {', '.join(unknown)}; the keys are {', '.join(known)}", file)
