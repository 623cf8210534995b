"""Validation: plans executed by the semantics of the files they are for, without anything that the search uses.

Outside this folder use the names below.
"""

from __future__ import annotations

from gsp_fd.validate.plans import Validation, format_plan, parse_plan, validate_plan, validate_sas_plan

__all__ = ["Validation", "format_plan", "parse_plan", "validate_plan", "validate_sas_plan"]
