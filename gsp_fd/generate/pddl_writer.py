"""Problem files as text.

The domains are built and formatted with the `pddl` package; problems are not: for the 300,000 atoms of a
large rovers problem its objects take 7 s where this takes 0.3 s, and it puts all atoms on one line.
"""

from __future__ import annotations

import textwrap

from gsp_fd.generate.base import UNTYPED, Atom, Instance

WIDTH = 110


def problem_text(name: str, domain_name: str, instance: Instance) -> str:
    """The problem file: one atom per line, in the generator's order."""
    groups = [
        textwrap.fill(
            " ".join(objects) + (f" - {kind}" if kind != UNTYPED else ""),
            WIDTH,
            initial_indent="        ",
            subsequent_indent="        ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for kind, objects in instance.objects.items()
        if objects
    ]
    return "\n".join(
        [
            f"(define (problem {name})",
            f"    (:domain {domain_name})",
            "    (:objects",
            *groups,
            "    )",
            "    (:init",
            *map(_line, instance.init),
            "    )",
            "    (:goal (and",
            *map(_line, instance.goal),
            "    ))",
            ")",
            "",
        ]
    )


def _line(atom: Atom) -> str:
    return f"        ({' '.join(atom)})"
