"""``gsp-fd-build``: a build directory for Fast Downward's own driver, whose search component also knows ``gsp(…)``."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from gsp_fd.common.errors import InputError, driver_error
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.common.files import write_atomically
from gsp_fd.common.processes import fast_downward_command, main_code

SEARCH = "downward"

_SCRIPT = """\
#!/bin/sh
# Written by gsp-fd-build: configurations with gsp(...) run in gsp-fd, all others in Fast Downward.
real={real}
case "$*" in
    *[Gg][Ss][Pp]*) exec {python} -c {ours} "$real" "$@" ;;
    *) exec {python} -I -S -c {theirs} "$real" "$@" ;;
esac
"""
# As Fast Downward itself, but it ends with the driver even if that is killed.
_THEIRS = """\
import os, sys
if sys.platform == "linux":
    import ctypes
    ctypes.CDLL(None).prctl(1, 15, 0, 0, 0)
os.execv(sys.argv[1], sys.argv[1:])"""


def parser() -> argparse.ArgumentParser:
    """The command line of ``gsp-fd-build``."""
    result = argparse.ArgumentParser(
        prog="gsp-fd-build",
        description="Make a build directory for Fast Downward's driver (--build DIR) that also knows gsp(...).",
    )
    result.add_argument("directory", type=Path, metavar="DIR", help="where to make it")
    result.add_argument(
        "--fast-downward",
        type=Path,
        metavar="PATH",
        help="Fast Downward's folder, driver or build (default: the package up-fast-downward, or from the PATH)",
    )
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs ``gsp-fd-build``; returns its exit code."""
    options = parser().parse_args(arguments)
    try:
        real = find_real_build(options.fast_downward)
        make_build(options.directory, real)
    except InputError as error:
        print(f"gsp-fd-build: error: {error}", file=sys.stderr)
        return error.exit_code
    driver = real.parent.parent.parent / "fast-downward.py"
    command = shlex.join([sys.executable, str(driver), "--build", str(options.directory.absolute())])
    search = shlex.quote('eager_wastar([gsp(model="model.onnx")], w=2)')
    print(f"Run, for example:\n{command} domain.pddl problem.pddl --search {search}")
    return ExitCode.SUCCESS


def find_real_build(place: Path | None = None) -> Path:
    """The folder ``bin`` of a real build; InputError if there is none."""
    for candidate in _candidates(place):
        if os.access(candidate / SEARCH, os.X_OK) and (candidate / SEARCH).is_file():
            return candidate.resolve()
    where = f"at {place}" if place else "on this machine"
    raise driver_error(
        f"found no built Fast Downward {where}: run pip install up-fast-downward, or name one by --fast-downward",
    )


def _candidates(place: Path | None) -> Iterator[Path]:
    if place is not None:
        yield from (place, place / "bin", *_builds(place.parent if place.is_file() else place))
        return
    for driver in (*fast_downward_command()[1:], shutil.which("fast-downward.py"), shutil.which("fast-downward")):
        if driver:
            yield from _builds(Path(driver).resolve().parent)


def _builds(folder: Path) -> Iterator[Path]:
    yield folder / "builds" / "release" / "bin"
    yield from sorted(folder.glob("builds/*/bin"))


def make_build(directory: Path, real: Path) -> None:
    """Writes ``directory/bin``: links to everything of the real build, and our own search component."""
    target = directory.absolute() / "bin"
    if target.resolve() == real:
        raise InputError("this is the real build; choose another folder", str(directory), exit_code=_INPUT)
    try:
        target.mkdir(parents=True, exist_ok=True)
        for entry in real.iterdir():
            link = target / entry.name
            if entry.name == SEARCH:
                continue
            if link.is_symlink():
                link.unlink()
            link.symlink_to(entry)
        script = target / SEARCH
        write_atomically(script, _script(real / SEARCH).encode())
        script.chmod(0o755)
    except OSError as error:
        message = f"cannot make the build: {error.strerror}"
        raise InputError(message, error.filename or str(directory), exit_code=_INPUT) from None


_INPUT = ExitCode.DRIVER_INPUT_ERROR


def _script(real: Path) -> str:
    codes = {"ours": main_code("gsp_fd.fd_integration.tools.downward"), "theirs": _THEIRS}
    quoted = {name: shlex.quote(code) for name, code in codes.items()}
    return _SCRIPT.format(real=shlex.quote(str(real)), python=shlex.quote(sys.executable), **quoted)


if __name__ == "__main__":
    sys.exit(main())
