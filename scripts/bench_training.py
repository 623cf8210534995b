"""How fast training is: transitions and gradient steps per second, where the time goes, and two comparisons.

1. One process takes turns at searching and learning, on generated Blocksworld instances. Shares of its wall time:
   forward, backward, optimiser, encoding; the rest is Python and native search.
2. The fused kernel against grouped torch operations: forward and backward on the same batch, one thread.
3. Search workers: transitions of two against those of one, with nothing else to do for the machine.

Run it on an idle machine: python scripts/bench_training.py [--seconds 30] [--no-workers]
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from gsp_fd import _core
from gsp_fd.export.writer import model_bytes
from gsp_fd.generate import domain_text, generate_set
from gsp_fd.training.checkpoint import Checkpoint
from gsp_fd.training.config import TrainingConfig
from gsp_fd.training.fused import library
from gsp_fd.training.instance_sets import InstanceSets, load_sets
from gsp_fd.training.learning.learner import Learner
from gsp_fd.training.learning.trainer import Trainer
from gsp_fd.training.learning.validation import Score
from gsp_fd.training.learning.workers import Fleet
from gsp_fd.training.network import GraphBatch, Kernel, RelationalNetwork
from gsp_fd.training.progress import Watchers

SIZES = (4, 18)
STATES = 64


class Nowhere:
    """A store that keeps nothing."""

    def save(self, checkpoint: Checkpoint) -> None:
        """Drops a checkpoint."""

    def keep_best(self, checkpoint: Checkpoint, score: Score) -> None:
        """Drops a checkpoint."""


class Clock:
    """Seconds spent inside some functions; a function called inside another counts only once."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._depth = 0

    def watch(self, owner: Any, name: str, label: str) -> None:
        """Replaces ``owner.name`` by a function that does the same and is timed."""
        original: Callable[..., Any] = getattr(owner, name)

        def timed(*args: Any, **kwargs: Any) -> Any:
            self._depth += 1
            start = time.perf_counter()
            try:
                return original(*args, **kwargs)
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self.seconds[label] += time.perf_counter() - start

        setattr(owner, name, timed)


def make_sets(folder: Path, config: TrainingConfig) -> InstanceSets:
    """Blocksworld from few to many blocks, the same every time."""
    folder.mkdir()
    (folder / "domain.pddl").write_text(domain_text("blocksworld"))
    for number, problem in enumerate(generate_set("blocksworld", 40, SIZES, 1, "even"), 1):
        (folder / f"p{number:02}.pddl").write_text(problem)
    return load_sets(folder / "domain.pddl", folder, folder, config, folder)


def bench_process(sets: InstanceSets, config: TrainingConfig, seconds: float) -> None:
    """Search and learning in turns."""
    trainer = Trainer(sets, replace(config, minutes=seconds / 60), Watchers(), Nowhere())
    clock = Clock()
    clock.watch(_core, "encode_states", "encoding")
    clock.watch(GraphBatch, "from_encoded", "encoding")
    clock.watch(RelationalNetwork, "forward", "forward")
    clock.watch(torch.Tensor, "backward", "backward")
    clock.watch(torch.nn.utils, "clip_grad_norm_", "optimiser")
    clock.watch(trainer.learner.optimizer, "step", "optimiser")
    clock.watch(trainer.learner, "_follow", "optimiser")
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        trainer._search()
        trainer._learn()
    total = time.perf_counter() - start
    print(f"in one process, {total:.0f} s, Blocksworld with {SIZES[0]} to {SIZES[1]} blocks")
    print(f"  transitions/s of search     {trainer.collector.expansions / trainer.search_seconds:10.0f}")
    print(f"  gradient steps/s of learning{trainer.learner.steps / trainer.learn_seconds:10.1f}")
    shares = {name: spent / total for name, spent in clock.seconds.items()}
    for name in ("forward", "backward", "optimiser", "encoding"):
        print(f"  {name:28}{shares[name]:10.1%}")
    print(f"  {'Python and native search':28}{1 - sum(shares.values()):10.1%}")
    print(f"  network arithmetic          {shares['forward'] + shares['backward'] + shares['optimiser']:10.1%}")


def real_batch(sets: InstanceSets, learner: Learner) -> GraphBatch:
    """States along random walks in the larger instances."""
    instances = [sets.training[-1 - i % 15] for i in range(STATES)]
    episodes = []
    rng = np.random.default_rng(0)
    for instance in instances:
        episode = _core.Episode(instance.native, budget=int(rng.integers(2, 30)))
        while episode.advance():
            episode.feed(rng.random(episode.num_actions(episode.pending), np.float32))
        episodes.append(episode)
    states = np.array([episode.transitions()[0][-1] for episode in episodes], np.int32)
    return GraphBatch.from_encoded(_core.encode_states([i.encoder for i in instances], episodes, states))


def bench_kernel(sets: InstanceSets, config: TrainingConfig) -> None:
    """Forward and backward of the same batch."""
    if library() is None:
        print("fused kernel: not built")
        return
    learner = Learner(sets.metadata, config, -100.0)
    batch = real_batch(sets, learner)
    network = learner.network

    def once() -> None:
        network.zero_grad()
        network(batch).square().mean().backward()

    times: dict[Kernel, list[float]] = {"auto": [], "torch": []}
    for _ in range(25):  # in turns, so that a busy moment of the machine hits both
        for kernel, samples in times.items():
            network.kernel = kernel
            start = time.process_time()
            once()
            samples.append(time.process_time() - start)
    fused, grouped = (1000 * float(np.median(samples[5:])) for samples in times.values())
    print(f"forward and backward of {STATES} states ({len(batch.node_state)} nodes), CPU ms, median of 20")
    print(f"  grouped torch operations    {grouped:10.1f}\n  fused kernel                {fused:10.1f}")
    print(f"  ratio                       {grouped / fused:10.2f}")


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def bench_workers(sets: InstanceSets, config: TrainingConfig, seconds: float) -> None:
    """Transitions that arrive from one and from two workers, while this process only takes them."""
    network = RelationalNetwork(sets.metadata.relations, sets.metadata.network)
    model_of = partial(model_bytes, metadata=sets.metadata)
    config = replace(config, uniform_sampling=True)
    rates = []
    print(f"search workers with random weights, {seconds:.0f} s each")
    for count in (1, 2):
        trainer = Trainer(sets, config, Watchers(), Nowhere())
        fleet = Fleet(count, "", config, sets.metadata, (sets.training_tasks, sets.validation_tasks), model_of)
        fleet.publish(0, network)
        while len(fleet.pids) < count:  # until all have started
            fleet.poll(trainer.collector, 1.0)
        start, transitions = time.perf_counter(), 0
        pids = [os.getpid(), *fleet.pids.values()]
        before = [cpu_seconds(pid) for pid in pids]
        while time.perf_counter() - start < seconds:
            transitions += sum(item.episode.expansions for item in fleet.poll(trainer.collector, 0.1)[0])
        wall = time.perf_counter() - start
        own, *theirs = (cpu_seconds(pid) - then for pid, then in zip(pids, before, strict=True))
        fleet.close()
        fleet.ray.shutdown()
        rates.append(transitions / wall)
        print(f"  {count} of them: transitions/s     {rates[-1]:10.0f}")
        print(f"    per CPU second of a worker{transitions / sum(theirs):10.0f}")
        print(
            f"    cores in use                 {sum(theirs) / wall:7.2f} by workers, {own / wall:.2f} by this process"
        )
    print(f"  ratio                       {rates[1] / rates[0]:10.2f}")


def main() -> None:
    """Runs all three."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30.0, help="of each measurement (default 30)")
    parser.add_argument("--no-workers", action="store_true", help="leave the third part out")
    options = parser.parse_args()
    torch.set_num_threads(1)
    config = TrainingConfig()
    with tempfile.TemporaryDirectory() as scratch:
        sets = make_sets(Path(scratch) / "problems", config)
        bench_kernel(sets, config)
        if not options.no_workers:
            bench_workers(sets, config, options.seconds)
        bench_process(sets, config, options.seconds)


if __name__ == "__main__":
    main()
