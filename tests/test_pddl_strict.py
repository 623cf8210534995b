"""What ``--strict`` reports."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pddl_helpers import DOMAIN, PROBLEM, parse

from gsp_fd.common.errors import InputError
from gsp_fd.pddl.strict import strict_findings

STANDARD = (
    DOMAIN.replace(":typing", ":typing :negative-preconditions :action-costs")
    .replace("(total-cost) (weight ?c - crate) - number", "(total-cost) - number")
    .replace("(weight ?c)", "3")
)
STANDARD_PROBLEM = PROBLEM.replace("(= (weight a) 3)", "").replace("(= (weight b) 5)", "")


def test_standard_files(tmp_path: Path) -> None:
    parse(tmp_path, STANDARD, STANDARD_PROBLEM)
    assert strict_findings(tmp_path / "d.pddl", tmp_path / "p.pddl") == []


def test_deviations(tmp_path: Path) -> None:
    problem = STANDARD_PROBLEM.replace("(on b", "(on b shelf) (on b")
    parse(tmp_path, STANDARD.replace("(define", "(DEFINE"), problem)
    findings = strict_findings(tmp_path / "d.pddl", tmp_path / "p.pddl")
    assert findings[0] == f"{tmp_path / 'p.pddl'}:6: 1 fact(s) of :init are given more than once"
    assert findings[1].startswith(f"{tmp_path / 'd.pddl'}:1: ")
    assert all("\n" not in finding for finding in findings)


def test_undeclared_requirement(tmp_path: Path) -> None:
    parse(tmp_path, STANDARD.replace(":typing", ""), STANDARD_PROBLEM)
    assert any("d.pddl" in finding for finding in strict_findings(tmp_path / "d.pddl", tmp_path / "p.pddl"))


def test_unusable_files(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        strict_findings(tmp_path / "d.pddl", tmp_path / "p.pddl")


def test_package_is_imported_only_when_asked() -> None:
    code = "import sys, gsp_fd.pddl, gsp_fd.pddl.strict, gsp_fd.validate; sys.exit('pddl' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
