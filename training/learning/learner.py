"""Q-learning with lower bounds: replay, targets, gradient steps, averaged weights."""

from __future__ import annotations

import copy
import itertools
import math
import random
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional

from gsp_fd import _core
from gsp_fd.model_format import ModelMetadata
from gsp_fd.training.config import TrainingConfig
from gsp_fd.training.device import choose_device
from gsp_fd.training.instances import TrainingInstance
from gsp_fd.training.learning.episodes import QFunction
from gsp_fd.training.network import GraphBatch, RelationalNetwork

INNER, GOAL, DEAD_END, EXACT = 0, 1, 2, 3
DIVERGED = 10.0
"""A loss as if all values were this many times the worst possible return means that learning diverges."""


class DivergedError(Exception):
    """The loss is not a number, or far larger than errors in the range of the targets can make it."""


@dataclass(slots=True)
class Sample:
    """A transition with the episode that holds its states."""

    instance: TrainingInstance
    episode: _core.Episode
    state: int
    action: int
    successor: int
    cost: int
    bound: float
    kind: int


@dataclass
class Replay:
    """First in, first out."""

    capacity: int
    samples: list[Sample] = field(default_factory=list)
    _next: int = 0

    def add(self, sample: Sample) -> None:
        """Replaces the oldest sample once the buffer is full."""
        if len(self.samples) < self.capacity:
            self.samples.append(sample)
        else:
            self.samples[self._next] = sample
            self._next = (self._next + 1) % self.capacity

    def draw(self, count: int, rng: random.Random) -> list[Sample]:
        """Samples with replacement."""
        return rng.choices(self.samples, k=count)


def samples_of(instance: TrainingInstance, episode: _core.Episode) -> list[Sample]:
    """The transitions of an episode."""
    columns = [column.tolist() for column in episode.transitions()]
    return [Sample(instance, episode, *row) for row in zip(*columns, strict=True)]


def encode(samples: list[Sample], states: list[int]) -> _core.EncodedBatch:
    """States of the samples' episodes as one batch."""
    return _core.encode_states(
        [sample.instance.encoder for sample in samples],
        [sample.episode for sample in samples],
        np.array(states, np.int32),
    )


def encode_actions(samples: list[Sample]) -> tuple[_core.EncodedBatch, npt.NDArray[np.int64]]:
    """The states of the samples, each of them once, and where the Q-values of the samples' actions will be."""
    distinct: dict[tuple[int, int], Sample] = {}
    for sample in samples:
        distinct.setdefault((id(sample.episode), sample.state), sample)
    batch = encode(list(distinct.values()), [sample.state for sample in distinct.values()])
    first = np.concatenate([[0], np.cumsum(np.bincount(batch.action_state, minlength=len(distinct)))[:-1]])
    begin = dict(zip(distinct, first.tolist(), strict=True))
    return batch, np.array([begin[id(sample.episode), sample.state] + sample.action for sample in samples])


def ranking_loss(values: torch.Tensor, targets: torch.Tensor, sizes: list[int]) -> torch.Tensor:
    """-log of the probability of a best action by softmax(Q), for groups of so many actions of one state each."""

    def padded(of: torch.Tensor) -> torch.Tensor:
        groups = list(torch.split_with_sizes(of, sizes))
        return nn.utils.rnn.pad_sequence(groups, batch_first=True, padding_value=-math.inf)

    q, worth = padded(values), padded(targets)
    best = worth == worth.amax(dim=1, keepdim=True)
    return (q.logsumexp(dim=1) - q.masked_fill(~best, -math.inf).logsumexp(dim=1)).mean()


def q_values(network: RelationalNetwork, batch: _core.EncodedBatch) -> npt.NDArray[np.float32]:
    """Q-values [A] of a native encoded batch."""
    with torch.inference_mode():
        q: npt.NDArray[np.float32] = network(GraphBatch.from_encoded(batch, network.device)).cpu().numpy()
    return q


def frozen(network: RelationalNetwork) -> QFunction:
    """The Q-function of a network's present weights, whatever it learns later."""
    return partial(q_values, copy.deepcopy(network))


class Learner:
    """A network, its target network and its average, trained on two replay buffers."""

    def __init__(self, metadata: ModelMetadata, config: TrainingConfig, dead_end_return: float) -> None:
        torch.manual_seed(config.seed)
        self.config = config
        self.dead_end_return = dead_end_return
        self.device = choose_device(config.device)
        self.network = RelationalNetwork(metadata.relations, metadata.network).to(self.device)
        self.target = copy.deepcopy(self.network).requires_grad_(False)
        self.average = copy.deepcopy(self.network).requires_grad_(False)
        groups = self.network.parameter_groups()
        self.rates = (config.learning_rate, config.readout_learning_rate)
        self.optimizer = torch.optim.Adam(
            [{"params": group, "lr": rate} for group, rate in zip(groups, self.rates, strict=True)],
            betas=(0.9, 0.99),
            fused=True,
        )
        self._parameters: list[torch.Tensor] = list(self.network.parameters())
        self._averages: list[torch.Tensor] = list(self.average.parameters())
        self.replay = Replay(config.replay)
        self.paths = Replay(config.replay)
        self.exact: list[list[Sample]] = []
        """By state: what each of its actions is worth is known for good."""
        self.rng = random.Random(config.seed + 1)
        self.steps = 0
        self.loss = math.nan
        self.rate_factor = 1.0

    def start_from(self, network: RelationalNetwork) -> None:
        """Takes over the weights of a network of the same sizes."""
        for own in (self.network, self.target, self.average):
            own.load_state_dict(network.state_dict())

    def take(self, instance: TrainingInstance, episode: _core.Episode) -> None:
        """Puts the transitions of an episode into the replay buffers."""
        samples = samples_of(instance, episode)
        if episode.exact:
            self.exact += [list(group) for _, group in itertools.groupby(samples, lambda sample: sample.state)]
        for sample in samples:
            if sample.kind == DEAD_END and not self.config.dead_end_supervision:
                continue
            if not self.config.solution_bounds and sample.kind != EXACT:
                sample.bound = -math.inf
            self.replay.add(sample)
            if sample.bound > -math.inf or sample.kind == GOAL:
                self.paths.add(sample)

    @property
    def ready(self) -> bool:
        """Whether there is enough to learn from."""
        return len(self.replay.samples) >= 10 * self.config.batch_size

    def step(self, progress: float) -> None:
        """One gradient step; ``progress`` in [0, 1] is the share of training that is over."""
        config = self.config
        self._set_rates(progress)
        others, groups = self._draw()
        samples = [*others, *itertools.chain.from_iterable(groups)]
        targets = torch.from_numpy(self.targets(samples)).to(self.device)
        batch, places = encode_actions(samples)
        chosen = torch.from_numpy(places).to(self.device)
        values = self.network(GraphBatch.from_encoded(batch, self.device)).index_select(0, chosen)
        loss = functional.smooth_l1_loss(values, targets) if config.huber else functional.mse_loss(values, targets)
        if config.ranking and groups:
            sizes = [len(group) for group in groups]
            loss = loss + config.ranking * ranking_loss(values[len(others) :], targets[len(others) :], sizes)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self._parameters, config.gradient_clip, foreach=True)
        self.optimizer.step()
        self.steps += 1
        value = loss.item()
        self._check(value)
        self.loss = value if math.isnan(self.loss) else 0.98 * self.loss + 0.02 * value
        self._follow()

    def _draw(self) -> tuple[list[Sample], list[list[Sample]]]:
        """A batch: transitions, and states of exhausted state spaces, each with all its actions."""
        config = self.config
        from_exact = int(config.batch_size * config.exact_share) if self.exact else 0
        others = config.batch_size - from_exact
        from_paths = int(others * config.path_share) if len(self.paths.samples) >= 50 else 0
        samples = self.replay.draw(others - from_paths, self.rng)
        samples += self.paths.draw(from_paths, self.rng) if from_paths else []
        return samples, self.rng.choices(self.exact, k=from_exact) if from_exact else []

    def _check(self, loss: float) -> None:
        limit = (DIVERGED * -self.dead_end_return) ** (1 if self.config.huber else 2)
        if not math.isfinite(loss) or (self.steps > self.config.warm_up and self.loss > limit):
            raise DivergedError(f"the loss is {loss:.3g} after {self.steps} steps")

    def targets(self, samples: list[Sample]) -> npt.NDArray[np.float32]:
        """y = max(bound, -cost + max_a' Q'(s', a')), or what is known for good: of dead ends, goals, exact values."""
        worst = self.dead_end_return
        y = np.array([worst if sample.kind == DEAD_END else -sample.cost for sample in samples], np.float32)
        inner = [i for i, sample in enumerate(samples) if sample.kind == INNER]
        if inner:
            chosen = [samples[i] for i in inner]
            batch = encode(chosen, [sample.successor for sample in chosen])
            best = np.full(len(inner), -np.inf, np.float32)
            np.maximum.at(best, batch.action_state, q_values(self.target, batch))
            # A state that is not a goal is at least one action away from it.
            y[inner] += np.minimum(best, -1.0)
        bounds = np.array([sample.bound for sample in samples], np.float32)
        is_exact = np.array([sample.kind == EXACT for sample in samples])
        y = np.where(is_exact, bounds, np.maximum(y, bounds))
        return np.asarray(np.maximum(y, np.float32(worst)))

    def _set_rates(self, progress: float) -> None:
        config = self.config
        cosine = 0.5 * (1 + math.cos(math.pi * min(1.0, progress)))
        factor = (config.final_rate + (1 - config.final_rate) * cosine) * min(1.0, (self.steps + 1) / config.warm_up)
        for group, rate in zip(self.optimizer.param_groups, self.rates, strict=True):
            group["lr"] = rate * factor * self.rate_factor

    @torch.no_grad()
    def _follow(self) -> None:
        """Moves the average, and now and then the target."""
        decay = min(self.config.average, (self.steps + 1) / (self.steps + 10))
        torch._foreach_lerp_(self._averages, self._parameters, 1 - decay)
        if self.steps % self.config.target_sync == 0:
            self.target.load_state_dict(self.network.state_dict())

    def q_function(self, batch: _core.EncodedBatch) -> npt.NDArray[np.float32]:
        """Q-values of the averaged network for a native encoded batch."""
        return q_values(self.average, batch)
