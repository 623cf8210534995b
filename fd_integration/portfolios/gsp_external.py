"""A portfolio for gsp-plan: GSP in this planner, then the real Fast Downward as an external planner.

gsp-plan --portfolio gsp_external.py --overall-time-limit 30m domain.pddl problem.pddl

Beside Fast Downward's format, the arguments of a configuration may be any command. Braces stand for what it is given:
{python} {domain} {problem} {plan} {bound} {time} {memory}.
"""

import os
import shutil

from gsp_fd.common.processes import fast_downward_command

OPTIMAL = False

_FAST_DOWNWARD = fast_downward_command() or [shutil.which("fast-downward.py") or "fast-downward.py"]
_GSP = f'gsp(model="{os.environ.get("GSP_MODEL", "auto")}")'
_LM = "landmark_sum(lm_reasonable_orders_hps(lm_rhw()), pref=false)"
_DEFAULT = (
    f"let(q, {_GSP}, let(hff, ff(), let(hlm, {_LM}, first_of([policy(q, max_expansions=10000), "
    "gsp_queues(q, [hff, hlm], preferred=[hff, hlm], boost=1000)], shares=[0.5], bound=BOUND))))"
)
_FILES = [
    "--overall-time-limit",
    "{time}s",
    "--sas-file",
    "{plan}.sas",
    "--plan-file",
    "{plan}",
    "{domain}",
    "{problem}",
]

CONFIGS = [
    # What gsp-plan does by default with a model
    (5, ["--search", _DEFAULT]),
    (
        13,
        [
            *_FAST_DOWNWARD,
            *_FILES,
            "--search",
            f"let(hlm, {_LM}, let(hff, ff(), iterated(["
            "lazy_greedy([hff, hlm], preferred=[hff, hlm]),"
            + ",".join(f"lazy_wastar([hff, hlm], preferred=[hff, hlm], w={w})" for w in (5, 3, 2, 1))
            + "], bound={bound}, repeat_last=true)))",
        ],
    ),
]
