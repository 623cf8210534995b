"""The validator's own reading of SAS files of version 3, and the execution of plans on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from gsp_fd.common.errors import search_error

Fact = tuple[int, int]
"""Variable and value."""


@dataclass(frozen=True, slots=True)
class Operator:
    """Effects are (conditions, variable, new value), all judged in the state before the operator."""

    preconditions: tuple[Fact, ...]
    effects: tuple[tuple[tuple[Fact, ...], int, int], ...]
    cost: int


@dataclass(frozen=True, slots=True)
class Axiom:
    """Sets ``variable`` from ``old`` to ``new`` wherever the conditions hold."""

    conditions: tuple[Fact, ...]
    variable: int
    old: int
    new: int


@dataclass(slots=True)
class SasTask:
    """A SAS task; ``layers`` holds the axiom layer of every variable, -1 if it is not derived."""

    ranges: list[int] = field(default_factory=list)
    values: list[list[str]] = field(default_factory=list)
    """The names of the values of every variable, such as ``Atom on(a, b)``."""
    layers: list[int] = field(default_factory=list)
    initial: list[int] = field(default_factory=list)
    goal: tuple[Fact, ...] = ()
    operators: dict[str, list[Operator]] = field(default_factory=dict)
    axioms: dict[int, list[Axiom]] = field(default_factory=dict)


class _Lines:
    def __init__(self, data: bytes, file: str) -> None:
        self.lines = data.decode("utf-8", errors="replace").removesuffix("\n").split("\n")
        self.position = 0
        self.file = file

    def fail(self, message: str) -> NoReturn:
        line = max(1, self.position)
        raise search_error(message, self.file, line)

    def next(self) -> str:
        if self.position == len(self.lines):
            self.fail("the SAS file ends too early")
        self.position += 1
        return self.lines[self.position - 1].strip()

    def expect(self, word: str) -> None:
        found = self.next()
        if found != word:
            self.fail(f"expected '{word}', got '{found[:40]}'")

    def numbers(self, count: int | None = None) -> list[int]:
        text = self.next()
        try:
            result = [int(word) for word in text.split()]
        except ValueError:
            self.fail(f"expected numbers, got '{text[:40]}'")
        if count is not None and len(result) != count:
            self.fail(f"expected {count} number(s), got {len(result)}")
        return result

    def number(self, low: int = 0, high: int | None = None) -> int:
        value = self.numbers(1)[0]
        if value < low or (high is not None and value > high):
            self.fail(f"number {value} is out of range")
        return value


def read_sas(data: bytes, file: str) -> SasTask:
    """Reads a SAS file of version 3; InputError with the line of the first mistake."""
    lines, task = _Lines(data, file), SasTask()
    lines.expect("begin_version")
    if lines.next() != "3":
        lines.fail("only SAS version 3 is supported")
    lines.expect("end_version")
    lines.expect("begin_metric")
    metric = lines.number(0, 1)
    lines.expect("end_metric")
    for _ in range(lines.number()):
        lines.expect("begin_variable")
        lines.next()
        task.layers.append(lines.number(-1))
        task.ranges.append(lines.number(1))
        task.values.append([lines.next() for _ in range(task.ranges[-1])])
        lines.expect("end_variable")
    for _ in range(lines.number()):
        lines.expect("begin_mutex_group")
        _facts(lines, task)
        lines.expect("end_mutex_group")
    lines.expect("begin_state")
    for size in task.ranges:
        task.initial.append(lines.number(0, size - 1))
    lines.expect("end_state")
    lines.expect("begin_goal")
    task.goal = _facts(lines, task)
    lines.expect("end_goal")
    for _ in range(lines.number()):
        lines.expect("begin_operator")
        name = _name(lines.next())
        task.operators.setdefault(name, []).append(_operator(lines, task, bool(metric)))
        lines.expect("end_operator")
    for _ in range(lines.number()):
        lines.expect("begin_rule")
        conditions = _facts(lines, task)
        variable, old, new = lines.numbers(3)
        _check(lines, task, variable, new)
        axiom = Axiom(conditions, variable, old, new)
        task.axioms.setdefault(task.layers[variable], []).append(axiom)
        lines.expect("end_rule")
    return task


def _name(text: str) -> str:
    """The name of an operator; case and kind of white space do not tell operators apart."""
    return " ".join(text.lower().split())


def _check(lines: _Lines, task: SasTask, variable: int, value: int) -> Fact:
    if not 0 <= variable < len(task.ranges):
        lines.fail(f"there is no variable {variable}")
    if not 0 <= value < task.ranges[variable]:
        lines.fail(f"variable {variable} has no value {value}")
    return variable, value


def _facts(lines: _Lines, task: SasTask) -> tuple[Fact, ...]:
    facts = []
    for _ in range(lines.number()):
        variable, value = lines.numbers(2)
        facts.append(_check(lines, task, variable, value))
    return tuple(facts)


def _operator(lines: _Lines, task: SasTask, metric: bool) -> Operator:
    preconditions = list(_facts(lines, task))
    effects = []
    for _ in range(lines.number()):
        numbers = lines.numbers()
        count = numbers[0] if numbers else -1
        if count < 0 or len(numbers) != 2 * count + 4:
            lines.fail("malformed effect of an operator")
        pairs = zip(numbers[1 : 2 * count : 2], numbers[2 : 2 * count + 1 : 2], strict=True)
        conditions = tuple(_check(lines, task, variable, value) for variable, value in pairs)
        variable, old, new = numbers[-3:]
        _check(lines, task, variable, new)
        if old != -1:
            preconditions.append(_check(lines, task, variable, old))
        effects.append((conditions, variable, new))
    cost = lines.number()
    return Operator(tuple(preconditions), tuple(effects), cost if metric else 1)


def run_sas(task: SasTask, actions: Sequence[str]) -> tuple[int, str | None, int | None]:
    """Cost, reason of failure and failing step of a plan, as in ``Validation``.

    Operators may share a name, so this follows every state that the plan can lead to, at its least cost.
    """
    states = {_closed(task, list(task.initial)): 0}
    for step, action in enumerate(actions):
        name = _name(action)
        candidates = task.operators.get(name, [])
        successors: dict[tuple[int, ...], int] = {}
        for state, cost in states.items():
            for operator in candidates:
                if _holds(state, operator.preconditions):
                    successor = _closed(task, _successor(state, operator))
                    total = cost + operator.cost
                    successors[successor] = min(total, successors.get(successor, total))
        if not successors:
            reason = "there is no such operator"
            if candidates:
                reason = _missing(next(iter(states)), candidates[0].preconditions, "precondition")
            return min(states.values()), f"step {step + 1}, ({name}): {reason}", step
        states = successors
    goals = [cost for state, cost in states.items() if _holds(state, task.goal)]
    if goals:
        return min(goals), None, None
    missing = _missing(next(iter(states)), task.goal, "goal")
    return min(states.values()), f"after the last step {missing}", None


def _holds(state: Sequence[int], facts: Sequence[Fact]) -> bool:
    return all(state[variable] == value for variable, value in facts)


def _missing(state: Sequence[int], facts: Sequence[Fact], what: str) -> str:
    for variable, value in facts:
        if state[variable] != value:
            return f"{what} var{variable} = {value} does not hold"
    return f"the {what} does not hold"


def _successor(state: Sequence[int], operator: Operator) -> list[int]:
    successor = list(state)
    for conditions, variable, value in operator.effects:
        if _holds(state, conditions):
            successor[variable] = value
    return successor


def _closed(task: SasTask, state: list[int]) -> tuple[int, ...]:
    """The state with its derived variables evaluated from their defaults, layer by layer."""
    for variable, layer in enumerate(task.layers):
        if layer >= 0:
            state[variable] = task.initial[variable]
    for layer in sorted(task.axioms):
        pending, changed = task.axioms[layer], True
        while changed:
            changed, waiting = False, []
            for axiom in pending:
                if not _holds(state, axiom.conditions):
                    waiting.append(axiom)
                elif state[axiom.variable] == axiom.old:
                    state[axiom.variable] = axiom.new
                    changed = True
            pending = waiting
    return tuple(state)
