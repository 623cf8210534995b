"""The order in which derived predicates are evaluated: what a rule negates is known before the rule is looked at.

Where predicates depend on each other and on the negation of one of them, they stay together: their atoms may have such
an order still, once the rules are ground.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gsp_fd.pddl.rules import Rule


def strata(rules: Sequence[Rule]) -> tuple[tuple[Rule, ...], ...]:
    """The rules of predicates that depend on each other together, after those of everything else they depend on."""
    needs: dict[int, dict[int, None]] = {rule.add[0].predicate: {} for rule in rules}
    for rule in rules:
        body = (*rule.positive, *rule.negative)
        needs[rule.add[0].predicate].update((item.predicate, None) for item in body if item.predicate in needs)
    components = _components(needs)
    place = {predicate: index for index, members in enumerate(components) for predicate in members}
    result: list[list[Rule]] = [[] for _ in components]
    for rule in rules:
        result[place[rule.add[0].predicate]].append(rule)
    return tuple(tuple(stratum) for stratum in result)


def _components(needs: Mapping[int, Iterable[int]]) -> list[list[int]]:
    """Strongly connected components, each after those that it needs (Tarjan's algorithm, without recursion)."""
    index: dict[int, int] = {}
    lowest: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    result = []
    for root in needs:
        if root in index:
            continue
        work = [(root, iter(needs[root]))]
        index[root] = lowest[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, children = work[-1]
            for child in children:
                if child not in index:
                    index[child] = lowest[child] = len(index)
                    stack.append(child)
                    on_stack.add(child)
                    work.append((child, iter(needs[child])))
                    break
                if child in on_stack:
                    lowest[node] = min(lowest[node], index[child])
            else:
                work.pop()
                if work:
                    lowest[work[-1][0]] = min(lowest[work[-1][0]], lowest[node])
                if lowest[node] == index[node]:
                    members: list[int] = []
                    while not members or members[-1] != node:
                        members.append(stack.pop())
                        on_stack.discard(members[-1])
                    result.append(members)
    return result
