"""Building components for one task: evaluators, open lists and searches of the native core."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from gsp_fd import _core
from gsp_fd.common.errors import InputError
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.fd_integration.language.features import Component
from gsp_fd.fd_integration.language.syntax import MAX_INT

if TYPE_CHECKING:
    from gsp_fd.inference import Device
    from gsp_fd.model import Model
    from gsp_fd.pddl import LiftedTask
    from gsp_fd.task import Task, TaskLimits


UNLIMITED_SECONDS = 1800.0
"""What shares of the time are shares of where there is no limit: the time that planners have in competitions."""

DEFAULT_AXIOMS = "approximate_negative_cycles"
"""How heuristics see negated derived facts, where nobody says another way."""


@dataclass(frozen=True, kw_only=True)
class SearchSpec:
    """One best-first search, ready for the native loop."""

    description: str
    kind: str | None = None
    """What it is called in the log, where "(lazy) best first search" says too little."""
    open_list: _core.OpenList
    f_eval: _core.Evaluator | None = None
    """Reports jumps of f (A*), for the "until last jump" statistics."""
    preferred: tuple[_core.Heuristic, ...] = ()
    dead_ends: _core.Heuristic | None = None
    """Finds dead ends and orders nothing."""
    lazy: bool = False
    reopen_closed: bool = False
    randomize_successors: bool = False
    preferred_successors_first: bool = False
    random_seed: int = 0
    batch_size: int
    cost_type: str = "normal"
    bound: int
    max_time: float
    max_expansions: int = MAX_INT
    verbosity: str = "normal"


@dataclass(frozen=True, kw_only=True)
class IteratedSpec:
    """Several searches one after another; the phases are built one by one, when their turn comes."""

    description: str
    phases: tuple[Component, ...]
    pass_bound: bool
    repeat_last: bool
    continue_on_fail: bool
    continue_on_solve: bool
    bound: int
    max_time: float
    shares: tuple[float, ...] = ()
    """Of the time that is left when a phase starts, what it may use; phases without a share may use all of it."""
    numbered: bool = True
    """Whether every plan gets a file of its own."""


@dataclass
class Context:
    """The task that components are built for. A component is built once per context and cost type."""

    task: Task
    ground: _core.GroundTask | None = None
    """The ground task of the native core; None if nothing asks for it, or if it would be large."""
    models: list[Model] = field(default_factory=list)
    """The models of the learned heuristics built so far."""
    symmetries: set[str] = field(default_factory=set)
    """What these heuristics say about symmetry: there is none if one of them wants none."""
    on_lifted: bool = False
    """Searches run on the lifted task, even if it was grounded for some heuristic."""
    limits: Callable[[], TaskLimits] | None = None
    """What is left of the limits of the search, for what takes long to build."""
    log: Callable[[str], None] = lambda line: None
    """Told of what is found while components are built."""
    cost_type: str = "normal"
    _built: dict[tuple[int, str], tuple[Component, Any]] = field(default_factory=dict)
    _loaded: dict[tuple[str, str, int], Model] = field(default_factory=dict)
    """Models, for all searches of the run: what a network remembers of states serves the next search too."""
    _beside_learned: dict[tuple[str, ...], _core.Heuristic] = field(default_factory=dict)
    _landmarks: dict[tuple[object, ...], _core.Landmarks | None] = field(default_factory=dict)
    """By the options that they were found with; shared by all searches on the task."""

    def build(self, component: Component) -> Any:
        """The native object (or spec) of a component; the same object for the same component."""
        key = (id(component), self.cost_type)
        if key not in self._built:
            values = {
                parameter.name: self._value(component.values[parameter.name], parameter.deferred)
                for parameter in component.feature.parameters
            }
            # The component is kept beside its object, so that its id stays its own.
            self._built[key] = (component, component.feature.build(self, values))
        return self._built[key][1]

    def _value(self, value: Any, deferred: bool) -> Any:
        if deferred:
            return value
        if isinstance(value, list):
            return [self._value(item, deferred) for item in value]
        return self.build(value) if isinstance(value, Component) else value

    def new_space(self) -> _core.GroundSpace | _core.LiftedSpace:
        """A state space with nothing but the initial state; every search needs its own."""
        if self.ground is not None and not self.on_lifted:
            return _core.GroundSpace(self.ground)
        # Models were trained with all actions, whether a plan may need them or not.
        return _core.LiftedSpace(self.task.native_lifted(), "none" not in self.symmetries, not self.models)

    def lifted_task(self, feature: str) -> LiftedTask:
        """The lifted task, for a feature that needs objects and schemas."""
        if self.task.lifted is None:
            message = f"{feature} needs the lifted task, but the task came as SAS"
            raise InputError(message, exit_code=ExitCode.SEARCH_UNSUPPORTED)
        return self.task.lifted

    def model(self, name: str, device: Device, threads: int) -> Model:
        """The model that a learned heuristic names, loaded once."""
        from gsp_fd.model import Model
        from gsp_fd.model_library import find_model

        key = (name, device, threads)
        if key not in self._loaded:
            self._loaded[key] = Model(find_model(name, self.lifted_task("gsp")), device=device, threads=threads)
        self.models.append(self._loaded[key])
        return self._loaded[key]

    def heuristic(self, kind: str, name: str, axioms: str = DEFAULT_AXIOMS) -> _core.Heuristic:
        """A heuristic of the native core under the cost type of this context; LimitReached if it takes too much.

        Beside learned heuristics there is one of each kind, so that states are explored once for its values and for the
        relaxed plans that the network sees.
        """
        if not self.on_lifted:
            return self._new_heuristic(kind, name, axioms)
        key = (kind, name, axioms, self.cost_type)
        if key not in self._beside_learned:
            self._beside_learned[key] = self._new_heuristic(kind, name, axioms)
        return self._beside_learned[key]

    def relaxed_plans(self) -> _core.Heuristic:
        """What knows the relaxed plans that models see, at the real costs as in training."""
        return replace(self, cost_type="normal").heuristic("ff", "ff")

    def _new_heuristic(self, kind: str, name: str, axioms: str) -> _core.Heuristic:
        if self.ground is not None:
            return _core.heuristic(kind, self.ground, self.cost_type, name, axioms=axioms)
        return self.task.heuristic(kind, self.cost_type, name, *([self.limits()] if self.limits else []))

    def landmarks(self, log: Callable[[str], None], **options: Any) -> _core.Landmarks | None:
        """The landmarks of the task, found once; None if it is too large. LimitReached if they take too much."""
        key = tuple(options.values())
        if key not in self._landmarks:
            log("Initializing landmark sum heuristic...")
            limits = [self.limits()] if self.limits else []
            self._landmarks[key] = self.task.landmarks(*limits, log=log, **options)
            if self._landmarks[key] is None:
                log("The task is too large to look for landmarks: only its goals are taken for them.")
        return self._landmarks[key]

    def heuristics_among(self, evaluators: list[_core.Evaluator]) -> tuple[_core.Heuristic, ...]:
        """Those that can prefer operators: expressions over evaluators never do."""
        return tuple(evaluator for evaluator in evaluators if isinstance(evaluator, _core.Heuristic))

    def fresh(self) -> Context:
        """The same context with nothing built yet: evaluators belong to one search."""
        return replace(self, _built={}, _beside_learned={}, models=[], symmetries=set())

    def for_search(self, component: Component) -> Context:
        """A fresh context for one of several searches: on the lifted task for a learned one, for others on the ground
        task where that is small. LimitReached if it takes too much to make that.
        """
        ground = self.ground
        if ground is None and component.wants_ground:
            ground = self.task.ground_if_small(*([self.limits()] if self.limits else []))
        return replace(self.fresh(), ground=ground, on_lifted=component.learned)

    def with_cost_type(self, cost_type: str) -> Context:
        """The same context for a task whose costs are adjusted once more; built objects are shared."""
        return replace(self, cost_type=compose_cost_types(self.cost_type, cost_type))


def compose_cost_types(outer: str, inner: str) -> str:
    """The cost type that equals adjusting costs by ``outer`` and then by ``inner``."""
    if "one" in (outer, inner):
        return "one"
    if outer == inner == "plusone":
        message = "plusone costs of plusone costs are not supported"
        raise InputError(message, exit_code=ExitCode.SEARCH_UNSUPPORTED)
    return inner if outer == "normal" else outer
