"""Fast Downward's own translator, run as a program: PDDL to SAS."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gsp_fd.common.errors import InputError, driver_error
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.common.processes import OWN_MODULES_ONLY, limited

_MODULE = "fast_downward.translate"
_MISSING = (
    "this task needs Fast Downward's translator, which is not installed: "
    "run pip install 'gsp-fd[translate]' (PyPI package fast-downward-translate)"
)

# Runs the module like `python -m`, but never finds it in the current folder.
_BOOTSTRAP = f"""{OWN_MODULES_ONLY}
import runpy
runpy.run_module("{_MODULE}", run_name="__main__", alter_sys=True)
"""


@dataclass(frozen=True, slots=True)
class TranslationResult:
    """How the translator ended, and what it printed, line by line."""

    exit_code: ExitCode
    log: tuple[str, ...]


def translator_available() -> bool:
    """Whether the package with Fast Downward's translator is installed."""
    try:
        return importlib.util.find_spec(_MODULE) is not None
    except ModuleNotFoundError:
        return False


def translate(
    domain: Path,
    problem: Path,
    sas_file: Path,
    *,
    time_limit: float | None = None,
    memory_limit_mb: int | None = None,
    extra_options: Sequence[str] = (),
    log: Callable[[str], None] | None = None,
) -> TranslationResult:
    """Writes ``sas_file``, completely or not at all.

    ``time_limit`` is CPU seconds, ``log`` receives each line as it is printed. InputError if the translator
    is not installed or ``sas_file`` cannot be written; the translator itself fails through the exit code.
    """
    if not translator_available():
        raise InputError(_MISSING, exit_code=ExitCode.DRIVER_UNSUPPORTED)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{sas_file.name}.", dir=sas_file.absolute().parent)
        os.close(handle)
    except OSError as error:
        message = f"cannot write the SAS file: {error.strerror}"
        raise driver_error(message, sas_file) from None
    temporary = Path(name)
    seconds = max(1, int(time_limit + 0.001)) if time_limit is not None else 0
    command = [sys.executable, "-u", "-c", _BOOTSTRAP]
    command += [os.path.abspath(domain), os.path.abspath(problem), "--sas-file", name, *extra_options]
    try:
        status, lines = _run(limited(command, seconds, (memory_limit_mb or 0) << 20), log or (lambda line: None))
        if status == 0:
            _publish(temporary, sas_file)
    finally:
        temporary.unlink(missing_ok=True)
    return TranslationResult(_exit_code(status, lines, bool(seconds)), tuple(lines))


def _publish(temporary: Path, sas_file: Path) -> None:
    """Gives the finished file its name, with the permissions of any new file."""
    mask = os.umask(0)
    os.umask(mask)
    temporary.chmod(0o666 & ~mask)
    temporary.replace(sas_file)


def _run(command: Sequence[str], log: Callable[[str], None]) -> tuple[int, list[str]]:
    """Runs a command in its own process group, which does not outlive this call."""
    lines: list[str] = []
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        text=True,
        errors="replace",
    ) as process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                lines.append(line.rstrip("\n"))
                log(lines[-1])
            return process.wait(), lines
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise


def _exit_code(status: int, lines: Sequence[str], limited: bool) -> ExitCode:
    """The exit code as Fast Downward's driver would report it."""
    if status == 0:
        return ExitCode.SUCCESS
    if any(line.startswith("MemoryError") for line in lines):
        return ExitCode.TRANSLATE_OUT_OF_MEMORY
    if limited and status in (-signal.SIGKILL, -signal.SIGXCPU):
        return ExitCode.TRANSLATE_OUT_OF_TIME
    if status == 2:
        return ExitCode.DRIVER_INPUT_ERROR  # argparse: an option that the translator does not know
    try:
        return ExitCode(status) if status >= 10 else ExitCode.TRANSLATE_CRITICAL_ERROR
    except ValueError:
        return ExitCode.TRANSLATE_CRITICAL_ERROR
