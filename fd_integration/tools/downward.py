"""Our program in the place of Fast Downward's ``downward``: SAS on standard input, its options, plan files, exit codes.

Configurations with ``gsp(…)`` are ours; everything else goes to the real program. The learned search runs on the lifted
task, so it needs the PDDL files too (see :mod:`gsp_fd.fd_integration.tools.pddl_files`).
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gsp_fd.common.errors import InputError
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.common.guard import die_with_parent
from gsp_fd.fd_integration.driver import Planner, complain, complain_of_bug
from gsp_fd.fd_integration.language.registry import is_learned
from gsp_fd.fd_integration.run.components import Components, Inputs
from gsp_fd.fd_integration.run.configuration import CheckedSearch, configurations
from gsp_fd.fd_integration.run.limits import Deadline, Limits
from gsp_fd.fd_integration.run.options import Options, parse_command_line
from gsp_fd.fd_integration.run.plans import PlanFiles
from gsp_fd.fd_integration.tools.pddl_files import pddl_files

if TYPE_CHECKING:
    from gsp_fd.task import Task


def main(argv: Sequence[str] | None = None) -> int:
    """``REAL ARGUMENTS…``: run our search, or become the real search component ``REAL``."""
    real, *arguments = sys.argv[1:] if argv is None else argv
    if not any(map(is_learned, arguments)):
        os.execv(real, [real, *arguments])
    die_with_parent(signal.SIGTERM)
    try:
        options = parse_command_line(["-", *arguments])
        return SearchComponent(options).run()
    except InputError as error:
        complain(str(error), "downward")
        return error.exit_code
    except Exception as error:
        complain_of_bug(error, debug=False)
        return ExitCode.SEARCH_CRITICAL_ERROR


class SearchComponent:
    """One search on the task that stands on standard input."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.planner = Planner(options)

    def run(self) -> int:
        """The exit code of the search."""
        planner, searches = self.planner, configurations(self.options)
        plans = PlanFiles(self.options.plan_path, self.options.previous_plans)
        components = Components(self.options, Inputs(["search"]), searches, plans, planner.log, planner.interrupts)
        with planner.interrupts:
            return planner.guarded("search", lambda: self.search(components))

    def search(self, components: Components) -> int:
        """Search; if a model does not apply, say so and end without a plan.

        Any code from 30 to 39 would make a portfolio throw away the plans of its other members.
        """
        deadline, log = Deadline(Limits()), self.planner.log
        self.planner.interrupts.set_alarm(deadline.left())
        try:
            log.search("reading input...")
            components.task = self.load(components.searches[0])
            log.search("done reading input!")
            return components.run_search(deadline)
        except InputError as error:
            complain(str(error), "downward")
            log.line("Search stopped without finding a solution.")
            return ExitCode.SEARCH_UNSOLVED_INCOMPLETE

    def load(self, search: CheckedSearch) -> Task:
        """The lifted task; InputError if it cannot be had, or if it is another one than that on standard input."""
        from gsp_fd.fd_integration.tools.sas_states import SasStates, read_sas_head
        from gsp_fd.task import load_pddl

        head = read_sas_head(sys.stdin.buffer, "standard input")
        domain_file, problem_file = pddl_files(search)
        task = load_pddl(domain_file, problem_file)
        assert task.lifted is not None
        if not SasStates(head.facts, task.lifted).is_initial(head.initial):
            message = f"not the problem on standard input (domain {domain_file}): their initial states differ"
            raise InputError(message, str(problem_file))
        return task
