"""``gsp-export``: writes the ONNX model of a training checkpoint."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from gsp_fd.common.errors import InputError
from gsp_fd.common.exit_codes import ExitCode


def parser() -> argparse.ArgumentParser:
    """The command line of ``gsp-export``."""
    result = argparse.ArgumentParser(
        prog="gsp-export",
        description="Write the ONNX model of a training checkpoint, after comparing it with the torch network on "
        "random states and on the real states in the checkpoint.",
    )
    result.add_argument("checkpoint", type=Path, help="checkpoint of gsp-train (.npz)")
    result.add_argument("model", type=Path, help="ONNX file to write")
    result.add_argument("--fp16", action="store_true", help="store matrices in half precision: half the file size")
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs ``gsp-export``; returns its exit code."""
    options = parser().parse_args(arguments)
    try:
        from gsp_fd.export.writer import export_model
        from gsp_fd.training.checkpoint import load_checkpoint
    except ModuleNotFoundError as error:
        print(f"gsp-export needs {error.name}: pip install 'gsp-fd[train]'", file=sys.stderr)
        return ExitCode.DRIVER_INPUT_ERROR
    try:
        checkpoint = load_checkpoint(options.checkpoint)
        report = export_model(checkpoint, options.model, fp16=options.fp16, file=str(options.checkpoint))
    except InputError as error:
        print(f"gsp-export: {error}", file=sys.stderr)
        return error.exit_code
    print(f"{options.model}: {report.size / 1024:.0f} KiB")
    print(f"largest relative difference to torch on random states: {report.random_difference:.1e}")
    if report.real_difference is not None:
        print(f"on {report.real_states} real states: {report.real_difference:.1e}")
    return ExitCode.SUCCESS


if __name__ == "__main__":
    sys.exit(main())
