"""The text of ``--help``, printed from the tables of options, searches and features."""

from __future__ import annotations

from gsp_fd.fd_integration.language.registry import FEATURES
from gsp_fd.fd_integration.run.configuration import SHORT_HEURISTICS, SHORT_SEARCHES
from gsp_fd.fd_integration.run.options import GROUPS, Option

EXAMPLES = (
    (
        "Find a good plan: with a model that fits the domain if there is one, otherwise as LAMA does",
        "domain.pddl problem.pddl",
    ),
    ("The same with limits; the domain is found beside the problem", "problem.pddl --time-limit 5m --memory-limit 4g"),
    ("The first plan only", "--alias gsp-first domain.pddl problem.pddl"),
    ("Better and better plans, in sas_plan.1, sas_plan.2, …", "--alias gsp-anytime --time-limit 1m problem.pddl"),
    ("Follow the greedy policy of the model, and do nothing else", "domain.pddl problem.pddl --search policy"),
    (
        "Weighted A* with a model by its name; the folder of a run of gsp-train would do, too",
        "domain.pddl problem.pddl --heuristic gsp --search wastar --model blocksworld",
    ),
    ("Find a plan with weighted A* and hFF", "domain.pddl problem.pddl --heuristic hff --search wastar"),
    (
        "With a weight and limits",
        "problem.pddl --heuristic hff --search wastar -w 3 --max-expansions 10000 --time-limit 5m --memory-limit 4g",
    ),
    ("Find an optimal plan", "domain.pddl problem.pddl --heuristic hmax --search astar"),
    ("Run a configuration by its name", "--alias lama-first domain.pddl problem.pddl"),
    (
        "Fast Downward's search language",
        "domain.pddl problem.pddl --search 'let(h, ff(), eager_wastar([h], preferred=[h], w=2))'",
    ),
    (
        "The older way to name an evaluator",
        "problem.pddl --evaluator 'h=ff()' --search 'lazy_greedy([h], preferred=[h])'",
    ),
    ("Translate to SAS and run no search", "--translate domain.pddl problem.pddl"),
    ("Search a translated task", "output.sas --search 'astar(blind())'"),
    (
        "As Downward Lab calls a planner",
        "--validate --overall-time-limit 30m --overall-memory-limit 3584M domain.pddl problem.pddl "
        "--search 'eager_greedy([ff()])'",
    ),
    ("Draw the plan of a puzzle as a page", "domain.pddl problem.pddl --heuristic hff --show plan.html"),
    ("Compare heuristics on one problem", "domain.pddl problem.pddl --compare gsp,hff,hmax --time-limit 1m"),
    (
        "Explain a plan: what the model and hFF say about every step",
        "domain.pddl problem.pddl --heuristic gsp --search wastar --explain plan.html",
    ),
    ("Explain features of the search language", "-- --help eager_wastar ff"),
)
"""Every one of these is run by a test, in a folder with the three files they mention."""

_INTRODUCTION = """\
Plan with learned heuristics (GSP), hFF and others behind Fast Downward's interface.

FILES are a PDDL problem, a PDDL domain and a problem, or a SAS file; nothing else is needed. Without a search, or
with --alias gsp, the planner looks for a model that fits (gsp-models list), follows its greedy policy for a part of
the time, then searches with its Q-values, hFF and landmarks together; where no model can be used, it searches as LAMA
does. Then the plan is improved, for a part of the time that is left. gsp-train makes a model for a domain of your own.

The log, the plan files and the exit codes are Fast Downward's. Every plan is checked by an independent validator
before it is written, so --validate also works without VAL: the log then says that our own validator was used."""

_WIDTH = 32


def help_text() -> str:
    """The whole text."""
    parts = [
        "usage: gsp-plan [DRIVER OPTIONS] FILES [COMPONENT OPTIONS]",
        _INTRODUCTION,
        _searches(),
        *(_group(title, options) for title, options in GROUPS.items()),
        _component_options(),
        _examples(),
        "Features of the search language: gsp-plan --show-features. Aliases: gsp-plan --show-aliases.",
    ]
    return "\n\n".join(parts)


def _row(left: str, right: str) -> str:
    gap = " " * (_WIDTH - len(left)) if len(left) < _WIDTH - 1 else "\n" + " " * (_WIDTH + 2)
    return f"  {left}{gap}{right}".rstrip()


def _searches() -> str:
    heuristics: dict[str, list[str]] = {}
    for short, name in SHORT_HEURISTICS.items():
        if name in FEATURES:
            heuristics.setdefault(name, []).append(short)
    lines = ["What to search with (after the files)", _row("--heuristic NAME", "may be given several times:")]
    for name, shorts in heuristics.items():
        lines.append(_row(f"    {', '.join(shorts)}", FEATURES[name].help))
    lines.append(_row("--search NAME", f"default {next(n for n, s in SHORT_SEARCHES.items() if s.weighted)}:"))
    for short, search in SHORT_SEARCHES.items():
        if search.algorithm in FEATURES:
            lines.append(_row(f"    {short}", f"{search.help} ({search.algorithm})"))
    lines.append(_row("--search SEARCH", "a search in Fast Downward's language, see --show-features"))
    lines.append(_row("--evaluator NAME=DEFINITION", "names an evaluator for --search (--heuristic NAME=… also does)"))
    return "\n".join(lines)


def _group(title: str, options: list[Option]) -> str:
    lines = [title]
    for option in options:
        names = ", ".join(option.names)
        lines.append(_row(f"{names} {option.metavar}".rstrip(), option.help))
    return "\n".join(lines)


def _component_options() -> str:
    return "\n".join(
        [
            "Component options (after the files)",
            _row(
                "--translate-options …",
                "what follows goes to Fast Downward's translator, which then translates the task",
            ),
            _row("--search-options …", "what follows goes to the search again"),
            _row("--if-unit-cost, --if-non-unit-cost, --always", "what follows counts only for such tasks"),
        ]
    )


def _examples() -> str:
    lines = ["Examples"]
    for description, arguments in EXAMPLES:
        lines += [f"  {description}:", f"    gsp-plan {arguments}"]
    return "\n".join(lines)
