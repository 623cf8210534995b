"""Tasks, states, actions and heuristics of states."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from gsp_fd import _core
from gsp_fd.common.discovery import find_domain, looks_like_sas
from gsp_fd.common.errors import InputError, search_error
from gsp_fd.common.spelling import near_miss
from gsp_fd.fd_integration.run.configuration import SHORT_HEURISTICS
from gsp_fd.pddl.literals import GroundAtom
from gsp_fd.task import Task as LoadedTask
from gsp_fd.task import TranslationFailed, load_pddl, load_sas
from gsp_fd.validate import Validation
from gsp_fd.validate.sas import SasTask, read_sas

PathLike = str | os.PathLike[str]
_FACT = re.compile(r"Atom (\S+)\((.*)\)")
"""How the translator names the facts of a variable."""


def load(domain: PathLike, problem: PathLike | None = None) -> Task:
    """A task from a domain and a problem, from a problem whose domain lies beside it, or from a SAS file.

    Raises :class:`InputError`, with the file and the line, for files that cannot be used.

    >>> task = load("examples/blocksworld/domain.pddl", "examples/blocksworld/p01.pddl")
    >>> task
    <Task blocksworld: 4 objects, 7 goals>
    """
    if problem is None and looks_like_sas(Path(domain)):
        return Task(load_sas(domain))
    files = (find_domain(Path(domain)), domain) if problem is None else (domain, problem)
    lines: list[str] = []
    try:
        return Task(load_pddl(*files, log=lines.append))
    except TranslationFailed as error:
        said = "; ".join(lines[-3:]) or error.exit_code.name
        message = f"Fast Downward's translator made no task of these files: {said}"
        raise InputError(message, files[1], exit_code=error.exit_code) from None


@dataclass(frozen=True, order=True, slots=True)
class Action:
    """An action with its objects in the place of its parameters.

    >>> Action("stack b1 b2", cost=1).arguments
    ('b1', 'b2')
    """

    name: str
    """Schema and objects, as ``stack b1 b2``."""
    cost: int = 1

    @property
    def schema(self) -> str:
        """The name of the schema."""
        return self.name.partition(" ")[0]

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of the objects."""
        return tuple(self.name.split()[1:])

    def __str__(self) -> str:
        """As in a plan file."""
        return f"({self.name})"


class Task:
    """A planning task: where it starts, what it wants, and how states are judged. :func:`load` makes them."""

    def __init__(self, loaded: LoadedTask) -> None:
        self.loaded = loaded
        """The task as the searches have it."""
        self._space: _core.GroundSpace | _core.LiftedSpace
        if loaded.is_lifted:
            self._space = _core.LiftedSpace(loaded.native_lifted(), False)
        else:
            self._space = _core.GroundSpace(loaded.ground())

    @property
    def name(self) -> str:
        """The problem file."""
        return self.loaded.name

    @property
    def domain(self) -> str | None:
        """The name of the PDDL domain; None for a SAS file."""
        return self.loaded.domain.name if self.loaded.domain is not None else None

    @property
    def is_lifted(self) -> bool:
        """Whether learned heuristics can take the task; one that came as SAS has no objects and schemas."""
        return self.loaded.is_lifted

    @property
    def objects(self) -> tuple[str, ...]:
        """The objects of a lifted task."""
        return self.loaded.lifted.objects if self.loaded.lifted is not None else ()

    @property
    def initial(self) -> State:
        """The initial state.

        >>> task = load("examples/gripper/domain.pddl", "examples/gripper/p01.pddl")
        >>> len(task.initial.actions())
        2
        """
        return State(self, self._space.initial_state())

    @property
    def goal(self) -> frozenset[str]:
        """The atoms that a goal state has, as ``(on b1 b2)``, and ``(not (on b1 b2))`` for those it must not have."""
        lifted = self.loaded.lifted
        if lifted is None:
            return frozenset(filter(None, (self._facts[variable][value] for variable, value in self._sas.goal)))
        return frozenset(map(self._atom, lifted.goal_positive)) | {
            f"(not {self._atom(atom)})" for atom in lifted.goal_negative
        }

    def heuristic(self, name: str) -> Heuristic:
        """A heuristic by its short name: ``hff``, ``hmax``, ``hadd``, ``goalcount`` or ``blind``.

        >>> task = load("examples/blocksworld/domain.pddl", "examples/blocksworld/p01.pddl")
        >>> task.heuristic("goalcount")(task.initial)
        6.0
        """
        return Heuristic(self, name)

    def validate(self, plan: Sequence[Action | str]) -> Validation:
        """Checks a plan against the files the task came from, by the independent validator."""
        return self.loaded.validate([_action_name(action) for action in plan])

    @cached_property
    def _static_atoms(self) -> frozenset[str]:
        lifted = self.loaded.lifted
        if lifted is None:
            return frozenset()
        return frozenset(
            self._atom(atom) for atom in lifted.init if self._is_shown(atom[0]) and not lifted.fluent[atom[0]]
        )

    def _is_shown(self, predicate: int) -> bool:
        assert self.loaded.lifted is not None
        return not self.loaded.lifted.predicates[predicate].startswith("@")

    def _atom(self, atom: GroundAtom) -> str:
        lifted = self.loaded.lifted
        assert lifted is not None
        predicate, objects = atom
        return f"({' '.join([lifted.predicates[predicate], *(lifted.objects[number] for number in objects)])})"

    @cached_property
    def _sas(self) -> SasTask:
        assert self.loaded.sas is not None
        return read_sas(self.loaded.sas, self.loaded.sas_file)

    @cached_property
    def _facts(self) -> list[list[str]]:
        """By variable and value: the atom, empty where the value says that something does not hold."""
        return [[_atom_of_fact(name) for name in names] for names in self._sas.values]

    def __repr__(self) -> str:
        size = f"{len(self.objects)} objects, " if self.is_lifted else ""
        return f"<Task {self.domain or self.name}: {size}{len(self.goal)} goals>"


class State:
    """A state of a task. States of the same task are equal if they hold the same atoms."""

    def __init__(self, task: Task, number: int) -> None:
        self.task = task
        self.number = number
        """By which the native space knows it."""

    @property
    def is_goal(self) -> bool:
        """Whether the goal holds."""
        return self.task._space.is_goal(self.number)

    def atoms(self, *, static: bool = True) -> frozenset[str]:
        """What holds, as ``(on b1 b2)``; without ``static``, only what actions can change.

        >>> task = load("examples/blocksworld/domain.pddl", "examples/blocksworld/p01.pddl")
        >>> sorted(task.initial.atoms())[:3]
        ['(arm-empty)', '(clear b4)', '(on b1 b3)']
        """
        task = self.task
        if task.loaded.lifted is None:
            values = task._space.export_state(self.number)
            return frozenset(filter(None, (task._facts[variable][value] for variable, value in enumerate(values))))
        return self._fluent_atoms() | (task._static_atoms if static else frozenset())

    def _fluent_atoms(self) -> frozenset[str]:
        lifted = self.task.loaded.lifted
        assert lifted is not None
        numbers, atoms, position = self.task._space.export_state(self.number).tolist(), [], 0
        while position < len(numbers):
            end = position + 1 + lifted.arities[numbers[position]]
            atoms.append((numbers[position], tuple(numbers[position + 1 : end])))
            position = end
        return frozenset(self.task._atom(atom) for atom in atoms if self.task._is_shown(atom[0]))

    def actions(self) -> list[Action]:
        """The applicable actions, in the order of their names.

        >>> task = load("examples/blocksworld/domain.pddl", "examples/blocksworld/p01.pddl")
        >>> [str(action) for action in task.initial.actions()]
        ['(unstack b4 b1)']
        """
        return sorted(self._operators())

    def _operators(self) -> dict[Action, int]:
        return {self._action(operator): operator for operator in self.task._space.applicable(self.number)}

    def _action(self, operator: int) -> Action:
        space = self.task._space
        return Action(space.operator_name(operator), space.cost(operator))

    def apply(self, action: Action | str) -> State:
        """The state that an action leads to; ValueError if it is not applicable.

        >>> task = load("examples/blocksworld/domain.pddl", "examples/blocksworld/p01.pddl")
        >>> "(holding b4)" in task.initial.apply("(unstack b4 b1)").atoms()
        True
        """
        name = _action_name(action)
        for operator in self.task._space.applicable(self.number):
            if self.task._space.operator_name(operator) == name:
                return State(self.task, self.task._space.apply(self.number, operator))
        hint = near_miss(name, [known.name for known in self.actions()])
        raise ValueError(f"({name}) is not applicable in this state{hint}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and (self.task, self.number) == (other.task, other.number)

    def __hash__(self) -> int:
        return hash((id(self.task), self.number))

    def __repr__(self) -> str:
        goal = ", a goal" if self.is_goal else ""
        return f"<State {self.number} of {self.task.domain or self.task.name}: {len(self.atoms())} atoms{goal}>"


class Heuristic:
    """An estimate of the cost from a state to the goal; infinity where it sees that there is no way."""

    def __init__(self, task: Task, name: str) -> None:
        kind = SHORT_HEURISTICS.get(name.lower(), "")
        if kind in ("", "gsp"):
            known = [short for short, feature in SHORT_HEURISTICS.items() if feature != "gsp"]
            hint = near_miss(name, known) or f"; known are {', '.join(known)}"
            raise search_error(f"there is no heuristic '{name}'{hint}; a learned one is Model(…).h(state)")
        self.name = name
        self.task = task
        self._native = task.loaded.heuristic(kind)

    def __call__(self, state: State) -> float:
        """The value of a state."""
        return self.batch([state])[0]

    def batch(self, states: Sequence[State]) -> list[float]:
        """The values of states."""
        values = self._native.evaluate(self.task._space, state_numbers(self.task, states))
        return [float(value) for value in values]

    def preferred(self, state: State) -> list[Action]:
        """The actions that the heuristic prefers in a state.

        >>> task = load("examples/blocksworld/domain.pddl", "examples/blocksworld/p01.pddl")
        >>> [str(action) for action in task.heuristic("hff").preferred(task.initial)]
        ['(unstack b4 b1)']
        """
        state_numbers(self.task, [state])
        return sorted({state._action(operator) for operator in self._native.preferred(self.task._space, state.number)})

    def __repr__(self) -> str:
        return f"<Heuristic {self.name} of {self.task.domain or self.task.name}>"


def state_numbers(task: Task, states: Sequence[State]) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """The numbers of states of one task; ValueError if one belongs to another task."""
    if any(state.task is not task for state in states):
        raise ValueError("the states belong to another task")
    return np.array([state.number for state in states], np.int32)


def _action_name(action: Action | str) -> str:
    """The name without parentheses, in lower case and with single spaces, as the planner has it."""
    text = action.name if isinstance(action, Action) else action
    return " ".join(text.strip().removeprefix("(").removesuffix(")").lower().split())


def _atom_of_fact(name: str) -> str:
    match = _FACT.fullmatch(name.strip())
    if match is None:
        return ""
    return f"({' '.join([match[1], *match[2].replace(',', ' ').split()])})"
