"""The independent validator: plans checked against PDDL or SAS without any code of the search."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from gsp_fd.common.errors import InputError, driver_error
from gsp_fd.pddl.ast import Action, And, Atom, Condition, Domain, Equality, FunctionTerm, Not, Problem
from gsp_fd.validate.sas import read_sas, run_sas
from gsp_fd.validate.semantics import Change, Compiler, GroundAtom, Objects, Test, Undecided, World

State = dict[str, set[Objects]]
"""The true atoms, derived ones left out: the objects of each predicate."""


@dataclass(frozen=True, slots=True)
class Validation:
    """The verdict on a plan.

    ``cost`` is that of the whole plan, or of the steps before the failure; ``reason`` says what failed,
    ``step`` is the index of the action that is not applicable (None: the goal does not hold at the end).
    """

    valid: bool
    cost: int
    reason: str | None = None
    step: int | None = None


# -- plan files

_PLAN_LINE = re.compile(r"\(\s*([^()\s]+(?:\s+[^()\s]+)*)\s*\)")


def parse_plan(text: str, file: str) -> list[str]:
    """The actions of a plan file as Fast Downward writes it, such as ``unstack b1 b2``, in lower case."""
    actions = []
    for number, line in enumerate(text.split("\n"), start=1):
        content = line.split(";", 1)[0].strip()
        if not content:
            continue
        match = _PLAN_LINE.fullmatch(content)
        if match is None:
            message = f"expected an action such as (unstack b1 b2), got '{content[:60]}'"
            raise driver_error(message, file, number)
        actions.append(" ".join(match.group(1).lower().split()))
    return actions


def format_plan(actions: Sequence[str], cost: int, *, unit_cost: bool) -> str:
    """The text of a plan file, with the cost line that Fast Downward's driver looks for."""
    lines = [f"({action})" for action in actions]
    return "\n".join([*lines, f"; cost = {cost} ({'unit' if unit_cost else 'general'} cost)"]) + "\n"


# -- PDDL


def validate_plan(domain: Domain, problem: Problem, actions: Sequence[str]) -> Validation:
    """Executes a plan, ``["unstack b1 b2", …]``, by the full semantics of the PDDL files.

    Where several actions share a name, the first applicable one is taken. InputError if the derived
    predicates have no meaning.
    """
    try:
        return _Validator(domain, problem).run(actions)
    except RecursionError:
        message = "the conditions of the derived predicates are nested too deeply to validate a plan"
        raise InputError(message, domain.file) from None


def plan_states(domain: Domain, problem: Problem, actions: Sequence[str]) -> Iterator[State]:
    """The states of a plan, from the initial one to the last, or to the one whose action is not applicable."""
    validator = _Validator(domain, problem)
    yield validator.state()
    for action in actions:
        if isinstance(validator.step(action), str):
            return
        yield validator.state()


@dataclass(frozen=True, slots=True)
class _CompiledAction:
    action: Action
    compiler: Compiler
    precondition: Test
    effect: Change


class _Validator:
    def __init__(self, domain: Domain, problem: Problem) -> None:
        self.problem = problem
        self.world = World(domain, problem)
        self.schemas: dict[str, list[Action]] = {}
        for action in domain.actions:
            self.schemas.setdefault(action.name, []).append(action)
        self.compiled: dict[str, list[_CompiledAction]] = {}

    def run(self, actions: Sequence[str]) -> Validation:
        cost = 0
        for step, action in enumerate(actions):
            outcome = self.step(action)
            if isinstance(outcome, str):
                return Validation(False, cost, f"step {step + 1}, ({action}): {outcome}", step)
            cost += outcome
        compiler = Compiler(self.world)
        if not compiler.condition(self.problem.goal)(compiler.environment):
            missing = self._culprit(self.problem.goal, Compiler(self.world), [])
            return Validation(False, cost, f"after the last step the goal {missing} does not hold")
        return Validation(True, cost)

    def state(self) -> State:
        """The present state."""
        return {predicate: set(atoms) for predicate, atoms in self.world.atoms.items()}

    def step(self, action: str) -> int | str:
        """Applies an action to the state and returns its cost, or the reason why it is not applicable."""
        name, *arguments = action.split()
        outcome: int | str = "there is no such action"
        for candidate in self._actions(name):
            outcome = self._apply(candidate, arguments)
            if isinstance(outcome, int):
                break
        return outcome

    def _actions(self, name: str) -> list[_CompiledAction]:
        if name not in self.compiled:
            self.compiled[name] = []
            for action in self.schemas.get(name, []):
                compiler = Compiler(self.world, action.parameters)
                precondition = compiler.condition(action.precondition)
                effect = compiler.effect(action.effect)
                self.compiled[name].append(_CompiledAction(action, compiler, precondition, effect))
        return self.compiled[name]

    def _apply(self, compiled: _CompiledAction, arguments: Sequence[str]) -> int | str:
        """Applies an action to the state and returns its cost, or the reason why it is not applicable."""
        action = compiled.action
        if len(arguments) != len(action.parameters):
            return f"the action takes {len(action.parameters)} argument(s), got {len(arguments)}"
        for name, parameter in zip(arguments, action.parameters, strict=True):
            if not self.world.is_a(name, parameter):
                known = any(name in members for members in self.world.member_sets.values())
                kind = " or ".join(parameter.types)
                return f"'{name}' is not of type {kind}" if known else f"there is no object '{name}'"
        environment = compiled.compiler.bind(arguments)
        if not compiled.precondition(environment):
            compiler = Compiler(self.world, action.parameters)
            return f"precondition {self._culprit(action.precondition, compiler, arguments)} does not hold"
        binding = dict(zip((parameter.name for parameter in action.parameters), arguments, strict=True))
        cost = self._cost(action, binding)
        if cost is None:
            return "its cost has no value in the initial state"
        add: list[GroundAtom] = []
        delete: list[GroundAtom] = []
        compiled.effect(environment, add, delete)
        self.world.apply(add, delete)
        return cost

    def _cost(self, action: Action, binding: dict[str, str]) -> int | None:
        cost: int | None = action.cost if isinstance(action.cost, int) else 0
        if isinstance(action.cost, FunctionTerm):
            args = (binding.get(term, term) for term in action.cost.args)
            cost = self.problem.values.get((action.cost.function, *args))
        return cost if cost is None or self.problem.minimize_cost else 1

    def _culprit(self, condition: Condition, compiler: Compiler, arguments: Sequence[str]) -> str:
        """The first conjunct that fails, with the arguments filled in."""
        while isinstance(condition, And):
            for part in condition.parts:
                with suppress(Undecided):
                    if not compiler.condition(part)(compiler.bind(arguments)):
                        condition = part
                        break
            else:
                break
        names = compiler.environment
        return _show(condition, {name: names[slot] for name, slot in compiler.scope.items()})


def _show(condition: Condition, binding: dict[str, str]) -> str:
    negated = isinstance(condition, Not)
    inner = condition.part if isinstance(condition, Not) else condition
    if isinstance(inner, Atom):
        terms = (inner.predicate, *inner.args)
    elif isinstance(inner, Equality):
        terms = ("=", inner.left, inner.right)
    else:
        return f"({type(condition).__name__.lower()} ...) in line {condition.line}"
    text = f"({' '.join(binding.get(term, term) for term in terms)})"
    return f"(not {text})" if negated else text


# -- SAS


def validate_sas_plan(sas_text: bytes, actions: Sequence[str], *, file: str = "output.sas") -> Validation:
    """Executes a plan of operator names (``"unstack b1 b2"``) by the semantics of a SAS file of version 3.

    InputError with file and line if the file is not one.
    """
    cost, reason, step = run_sas(read_sas(sas_text, file), actions)
    return Validation(reason is None, cost, reason, step)
