"""Configurations by name, for ``--alias``. Where the name is Fast Downward's, the help says what differs."""

from __future__ import annotations

from dataclasses import dataclass

from gsp_fd.common.errors import driver_error
from gsp_fd.common.spelling import near_miss


@dataclass(frozen=True)
class Alias:
    """What a name stands for: search options, and a line for people."""

    help: str
    tokens: tuple[str, ...]
    without_model: str = ""
    """For an alias with a learned heuristic: the alias that is run where no model can be used."""
    steps: str = ""
    """What it does, for the line of the log that says why it is done."""
    improve: bool = False
    """Whether plans are improved, unless ``--improve`` says otherwise."""


def _anytime(algorithm: str, first: str, h: str) -> str:
    phases = [first, *(f"{algorithm}([{h}], preferred=[{h}], w={w})" for w in (5, 3, 2, 1))]
    return f"iterated([{', '.join(phases)}], repeat_last=true)"


_LANDMARKS = "landmark_sum(lm_reasonable_orders_hps(lm_rhw()), pref={pref})"
_LAMA_FIRST = (
    f"let(hlm, eval_modify_costs({_LANDMARKS.format(pref='false')}, cost_type=one), "
    "let(hff, eval_modify_costs(ff(), cost_type=one), "
    "lazy_greedy([hff, hlm], preferred=[hff, hlm], cost_type=one, reopen_closed=false)))"
)
_LAMA_PHASE = _LAMA_FIRST.replace("hff", "hff1").replace("hlm", "hlm1")


def _lama(pref: str) -> tuple[str, ...]:
    """LAMA 2011, as Fast Downward has it."""
    landmarks = _LANDMARKS.format(pref=pref)

    def wastar(evals: str) -> str:
        return ", ".join(f"lazy_wastar([{evals}], preferred=[{evals}], w={w})" for w in (5, 3, 2, 1))

    return (
        "--search",
        "--if-unit-cost",
        f"let(hlm, {landmarks}, let(hff, ff(), iterated([lazy_greedy([hff, hlm], preferred=[hff, hlm]), "
        f"{wastar('hff, hlm')}], repeat_last=true, continue_on_fail=true)))",
        "--if-non-unit-cost",
        f"let(hlm1, eval_modify_costs({landmarks}, cost_type=one), let(hff1, eval_modify_costs(ff(), cost_type=one), "
        f"let(hlm2, eval_modify_costs({landmarks}, cost_type=plusone), "
        "let(hff2, eval_modify_costs(ff(), cost_type=plusone), iterated(["
        "lazy_greedy([hff1, hlm1], preferred=[hff1, hlm1], cost_type=one, reopen_closed=false), "
        "lazy_greedy([hff2, hlm2], preferred=[hff2, hlm2], reopen_closed=false), "
        f"{wastar('hff2, hlm2')}], repeat_last=true, continue_on_fail=true)))))",
        "--always",
    )


def _with_model(search: str) -> str:
    """A search with q, hff and hlm for what a model, hFF and landmarks say."""
    return f"let(q, gsp(), let(hff, ff(), let(hlm, {_LANDMARKS.format(pref='false')}, {search})))"


# The policy has found its plans within a few hundred expansions, or goes in circles.
_POLICY = "policy(q, max_expansions=10000)"
# Without boosts: they let the preferred operators of hFF crowd out Q (docs/results/searches.md).
_QUEUES = "gsp_queues(q, [hff, hlm], preferred=[hff, hlm])"
_GSP_FIRST = _with_model(f"first_of([{_POLICY}, {_QUEUES}, {_LAMA_PHASE}], shares=[0.5, 0.5])")
_GSP_ANYTIME = _with_model(
    f"iterated([{_POLICY}, {_QUEUES}, "
    + ", ".join(f"lazy_wastar([q, hff, hlm], preferred=[hff, hlm], w={w})" for w in (5, 3, 2, 1))
    + "], repeat_last=true, shares=[0.5])"
)
_GSP_STEPS = "greedy policy first, then one search with Q, hFF and landmarks"

DEFAULT_ALIAS = "gsp"
ALIASES = {
    DEFAULT_ALIAS: Alias(
        "the default: the greedy policy of a model that fits, then a search with its Q-values, hFF and landmarks, then "
        "lama-first; without a model lama-first at once; the plan is improved (--improve auto)",
        ("--search", _GSP_FIRST),
        without_model="lama-first",
        steps=_GSP_STEPS,
        improve=True,
    ),
    "gsp-first": Alias(
        "the default up to its first plan", ("--search", _GSP_FIRST), without_model="lama-first", steps=_GSP_STEPS
    ),
    "gsp-anytime": Alias(
        "the default, then cheaper and cheaper plans until the time limit or until no cheaper plan exists; "
        "without a model lama",
        ("--search", _GSP_ANYTIME),
        without_model="lama",
        steps=f"{_GSP_STEPS}, then weighted A* for cheaper plans",
        improve=True,
    ),
    "astar-blind": Alias("optimal: A* without a heuristic", ("--search", "astar(blind())")),
    "astar-hmax": Alias("optimal: A* with hmax", ("--search", "astar(hmax())")),
    "wastar-hff": Alias("weighted A* with hFF, w = 2", ("--search", "eager_wastar([ff()], w=2)")),
    "gbfs-hff": Alias(
        "greedy search with hFF and its preferred operators",
        ("--search", "let(h, ff(), eager_greedy([h], preferred=[h]))"),
    ),
    "lazy-hff": Alias(
        "lazy greedy search with hFF and its preferred operators",
        ("--search", "let(h, ff(), lazy_greedy([h], preferred=[h]))"),
    ),
    "lama-first": Alias(
        "LAMA's first iteration: lazy greedy search with hFF and landmarks, and preferred operators",
        ("--search", _LAMA_FIRST),
        steps="LAMA's first iteration",
    ),
    "lama": Alias(
        "LAMA: better and better plans with hFF and landmarks",
        _lama("false"),
        steps="LAMA: its first iteration, then weighted A* for cheaper plans",
    ),
    "seq-sat-lama-2011": Alias("the same with the preferred operators of landmarks too", _lama("true")),
    "anytime-hff": Alias(
        "better and better plans: greedy, then weighted A* with w = 5, 3, 2, 1 until no cheaper plan exists",
        (
            "--search",
            "--if-unit-cost",
            f"let(h, ff(), {_anytime('lazy_wastar', 'lazy_greedy([h], preferred=[h])', 'h')})",
            "--if-non-unit-cost",
            "let(h1, eval_modify_costs(ff(), cost_type=one), "
            "let(h, eval_modify_costs(ff(), cost_type=plusone), "
            f"{_anytime('lazy_wastar', 'lazy_greedy([h1], preferred=[h1], cost_type=one)', 'h')}))",
            "--always",
        ),
    ),
}


def alias_tokens(name: str) -> list[str]:
    """The search options that an alias stands for; InputError with exit code 36 if there is no such alias."""
    if name not in ALIASES:
        hint = near_miss(name, ALIASES) or f"; known are {', '.join(ALIASES)}"
        raise driver_error(f"unknown alias '{name}'{hint}")
    return list(ALIASES[name].tokens)


def describe_aliases() -> str:
    """The text of ``--show-aliases``."""
    lines = []
    for name, alias in sorted(ALIASES.items()):
        searches = [token for token in alias.tokens if not token.startswith("--")]
        lines.append(f"{name}: {alias.help}")
        lines += [f"    {search}" for search in searches]
    return "\n".join(lines)
