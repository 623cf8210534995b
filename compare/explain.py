"""What a model and hFF say along the plan of a run, in a process of its own: it may take as much as planning."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

from gsp_fd.common.files import write_atomically

EXPLAINED_PLAN, EXPLANATION = "plan.json", "explanation.json"
"""In the folder of a run: the actions to explain, and what is said about them."""


def main() -> None:
    """Explains the plan in the current folder with the model that the argument names."""
    from gsp_fd.fd_integration.run.explanation import SHOWN, explained
    from gsp_fd.task import load_pddl

    plan = json.loads(Path(EXPLAINED_PLAN).read_text())
    steps, _ = explained(load_pddl("domain.pddl", "problem.pddl"), plan, sys.argv[1])
    columns = {
        "action": [step.action for step in steps],
        "rest": [step.rest for step in steps],
        "gsp": [_known(step.h) for step in steps],
        "hff": [_known(step.hff) for step in steps],
        "better": [step.rank for step in steps],
        "best": [[[name, _known(q)] for name, q in step.q[:SHOWN]] for step in steps],
    }
    write_atomically(Path(EXPLANATION), json.dumps(columns).encode())


def _known(value: float) -> float | None:
    return round(value, 3) if math.isfinite(value) else None
