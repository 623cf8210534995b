"""Grounding against brute force: the same states, the same costs, and mutex groups that hold."""

from __future__ import annotations

import reference
import sas_reference
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from lifted_strategy import lifted_tasks

from gsp_fd import _core
from gsp_fd.pddl import LiftedTask

LIMIT = 250
COSTS = st.sampled_from([0, 1, 1, 2, 300_000])


def ground(task: LiftedTask) -> _core.GroundTask:
    return _core.LiftedTask.from_spec(task).ground()


def reachable(task: _core.GroundTask) -> list[sas_reference.State]:
    space = _core.GroundSpace(task)
    states, done = [space.initial_state()], 0
    while done < space.num_states:
        space.expand(done)
        done += 1
    assert states == [0]
    return [tuple(space.export_state(state).tolist()) for state in range(done)]


def true_atoms(task: sas_reference.SasTask, state: sas_reference.State) -> frozenset[str]:
    """The atoms that a ground state names; checks that what it negates is not among them."""
    facts = [task.variables[v].values[d] for v, d in enumerate(state)]
    atoms = {fact.removeprefix("Atom ") for fact in facts if fact.startswith("Atom ")}
    assert not atoms & {fact.removeprefix("NegatedAtom ") for fact in facts}
    return frozenset(atoms)


def known_atoms(task: sas_reference.SasTask) -> set[str]:
    names = {name for variable in task.variables for name in variable.values}
    return {name.removeprefix("Atom ") for name in names if name.startswith("Atom ")}


def is_trivial(task: sas_reference.SasTask) -> bool:
    return known_atoms(task) == {"dummy(val1)", "dummy(val2)"}


@settings(max_examples=400, deadline=None)
@given(task=lifted_tasks(costs=COSTS))
def test_same_states_and_costs(task: LiftedTask) -> None:
    expected = reference.explore(task, LIMIT)
    if expected is None:
        reject()
    native = ground(task)
    sas = sas_reference.read(native.to_sas())
    best = reference.optimal_cost(task, expected)
    if is_trivial(sas):
        # Solved from the start, or not at all.
        assert best == (0 if sas_reference.holds(sas.initial, sas.goal) else None)
        return
    known = known_atoms(sas)
    projected = {
        frozenset(name for atom in state if (name := reference.atom_name(task, atom)) in known) for state in expected
    }
    states = reachable(native)
    assert len(states) == len(projected)
    assert {true_atoms(sas, state) for state in states} == projected
    costs = sas_reference.explore(sas, 2 * LIMIT)
    assert costs is not None
    assert costs.keys() == set(states)
    assert sas_reference.optimal_cost(sas, costs) == best
    for group in sas.mutex_groups:
        assert all(sum(state[v] == d for v, d in group) <= 1 for state in states)


@settings(max_examples=100, deadline=None)
@given(task=lifted_tasks(costs=COSTS))
def test_written_tasks_load_again(task: LiftedTask) -> None:
    text = ground(task).to_sas()
    assert _core.GroundTask.from_sas(text).to_sas() == text


def test_mutex_groups_become_variables(tower: LiftedTask) -> None:
    task = sas_reference.read(ground(tower).to_sas())
    # Every block is somewhere: on one of the four (in the relaxation, even on itself), on the table or held.
    assert sum(len(variable.values) == 6 for variable in task.variables) == 4
    assert not any(op.preconditions == () for op in task.operators)


def test_negative_preconditions_inside_a_mutex_group(courier: LiftedTask) -> None:
    """The courier may not enter a place where the dog is: the dog's place is a variable with many values."""
    expected = reference.explore(courier, 10_000)
    assert expected is not None
    native = ground(courier)
    assert len(reachable(native)) == len(expected)
    blind = _core.heuristic("blind", native)
    f = _core.sum([_core.g(), blind])
    result = _core.search(_core.GroundSpace(native), _core.SingleOpenList(f), reopen_closed=True)
    assert result.plan_cost == reference.optimal_cost(courier, expected)
