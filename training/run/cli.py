"""``gsp-train``: from PDDL files to a model."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gsp_fd.common.errors import InputError, driver_error
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.inference import clashing_runtimes
from gsp_fd.task import LimitReached, TranslationFailed
from gsp_fd.training.run.settings import add_options, given_options, option_of, read_toml

if TYPE_CHECKING:
    from gsp_fd.training.run.start import Run

EXAMPLES = """\
examples:
  gsp-generate blocksworld --count 100 --size 2-20 --seed 1 --out problems
  gsp-train problems/domain.pddl problems
  gsp-train problems/domain.pddl problems --out run --minutes 20
  gsp-train --resume run --minutes 40
  gsp-plan problems/domain.pddl problems/p99.pddl --search policy --model run
"""
USAGE = """\
gsp-train DOMAIN PROBLEMS [--minutes X] [--out RUN] [OPTIONS]
       gsp-train --resume RUN [--minutes X]"""
OUT = "folder to create, for the model and everything about it (default: NAME-run after the domain, NAME-run-2, …)"
VALIDATE = (
    "folder of validation problems; without it, problems up to 4 times as large as the training problems are "
    "generated for the domains of gsp-generate, and a third of the larger problems is split off for other domains"
)
START = (
    "begin with the weights of a model of this domain, by name, file or folder of a run, instead of random ones; a "
    "smaller --learning-rate then keeps more of what it knows"
)
WORKERS = (
    "Ray actors that search while this process learns; 0: search in this process (default: one less than there are "
    "processors if Ray is installed, else 0)"
)


def parser() -> argparse.ArgumentParser:
    """The command line of ``gsp-train``."""
    result = argparse.ArgumentParser(
        prog="gsp-train",
        usage=USAGE,
        description="Train a Q-function for a domain by search and self-improvement, and write it as an ONNX model.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    most = result.add_argument_group("what most people need")
    most.add_argument("files", nargs="*", metavar="DOMAIN PROBLEMS", help="domain file and folder of training problems")
    most.add_argument("--out", metavar="RUN", type=Path, help=OUT)
    most.add_argument("--resume", metavar="RUN", type=Path, help="go on with a run that was interrupted, or prolong it")
    most.add_argument("--validate", metavar="DIR", help=VALIDATE)
    add = result.add_argument_group("runs").add_argument
    add("--domain", metavar="FILE", help="PDDL domain, as an option")
    add("--train", metavar="DIR", help="folder of training problems (*.pddl), as an option")
    add("--config", metavar="FILE", type=Path, help="TOML file with hyper-parameters, such as RUN/config.toml")
    add("--start", metavar="MODEL", help=START)
    add("--workers", metavar="N", type=_natural, help=WORKERS)
    add("--ray-address", metavar="ADDRESS", help="Ray cluster, or auto (default: only this machine)")
    add("--seeds", metavar="K", type=_positive, help="train K times for the whole time, keep the best (default 1)")
    add_options(result, most)
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs ``gsp-train``; returns its exit code."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    options = parser().parse_args(arguments)
    try:
        from gsp_fd.training.run.start import check_extra

        check_extra()
        if clash := clashing_runtimes():
            print(f"gsp-train: warning: {clash}", file=sys.stderr)
        command = shlex.join(["gsp-train", *arguments])
        folder, config, inputs = _resumed(options) if options.resume else _started(options, command)
        from gsp_fd.training.run.session import Session

        return Session(folder, config, inputs, is_new=not options.resume).run()
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


def _started(options: argparse.Namespace, command: str) -> Run:
    """A new run, with its folder."""
    from gsp_fd.training.run.start import free_folder, new_run

    values, inputs = read_toml(options.config) if options.config else ({}, {})
    _take_files(options)
    inputs |= {name: value for name in ("domain", "train", "validate", "start", "seeds", "workers", "ray_address")
               if (value := getattr(options, name)) is not None}  # fmt: skip
    for name, what in (("domain", "a domain file"), ("train", "a folder of problems")):
        if not inputs.get(name):
            raise driver_error(
                f"{what} is missing: gsp-train DOMAIN PROBLEMS ({option_of(name)}; or --resume, to go on with a run)"
            )
    out = options.out or free_folder(Path(inputs["domain"]))
    return new_run(out, {**values, **given_options(options)}, {**inputs, "command": command})


def _take_files(options: argparse.Namespace) -> None:
    """``gsp-train DOMAIN PROBLEMS``, in any order, or only a folder with both."""
    if len(options.files) > 2:
        raise driver_error(f"expected a domain file and a folder of problems, found {', '.join(options.files)}")
    for file in options.files:
        if not Path(file).exists():
            raise driver_error("there is no such file or folder", file)
        name = "train" if Path(file).is_dir() else "domain"
        if getattr(options, name) is not None:
            raise driver_error(f"{file}: there is already {option_of(name)} {getattr(options, name)}")
        setattr(options, name, file)
    if options.files and options.train and not options.domain and (Path(options.train) / "domain.pddl").is_file():
        options.domain = str(Path(options.train) / "domain.pddl")


def _resumed(options: argparse.Namespace) -> Run:
    """A run that goes on."""
    from gsp_fd.training.run.start import RESUMABLE, resumed_run

    given = given_options(options)
    fixed = [name for name in given if name not in RESUMABLE]
    fixed += [
        name for name in ("domain", "train", "validate", "out", "start", "config", "seeds") if getattr(options, name)
    ]
    if options.files:
        raise driver_error(f"{options.files[0]} cannot change when a run is resumed: --resume RUN --minutes X")
    if fixed:
        raise driver_error(f"{option_of(fixed[0])} cannot change when a run is resumed; start a new one with --out")
    changes = {name: value for name in ("workers", "ray_address") if (value := getattr(options, name)) is not None}
    return resumed_run(options.resume, given, changes)


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
