"""From files to a task: PDDL lifted, or through Fast Downward's translator where its options are given; or a SAS file.

A task knows where it came from: plans are validated against the files, not against what the search made of them.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gsp_fd import _core
from gsp_fd.common.errors import InputError, search_error
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.pddl import Domain, LiftedTask, Problem, lifted_task, read_domain, read_problem
from gsp_fd.translator import translate
from gsp_fd.validate import Validation, validate_plan, validate_sas_plan

Log = Callable[[str], None]
FULL = "full"
"""The kind of a task with the goals and the start of its files."""

SMALL_GROUNDING = _core.SMALL_GROUNDING
"""Reachable actions up to which searches and heuristics work on the ground task; beyond, on the lifted one."""


LANDMARK_GROUNDING = 1_000_000
"""The same for landmarks, which are found once: a task of this size takes some seconds and a few hundred megabytes."""


class LimitReached(Exception):
    """A limit or a signal ended the loading or grounding of a task: ``time``, ``memory`` or ``interrupted``."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class TranslationFailed(Exception):
    """Fast Downward's translator ended without a task; ``exit_code`` is its verdict, already told in the log."""

    def __init__(self, exit_code: ExitCode) -> None:
        super().__init__(exit_code.name)
        self.exit_code = exit_code


@dataclass(frozen=True, slots=True)
class TaskLimits:
    """CPU seconds and resident memory for one step of the work; None for no limit."""

    time: float | None = None
    memory_kb: int | None = None
    progress: Callable[[int], None] | None = None
    """Called a few times a second with the number of instances of actions found so far, where that takes longer."""


@dataclass
class Task:
    """A planning task. Exactly one of ``lifted`` and ``sas`` is set.

    Pickles by its Python parts; the native tasks are made again on first use.
    """

    name: str
    domain: Domain | None = None
    problem: Problem | None = None
    lifted: LiftedTask | None = None
    sas: bytes | None = None
    sas_file: str = "output.sas"
    kind: str = FULL
    """Which variant of a problem it is, see :mod:`gsp_fd.generate.variants`."""
    _native_lifted: _core.LiftedTask | None = field(default=None, repr=False)
    _native_ground: _core.GroundTask | None = field(default=None, repr=False)
    _is_large: bool = field(default=False, repr=False)
    _relaxations: dict[str, _core.Heuristic] = field(default_factory=dict, repr=False)
    """A heuristic per cost type: heuristics share what they are made of, and the next search will want it again."""

    @property
    def is_lifted(self) -> bool:
        """Whether the lifted engine can take the task."""
        return self.lifted is not None

    def native_lifted(self) -> _core.LiftedTask:
        """The task of the lifted engine (``_core.LiftedTask``)."""
        if self._native_lifted is None:
            if self.lifted is None:
                message = "the lifted engine cannot take this task: it came as SAS, without objects and schemas"
                raise InputError(message, exit_code=ExitCode.SEARCH_UNSUPPORTED)
            self._native_lifted = _core.LiftedTask.from_spec(self.lifted)
        return self._native_lifted

    def ground(self, limits: TaskLimits = TaskLimits()) -> _core.GroundTask:  # noqa: B008 (frozen)
        """The ground task (``_core.GroundTask``); LimitReached if grounding takes too much."""
        if self._native_ground is None:
            with self._errors_explained():
                if self.sas is not None:
                    self._native_ground = _core.GroundTask.from_sas(self.sas)
                else:
                    self._native_ground = self.native_lifted().ground(limits.time, limits.memory_kb, limits.progress)
        return self._native_ground

    def ground_if_small(self, limits: TaskLimits = TaskLimits()) -> _core.GroundTask | None:  # noqa: B008 (frozen)
        """The ground task, or None if it has more than ``SMALL_GROUNDING`` actions."""
        if self.sas is not None or self._native_ground is not None:
            return self.ground(limits)
        if not self._is_large:
            with self._errors_explained():
                self._native_ground = self.native_lifted().ground_up_to(
                    SMALL_GROUNDING, limits.time, limits.memory_kb, limits.progress
                )
            self._is_large = self._native_ground is None
        return self._native_ground

    def heuristic(
        self,
        kind: str,
        cost_type: str = "normal",
        name: str | None = None,
        limits: TaskLimits = TaskLimits(),  # noqa: B008 (frozen)
    ) -> _core.Heuristic:
        """A heuristic of the core for ground and lifted states of this task.

        It is made from the ground task, or straight from the lifted one where that is large.
        """
        source = self.ground_if_small(limits) or self.native_lifted()
        with self._errors_explained():
            made = _core.heuristic(kind, source, cost_type, name, limits.time, limits.memory_kb, limits.progress)
        self._relaxations.setdefault(cost_type, made)
        return made

    def landmarks(
        self,
        limits: TaskLimits = TaskLimits(),  # noqa: B008 (frozen)
        *,
        log: Log = lambda line: None,
        **options: Any,
    ) -> _core.Landmarks | None:
        """The landmarks of this task, by the options of ``_core.landmarks``; None if it is too large for them.

        A task whose searches work on lifted states is grounded for its landmarks alone, if that takes but a part of
        the limits.
        """
        ground = self.ground_if_small(limits)
        if ground is not None:
            with self._errors_explained():
                return _core.landmarks(ground, max_time=limits.time, max_memory_kb=limits.memory_kb, log=log, **options)
        seconds = None if limits.time is None else limits.time / 4
        memory = None if limits.memory_kb is None else limits.memory_kb // 2
        try:
            with self._errors_explained():
                ground = self.native_lifted().ground_up_to(LANDMARK_GROUNDING, seconds, memory, limits.progress)
                if ground is None:
                    return None
                return _core.landmarks(ground, max_time=seconds, max_memory_kb=memory, log=log, **options)
        except LimitReached as error:
            if error.reason == "interrupted":
                raise
            return None

    def check_ground_strata(self, limits: TaskLimits = TaskLimits()) -> None:  # noqa: B008 (frozen)
        """Raises InputError if derived atoms that matter depend on their own negation, as Fast Downward does.

        Predicates that do are no mistake yet: their atoms may be stratified, which shows in the ground rules.
        """
        assert self.lifted is not None
        assert self.domain is not None
        with self._errors_explained():
            circle = self.native_lifted().circle_through_negation(limits.time, limits.memory_kb)
        names = {self.lifted.predicates[predicate] for predicate in circle}
        for rule in self.domain.derived:
            if rule.predicate in names:
                message = f"derived predicate '{rule.predicate}' depends on its own negation"
                raise InputError(message, self.domain.file, rule.line)

    @contextmanager
    def _errors_explained(self) -> Iterator[None]:
        try:
            yield
        except _core.CoreInputError as error:
            message, line = error.args
            code = ExitCode.SEARCH_INPUT_ERROR if self.sas is not None else ExitCode.TRANSLATE_INPUT_ERROR
            raise InputError(message, self.sas_file if self.sas else None, line or None, exit_code=code) from None
        except _core.Stopped as error:
            raise LimitReached(str(error)) from None
        except MemoryError:
            raise LimitReached("memory") from None

    def validate(self, plan: Sequence[str]) -> Validation:
        """Checks a plan, given as operator names, against the files the task came from."""
        if self.domain is not None and self.problem is not None:
            return validate_plan(self.domain, self.problem, plan)
        assert self.sas is not None
        return validate_sas_plan(self.sas, plan, file=self.sas_file)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_native_lifted": None, "_native_ground": None, "_relaxations": {}}


def load_pddl(
    domain_file: str | os.PathLike[str],
    problem_file: str | os.PathLike[str],
    *,
    limits: TaskLimits = TaskLimits(),  # noqa: B008 (frozen)
    translate_options: Sequence[str] = (),
    log: Log = lambda line: None,
) -> Task:
    """Reads a domain and a problem. Raises InputError, TranslationFailed or LimitReached."""
    domain = read_domain(domain_file)
    problem = read_problem(problem_file, domain)
    task = Task(name=str(problem_file), domain=domain, problem=problem)
    if translate_options:
        log("Using Fast Downward's translator, because of its options")
        task.sas = _translated(Path(domain_file), Path(problem_file), limits, translate_options, log)
    else:
        task.lifted = lifted_task(domain, problem)
        if not task.lifted.is_stratified:
            task.check_ground_strata(limits)
    return task


def _translated(domain: Path, problem: Path, limits: TaskLimits, options: Sequence[str], log: Log) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        sas_file = Path(folder) / "output.sas"
        megabytes = limits.memory_kb // 1024 if limits.memory_kb else None
        result = translate(
            domain,
            problem,
            sas_file,
            time_limit=limits.time,
            memory_limit_mb=megabytes,
            extra_options=options,
            log=log,
        )
        if result.exit_code != ExitCode.SUCCESS:
            raise TranslationFailed(result.exit_code)
        return sas_file.read_bytes()


def load_sas(sas_file: str | os.PathLike[str]) -> Task:
    """Reads a SAS version 3 file; it is checked at once."""
    name = os.fspath(sas_file)
    try:
        data = Path(sas_file).read_bytes()
    except OSError as error:
        raise search_error(str(error.strerror), name) from None
    task = Task(name=name, sas=data, sas_file=name)
    task.ground()
    return task
