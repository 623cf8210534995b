"""With a model or without: what the default does for a task, and the line that says why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gsp_fd.fd_integration.language.aliases import ALIASES
from gsp_fd.fd_integration.run.configuration import chosen_alias, without_model
from gsp_fd.fd_integration.run.options import IMPROVE_SLICE, Options

if TYPE_CHECKING:
    from gsp_fd.task import Task

AUTO = "auto"


@dataclass(frozen=True)
class ModelChoice:
    """What the options become for a task."""

    options: Options
    lines: tuple[str, ...] = ()
    """For the log."""


def choose_model(options: Options, task: Task | None) -> ModelChoice:
    """Settles whether an alias that wants a model has one for a task, or None for one that came as SAS.

    A model that was named is used or refused; one to be found may be missing, and the alias has a substitute for that.
    """
    alias = ALIASES.get(chosen_alias(options) or "")
    if alias is None or not alias.without_model:
        return ModelChoice(options)
    if alias.improve and options.improve is None:
        options = replace(options, improve=IMPROVE_SLICE)
    if options.model not in (None, AUTO):
        return ModelChoice(options, (f"Model {options.model} was given: {alias.steps}",))
    fallback = without_model(options)
    substitute = ALIASES[alias.without_model].steps
    if task is None or task.lifted is None:
        reason = "a model needs PDDL files, not SAS" if task is None else "the task was translated to SAS"
        return ModelChoice(fallback, (f"No model: {reason}. {substitute}",))
    from gsp_fd.model_library import fitting_model

    choice = fitting_model(task.lifted)
    broken = tuple(f"Warning: {message}" for message in choice.broken)
    if choice.model is None:
        return ModelChoice(fallback, (*broken, f"No model fits: {choice.reason}. {substitute}"))
    others = f" ({choice.reason})" if choice.reason else ""
    named = f"Model {choice.model.name} ({choice.model.origin}) fits{others}"
    return ModelChoice(options.with_model(str(choice.model.path)), (*broken, f"{named}: {alias.steps}"))
