"""Problem files as text.

The domains are built and formatted with the `pddl` package; problems are not: for the 300,000 atoms of a
large rovers problem its objects take 7 s where this takes 0.3 s, and it puts all atoms on one line.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence

from gsp_fd.generate.base import UNTYPED, Atom, Instance
from gsp_fd.pddl import ast

WIDTH = 110


def problem_text(name: str, domain_name: str, instance: Instance) -> str:
    """The problem file: one atom per line, in the generator's order."""
    return _text(name, domain_name, instance.objects, map(_atom, instance.init), map(_atom, instance.goal))


def parsed_problem_text(problem: ast.Problem) -> str:
    """The file of a parsed problem whose goal is a conjunction of literals."""
    objects: dict[str, list[str]] = {}
    for item in problem.objects:
        kind = item.types[0] if len(item.types) == 1 else f"(either {' '.join(item.types)})"
        objects.setdefault(UNTYPED if kind == ast.OBJECT else kind, []).append(item.name)
    if UNTYPED in objects:  # a name without a type takes the next type that follows
        objects[UNTYPED] = objects.pop(UNTYPED)
    values = (f"(= {_atom(term)} {value})" for term, value in problem.values.items())
    goal = problem.goal.parts if isinstance(problem.goal, ast.And) else (problem.goal,)
    metric = ["    (:metric minimize (total-cost))"] if problem.minimize_cost else []
    init = (*map(_atom, problem.init), *values)
    return _text(problem.name, problem.domain_name, objects, init, map(_literal, goal), metric)


def _text(
    name: str,
    domain_name: str,
    objects: Mapping[str, Sequence[str]],
    init: Iterable[str],
    goal: Iterable[str],
    metric: Sequence[str] = (),
) -> str:
    groups = [
        textwrap.fill(
            " ".join(members) + (f" - {kind}" if kind != UNTYPED else ""),
            WIDTH,
            initial_indent="        ",
            subsequent_indent="        ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for kind, members in objects.items()
        if members
    ]
    return "\n".join(
        [
            f"(define (problem {name})",
            f"    (:domain {domain_name})",
            "    (:objects",
            *groups,
            "    )",
            "    (:init",
            *(f"        {line}" for line in init),
            "    )",
            "    (:goal (and",
            *(f"        {line}" for line in goal),
            "    ))",
            *metric,
            ")",
            "",
        ]
    )


def _atom(atom: Atom) -> str:
    return f"({' '.join(atom)})"


def _literal(goal: ast.Condition) -> str:
    if isinstance(goal, ast.Not):
        return f"(not {_literal(goal.part)})"
    if not isinstance(goal, ast.Atom):
        raise ValueError(f"a goal that is no literal: {goal}")
    return _atom((goal.predicate, *goal.args))
