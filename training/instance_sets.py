"""The instances of a run: for training as given, for validation as given, generated larger than those, or split off."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gsp_fd.common.errors import driver_error
from gsp_fd.generate import GENERATORS, domain_text, generate
from gsp_fd.generate.cli import write_set
from gsp_fd.generate.variants import variants
from gsp_fd.model import present_relations, task_fit_problems
from gsp_fd.model_format import ModelMetadata
from gsp_fd.task import Task, load_pddl
from gsp_fd.training.config import TrainingConfig
from gsp_fd.training.instances import TrainingInstance, domain_metadata, make_instances, read_tasks

GENERATED = 12
"""Validation instances that are generated where none are given."""
LARGEST_FACTOR = 4.0
"""The largest of them, in sizes of the largest training instance: small ones are soon solved by every checkpoint."""
SEED_OFFSET = 1_000_003
"""Between the seed of a run and that of its validation instances, which may be drawn like the training instances."""


@dataclass
class InstanceSets:
    """What a run trains and validates on. The tasks are what workers make their own instances of."""

    metadata: ModelMetadata
    training_tasks: list[Task]
    validation_tasks: list[Task]
    training: list[TrainingInstance]
    validation: list[TrainingInstance]
    origin: str
    """Where the validation instances come from, for people."""


def load_sets(
    domain: Path, train: Path, validate: Path | None, config: TrainingConfig, generated: Path
) -> InstanceSets:
    """Reads the instances of a run; ``generated``: folder for validation instances, if there are to be any."""
    _check_exists(domain, "domain file", folder=False)
    _check_exists(train, "folder of training problems", folder=True)
    training = read_tasks(domain, train)
    metadata = domain_metadata(training, config)
    if validate is not None:
        _check_exists(validate, "folder of validation problems", folder=True)
        validation = read_tasks(domain, validate)
        metadata = domain_metadata([*training, *validation], config)
        origin = f"the {len(validation)} problems of {validate}"
    elif name := known_generator(metadata):
        if not generated.is_dir():
            _write_larger(name, training, config.seed + SEED_OFFSET, generated)
        validation = read_tasks(generated / "domain.pddl", generated)
        sizes = sorted(_size(task) for task in validation)
        origin = f"{len(validation)} generated problems with {sizes[0]} to {sizes[-1]} objects"
    else:
        training, validation = split(training, train)
        origin = f"{len(validation)} of the larger problems of {train}, left out of training"
    training += variants(training, config.varied, config.seed)
    if validate is None:
        others = variants(validation, config.varied, config.seed + SEED_OFFSET)
        validation += others
        origin += f", and {len(others)} of them with other goals or another start" if others else ""
    metadata = replace(metadata, unseen=_unseen(metadata, training))
    to_learn, to_validate = make_instances(training, metadata), make_instances(validation, metadata)
    for instances, folder in ((to_learn, train), (to_validate, validate or train)):
        if not instances:
            raise driver_error("the goal of every problem holds initially: there is nothing to learn", folder)
    return InstanceSets(metadata, training, validation, to_learn, to_validate, origin)


def _unseen(metadata: ModelMetadata, training: Sequence[Task]) -> tuple[str, ...]:
    """The relations of a model that no training instance can show it."""
    seen: set[str] = set()
    for task in training:
        assert task.lifted is not None
        seen |= present_relations(task.lifted)
    return tuple(name for name, _ in metadata.relations if name not in seen)


def split(tasks: Sequence[Task], folder: Path) -> tuple[list[Task], list[Task]]:
    """(training, validation): by a hash of their names, a third of the larger half is left out for validation."""
    if len(tasks) < 2:
        raise driver_error("there is only one problem, and no --validate: at least two are needed", folder)
    by_size = sorted(tasks, key=lambda task: (_size(task), Path(task.name).name))
    larger = by_size[len(by_size) // 2 :]
    ranked = sorted(larger, key=lambda task: hashlib.sha256(Path(task.name).name.encode()).digest())
    chosen = {task.name for task in ranked[: max(1, len(ranked) // 3)]}
    return [task for task in tasks if task.name not in chosen], [task for task in tasks if task.name in chosen]


def known_generator(metadata: ModelMetadata) -> str | None:
    """The generator for a domain: its predicates, schemas, types and constants are the same, whatever its name."""
    schemas = {name for name, _ in metadata.schemas}
    with tempfile.TemporaryDirectory() as scratch:
        domain, problem = Path(scratch) / "domain.pddl", Path(scratch) / "problem.pddl"
        for name, generator in GENERATORS.items():
            text = domain_text(name)
            if not all(schema in text for schema in schemas):
                continue
            domain.write_text(text)
            problem.write_text(generate(name, generator.smallest, 0))
            lifted = load_pddl(domain, problem).lifted
            if lifted is not None and not task_fit_problems(metadata, lifted):
                return name
    return None


def _write_larger(name: str, training: Sequence[Task], seed: int, folder: Path) -> None:
    """Validation instances from the largest training size up; the folder appears complete or not at all."""
    largest = max(GENERATORS[name].smallest, *(_size(task) for task in training))
    write_set(name, GENERATED, (largest, int(LARGEST_FACTOR * largest)), seed, "even", folder)


def _size(task: Task) -> int:
    assert task.lifted is not None
    return len(task.lifted.objects)


def _check_exists(path: Path, what: str, *, folder: bool) -> None:
    if not path.exists():
        raise driver_error(f"there is no such {what}", path)
    if path.is_dir() != folder:
        raise driver_error(f"this is {'no' if folder else 'a'} folder; a {what} is needed", path)
