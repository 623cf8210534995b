"""Every hyper-parameter of training, in one place. The command line and the TOML file are made from this class."""

from __future__ import annotations

import functools
from dataclasses import dataclass, fields
from typing import Any, get_type_hints

from gsp_fd.common.errors import driver_error
from gsp_fd.model_format import NetworkConfig


@functools.cache
def documented(cls: type[Any]) -> dict[str, str]:
    """The doc strings under the fields of a dataclass."""
    import ast
    import inspect
    import textwrap

    body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    assert isinstance(body, ast.ClassDef)
    docs = {}
    for statement, following in zip(body.body, body.body[1:], strict=False):
        if isinstance(statement, ast.AnnAssign) and isinstance(following, ast.Expr):
            assert isinstance(statement.target, ast.Name)
            assert isinstance(following.value, ast.Constant)
            docs[statement.target.id] = " ".join(str(following.value.value).split())
    return docs


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """Hyper-parameters; the paper's values stand in brackets where it gives them."""

    # Network
    d: int = 32
    """Width of an embedding (paper: 32)."""
    layers: int = 8
    """Rounds of message passing (paper: not given)."""
    message_hidden: int = 48
    """A relation's MLP has arity * d hidden units, at most this many; 0: any number (paper: not given)."""
    aggregation: str = "max"
    """max, smoothmax or logsumexp (paper: smoothmax)."""
    alpha: float = 8.0
    """Inverse temperature of smoothmax and logsumexp (paper: not given)."""
    pool: str = "phi"
    """phi, sum or mean (paper: a permutation-invariant pool)."""
    readout: str = "sum"
    """sum: MLP(action) + MLP(pool), or concat: MLP([action, pool]) (paper: concat)."""
    goal_split: bool = True
    """Satisfied and unsatisfied goals in different relations (paper: no)."""
    relaxed_plan: str = "auto"
    """yes: the operators of hFF's relaxed plan are objects of the network, no, or auto: by validation (paper: no)."""

    # Search
    wastar_weights: tuple[float, ...] = (2.0, 5.0)
    """w of WA*; each episode takes one, more often those that solve more (paper: 2)."""
    budget: int = 250
    """Expansions of an episode (paper: 60 s)."""
    budget_growth: float = 8.0
    """An instance that stays unsolved gets up to this many times the budget: twice after two failures, and so on."""
    lockstep: int = 16
    """Episodes that share one call of the network (paper: batches of 256)."""
    symmetry: bool = True
    """One action per class of equivalent ones (paper: no)."""
    relaxed_dead_ends: bool = True
    """States with infinite hmax are dead ends (paper: only states without actions)."""
    guided: float = 0.5
    """Share of the episodes (with exact_states: of their time) in which WA* with hFF, or with hadd where effects are
    conditional, looks for the first plan of an instance, once for each (paper: 0)."""
    guide_seconds: float = 1.0
    """CPU time of such a search."""
    exact_states: int = 0
    """Instances with at most this many reachable states are searched exhaustively, once, in the place of that: what
    every action is worth on the ways to a goal is known then (paper: 0)."""

    # Instance selection
    pool_weights: tuple[float, float, float] = (2.0, 4.0, 1.0)
    """Weights of the pools unsolved, satisficed, solved (paper: exponential, satisficed most)."""
    by_size: float = 0.5
    """Share of the unsolved picks that prefer small instances (paper: 0)."""
    size_rank: float = 4.0
    """Mean rank by size of those picks."""
    varied: float = 0.5
    """Share of the instances whose goals are fewer or others, or that start elsewhere; of the validation instances too,
    unless they are given (paper: 0)."""

    # Learning
    learning_rate: float = 1e-3
    """Of the GNN, at the start (paper: 1e-4)."""
    readout_learning_rate: float = 2e-3
    """Of the readout, at the start (paper: 1e-3)."""
    final_rate: float = 0.05
    """Share of the learning rates that is left at the end of the cosine (paper: constant)."""
    warm_up: int = 100
    """Steps to the full learning rate."""
    batch_size: int = 32
    """Transitions per gradient step (paper: 256)."""
    path_share: float = 0.5
    """Share of a batch from solution paths (paper: 0)."""
    exact_share: float = 0.5
    """Share of a batch from exhausted state spaces, where there are any (paper: 0)."""
    ranking: float = 0.0
    """Weight of a second loss on these: -log of the probability of a best action by softmax(Q) (paper: 0)."""
    replay: int = 50_000
    """Transitions in the FIFO replay buffer (paper: 40 batches of 256)."""
    target_sync: int = 30
    """Steps between two copies to the target network (paper: 10 passes through the replay buffer)."""
    gradient_clip: float = 1.0
    """Largest norm of the gradient."""
    huber: bool = True
    """Huber loss (paper: mean squared error)."""
    average: float = 0.99
    """Decay of the averaged weights, which search, validation and export use (paper: none)."""
    learn_share: float = 0.6
    """Share of the time for learning; the rest is search."""
    dead_end_return: float = 0.0
    """R of dead ends; 0: below the longest plan expected (paper: fixed, not given)."""

    # Ablations of the paper
    dead_end_supervision: bool = True
    """Learn from dead ends."""
    solution_bounds: bool = True
    """Use the returns of found plans as lower bounds."""
    uniform_sampling: bool = False
    """Draw instances uniformly."""

    # Run
    minutes: float = 10.0
    """Wall-clock time of training."""
    device: str = "auto"
    """Where the learner computes: cpu, cuda, or auto: cuda where it works (paper: a GPU)."""
    validate_every: float = 60.0
    """Seconds between validations."""
    validation_share: float = 0.15
    """Share of the time that validations may take, without workers; what is not done by then goes on later."""
    validation_steps: float = 3.0
    """A validation rollout may take this many times what that heuristic says of the start, and 20 steps more."""
    checkpoint_every: float = 30.0
    """Seconds between checkpoints, which is what a crash can lose; at most 60."""
    worker_seconds: float = 0.5
    """Seconds a worker searches before it sends its episodes and takes new weights."""
    staleness: int = 2000
    """Episodes found with weights older than this many gradient steps are dropped."""
    frozen: bool = False
    """Never learn: to see that learning is what helps."""
    seed: int = 0
    """Random seed."""

    def __post_init__(self) -> None:
        self.network()
        if self.relaxed_plan not in ("auto", "yes", "no"):
            raise driver_error(f"relaxed_plan is {self.relaxed_plan!r}; it must be auto, yes or no")
        if self.device not in ("auto", "cpu", "cuda"):
            raise driver_error(f"device is {self.device!r}; it must be auto, cpu or cuda")
        positive = ("budget", "guide_seconds", "lockstep", "batch_size", "replay", "target_sync", "minutes")
        for name in (*positive, "learning_rate"):
            if not getattr(self, name) > 0:
                raise driver_error(f"{name} must be positive")
        for name in ("by_size", "guided", "path_share", "exact_share", "learn_share", "average", "validation_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise driver_error(f"{name} must lie between 0 and 1")
        for name in ("exact_states", "ranking"):
            if not getattr(self, name) >= 0:
                raise driver_error(f"{name} must not be negative")
        if not 0 <= self.varied < 1:
            raise driver_error("varied must be at least 0 and less than 1")
        if not 0 < self.checkpoint_every <= 60:
            raise driver_error("checkpoint_every must lie between 0 and 60 seconds")
        if not self.wastar_weights or len(self.pool_weights) != 3:
            raise driver_error("wastar_weights needs at least one number, pool_weights three")

    def network(self) -> NetworkConfig:
        """The part that concerns the network."""
        values = {field.name: getattr(self, field.name) for field in fields(NetworkConfig) if hasattr(self, field.name)}
        return NetworkConfig(**values)

    @classmethod
    def types(cls) -> dict[str, Any]:
        """Field names and types."""
        hints = get_type_hints(cls)
        return {field.name: hints[field.name] for field in fields(cls)}
