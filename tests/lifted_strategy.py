"""Random lifted tasks for Hypothesis: small, odd, and often with something that only ever moves."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from hypothesis import strategies as st
from reference import Atom

from gsp_fd.pddl import LiftedTask, Literal, Schema

Draw = st.DrawFn


@st.composite
def lifted_tasks(draw: Draw, max_objects: int = 3, costs: st.SearchStrategy[int] | None = None) -> LiftedTask:
    """Constants, (in)equality, negation, repeated and free parameters, nullary predicates, empty types."""
    num_objects = draw(st.integers(0 if draw(st.integers(0, 9)) == 0 else 1, max_objects))
    everything = tuple(range(num_objects))
    subsets = st.sets(st.sampled_from(everything)).map(sorted).map(tuple) if everything else st.just(())
    members = (everything, *draw(st.lists(subsets, max_size=2)))
    arities = tuple(draw(st.lists(st.sampled_from([0, 1, 1, 1, 2, 2, 3]), min_size=1, max_size=4)))
    atoms = [(p, args) for p, n in enumerate(arities) for args in product(everything, repeat=n)]
    functions = draw(st.integers(0, 1)) if costs is not None else 0
    price = st.just(1) if costs is None else costs
    schemas = tuple(
        draw(_schemas(f"a{i}", len(members), arities, num_objects, functions, price))
        for i in range(draw(st.integers(1, 3)))
    )
    fluent = {literal.predicate for schema in schemas for literal in (*schema.add, *schema.delete)}
    return LiftedTask(
        domain_name="random",
        problem_name="random",
        objects=tuple(f"o{i}" for i in everything),
        constants=0,
        types=tuple(f"t{i}" for i in range(len(members))),
        type_members=members,
        object_types=(0,) * num_objects,
        predicates=tuple(f"p{i}" for i in range(len(arities))),
        arities=arities,
        predicate_types=tuple((0,) * n for n in arities),
        fluent=tuple(p in fluent for p in range(len(arities))),
        schemas=schemas,
        init=draw(_atom_sets(atoms, 8)),
        goal_positive=tuple(draw(_atom_sets(atoms, 2))),
        goal_negative=tuple(draw(_atom_sets(atoms, 1))),
        functions=("f",) * functions,
        function_values=tuple({(o,): draw(price) for o in everything} for _ in range(functions)),
        use_costs=costs is not None,
    )


def _atom_sets(atoms: Sequence[Atom], most: int) -> st.SearchStrategy[list[Atom]]:
    return st.lists(st.sampled_from(atoms), max_size=most, unique=True) if atoms else st.just([])


@st.composite
def _schemas(
    draw: Draw,
    name: str,
    types: int,
    arities: tuple[int, ...],
    objects: int,
    functions: int,
    costs: st.SearchStrategy[int],
) -> Schema:
    parameters = tuple(draw(st.lists(st.integers(0, types - 1), max_size=3)))
    terms = [*range(len(parameters)), *(-o - 1 for o in range(min(objects, 2)))]
    literals = _literals(arities, terms)
    positive, add, delete = (draw(st.lists(literals, max_size=n)) for n in (2, 1, 1))
    if draw(st.booleans()) and (moved := draw(literals)) and (target := draw(literals)):
        positive, delete, add = [*positive, moved], [*delete, moved], [*add, target]
    if not any(add) and not any(delete):
        add = [Literal(arities.index(0), ())] if 0 in arities else []
    pairs = st.tuples(st.sampled_from(terms), st.sampled_from(terms)) if terms else st.nothing()
    comparisons = st.lists(pairs, max_size=1) if terms else st.just([])
    with_term = bool(functions and objects and terms) and draw(st.booleans())
    return Schema(
        name=name,
        parameters=parameters,
        parameter_names=tuple(f"?x{i}" for i in range(len(parameters))),
        positive=_given(positive),
        negative=_given(draw(st.lists(literals, max_size=2))),
        equal=tuple(draw(comparisons) if draw(st.integers(0, 3)) == 0 else ()),
        unequal=tuple(draw(comparisons)),
        add=_given(add),
        delete=_given(delete),
        cost=draw(costs),
        cost_terms=((0, (draw(st.sampled_from(terms)),)),) if with_term else (),
    )


def _literals(arities: tuple[int, ...], terms: list[int]) -> st.SearchStrategy[Literal | None]:
    """A literal over the terms; None where no predicate can be filled."""
    usable = [p for p, n in enumerate(arities) if terms or n == 0]
    if not usable:
        return st.none()
    term = st.sampled_from(terms) if terms else st.nothing()

    def literal(predicate: int) -> st.SearchStrategy[Literal]:
        return st.tuples(*[term] * arities[predicate]).map(lambda args: Literal(predicate, args))

    return st.sampled_from(usable).flatmap(literal)


def _given(literals: Sequence[Literal | None]) -> tuple[Literal, ...]:
    return tuple(literal for literal in literals if literal is not None)
