"""Domain and problem files: as lenient as Fast Downward, with a message, file and line for every mistake."""

from __future__ import annotations

from pathlib import Path

import pytest
from pddl_helpers import CONFORMANCE, DOMAIN, PROBLEM, parse, read_pair

from gsp_fd.common.errors import InputError
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.pddl import read_domain, read_problem
from gsp_fd.pddl.ast import (
    And,
    Atom,
    ConditionalEffect,
    Equality,
    Exists,
    Forall,
    FunctionTerm,
    Not,
    Or,
    TypedName,
    UniversalEffect,
    objects_by_type,
)
from gsp_fd.pddl.reader import MAX_DEPTH
from gsp_fd.translator import translate, translator_available


def test_domain(tmp_path: Path) -> None:
    domain, _ = parse(tmp_path)
    assert domain.name == "depot"
    assert domain.types == {
        "crate": ("thing",), "surface": ("thing",), "truck": ("vehicle",), "thing": ("object",),
        "vehicle": ("object",),
    }  # fmt: skip
    assert domain.constants == (TypedName("ground", ("surface",)),)
    assert {name: item.arity for name, item in domain.predicates.items()} == {"on": 2, "in": 2, "free": 1}
    assert {name: item.arity for name, item in domain.functions.items()} == {"total-cost": 0, "weight": 1}
    load, unload = domain.actions
    assert load.cost == FunctionTerm("weight", ("?c",))
    assert unload.cost == 2
    assert load.precondition == And((Atom("on", ("?c", "?s")), Not(Atom("free", ("?s",)))))
    assert (load.line, load.precondition.line) == (10, 12)
    assert domain.warnings == ()


def test_problem(tmp_path: Path) -> None:
    domain, problem = parse(tmp_path)
    assert problem.init == (("on", "a", "ground"), ("on", "b", "shelf"))
    assert problem.values == {("total-cost",): 0, ("weight", "a"): 3, ("weight", "b"): 5}
    assert problem.minimize_cost
    assert problem.goal == And((Atom("on", ("a", "shelf")),))
    assert objects_by_type(domain, problem)["thing"] == ["ground", "a", "b", "shelf"]


ADL = """\
(DEFINE (DOMAIN Adl)
(:predicates (p ?x) (q ?x ?y - (either t u)) (r))
(:types t u - object object)
(:constants)
(:action A :parameters () :precondition () :effect (and))
(:action b
 :effect (forall (?x ?y - t) (when (exists (?z - u) (imply (p?x) (or (r) (not (= ?y ?z))))) (not (p ?x)))))
(:derived (r) (forall (?x) (p ?x)))
(:action c :parameters (?x - (either t u)) :precondition (p ?x) :effect (increase (total-cost) 3)))
"""


def test_everything_fast_downward_takes(tmp_path: Path) -> None:
    goal = "(:goal (or (r) (not (r))))"
    domain, problem = parse(tmp_path, ADL, f"(define (problem x) (:domain ADL) (:init) {goal})")
    empty, adl, choice = domain.actions
    assert (empty.parameters, empty.precondition) == ((), And(()))
    assert isinstance(adl.effect, UniversalEffect)
    assert isinstance(adl.effect.part, ConditionalEffect)
    condition = adl.effect.part.condition
    assert isinstance(condition, Exists)
    assert condition.part == Or((Not(Atom("p", ("?x",))), Or((Atom("r", ()), Not(Equality("?y", "?z"))))))
    assert choice.parameters == (TypedName("?x", ("t", "u")),)
    assert choice.cost == 3
    assert domain.derived[0].predicate == "r"
    assert isinstance(domain.derived[0].condition, Forall)
    assert problem.objects == ()


def edited(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1
    return text.replace(old, new)


# What to replace in DOMAIN by what, and the line and text of the message.
DOMAIN_MISTAKES = [
    ("(define", "(defin", 1, "expected (define (domain NAME) ...)"),
    ("(domain depot)", "(problem depot)", 1, "expected (domain NAME) after 'define': this is a problem file"),
    ("(domain depot)", "(domain)", 1, "expected exactly one word after 'domain'"),
    ("(:requirements :strips :typing)", "strips", 2, "expected a list that starts with one of :requirements, "
     ":types, :constants, :predicates, :functions, :action, :derived"),
    ("(:constants ", "(:constant ", 5, "unknown keyword ':constant'; did you mean ':constants'?"),
    ("(:functions (total-cost) (weight ?c - crate) - number)", "(:axiom (p))", 9,
     "unknown keyword ':axiom'; write (:derived (PREDICATE ?x ...) CONDITION)"),
    ("(:functions", "(:types", 9, "second ':types' section"),
    ("truck - vehicle", "truck -", 4, "type missing after '-'"),
    ("truck - vehicle", "number - vehicle", 4, "type 'number' is reserved"),
    ("truck - vehicle", "thing - truck truck - thing", 4, "type 'thing' is its own supertype"),
    ("- thing", "- (both thing)", 3, "expected a type after '-'"),
    ("truck - vehicle", "(truck) - vehicle", 4, "expected the name of a type, got a list"),
    ("ground - surface", "ground ground - surface", 5, "duplicate object 'ground'"),
    ("ground - surface", "ground - surfaces", 5, "undefined type 'surfaces'; did you mean 'surface'?"),
    ("ground - surface", "ground - (either crate surface)", 5,
     "(either ...) is not allowed here: an object has one type"),
    ("(in ?c - crate ?t - truck)", "(in ?c - crate t - truck)", 7,
     "expected a variable that starts with '?', got 't'"),
    ("(in ?c - crate ?t - truck)", "in", 7,
     "expected (PREDICATE ?PARAMETER...) in the declaration of a predicate"),
    ("- number)", "- block)", 9, "only functions of type 'number' are supported"),
    (":parameters (?c - crate ?s - surface ?t - truck)\n    :precondition (and (on",
     ":parameters (?c - crate ?s - surface ?c - truck)\n    :precondition (and (on", 11,
     "duplicate parameter '?c'"),
    (":parameters (?c - crate ?s - surface ?t - truck)\n    :precondition (and (on",
     ":parameters (?c - crate ?s - floor ?t - truck)\n    :precondition (and (on", 11,
     "undefined type 'floor'"),
    (":precondition (and (on ?c ?s)", ":precondtion (and (on ?c ?s)", 12,
     "action 'load': unknown keyword ':precondtion'; did you mean ':precondition'?"),
    (":precondition (and (on ?c ?s)", ":precondition (and (onn ?c ?s)", 12,
     "undefined predicate 'onn'; did you mean 'on'?"),
    (":precondition (and (on ?c ?s)", ":precondition (and (truck ?c)", 12,
     "undefined predicate 'truck'; 'truck' is a type"),
    (":precondition (and (on ?c ?s)", ":precondition (and (on ?c)", 12,
     "predicate 'on' takes 2 arguments, got 1"),
    (":precondition (and (on ?c ?s)", ":precondition (and (on ?c ?z)", 12, "undefined variable '?z'"),
    (":precondition (and (on ?c ?s)", ":precondition (and (on ?c grund)", 12,
     "undefined object 'grund'; did you mean 'ground'?"),
    (":precondition (and (on ?c ?s)", ":precondition (and (on ?c (f))", 12,
     "expected a variable or object as argument 2 of 'on'"),
    (":precondition (and (on ?c ?s)", ":precondition (and (>= (weight ?c) 2)", 12,
     "numeric fluents are not supported: '>=' compares numbers; functions may only be action costs"),
    (":precondition (and (on ?c ?s)", ":precondition (and (= (weight ?c) 2)", 12,
     "numeric fluents are not supported: '=' compares numbers; functions may only be action costs"),
    (":precondition (and (on ?c ?s)", ":precondition (and (= ?c)", 12, "'=' takes 2 arguments, got 1"),
    (":precondition (and (on ?c ?s)", ":precondition (and ()", 12,
     "argument 1 of 'and' must be a non-empty list"),
    (":precondition (and (on ?c ?s)", ":precondition (and (not)", 12, "'not' takes 1 argument(s), got 0"),
    (":precondition (and (on ?c ?s)", ":precondition (and (imply (on ?c ?s))", 12,
     "'imply' takes 2 argument(s), got 1"),
    (":precondition (and (on ?c ?s)", ":precondition (and (forall () (on ?c ?s))", 12,
     "'forall' takes a list of variables and a formula"),
    (":precondition (and (on ?c ?s)", ":precondition (and (exists (?z - crat) (on ?z ?s))", 12,
     "undefined type 'crat'; did you mean 'crate'?"),
    (":precondition (and (on ?c ?s)", ":precondition (and ((on) ?c ?s)", 12,
     "expected the name of a predicate, got a list"),
    (":effect (and (in ?c ?t)", ":effect (and in", 13, "argument 1 of 'and' must be a list, got 'in'"),
    (":effect (and (in ?c ?t)", ":effect (and ()", 13, "an effect must be a non-empty list"),
    (":effect (and (in ?c ?t)", ":effect (and (when (on ?c ?s))", 13,
     "'when' takes a condition and an effect"),
    (":effect (and (in ?c ?t)", ":effect (and (= ?c ?t)", 13, "'=' is not allowed here in an effect"),
    (":effect (and (in ?c ?t)", ":effect (and (not (not (in ?c ?t)))", 13,
     "'not' is not allowed here in an effect"),
    (":effect (and (in ?c ?t)", ":effect (and (or (in ?c ?t))", 13, "'or' is not allowed here in an effect"),
    (":effect (and (in ?c ?t)", ":effect (and (in ?c ?t ?t)", 13, "predicate 'in' takes 2 arguments, got 3"),
    (":effect (and (in ?c ?t)", ":effect in (and (in ?c ?t)", 13,
     "action 'load': expected a list after ':effect'"),
    ("(increase (total-cost) 2))))", "(increase (total-cost) 2)))) x", 17,
     "text after the end of the definition: 'x'"),
    ("(increase (total-cost) 2)", "(increase (fuel) 2)", 17,
     "expected (increase (total-cost) VALUE): no other function can be changed"),
    ("(increase (total-cost) 2)", "(increase (total-cost) -2)", 17,
     "negative numbers are not supported, got '-2'"),
    ("(increase (total-cost) 2)", "(increase (total-cost) 2.5)", 17,
     "fractional numbers are not supported, got '2.5'"),
    ("(increase (total-cost) 2)", "(increase (total-cost) (+ 1 2))", 17,
     "'+' is not supported in a cost: expected a number or (FUNCTION TERM...)"),
    ("(increase (total-cost) 2)", "(increase (total-cost) (weight))", 17,
     "function 'weight' takes 1 argument, got 0"),
    ("(increase (total-cost) 2)", "(when (free ?s) (increase (total-cost) 2))", 17,
     "total-cost cannot be increased inside 'when' or 'forall'"),
    ("(increase (total-cost) 2)", "(decrease (total-cost) 2)", 17,
     "numeric effect 'decrease' is not supported: only (increase (total-cost) ...)"),
    ("(increase (total-cost) 2))))", "(increase (total-cost) 2)))\n(:predicates))", 18,
     "second ':predicates' section"),
    ("(:action unload", "(:action (unload)", 14, "expected the name of the action after ':action'"),
    ("(:action unload", "(:action unload :effect (and)", 17, "action 'unload' has two ':effect' fields"),
    ("(:action unload", "(:action go :parameters ())\n(:action unload", 14, "action 'go' has no :effect"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "line", "message"), DOMAIN_MISTAKES)
def test_mistake_in_domain(old: str, new: str, line: int, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        parse(tmp_path, edited(DOMAIN, old, new))
    assert str(caught.value) == f"{tmp_path / 'd.pddl'}:{line}: {message}"
    assert caught.value.exit_code == ExitCode.TRANSLATE_INPUT_ERROR


PROBLEM_MISTAKES = [
    ("(problem two-crates)", "(domain two-crates)", 1,
     "expected (problem NAME) after 'define': this is a domain file"),
    ("(:domain depot)", "(:domain gripper)", 2, "the problem is for domain 'gripper', not for 'depot'"),
    ("  (:domain depot)\n", "\n", 1, "the problem has no :domain section"),
    ("(:goal (and (on a shelf)))", "", 1, "the problem has no :goal section"),
    ("(:goal (and (on a shelf)))", "(:goal)", 11, "expected one non-empty condition after ':goal'"),
    ("(:goal (and (on a shelf)))", "(:goal ())", 11, "expected one non-empty condition after ':goal'"),
    ("(:goal (and (on a shelf)))", "(:goals (and (on a shelf)))", 11,
     "unknown keyword ':goals'; did you mean ':goal'?"),
    ("(:goal (and (on a shelf)))", "(:goal (and (at a shelf)))", 11, "undefined predicate 'at'"),
    ("(:goal (and (on a shelf)))", "(:goal (and (on a\n shelve)))", 12,
     "undefined object 'shelve'; did you mean 'shelf'?"),
    ("(:goal (and (on a shelf)))", "(:goal (on ?a shelf))", 11, "undefined variable '?a'; did you mean 'a'?"),
    ("(:goal (and (on a shelf)))", "(:goal (on a shelf)) (:goal (on a shelf))", 11, "second ':goal' section"),
    ("shelf - surface", "shelf b - surface", 4, "duplicate object 'b'"),
    ("shelf - surface", "shelf ground - surface", 4, "object 'ground' is already a constant of the domain"),
    ("shelf - surface", "shelf - shelve", 4, "undefined type 'shelve'"),
    ("shelf - surface", "?shelf - surface", 4, "expected a name without '?', got '?shelf'"),
    ("(on b shelf)", "(on b shelv)", 7, "undefined object 'shelv'; did you mean 'shelf'?"),
    ("(on b shelf)", "(onto b shelf)", 7, "undefined predicate 'onto'; did you mean 'on'?"),
    ("(on b shelf)", "(on b)", 7, "predicate 'on' takes 2 arguments, got 1"),
    ("(on b shelf)", "()", 7, "expected a fact in :init"),
    ("(on b shelf)", "on", 7, "expected a fact in :init"),
    ("(on b shelf)", "(not (on a ground))", 7, "(on a ground) is both true and false in :init"),
    ("(on b shelf)", "(not on)", 7, "'not' in :init takes one atom"),
    ("(on b shelf)", "(= a b)", 7, "'=' between objects is not allowed in :init"),
    ("(= (weight b) 5)", "(= (weight b) 5.5)", 10, "fractional numbers are not supported, got '5.5'"),
    ("(= (weight b) 5)", "(= (weight b) many)", 10, "expected a non-negative integer, got 'many'"),
    ("(= (weight b) 5)", "(= (weight b))", 10, "expected (= (FUNCTION OBJECT...) NUMBER)"),
    ("(= (weight b) 5)", "(= (weight a b) 5)", 10, "function 'weight' takes 1 argument, got 2"),
    ("(= (weight b) 5)", "(= (weight a) 5)", 10, "(weight a) is given two different values in :init"),
    ("(= (weight b) 5)", "(= (weight b) 1234567890123456789012)", 10,
     "the number 12345678901234567890 is too large: costs are at most 2147483647"),
    ("(:metric minimize (total-cost))", "(:metric maximize (total-cost))", 12,
     "only the metric (:metric minimize (total-cost)) is supported"),
    ("(:metric minimize (total-cost)))", "(:metric minimize (total-cost))", 1,
     "missing ')': this '(' is never closed"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "line", "message"), PROBLEM_MISTAKES)
def test_mistake_in_problem(old: str, new: str, line: int, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        parse(tmp_path, problem=edited(PROBLEM, old, new))
    assert str(caught.value) == f"{tmp_path / 'p.pddl'}:{line}: {message}"
    assert caught.value.exit_code == ExitCode.TRANSLATE_INPUT_ERROR


def test_derived_predicates_cannot_be_set(tmp_path: Path) -> None:
    goal = "(:goal (r))"
    with pytest.raises(InputError, match="derived predicate 'r' cannot be given in :init"):
        parse(tmp_path, ADL, f"(define (problem x) (:domain adl) (:init (r)) {goal})")
    with pytest.raises(InputError, match="derived predicate 'r' cannot be changed by an effect"):
        parse(tmp_path, edited(ADL, ":effect (and))", ":effect (r))"))
    with pytest.raises(InputError, match="predicate 'r' takes 0 arguments, got 1"):
        parse(tmp_path, edited(ADL, "(:derived (r)", "(:derived (r ?x)"))
    with pytest.raises(InputError, match="undefined predicate 's'"):
        parse(tmp_path, edited(ADL, "(:derived (r)", "(:derived (s)"))


def test_costs_only_increase(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"numeric effect 'assign' is not supported: only \(increase"):
        parse(tmp_path, edited(DOMAIN, "(increase (total-cost) 2)", "(assign (total-cost) 2)"))


def test_deep_formulas(tmp_path: Path) -> None:
    depth = MAX_DEPTH - 10
    deep = "(not " * depth + "(on a shelf)" + ")" * depth
    _, problem = parse(tmp_path, problem=edited(PROBLEM, "(and (on a shelf))", deep))
    goal = problem.goal
    for _ in range(depth):
        assert isinstance(goal, Not)
        goal = goal.part
    assert goal == Atom("on", ("a", "shelf"))


@pytest.mark.parametrize(
    ("domain", "problem", "warning"),
    [
        ((":strips", ":strips :fluents"), None, "d.pddl:2: unknown requirement ':fluents' is ignored"),
        (None, ("(on b shelf)", "(on b shelf) (on a ground)"), "p.pddl:6: 1 fact(s) of :init are given more"),
        (None, ("(= (weight b) 5)", "(= (wieght b) 5)"),
         "p.pddl:10: function 'wieght' is not declared; did you mean 'weight'?"),
        (None, ("(= (weight b) 5)", "(= (weight z) 5)"), "p.pddl:10: undefined object 'z'"),
        (("(:action unload", "(:action load"), None, "d.pddl:14: duplicate action 'load'"),
        (("?t - truck)\n               (free", "?t - trick)\n               (free"), None,
         "d.pddl:7: undefined type 'trick'; did you mean 'truck'?"),
        (("(in ?c - crate", "(on ?c - crate"), None, "d.pddl:7: predicate 'on' is declared twice"),
        (("(increase (total-cost) 2)", "(increase (total-cost) 2) (increase (total-cost) 3)"), None,
         "d.pddl:17: total-cost is increased more than once"),
    ],
)  # fmt: skip
def test_warnings(
    domain: tuple[str, str] | None, problem: tuple[str, str] | None, warning: str, tmp_path: Path
) -> None:
    text = edited(DOMAIN, *domain) if domain else DOMAIN
    text = text.replace("(in ?c ?t)", "(on ?c ?t)") if "declared twice" in warning else text
    parsed = parse(tmp_path, text, edited(PROBLEM, *problem) if problem else PROBLEM)
    assert any(warning in found for part in parsed for found in part.warnings)


LENIENT_ADL = ADL.replace(":parameters (?x - (either t u))", ":parameters (?x)").replace(
    ":effect (increase (total-cost) 3)", ":effect (and (not (p ?x)) (increase (total-cost) 3))"
)
LENIENT_PROBLEM = """(define (problem x) (:domain ADL) (:requirements :adl) (:objects a - object)
(:init (not (p a)) (= total-cost 0)) (:goal (r)))"""
LENIENT = [
    ("depot", DOMAIN, PROBLEM),
    ("adl", LENIENT_ADL, LENIENT_PROBLEM),
    ("wrong types in init", DOMAIN, PROBLEM.replace("(on b shelf)", "(on b shelf) (on lorry a)")),
    ("wrong types in a condition", DOMAIN.replace("(on ?c ?s) (not (free ?s))", "(on ?s ?t) (not (free ?c))"),
     PROBLEM),
    ("no functions declared", DOMAIN.replace("(:functions (total-cost) (weight ?c - crate) - number)", ""),
     PROBLEM),
    ("value of an unknown object", DOMAIN, PROBLEM.replace("(= (weight b) 5)", "(= (weight z) 5)")),
    ("order of sections", DOMAIN.replace("(:requirements :strips :typing)", "").replace(
        "(:action load", "(:requirements :adl) (:action load"), PROBLEM),
    ("sloppy predicates", DOMAIN.replace("(on ?c - crate ?s - surface)", "(on ?c - crat ?c - (either a b))"),
     PROBLEM),
    ("double supertypes", DOMAIN.replace("truck - vehicle", "truck - vehicle truck - thing"), PROBLEM),
    ("facts twice", DOMAIN, PROBLEM.replace("(on b shelf)", "(on b shelf) (on b shelf)")),
    ("trivial goal", DOMAIN, PROBLEM.replace("(and (on a shelf))", "(and)")),
]  # fmt: skip


@pytest.mark.parametrize(("case", "domain", "problem"), LENIENT)
def test_as_lenient_as_fast_downward(case: str, domain: str, problem: str, tmp_path: Path) -> None:
    parse(tmp_path, domain, problem)
    if not translator_available():
        pytest.skip("Fast Downward's translator (PyPI fast-downward-translate) is not installed")
    result = translate(tmp_path / "d.pddl", tmp_path / "p.pddl", tmp_path / "out.sas")
    assert result.exit_code == ExitCode.SUCCESS, result.log


@pytest.mark.parametrize("name", CONFORMANCE)
def test_competition_files(name: str, benchmarks: Path) -> None:
    domain, problem = read_pair(benchmarks / "conformance" / name)
    assert domain.actions
    assert not (*domain.warnings, *problem.warnings)


@pytest.mark.parametrize(
    ("name", "atoms"),
    [
        ("blocksworld", 526), ("childsnack", 1858), ("ferry", 949), ("floortile", 4840), ("miconic", 19277),
        ("rovers", 52307), ("satellite", 1228), ("sokoban", 36047), ("spanner", 1521), ("transport", 1942),
    ],
)  # fmt: skip
def test_large_competition_files(name: str, atoms: int, benchmarks: Path) -> None:
    folder = benchmarks / "ipc2023-learning" / name
    domain = read_domain(folder / "domain.pddl")
    problem = read_problem(folder / "testing" / "hard" / "p29.pddl", domain)
    assert len(problem.init) == atoms
