"""The oracle for SAS tasks: text, execution and relaxation heuristics in pure Python."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

Fact = tuple[int, int]
"""Variable and value."""
State = tuple[int, ...]

INFINITY = float("inf")


@dataclass(frozen=True)
class Variable:
    """``layer`` is -1 unless the variable is derived."""

    layer: int
    values: tuple[str, ...]


@dataclass(frozen=True)
class Operator:
    """``effects`` are (conditions, variable, new value); ``preconditions`` are all of them, prevail or not."""

    name: str
    preconditions: tuple[Fact, ...]
    effects: tuple[tuple[tuple[Fact, ...], int, int], ...]
    cost: int


@dataclass(frozen=True)
class SasTask:
    """A SAS task; axioms are (conditions, variable, new value)."""

    variables: tuple[Variable, ...]
    initial: State
    goal: tuple[Fact, ...]
    operators: tuple[Operator, ...]
    axioms: tuple[tuple[tuple[Fact, ...], int, int], ...] = ()
    mutex_groups: tuple[tuple[Fact, ...], ...] = ()
    metric: bool = False
    unit_cost: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "unit_cost", all(op.cost == 1 for op in self.operators))


# -- text


def write(task: SasTask) -> bytes:
    """The file as Fast Downward's translator writes it."""
    lines = ["begin_version", "3", "end_version", "begin_metric", str(int(task.metric)), "end_metric"]
    lines.append(str(len(task.variables)))
    for number, variable in enumerate(task.variables):
        lines += ["begin_variable", f"var{number}", str(variable.layer), str(len(variable.values))]
        lines += [*variable.values, "end_variable"]
    lines.append(str(len(task.mutex_groups)))
    for group in task.mutex_groups:
        lines += ["begin_mutex_group", *_facts(group), "end_mutex_group"]
    lines += ["begin_state", *map(str, task.initial), "end_state"]
    lines += ["begin_goal", *_facts(task.goal), "end_goal", str(len(task.operators))]
    for operator in task.operators:
        lines += ["begin_operator", operator.name, *_operator(operator), "end_operator"]
    lines.append(str(len(task.axioms)))
    for conditions, derived, value in task.axioms:
        head = f"{derived} {task.initial[derived]} {value}"
        lines += ["begin_rule", *_facts(conditions), head, "end_rule"]
    return ("\n".join(lines) + "\n").encode()


def _facts(facts: Sequence[Fact]) -> list[str]:
    return [str(len(facts)), *(f"{variable} {value}" for variable, value in facts)]


def _operator(operator: Operator) -> list[str]:
    changed = {variable for _, variable, _ in operator.effects}
    before = dict(operator.preconditions)
    lines = _facts([fact for fact in operator.preconditions if fact[0] not in changed])
    lines.append(str(len(operator.effects)))
    for conditions, variable, value in operator.effects:
        pairs = [number for fact in conditions for number in fact]
        numbers = [len(conditions), *pairs, variable, before.get(variable, -1), value]
        lines.append(" ".join(map(str, numbers)))
    return [*lines, str(operator.cost)]


def read(text: bytes) -> SasTask:
    """A task from a well-formed file."""
    lines = iter(text.decode().splitlines())

    def skip(count: int = 1) -> None:
        for _ in range(count):
            next(lines)

    def number() -> int:
        return int(next(lines))

    def facts() -> tuple[Fact, ...]:
        return tuple((int(v), int(d)) for v, d in (next(lines).split() for _ in range(number())))

    def block(parse: Callable[[], object]) -> object:
        skip()
        result = parse()
        skip()
        return result

    def variable() -> Variable:
        skip()
        layer = number()
        return Variable(layer, tuple(next(lines) for _ in range(number())))

    def operator() -> Operator:
        name, preconditions, effects = next(lines), dict(facts()), []
        for _ in range(number()):
            count, *numbers = map(int, next(lines).split())
            pairs = tuple((numbers[2 * i], numbers[2 * i + 1]) for i in range(count))
            var, before, after = numbers[2 * count :]
            if before >= 0:
                preconditions[var] = before
            effects.append((pairs, var, after))
        return Operator(name, tuple(sorted(preconditions.items())), tuple(effects), number())

    def axiom() -> tuple[tuple[Fact, ...], int, int]:
        conditions = facts()
        var, _, after = map(int, next(lines).split())
        return conditions, var, after

    skip(4)
    metric = bool(number())
    skip()
    variables = tuple(block(variable) for _ in range(number()))
    groups = tuple(block(facts) for _ in range(number()))
    initial = block(lambda: tuple(number() for _ in variables))
    goal = block(facts)
    operators = tuple(block(operator) for _ in range(number()))
    axioms = tuple(block(axiom) for _ in range(number()))
    return SasTask(variables, initial, goal, operators, axioms, groups, metric)  # type: ignore[arg-type]


# -- execution


def holds(state: Sequence[int], facts: Iterable[Fact]) -> bool:
    """Whether all facts are true in the state."""
    return all(state[variable] == value for variable, value in facts)


def closed(task: SasTask, state: Sequence[int]) -> State:
    """The state with its derived variables computed, layer by layer, from their defaults."""
    values = list(state)
    for number, variable in enumerate(task.variables):
        if variable.layer >= 0:
            values[number] = task.initial[number]
    for layer in sorted({variable.layer for variable in task.variables} - {-1}):
        rules = [rule for rule in task.axioms if task.variables[rule[1]].layer == layer]
        while fired := [rule for rule in rules if values[rule[1]] != rule[2] and holds(values, rule[0])]:
            values[fired[0][1]] = fired[0][2]
    return tuple(values)


def initial(task: SasTask) -> State:
    """The initial state, derived variables included."""
    return closed(task, task.initial)


def applicable(task: SasTask, state: State) -> list[int]:
    """The numbers of the applicable operators."""
    return [i for i, operator in enumerate(task.operators) if holds(state, operator.preconditions)]


def successor(task: SasTask, state: State, operator: int) -> State:
    """The state after an operator; conditions are judged in the state before."""
    values = list(state)
    for conditions, variable, value in task.operators[operator].effects:
        if holds(state, conditions):
            values[variable] = value
    return closed(task, values)


def explore(task: SasTask, limit: int) -> dict[State, int] | None:
    """The least cost of every reachable state, or None if there are more than ``limit``."""
    costs, queue, done = {initial(task): 0}, [(0, initial(task))], set()
    while queue:
        g, state = heapq.heappop(queue)
        if state in done:
            continue
        done.add(state)
        for number in applicable(task, state):
            reached, total = successor(task, state, number), g + task.operators[number].cost
            if reached not in costs or total < costs[reached]:
                costs[reached] = total
                heapq.heappush(queue, (total, reached))
        if len(costs) > limit:
            return None
    return costs


def optimal_cost(task: SasTask, costs: dict[State, int]) -> int | None:
    """The least cost of a goal state; None if the task has no plan."""
    return min((cost for state, cost in costs.items() if holds(state, task.goal)), default=None)


# -- delete relaxation


def adjusted(task: SasTask, cost: int, cost_type: str) -> int:
    """The cost that a search or heuristic of a cost type uses."""
    if cost_type == "normal":
        return cost
    return 1 if cost_type == "one" or task.unit_cost else cost + 1


def relaxed_operators(task: SasTask, cost_type: str = "normal") -> list[tuple[frozenset[Fact], Fact, float]]:
    """(conditions, added fact, cost) of every effect and axiom."""
    rules: list[tuple[frozenset[Fact], Fact, float]] = []
    for operator in task.operators:
        price = adjusted(task, operator.cost, cost_type)
        for conditions, variable, value in operator.effects:
            rules.append((frozenset((*operator.preconditions, *conditions)), (variable, value), price))
    rules += [(frozenset(conditions), (variable, value), 0) for conditions, variable, value in task.axioms]
    return rules


def relaxed_state(task: SasTask, state: State) -> set[Fact]:
    """What is free in a state: its facts, and the defaults of derived variables."""
    defaults = {(v, task.initial[v]) for v, variable in enumerate(task.variables) if variable.layer >= 0}
    return set(enumerate(state)) | defaults


def relaxed_value(
    task: SasTask, state: State, combine: Callable[[list[float]], float], cost_type: str = "normal"
) -> float:
    """hmax (``combine=max``) or hadd (``combine=sum``), as a fixed point."""
    costs: dict[Fact, float] = dict.fromkeys(relaxed_state(task, state), 0)

    def joint(facts: Iterable[Fact]) -> float:
        return combine([0, *(costs.get(fact, INFINITY) for fact in facts)])

    rules, changed = relaxed_operators(task, cost_type), True
    while changed:
        changed = False
        for conditions, fact, price in rules:
            total = joint(conditions) + price
            if total < costs.get(fact, INFINITY):
                costs[fact], changed = total, True
    return joint(task.goal)


def relaxed_optimum(task: SasTask, state: State, limit: int) -> float | None:
    """h+ of a task without conditional effects: the cost of a cheapest relaxed plan; None if that is too hard."""
    start = frozenset(relaxed_state(task, state))
    best, queue = {start: 0.0}, [(0.0, 0, start)]
    while queue:
        g, _, facts = heapq.heappop(queue)
        if facts >= set(task.goal):
            return g
        if g > best[facts]:
            continue
        for conditions, added, price in _joint_operators(task):
            reached = facts | added
            if conditions <= facts and reached != facts and g + price < best.get(reached, INFINITY):
                best[reached] = g + price
                heapq.heappush(queue, (g + price, len(best), reached))
        if len(best) > limit:
            return None
    return INFINITY


def _joint_operators(task: SasTask) -> list[tuple[frozenset[Fact], frozenset[Fact], float]]:
    rules = [
        (frozenset(op.preconditions), frozenset((v, d) for _, v, d in op.effects), float(op.cost))
        for op in task.operators
    ]
    return rules + [(frozenset(c), frozenset({(v, d)}), 0.0) for c, v, d in task.axioms]
