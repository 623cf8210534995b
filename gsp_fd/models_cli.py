"""``gsp-models show``: what a model file says about itself, for people and as JSON."""

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


def parser() -> argparse.ArgumentParser:
    """The command line of ``gsp-models``."""
    result = argparse.ArgumentParser(prog="gsp-models", description="Look into model files.")
    commands = result.add_subparsers(dest="command", required=True)
    show = commands.add_parser("show", help="print what a model says about itself")
    show.add_argument("model", type=Path, help="ONNX model written by gsp-export or gsp-train")
    show.add_argument("--json", action="store_true", help="print JSON instead of text")
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs ``gsp-models``; returns its exit code."""
    options = parser().parse_args(arguments)
    try:
        metadata = read_metadata(options.model)
    except InputError as error:
        print(f"gsp-models: {error}", file=sys.stderr)
        return error.exit_code
    print(json.dumps(asdict(metadata), indent=2) if options.json else describe(metadata))
    return ExitCode.SUCCESS


def describe(metadata: ModelMetadata) -> str:
    """The metadata as a few aligned lines."""
    network = metadata.network
    temperature = "" if network.aggregation == "max" else f" (alpha {network.alpha:g})"
    layers = f"{network.layers} layers of width {network.d}, {network.aggregation} aggregation{temperature}"
    rows = [
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
