"""Fast Downward's components, all in this process: translate (load and ground), search, validate."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from signal import SIGABRT, SIGKILL, SIGXCPU
from typing import TYPE_CHECKING

from gsp_fd.common.discovery import find_domain, looks_like_sas
from gsp_fd.common.errors import InputError, driver_error, search_error
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.common.files import write_atomically
from gsp_fd.common.processes import limited
from gsp_fd.fd_integration.language.context import Context
from gsp_fd.fd_integration.run.configuration import SHORT_SEARCHES, CheckedSearch, configuration, configurations, filled
from gsp_fd.fd_integration.run.interrupts import Interrupts
from gsp_fd.fd_integration.run.limits import Deadline, limit_address_space
from gsp_fd.fd_integration.run.log import Log, Stopwatch, translator_statistics
from gsp_fd.fd_integration.run.model_choice import AUTO, choose_model
from gsp_fd.fd_integration.run.options import Options
from gsp_fd.fd_integration.run.plans import PlanFiles
from gsp_fd.fd_integration.run.search import Plan, Run

if TYPE_CHECKING:
    from gsp_fd.task import Task, TaskLimits


@dataclass
class Inputs:
    """The files of a run and the components to run on them."""

    components: list[str] = field(default_factory=list)
    domain: Path | None = None
    problem: Path | None = None
    sas: Path | None = None

    @property
    def search(self) -> bool:
        """Whether a search is to run."""
        return "search" in self.components


def choose_inputs(options: Options) -> Inputs:
    """Which components run, and on which files; by Fast Downward's rules."""
    inputs, files = Inputs(), options.files
    if not files:
        raise driver_error("no input file: give a PDDL problem, a domain and a problem, or a SAS file (see --help)")
    if options.translate or options.run_all:
        inputs.components.append("translate")
    if options.search or options.run_all:
        inputs.components.append("search")
    if not inputs.components:
        is_sas = len(files) == 1 and looks_like_sas(Path(files[0]))
        inputs.components = ["search"] if is_sas else ["translate", "search"]
    if inputs.components[0] == "search":
        if len(files) != 1:
            raise driver_error(f"the search alone takes exactly one file, a SAS file{_misplaced_search(files)}")
        inputs.sas = Path(files[0])
    elif len(files) > 2:
        raise driver_error(f"expected one or two PDDL files, found {', '.join(files)}")
    else:
        inputs.problem = Path(files[-1])
        inputs.domain = Path(files[0]) if len(files) == 2 else find_domain(inputs.problem)
    if options.portfolio is not None and inputs.search:
        inputs.components = ["search"]  # the members translate for themselves
    if options.validate or (options.debug and len(inputs.components) == 2):
        inputs.components.append("validate")
    return inputs


def _misplaced_search(files: list[str]) -> str:
    if files[0] in SHORT_SEARCHES or "(" in files[0]:
        return f"; write --search {shlex.quote(files[0])} after the files"
    return ""


@dataclass
class Components:
    """The components of one run; each method runs one and returns its exit code."""

    options: Options
    inputs: Inputs
    searches: list[CheckedSearch]
    """Every search that may run; which one may depend on the task's costs."""
    plans: PlanFiles | None
    """Where plans are written; None to keep them in memory only."""
    log: Log
    interrupts: Interrupts
    task: Task | None = None
    own_process: bool = True
    """Whether this is the program gsp-plan, and not a part of another."""
    ran: Run | None = None
    """The search that ran."""

    def settle_model(self) -> None:
        """Choose between the searches with and without a model, if the options leave that to the task."""
        choice = choose_model(self.options, self.task)
        for line in choice.lines:
            self.log.line(line)
        if choice.options is not self.options:
            self.options = choice.options
            self.searches = configurations(self.options)

    def translate(self) -> int:
        """Load the PDDL files and ground them, if the search needs that or the SAS file is wanted."""
        from gsp_fd.task import load_pddl

        options, log, inputs = self.options, self.log, self.inputs
        assert inputs.domain is not None
        assert inputs.problem is not None
        files = [str(inputs.domain), str(inputs.problem)]
        log.info("Running translator.")
        deadline = self.start("translator", "translate", None, ["--translate", *files])
        if options.strict:
            self.check_strictly(inputs.domain, inputs.problem)
        whole = Stopwatch()
        self.section("Parsing")
        watch = Stopwatch()
        self.task = load_pddl(
            inputs.domain,
            inputs.problem,
            limits=self.limits(deadline),
            translate_options=options.translate_options,
            log=log.line,
        )
        translated = self.task.sas is not None
        if not translated:
            log.line(f"Parsing: {watch}")
        if inputs.search:
            self.settle_model()
        keep = options.keep_sas_file or options.sas_file is not None or not inputs.search
        if keep or any(search.wants_ground for search in self.searches):
            self.ground(deadline, whole=keep, statistics=not translated)
        if keep:
            self.write_sas()
        if not translated:
            log.line(f"Done! {whole}")
        return ExitCode.SUCCESS

    def ground(self, deadline: Deadline, *, whole: bool, statistics: bool) -> None:
        """Ground the task, if it is small or the whole of it is wanted."""
        from gsp_fd.task import SMALL_GROUNDING

        assert self.task is not None
        watch = Stopwatch()
        limits = self.limits(deadline)
        ground = self.task.ground(limits) if whole else self.task.ground_if_small(limits)
        if ground is None:
            self.log.line(f"More than {SMALL_GROUNDING} actions: the search works on the lifted task. {watch}")
        elif statistics:
            self.log.line(f"Instantiating: {watch}")
            for line in translator_statistics(ground):
                self.log.line(line)

    def limits(self, deadline: Deadline) -> TaskLimits:
        """What is left of the limits, for a step of the work outside the search."""
        from gsp_fd.task import TaskLimits

        status = self.log.status
        return TaskLimits(deadline.left(), deadline.memory_kb(), status.grounding if status.terminal else None)

    def section(self, name: str) -> None:
        self.log.line(f"{name}...")

    def check_strictly(self, domain: Path, problem: Path) -> None:
        from gsp_fd.pddl.strict import strict_findings

        findings = strict_findings(domain, problem)
        if findings:
            message = "not standard PDDL (--strict): " + "\n  ".join(findings)
            raise InputError(message, exit_code=ExitCode.TRANSLATE_INPUT_ERROR)

    def write_sas(self) -> None:
        assert self.task is not None
        path = self.options.sas_path
        data = self.task.sas if self.task.sas is not None else self.task.ground().to_sas()
        try:
            write_atomically(path, data)
        except OSError as error:
            message = f"cannot write the SAS file: {error.strerror}"
            raise driver_error(message, path) from None

    def start(self, nick: str, component: str, stdin: Path | None, command: list[str]) -> Deadline:
        """The lines that open a component, and its limits, which count from here."""
        limits = self.options.limits(component).within(self.options.limits("overall"))
        self.log.info(f"{nick} stdin: {stdin}")
        for line in limits.lines(nick):
            self.log.info(line)
        self.log.info(f"{nick} command line string: {shlex.join(['gsp-plan', *command])}")
        limit_address_space(limits.memory)
        deadline = Deadline(limits)
        self.interrupts.set_alarm(deadline.left())
        return deadline

    def search(self) -> int:
        """Run the search that the options and the costs of the task lead to, or a portfolio."""
        if self.options.portfolio is not None:
            return self.run_portfolio(Path(self.options.portfolio))
        self.log.info("Running search (release).")
        if self.task is None:
            self.settle_model()
        source = self.inputs.sas or self.inputs.problem
        deadline = self.start("search", "search", source, [str(source), "--search", self.search_text()])
        self.log.start_search()
        code = self.run_search(deadline)
        if self.options.explain is not None and self.ran is not None and self.ran.best is not None:
            self.explain(Path(self.options.explain), self.ran.best)
        return code

    def explain(self, file: Path, plan: Plan) -> None:
        """Say what the model and hFF think of every step of a plan; the plan itself is already written."""
        from gsp_fd.fd_integration.run.explanation import explained, page, text_lines

        assert self.task is not None
        steps, no_model = explained(self.task, plan.actions, self.options.model)
        if no_model:
            self.log.line(f"No learned values: {no_model}")
        for line in text_lines(steps):
            self.log.line(line)
        try:
            write_atomically(file, page(f"A plan for {Path(self.task.name).name}", steps).encode())
        except OSError as error:
            raise driver_error(f"cannot write the explanation: {error.strerror}", file) from None

    def search_text(self) -> str:
        """The search for the log, with the model that ``gsp()`` stands for."""
        search = self.searches[0]
        named = self.options.model not in (None, AUTO)
        if named or not search.learned or self.task is None or self.task.lifted is None:
            return search.text
        from gsp_fd.model_library import find_model

        try:
            return filled(search.text, {"model": str(find_model("auto", self.task.lifted))})
        except InputError:  # none fits: the search says so, if it needs one
            return search.text

    def run_portfolio(self, file: Path) -> int:
        """Run the members of a portfolio, each in processes of its own."""
        from gsp_fd.fd_integration.run.portfolio import PortfolioRun, read_portfolio

        inputs = self.inputs
        portfolio = read_portfolio(file)
        limits = self.options.limits("search").within(self.options.limits("overall"))
        self.log.info(f"search portfolio: {file}")
        for line in limits.lines("search"):
            self.log.info(line)
        files = [path for path in (inputs.sas, inputs.domain, inputs.problem) if path is not None]
        assert self.plans is not None
        run = PortfolioRun(portfolio, self.options, files, self.plans, self.log, limits)
        self.plans.delete_existing()
        return run.execute()

    def run_search(self, deadline: Deadline) -> int:
        """The search itself, without the lines of the driver around it."""
        from gsp_fd import _core
        from gsp_fd.task import load_sas

        options, log = self.options, self.log
        if self.plans is not None and options.previous_plans is None:
            self.plans.delete_existing()
        if self.task is None:
            assert self.inputs.sas is not None
            log.search("reading input...")
            self.task = load_sas(self.inputs.sas)
            log.search("done reading input!")
        context = self.make_context(deadline)
        chosen = self.searches[0]
        if len(self.searches) > 1:
            chosen = configuration(options, context.new_space().unit_cost)
            log.search(f"Chosen for the costs of this task: {chosen.text}")
        self.ran = Run(
            context,
            log,
            self.plans,
            deadline,
            self.interrupts,
            options.max_expansions,
            improve_seconds=options.improve or 0.0,
            own_process=self.own_process,
            text=chosen.text,
        )
        try:
            return self.interrupts.deferred(self.ran.execute)(chosen.component)
        except _core.CoreInputError as error:
            raise search_error(str(error.args[0])) from None
        finally:
            self.interrupts.set_alarm(None)
            self.interrupts.forget()

    def make_context(self, deadline: Deadline) -> Context:
        assert self.task is not None
        ground = None
        if not self.task.is_lifted or any(search.wants_ground for search in self.searches):
            ground = self.task.ground_if_small(self.limits(deadline))
        if ground is not None:
            self.log.search(f"Variables: {ground.num_variables}")
            self.log.search(f"FactPairs: {ground.num_facts}")
        on_lifted = any(search.learned for search in self.searches)
        log = self.interrupts.deferred(self.log.search)
        return Context(self.task, ground, on_lifted=on_lifted, limits=lambda: self.limits(deadline), log=log)

    def validate(self) -> int:
        """Run VAL where there is one; our own validator accepted the plans before they were written."""
        from shutil import which

        self.log.info("Running validate.")
        assert self.plans is not None
        if not self.plans.written:
            self.log.line("Not running validate since no plans found.")
            return ExitCode.SUCCESS
        val = which("validate") or which("Validate")
        if val is None or self.inputs.problem is None:
            why = "VAL is not on the PATH" if val is None else "VAL needs PDDL files"
            self.log.line(f"{why}: the plans were checked by the built-in validator.")
            return ExitCode.SUCCESS
        return self.run_val(val)

    def run_val(self, val: str) -> int:
        import subprocess

        from gsp_fd.task import LimitReached

        assert self.plans is not None
        limits = self.options.limits("validate").within(self.options.limits("overall"))
        files = [str(self.inputs.domain), str(self.inputs.problem), *map(str, self.plans.written)]
        for line in limits.lines("validate"):
            self.log.info(line)
        self.log.info(f"validate command line string: {shlex.join([val, *files])}")
        if limits.time == 0:
            raise LimitReached("time")
        command = limited([val, *files], None if limits.time is None else ceil(limits.time), limits.memory)
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        except OSError as error:
            message = f"cannot run VAL: {error.strerror}"
            raise InputError(message, val, exit_code=ExitCode.DRIVER_CRITICAL_ERROR) from None
        for line in done.stdout.decode(errors="replace").splitlines():
            self.log.line(line)
        if done.returncode == 0:
            return ExitCode.SUCCESS
        if limits.time and done.returncode in (-SIGXCPU, -SIGKILL):
            raise LimitReached("time")
        if limits.memory and (b"bad_alloc" in done.stdout or done.returncode == -SIGABRT):
            raise LimitReached("memory")
        if done.returncode < 0 or done.returncode == 127:
            message = f"VAL gave no verdict (exit code {done.returncode})"
            raise InputError(message, val, exit_code=ExitCode.DRIVER_CRITICAL_ERROR)
        for path in list(self.plans.written):
            self.plans.withdraw(path)
        message = f"VAL rejected the plan (exit code {done.returncode}); the plan files were deleted"
        raise InputError(message, exit_code=ExitCode.SEARCH_CRITICAL_ERROR)
