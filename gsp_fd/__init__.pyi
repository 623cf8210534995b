from gsp_fd.api import Action as Action
from gsp_fd.api import Heuristic as Heuristic
from gsp_fd.api import InputError as InputError
from gsp_fd.api import Model as Model
from gsp_fd.api import Result as Result
from gsp_fd.api import State as State
from gsp_fd.api import Task as Task
from gsp_fd.api import load as load
from gsp_fd.api import models as models
from gsp_fd.api import plan as plan
from gsp_fd.api import train as train

__all__ = [
    "Action",
    "Heuristic",
    "InputError",
    "Model",
    "Result",
    "State",
    "Task",
    "__version__",
    "load",
    "models",
    "plan",
    "train",
]
__version__: str
