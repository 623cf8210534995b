"""Small planning tasks of the tests' own, as PDDL texts, and how to load them."""

from __future__ import annotations

import tempfile
from pathlib import Path

from gsp_fd.task import Task, load_pddl

TOWER_DOMAIN = """\
(define (domain tower)
  (:requirements :strips)
  (:predicates (on ?x ?y) (table ?x) (clear ?x) (empty) (holding ?x))
  (:action lift :parameters (?x) :precondition (and (clear ?x) (table ?x) (empty))
    :effect (and (holding ?x) (not (clear ?x)) (not (table ?x)) (not (empty))))
  (:action drop :parameters (?x) :precondition (holding ?x)
    :effect (and (clear ?x) (table ?x) (empty) (not (holding ?x))))
  (:action put :parameters (?x ?y) :precondition (and (holding ?x) (clear ?y))
    :effect (and (on ?x ?y) (clear ?x) (empty) (not (holding ?x)) (not (clear ?y))))
  (:action take :parameters (?x ?y) :precondition (and (on ?x ?y) (clear ?x) (empty))
    :effect (and (holding ?x) (clear ?y) (not (on ?x ?y)) (not (clear ?x)) (not (empty)))))
"""

TOWER = """\
(define (problem four) (:domain tower)
  (:objects a b c d)
  (:init (table a) (on b a) (on c b) (clear c) (table d) (clear d) (empty))
  (:goal (and (on a b) (on b c) (on c d))))
"""

COURIER_DOMAIN = """\
(define (domain courier)
  (:requirements :strips :typing :equality :negative-preconditions :action-costs)
  (:types place animal parcel - thing)
  (:constants home - place)
  (:predicates (road ?x ?y - place) (here ?x - place) (dog ?x - place) (at ?p - parcel ?x - place)
               (carried ?p - parcel))
  (:functions (total-cost) (length ?x ?y - place))
  (:action walk :parameters (?x ?y - place)
    :precondition (and (here ?x) (road ?x ?y) (not (dog ?y)) (not (= ?x ?y)))
    :effect (and (here ?y) (not (here ?x)) (increase (total-cost) (length ?x ?y))))
  (:action lure :parameters (?x ?y - place)
    :precondition (and (dog ?x) (road ?x ?y) (not (here ?y)))
    :effect (and (dog ?y) (not (dog ?x)) (increase (total-cost) 0)))
  (:action pick :parameters (?p - parcel ?x - place)
    :precondition (and (here ?x) (at ?p ?x))
    :effect (and (carried ?p) (not (at ?p ?x)) (increase (total-cost) 100001)))
  (:action leave :parameters (?p - parcel)
    :precondition (and (carried ?p) (here home))
    :effect (and (at ?p home) (not (carried ?p)) (increase (total-cost) 3))))
"""

COURIER = """\
(define (problem ring) (:domain courier)
  (:objects park shop hill - place letter box - parcel)
  (:init (here home) (dog shop) (at letter shop) (at box hill)
    (road home park) (road park home) (road park shop) (road shop park)
    (road shop hill) (road hill shop) (road hill home) (road home hill)
    (= (total-cost) 0) (= (length home park) 2) (= (length park home) 2) (= (length park shop) 70000)
    (= (length shop park) 5) (= (length shop hill) 0) (= (length hill shop) 4) (= (length hill home) 9)
    (= (length home hill) 200000))
  (:goal (and (at letter home) (at box home) (not (dog hill))))
  (:metric minimize (total-cost)))
"""

LAMPS_DOMAIN = """\
(define (domain lamps)
  (:requirements :strips :negative-preconditions)
  (:predicates (lit ?x))
  (:action on :parameters (?x) :precondition (not (lit ?x)) :effect (lit ?x))
  (:action off :parameters (?x) :precondition (lit ?x) :effect (not (lit ?x))))
"""

HOUSE_DOMAIN = """\
(define (domain house)
  (:requirements :adl :derived-predicates)
  (:predicates (lit ?x) (wired ?x ?y) (power ?x) (dark) (cosy) (asleep))
  (:derived (power ?x) (or (lit ?x) (exists (?y) (and (wired ?y ?x) (power ?y)))))
  (:derived (dark) (forall (?x) (not (power ?x))))
  (:derived (cosy) (and (not (dark)) (exists (?x) (not (power ?x)))))
  (:action switch :parameters (?x) :precondition (not (asleep))
    :effect (and (when (lit ?x) (not (lit ?x))) (when (not (lit ?x)) (lit ?x))))
  (:action rewire :parameters (?x ?y ?z) :precondition (and (wired ?x ?y) (cosy))
    :effect (and (not (wired ?x ?y)) (wired ?x ?z)))
  (:action sleep :parameters () :precondition (dark)
    :effect (forall (?x) (when (wired ?x ?x) (asleep)))))
"""

HOUSE = """\
(define (problem three) (:domain house)
  (:objects hall attic cellar)
  (:init (lit hall) (wired hall attic) (wired attic cellar))
  (:goal (asleep)))
"""


GAME_DOMAIN = """\
(define (domain game)
  (:requirements :adl :derived-predicates)
  (:predicates (edge ?x ?y) (marked ?x) (won ?x))
  (:derived (won ?x) (exists (?y) (and (edge ?x ?y) (marked ?y) (not (won ?y)))))
  (:action mark :parameters (?x) :precondition (not (marked ?x)) :effect (marked ?x)))
"""

GAME = """\
(define (problem path) (:domain game)
  (:objects a b c)
  (:init (edge a b) (edge b c))
  (:goal (won a)))
"""
"""Its rules are stratified only once they are ground: edges lead from a to b to c."""

GUARDS_DOMAIN = """\
(define (domain guards)
  (:requirements :adl :derived-predicates)
  (:predicates (above ?x ?y) (awake ?x) (safe ?x) (alarm) (calm))
  (:derived (safe ?x) (and (awake ?x) (forall (?y) (imply (above ?x ?y) (or (not (safe ?y)) (calm))))))
  (:derived (alarm) (exists (?x) (and (awake ?x) (not (safe ?x)))))
  (:action wake :parameters (?x) :precondition (not (awake ?x)) :effect (awake ?x))
  (:action doze :parameters (?x) :precondition (and (awake ?x) (safe ?x)) :effect (not (awake ?x)))
  (:action hush :parameters () :precondition (alarm) :effect (calm)))
"""

GUARDS = """\
(define (problem five) (:domain guards)
  (:objects a b c d e)
  (:init (above a b) (above b c) (above a c) (above d c) (above c e))
  (:goal (and (safe a) (safe b) (awake c) (not (alarm)))))
"""
"""The same with a universal quantifier, several ways between atoms, and a stratum on top."""


def lamps(count: int, goal: str = "") -> str:
    """A problem with 2 to the power of ``count`` states; by default all lamps are to be lit."""
    names = [f"l{i}" for i in range(count)]
    goal = goal or " ".join(f"(lit {name})" for name in names)
    return f"(define (problem lamps) (:domain lamps) (:objects {' '.join(names)}) (:init) (:goal (and {goal})))"


def load(domain: str, problem: str) -> Task:
    """A task from two texts."""
    with tempfile.TemporaryDirectory() as folder:
        paths = Path(folder, "domain.pddl"), Path(folder, "problem.pddl")
        for path, text in zip(paths, (domain, problem), strict=True):
            path.write_text(text, encoding="utf-8")
        return load_pddl(*paths)
