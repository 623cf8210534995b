"""From syntax trees to lifted tasks: indices, rewriting, costs, strata."""

from __future__ import annotations

from pathlib import Path

import pytest
from pddl_helpers import (
    CONFORMANCE,
    DOMAIN,
    PLAN,
    PROBLEM,
    fast_downward_plan,
    parse,
    read_pair,
)

from gsp_fd.pddl import LiftedTask, Literal, lifted_task, read_domain, read_problem
from gsp_fd.pddl.reader import MAX_DEPTH
from gsp_fd.validate import parse_plan


def lifted(folder: Path, domain: str = DOMAIN, problem: str = PROBLEM) -> LiftedTask:
    return lifted_task(*parse(folder, domain, problem))


def execute(task: LiftedTask, plan: list[str]) -> tuple[bool, int]:
    """A slow reference: whether the goal holds after the plan (False as soon as a step is not applicable)."""
    number = {name: index for index, name in enumerate(task.objects)}
    state, cost = set(task.init), 0
    for name, *arguments in map(str.split, plan):
        (schema,) = (schema for schema in task.schemas if schema.name == name)
        objects = tuple(number[argument] for argument in arguments)

        def ground(terms: tuple[int, ...], objects: tuple[int, ...] = objects) -> tuple[int, ...]:
            return tuple(objects[term] if term >= 0 else -term - 1 for term in terms)

        applicable = (
            all(o in task.type_members[kind] for o, kind in zip(objects, schema.parameters, strict=True))
            and all((literal.predicate, ground(literal.args)) in state for literal in schema.positive)
            and all((literal.predicate, ground(literal.args)) not in state for literal in schema.negative)
            and all(len(set(ground(pair))) == 1 for pair in schema.equal)
            and all(len(set(ground(pair))) == 2 for pair in schema.unequal)
        )
        if not applicable:
            return False, cost
        state -= {(literal.predicate, ground(literal.args)) for literal in schema.delete}
        state |= {(literal.predicate, ground(literal.args)) for literal in schema.add}
        cost += schema.cost
        cost += sum(task.function_values[function][ground(terms)] for function, terms in schema.cost_terms)
    return set(task.goal_positive) <= state and not set(task.goal_negative) & state, cost


def test_depot(tmp_path: Path) -> None:
    task = lifted(tmp_path)
    assert task.objects == ("ground", "a", "b", "shelf", "lorry")
    assert task.constants == 1
    assert task.types == ("object", "crate", "surface", "truck", "thing", "vehicle")
    assert task.type_members == ((0, 1, 2, 3, 4), (1, 2), (0, 3), (4,), (0, 1, 2, 3), (4,))
    assert task.object_types == (2, 1, 1, 2, 3)
    assert (task.predicates, task.arities) == (("on", "in", "free"), (2, 2, 1))
    assert task.predicate_types == ((1, 2), (1, 3), (2,))
    assert task.fluent == (True, True, True)
    assert task.init == [(0, (1, 0)), (0, (2, 3))]
    assert (task.goal_positive, task.goal_negative) == (((0, (1, 3)),), ())
    assert (task.functions, task.function_values) == (("weight",), ({(1,): 3, (2,): 5},))
    assert task.use_costs
    load, unload = task.schemas
    assert (load.name, load.parameters, load.parameter_names) == ("load", (1, 2, 3), ("?c", "?s", "?t"))
    assert (load.positive, load.negative) == ((Literal(0, (0, 1)),), (Literal(2, (1,)),))
    assert (load.add, load.delete) == ((Literal(1, (0, 2)), Literal(2, (1,))), (Literal(0, (0, 1)),))
    assert (load.cost, load.cost_terms) == (0, ((0, (0,)),))
    assert (unload.cost, unload.cost_terms) == (2, ())
    assert execute(task, list(PLAN)) == (True, 10)
    assert execute(task, list(PLAN[1:])) == (False, 3)


def test_without_a_metric_every_action_costs_one(tmp_path: Path) -> None:
    task = lifted(tmp_path, problem=PROBLEM.replace("(:metric minimize (total-cost))", ""))
    assert not task.use_costs
    assert execute(task, list(PLAN)) == (True, 3)


TEXT = """(define (domain d)
(:types t u)
(:constants k l - t)
(:predicates (p ?x) (q ?x ?y) (s ?x))
(:functions (f ?x))
(:action act :parameters (?x - t ?y - {type}) :precondition {precondition} :effect {effect}))
"""


def schema_of(
    folder: Path,
    precondition: str = "()",
    effect: str = "(p ?x)",
    goal: str = "(p k)",
    *,
    values: str = "",
    type_: str = "(either u t)",
) -> LiftedTask:
    domain = TEXT.format(precondition=precondition, effect=effect, type=type_)
    problem = f"(define (problem x) (:domain d) (:objects m - u) (:init (s k) {values}) (:goal {goal}))"
    return lifted(folder, domain, problem)


def single(task: LiftedTask) -> tuple[tuple[object, ...], ...]:
    (schema,) = task.schemas
    return schema.positive, schema.negative, schema.equal, schema.unequal


@pytest.mark.parametrize(
    ("precondition", "expected"),
    [
        ("(and (p ?x) (and (and) (not (not (p ?x)))))", ((Literal(0, (0,)),), (), (), ())),
        ("(not (or (p ?x) (not (q ?y k))))", ((Literal(1, (1, -1)),), (Literal(0, (0,)),), (), ())),
        ("(and (= ?y ?x) (not (= ?x k)) (= k k) (not (= k l)))", ((), (), ((0, 1),), ((-1, 0),))),
        ("(or (p ?x))", ((Literal(0, (0,)),), (), (), ())),
        ("(or (p ?x) (= k l))", ((Literal(0, (0,)),), (), (), ())),
        ("(or (p ?x) (and))", ((), (), (), ())),
        ("(imply (= k k) (p ?x))", ((Literal(0, (0,)),), (), (), ())),
        ("(and (p ?x) (or (q ?x ?x) (p ?x)))", ((Literal(0, (0,)),), (), (), ())),
    ],
)
def test_rewriting(precondition: str, expected: tuple[object, ...], tmp_path: Path) -> None:
    assert single(schema_of(tmp_path, precondition)) == expected


@pytest.mark.parametrize(
    "precondition",
    ["(= k l)", "(not (= ?x ?x))", "(and (p ?x) (not (p ?x)))", "(or)", "(and (= ?x ?y) (not (= ?y ?x)))"],
)
def test_actions_that_never_apply_are_dropped(precondition: str, tmp_path: Path) -> None:
    task = schema_of(tmp_path, precondition)
    assert task.schemas == ()
    assert not any(task.fluent)


def test_either(tmp_path: Path) -> None:
    task = schema_of(tmp_path)
    assert task.types == ("object", "t", "u", "either t u")
    assert task.type_members[3] == (0, 1, 2)
    assert task.schemas[0].parameters == (1, 3)


def test_effects(tmp_path: Path) -> None:
    conditional = "(when (s ?x) (not (q ?x ?y))) (when (= k l) (p ?y))"
    effect = f"(and (p ?x) (not (p ?x)) {conditional} (forall () (p ?x)))"
    task = schema_of(tmp_path, "(s ?x)", effect)
    (schema,) = task.schemas
    assert (schema.add, schema.delete) == ((Literal(0, (0,)),), (Literal(1, (0, 1)),))
    assert task.fluent == (True, True, False)


def test_actions_without_effects_are_dropped(tmp_path: Path) -> None:
    task = schema_of(tmp_path, effect="(and (increase (total-cost) 1))")
    assert task.schemas == ()


def test_goals(tmp_path: Path) -> None:
    task = schema_of(tmp_path, goal="(and (forall (?z - t) (imply (not (= ?z l)) (p ?z))) (not (s m)))")
    assert (task.goal_positive, task.goal_negative) == (((0, (0,)),), ((2, (2,)),))


def test_goals_that_are_no_conjunctions(tmp_path: Path) -> None:
    many = " ".join(f"?z{index}" for index in range(12))
    for goal, positive, negative, bodies in (
        ("(exists (?z) (p ?z))", ((3, ()),), (), [((Literal(0, (0,)),), ())]),
        ("(and (p k) (or (p l) (s m)))", ((0, (0,)),), (), []),  # (s m) is false for ever
        ("(or (p k) (p l))", ((3, ()),), (), [((Literal(0, (-1,)),), ()), ((Literal(0, (-2,)),), ())]),
        (f"(forall ({many}) (p ?z1))", (), ((3, ()),), [((), (Literal(0, (0,)),))]),
        ("(not (= k k))", ((3, ()),), (), []),  # no rule: never true
    ):
        task = schema_of(tmp_path, goal=goal)
        if "(s m)" in goal:
            positive = (*positive, (0, (1,)))
        assert (task.goal_positive, task.goal_negative) == (positive, negative), goal
        assert [(rule.positive, rule.negative) for stratum in task.axioms for rule in stratum] == bodies
        assert all(task.is_auxiliary(rule.add[0].predicate) for stratum in task.axioms for rule in stratum)
        assert task.signature == [("p", 1), ("q", 2), ("s", 1)]


def test_goals_of_all_objects_share_a_rule(tmp_path: Path) -> None:
    task = schema_of(tmp_path, goal="(forall (?z - t) (or (p ?z) (q ?z ?z)))", effect="(and (p ?x) (q ?x ?x))")
    assert task.goal_positive == ((3, (0,)), (3, (1,)))
    (stratum,) = task.axioms
    assert [rule.positive for rule in stratum] == [(Literal(0, (0,)),), (Literal(1, (0, 0)),)]


P, Q, S = 0, 1, 2


@pytest.mark.parametrize(
    ("precondition", "bodies"),
    [
        ("(or (p ?x) (s ?x))", [((Literal(P, (0,)),), ()), ((Literal(S, (0,)),), ())]),
        ("(not (and (p ?x) (s ?x)))", [((), (Literal(P, (0,)),)), ((), (Literal(S, (0,)),))]),
        ("(exists (?z) (q ?x ?z))", [((Literal(Q, (0, 2)),), ())]),
        ("(exists (?z) (and (q ?x ?z) (= ?z k)))", [((Literal(Q, (0, -1)),), ())]),
        ("(and (p ?x) (or (s ?x) (exists (?z) (q ?x ?z))))",
         [((Literal(P, (0,)), Literal(S, (0,))), ()), ((Literal(P, (0,)), Literal(Q, (0, 2))), ())]),
    ],
)  # fmt: skip
def test_preconditions_with_alternatives(precondition: str, bodies: list[object], tmp_path: Path) -> None:
    task = schema_of(tmp_path, precondition)
    (schema,) = task.schemas
    rules = schema.alternatives or (schema,)
    assert [(rule.positive, rule.negative) for rule in rules] == bodies
    assert not task.axioms
    for rule in schema.alternatives:
        assert rule.parameters[: len(schema.parameters)] == schema.parameters
        assert set(schema.positive) <= set(rule.positive)


def test_universal_preconditions_are_negated_rules(tmp_path: Path) -> None:
    task = schema_of(tmp_path, "(forall (?z - t) (imply (p ?z) (q ?x ?z)))")
    (schema,), ((rule,),) = task.schemas, task.axioms
    assert (schema.positive, schema.negative) == ((), (Literal(3, (0,)),))
    assert (rule.add, rule.positive, rule.negative) == (
        (Literal(3, (0,)),),
        (Literal(P, (1,)),),
        (Literal(Q, (0, 1)),),
    )
    assert task.fluent == (True, False, False, True)


def test_many_alternatives_become_a_predicate(tmp_path: Path) -> None:
    pairs = [f"(or (q ?x {a}) (q {a} ?x))" for a in ("k", "l")] * 4 + ["(or (p k) (p l) (s k) (s l))"] * 4
    several = " ".join(f"(or {pair} (q ?y k) (p ?y) (not (s ?y)))" for pair in pairs)
    task = schema_of(tmp_path, f"(and (or (p k) (s ?y)) (or (q k ?x) (q ?y l)) {several})")
    assert 1 <= len(task.schemas[0].alternatives) <= 64


@pytest.mark.parametrize(
    ("effect", "parameters", "positive", "negative", "add", "delete"),
    [
        ("(when (p ?x) (s ?x))", 2, [P], [], [S], []),
        ("(forall (?z) (not (s ?z)))", 3, [], [], [], [S]),
        ("(forall (?z) (when (and (q ?x ?z) (not (p ?z))) (and (s ?z) (not (q ?x ?z)))))", 3, [Q], [P], [S], [Q]),
        ("(when (exists (?z) (q ?x ?z)) (s ?x))", 3, [Q], [], [S], []),
    ],
)
def test_conditional_effects(
    effect: str,
    parameters: int,
    positive: list[int],
    negative: list[int],
    add: list[int],
    delete: list[int],
    tmp_path: Path,
) -> None:
    task = schema_of(tmp_path, effect=effect)
    (rule,) = task.schemas[0].conditional
    assert len(rule.parameters) == parameters
    parts = (rule.positive, rule.negative, rule.add, rule.delete)
    assert [[literal.predicate for literal in part] for part in parts] == [positive, negative, add, delete]
    assert not task.schemas[0].add


def test_derived_predicates(tmp_path: Path) -> None:
    domain = TEXT.format(precondition="(not (s ?y))", effect="(p ?x)", type="t")
    rules = "(:derived (s ?x) (or (p ?x) (exists (?z) (and (q ?x ?z) (s ?z)))))"
    problem = "(define (problem x) (:domain d) (:init) (:goal (s k)))"
    task = lifted(tmp_path, domain.replace("(:action", f"{rules}\n(:action"), problem)
    assert (task.predicates, task.fluent) == (("p", "q", "s"), (True, False, True))
    assert task.derived == frozenset({2})
    assert task.goal_positive == ((S, (0,)),)
    (stratum,) = task.axioms
    assert [[literal.predicate for literal in rule.positive] for rule in stratum] == [[P], [Q, S]]


def test_a_circle_through_a_negation(tmp_path: Path) -> None:
    domain = TEXT.format(precondition="()", effect="(p ?x)", type="t")
    rule = "(:derived (s ?x)\n (exists (?y) (and (q ?x ?y) (not (s ?y)))))"
    task = lifted(
        tmp_path,
        domain.replace("(:action", f"{rule}\n(:action"),
        "(define (problem x) (:domain d) (:init) (:goal (s k)))",
    )
    assert not task.is_stratified
    ((found,),) = task.axioms
    assert [literal.predicate for literal in found.negative] == [S]


def test_actions_need_a_value_for_their_cost(tmp_path: Path) -> None:
    effect = "(and (p ?x) (increase (total-cost) (f ?x)))"
    everywhere = schema_of(tmp_path, effect=effect, values="(= (f k) 1) (= (f l) 2)")
    implied = schema_of(tmp_path, "(s ?x)", effect, values="(= (f k) 1)")
    for task in (everywhere, implied):
        assert task.predicates == ("p", "q", "s")
    partial = schema_of(tmp_path, effect=effect, values="(= (f k) 1)")
    assert (partial.predicates[3], partial.arities[3], partial.fluent[3]) == ("@def-f", 1, False)
    assert partial.schemas[0].positive == (Literal(3, (0,)),)
    assert (3, (0,)) in partial.init
    nowhere = schema_of(tmp_path, effect=effect)
    assert nowhere.schemas == ()


def test_deep_formulas(tmp_path: Path) -> None:
    depth = (MAX_DEPTH - 10) // 2 * 2
    deep = "(and (s ?x) (not " * (depth // 2) + "(p ?x)" + "))" * (depth // 2)
    task = schema_of(tmp_path, deep)
    assert len(task.schemas[0].alternatives) <= 64
    quantifiers = "".join(f"({'forall' if i % 2 else 'exists'} (?z{i}) " for i in range(depth))
    task = schema_of(tmp_path, f"{quantifiers}(q ?z0 ?z{depth - 1}){')' * depth}")
    assert len(task.axioms) == depth - 1
    assert single(schema_of(tmp_path, "(not " * depth + "(p ?x)" + ")" * depth))[0] == (Literal(0, (0,)),)


STRIPS = frozenset(
    {
        "blocks", "driverlog", "elevators-opt08-strips", "freecell", "gripper", "hiking-opt14-strips",
        "logistics98", "movie", "mprime", "mystery", "mystery-unsolvable", "parcprinter-08-strips",
        "pegsol-08-strips", "pipesworld-notankage", "psr-small", "satellite", "sokoban-opt08-strips",
        "storage", "termes-opt18-strips", "woodworking-opt08-strips",
    }
)  # fmt: skip


@pytest.mark.parametrize("name", CONFORMANCE)
def test_competition_files(name: str, benchmarks: Path) -> None:
    task = lifted_task(*read_pair(benchmarks / "conformance" / name))
    plain = not task.axioms and not any(schema.alternatives or schema.conditional for schema in task.schemas)
    assert plain == (name in STRIPS)


@pytest.mark.parametrize("name", sorted(STRIPS - {"mystery-unsolvable"}))
def test_plans_of_fast_downward(name: str, benchmarks: Path) -> None:
    task = lifted_task(*read_pair(benchmarks / "conformance" / name))
    text, _ = fast_downward_plan(benchmarks / "conformance" / name)
    assert execute(task, parse_plan(text, "plan")) == (True, int(text.split("; cost = ")[1].split()[0]))


@pytest.mark.parametrize("name", ["rovers", "sokoban", "miconic", "blocksworld", "transport"])
def test_large_competition_files(name: str, benchmarks: Path) -> None:
    folder = benchmarks / "ipc2023-learning" / name
    domain = read_domain(folder / "domain.pddl")
    problem = read_problem(folder / "testing" / "hard" / "p29.pddl", domain)
    task = lifted_task(domain, problem)
    assert len(task.init) == len(set(task.init)) == len(problem.init)
