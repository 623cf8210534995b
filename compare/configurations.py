"""What is compared: planner configurations by name, in the search language, or as any command."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gsp_fd.common.errors import driver_error
from gsp_fd.common.processes import PLANNER, fast_downward_command
from gsp_fd.common.spelling import near_miss
from gsp_fd.fd_integration.run.configuration import SHORT_HEURISTICS, check_combinations, configurations
from gsp_fd.fd_integration.run.options import Options, parse_command_line
from gsp_fd.model_library import RUN_MODEL

OURS, FAST_DOWNWARD, COMMAND = "gsp-fd", "fast-downward", "command"
"""Kinds of planners."""

_NO_FAST_DOWNWARD = "Fast Downward is not installed: pip install up-fast-downward"


@dataclass(frozen=True)
class Configuration:
    """A planner with its options.

    ``command`` has {domain} {problem} {plan} {time} {memory} {expansions} in it, the limits in seconds and MiB;
    ``spec`` shows it to people, without paths of this machine. ``missing`` says why it cannot run here.
    """

    name: str
    description: str
    planner: str
    spec: str
    command: tuple[str, ...] = ()
    missing: str = ""
    model: str = ""
    """The model it was given, if it is learned and names none itself."""

    def header(self) -> dict[str, str]:
        """What the results file says about it."""
        return {"name": self.name, "description": self.description, "planner": self.planner, "spec": self.spec}

    def arguments(self, values: dict[str, str]) -> list[str]:
        """The command with values in the place of the names in braces."""
        return [re.sub(r"\{(\w+)\}", lambda match: values.get(match[1], match[0]), part) for part in self.command]


_LEARNED = ("--heuristic", "gsp")
_B32 = ("--batch-size", "32")
_WEIGHT = ("-w", "2")

BUILT_IN: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "gsp-default": (OURS, "what gsp-plan does by default", ("--alias", "gsp")),
    "gsp-anytime": (OURS, "the default, then cheaper and cheaper plans", ("--alias", "gsp-anytime")),
    "lama-first": (OURS, "LAMA's first iteration", ("--alias", "lama-first")),
    "lama": (OURS, "LAMA", ("--alias", "lama")),
    "gsp-policy": (OURS, "GSP greedy policy", (*_LEARNED, "--search", "policy")),
    "gsp-wastar": (OURS, "GSP WA*, w = 2, b = 1", (*_LEARNED, "--search", "wastar", *_WEIGHT)),
    "gsp-wastar-b32": (OURS, "GSP WA*, w = 2, b = 32", (*_LEARNED, "--search", "wastar", *_WEIGHT, *_B32)),
    "gsp-gbfs": (OURS, "GSP GBFS, b = 1", (*_LEARNED, "--search", "gbfs")),
    "gsp-gbfs-b32": (OURS, "GSP GBFS, b = 32", (*_LEARNED, "--search", "gbfs", *_B32)),
    "hff-wastar": (OURS, "WA* with hFF, w = 2", ("--heuristic", "hff", "--search", "wastar", *_WEIGHT)),
    "hmax-wastar": (OURS, "WA* with hmax, w = 2", ("--heuristic", "hmax", "--search", "wastar", *_WEIGHT)),
    "fd-ff-wastar": (FAST_DOWNWARD, "Fast Downward: WA* with hFF, w = 2", ("--search", "eager_wastar([ff()], w=2)")),
    "fd-lama-first": (FAST_DOWNWARD, "Fast Downward: LAMA's first iteration", ("--alias", "lama-first")),
    "fd-lama": (FAST_DOWNWARD, "Fast Downward: LAMA", ("--alias", "lama")),
}
"""By name: kind of planner, description, options."""


def find_configurations(
    names: Sequence[str], common: Options | None = None, *, expansions: bool = True
) -> list[Configuration]:
    """Configurations for ``NAME``, ``NAME=SEARCH``, ``NAME=fd:SEARCH`` and ``NAME=!COMMAND``.

    ``common``: parameters for our own searches that say nothing about them. InputError for names that are unknown or
    used twice and for searches that are none.
    """
    common = common or Options(model="auto")
    found = [_configuration(name.strip(), common, expansions) for name in names]
    for position, configuration in enumerate(found):
        if any(configuration.name == other.name for other in found[:position]):
            raise driver_error(f"two configurations are called '{configuration.name}'")
    return found


def heuristic_configuration(
    name: str, options: Sequence[str], common: Options, *, expansions: bool = True
) -> Configuration:
    """One of our heuristics by its short name, such as ``hff``; ``options`` say what searches with it."""
    chosen = ("--heuristic", name, *options)
    return _ours(name, search_text(chosen), chosen, common, expansions)


def search_text(options: Sequence[str]) -> str:
    """The search that options of ours stand for, in the search language."""
    return configurations(parse_command_line(["domain.pddl", "problem.pddl", *options]))[0].text


def split_names(text: str) -> list[str]:
    """The parts between commas that stand outside of brackets and quotes."""
    parts, depth, quote = [""], 0, ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        if character == "," and depth == 0 and not quote:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def _configuration(text: str, common: Options, expansions: bool) -> Configuration:
    name, separator, definition = text.partition("=")
    name, definition = name.strip(), definition.strip()
    if not separator:
        if name.lower() in SHORT_HEURISTICS:
            return heuristic_configuration(name.lower(), (), common, expansions=expansions)
        if name not in BUILT_IN:
            known = [*BUILT_IN, *SHORT_HEURISTICS]
            hint = near_miss(name, known) or f"; known are {', '.join(known)}"
            raise driver_error(f"there is no configuration '{name}'{hint}; or define one: NAME=SEARCH or NAME=!COMMAND")
        planner, description, options = BUILT_IN[name]
        if planner == FAST_DOWNWARD:
            return _fast_downward(name, description, options)
        return _ours(name, description, options, common, expansions)
    if not re.fullmatch(r"[\w.+-]+", name) or not definition:
        raise driver_error(
            f"'{text}' should be NAME=SEARCH or NAME=!COMMAND, with letters, digits and . + - _ in the name"
        )
    if definition.startswith("!"):
        return _command(name, definition[1:])
    if definition.startswith("fd:"):
        definition = definition[3:].strip()
        return _fast_downward(name, f"Fast Downward: {definition}", _search_options(definition))
    return _ours(name, definition, _search_options(definition), common, expansions)


def _search_options(definition: str) -> tuple[str, ...]:
    """Options as they are, or a search."""
    try:
        return tuple(shlex.split(definition)) if definition.startswith("-") else ("--search", definition)
    except ValueError as error:
        raise driver_error(f"{definition}: {error}") from None


def _ours(name: str, description: str, options: tuple[str, ...], common: Options, expansions: bool) -> Configuration:
    """A search of this planner; InputError if the options are none."""
    added = _left_open(options, common)
    more = added.forwarded(learned=True)
    limits = ["--overall-time-limit", "{time}", "--overall-memory-limit", "{memory}m"]
    if expansions:
        limits += ["--max-expansions", "{expansions}"]
    command = (*PLANNER, *limits, "--plan-file", "{plan}", "{domain}", "{problem}", *map(located, (*options, *more)))
    shown = _shown("gsp-plan", [*options, *map(_without_folder, more)])
    return Configuration(name, description, OURS, shown, command, model=added.model or "")


def _left_open(options: Sequence[str], common: Options) -> Options:
    """The common parameters that make a difference to a search, because it does not say them itself."""
    parsed = parse_command_line(["domain.pddl", "problem.pddl", *options])
    check_combinations(parsed)
    searches = configurations(parsed)
    added = Options()
    for name, value in common.parameters(any(search.learned for search in searches)).items():
        changed = configurations(replace(parsed, **{name: value}))
        if getattr(parsed, name) is None and [new.text for new in changed] != [old.text for old in searches]:
            setattr(added, name, value)
    return added


def _fast_downward(name: str, description: str, options: tuple[str, ...]) -> Configuration:
    program = fast_downward_command()
    limits = ["--overall-time-limit", "{time}", "--overall-memory-limit", "{memory}m"]
    before = "--alias" in options
    command = [*program, *limits, "--plan-file", "{plan}", *(options if before else ())]
    command += ["{domain}", "{problem}", *(() if before else options)]
    spec = _shown("fast-downward.py", options)
    return Configuration(
        name, description, FAST_DOWNWARD, spec, tuple(command), missing="" if program else _NO_FAST_DOWNWARD
    )


def _command(name: str, text: str) -> Configuration:
    """A command of the user's."""
    try:
        parts = shlex.split(text)
    except ValueError as error:
        raise driver_error(f"{text}: {error}") from None
    if not parts:
        raise driver_error(f"configuration '{name}' has no command behind the '!'")
    for field in ("{domain}", "{problem}", "{plan}"):
        if not any(field in part for part in parts):
            raise driver_error(f"the command of '{name}' needs {field} in it: {text.strip()}")
    command = [located(part) for part in parts]
    program = shutil.which(command[0]) or command[0]
    shown = [_without_folder(part) for part in parts]
    return Configuration(name, shown[0], COMMAND, shlex.join(shown), (program, *command[1:]))


def located(part: str) -> str:
    """The path of a file or of a run with a model as seen from here, because planners run in another folder."""
    here = os.path.isfile(part) or os.path.isfile(os.path.join(part, RUN_MODEL))
    return os.path.abspath(part) if here else part


def _without_folder(part: str) -> str:
    return os.path.basename(part) if os.path.isabs(part) else part


def _shown(program: str, options: Sequence[str]) -> str:
    return shlex.join([program, *options])
