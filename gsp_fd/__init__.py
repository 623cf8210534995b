"""gsp-fd: planning with learned heuristics behind Fast Downward's interface.

This room holds the planner: tasks from files, models, and what evaluates them. It never imports torch. The package
itself is the door to :mod:`gsp_fd.api`, whose names are looked up here when someone asks for them.

>>> import gsp_fd
>>> task = gsp_fd.load("examples/blocksworld/domain.pddl", "examples/blocksworld/p01.pddl")
>>> gsp_fd.plan(task).status
'solved'
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_DOOR_TO = "gsp_fd.api"
__all__ = [
    "Action", "Heuristic", "InputError", "Model", "Result", "State", "Task",
    "__version__", "load", "models", "plan", "train",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """A name of the API, loaded now: programs that only need a part of the package do not wait for it."""
    if name not in __all__:
        raise AttributeError(f"module 'gsp_fd' has no attribute '{name}'")
    return getattr(importlib.import_module(_DOOR_TO), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
