"""``gsp-train``: from PDDL files to a model."""

from __future__ import annotations

import argparse
import importlib.util
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gsp_fd.common.errors import InputError, driver_error
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.common.machine import usable_cores
from gsp_fd.task import LimitReached, TranslationFailed
from gsp_fd.training.config import TrainingConfig
from gsp_fd.training.run.settings import RunInputs, add_options, given_options, make_config, option_of, read_toml

if TYPE_CHECKING:
    from gsp_fd.training.run.folder import RunFolder

    Run = tuple[RunFolder, TrainingConfig, RunInputs]

EXAMPLES = """\
examples:
  gsp-generate blocksworld --count 100 --size 2-20 --seed 1 --out problems
  gsp-train --domain problems/domain.pddl --train problems --out run --minutes 10
  gsp-train --resume run --minutes 20
  gsp-plan problems/domain.pddl problems/p99.pddl --search policy --model run/model.onnx
"""
VALIDATE = (
    "folder of validation problems; without it, problems up to 4 times as large as the training problems are "
    "generated for the domains of gsp-generate, and a third of the larger problems is split off for other domains"
)
WORKERS = (
    "Ray actors that search while this process learns; 0: search in this process (default: one less than there are "
    "processors if Ray is installed, else 0)"
)
RESUMABLE = ("minutes", "device", "validate_every", "checkpoint_every", "worker_seconds", "staleness")
"""Hyper-parameters that may change when a run is resumed."""


def parser() -> argparse.ArgumentParser:
    """The command line of ``gsp-train``."""
    result = argparse.ArgumentParser(
        prog="gsp-train",
        description="Train a Q-function for a domain by search and self-improvement, and write it as an ONNX model.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = result.add_argument
    add("--domain", metavar="FILE", help="PDDL domain")
    add("--train", metavar="DIR", help="folder of training problems (*.pddl)")
    add("--validate", metavar="DIR", help=VALIDATE)
    add("--out", metavar="RUN", type=Path, help="folder to create, for the model and everything about it")
    add("--resume", metavar="RUN", type=Path, help="go on with a run that was interrupted, or prolong it")
    add("--config", metavar="FILE", type=Path, help="TOML file with hyper-parameters, such as RUN/config.toml")
    add("--workers", metavar="N", type=_natural, help=WORKERS)
    add("--ray-address", metavar="ADDRESS", help="Ray cluster, or auto (default: only this machine)")
    add("--seeds", metavar="K", type=_positive, help="train K times for the whole time, keep the best (default 1)")
    add_options(result)
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs ``gsp-train``; returns its exit code."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    options = parser().parse_args(arguments)
    try:
        _check_extra()
        command = shlex.join(["gsp-train", *arguments])
        folder, config, inputs = _resumed(options) if options.resume else _started(options, command)
        from gsp_fd.training.run.session import Session

        return Session(folder, config, inputs).run()
    except InputError as error:
        print(f"gsp-train: {error}", file=sys.stderr)
        return error.exit_code
    except TranslationFailed as error:
        print("gsp-train: training needs the lifted engine, which cannot take this domain", file=sys.stderr)
        return error.exit_code
    except (LimitReached, MemoryError):
        print("gsp-train: out of memory; use smaller training problems", file=sys.stderr)
        return ExitCode.SEARCH_OUT_OF_MEMORY
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"gsp-train: {where}{error.strerror or error}", file=sys.stderr)
        return ExitCode.DRIVER_CRITICAL_ERROR
    except KeyboardInterrupt:
        print("gsp-train: interrupted", file=sys.stderr)
        return 130


def _check_extra() -> None:
    needed = ("torch", "torch_geometric", "onnx", "onnxruntime")
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        raise driver_error(f"training needs {', '.join(missing)}: pip install 'gsp-fd[train]'")


def _started(options: argparse.Namespace, command: str) -> Run:
    """A new run, with its folder."""
    from gsp_fd.training.run.folder import RunFolder

    values, inputs = read_toml(options.config) if options.config else ({}, {})
    config = make_config({**values, **given_options(options)})
    inputs |= {name: value for name in ("domain", "train", "validate", "seeds", "workers", "ray_address")
               if (value := getattr(options, name)) is not None}  # fmt: skip
    for name in ("domain", "train", "out"):
        if not (inputs.get(name) or getattr(options, name)):
            raise driver_error(f"{option_of(name)} is missing (or --resume, to go on with a run)")
    for name in ("domain", "train", "validate"):
        if inputs.get(name):
            inputs[name] = os.path.abspath(inputs[name])
    inputs.setdefault("workers", _default_workers())
    resolved = RunInputs(**{**inputs, "command": command})
    _check_inputs(resolved, config)
    folder = RunFolder(options.out)
    folder.create(config, resolved)
    return folder, config, resolved


def _resumed(options: argparse.Namespace) -> Run:
    """A run that goes on."""
    from gsp_fd.common.files import write_atomically
    from gsp_fd.training.run.folder import RunFolder
    from gsp_fd.training.run.settings import to_toml

    given = given_options(options)
    fixed = [name for name in given if name not in RESUMABLE]
    fixed += [name for name in ("domain", "train", "validate", "out", "config", "seeds") if getattr(options, name)]
    if fixed:
        raise driver_error(f"{option_of(fixed[0])} cannot change when a run is resumed; start a new one with --out")
    folder = RunFolder(options.resume)
    config, inputs = folder.read_config()
    config = make_config({**_values(config), **given})
    changes = {name: value for name in ("workers", "ray_address") if (value := getattr(options, name)) is not None}
    inputs = replace(inputs, **changes)
    _check_inputs(inputs, config)
    write_atomically(folder.config, to_toml(config, inputs).encode())
    return folder, config, inputs


def _values(config: TrainingConfig) -> dict[str, Any]:
    return {name: getattr(config, name) for name in TrainingConfig.types()}


def _default_workers() -> int:
    if importlib.util.find_spec("ray") is None:
        return 0
    return max(1, usable_cores() - 1)


def _check_inputs(inputs: RunInputs, config: TrainingConfig) -> None:
    """What can be seen to be wrong before a folder is made."""
    from gsp_fd.training.device import choose_device

    for name in ("domain", "train", "validate"):
        path = getattr(inputs, name)
        if path and not Path(path).exists():
            raise InputError(f"there is no such {'file' if name == 'domain' else 'folder'} ({option_of(name)})", path,
                             exit_code=ExitCode.DRIVER_INPUT_ERROR)  # fmt: skip
    if inputs.workers and importlib.util.find_spec("ray") is None:
        raise driver_error("--workers needs Ray: pip install 'gsp-fd[ray]', or say --workers 0")
    choose_device(config.device)


def _natural(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number")
    return int(text)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive whole number")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
