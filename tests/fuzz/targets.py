"""All that reads input from strangers, by name."""

from __future__ import annotations

from collections.abc import Callable

from .compare_targets import Lists, Results
from .level_targets import Levels
from .model_targets import Checkpoints, Models, TaskFiles, Toml
from .planner_targets import Pddl, Plans, Sas, Search
from .runner import Target

TARGETS: dict[str, Callable[[], Target]] = {
    kind.name: kind for kind in (Pddl, Sas, Search, Plans, Models, Checkpoints, TaskFiles, Toml, Results, Lists, Levels)
}
