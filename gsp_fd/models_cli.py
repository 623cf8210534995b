"""``gsp-models``: the models that have a name, what a model says about itself, and a folder for one's own."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gsp_fd.common.errors import InputError
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.common.untrusted import printable
from gsp_fd.model_format import ModelMetadata, read_metadata
from gsp_fd.model_library import (
    FOLDER_VARIABLE,
    InstalledModel,
    add_model,
    card_of,
    installed_models,
    named_model,
    remove_model,
    user_folder,
)

_MODEL = "name of a model, .onnx file, or folder of a run of gsp-train"


def parser() -> argparse.ArgumentParser:
    """The command line of ``gsp-models``."""
    result = argparse.ArgumentParser(
        prog="gsp-models",
        description="The models that gsp-plan finds by name: those that come with it, and your own. Where one of yours "
        f"and a shipped one fit a task, yours is used. Yours are in {user_folder()} ({FOLDER_VARIABLE} names another "
        "folder).",
    )
    commands = result.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list", help="all models that have a name")
    listing.set_defaults(run=_list)
    show = commands.add_parser("show", help="print what a model says about itself")
    show.add_argument("model", help=_MODEL)
    show.set_defaults(run=_show)
    for command in (listing, show):
        command.add_argument("--json", action="store_true", help="print JSON instead of text")
    add = commands.add_parser("add", help="check a model and copy it with its card to your own")
    add.add_argument("model", help=_MODEL)
    add.add_argument("--name", help="what to call it (default: the name of its file; of a run, its domain)")
    add.add_argument("--replace", action="store_true", help="replace one of yours that has the same name")
    add.set_defaults(run=_add)
    remove = commands.add_parser("remove", help="delete one of your models and its card")
    remove.add_argument("model", help="its name, or its file in your folder")
    remove.set_defaults(run=_remove)
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs ``gsp-models``; returns its exit code."""
    options = parser().parse_args(arguments)
    try:
        print(options.run(options))
    except InputError as error:
        print(f"gsp-models: {error}", file=sys.stderr)
        return error.exit_code
    return ExitCode.SUCCESS


def _list(options: argparse.Namespace) -> str:
    models = installed_models()
    rows = [_row(model) for model in models]
    if options.json:
        return json.dumps(rows, indent=2)
    if not rows:
        return f"There are no models; gsp-models add puts them into {user_folder()}."
    widths = [max(len(row[key]) for row in rows) for key in ("name", "origin")]
    lines = [
        f"{row['name']:<{widths[0]}}  {row['origin']:<{widths[1]}}  "
        + (f"broken: {row['broken']}" if row["broken"] else f"domain {row['domain']}, {row['file']}")
        for row in rows
    ]
    return "\n".join(map(printable, lines))


def _row(model: InstalledModel) -> dict[str, str]:
    domain = broken = ""
    try:
        domain = read_metadata(model.path).domain
    except InputError as error:
        broken = str(error)
    return {"name": model.name, "origin": model.origin, "domain": domain, "file": str(model.path), "broken": broken}


def _show(options: argparse.Namespace) -> str:
    path = named_model(options.model)
    metadata = read_metadata(path)
    return json.dumps(asdict(metadata), indent=2) if options.json else describe(metadata, path)


def _add(options: argparse.Namespace) -> str:
    model = add_model(options.model, options.name, replace=options.replace)
    card = "with its card" if card_of(model.path) else "it has no card"
    return printable(f"{model.name}: {model.path} ({card})")


def _remove(options: argparse.Namespace) -> str:
    return printable(f"removed {remove_model(options.model)}")


def describe(metadata: ModelMetadata, path: Path | None = None) -> str:
    """The metadata as a few aligned lines, with the file and its card where it is known."""
    network = metadata.network
    temperature = "" if network.aggregation == "max" else f" (alpha {network.alpha:g})"
    layers = f"{network.layers} layers of width {network.d}, {network.aggregation} aggregation{temperature}"
    files = [] if path is None else [("file", str(path)), ("card", str(card_of(path) or "none"))]
    rows = [
        *files,
        ("domain", metadata.domain),
        ("predicates", _arities(metadata.predicates)),
        ("actions", _arities(metadata.schemas)),
        ("types", ", ".join(metadata.types) or "none"),
        ("constants", ", ".join(metadata.constants) or "none"),
        ("relations", f"{len(metadata.relations)}, goal {'split' if metadata.goal_split else 'not split'}, "
                      f"{'with' if metadata.relaxed_plan else 'without'} the relaxed plan of the state"),
        ("network", f"{layers}, {network.pool} pool"),
        ("weights", "half precision" if metadata.fp16 else "single precision"),
        ("validation", _values(metadata.validation)),
        ("training", _values(metadata.training)),
        ("versions", f"format {metadata.format_version}, encoder {metadata.encoder_version}, "
                     f"gsp-fd {metadata.package_version}"),
    ]  # fmt: skip
    return "\n".join(printable(f"{name + ':':<12} {value}") for name, value in rows)


def _arities(pairs: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{name}/{arity}" for name, arity in pairs)


def _values(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in values.items()) or "not recorded"


if __name__ == "__main__":
    sys.exit(main())
