"""The independent validator: it must accept what is right, and say INVALID, with the reason, to all else."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from pddl_helpers import (
    ADL_DOMAIN,
    CONFORMANCE,
    DOMAIN,
    PLAN,
    PROBLEM,
    fast_downward_plan,
    parse,
    read_pair,
)

from gsp_fd.common.errors import InputError
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.pddl import read_domain, read_problem
from gsp_fd.validate import Validation, format_plan, parse_plan, validate_plan, validate_sas_plan

LOAD_B, LOAD_A, UNLOAD_A = PLAN


@pytest.mark.parametrize("domain", [DOMAIN, ADL_DOMAIN])
def test_valid_plan(domain: str, tmp_path: Path) -> None:
    assert validate_plan(*parse(tmp_path, domain), PLAN) == Validation(True, 10)


@pytest.mark.parametrize(
    ("plan", "cost", "reason", "step"),
    [
        ([], 0, "after the last step the goal (on a shelf) does not hold", None),
        (PLAN[:2], 8, "after the last step the goal (on a shelf) does not hold", None),
        ([LOAD_A, UNLOAD_A], 3, "step 2, (unload a shelf lorry): precondition (free shelf) does not hold", 1),
        ([LOAD_B, LOAD_B], 5, "step 2, (load b shelf lorry): precondition (on b shelf) does not hold", 1),
        (["drive a"], 0, "step 1, (drive a): there is no such action", 0),
        (["load a ground"], 0, "step 1, (load a ground): the action takes 3 argument(s), got 2", 0),
        (["load a b lorry"], 0, "step 1, (load a b lorry): 'b' is not of type surface", 0),
        (["load a roof lorry"], 0, "step 1, (load a roof lorry): there is no object 'roof'", 0),
    ],
)
def test_invalid_plan(plan: list[str], cost: int, reason: str, step: int | None, tmp_path: Path) -> None:
    assert validate_plan(*parse(tmp_path), plan) == Validation(False, cost, reason, step)


def test_costs(tmp_path: Path) -> None:
    unit = PROBLEM.replace("(:metric minimize (total-cost))", "")
    assert validate_plan(*parse(tmp_path, problem=unit), PLAN) == Validation(True, 3)
    verdict = validate_plan(*parse(tmp_path, problem=PROBLEM.replace("(= (weight b) 5)", "")), PLAN)
    reason = "step 1, (load b shelf lorry): its cost has no value in the initial state"
    assert verdict == Validation(False, 0, reason, 0)


# -- one feature at a time: the plan (act a) is valid exactly if the feature means what it should

FEATURES = """(define (domain f)
(:types t u - top)
(:constants k a b - t c - u)
(:predicates (p ?x) (q ?x ?y) (even ?x) (win ?x) (reach ?x ?y) (done))
{rules}
(:action act :parameters (?x - top) :precondition {precondition} :effect {effect})
(:action twice :parameters (?x - u) :precondition (p ?x) :effect (not (p ?x)))
(:action twice :parameters (?x - t) :precondition (not (p ?x)) :effect (p ?x)))
"""


def holds(
    folder: Path,
    precondition: str = "()",
    effect: str = "(done)",
    goal: str = "(done)",
    init: str = "",
    rules: str = "",
    argument: str = "a",
    before: str | None = None,
) -> bool:
    domain = FEATURES.format(precondition=precondition, effect=effect, rules=rules)
    problem = f"(define (problem x) (:domain f) (:init {init}) (:goal {goal}))"
    plan = [*([before] if before else []), f"act {argument}"]
    return validate_plan(*parse(folder, domain, problem), plan).valid


@pytest.mark.parametrize(
    ("precondition", "init", "expected"),
    [
        ("(or (p a) (p ?x))", "", False),
        ("(or (p k) (p ?x))", "(p a)", True),
        ("(imply (p ?x) (q ?x ?x))", "", True),
        ("(imply (p ?x) (q ?x ?x))", "(p a)", False),
        ("(imply (p ?x) (q ?x ?x))", "(p a) (q a a)", True),
        ("(forall (?y - t) (p ?y))", "(p k) (p a)", False),
        ("(forall (?y - t) (p ?y))", "(p k) (p a) (p b)", True),
        ("(not (forall (?y - t) (p ?y)))", "(p k) (p a)", True),
        ("(exists (?y - u) (p ?y))", "(p k) (p a) (p b)", False),
        ("(exists (?y - (either u t)) (p ?y))", "(p b)", True),
        ("(exists (?y ?z) (and (q ?y ?z) (not (= ?y ?z))))", "(q a a) (q b b)", False),
        ("(exists (?y ?z) (and (q ?y ?z) (not (= ?y ?z))))", "(q a a) (q b c)", True),
        ("(exists (?x) (forall (?y) (q ?x ?y)))", "(q b a) (q b b) (q b c) (q b k)", True),
        ("(and (exists (?x - u) (p ?x)) (not (p ?x)))", "(p c)", True),
        ("(not (not (= ?x a)))", "", True),
        ("(not (and (p ?x) (q ?x ?x)))", "(p a)", True),
        ("(not (or (p ?x) (q ?x ?x)))", "(p a)", False),
        ("(or)", "", False),
    ],
)
def test_conditions(precondition: str, init: str, expected: bool, tmp_path: Path) -> None:
    assert holds(tmp_path, precondition, init=init) == expected
    assert holds(tmp_path, effect=f"(when {precondition} (done))", init=init) == expected
    assert holds(tmp_path, effect=f"(forall (?w) (when {precondition} (done)))", init=init) == expected
    if "(?x" not in precondition:
        assert holds(tmp_path, goal=precondition.replace("?x", "a"), init=init) == expected


@pytest.mark.parametrize(
    ("effect", "goal", "expected"),
    [
        ("(and (not (done)) (done))", "(done)", True),
        ("(and (p ?x) (when (p ?x) (done)))", "(done)", False),
        ("(forall (?y - t) (p ?y))", "(and (p k) (p a) (p b) (not (p c)))", True),
        ("(forall (?y) (forall (?z) (when (not (= ?y ?z)) (q ?y ?z))))", "(and (q a b) (not (q a a)))", True),
        ("(forall (?x - u) (p ?x))", "(and (p c) (not (p a)))", True),
        ("(when (not (p ?x)) (forall (?y) (when (= ?x ?y) (and (p ?y) (q ?y ?y)))))", "(q a a)", True),
        ("(forall (?y - u ?z - t) (when (= ?z ?x) (q ?y ?z)))", "(and (q c a) (not (q c b)))", True),
    ],
)
def test_effects(effect: str, goal: str, expected: bool, tmp_path: Path) -> None:
    assert holds(tmp_path, effect=effect, goal=goal) == expected


REACH = "(:derived (reach ?x ?y) (or (q ?x ?y) (exists (?z) (and (reach ?x ?z) (reach ?z ?y)))))"
WIN = "(:derived (win ?x) (exists (?y) (and (q ?x ?y) (not (win ?y)))))"
CHAIN = "(q a b) (q b c)"


@pytest.mark.parametrize(
    ("rules", "init", "condition", "expected"),
    [
        (REACH, CHAIN, "(reach a c)", True),
        (REACH, CHAIN, "(reach c a)", False),
        (REACH, CHAIN, "(forall (?y) (imply (reach a ?y) (not (= ?y k))))", True),
        (REACH + "(:derived (even ?x) (not (reach a ?x)))", CHAIN, "(and (even a) (not (even c)))", True),
        (REACH + "(:derived (reach ?x - u ?y) (p ?y))", "(p a)", "(and (reach c a) (not (reach b a)))", True),
        # Not stratified predicate by predicate, but atom by atom: who can move to a lost position wins.
        (WIN, CHAIN, "(and (win b) (not (win a)) (not (win c)))", True),
        (WIN + "(:derived (win ?x) (p ?x))", CHAIN + "(p c)", "(and (win c) (not (win b)) (win a))", True),
        ("(:derived (even ?x) (reach ?x ?x)) (:derived (reach ?x ?y) (even ?y))", "", "(even a)", False),
    ],
)
def test_derived_predicates(rules: str, init: str, condition: str, expected: bool, tmp_path: Path) -> None:
    assert holds(tmp_path, condition, init=init, rules=rules) == expected
    assert holds(tmp_path, goal=condition, effect="(done)", init=init, rules=rules) == expected


def test_derived_predicates_follow_the_state(tmp_path: Path) -> None:
    rules = "(:derived (win ?x) (not (p ?x)))"
    assert holds(tmp_path, "(win c)", init="(p c)", rules=rules) is False
    assert holds(tmp_path, "(win c)", init="(p c)", rules=rules, before="twice c") is True


def test_rules_without_a_meaning(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        holds(tmp_path, "(win a)", init=CHAIN + "(q c a)", rules=WIN)
    message = "the rules of derived predicate 'win' are not stratifiable"
    assert str(caught.value) == f"{tmp_path / 'd.pddl'}:5: {message}"


def test_rules_without_a_meaning_may_not_matter(tmp_path: Path) -> None:
    init = CHAIN + "(q c a)"
    assert holds(tmp_path, "(or (win a) (or (exists (?x) (win ?x)) (q a b)))", init=init, rules=WIN)
    assert not holds(tmp_path, "(and (not (win a)) (q b a))", init=init, rules=WIN)


def test_actions_that_share_a_name(tmp_path: Path) -> None:
    assert holds(tmp_path, "(p a)", before="twice a")
    assert holds(tmp_path, "(not (p c))", init="(p c)", before="twice c")


# -- plan files


def test_plan_file() -> None:
    text = "(LOAD b shelf lorry)\n ; comment\n\n( load a ground lorry )\r\n(noop )\n; cost = 3 (unit cost)\n"
    plan = parse_plan(text, "plan")
    assert plan == [LOAD_B, LOAD_A, "noop"]
    assert format_plan(plan, 3, unit_cost=True).endswith("(noop)\n; cost = 3 (unit cost)\n")
    assert parse_plan(format_plan(PLAN, 10, unit_cost=False), "plan") == list(PLAN)
    assert format_plan([], 0, unit_cost=False) == "; cost = 0 (general cost)\n"


@pytest.mark.parametrize("line", ["load a", "(load a", "load a)", "()", "(a) (b)", "((a))", "0: (load a)"])
def test_malformed_plan_file(line: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_plan(f"(ok)\n{line}\n", "plan")
    assert str(caught.value) == f"plan:2: expected an action such as (unstack b1 b2), got '{line}'"
    assert caught.value.exit_code == ExitCode.DRIVER_INPUT_ERROR


# -- SAS: two switches, a derived lamp (on if both are), a conditional effect, two operators with one name

SAS = """begin_version|3|end_version|begin_metric|1|end_metric|3|
begin_variable|var0|-1|2|Atom up(a)|NegatedAtom up(a)|end_variable|
begin_variable|var1|-1|3|Atom b(0)|Atom b(1)|Atom b(2)|end_variable|
begin_variable|var2|0|2|Atom lamp()|NegatedAtom lamp()|end_variable|
1|begin_mutex_group|2|1 0|1 1|end_mutex_group|
begin_state|1|0|1|end_state|begin_goal|2|2 0|1 2|end_goal|3|
begin_operator|flip |0|1|0 0 1 0|3|end_operator|
begin_operator|step|0|2|1 0 0 1 0 1|1 0 1 1 0 2|1|end_operator|
begin_operator|step|1|0 0|1|0 1 1 2|2|end_operator|
1|begin_rule|2|0 0|1 2|2 1 0|end_rule|""".replace("\n", "").replace("|", "\n")


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (["FLIP", "step", "step"], Validation(True, 6)),
        (["flip ", "flip"], Validation(False, 3, "step 2, (flip): precondition var0 = 1 does not hold", 1)),
        (["jump"], Validation(False, 0, "step 1, (jump): there is no such operator", 0)),
        (["flip"], Validation(False, 3, "after the last step goal var2 = 0 does not hold")),
        (["step", "flip"], Validation(True, 4)),
        (["flip", "step"], Validation(False, 4, "after the last step goal var2 = 0 does not hold")),
    ],
)
def test_sas_plan(plan: list[str], expected: Validation) -> None:
    assert validate_sas_plan(SAS.encode(), plan) == expected


def test_sas_unit_cost() -> None:
    text = SAS.replace("begin_metric\n1", "begin_metric\n0")
    assert validate_sas_plan(text.encode(), ["flip", "step", "step"]) == Validation(True, 3)


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("begin_version\n3", "begin_version\n2", 2, "only SAS version 3 is supported"),
        ("begin_version", "(define", 1, "expected 'begin_version', got '(define'"),
        ("0 1 1 2\n", "0 1 1 3\n", 67, "variable 1 has no value 3"),
        ("0 1 1 2\n", "0 7 1 2\n", 67, "there is no variable 7"),
        ("0 1 1 2\n", "1 1 1 2\n", 67, "malformed effect of an operator"),
        ("2 1 0\nend_rule", "2 1 x\nend_rule", 75, "expected numbers, got '2 1 x'"),
        ("begin_metric\n1", "begin_metric\n5", 5, "number 5 is out of range"),
        ("end_rule\n", "", 75, "the SAS file ends too early"),
    ],
)
def test_malformed_sas(old: str, new: str, line: int, message: str) -> None:
    assert SAS.count(old) == 1
    with pytest.raises(InputError) as caught:
        validate_sas_plan(SAS.replace(old, new).encode(), [], file="x.sas")
    assert str(caught.value) == f"x.sas:{line}: {message}"
    assert caught.value.exit_code == ExitCode.SEARCH_INPUT_ERROR


def test_truncated_sas() -> None:
    lines = SAS.splitlines(keepends=True)
    for length in range(len(lines) - 1):
        with pytest.raises(InputError):
            validate_sas_plan("".join(lines[:length]).encode(), [])


# -- plans of the real Fast Downward


@pytest.mark.parametrize("name", [name for name in CONFORMANCE if name != "mystery-unsolvable"])
def test_plans_of_fast_downward(name: str, benchmarks: Path) -> None:
    domain, problem = read_pair(benchmarks / "conformance" / name)
    text, sas = fast_downward_plan(benchmarks / "conformance" / name)
    plan, cost = parse_plan(text, "plan"), int(text.split("; cost = ")[1].split()[0])
    assert validate_plan(domain, problem, plan) == Validation(True, cost)
    assert validate_sas_plan(sas, plan) == Validation(True, cost)

    rng, rejected = random.Random(0), 0
    for _ in range(40):
        mutated = mutate(plan, rng)
        by_pddl = validate_plan(domain, problem, mutated)
        by_sas = validate_sas_plan(sas, mutated)
        assert by_pddl.valid == by_sas.valid, (mutated, by_pddl, by_sas)
        assert by_pddl.cost == by_sas.cost or not by_pddl.valid
        rejected += not by_pddl.valid
    assert rejected


def mutate(plan: list[str], rng: random.Random) -> list[str]:
    """The plan with one action dropped, doubled, moved, or with two exchanged."""
    result = list(plan)
    action = result.pop(rng.randrange(len(result)))
    kind = rng.randrange(4)
    if kind == 1:
        result = list(plan)
    if kind in (1, 2):
        result.insert(rng.randrange(len(result) + 1), action)
    elif kind == 3 and result:
        index = rng.randrange(len(result))
        result[index], action = action, result[index]
        result.insert(rng.randrange(len(result) + 1), action)
    return result


def test_long_plan_on_a_large_state(benchmarks: Path) -> None:
    folder = benchmarks / "ipc2023-learning" / "rovers"
    domain = read_domain(folder / "domain.pddl")
    problem = read_problem(folder / "testing" / "hard" / "p29.pddl", domain)
    at = {fact[1]: fact[2] for fact in problem.init if fact[0] == "at"}
    rover, here = next(iter(at.items()))
    ways = {fact[1:] for fact in problem.init if fact[0] == "can_traverse" and fact[1] == rover}
    visible = {fact[1:] for fact in problem.init if fact[0] == "visible"}
    there = next(y for _, x, y in ways if x == here and {(x, y), (y, x)} <= visible and (rover, y, x) in ways)
    plan = [f"navigate {rover} {here} {there}", f"navigate {rover} {there} {here}"] * 2000
    verdict = validate_plan(domain, problem, plan)
    assert (verdict.valid, verdict.cost, verdict.step) == (False, 4000, None)
