"""Random SAS tasks for Hypothesis, with conditional effects and layers of axioms."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st
from sas_reference import Fact, Operator, SasTask, Variable

SMALL_COSTS = st.integers(0, 5)


@st.composite
def sas_tasks(
    draw: st.DrawFn,
    conditional: bool = True,
    axioms: bool = True,
    costs: st.SearchStrategy[int] = SMALL_COSTS,
) -> SasTask:
    """At most four state variables and four derived ones; the text is as the native core writes it."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    layers = [-1] * len(sizes)
    if axioms:
        layers += draw(st.lists(st.integers(0, 2), max_size=4))
    sizes += [2] * (len(layers) - len(sizes))
    variables = tuple(
        Variable(layer, tuple(f"Atom v{v}({d})" for d in range(size)))
        for v, (layer, size) in enumerate(zip(layers, sizes, strict=True))
    )
    start = tuple(draw(st.integers(0, size - 1)) for size in sizes)
    basic = [v for v, layer in enumerate(layers) if layer < 0]
    derived = range(len(basic), len(layers))
    metric = draw(st.booleans())
    price = costs if metric else st.just(1)
    operators = tuple(
        draw(_operators(f"op{i}", sizes, basic, conditional, price)) for i in range(draw(st.integers(0, 5)))
    )
    return SasTask(
        variables=variables,
        initial=start,
        goal=draw(_facts(range(len(sizes)), sizes, 2)),
        operators=operators,
        axioms=tuple(rule for v in derived for rule in draw(_rules(v, layers, sizes, start))),
        metric=metric,
    )


@st.composite
def _facts(draw: st.DrawFn, variables: Sequence[int], sizes: list[int], most: int) -> tuple[Fact, ...]:
    """Facts of different variables, sorted."""
    chosen = sorted(draw(st.sets(st.sampled_from(variables), max_size=most))) if variables else []
    return tuple((v, draw(st.integers(0, sizes[v] - 1))) for v in chosen)


@st.composite
def _operators(
    draw: st.DrawFn,
    name: str,
    sizes: list[int],
    basic: list[int],
    conditional: bool,
    costs: st.SearchStrategy[int],
) -> Operator:
    preconditions = draw(_facts(range(len(sizes)), sizes, 3))
    effects = []
    for variable in draw(st.lists(st.sampled_from(basic), max_size=3, unique=not conditional)):
        conditions = draw(_facts(range(len(sizes)), sizes, 2)) if conditional else ()
        effects.append((conditions, variable, draw(st.integers(0, sizes[variable] - 1))))
    return Operator(name, preconditions, tuple(effects), draw(costs))


@st.composite
def _rules(
    draw: st.DrawFn, head: int, layers: list[int], sizes: list[int], start: tuple[int, ...]
) -> list[tuple[tuple[Fact, ...], int, int]]:
    """Stratified: no variable of a higher layer, and no default value of the head's own layer."""
    rules = []
    for _ in range(draw(st.integers(0, 2))):
        facts = draw(_facts([v for v in range(len(sizes)) if layers[v] <= layers[head]], sizes, 3))
        body = tuple((v, 1 - start[v]) if layers[v] == layers[head] else (v, d) for v, d in facts)
        rules.append((body, head, 1 - start[head]))
    return rules
