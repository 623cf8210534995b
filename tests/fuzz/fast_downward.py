"""Fast Downward, for random tasks: what takes longer to start than to run is loaded once and forked."""

from __future__ import annotations

import os
import re
import resource
import signal
from pathlib import Path

import cli_support
from fast_downward.translate import options as translate_options
from fast_downward.translate.main import main as translate_main
from fast_downward.translate.pddl_parser import ParseError

from gsp_fd.common.exit_codes import ExitCode

SEARCH = "astar(blind())"
UNSOLVABLE_CODES = (ExitCode.SEARCH_UNSOLVABLE, ExitCode.SEARCH_UNSOLVED_INCOMPLETE)
"""With which Fast Downward ends a complete search that found nothing."""
TRANSLATOR_SECONDS = 3
"""Of CPU time: nested quantifiers may keep its normalisation busy for hours."""


def translate(domain: Path, problem: Path) -> ExitCode:
    """Writes ``output.sas`` with Fast Downward's translator; its exit code, or that it takes too long."""
    child = os.fork()
    if child == 0:
        code = ExitCode.TRANSLATE_CRITICAL_ERROR
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (TRANSLATOR_SECONDS, TRANSLATOR_SECONDS))
            translate_options.set_options([str(domain), str(problem)])
            translate_main()
            code = ExitCode.SUCCESS
        except ParseError:
            code = ExitCode.TRANSLATE_INPUT_ERROR
        except SystemExit as end:
            code = ExitCode(end.code) if isinstance(end.code, int) else code
        finally:
            os._exit(code)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return ExitCode.TRANSLATE_OUT_OF_TIME if status == -signal.SIGKILL else ExitCode(status)


def optimum() -> int | None:
    """The cost of Fast Downward's optimal plan for ``output.sas``, None if it says that there is no plan."""
    plan = Path("fd_plan")
    run = cli_support.fast_downward_search(Path(), "--internal-plan-file", str(plan), "--search", SEARCH)
    if run.returncode in UNSOLVABLE_CODES:
        return None
    if run.returncode != ExitCode.SUCCESS:
        raise RuntimeError(f"Fast Downward: exit code {run.returncode}\n{run.stdout[-2000:]}{run.stderr[-2000:]}")
    found = re.search(r"; cost = (\d+)", plan.read_text())
    assert found
    plan.unlink()
    return int(found[1])
