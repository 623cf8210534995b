"""States rebuilt from SAS and PDDL together are the states that PDDL alone gives, down to the Q-values."""

from __future__ import annotations

import io
import random
from pathlib import Path

import numpy as np
import pytest
import tasks
from random_models import random_model

from gsp_fd import _core as core
from gsp_fd.common.errors import InputError
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.fd_integration.tools.sas_states import SasStates, read_sas_head
from gsp_fd.generate import GENERATORS, domain_text, generate
from gsp_fd.model import Model
from gsp_fd.task import Task, load_pddl
from gsp_fd.translator import translate, translator_available

IPC_2023 = (
    "blocksworld", "childsnack", "ferry", "floortile", "miconic", "rovers", "satellite", "sokoban", "spanner",
    "transport",
)  # fmt: skip

translated = pytest.mark.skipif(not translator_available(), reason="fast-downward-translate is not installed")


def pddl_and_sas(folder: Path, domain: str, problem: str, *options: str) -> tuple[Task, bytes]:
    files = folder / "domain.pddl", folder / "problem.pddl"
    for file, text in zip(files, (domain, problem), strict=True):
        file.write_text(text)
    result = translate(*files, folder / "output.sas", extra_options=options)
    assert result.exit_code == ExitCode.SUCCESS, result.log
    return load_pddl(*files), (folder / "output.sas").read_bytes()


def walk(space: core.StateSpace, length: int, seed: int) -> list[str]:
    """Names of the operators of a random walk."""
    rng, state = random.Random(seed), space.initial_state()
    names: list[str] = []
    while len(names) < length and (operators := space.applicable(state)):
        operator = rng.choice(sorted(operators, key=space.operator_name))
        names.append(space.operator_name(operator))
        state = space.apply(state, operator)
    return names


def follow(space: core.StateSpace, names: list[str]) -> list[int]:
    """The states that operators of these names lead through."""
    states = [space.initial_state()]
    for name in names:
        (operator,) = [op for op in space.applicable(states[-1]) if space.operator_name(op) == name]
        states.append(space.apply(states[-1], operator))
    return states


def q_values(model: Model, task: Task, space: core.LiftedSpace, states: list[int]) -> dict[tuple[int, str], float]:
    """Q-values by number of the step and name of the action."""
    encoder = model.encoder(task.lifted, task.native_lifted())  # type: ignore[arg-type]
    begin, operators = core.applicable_rows(space, np.array(states, dtype=np.int32))
    values = model.backend.q_values(encoder.encode(space, np.array(states, dtype=np.int32), begin, operators))
    steps = np.repeat(np.arange(len(states)), np.diff(begin))
    names = [space.operator_name(int(operator)) for operator in operators]
    return dict(zip(zip(steps.tolist(), names, strict=True), values.tolist(), strict=True))


@translated
@pytest.mark.parametrize("domain", IPC_2023)
def test_same_q_values(tmp_path: Path, domain: str) -> None:
    smallest, largest = GENERATORS[domain].training
    problem = generate(domain, (3 * smallest + largest) // 4, 1)
    # Without the option, variables that change but cannot matter for the goal would be missing.
    task, sas = pddl_and_sas(tmp_path, domain_text(domain), problem, "--keep-unimportant-variables")
    assert task.lifted is not None
    head = read_sas_head(io.BytesIO(sas), "output.sas")
    states = SasStates(head.facts, task.lifted)
    assert states.is_initial(head.initial)
    ground = core.GroundSpace(core.GroundTask.from_sas(sas))
    names = walk(ground, 12, seed=5)
    space, rebuilt = core.LiftedSpace(task.native_lifted()), core.LiftedSpace(task.native_lifted())
    expected = follow(space, names)
    actual = [
        rebuilt.import_state(states.encoded(ground.export_state(state).tolist())) for state in follow(ground, names)
    ]
    for one, other in zip(expected, actual, strict=True):
        assert atoms_of(task, space, one) == atoms_of(task, rebuilt, other)
    model = Model(random_model(task, tmp_path / "model.onnx"), device="cpu")
    wanted = q_values(model, task, space, expected)
    assert wanted
    assert q_values(model, task, rebuilt, actual) == pytest.approx(wanted, abs=1e-4)


def atoms_of(task: Task, space: core.LiftedSpace, state: int) -> set[tuple[int, ...]]:
    assert task.lifted is not None
    flat, atoms = space.export_state(state).tolist(), set()
    while flat:
        size = 1 + task.lifted.arities[flat[0]]
        atoms.add(tuple(flat[:size]))
        del flat[:size]
    return atoms


@translated
def test_initial_states_of_other_problems_differ(tmp_path: Path) -> None:
    task, sas = pddl_and_sas(tmp_path, tasks.TOWER_DOMAIN, tasks.TOWER)
    head = read_sas_head(io.BytesIO(sas), "output.sas")
    assert task.lifted is not None
    assert SasStates(head.facts, task.lifted).is_initial(head.initial)
    other = tasks.load(tasks.TOWER_DOMAIN, tasks.TOWER.replace("(table d) (clear d)", "(on d c) (clear d)"))
    assert other.lifted is not None
    assert not SasStates(head.facts, other.lifted).is_initial(head.initial)


@pytest.mark.parametrize("text", ["", "begin_version\n2\n", "begin_version\n3\nend_version\nbegin_metric\n0\n"])
def test_no_sas(text: str) -> None:
    with pytest.raises(InputError, match=r"in\.sas: not a SAS file"):
        read_sas_head(io.BytesIO(text.encode()), "in.sas")
