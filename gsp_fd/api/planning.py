"""``plan``: a search on a task, in this process, through the same code as ``gsp-plan``."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from gsp_fd.api.models import Model
from gsp_fd.api.tasks import Action, PathLike, Task
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.common.files import write_atomically
from gsp_fd.common.quantities import parse_memory, parse_time
from gsp_fd.fd_integration.language.aliases import ALIASES
from gsp_fd.fd_integration.run.components import Components, Inputs
from gsp_fd.fd_integration.run.configuration import check_combinations, configurations
from gsp_fd.fd_integration.run.interrupts import Interrupts
from gsp_fd.fd_integration.run.limits import Deadline, Limits
from gsp_fd.fd_integration.run.log import Log, Statistics
from gsp_fd.fd_integration.run.options import Options
from gsp_fd.inference import Device
from gsp_fd.task import LimitReached
from gsp_fd.validate import format_plan

Status = Literal["solved", "unsolvable", "no plan within the bound", "failed", "out of time", "out of memory"]

_STATUS: dict[int, Status] = {
    ExitCode.SUCCESS: "solved",
    ExitCode.SEARCH_PLAN_FOUND_AND_OUT_OF_TIME: "solved",
    ExitCode.SEARCH_PLAN_FOUND_AND_OUT_OF_MEMORY: "solved",
    ExitCode.SEARCH_UNSOLVABLE: "unsolvable",
    ExitCode.SEARCH_UNSOLVABLE_WITHIN_BOUND: "no plan within the bound",
    ExitCode.SEARCH_UNSOLVED_INCOMPLETE: "failed",
    ExitCode.SEARCH_OUT_OF_TIME: "out of time",
    ExitCode.SEARCH_OUT_OF_MEMORY: "out of memory",
}


@dataclass(frozen=True)
class Result:
    """How a search ended. A plan, if there is one, was checked by the validator."""

    status: Status
    exit_code: ExitCode
    """The same in Fast Downward's exit codes; it also tells whether a limit ended an anytime search with a plan."""
    plan: tuple[Action, ...] | None
    """The cheapest plan found."""
    cost: int | None
    search: str
    """The search that ran, in the search language."""
    statistics: Statistics
    """Expanded, evaluated, generated … states of all searches of the run."""
    cpu_seconds: float
    log: str
    """What ``gsp-plan`` would have printed."""
    unit_cost: bool = True

    @property
    def solved(self) -> bool:
        """Whether there is a plan."""
        return self.plan is not None

    def save(self, path: PathLike) -> None:
        """Write the plan as a plan file; ValueError if there is none."""
        if self.plan is None or self.cost is None:
            raise ValueError(f"there is no plan to save: {self.status}")
        text = format_plan([action.name for action in self.plan], self.cost, unit_cost=self.unit_cost)
        write_atomically(Path(path), text.encode())

    def __repr__(self) -> str:
        plan = "no plan" if self.plan is None else f"{len(self.plan)} steps of cost {self.cost}"
        return f"<Result {self.status}: {plan}, {self.statistics.expanded} expanded, {self.cpu_seconds:.2f} s>"


def plan(
    task: Task,
    search: str | None = None,
    *,
    model: Model | PathLike | None = None,
    heuristic: str | Sequence[str] = (),
    weight: float | None = None,
    batch_size: int | None = None,
    symmetry: Literal["objects", "none"] | None = None,
    device: Device | None = None,
    threads: int | None = None,
    seed: int | None = None,
    improve: float | None = None,
    time_limit: float | str | None = None,
    memory_limit: int | str | None = None,
    max_expansions: int | None = None,
    verbose: bool = False,
) -> Result:
    """Search for a plan.

    :param search: in the search language, such as ``eager_greedy([ff()])``; a short name, such as ``wastar``, ``gbfs``
        or ``policy``, with ``heuristic`` and ``weight``; or an alias, such as ``lama-first``. Without it, what
        ``gsp-plan`` runs without options.
    :param model: of the learned heuristics; by default the one that fits the task.
    :param heuristic: short names, such as ``hff`` or ``gsp``.
    :param improve: CPU seconds in which plans are made cheaper after the search; infinity until nothing helps.
    :param time_limit: CPU seconds, or a text such as ``5m``.
    :param memory_limit: MiB of the whole process, or a text such as ``4g``.
    :param verbose: print what ``gsp-plan`` prints.

    Raises :class:`InputError` for searches and models that cannot be used; everything else is a :class:`Result`.

    >>> from gsp_fd import load
    >>> task = load("examples/blocksworld/domain.pddl", "examples/blocksworld/p01.pddl")
    >>> result = plan(task, "policy", model="blocksworld")
    >>> result.status, result.cost
    ('solved', 6)
    >>> print(result.plan[0], result.statistics.expanded)
    (unstack b4 b1) 6
    """
    options = Options(
        weight=weight,
        batch_size=batch_size,
        symmetry=symmetry,
        device=device,
        threads=threads,
        seed=seed,
        improve=improve,
        max_expansions=max_expansions,
        model=None if model is None else str(model.path if isinstance(model, Model) else model),
    )
    _say_search(options, search, [heuristic] if isinstance(heuristic, str) else heuristic)
    check_combinations(options)
    stream = io.StringIO()
    components = Components(
        options,
        Inputs(["search"]),
        configurations(options),
        None,
        Log(stream=_Tee(stream) if verbose else stream),
        Interrupts(),
        task.loaded,
        own_process=False,
    )
    start = time.process_time()
    components.settle_model()
    code = _run(components, Deadline(_limits(time_limit, memory_limit)))
    return _result(code, components, time.process_time() - start, stream.getvalue())


def _say_search(options: Options, search: str | None, heuristics: Sequence[str]) -> None:
    """What the arguments mean among the options of ``gsp-plan``."""
    if search in ALIASES:
        options.alias = search
    elif search is not None:
        options.search_tokens += ["--search", search]
    options.search_tokens[:0] = [part for name in heuristics for part in ("--heuristic", name)]


def _limits(time_limit: float | str | None, memory_limit: int | str | None) -> Limits:
    seconds = parse_time(time_limit) if isinstance(time_limit, str) else time_limit
    memory = None if memory_limit is None else parse_memory(str(memory_limit))
    return Limits(seconds, memory)


def _run(components: Components, deadline: Deadline) -> int:
    try:
        return components.run_search(deadline)
    except LimitReached as error:
        if error.reason == "interrupted":
            raise KeyboardInterrupt from None
        return ExitCode.SEARCH_OUT_OF_TIME if error.reason == "time" else ExitCode.SEARCH_OUT_OF_MEMORY
    except MemoryError:
        return ExitCode.SEARCH_OUT_OF_MEMORY


def _result(code: int, components: Components, seconds: float, log: str) -> Result:
    if code not in _STATUS:  # the native search ended because of Ctrl-C
        raise KeyboardInterrupt
    run = components.ran
    best = run.best if run is not None else None
    actions = None if best is None else tuple(map(Action, best.actions, best.costs))
    return Result(
        _STATUS[code],
        ExitCode(code),
        actions,
        None if best is None else best.cost,
        components.searches[0].text if run is None else run.text,
        Statistics() if run is None else run.statistics,
        seconds,
        log,
        run is None or run.context.new_space().unit_cost,
    )


class _Tee(io.StringIO):
    """What is written goes into a text and to standard output."""

    def __init__(self, text: IO[str]) -> None:
        super().__init__()
        self.text = text

    def write(self, line: str) -> int:
        """To both."""
        sys.stdout.write(line)
        return self.text.write(line)
