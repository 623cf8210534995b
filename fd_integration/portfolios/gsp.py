"""A portfolio for Fast Downward's driver with a build by gsp-fd-build: GSP first, then LAMA.

fast-downward.py --build DIR --portfolio gsp.py --overall-time-limit 30m domain.pddl problem.pddl

Where no model applies, GSP ends at once and LAMA has all the time. GSP_MODEL names a model; otherwise it is the shipped
one that fits the domain.
"""

import os

OPTIMAL = False

_MODEL = os.environ.get("GSP_MODEL", "auto")
_GSP = f'gsp(model="{_MODEL}")'
_LM = "landmark_sum(lm_reasonable_orders_hps(lm_rhw()), pref=false)"

CONFIGS = [
    # GSP as a policy: fast where the model is good
    (100, ["--search", f"policy({_GSP}, bound=BOUND)"]),
    # GSP's search
    (400, ["--search", f"gsp_wastar([{_GSP}], w=2, bound=BOUND)"]),
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
