"""How fast training is: gradient steps and transitions per second, where the time goes, and two comparisons.

1. Gradient steps in four domains, on generated problems of the sizes of the IPC training sets: the fused kernel against
   torch operations, on the same batches from the same replay buffer, one thread, search excluded. Seconds are those of
   the CPU.
2. Search workers: transitions of two against those of one, with nothing else to do for the machine.
3. One process takes turns at searching and learning, on Blocksworld. Shares of its wall time: forward, backward,
   optimiser, encoding; the rest is Python and native search.

Run it on an idle machine: python scripts/bench_training.py [--seconds 30] [--only steps]
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
from gsp_fd.generate import GENERATORS, domain_text, generate_set
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

DOMAINS = ("blocksworld", "rovers", "transport", "sokoban")
INSTANCES = 40
TURN = 5
"""Gradient steps before the other kernel has its turn, so that a busy moment of the machine hits both."""


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


def make_sets(domain: str, folder: Path, config: TrainingConfig) -> InstanceSets:
    """Generated problems of a domain's training sizes, the same every time."""
    folder.mkdir()
    (folder / "domain.pddl").write_text(domain_text(domain))
    for number, problem in enumerate(generate_set(domain, INSTANCES, GENERATORS[domain].training, 1, "even"), 1):
        (folder / f"p{number:02}.pddl").write_text(problem)
    return load_sets(folder / "domain.pddl", folder, folder, config, folder)


def filled_learner(sets: InstanceSets, config: TrainingConfig) -> Learner:
    """A learner with the transitions of one search on every instance, guided by hFF and random numbers."""
    learner = Learner(sets.metadata, config, -100.0)
    rng = np.random.default_rng(0)
    for instance in sets.training:
        episode = _core.Episode(
            instance.native,
            budget=config.budget,
            dead_ends=instance.dead_ends,
            guide=instance.guide,
            plans=instance.plans,
        )
        while episode.advance():
            episode.feed(-rng.random(episode.num_actions(episode.pending), np.float32))
        learner.take(instance, episode)
    return learner


def bench_steps(sets: InstanceSets, config: TrainingConfig, seconds: float) -> None:
    """Gradient steps per second with either kernel."""
    learner = filled_learner(sets, config)
    spent: dict[Kernel, list[float]] = {"auto": [], "torch": []}
    while len(spent["auto"]) < 2 or sum(map(sum, spent.values())) < seconds:
        state = learner.rng.getstate()
        for kernel, turns in spent.items():
            learner.rng.setstate(state)  # the same batches
            for network in (learner.network, learner.target):
                network.kernel = kernel
            start = time.process_time()
            for _ in range(TURN):
                learner.step(0.5)
            turns.append(time.process_time() - start)
    # The first turn allocates and warms up.
    fused, grouped = (TURN * len(turns[1:]) / sum(turns[1:]) for turns in spent.values())
    samples = f"{len(learner.replay.samples)} transitions, {len(learner.paths.samples)} of them on solution paths"
    print(f"gradient steps/s in {sets.metadata.domain}, batch of {config.batch_size} ({samples})")
    print(f"  torch operations            {grouped:10.1f}")
    print(f"  fused kernel                {fused:10.1f}" if library() else "  fused kernel: not built")
    print(f"  ratio                       {fused / grouped:10.2f}")


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
    print(f"in one process, {total:.0f} s, {sets.metadata.domain}")
    print(f"  transitions/s of search     {trainer.collector.expansions / trainer.search_seconds:10.0f}")
    print(f"  gradient steps/s of learning{trainer.learner.steps / trainer.learn_seconds:10.1f}")
    shares = {name: spent / total for name, spent in clock.seconds.items()}
    for name in ("forward", "backward", "optimiser", "encoding"):
        print(f"  {name:28}{shares[name]:10.1%}")
    print(f"  {'Python and native search':28}{1 - sum(shares.values()):10.1%}")
    print(f"  network arithmetic          {shares['forward'] + shares['backward'] + shares['optimiser']:10.1%}")


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
    """Runs all three, or one of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30.0, help="of each measurement (default 30)")
    parser.add_argument("--only", choices=("steps", "workers", "process"), help="one part instead of all")
    options = parser.parse_args()
    torch.set_num_threads(1)
    config = TrainingConfig(relaxed_plan="no", varied=0.0)
    with tempfile.TemporaryDirectory() as scratch:
        for domain in DOMAINS:
            if domain != "blocksworld" and options.only not in (None, "steps"):
                continue
            sets = make_sets(domain, Path(scratch) / domain, config)
            if options.only in (None, "steps"):
                bench_steps(sets, config, options.seconds)
            if domain == "blocksworld" and options.only in (None, "workers"):
                bench_workers(sets, config, options.seconds)
            if domain == "blocksworld" and options.only in (None, "process"):
                bench_process(sets, config, options.seconds)


if __name__ == "__main__":
    main()
