"""Training instances: tasks of one domain with what search and learning need of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gsp_fd import __version__, _core
from gsp_fd.errors import InputError
from gsp_fd.exit_codes import ExitCode
from gsp_fd.model import relation_specs
from gsp_fd.model_format import ModelMetadata, relations_of
from gsp_fd.pddl import LiftedTask
from gsp_fd.task import Task, load_pddl
from gsp_fd.training.config import TrainingConfig


@dataclass
class Instance:
    """A task, its encoder, and the heuristics of its delete relaxation."""

    name: str
    task: Task
    native: Any
    encoder: Any
    dead_ends: Any
    guide: Any
    size: int
    hff: float
    """hFF of the initial state: a first guess at the length of a plan."""

    @property
    def kind(self) -> str:
        """Which goals and which start it has."""
        return self.task.kind


def read_tasks(domain: Path, folder: Path) -> list[Task]:
    """All problems of a folder (every ``*.pddl`` that is not a domain file), by name."""
    files = sorted(path for path in folder.glob("*.pddl") if "domain" not in path.name)
    if not files:
        raise InputError("there is no problem file (*.pddl)", str(folder), exit_code=ExitCode.DRIVER_INPUT_ERROR)
    tasks = []
    for file in files:
        task = load_pddl(domain, file)
        if task.lifted is None:
            message = f"training needs the lifted engine: {task.not_lifted.reason if task.not_lifted else ''}"
            raise InputError(message, str(file), exit_code=ExitCode.DRIVER_UNSUPPORTED)
        tasks.append(task)
    return tasks


def domain_metadata(tasks: Sequence[Task], config: TrainingConfig) -> ModelMetadata:
    """What the models of a domain say about it, before any training."""
    lifted = _lifted(tasks[0])
    predicates = list(zip(lifted.predicates, lifted.arities, strict=True))
    types = [name for name in lifted.types if not name.startswith("either ")]
    constants = lifted.objects[: lifted.constants]
    schemas = [(schema.name, len(schema.parameters)) for schema in lifted.schemas]
    relations = relations_of(
        predicates,
        types,
        constants,
        schemas,
        fluents=[name for name, fluent in zip(lifted.predicates, lifted.fluent, strict=True) if fluent],
        goal_split=config.goal_split,
        negative_goals=any(_lifted(task).goal_negative for task in tasks),
    )
    return ModelMetadata(
        domain=lifted.domain_name,
        predicates=tuple(predicates),
        types=tuple(types),
        constants=tuple(constants),
        schemas=tuple(schemas),
        relations=relations,
        goal_split=config.goal_split,
        network=config.network(),
        package_version=__version__,
    )


def make_instances(tasks: Iterable[Task], metadata: ModelMetadata) -> list[Instance]:
    """Instances ready for episodes, smallest first. Tasks whose goal holds already teach nothing and are left out."""
    instances = []
    for task in tasks:
        lifted, native = _lifted(task), task.native_lifted()
        space = _core.LiftedSpace(native)
        if space.is_goal(space.initial_state()):
            continue
        ground = task.ground()
        guide = _core.ff(ground)
        values = np.asarray(guide.evaluate(space, np.array([space.initial_state()], np.int32)))
        hff = float(values[0])
        instances.append(
            Instance(
                name=Path(task.name).stem,
                task=task,
                native=native,
                encoder=_core.Encoder(native, relation_specs(metadata, lifted)),
                dead_ends=_core.hmax(ground),
                guide=guide,
                size=len(lifted.objects),
                hff=hff,
            )
        )
    return sorted(instances, key=lambda instance: (instance.size, instance.hff, instance.name))


def _lifted(task: Task) -> LiftedTask:
    assert task.lifted is not None
    return task.lifted
