"""``train``: a model for a domain, through the same code as ``gsp-train``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from gsp_fd.api.models import Model
from gsp_fd.api.tasks import PathLike


def train(
    domain: PathLike,
    problems: PathLike,
    out: PathLike,
    *,
    minutes: float = 10.0,
    validate: PathLike | None = None,
    workers: int | None = None,
    **settings: Any,
) -> Model:
    """Train a model for a domain and return it. Needs ``pip install 'gsp-fd[train]'``.

    :param problems: folder of training problems (``*.pddl``); a third of the larger ones is left out for validation,
        unless ``validate`` names a folder of others or the domain is one that ``gsp-generate`` knows.
    :param out: folder to create, for the model, its card, the report and all that a resumed run needs.
    :param workers: Ray actors that search while this process learns; 0: search in this process.
    :param settings: hyper-parameters by the names of ``TrainingConfig``, such as ``relaxed_plan="yes"``.

    Raises :class:`InputError` for what cannot be used, and KeyboardInterrupt where Ctrl-C came before the first model.
    """
    from gsp_fd.training.run.start import check_extra, new_run

    check_extra()
    from gsp_fd.training.run.session import Session

    inputs: dict[str, Any] = {"domain": os.fspath(domain), "train": os.fspath(problems)}
    inputs["command"] = f"gsp_fd.train({os.fspath(domain)!r}, {os.fspath(problems)!r}, …, minutes={minutes:g})"
    if validate is not None:
        inputs["validate"] = os.fspath(validate)
    if workers is not None:
        inputs["workers"] = workers
    folder, config, resolved = new_run(Path(out), {"minutes": float(minutes), **settings}, inputs)
    Session(folder, config, resolved, is_new=True).run()
    if not folder.model.is_file():
        raise KeyboardInterrupt
    return Model(folder.model)
