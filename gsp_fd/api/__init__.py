"""The planner for Python programs and notebooks: ``import gsp_fd`` and these names are there.

Nothing is done twice: searches run through ``fd_integration/run``, trainings through ``training/run``, as those of the
command line do. Names are loaded on first use, so that ``import gsp_fd`` costs nothing.
"""

from gsp_fd.api.models import Model, models
from gsp_fd.api.planning import Result, plan
from gsp_fd.api.tasks import Action, Heuristic, State, Task, load
from gsp_fd.api.training import train
from gsp_fd.common.errors import InputError

__all__ = ["Action", "Heuristic", "InputError", "Model", "Result", "State", "Task", "load", "models", "plan", "train"]
