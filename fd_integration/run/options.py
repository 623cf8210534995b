"""The command line: Fast Downward's driver options, its component options, and short forms for people.

``gsp-plan [driver options] FILES [component options]``. The options of the table below are understood on both
sides of the files; ``--search`` is a flag before them and takes a search after them, as in Fast Downward.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gsp_fd.common.errors import InputError, driver_error, search_error
from gsp_fd.common.quantities import parse_memory, parse_time
from gsp_fd.common.spelling import near_miss
from gsp_fd.fd_integration.run.limits import Limits

DEFAULT_SAS_FILE = "output.sas"
DEFAULT_PLAN_FILE = "sas_plan"
TERMINAL = "-"

SELECTORS = ("--if-unit-cost", "--if-non-unit-cost", "--always")
SEARCH_TOKENS = ("--search", "--evaluator", "--heuristic", "--landmarks", *SELECTORS)
"""Options that keep their order, because it matters: see :mod:`gsp_fd.fd_integration.run.configuration`."""

SEARCH_PARAMETERS = {"batch_size": "batch_size", "seed": "random_seed"}
IMPROVE_SLICE = -1.0
"""Instead of seconds: plans are improved for a slice of the time that the run chooses."""
LEARNED_PARAMETERS = {name: name for name in ("model", "device", "threads", "symmetry")}
"""Options by the parameter of the search language that they give a value, wherever a search leaves it open."""


@dataclass
class Options:
    """The command line after parsing; ``None`` and empty values mean that an option was not given."""

    files: list[str] = field(default_factory=list)
    search_tokens: list[str] = field(default_factory=list)
    translate_options: list[str] = field(default_factory=list)
    feature_names: list[str] | None = None
    """``-- --help NAME …``: show these features (all, if the list is empty)."""

    help: bool = False
    version: bool = False
    show_aliases: bool = False
    show_features: bool = False
    cleanup: bool = False
    run_all: bool = False
    translate: bool = False
    search: bool = False
    validate: bool = False
    debug: bool = False
    strict: bool = False
    keep_sas_file: bool = False
    preferred: bool = False
    portfolio_single_plan: bool = False

    alias: str | None = None
    build: str | None = None
    portfolio: str | None = None
    portfolio_bound: int | None = None
    log_level: str = "info"
    plan_file: str | None = None
    previous_plans: int | None = None
    sas_file: str | None = None

    compare: str | None = None
    explain: str | None = None
    show: str | None = None
    """Where the plan is drawn: a file, or the terminal."""

    weight: float | None = None
    max_expansions: int | None = None
    improve: float | None = None
    """CPU seconds to improve plans for: 0 for not at all, infinity until nothing helps, or :data:`IMPROVE_SLICE`."""
    seed: int | None = None
    batch_size: int | None = None
    model: str | None = None
    device: str | None = None
    threads: int | None = None
    symmetry: str | None = None

    overall_time: int | None = None
    overall_memory: int | None = None
    translate_time: int | None = None
    translate_memory: int | None = None
    search_time: int | None = None
    search_memory: int | None = None
    validate_time: int | None = None
    validate_memory: int | None = None

    def limits(self, component: str) -> Limits:
        """The limits given for ``overall``, ``translate``, ``search`` or ``validate``."""
        return Limits(getattr(self, f"{component}_time"), getattr(self, f"{component}_memory"))

    @property
    def plan_path(self) -> Path:
        """The plan file, or the prefix of the numbered plan files."""
        return Path(self.plan_file or DEFAULT_PLAN_FILE)

    @property
    def sas_path(self) -> Path:
        """Where the translated task goes."""
        return Path(self.sas_file or DEFAULT_SAS_FILE)

    def given(self) -> dict[str, Any]:
        """The options that were given, by their fields."""
        default = Options()
        return {name: value for name, value in vars(self).items() if value != getattr(default, name)}

    def parameters(self, learned: bool) -> dict[str, Any]:
        """Options that stand for parameters of the search language; also those of learned heuristics, or not."""
        names = (*SEARCH_PARAMETERS, *(LEARNED_PARAMETERS if learned else ()))
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    def with_model(self, model: str | None) -> Options:
        """The same options with another model; without one, also without what is only for models."""
        others: dict[str, Any] = dict.fromkeys(LEARNED_PARAMETERS) if model is None else {}
        return replace(self, **{**others, "model": model})

    def forwarded(self, learned: bool) -> list[str]:
        """The same as arguments for another run of this planner."""
        values = self.parameters(learned)
        return [part for name, value in values.items() for part in (f"--{name.replace('_', '-')}", str(value))]


@dataclass(frozen=True)
class Option:
    """A row of the table. ``parse`` raises ValueError with the reason; flags have none."""

    names: tuple[str, ...]
    target: str
    help: str
    metavar: str = ""
    parse: Callable[[str], Any] | None = None
    bare: str | None = None
    """The value of an option that may stand without one."""


def _number(minimum: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not (text.lstrip("+").isascii() and text.lstrip("+").isdigit() and len(text) <= 10):
            raise ValueError(f"'{text}' is no whole number of at least {minimum}")
        if int(text) < minimum:
            raise ValueError(f"must be at least {minimum}, not {text}")
        return int(text)

    return parse


def _weight(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"must be a number, not '{text}'") from None
    if not 0 <= value < 1e9:
        raise ValueError(f"must be at least 0, not {text}")
    return value


_IMPROVE = {"on": math.inf, "off": 0.0, "auto": IMPROVE_SLICE}


def _improve(text: str) -> float:
    if text.lower() in _IMPROVE:
        return _IMPROVE[text.lower()]
    try:
        return float(parse_time(text))
    except ValueError:
        raise ValueError(f"'{text}' is none of on, off, auto and a time such as 90, 90s, 5m or 1h") from None


def _choice(*values: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text.lower() not in values:
            raise ValueError(f"'{text}' is none of {', '.join(values)}")
        return text.lower()

    return parse


def _text(text: str) -> str:
    if not text:
        raise ValueError("must not be empty")
    return text


def _page(text: str) -> str:
    if text != TERMINAL and not text.endswith(".html"):
        raise ValueError(f"'{text}' does not end with .html")
    return text


def _limit_options() -> list[Option]:
    rows = [
        Option(("--time-limit", "--overall-time-limit"), "overall_time", "for the whole run", "TIME", parse_time),
        Option(
            ("--memory-limit", "--overall-memory-limit"),
            "overall_memory",
            "for the whole run",
            "SIZE",
            parse_memory,
        ),
    ]
    for component in ("translate", "search", "validate"):
        rows.append(Option((f"--{component}-time-limit",), f"{component}_time", "", "TIME", parse_time))
        rows.append(Option((f"--{component}-memory-limit",), f"{component}_memory", "", "SIZE", parse_memory))
    return rows


GROUPS: dict[str, list[Option]] = {
    "Information (then exit)": [
        Option(
            ("-h", "--help"),
            "help",
            "show this text; '-- --help NAME' explains a feature of the search language",
        ),
        Option(("-v", "--version"), "version", "show the version"),
        Option(("--show-aliases",), "show_aliases", "show the names for --alias and what they stand for"),
        Option(("--show-features",), "show_features", "explain the features of the search language"),
        Option(("--cleanup",), "cleanup", "delete plan files and the translated task of an earlier run"),
    ],
    "Short forms": [
        Option(("-w", "--weight"), "weight", "weight of h in wastar and lazy_wastar (default 2)", "N", _weight),
        Option(("--preferred",), "preferred", "use the preferred operators of the heuristic"),
        Option(("--max-expansions",), "max_expansions", "stop after N expansions (exit code 12)", "N", _number(1)),
        Option(("--seed",), "seed", "seed of randomised searches (default 0)", "N", _number(0)),
        Option(("--batch-size",), "batch_size", "open nodes taken per evaluation (default 1)", "N", _number(1)),
        Option(
            ("--improve",),
            "improve",
            "make plans cheaper: on (until nothing helps), off, auto (for a slice of the time), or for some time; the "
            "default is auto where no search is given, otherwise off",
            "[TIME]",
            _improve,
            bare="on",
        ),
        Option(("--strict",), "strict", "refuse PDDL that does not follow the standard"),
        Option(
            ("--compare",),
            "compare",
            "run heuristics, or configurations of gsp-compare, one after another; shows a table, writes no plan",
            "A,B,…",
            _text,
        ),
    ],
    "Learned heuristics": [
        Option(("--model",), "model", "name (see gsp-models list), file, run of gsp-train, or auto", "MODEL", _text),
        Option(("--device",), "device", "cpu, cuda or auto", "DEVICE", _choice("cpu", "cuda", "auto")),
        Option(("--threads",), "threads", "threads that share the states of a batch (default 1)", "N", _number(1)),
        Option(("--symmetry",), "symmetry", "none or objects", "KIND", _choice("none", "objects")),
    ],
    "Limits (TIME: 90, 90s, 5m, 1h of CPU time; SIZE: 3584M, 4g, default unit MiB)": _limit_options(),
    "Components (default: translate and search PDDL, search SAS)": [
        Option(("--translate",), "translate", "translate the task to SAS"),
        Option(("--search",), "search", "before the files: search a SAS file"),
        Option(("--run-all",), "run_all", "translate and search"),
    ],
    "Files and output": [
        Option(
            ("--plan-file", "--internal-plan-file"),
            "plan_file",
            "plan file (default sas_plan)",
            "FILE",
            _text,
        ),
        Option(("--sas-file",), "sas_file", "translated task (default output.sas); keeps it", "FILE", _text),
        Option(("--keep-sas-file",), "keep_sas_file", "write the translated task and keep it"),
        Option(
            ("--internal-previous-portfolio-plans",),
            "previous_plans",
            "number plans from N + 1",
            "N",
            _number(0),
        ),
        Option(
            ("--log-level",),
            "log_level",
            "debug (shows the options as understood), info or warning",
            "LEVEL",
            _choice("debug", "info", "warning"),
        ),
        Option(
            ("--explain",),
            "explain",
            "explain the plan step by step: Q of the best actions, h of GSP and hFF; in the log and as a page",
            "FILE.html",
            _text,
        ),
        Option(
            ("--show",),
            "show",
            "draw the plan of a grid puzzle in the terminal, or as a page in FILE.html",
            "[FILE.html]",
            _page,
            bare=TERMINAL,
        ),
        Option(("--validate",), "validate", "run VAL as well, where it is on the PATH"),
    ],
    "Fast Downward's other driver options": [
        Option(("--alias",), "alias", "run a configuration by its name, see --show-aliases", "NAME", _text),
        Option(("--portfolio",), "portfolio", "run several configurations and planners in turn", "FILE", _text),
        Option(
            ("--portfolio-bound",), "portfolio_bound", "for portfolios: only plans below this cost", "N", _number(0)
        ),
        Option(("--portfolio-single-plan",), "portfolio_single_plan", "for portfolios: stop after a plan"),
        Option(("--build",), "build", "accepted; there is one build", "BUILD", _text),
        Option(("--debug",), "debug", "show tracebacks of internal errors; implies --validate"),
    ],
}

_BY_NAME = {name: option for group in GROUPS.values() for option in group for name in option.names}


def option_name(target: str) -> str:
    """How people write an option."""
    return next((name for name, option in _BY_NAME.items() if option.target == target), f"--{target.replace('_', '-')}")


def parse_command_line(argv: Sequence[str]) -> Options:
    """Parse the arguments after the program name; InputError with exit code 36, or 33 for search options."""
    return _CommandLine(list(argv)).parse()


class _CommandLine:
    def __init__(self, arguments: list[str]) -> None:
        self.arguments = arguments
        self.position = 0
        self.options = Options()
        self.given: dict[str, tuple[str, Any]] = {}

    def parse(self) -> Options:
        while self.position < len(self.arguments):
            argument = self.arguments[self.position]
            if argument == "--" or not argument.startswith("-") or argument == "-":
                break
            self.driver_option(argument)
        self.split_files()
        self.component_options()
        return self.options

    def driver_option(self, argument: str) -> None:
        if argument.split("=", 1)[0] in ("--heuristic", "--evaluator", "--landmarks"):
            self.search_token(argument)
            return
        option = self.find(argument, abbreviations=True)
        if option is None:
            self.unknown(argument, driver_error)
        else:
            self.take(option, argument)

    def split_files(self) -> None:
        """Files end at the last ``--``, or without one at the first argument that looks like an option."""
        rest = self.arguments[self.position :]
        if "--" not in rest:
            self.position += next((i for i, a in enumerate(rest) if a.startswith("-") and a != "-"), len(rest))
            self.options.files = rest[: self.position - (len(self.arguments) - len(rest))]
            return
        last = len(rest) - 1 - rest[::-1].index("--")
        # "-- FILES -- OPTIONS": the first separator only ends the driver options.
        first = 1 if rest[0] == "--" and last > 0 else 0
        self.options.files = rest[first:last]
        self.position += last + 1

    def component_options(self) -> None:
        component = "search"
        while self.position < len(self.arguments):
            argument = self.arguments[self.position]
            if argument in ("--translate-options", "--search-options"):
                component = argument.split("-")[2]
                self.position += 1
            elif component == "translate":
                self.options.translate_options.append(argument)
                self.position += 1
            elif argument.split("=", 1)[0] in SEARCH_TOKENS:
                self.search_token(argument)
            elif argument == "--help" and not self.options.files:
                self.options.feature_names = self.arguments[self.position + 1 :]
                return
            else:
                self.search_option(argument)

    def search_option(self, argument: str) -> None:
        option = self.find(argument, abbreviations=False)
        if option is not None:
            self.take(option, argument)
        elif self.follows_selector():
            self.options.search_tokens.append(argument)
            self.position += 1
        else:
            self.unknown(argument, lambda text: search_error(text))

    def follows_selector(self) -> bool:
        """``--search --if-unit-cost A --if-non-unit-cost B``: a value may stand behind a selector."""
        tokens = self.options.search_tokens
        return bool(tokens) and tokens[-1] in SELECTORS and not self.arguments[self.position].startswith("-")

    def search_token(self, argument: str) -> None:
        name, separator, value = argument.partition("=")
        self.position += 1
        self.options.search_tokens.append(name)
        if separator and name not in SELECTORS:
            self.options.search_tokens.append(value)
        elif name not in SELECTORS and self.position < len(self.arguments):
            following = self.arguments[self.position]
            if not following.startswith("--"):
                self.options.search_tokens.append(following)
                self.position += 1

    def find(self, argument: str, *, abbreviations: bool) -> Option | None:
        name = argument.partition("=")[0] if argument.startswith("--") else argument
        if name in _BY_NAME:
            return _BY_NAME[name]
        if not abbreviations or not name.startswith("--"):
            return None
        matches = {_BY_NAME[known].target: _BY_NAME[known] for known in _BY_NAME if known.startswith(name)}
        return next(iter(matches.values())) if len(matches) == 1 else None

    def take(self, option: Option, argument: str) -> None:
        name, separator, value = argument.partition("=")
        self.position += 1
        if option.parse is None:
            if separator:
                raise driver_error(f"{name} takes no value")
            setattr(self.options, option.target, True)
            return
        if not separator and option.bare is not None and not self.is_value(option):
            value = option.bare
        elif not separator:
            if self.position == len(self.arguments):
                raise driver_error(f"{name} needs a value ({option.metavar})")
            value = self.arguments[self.position]
            self.position += 1
        try:
            parsed = option.parse(value)
        except ValueError as error:
            raise driver_error(f"{name}: {error}") from None
        before = self.given.setdefault(option.target, (name, parsed))
        if before[0] != name and before[1] != parsed:
            raise driver_error(f"{name} {value} contradicts {before[0]}")
        setattr(self.options, option.target, parsed)

    def is_value(self, option: Option) -> bool:
        """Whether the next argument is a value of an option that may stand without one."""
        assert option.parse is not None
        try:
            option.parse(self.arguments[self.position])
        except (ValueError, IndexError):
            return False
        return True

    def unknown(self, argument: str, error: Callable[[str], InputError]) -> None:
        name = argument.partition("=")[0]
        raise error(f"unknown option {name}{near_miss(name, [*_BY_NAME, *SEARCH_TOKENS])}")
