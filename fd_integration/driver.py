"""The planner as a program: from the command line to a validated plan file and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from signal import SIGINT
from typing import TYPE_CHECKING

from gsp_fd.common.errors import InputError, driver_error
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.common.untrusted import printable
from gsp_fd.fd_integration.run.components import Components, Inputs, choose_inputs
from gsp_fd.fd_integration.run.configuration import check_combinations, configurations
from gsp_fd.fd_integration.run.interrupts import InterruptionError, Interrupts
from gsp_fd.fd_integration.run.limits import planner_time
from gsp_fd.fd_integration.run.log import Log, peak_memory_kb
from gsp_fd.fd_integration.run.options import TERMINAL, Options, parse_command_line
from gsp_fd.fd_integration.run.plans import PlanFiles
from gsp_fd.fd_integration.run.search import InvalidPlanError

if TYPE_CHECKING:
    from gsp_fd.task import Task


def main(argv: Sequence[str] | None = None) -> int:
    """Run the planner; returns its exit code. Whatever happens, no exception leaves this function."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        options = parse_command_line(arguments)
        if text := information(options):
            Log().line(text)
            return ExitCode.SUCCESS
        if options.compare is not None:
            from gsp_fd.compare.single import compare

            return compare(options)
        return Planner(options).run()
    except InputError as error:
        complain(str(error))
        if error.exit_code in (ExitCode.SEARCH_INPUT_ERROR, ExitCode.SEARCH_UNSUPPORTED):
            Log().line(f"search exit code: {int(error.exit_code)}")  # Lab looks for this line
        return error.exit_code
    except KeyboardInterrupt:
        return Interrupts(SIGINT).exit_code
    except Exception as error:
        if isinstance(error, OSError) and error.filename and "--debug" not in arguments:
            complain(f"{printable(os.fsdecode(error.filename))}: {error.strerror}")
            return ExitCode.DRIVER_INPUT_ERROR
        complain_of_bug(error, "--debug" in arguments)
        return ExitCode.DRIVER_CRITICAL_ERROR


def complain(message: str, program: str = "gsp-plan") -> None:
    """One message on standard error."""
    with suppress(OSError):
        print(f"{program}: error: {message}", file=sys.stderr, flush=True)


def complain_of_bug(error: Exception, debug: bool) -> None:
    """The message of an internal error; with its traceback for those who ask for it."""
    hint = "" if debug else " (this is a bug; --debug shows where it happened)"
    complain(f"internal error: {type(error).__name__}: {error}{hint}")
    if debug:
        import traceback

        traceback.print_exception(error)


def information(options: Options) -> str | None:
    """The text of the options that only show something."""
    from gsp_fd.fd_integration.language.registry import describe

    if options.help:
        from gsp_fd.fd_integration.help import help_text

        return help_text()
    if options.version:
        from gsp_fd import __version__

        return f"gsp-fd {__version__}"
    if options.show_aliases:
        from gsp_fd.fd_integration.language.aliases import describe_aliases

        return describe_aliases()
    if options.show_features or options.feature_names is not None:
        return describe(options.feature_names or ())
    return None


class Planner:
    """One run: the components that the options ask for, one after another."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.log = Log(options.log_level)
        self.interrupts = Interrupts()

    def run(self) -> int:
        """The exit code of the last component that ran, as in Fast Downward."""
        options = self.options
        plans = PlanFiles(options.plan_path, options.previous_plans)
        if options.cleanup:
            options.sas_path.unlink(missing_ok=True)
            plans.delete_existing()
            return ExitCode.SUCCESS
        self.log.debug(f"processed args: {options.given()}")
        check_combinations(options)
        inputs = choose_inputs(options)
        searches = configurations(options) if inputs.search and options.portfolio is None else []
        if inputs.search:
            plans.check_writable()
        for line in options.limits("overall").lines("planner"):
            self.log.info(line)
        self.log.line()
        components = Components(options, inputs, searches, plans, self.log, self.interrupts)
        try:
            with self.interrupts:
                code = self.run_components(components, inputs)
                if options.show is not None and code in PLAN_FOUND and plans.written:
                    show(components.task, plans.written[-1], options.show, self.log)
        except InterruptionError:  # between two components
            return self.limit_reached("search", "interrupted")
        self.log.info(f"Planner time: {planner_time():.2f}s")
        return code

    def run_components(self, components: Components, inputs: Inputs) -> int:
        result: int = ExitCode.SUCCESS
        for name in inputs.components:
            code = self.guarded(name, getattr(components, name))
            # A plan found before a limit stays found, whatever the validator adds.
            result = code if code != ExitCode.SUCCESS or result not in PLAN_FOUND else result
            self.log.line(f"{name} exit code: {code - 256 if code > 200 else int(code)}")
            self.log.line()
            if code not in PLAN_FOUND:
                self.log.line(f"Driver aborting after {name}")
                break
        return result

    def guarded(self, name: str, step: Callable[[], int]) -> int:
        """Run a component; whatever goes wrong becomes one message and an exit code."""
        from gsp_fd.task import LimitReached, TranslationFailed

        codes = FAILURES[name]
        try:
            code = step()
        except InputError as error:
            complain(str(error))
            code = error.exit_code
        except TranslationFailed as error:
            code = error.exit_code
        except LimitReached as error:
            code = self.limit_reached(name, error.reason)
        except MemoryError:
            code = self.limit_reached(name, "memory")
        except InterruptionError:
            code = self.limit_reached(name, "interrupted")
        except InvalidPlanError as error:
            complain(f"{error}; no plan was written")
            code = ExitCode.SEARCH_CRITICAL_ERROR
        except Exception as error:
            complain_of_bug(error, self.options.debug)
            code = codes["critical"]
        if name == "search":
            self.log.line(f"Peak memory: {peak_memory_kb()} KB")
        return code

    def limit_reached(self, name: str, reason: str) -> int:
        """The end of a component that ran into a limit outside the search loop."""
        reason = self.interrupts.cause(reason)
        if reason == "interrupted":
            self.log.line(f"caught signal {self.interrupts.signal} -- exiting")
            return self.interrupts.exit_code
        self.log.line(f"{'Time' if reason == 'time' else 'Memory'} limit has been reached.")
        return FAILURES[name][reason]


def show(task: Task | None, plan: Path, where: str, log: Log) -> None:
    """Draws a plan that was found; a line says so if there is no picture of it."""
    from gsp_fd.common.files import write_atomically
    from gsp_fd.picture import film
    from gsp_fd.picture.page import render
    from gsp_fd.picture.terminal import play
    from gsp_fd.validate import parse_plan

    actions = parse_plan(plan.read_text(encoding="utf-8"), str(plan))
    drawn = film(task.domain, task.problem, actions) if task and task.domain and task.problem else None
    if drawn is None:
        log.line(
            "No picture: --show draws PDDL problems of Sokoban, visitall, floortile and the puzzles of gsp-generate."
        )
    elif where == TERMINAL:
        play(drawn, sys.stdout)
    else:
        try:
            write_atomically(where, render(drawn).encode())
        except OSError as error:
            raise driver_error(f"cannot write the picture: {error.strerror}", where) from None
        log.line(f"Picture: {where}")


PLAN_FOUND = (0, 1, 2, 3)
"""Exit codes after which there are plans to validate."""

FAILURES = {
    "translate": {
        "time": ExitCode.TRANSLATE_OUT_OF_TIME,
        "memory": ExitCode.TRANSLATE_OUT_OF_MEMORY,
        "critical": ExitCode.TRANSLATE_CRITICAL_ERROR,
    },
    "search": {
        "time": ExitCode.SEARCH_OUT_OF_TIME,
        "memory": ExitCode.SEARCH_OUT_OF_MEMORY,
        "critical": ExitCode.SEARCH_CRITICAL_ERROR,
    },
    "validate": dict.fromkeys(("time", "memory", "critical"), ExitCode.DRIVER_CRITICAL_ERROR),
}
