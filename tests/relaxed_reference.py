"""hmax, hadd and hFF over ground tasks with the order in which the core breaks ties, as plain as can be.

One counter per relaxed operator; facts leave the queue by cost, those of one cost first come, first served (beyond
4095: by their numbers). The relaxed plan takes the relaxed operator that first reached a fact at its final cost.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from dataclasses import dataclass

from sas_reference import INFINITY, Fact, SasTask, State, adjusted, holds

FIRST_COME = 4096


@dataclass(frozen=True)
class Rule:
    """A relaxed operator; ``operator`` is -1 for an axiom."""

    needs: frozenset[Fact]
    adds: tuple[Fact, ...]
    cost: int
    operator: int


class Relaxation:
    """The delete relaxation of a task under one cost type."""

    def __init__(self, task: SasTask, cost_type: str = "normal") -> None:
        self.task = task
        needed = {fact for op in task.operators for fact in op.preconditions}
        needed |= {fact for op in task.operators for conditions, _, _ in op.effects for fact in conditions}
        needed |= {fact for axiom in task.axioms for fact in axiom[0]}
        needed |= set(task.goal)
        self.needed = needed
        self.rules: list[Rule] = []
        for number, op in enumerate(task.operators):
            groups: dict[tuple[Fact, ...], list[Fact]] = defaultdict(list)
            for conditions, variable, value in op.effects:
                groups[tuple(conditions)].append((variable, value))
            for conditions, facts in sorted(groups.items()):
                needs = frozenset([*op.preconditions, *conditions])
                self._add(needs, facts, adjusted(task, op.cost, cost_type), number)
        for conditions, variable, value in task.axioms:
            self._add(frozenset(conditions), [(variable, value)], 0, -1)
        self.readers: dict[Fact, list[int]] = defaultdict(list)
        for number, rule in enumerate(self.rules):
            for fact in rule.needs:
                self.readers[fact].append(number)

    def _add(self, needs: frozenset[Fact], facts: list[Fact], cost: int, operator: int) -> None:
        adds = tuple(fact for fact in facts if fact in self.needed and fact not in needs)
        if adds:
            self.rules.append(Rule(needs, adds, cost, operator))

    def explore(self, state: State, *, maximum: bool) -> tuple[dict[Fact, int], dict[Fact, int]]:
        """Costs and supporting rules of the facts that matter, up to the last goal."""
        costs: dict[Fact, int] = {}
        support: dict[Fact, int] = {}
        queue: list[tuple[int, int, Fact]] = []
        pushed = 0

        def reach(fact: Fact, cost: int, rule: int) -> None:
            nonlocal pushed
            if fact in self.needed and cost < costs.get(fact, INFINITY):
                costs[fact], support[fact] = cost, rule
                pushed += 1
                heapq.heappush(queue, (cost, pushed if cost < FIRST_COME else 0, fact))

        for fact in enumerate(state):
            reach(fact, 0, -1)
        for number, variable in enumerate(self.task.variables):
            if variable.layer >= 0:
                reach((number, self.task.initial[number]), 0, -1)
        for number, rule in enumerate(self.rules):
            if not rule.needs:
                for fact in rule.adds:
                    reach(fact, rule.cost, number)
        missing = [len(rule.needs) for rule in self.rules]
        sums = [rule.cost for rule in self.rules]
        open_goals = set(self.task.goal)
        while queue and open_goals:
            cost, _, fact = heapq.heappop(queue)
            if costs[fact] < cost:
                continue
            open_goals.discard(fact)
            if not open_goals:
                break
            for number in self.readers[fact]:
                rule = self.rules[number]
                missing[number] -= 1
                sums[number] = rule.cost + cost if maximum else sums[number] + cost
                if missing[number] == 0:
                    for added in rule.adds:
                        reach(added, sums[number], number)
        return (costs, support) if not open_goals else ({}, {})

    def values(self, state: State) -> tuple[float, float, float, set[int]]:
        """hmax, hadd, hFF and the operators that hFF prefers."""
        goal = set(self.task.goal)
        costs, _ = self.explore(state, maximum=True)
        if not goal <= costs.keys():
            return INFINITY, INFINITY, INFINITY, set()
        hmax = max((costs[fact] for fact in goal), default=0)
        costs, support = self.explore(state, maximum=False)
        plan: set[int] = set()
        seen, stack = set(goal), list(goal)
        while stack:
            number = support[stack.pop()]
            if number < 0:
                continue
            plan.add(self.rules[number].operator)
            stack += self.rules[number].needs - seen
            seen |= self.rules[number].needs
        plan.discard(-1)
        cost_of = {rule.operator: rule.cost for rule in self.rules}
        preferred = {op for op in plan if holds(state, self.task.operators[op].preconditions)}
        return hmax, sum(costs[fact] for fact in goal), sum(cost_of[op] for op in plan), preferred
