"""Models by name: those in the user's folder, those that come with the package, and the folders of runs."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gsp_fd.common.errors import InputError, driver_error, search_error
from gsp_fd.common.files import write_atomically
from gsp_fd.common.spelling import near_miss
from gsp_fd.model import Model, task_fit_problems
from gsp_fd.model_format import ModelMetadata, read_metadata, read_model
from gsp_fd.pddl import LiftedTask

AUTO = "auto"
SHIPPED_MODELS = Path(__file__).parent / "models"
FOLDER_VARIABLE = "GSP_MODELS"
RUN_MODEL, RUN_CARD = "model.onnx", "card.md"
"""What a run of gsp-train leaves in its folder."""

_NAME = re.compile(r"[A-Za-z0-9_][\w.+-]*", re.ASCII)
_SUFFIX = ".onnx"


@dataclass(frozen=True)
class InstalledModel:
    """A model that has a name."""

    path: Path
    shipped: bool

    @property
    def name(self) -> str:
        """What ``--model`` calls it."""
        return self.path.stem

    @property
    def origin(self) -> str:
        """Where it comes from, in a word."""
        return "shipped" if self.shipped else "yours"


@dataclass(frozen=True)
class Choice:
    """The model that fits a task, or why there is none."""

    model: InstalledModel | None
    reason: str
    """Why this one, if others fit too; why none."""
    broken: tuple[str, ...] = ()
    """Messages about models that cannot be read: they were passed over."""


def user_folder() -> Path:
    """The user's models: ``GSP_MODELS``, or a folder in the place that the platform has for data."""
    if chosen := os.environ.get(FOLDER_VARIABLE):
        return Path(chosen)
    if sys.platform == "darwin":
        data = Path.home() / "Library" / "Application Support"
    elif sys.platform == "win32":
        data = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return data / "gsp-fd" / "models"


def installed_models() -> list[InstalledModel]:
    """All models that have a name, the user's before the shipped ones; a name may be there twice."""
    folder = user_folder()
    if folder.exists() and not folder.is_dir():
        raise driver_error(f"the folder of your models ({FOLDER_VARIABLE}) is no folder", folder)
    return [
        InstalledModel(path, shipped)
        for place, shipped in ((folder, False), (SHIPPED_MODELS, True))
        for path in sorted(place.glob(f"[!.]*{_SUFFIX}"))
    ]


def model_names(models: Iterable[InstalledModel]) -> str:
    """Their names, for messages."""
    return ", ".join(dict.fromkeys(model.name for model in models)) or "(none is installed)"


def named_model(name: str) -> Path:
    """The file of a model, given by its name, its file or the folder of a run; InputError 33 if there is none."""
    path, named = Path(name), [model for model in installed_models() if model.name == name]
    here = _model_at(path)
    if named and here is not None:
        raise search_error(
            f"'{name}' is the name of a model ({named[0].path}) and of a {'folder' if path.is_dir() else 'file'} here: "
            f"write .{os.sep}{name} for the one here, or the whole path of the other"
        )
    if here is not None or path.suffix == _SUFFIX:
        return here or path
    if named:
        return named[0].path
    if os.path.isdir(path):
        raise search_error(f"the folder has no {RUN_MODEL}: it is no run of gsp-train, or has no model yet", path)
    known = installed_models()
    hint = near_miss(name, [model.name for model in known])
    what = f"give an .onnx file, the folder of a run, {AUTO}, or one of {model_names(known)}"
    raise search_error(f"there is no model '{name}'{hint or f': {what}'}")


def _model_at(path: Path) -> Path | None:
    """The model in a file or in the folder of a run; None for names that no file can have, too, where Path raises."""
    if os.path.isdir(path):
        return path / RUN_MODEL if os.path.isfile(path / RUN_MODEL) else None
    return path if os.path.exists(path) else None


def fitting_model(task: LiftedTask) -> Choice:
    """The first installed model that fits a task."""
    installed, fitting, misfits, broken = installed_models(), [], [], []
    for model in installed:
        try:
            metadata = read_metadata(model.path)
        except InputError as error:
            broken.append(str(error))
            continue
        problems = task_fit_problems(metadata, task)
        if not problems:
            fitting.append(model)
        elif metadata.domain == task.domain_name:
            misfits.append(f"{model.name} is for another {task.domain_name}: {problems[0]}")
    if fitting:
        return Choice(fitting[0], _others(fitting), tuple(broken))
    return Choice(None, _none_fits(task, installed, misfits), tuple(broken))


def _others(fitting: Sequence[InstalledModel]) -> str:
    others = [f"{model.name} ({model.origin})" for model in fitting[1:]]
    return f"so would {', '.join(others)}" if others else ""


def _none_fits(task: LiftedTask, installed: Sequence[InstalledModel], misfits: Sequence[str]) -> str:
    if misfits:
        return "; ".join(misfits)
    return f"there is none for domain {task.domain_name}, only {model_names(installed)}"


def find_model(name: str, task: LiftedTask) -> Path:
    """The file of a model: by its name, file or run, or with ``auto`` the first installed one that fits the task."""
    if name != AUTO:
        return named_model(name)
    choice = fitting_model(task)
    if choice.model is None:
        raise search_error(
            f"no model fits: {choice.reason}; train one with gsp-train, or choose another heuristic"
            + "".join(f"; {message}" for message in choice.broken)
        )
    return choice.model.path


def card_of(model: Path) -> Path | None:
    """The card beside a model, if there is one."""
    card = model.with_name(RUN_CARD) if model.name == RUN_MODEL else model.with_suffix(".md")
    return card if card.is_file() else None


def add_model(source: str, name: str | None = None, *, replace: bool = False) -> InstalledModel:
    """Copies a model and its card into the user's folder, after a check that it works here."""
    path = named_model(source)
    metadata = Model(path).metadata
    name = name or _usual_name(path, metadata)
    if not _NAME.fullmatch(name) or name == AUTO:
        raise driver_error(f"'{name}' cannot be the name of a model: letters, digits, _ . + - can; {AUTO} cannot")
    folder = user_folder()
    target = folder / f"{name}{_SUFFIX}"
    if target.exists() and not replace:
        raise driver_error(f"you already have a model {name}: --replace it, or give another --name", target)
    card = card_of(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if card is not None:
            write_atomically(target.with_suffix(".md"), card.read_bytes())
        else:
            target.with_suffix(".md").unlink(missing_ok=True)
        write_atomically(target, read_model(path))
    except OSError as error:
        if not target.exists():
            target.with_suffix(".md").unlink(missing_ok=True)
        raise driver_error(f"cannot add the model: {error.strerror}", target) from None
    return InstalledModel(target, shipped=False)


def _usual_name(path: Path, metadata: ModelMetadata) -> str:
    return metadata.domain if path.name == RUN_MODEL else path.name.removesuffix(_SUFFIX)


def remove_model(name: str) -> Path:
    """Deletes one of the user's models with its card; returns the file it was in."""
    yours = [model for model in installed_models() if not model.shipped]
    path = Path(name)
    found = [m for m in yours if m.name == name or (os.path.exists(path) and m.path.resolve() == path.resolve())]
    if not found:
        if any(model.name == name for model in installed_models()):
            raise driver_error(f"{name} comes with the package; only models in {user_folder()} can be removed")
        raise driver_error(f"there is no model '{name}' in {user_folder()}, only {model_names(yours)}")
    try:
        found[0].path.unlink()
        found[0].path.with_suffix(".md").unlink(missing_ok=True)
    except OSError as error:
        raise driver_error(f"cannot remove the model: {error.strerror}", found[0].path) from None
    return found[0].path
