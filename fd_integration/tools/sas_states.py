"""States of a SAS task as states of the lifted task: what the translator dropped comes from the PDDL."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gsp_fd.common.errors import search_error
from gsp_fd.pddl import LiftedTask

Atom = tuple[int, tuple[int, ...]]
"""Predicate and objects of the lifted task."""

_ATOM = re.compile(r"\s*Atom\s+([^\s(]+)\(([^()]*)\)\s*")


@dataclass(frozen=True)
class SasHead:
    """The part of a SAS file before its operators: names of the values of each variable, and the initial state."""

    facts: list[list[str]]
    initial: list[int]


def read_sas_head(lines: Iterable[bytes], file: str) -> SasHead:
    """Reads a SAS file of version 3 up to its initial state; InputError if it is not one."""
    source = (line.decode("utf-8", errors="replace").strip() for line in lines)
    try:
        if next(source) != "begin_version" or next(source) != "3":
            raise ValueError
        for word in ("end_version", "begin_metric", None, "end_metric"):
            _expect(source, word)
        facts = [_variable(source) for _ in range(int(next(source)))]
        for line in source:
            if line == "begin_state":
                return SasHead(facts, _values(source, facts))
        raise ValueError
    except (ValueError, StopIteration):
        message = "not a SAS file of version 3, as Fast Downward's translator writes it"
        raise search_error(message, file) from None


def _expect(source: Iterator[str], word: str | None) -> None:
    if next(source) != word and word is not None:
        raise ValueError


def _variable(source: Iterator[str]) -> list[str]:
    _expect(source, "begin_variable")
    next(source), next(source)
    names = [next(source) for _ in range(int(next(source)))]
    _expect(source, "end_variable")
    return names


def _values(source: Iterator[str], facts: list[list[str]]) -> list[int]:
    values = [int(next(source)) for _ in facts]
    if not all(0 <= value < len(names) for value, names in zip(values, facts, strict=True)):
        raise ValueError
    return values


class SasStates:
    """Rebuilds lifted states: the true atoms of a SAS state, and initial atoms that no SAS variable mentions.

    The translator drops variables that cannot matter for the goal although they change; their atoms stay as they
    were in the initial state, unless the task was translated with ``--keep-unimportant-variables``.
    """

    def __init__(self, facts: Sequence[Sequence[str]], task: LiftedTask) -> None:
        changing = {index for index, fluent in enumerate(task.fluent) if fluent} - task.derived
        self._predicates = {task.predicates[index]: index for index in changing}
        self._objects = {name: index for index, name in enumerate(task.objects)}
        self._atoms = [[self._atom(name) for name in names] for names in facts]
        mentioned = {atom for atoms in self._atoms for atom in atoms if atom is not None}
        self._initial = {(predicate, tuple(args)) for predicate, args in task.init if task.fluent[predicate]}
        self._constant = sorted(self._initial - mentioned)

    def _atom(self, name: str) -> Atom | None:
        match = _ATOM.fullmatch(name)
        if match is None or match[1] not in self._predicates:
            return None
        arguments = [argument for part in match[2].split(",") if (argument := part.strip())]
        if any(argument not in self._objects for argument in arguments):
            return None
        return self._predicates[match[1]], tuple(self._objects[argument] for argument in arguments)

    def atoms(self, values: Iterable[int]) -> set[Atom]:
        """The fluent atoms of the lifted state of a SAS state, given by the values of all its variables."""
        true = {names[value] for names, value in zip(self._atoms, values, strict=True)}
        return {atom for atom in true if atom is not None}.union(self._constant)

    def encoded(self, values: Iterable[int]) -> npt.NDArray[np.int32]:
        """The state in the form that ``import_state`` of a lifted space takes."""
        flat = [number for predicate, args in sorted(self.atoms(values)) for number in (predicate, *args)]
        return np.array(flat, dtype=np.int32)

    def is_initial(self, values: Iterable[int]) -> bool:
        """Whether this is the initial state of the lifted task; if not, SAS and PDDL belong to different tasks."""
        return self.atoms(values) == self._initial
