"""Native core: tasks, states, heuristics and search."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


class CoreInputError(ValueError):
    pass

class Stopped(RuntimeError):
    pass

class GroundTask:
    """A ground task in finite-domain form."""

    @staticmethod
    def from_sas(text: bytes) -> GroundTask:
        """Reads a SAS version 3 file; raises InputError(message, line)."""

    def to_sas(self) -> bytes: ...

    def __getstate__(self) -> tuple[bytes]: ...

    def __setstate__(self, arg: tuple[bytes], /) -> None: ...

    @property
    def num_variables(self) -> int: ...

    @property
    def num_derived_variables(self) -> int: ...

    @property
    def num_facts(self) -> int: ...

    @property
    def num_goals(self) -> int: ...

    @property
    def num_mutex_groups(self) -> int: ...

    @property
    def mutex_groups_size(self) -> int: ...

    @property
    def num_operators(self) -> int: ...

    @property
    def num_axioms(self) -> int: ...

    @property
    def unit_cost(self) -> bool: ...

    @property
    def encoding_size(self) -> int: ...

    def operator_name(self, arg: int, /) -> str: ...

SMALL_GROUNDING: int

class LiftedTask:
    """A lifted task, made from gsp_fd.pddl.LiftedTask."""

    @staticmethod
    def from_spec(spec: object) -> LiftedTask: ...

    @property
    def strips(self) -> bool:
        """Whether it has no disjunctions, conditional effects or derived predicates."""

    @property
    def conditional(self) -> bool:
        """Whether some action has conditional effects."""

    def circle_through_negation(self, max_time: float | None = None, max_memory_kb: int | None = None) -> list[int]:
        """
        Predicates of ground atoms that depend on their own negation, if there are any; raises Stopped at a limit.
        """

    def ground(self, max_time: float | None = None, max_memory_kb: int | None = None, progress: object | None = None) -> GroundTask:
        """The ground task; raises Stopped at a limit."""

    def ground_up_to(self, max_actions: int, max_time: float | None = None, max_memory_kb: int | None = None, progress: object | None = None) -> GroundTask | None:
        """The ground task, or None if it has more actions; raises Stopped at a limit."""

class StateSpace:
    """Numbered states and operators of a task."""

    def initial_state(self) -> int: ...

    def is_goal(self, arg: int, /) -> bool: ...

    def applicable(self, state: int) -> list[int]:
        """Operators applicable in a state."""

    def apply(self, state: int, op: int) -> int:
        """The state that an applicable operator leads to."""

    def expand(self, state: int) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32]]:
        """Applicable operators and the states they lead to, as two arrays."""

    def cost(self, arg: int, /) -> int: ...

    def operator_name(self, arg: int, /) -> str: ...

    @property
    def num_states(self) -> int: ...

    @property
    def unit_cost(self) -> bool: ...

class GroundSpace(StateSpace):
    """Packed states of a ground task."""

    def __init__(self, task: GroundTask) -> None: ...

    def export_state(self, state: int) -> NDArray[numpy.int32]:
        """Values of all variables, as an array that can be pickled."""

    def import_state(self, values: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> int: ...

class LiftedSpace(StateSpace):
    """States of a lifted task as sets of atoms."""

    def __init__(self, task: LiftedTask, symmetry: bool = False, relevant_only: bool = False) -> None: ...

    @property
    def generated_actions(self) -> int: ...

    @property
    def represented_actions(self) -> float: ...

    def action(self, op: int) -> list[int]:
        """(schema, objects...) of an operator."""

    def export_state(self, state: int) -> NDArray[numpy.int32]:
        """
        Fluent atoms as (predicate, objects...) one after another, as an array that can be pickled.
        """

    def import_state(self, atoms: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> int: ...

class EncodedBatch:
    """Index tensors of a batch of states; the arrays are views."""

    @property
    def relations(self) -> list[NDArray[numpy.int64]]: ...

    @property
    def messages(self) -> int:
        """Arguments of all atoms."""

    @property
    def node_state(self) -> NDArray[numpy.int64]: ...

    @property
    def action_node(self) -> NDArray[numpy.int64]: ...

    @property
    def action_state(self) -> NDArray[numpy.int64]: ...

    @property
    def state_sizes(self) -> NDArray[numpy.float32]: ...

class Encoder:
    """States with their actions as tensors of a relational network."""

    def __init__(self, task: LiftedTask, relations: Sequence[tuple[str, int, int]]) -> None:
        """
        relations: (kind, number in the task or -1, columns) in the model's order.
        """

    def encode(self, space: LiftedSpace, states: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], begin: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], operators: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], plans: Heuristic | None = None) -> EncodedBatch:
        """
        operators[begin[i]:begin[i + 1]] are the actions of states[i]; Q-values come in this order. plans: a heuristic with relaxed plans, if the encoder takes them.
        """

class Network:
    """
    Q(s, a) of a relational network with max aggregation and a sum as its readout, on the CPU.
    """

    def __init__(self, *, d: int, layers: int, pool: str, relations: Sequence[tuple[str, int, int]], weights: Mapping[str, Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]], kept: int = 200000) -> None:
        """
        relations: (name, arity, hidden units); weights: the flat arrays of the ONNX file by name; kept: classes of nodes whose embeddings are kept from one call to the next, about.
        """

    def q_values(self, batch: EncodedBatch) -> NDArray[numpy.float32]:
        """Q of every action of the batch, in its order."""

    messages_per_call: float = 100000.0

@overload
def q_heuristic(encoder: Encoder, q_function: Network, *, plans: Heuristic | None = None, messages_per_call: float, name: str, model: str) -> Heuristic:
    """-Q(s, a) of a native network as a heuristic."""

@overload
def q_heuristic(encoder: Encoder, q_function: Callable[[EncodedBatch], NDArray[numpy.float32]], *, plans: Heuristic | None = None, messages_per_call: float, name: str, model: str, cancel: Callable[[], None] | None = None) -> Heuristic:
    """
    The same of a function that maps an encoded batch to float32 values, or raises MemoryError if it is too large. The search calls it in another thread; cancel() makes a call that is under way end soon.
    """

def applicable_rows(space: StateSpace, states: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32]]:
    """Applicable operators of several states: (begin, operators)."""

class Evaluator:
    """A number for every state of a search."""

class Heuristic(Evaluator):
    """An evaluator that estimates the cost to the goal."""

    @property
    def name(self) -> str: ...

    @property
    def explorations(self) -> int:
        """States of which a delete relaxation was explored."""

    def evaluate(self, space: StateSpace, states: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]:
        """Values of states, infinity for dead ends."""

    def preferred(self, space: StateSpace, state: int) -> list[int]:
        """Operators that the heuristic prefers in a state."""

    def along(self, space: StateSpace, operators: Sequence[int]) -> NDArray[numpy.float64]:
        """
        Values of the states on a path from the initial state; the operators must be applicable.
        """

    def relaxed_plan(self, space: StateSpace, state: int) -> tuple[float, list[list[int]], list[list[int]]]:
        """
        The value of a state, the operators of the relaxed plan behind it as (schema, objects...), and where actions have conditional effects, the atoms that it makes true as (predicate, objects...).
        """

def heuristic(kind: str, task: GroundTask | LiftedTask, cost_type: str = 'normal', name: str | None = None, max_time: float | None = None, max_memory_kb: int | None = None, progress: object | None = None, axioms: str = 'approximate_negative_cycles') -> Heuristic:
    """
    A heuristic of the core by its name in the search language. Made for a lifted task it needs no grounding; raises Stopped at a limit.
    """

class Landmarks:
    """Facts, or disjunctions of facts, that are true at some time in every plan."""

    @property
    def facts(self) -> list[list[tuple[int, int]]]:
        """(variable, value) of the facts of every landmark."""

    @property
    def orderings(self) -> list[tuple[int, int, str]]:
        """(before, after, kind) by the numbers of landmarks."""

def landmarks(task: GroundTask, disjunctive_landmarks: bool = True, use_orders: bool = True, reasonable_orders: bool = True, axioms: str = 'approximate_negative_cycles', max_time: float | None = None, max_memory_kb: int | None = None, log: object | None = None) -> Landmarks:
    """The landmarks of a task by backchaining (RHW); raises Stopped at a limit."""

def landmark_sum(landmarks: Landmarks, cost_type: str = 'normal', name: str = 'landmark_sum', pref: bool = False, prog_goal: bool = True, prog_gn: bool = True, prog_r: bool = True) -> Heuristic:
    """The costs of the landmarks that must still become true."""

def goal_sum(task: LiftedTask, cost_type: str = 'normal', name: str = 'landmark_sum') -> Heuristic:
    """The same where the goals have to stand for the landmarks."""

def g() -> Evaluator: ...

def const(value: float) -> Evaluator: ...

def weight(evaluator: Evaluator, weight: float) -> Evaluator: ...

def sum(evaluators: Sequence[Evaluator]) -> Evaluator: ...

def max(evaluators: Sequence[Evaluator]) -> Evaluator: ...

def depth() -> Evaluator: ...

def regret(q: Heuristic) -> Evaluator: ...

def levin(q: Heuristic, temperature: float) -> Evaluator: ...

def phs(q: Heuristic, h: Evaluator, temperature: float, star: bool) -> Evaluator: ...

class OpenList:
    pass

def SingleOpenList(evaluator: Evaluator, pref_only: bool = False) -> OpenList: ...

def TieBreakingOpenList(evaluators: Sequence[Evaluator], pref_only: bool = False, unsafe_pruning: bool = True) -> OpenList: ...

def DepthFirstOpenList(evaluator: Evaluator) -> OpenList: ...

def AlternationOpenList(lists: Sequence[OpenList], boost: int = 0) -> OpenList: ...

class SearchResult:
    @property
    def status(self) -> str: ...

    @property
    def complete(self) -> bool: ...

    @property
    def bounded(self) -> bool: ...

    @property
    def plan(self) -> list[int]: ...

    @property
    def plan_cost(self) -> int: ...

    @property
    def expanded(self) -> int: ...

    @property
    def reopened(self) -> int: ...

    @property
    def evaluated(self) -> int: ...

    @property
    def evaluations(self) -> int: ...

    @property
    def generated(self) -> int: ...

    @property
    def dead_ends(self) -> int: ...

    @property
    def jumped(self) -> bool: ...

    @property
    def expanded_until_last_jump(self) -> int: ...

    @property
    def reopened_until_last_jump(self) -> int: ...

    @property
    def evaluated_until_last_jump(self) -> int: ...

    @property
    def generated_until_last_jump(self) -> int: ...

    @property
    def registered_states(self) -> int: ...

    @property
    def search_time(self) -> float: ...

    @property
    def bytes_per_state(self) -> float: ...

def search(space: StateSpace, open_list: OpenList, *, f_eval: Evaluator | None = None, preferred: Sequence[Heuristic] = [], dead_ends: Heuristic | None = None, lazy: bool = False, reopen_closed: bool = False, cost_type: str = 'normal', bound: int | None = None, max_time: float | None = None, max_expansions: int | None = None, max_memory_kb: int | None = None, batch_size: int = 1, randomize_successors: bool = False, preferred_successors_first: bool = False, random_seed: int = 0, log: Callable[[str], object] | None = None, progress: Callable[[int, int, float], object] | None = None) -> SearchResult:
    """
    Best-first search from the initial state of a space that has only that state.
    """

def improve_plan(task: GroundTask | LiftedTask, plan: Sequence[str], found: Callable[[str, list[str], list[int], float], object], *, max_time: float | None = None, max_memory_kb: int | None = None, max_states: int = 2000000, random_seed: int = 0) -> str:
    """
    Calls found(method, actions, costs, seconds) with better and better plans, given and returned as names of operators, until nothing helps any more ('done') or at a limit ('time', 'memory', 'interrupted').
    """

def set_last_resort(seconds: float, exit_code: int) -> None:
    """
    Ends the process after some CPU seconds in user mode, whatever it is doing; 0 seconds: not any more.
    """

class Episode:
    """A search episode of GSP that waits for Q-values."""

    def __init__(self, task: LiftedTask, *, weight: float = 2.0, budget: int = 400, greedy: bool = False, symmetry: bool = True, dead_ends: Heuristic | None = None, guide: Heuristic | None = None, guide_seconds: float = ..., exact_states: int = 0, plans: Heuristic | None = None) -> None: ...

    def advance(self) -> bool:
        """
        Goes on until Q-values of `pending` are needed (True) or the episode is over (False).
        """

    @property
    def pending(self) -> int: ...

    def feed(self, q: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def num_actions(self, arg: int, /) -> int: ...

    @property
    def solved(self) -> bool: ...

    @property
    def exact(self) -> bool:
        """Whether the state space was searched exhaustively."""

    @property
    def expansions(self) -> int: ...

    @property
    def plan_length(self) -> int: ...

    @property
    def plan(self) -> list[str]: ...

    def export(self, plan_only: bool = False) -> NDArray[numpy.int32]:
        """
        The episode, or its plan with the states on it, as one int32 array that another process can restore.
        """

    @staticmethod
    def restore(task: LiftedTask, record: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Episode:
        """A finished episode from its export, for the same task."""

    def transitions(self) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.float32], NDArray[numpy.int8]]:
        """
        Columns state, action, successor, cost, bound and kind (0 inner, 1 goal, 2 dead end, 3 exact).
        """

def encode_states(encoders: Sequence[Encoder], episodes: Sequence[Episode], states: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> EncodedBatch: ...

def feed_all(episodes: Sequence[Episode], q: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
    """
    Gives the pending states of episodes their values, which stand one after another.
    """
