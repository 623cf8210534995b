"""Lifted tasks with quantifiers, conditional effects and derived predicates, against Fast Downward's translator."""

from __future__ import annotations

import json
import pickle
import random
from collections.abc import Iterator
from pathlib import Path

import cli_support as cli
import numpy as np
import pytest
import tasks
from pddl_helpers import CONFORMANCE

from gsp_fd import _core
from gsp_fd.common.errors import InputError
from gsp_fd.task import Task, load_pddl
from gsp_fd.translator import translate, translator_available

EXAMPLES = Path(__file__).parent.parent / "examples"
EXPANSIONS = 10_000
"""Up to which searches in these tests go on."""


GROUND_STRATA = {"game": (tasks.GAME_DOMAIN, tasks.GAME), "guards": (tasks.GUARDS_DOMAIN, tasks.GUARDS)}
"""Derived predicates that depend on their own negation, while no atom does."""


@pytest.fixture
def task(request: pytest.FixtureRequest) -> Task:
    """A task by its name."""
    if request.param in GROUND_STRATA:
        return tasks.load(*GROUND_STRATA[request.param])
    folder = EXAMPLES / request.param
    return load_pddl(folder / "domain.pddl", folder / "p01.pddl")


adl_examples = pytest.mark.parametrize("task", ["lift", "stacking", *GROUND_STRATA], indirect=True)


def load(benchmarks: Path, name: str) -> Task:
    folder = benchmarks / "conformance" / name
    return load_pddl(folder / "domain.pddl", folder / "problem.pddl")


@pytest.mark.parametrize("name", CONFORMANCE)
@pytest.mark.parametrize("reduced", [False, True], ids=["all actions", "symmetry, relevant only"])
def test_optimal_costs_on_lifted_states(name: str, reduced: bool, benchmarks: Path) -> None:
    expected = json.loads((benchmarks / "conformance" / "INDEX.json").read_text())[name].get("optimal_cost")
    task = load(benchmarks, name)
    ended = 0
    for heuristic in ("hmax", "blind"):
        space = _core.LiftedSpace(task.native_lifted(), reduced, reduced)
        found = cli.astar(space, task.heuristic(heuristic), EXPANSIONS)
        if found.expanded >= EXPANSIONS:
            continue
        ended += 1
        assert (found.plan_cost if found.status == "solved" else None) == expected
        if found.status == "solved":
            assert task.validate([space.operator_name(operator) for operator in found.plan]).valid
    if not ended:
        pytest.skip(f"more than {EXPANSIONS} states")


@pytest.mark.parametrize("name", [name for name in CONFORMANCE if name != "mystery-unsolvable"])
def test_applicable_actions_are_the_translators(name: str, benchmarks: Path, tmp_path: Path) -> None:
    if not translator_available():
        pytest.skip("Fast Downward's translator is not installed")
    folder, sas = benchmarks / "conformance" / name, tmp_path / "output.sas"
    options = ["--keep-unimportant-variables"]
    translate(folder / "domain.pddl", folder / "problem.pddl", sas, extra_options=options)
    ground = _core.GroundSpace(_core.GroundTask.from_sas(sas.read_bytes()))
    expected = {ground.operator_name(operator).strip() for operator in ground.applicable(ground.initial_state())}
    space = _core.LiftedSpace(load(benchmarks, name).native_lifted())
    start = space.initial_state()
    operators = {space.operator_name(operator): operator for operator in space.applicable(start)}
    assert len(operators) == len(space.applicable(start))
    assert expected <= set(operators)
    # The translator leaves out actions that never change anything.
    assert all(space.apply(start, operators[extra]) == start for extra in set(operators) - expected)


def walks(task: Task, count: int = 20) -> Iterator[tuple[_core.LiftedSpace, int, _core.GroundSpace, int]]:
    """States on random walks, lifted and as values of the ground task."""
    rng = random.Random(1)
    lifted, ground = _core.LiftedSpace(task.native_lifted()), _core.GroundSpace(task.ground())
    for _ in range(count):
        state, values = lifted.initial_state(), ground.initial_state()
        for _ in range(12):
            yield lifted, state, ground, values
            names = {ground.operator_name(operator): operator for operator in ground.applicable(values)}
            known = {lifted.operator_name(operator): operator for operator in lifted.applicable(state)}
            assert set(names) <= set(known)
            if not names:
                break
            chosen = rng.choice(sorted(names))
            state, values = lifted.apply(state, known[chosen]), ground.apply(values, names[chosen])


@adl_examples
@pytest.mark.parametrize("kind", ["ff", "hmax", "add"])
def test_heuristics_of_lifted_and_ground_states_agree(task: Task, kind: str) -> None:
    heuristic = task.heuristic(kind)
    for lifted, state, ground, values in walks(task):
        one = heuristic.evaluate(lifted, np.array([state], np.int32))
        other = heuristic.evaluate(ground, np.array([values], np.int32))
        assert one == other
        assert lifted.is_goal(state) == ground.is_goal(values)


@adl_examples
def test_ground_tasks_survive_pickling(task: Task) -> None:
    ground = task.ground()
    again = pickle.loads(pickle.dumps(ground))
    assert again.to_sas() == ground.to_sas()
    spaces = [_core.GroundSpace(ground), _core.GroundSpace(again)]
    costs = {cli.astar(space, _core.heuristic("hmax", space_task)).plan_cost
             for space, space_task in zip(spaces, (ground, again), strict=True)}  # fmt: skip
    assert len(costs) == 1


def test_derived_atoms_are_atoms_of_encoded_states() -> None:
    task = load_pddl(EXAMPLES / "stacking" / "domain.pddl", EXAMPLES / "stacking" / "p01.pddl")
    assert task.lifted is not None
    names = task.lifted.predicates
    on, table, clear, in_place = (names.index(name) for name in ("on", "on-table", "clear", "in-place"))
    kinds = [("state", on, 2), ("state", table, 1), ("state", clear, 1), ("state", in_place, 1)]
    encoder = _core.Encoder(task.native_lifted(), [*kinds, ("goal", in_place, 1), ("goal_true", in_place, 1)])
    wanted = {args for predicate, args in task.lifted.init if names[predicate] == "wanted"}
    bottom = {args[0] for predicate, args in task.lifted.init if names[predicate] == "wanted-on-table"}
    blocks = set(range(len(task.lifted.objects)))
    for space, state, _, _ in walks(task, 3):
        row = np.array([0, 0], np.int32), np.array([], np.int32)
        batch = encoder.encode(space, np.array([state], np.int32), *row)
        pairs = {tuple(map(int, pair)) for pair in batch.relations[0]}
        tables, clears, places, open_goals, goals = ({int(x) for x in r.flatten()} for r in batch.relations[1:])
        assert clears == blocks - {below for _, below in pairs}
        settled = tables & bottom
        while more := {x for x, y in pairs & wanted if y in settled} - settled:
            settled |= more
        assert places == goals == settled
        assert open_goals == blocks - settled


@pytest.mark.parametrize("name", GROUND_STRATA)
def test_rules_that_are_stratified_only_once_ground(name: str, tmp_path: Path) -> None:
    """All states, their actions and their costs are those of the translator's task."""
    if not translator_available():
        pytest.skip("Fast Downward's translator is not installed")
    files = dict(zip(("domain.pddl", "problem.pddl"), GROUND_STRATA[name], strict=True))
    folder = cli.write_files(tmp_path, files)
    task, translated = (
        load_pddl(*(folder / file for file in files), translate_options=options)
        for options in ([], ["--keep-unimportant-variables"])
    )
    assert task.lifted is not None
    assert not task.lifted.is_stratified
    spaces = [_core.LiftedSpace(task.native_lifted()), _core.GroundSpace(task.ground())]
    spaces.append(_core.GroundSpace(translated.ground()))
    assert len({cli.astar(space, translated.heuristic("blind")).plan_cost for space in spaces}) == 1
    lifted, _, oracle = spaces
    pairs, seen = [(lifted.initial_state(), oracle.initial_state())], set()
    while pairs:
        state, values = pairs.pop()
        assert lifted.is_goal(state) == oracle.is_goal(values)
        successors = [
            {space.operator_name(op).strip(): space.apply(known, op) for op in space.applicable(known)}
            for space, known in ((lifted, state), (oracle, values))
        ]
        # The translator leaves out actions that never change anything.
        assert all(successors[0][extra] == state for extra in set(successors[0]) - set(successors[1]))
        for action, values in successors[1].items():
            if (pair := (successors[0][action], values)) not in seen:
                seen.add(pair)
                pairs.append(pair)
    assert len(seen) == len(dict(seen)) == len({values for _, values in seen})


@pytest.mark.parametrize("kind", ["hmax", "ff", "add"])
def test_a_rule_that_needs_what_it_derives_is_no_obstacle(kind: str) -> None:
    """The goal that an atom is false was taken for unreachable: its rule could be false only if the atom was."""
    domain = """(define (domain d) (:requirements :adl :derived-predicates) (:predicates (p) (d))
(:derived (d) (and (d) (p))) (:derived (d) (p))
(:action a :parameters () :precondition (p) :effect (not (p))))"""
    task = tasks.load(domain, "(define (problem x) (:domain d) (:init (p)) (:goal (not (d))))")
    for space in (_core.LiftedSpace(task.native_lifted(), False), _core.GroundSpace(task.ground())):
        found = cli.astar(space, task.heuristic(kind))
        assert (found.status, found.plan_cost) == ("solved", 1)


@pytest.mark.parametrize(
    ("rule", "effect", "goal"),
    [
        ("(not (odd))", "(and)", ""),
        ("(not (odd))", "(when (odd) (not (never)))", ""),
        ("(or (not (odd)) (forall (?x) (or (odd) (and))))", "(never)", ""),
        ("(and (not (odd)) (not (exists (?x) (and))))", "(never)", ""),
        ("(not (odd))", "(and)", "(or (odd) (not (never)))"),
    ],
    ids=[
        "no effect",
        "an effect that changes nothing",
        "a rule that always holds",
        "a rule that never holds",
        "a goal that holds without it",
    ],
)
def test_a_circle_that_nothing_depends_on_is_no_mistake(rule: str, effect: str, goal: str) -> None:
    more = f"(:derived (odd) {rule})\n(:action look :parameters () :precondition (odd) :effect {effect})"
    domain = tasks.GAME_DOMAIN.replace("(:action", f"{more}\n(:action", 1)
    domain = domain.replace("(won ?x))", "(won ?x) (odd) (never))", 1)
    task = tasks.load(domain, tasks.GAME.replace("(won a)", f"(and (won a) {goal})"))
    for space in (_core.LiftedSpace(task.native_lifted()), _core.GroundSpace(task.ground())):
        assert cli.astar(space, task.heuristic("blind")).plan_cost == 1


PARTS = {
    "types": "ball room",
    "rule": "(not (exists (?y) (on ?y ?x)))",
    "condition": "(top ?x)",
    "effect": "(on ?x ?x)",
    "actions": "",
    "init": "",
    "goal": "(on a a)",
    "sections": "",
}
BAD_DOMAIN = """\
(define (domain d) (:requirements :adl)
(:types {types})
(:predicates (on ?x ?y) (top ?x) (inside ?b - ball ?r - room)) (:functions (load ?x))
(:derived (top ?x)
{rule})
(:action a :parameters (?x) :precondition
{condition} :effect
{effect})
{actions})
"""
BAD_PROBLEM = """\
(define (problem p) (:domain d) (:objects a)
(:init
{init})
(:goal
{goal})
{sections})
"""
BAD = {
    "an unbound variable in a condition": ("condition", "(or (top ?x) (top ?w))", 7, "undefined variable '?w'"),
    "an unbound variable in forall": ("condition", "(forall (?z) (on ?w ?z))", 7, "undefined variable '?w'"),
    "an unbound variable after exists": ("condition", "(and (exists (?z) (top ?z)) (on ?z ?x))", 7, "variable '?z'"),
    "an unbound variable in a rule": ("rule", "(exists (?y) (on ?y ?w))", 5, "undefined variable '?w'"),
    "an unbound variable in when": ("effect", "(when (top ?w) (on ?x ?x))", 8, "undefined variable '?w'"),
    "an unbound variable in an effect": ("effect", "(forall (?z) (on ?z ?w))", 8, "undefined variable '?w'"),
    "an unbound variable in a goal": ("goal", "(forall (?z) (on ?z ?w))", 5, "undefined variable '?w'"),
    "an unknown predicate": ("condition", "(or (in ?x) (on ?x ?x))", 7, "undefined predicate 'in'"),
    "too many arguments": ("condition", "(not (exists (?z) (on ?x ?z ?z)))", 7, "'on' takes 2 arguments, got 3"),
    "an unknown type in exists": ("condition", "(exists (?z - thing) (top ?z))", 7, "undefined type 'thing'"),
    "an unknown type in forall": ("effect", "(forall (?z - thing) (on ?z ?z))", 8, "undefined type 'thing'"),
    "a derived predicate in an effect": (
        "effect",
        "(and (on ?x ?x)\n (top ?x))",
        9,
        "'top' cannot be changed by an eff",
    ),
    "a derived predicate under when": ("effect", "(when (on ?x ?x)\n (not (top ?x)))", 9, "'top' cannot be changed by"),
    "a derived predicate that is given": ("init", "(top a)", 3, "derived predicate 'top' cannot be given in :init"),
    "a circle through negation": ("rule", "(forall (?y) (or (on ?x ?y) (not (top ?y))))", 4, "its own negation"),
    "numbers in a condition": ("condition", "(not (>= (load ?x) 3))", 7, "numeric fluents are not supported"),
    "numbers in an effect": ("effect", "(assign (load ?x) 3)", 8, "numeric effect 'assign' is not supported"),
    "another increase": ("effect", "(increase (load ?x) 3)", 8, "no other function can be changed"),
    "a durative action": ("actions", "(:durative-action p)", 9, "durative actions are not supported"),
    "a durative condition": ("condition", "(at start (top ?x))", 7, "durative conditions are not supported"),
    "a preference": ("condition", "(preference one (top ?x))", 7, "'preference': preferences are not supported"),
    "a preferred goal": ("goal", "(and (preference one (top a)))", 5, "'preference': preferences are not supported"),
    "a modal goal": ("goal", "(and (always (top a)))", 5, "'always': trajectory constraints are not supported"),
    "constraints": ("actions", "(:constraints (always (top a)))", 9, "trajectory constraints are not supported"),
    "constraints of a problem": ("sections", "(:constraints (and))", 6, "trajectory constraints are not supported"),
    "a process": ("actions", "(:process p)", 9, "':process': the processes of PDDL+ are not supported"),
    "an event": ("actions", "(:event p)", 9, "':event': the events of PDDL+ are not supported"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_told_with_its_line(case: str, tmp_path: Path) -> None:
    part, text, line, message = BAD[case]
    parts = {**PARTS, part: text}
    files = {"domain.pddl": BAD_DOMAIN.format(**parts), "problem.pddl": BAD_PROBLEM.format(**parts)}
    cli.write_files(tmp_path, files)
    with pytest.raises(InputError) as caught:
        load_pddl(*(tmp_path / name for name in files))
    file = "problem.pddl" if part in ("init", "goal", "sections") else "domain.pddl"
    assert str(caught.value).startswith(f"{tmp_path / file}:{line}: ")
    assert message in caught.value.message
    assert caught.value.exit_code == 31


def test_types_that_never_meet_are_told_by_strict(tmp_path: Path) -> None:
    """Fast Downward takes them, and so do we."""
    parts = {**PARTS, "effect": "(forall (?z - room)\n (when (inside ?z ?z) (on ?x ?x)))"}
    cli.write_files(tmp_path, {"domain.pddl": BAD_DOMAIN.format(**parts), "problem.pddl": BAD_PROBLEM.format(**parts)})
    files = tmp_path / "domain.pddl", tmp_path / "problem.pddl"
    assert load_pddl(*files).ground().num_operators == 0
    run = cli.gsp_plan(tmp_path, *map(str, files), "--strict", "--search", "astar(blind())")
    assert run.returncode == 31
    assert "domain.pddl:9: argument 1 of 'inside' is of type ball, but '?z' of room" in run.stderr
    assert "Traceback" not in run.stderr


def test_a_circle_through_a_negation_is_told_with_its_line(tmp_path: Path) -> None:
    domain = (
        "(define (domain d)\n(:requirements :adl)\n(:predicates (on ?x ?y) (won ?x))\n"
        "(:derived (won ?x)\n  (exists (?y) (and (on ?x ?y) (not (won ?y)))))\n"
        "(:action a :parameters (?x ?y) :precondition (not (= ?x ?y)) :effect (on ?x ?y)))"
    )
    problem = "(define (problem p) (:domain d) (:objects a b) (:init) (:goal (won a)))"
    cli.write_files(tmp_path, {"domain.pddl": domain, "problem.pddl": problem})
    run = cli.gsp_plan(tmp_path, "domain.pddl", "problem.pddl", "--search", "astar(blind())")
    assert run.returncode == 31
    assert "domain.pddl:4: derived predicate 'won' depends on its own negation" in run.stderr
