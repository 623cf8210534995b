"""Training instances: tasks of one domain with what search and learning need of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gsp_fd import __version__, _core
from gsp_fd.common.errors import driver_error
from gsp_fd.common.files import problem_files
from gsp_fd.model import relation_specs
from gsp_fd.model_format import ADDED_ATOMS_ENCODER, PLAIN_ENCODER, RELAXED_PLAN_ENCODER, ModelMetadata, relations_of
from gsp_fd.pddl import LiftedTask
from gsp_fd.task import Task, load_pddl
from gsp_fd.training.config import TrainingConfig


@dataclass
class TrainingInstance:
    """A task, its encoder, and the heuristics of its delete relaxation."""

    name: str
    task: Task
    native: _core.LiftedTask
    encoder: _core.Encoder
    dead_ends: _core.Heuristic
    guide: _core.Heuristic
    plans: _core.Heuristic | None
    """Knows relaxed plans, for a network that sees them."""
    size: int
    distance: float
    """A first guess at the length of a plan: what the guide says of the initial state."""

    @property
    def kind(self) -> str:
        """Which goals and which start it has."""
        return self.task.kind


def read_tasks(domain: Path, folder: Path) -> list[Task]:
    """All problems of a folder, by name."""
    files = problem_files(folder)
    if not files:
        raise driver_error("there is no problem file (*.pddl)", folder)
    return [load_pddl(domain, file) for file in files]


def domain_metadata(tasks: Sequence[Task], config: TrainingConfig) -> ModelMetadata:
    """What the models of a domain say about it, before any training."""
    lifted = _lifted(tasks[0])
    predicates = lifted.signature
    types = [name for name in lifted.types if not name.startswith("either ")]
    constants = lifted.objects[: lifted.constants]
    schemas = [(schema.name, len(schema.parameters)) for schema in lifted.schemas]
    relaxed_plan = config.relaxed_plan == "yes"
    # Where effects are conditional, an operator of a relaxed plan does not tell what it is there for.
    added = _changed(lifted) if relaxed_plan and tasks[0].native_lifted().conditional else []
    relations = relations_of(
        predicates,
        types,
        constants,
        schemas,
        fluents=[name for name, fluent in zip(lifted.predicates, lifted.fluent, strict=True) if fluent],
        goal_split=config.goal_split,
        negative_goals=any(_lifted(task).goal_negative for task in tasks),
        relaxed_plan=relaxed_plan,
        added=added,
    )
    return ModelMetadata(
        domain=lifted.domain_name,
        predicates=tuple(predicates),
        types=tuple(types),
        constants=tuple(constants),
        schemas=tuple(schemas),
        relations=relations,
        goal_split=config.goal_split,
        encoder_version=ADDED_ATOMS_ENCODER if added else RELAXED_PLAN_ENCODER if relaxed_plan else PLAIN_ENCODER,
        network=config.network(),
        package_version=__version__,
    )


def _changed(task: LiftedTask) -> list[str]:
    """The predicates that some action changes."""
    derived = {literal.predicate for stratum in task.axioms for rule in stratum for literal in rule.add}
    numbers = range(len(task.predicates))
    return [task.predicates[number] for number in numbers if task.fluent[number] and number not in derived]


def make_instances(tasks: Iterable[Task], metadata: ModelMetadata) -> list[TrainingInstance]:
    """Instances ready for episodes, smallest first. Tasks whose goal holds already teach nothing and are left out."""
    instances = []
    for task in tasks:
        lifted, native = _lifted(task), task.native_lifted()
        space = _core.LiftedSpace(native)
        if space.is_goal(space.initial_state()):
            continue
        # hFF counts an operator once; one with conditional effects may be needed many times.
        guide = task.heuristic("add" if native.conditional else "ff")
        values = np.asarray(guide.evaluate(space, np.array([space.initial_state()], np.int32)))
        instances.append(
            TrainingInstance(
                name=Path(task.name).stem,
                task=task,
                native=native,
                encoder=_core.Encoder(native, relation_specs(metadata, lifted)),
                # Infinite just where hmax is; where the plan is needed anyway, one exploration serves both.
                dead_ends=guide if metadata.relaxed_plan else task.heuristic("hmax"),
                guide=guide,
                plans=guide if metadata.relaxed_plan else None,
                size=len(lifted.objects),
                distance=float(values[0]),
            )
        )
    return sorted(instances, key=lambda instance: (instance.size, instance.distance, instance.name))


def _lifted(task: Task) -> LiftedTask:
    assert task.lifted is not None
    return task.lifted
