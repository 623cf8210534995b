"""Validation: plans executed by the semantics of the files they are for, without anything that the search uses.

Outside this folder use the names below.
"""

from __future__ import annotations

from gsp_fd.validate.plans import (
    State,
    Validation,
    format_plan,
    parse_plan,
    plan_states,
    validate_plan,
    validate_sas_plan,
)

__all__ = ["State", "Validation", "format_plan", "parse_plan", "plan_states", "validate_plan", "validate_sas_plan"]
