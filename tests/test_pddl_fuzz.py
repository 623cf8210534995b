"""Broken PDDL of every kind: only InputError may escape, and nothing may hang or recurse too deeply."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pddl_helpers import ADL_DOMAIN, DOMAIN, PLAN, PROBLEM, input_error, parse

from gsp_fd.pddl import lifted_task
from gsp_fd.validate import Validation, parse_plan, validate_plan

shared_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


def pipeline(folder: Path, domain: str, problem: str) -> None:
    """Everything that happens to PDDL in Python."""

    def run() -> None:
        parsed = parse(folder, domain, problem)
        lifted_task(*parsed)
        validate_plan(*parsed, PLAN)

    error = input_error(run)
    assert error is None or (error.file and error.message)


def test_the_unbroken_files(tmp_path: Path) -> None:
    assert validate_plan(*parse(tmp_path, ADL_DOMAIN, PROBLEM), PLAN) == Validation(True, 10)


TOKENS = """( ) (( )) ?x ?s - and or not imply forall exists when = increase total-cost on in free crate truck
either :init :goal :action :parameters :effect :derived :types object a b 1 -1 2.5 define domain number
"""
tokens = st.sampled_from(TOKENS.split())
OPENINGS = ("(", "(and ", "(not ", "(or (a) ", "(forall (?x) ", "(when (a) ", "(imply (a) ")


@st.composite
def edits(draw: st.DrawFn, text: str) -> str:
    """The text with a few spans deleted, replaced by tokens, doubled or moved."""
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 40)))
        kind = draw(st.integers(0, 3))
        span = text[start:end]
        if kind == 0:
            text = text[:start] + text[end:]
        elif kind == 1:
            text = text[:start] + " ".join(["", *draw(st.lists(tokens, max_size=4)), ""]) + text[end:]
        elif kind == 2:
            text = text[:end] + span + text[end:]
        else:
            rest = text[:start] + text[end:]
            where = draw(st.integers(0, len(rest)))
            text = rest[:where] + span + rest[where:]
    return text


@shared_folder
@given(edits(ADL_DOMAIN), st.just(PROBLEM))
def test_edited_domain(tmp_path: Path, domain: str, problem: str) -> None:
    pipeline(tmp_path, domain, problem)


@shared_folder
@given(st.sampled_from([DOMAIN, ADL_DOMAIN]), edits(PROBLEM))
def test_edited_problem(tmp_path: Path, domain: str, problem: str) -> None:
    pipeline(tmp_path, domain, problem)


@st.composite
def word_soup(draw: st.DrawFn, text: str) -> str:
    """The text with some of its words exchanged for others, parentheses untouched."""
    words = text.replace("(", " ( ").replace(")", " ) ").split()
    names = [index for index, word in enumerate(words) if word not in "()"]
    for index in draw(st.lists(st.sampled_from(names), min_size=1, max_size=4)):
        words[index] = words[draw(st.sampled_from(names))]
    return " ".join(words)


@shared_folder
@given(word_soup(ADL_DOMAIN), word_soup(PROBLEM))
def test_exchanged_words(tmp_path: Path, domain: str, problem: str) -> None:
    pipeline(tmp_path, domain, PROBLEM)
    pipeline(tmp_path, ADL_DOMAIN, problem)


@pytest.mark.parametrize("opening", OPENINGS)
@pytest.mark.parametrize("depth", [390, 1000, 100_000])
def test_deep_nesting(opening: str, depth: int, tmp_path: Path) -> None:
    deep = opening + "\n" + opening * (depth - 1) + "(on a shelf)" + ")" * depth
    in_domain = deep.replace("(a)", "(free ground)").replace("(on a shelf)", "(free ground)")
    pipeline(tmp_path, DOMAIN, PROBLEM.replace("(and (on a shelf))", deep.replace("(a)", "(on a shelf)")))
    pipeline(tmp_path, DOMAIN.replace("(not (free ?s)))\n", in_domain + ")\n"), PROBLEM)
    pipeline(tmp_path, DOMAIN.replace("(free ?s) (increase", in_domain + " (increase"), PROBLEM)
    in_rule = in_domain.replace("(free ground)", "(on ?c ground)")
    pipeline(tmp_path, ADL_DOMAIN.replace("(not (on ?c ?s))", in_rule), PROBLEM)
    pipeline(tmp_path, DOMAIN.replace("(:requirements", deep + " (:requirements"), PROBLEM)


@given(st.text(st.sampled_from("() ;\nab?-:\x85\0"), max_size=40))
def test_plan_files(text: str) -> None:
    error = input_error(lambda: parse_plan(text, "plan"))
    assert error is None or error.line is not None


@pytest.mark.parametrize("archive", ["conformance", "ipc2023-learning"])
def test_mutated_benchmark_files(archive: str, tmp_path: Path, benchmarks: Path) -> None:
    folder = benchmarks / archive
    rng = random.Random(1)
    for path in sorted(folder.glob("*/domain.pddl")):
        other = [*path.parent.glob("problem.pddl"), *path.parent.glob("training/easy/p05.pddl")]
        if not other:
            other = [sorted(path.parent.glob("training/*.pddl"))[0]]
        texts = [file.read_text(encoding="latin-1") for file in (path, other[0])]
        for _ in range(12):
            broken = list(texts)
            which = rng.randrange(2)
            text = broken[which]
            start = rng.randrange(len(text))
            span = rng.choice([1, 1, 3, 30, len(text)])
            filler = rng.choice(["", "", "(", ")", " ", "\n", "?", "-", "x", "\0", "\xe9", text[:span]])
            broken[which] = text[:start] + filler + text[start + span :]
            pipeline(tmp_path, *broken)
