"""Learned Q-functions: values of states and actions outside of a search."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from weakref import WeakKeyDictionary

from gsp_fd import _core
from gsp_fd.api.tasks import Action, PathLike, State, Task, state_numbers
from gsp_fd.inference import Device
from gsp_fd.model import Model as LoadedModel
from gsp_fd.model import QOfStates, task_fit_problems
from gsp_fd.model_format import ModelMetadata
from gsp_fd.model_library import installed_models, named_model

STATES_PER_CALL = 128


def models() -> list[str]:
    """The names of the models that are installed, yours and those that come with the package.

    >>> "blocksworld" in models()
    True
    """
    return list(dict.fromkeys(model.name for model in installed_models()))


class Model:
    """A learned Q-function Q(s, a): minus the estimated cost of action a in state s and of the way on to a goal.

    :param name: an ``.onnx`` file, the folder of a training run, or the name of an installed model (:func:`models`).
    :param device: ``auto`` (CUDA where it is usable), ``cpu`` or ``cuda``.

    >>> model = Model("blocksworld")
    >>> model
    <Model of blocksworld: 8 layers of width 32>
    """

    def __init__(self, name: PathLike, *, device: Device = "auto", threads: int = 1) -> None:
        self._loaded = LoadedModel(named_model(str(name)), device=device, threads=threads)
        self._functions: WeakKeyDictionary[Task, QOfStates] = WeakKeyDictionary()

    @property
    def path(self) -> Path:
        """The file."""
        return self._loaded.path

    @property
    def domain(self) -> str:
        """The name of the domain it was trained for."""
        return self._loaded.metadata.domain

    @property
    def metadata(self) -> ModelMetadata:
        """All that the file says about itself."""
        return self._loaded.metadata

    def fits(self, task: Task) -> bool:
        """Whether the model can judge states of the task: same predicates, schemas, types and constants."""
        return task.loaded.lifted is not None and not task_fit_problems(self.metadata, task.loaded.lifted)

    def q(self, state: State) -> dict[Action, float]:
        """Q of every applicable action, the best first; InputError if the model does not fit the task.

        >>> from gsp_fd import load
        >>> task = load("examples/blocksworld/domain.pddl", "examples/blocksworld/p01.pddl")
        >>> values = Model("blocksworld").q(task.initial)
        >>> print(next(iter(values)))
        (unstack b4 b1)
        """
        return self.q_batch([state])[0]

    def q_batch(self, states: Sequence[State]) -> list[dict[Action, float]]:
        """The same for states of one task, which costs less than one by one."""
        if not states:
            return []
        task, result = states[0].task, []
        numbers = state_numbers(task, states)
        if task not in self._functions:
            self._functions[task] = self._loaded.q_of_states(task.loaded)
        space = task._space
        assert isinstance(space, _core.LiftedSpace)
        for first in range(0, len(states), STATES_PER_CALL):
            rows = self._functions[task](space, numbers[first : first + STATES_PER_CALL])
            for state, row in zip(states[first:], rows, strict=False):
                pairs = [(state._action(operator), value) for operator, value in row]
                result.append(dict(sorted(pairs, key=lambda pair: (-pair[1], pair[0]))))
        return result

    def h(self, state: State) -> float:
        """The estimate of the cost to the goal: 0 in a goal, otherwise minus the largest Q; infinity in a dead end."""
        return self.h_batch([state])[0]

    def h_batch(self, states: Sequence[State]) -> list[float]:
        """The same for states of one task."""
        best = [-max(values.values(), default=-float("inf")) for values in self.q_batch(states)]
        return [0.0 if state.is_goal else value for state, value in zip(states, best, strict=True)]

    def __repr__(self) -> str:
        network = self.metadata.network
        return f"<Model of {self.domain}: {network.layers} layers of width {network.d}>"
