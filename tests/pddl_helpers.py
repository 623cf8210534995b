"""Small PDDL texts and what the PDDL tests share."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable
from pathlib import Path

import cli_support as cli

from gsp_fd.common.errors import InputError
from gsp_fd.pddl import Domain, Problem, read_domain, read_problem

DOMAIN = """\
(define (domain depot)
  (:requirements :strips :typing)
  (:types crate surface - thing
          truck - vehicle)
  (:constants ground - surface)
  (:predicates (on ?c - crate ?s - surface)
               (in ?c - crate ?t - truck)
               (free ?s - surface))
  (:functions (total-cost) (weight ?c - crate) - number)
  (:action load
    :parameters (?c - crate ?s - surface ?t - truck)
    :precondition (and (on ?c ?s) (not (free ?s)))
    :effect (and (in ?c ?t) (not (on ?c ?s)) (free ?s) (increase (total-cost) (weight ?c))))
  (:action unload
    :parameters (?c - crate ?s - surface ?t - truck)
    :precondition (and (in ?c ?t) (free ?s))
    :effect (and (on ?c ?s) (not (in ?c ?t)) (not (free ?s)) (increase (total-cost) 2))))
"""

PROBLEM = """\
(define (problem two-crates)
  (:domain depot)
  (:objects a b - crate
            shelf - surface
            lorry - truck)
  (:init (on a ground)
         (on b shelf)
         (= (total-cost) 0)
         (= (weight a) 3)
         (= (weight b) 5))
  (:goal (and (on a shelf)))
  (:metric minimize (total-cost)))
"""

ADL_DOMAIN = """\
(define (domain depot)
  (:requirements :adl :derived-predicates)
  (:types crate surface - thing truck)
  (:constants ground - surface)
  (:predicates (on ?c - crate ?s - surface) (in ?c - crate ?t - truck) (free ?s) (above ?c - crate ?s))
  (:functions (total-cost) (weight ?c - crate))
  (:derived (free ?s - surface)
    (forall (?c - crate) (not (on ?c ?s))))
  (:derived (above ?c - crate ?s)
    (or (on ?c ?s) (exists (?d - crate) (and (on ?c ?d) (above ?d ?s)))))
  (:action load
    :parameters (?c - crate ?s - surface ?t - truck)
    :precondition (and (on ?c ?s) (imply (free ?s) (exists (?d - crate) (not (= ?c ?d)))))
    :effect (and (in ?c ?t)
                 (forall (?z - surface) (when (above ?c ?z) (not (on ?c ?z))))
                 (increase (total-cost) (weight ?c))))
  (:action unload
    :parameters (?c - crate ?s - surface ?t - truck)
    :precondition (and (in ?c ?t) (or (free ?s) (= ?s ground)))
    :effect (and (on ?c ?s) (not (in ?c ?t)) (increase (total-cost) 2))))
"""

PLAN = (
    "load b shelf lorry",
    "load a ground lorry",
    "unload a shelf lorry",
)


def parse(folder: Path, domain: str = DOMAIN, problem: str = PROBLEM) -> tuple[Domain, Problem]:
    """Writes both texts to ``d.pddl`` and ``p.pddl`` in ``folder`` and reads them."""
    (folder / "d.pddl").write_text(domain, encoding="latin-1")
    (folder / "p.pddl").write_text(problem, encoding="latin-1")
    parsed = read_domain(folder / "d.pddl")
    return parsed, read_problem(folder / "p.pddl", parsed)


def input_error(call: Callable[[], object]) -> InputError | None:
    """The InputError that a call ends with; every other exception fails the test."""
    try:
        call()
    except InputError as error:
        return error
    return None


CONFORMANCE = (
    "airport-adl", "assembly", "blocks", "briefcaseworld", "citycar-opt14-adl", "driverlog",
    "elevators-opt08-strips", "freecell", "gripper", "hiking-opt14-strips", "logistics98",
    "maintenance-opt14-adl", "miconic-fulladl", "miconic-simpleadl", "movie", "mprime", "mystery",
    "mystery-unsolvable", "nurikabe-opt18-adl", "openstacks", "openstacks-opt08-adl", "optical-telegraphs",
    "parcprinter-08-strips", "pathways", "pegsol-08-strips", "philosophers", "pipesworld-notankage",
    "psr-large", "psr-middle", "psr-small", "satellite", "schedule", "sokoban-opt08-strips", "storage",
    "termes-opt18-strips", "trucks", "woodworking-opt08-strips",
)  # fmt: skip
"""The pairs of the archive ``conformance``; only ``mystery-unsolvable`` has no plan."""


def read_pair(folder: Path) -> tuple[Domain, Problem]:
    """``domain.pddl`` and ``problem.pddl`` of a folder, parsed."""
    domain = read_domain(folder / "domain.pddl")
    return domain, read_problem(folder / "problem.pddl", domain)


@functools.cache
def fast_downward_plan(folder: Path) -> tuple[str, bytes]:
    """The plan file of Fast Downward's lama-first for such a folder, and the SAS file it searched."""
    with tempfile.TemporaryDirectory() as out:
        options = ["--plan-file", "plan", "--sas-file", "sas", "--alias", "lama-first"]
        run = cli.fast_downward(Path(out), *options, str(folder / "domain.pddl"), str(folder / "problem.pddl"))
        assert run.returncode == 0, run.stdout
        return Path(out, "plan").read_text(), Path(out, "sas").read_bytes()
