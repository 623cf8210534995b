"""PDDL input: files to syntax trees, and syntax trees to the lifted task of the native core.

Outside this folder use the names below, and ``strict`` for what the ``pddl`` package finds non-standard.
"""

from __future__ import annotations

from gsp_fd.pddl.ast import Domain, Problem
from gsp_fd.pddl.lifted import LiftedTask, lifted_task
from gsp_fd.pddl.parser import read_domain, read_problem
from gsp_fd.pddl.rules import Literal, Rule, Schema

__all__ = [
    "Domain",
    "LiftedTask",
    "Literal",
    "Problem",
    "Rule",
    "Schema",
    "lifted_task",
    "read_domain",
    "read_problem",
]
