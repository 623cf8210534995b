"""A portfolio for Fast Downward's driver with a build by gsp-fd-build: GSP, as gsp-plan has it by default, then LAMA.

fast-downward.py --build DIR --portfolio gsp.py --overall-time-limit 30m domain.pddl problem.pddl

Where no model applies, GSP ends at once and LAMA has all the time. GSP_MODEL names a model; otherwise it is
the one that fits the domain.
"""

import os

OPTIMAL = False

_MODEL = os.environ.get("GSP_MODEL", "auto")
_GSP = f'gsp(model="{_MODEL}")'
_LM = "landmark_sum(lm_reasonable_orders_hps(lm_rhw()), pref=false)"
_DEFAULT = (
    f"let(q, {_GSP}, let(hff, ff(), let(hlm, {_LM}, first_of([policy(q, max_expansions=10000), "
    "gsp_queues(q, [hff, hlm], preferred=[hff, hlm], boost=1000)], shares=[0.5], bound=BOUND))))"
)

CONFIGS = [
    # What gsp-plan does by default with a model
    (500, ["--search", _DEFAULT]),
    # LAMA's first iteration
    (
        1300,
        [
            "--search",
            f"let(hlm, eval_modify_costs({_LM}, cost_type=H_COST_TYPE),"
            "let(hff, eval_modify_costs(ff(), cost_type=H_COST_TYPE),"
            "lazy_greedy([hff, hlm], preferred=[hff, hlm], cost_type=S_COST_TYPE, bound=BOUND)))",
        ],
    ),
]

# LAMA's other iterations, for cheaper plans in the time that is left
FINAL_CONFIG = [
    "--search",
    f"let(hlm, eval_modify_costs({_LM}, cost_type=H_COST_TYPE),"
    "let(hff, eval_modify_costs(ff(), cost_type=H_COST_TYPE),"
    "iterated(["
    + ",".join(f"lazy_wastar([hff, hlm], preferred=[hff, hlm], w={w}, cost_type=S_COST_TYPE)" for w in (5, 3, 2, 1))
    + "], bound=BOUND, repeat_last=true)))",
]
