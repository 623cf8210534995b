"""Speed and memory of learned heuristics: one thread, everything in one run; prints ratios and whether aims are met.

    python scripts/bench_model.py BENCHMARKS/ipc2023-learning [--part load ...] [--cells 1x10 32x30 ...] [--with-fd]

load:       a session, and a cold gsp-plan on 10 blocks (0.1 s and 1.0 s are the aims).
evaluate:   Q on batches of 1, 32, 128 states of 10, 30, 100, 488 blocks: our native network, which keeps nothing from
            call to call here, beside our ONNX graph in the pieces in which the planner calls it, torch eager (2 x is
            the aim) and torch.onnx.export of the same module (3 x).
overhead:   share of the time outside ONNX Runtime in WA* with batches of 32 on 30 blocks (15 %), and the time of the
            same search with the native network.
childsnack: 100 policy steps on the hard instance p29 (60 s, 1 GB).
blocks:     1,000 policy steps on blocksworld hard p29 (30 s, 1 GB); with --with-fd beside Fast Downward's hFF.
steps:      one step of the greedy policy with the shipped models that see relaxed plans, on hard instances (20 ms), and
            what it consists of.
repeat:     two runs with the same seed.

Networks elsewhere have random weights, 8 layers and width 32, which is what costs the time; --layers and --width change
it.
"""

from __future__ import annotations

import argparse
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime
import torch
from torch import Tensor, nn
from torch.nn import functional

from gsp_fd import _core
from gsp_fd.common.processes import fast_downward_command
from gsp_fd.export.writer import export_model
from gsp_fd.generate import domain_text, generate
from gsp_fd.inference import Backend, NativeNetwork, OnnxSession, QValues
from gsp_fd.model import Model
from gsp_fd.model_format import OUTPUT, feeds_of, weights_of
from gsp_fd.model_library import named_model
from gsp_fd.task import Task, load_pddl
from gsp_fd.training.checkpoint import Checkpoint
from gsp_fd.training.config import TrainingConfig
from gsp_fd.training.instances import domain_metadata
from gsp_fd.training.network import GraphBatch, RelationalNetwork, aggregate

States = npt.NDArray[np.int32]

PARTS = ("load", "evaluate", "overhead", "childsnack", "blocks", "steps", "repeat")
STEPS = {"satellite": "p29", "rovers": "p01", "transport": "p17"}  # instances of the part with this name
CELLS = [f"{states}x{blocks}" for blocks in (10, 30, 100, 488) for states in (1, 32, 128)]


class Traceable(nn.Module):
    """The network as torch.onnx.export can trace it: no case distinction by sizes, one operation after another."""

    def __init__(self, network: RelationalNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(self, *inputs: Tensor) -> Tensor:
        """Q-values; the inputs are those of the written graph."""
        network, config = self.network, self.network.config
        *relations, node_state, action_node, action_state, state_sizes = inputs
        arguments = [relation.reshape(-1) for relation in relations]
        index = torch.cat(arguments)
        x = torch.zeros(node_state.shape[0], config.d)
        for _ in range(config.layers):
            messages = []
            for (_, arity), part, (w1, b1, w2) in zip(
                network.relations, arguments, network.relation_weights(), strict=True
            ):
                atoms = x.index_select(0, part).reshape(-1, arity * config.d)
                messages.append((functional.silu(torch.addmm(b1, atoms, w1)) @ w2).reshape(-1, config.d))
            x = network._updated(x, self.aggregate(torch.cat(messages), index, x.shape[0]))
        batch = GraphBatch(index, (), node_state, action_node, action_state, state_sizes)
        pooled = network._pool(x, batch)
        values: Tensor = network.readout(x.index_select(0, action_node))
        values = values + network.value(pooled).index_select(0, action_state)
        return values.squeeze(1)

    def aggregate(self, messages: Tensor, index: Tensor, nodes: int) -> Tensor:
        """As the network does; PyG's maximum cannot be traced, torch's can."""
        if self.network.config.aggregation != "max":
            return aggregate(messages, index, nodes, self.network.config)
        rows = index.unsqueeze(1).expand_as(messages)
        lowest = float(torch.finfo(torch.float32).min)
        start = torch.full((nodes, self.network.config.d), lowest)
        result = start.scatter_reduce(0, rows, messages, "amax")
        return torch.where(result == lowest, 0.0, result)


def session(model: str | bytes) -> Any:
    """A session as the planner makes it: one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def traced(network: RelationalNetwork, batch: _core.EncodedBatch, path: Path) -> Any:
    """A session of what torch.onnx.export makes of the network, and the names of its inputs are those of ours."""
    feeds = feeds_of(batch, network.relations)
    axes = {name: {0: f"n{i}"} for i, name in enumerate(feeds)}
    torch.onnx.export(
        Traceable(network),
        tuple(torch.from_numpy(array) for array in feeds.values()),
        str(path),
        input_names=list(feeds),
        output_names=[OUTPUT],
        dynamic_axes=axes | {OUTPUT: {0: "actions"}},
        opset_version=18,
        dynamo=False,
    )
    return session(str(path))


class Bench:
    """Files and models of one run."""

    def __init__(self, folder: Path, options: argparse.Namespace) -> None:
        self.folder = folder
        self.root: Path = options.root
        self.config = TrainingConfig(layers=options.layers, d=options.width, aggregation=options.aggregation)
        (folder / "blocksworld.pddl").write_text(domain_text("blocksworld"))

    def blocks(self, count: int, seed: int = 1) -> list[str]:
        """Domain and problem files of a generated instance."""
        problem = self.folder / f"blocks-{count}-{seed}.pddl"
        if not problem.exists():
            problem.write_text(generate("blocksworld", count, seed))
        return [str(self.folder / "blocksworld.pddl"), str(problem)]

    def hard(self, domain: str, name: str = "p29") -> list[str]:
        """Domain and problem files of a published instance."""
        folder = self.root / domain
        return [str(folder / "domain.pddl"), str(folder / "testing" / "hard" / f"{name}.pddl")]

    def model(self, files: Sequence[str]) -> tuple[RelationalNetwork, Path]:
        """A network with random weights for a domain, and the model exported from it."""
        metadata = domain_metadata([load_pddl(*files)], self.config)
        torch.manual_seed(0)
        network = RelationalNetwork(metadata.relations, metadata.network, kernel="torch")
        with torch.no_grad():
            list(network.readout.parameters())[-1].fill_(-5.0)  # Q-values as of a trained network: not above 0
        path = self.folder / f"{metadata.domain}.onnx"
        export_model(Checkpoint.of(network, metadata), path)
        return network.eval(), path

    def plan(self, files: Sequence[str], *arguments: str) -> tuple[float, float, str]:
        """Wall-clock seconds, CPU seconds and log of a run of gsp-plan; on a busy machine the first two differ."""
        command = [sys.executable, "-m", "gsp_fd.fd_integration", *files, *arguments]
        start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode not in (0, 12):
            raise SystemExit(f"gsp-plan failed with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def verdict(met: bool) -> str:
    """Whether an aim is met."""
    return "ok" if met else "MISSED"


def number(log: str, pattern: str) -> float:
    """A number in a log."""
    match = re.search(pattern, log)
    if match is None:
        raise SystemExit(f"no '{pattern}' in the log:\n{log[-2000:]}")
    return float(match[1])


def random_walk(task: Task, count: int) -> tuple[_core.LiftedSpace, States]:
    """A space and states on a random walk in it."""
    space = _core.LiftedSpace(task.native_lifted())
    rng, states = np.random.default_rng(1), [space.initial_state()]
    while len(states) < count:
        states.append(space.apply(states[-1], int(rng.choice(space.applicable(states[-1])))))
    return space, np.array(states, np.int32)


def encoded(model: Model, task: Task, space: _core.LiftedSpace, states: States) -> _core.EncodedBatch:
    """A native batch of states."""
    assert task.lifted is not None
    encoder = model.encoder(task.lifted, task.native_lifted())
    return encoder.encode(space, states, *_core.applicable_rows(space, states))


def alternate(
    runs: Sequence[Callable[[], Any]],
    clock: Callable[[], float] = time.thread_time,
    seconds: float = 2.0,
    most: int = 2000,
) -> list[float]:
    """The shortest time of each, run in turn for a while.

    All work of one thread: its CPU time is the wall-clock time on a machine that nobody else uses.
    """
    best = [float("inf")] * len(runs)
    end, rounds = time.perf_counter() + seconds * len(runs), 0
    while rounds < 3 or (time.perf_counter() < end and rounds < most):
        for i, run in enumerate(runs):
            start = clock()
            run()
            best[i] = min(best[i], clock() - start)
        rounds += 1
    return best


def bench_load(bench: Bench) -> None:
    """Session and cold start."""
    files = bench.blocks(10)
    _, path = bench.model(files)
    (wall,), (cpu,) = (alternate([lambda: Model(path)], clock) for clock in (time.perf_counter, time.process_time))
    print(f"session load: {1000 * wall:.0f} ms ({1000 * cpu:.0f} ms CPU), aim 100 ms: {verdict(wall < 0.1)}")
    arguments = ["--heuristic", "gsp", "--model", str(path), "--search", "policy", "--max-expansions", "40"]
    wall, cpu, _ = min(bench.plan(files, *arguments) for _ in range(5))
    print(
        f"cold gsp-plan, 10 blocks, 40 steps: {wall:.2f} s wall ({cpu:.2f} s CPU), aim 1.0 s: {verdict(wall < 1.0)}",
        flush=True,
    )


def in_pieces(
    backend: Backend, model: Model, task: Task, space: _core.LiftedSpace, states: States, messages_per_state: float
) -> Callable[[], Any]:
    """Evaluates states in pieces such as the planner makes."""
    size = max(1, int(backend.messages_per_call / messages_per_state))
    pieces = [encoded(model, task, space, states[i : i + size]) for i in range(0, len(states), size)]
    return lambda: np.concatenate([backend.q_values(piece) for piece in pieces])


def bench_evaluate(bench: Bench, cells: Sequence[str]) -> None:
    """The native network beside our graph, torch eager and the traced graph."""
    network, path = bench.model(bench.blocks(10))
    model = Model(path, device="cpu")
    metadata = model.metadata
    data = path.read_bytes()
    native = NativeNetwork(metadata.network, metadata.relations, weights_of(data), kept=0)
    graph = OnnxSession(data, metadata, "cpu", 1)
    task = load_pddl(*bench.blocks(10))
    small = encoded(model, task, *random_walk(task, 4))
    other = traced(network, small, bench.folder / "traced.onnx")
    print(
        f"{'states x blocks':16}{'messages':>10}{'native ms':>11}{'ONNX graph':>12}{'eager':>10}{'exported':>10}"
        "   ratios to native"
    )
    for cell in cells:
        states, blocks = (int(part) for part in cell.split("x"))
        task = load_pddl(*bench.blocks(blocks))
        space, walk = random_walk(task, states)
        batch = encoded(model, task, space, walk)
        messages = batch.messages
        feeds, tensors = feeds_of(batch, network.relations), GraphBatch.from_encoded(batch)

        def eager(tensors: GraphBatch = tensors) -> Any:
            with torch.inference_mode():
                return network(tensors).numpy()

        runs: list[Callable[[], Any]] = [
            *(in_pieces(backend, model, task, space, walk, messages / states) for backend in (native, graph)),
            eager,
            lambda feeds=feeds: other.run([OUTPUT], feeds)[0],  # type: ignore[misc]
        ]
        ours, *rest = (run() for run in runs)
        for values in rest:
            np.testing.assert_allclose(values, ours, rtol=1e-3, atol=1e-3)
        own, graph_time, torch_time, traced_time = alternate(runs)
        met = torch_time >= 2 * own and traced_time >= 3 * own
        print(
            f"{cell:16}{messages:10}{1000 * own:11.2f}{graph_time / own:11.2f}x"
            f"{torch_time / own:9.2f}x{traced_time / own:9.2f}x   {verdict(met)}",
            flush=True,
        )


class Clock(OnnxSession):
    """A session, timed."""

    seconds = 0.0

    def q_values(self, batch: _core.EncodedBatch) -> QValues:
        """The same call."""
        start = time.thread_time()
        result = super().q_values(batch)
        self.seconds += time.thread_time() - start
        return result


def bench_overhead(bench: Bench) -> None:
    """WA* in this process, with a clock around ONNX Runtime."""
    files = bench.blocks(30)
    path = bench.model(files)[1]
    model = Model(path, device="cpu")
    clock = Clock(path.read_bytes(), model.metadata, "cpu", 1)
    times = []
    backends: tuple[Backend, ...] = (clock, model.backend)
    for backend in backends:
        model.backend = backend
        task = load_pddl(*files)
        assert task.lifted is not None
        key = _core.sum([_core.g(), _core.weight(model.heuristic(task), 2)])
        space = _core.LiftedSpace(task.native_lifted(), True)
        start = time.thread_time()
        result = _core.search(space, _core.SingleOpenList(key), lazy=True, batch_size=32, max_expansions=4000)
        times.append(time.thread_time() - start)
        print(
            f"WA* with batches of 32 on 30 blocks, {backend.name}: {result.evaluated} states in {times[-1]:.2f} s CPU"
        )
    share = 1 - clock.seconds / times[0]
    print(f"outside ONNX Runtime: {100 * share:.1f} %, aim 15 %: {verdict(share <= 0.15)}")
    print(f"the native network makes this search {times[0] / times[1]:.2f} x as fast", flush=True)


def bench_policy(bench: Bench, domain: str, steps: int, limit: float) -> float:
    """Policy steps on a hard instance; returns seconds per evaluated state."""
    files = bench.hard(domain)
    _, path = bench.model([files[0], files[1].replace("hard/p29", "easy/p01")])
    arguments = ["--heuristic", "gsp", "--model", str(path), "--search", "policy", "--max-expansions", str(steps)]
    seconds, cpu, log = bench.plan(files, *arguments)
    megabytes = number(log, r"Peak memory: (\d+) KB") / 1024
    met = seconds < limit and megabytes < 1024
    generated, represented = (number(log, rf"Symmetry reduction: {p}") for p in (r"(\d+)", r"\d+ \D+ (\d+)"))
    print(
        f"{domain} hard p29: {steps} policy steps in {seconds:.1f} s wall ({cpu:.1f} s CPU) and "
        f"{megabytes:.0f} MB, aim {limit:.0f} s and 1024 MB: {verdict(met)} "
        f"({generated:.0f} actions for {represented:.0f})",
        flush=True,
    )
    return number(log, r"Actual search time: (.+)s") / number(log, r"Evaluated (\d+) state")


def bench_fast_downward(bench: Bench, ours: float) -> None:
    """Fast Downward's hFF on the same file."""
    program = fast_downward_command()
    if not program:
        raise SystemExit("--with-fd needs Fast Downward: pip install up-fast-downward")
    search = ["--search", "eager_greedy([ff()], max_time=60)"]
    done = subprocess.run(
        [*program, *bench.hard("blocksworld"), *search],
        cwd=bench.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    theirs = number(done.stdout, r"Actual search time: (.+)s") / number(done.stdout, r"Evaluated (\d+) state")
    translate = number(done.stdout, r"Done! \[\S+ CPU, (\S+)s wall-clock\]")
    print(
        f"one evaluation: hFF of Fast Downward {1000 * theirs:.1f} ms (after {translate:.0f} s of translation), "
        f"Q {1000 * ours:.1f} ms, {theirs / ours:.2f}x",
        flush=True,
    )


def bench_steps(bench: Bench, steps: int = 60) -> None:
    """The greedy policy, part by part; the first step, which makes what all others share, does not count."""
    for domain, name in STEPS.items():
        task = load_pddl(*bench.hard(domain, name))
        assert task.lifted is not None
        model = Model(named_model(domain), device="cpu")
        encoder, plans = model.encoder(task.lifted, task.native_lifted()), task.heuristic("ff")
        space = _core.LiftedSpace(task.native_lifted(), True)
        state, actions = space.initial_state(), 0
        seen: set[int] = set()
        times: list[npt.NDArray[np.float64]] = []
        while len(times) <= steps:
            seen.add(state)
            states = np.array([state], np.int32)
            clock = [time.thread_time()]
            begin, operators = _core.applicable_rows(space, states)
            clock.append(time.thread_time())
            plans.relaxed_plan(space, state)
            clock.append(time.thread_time())
            batch = encoder.encode(space, states, begin, operators, plans)
            clock.append(time.thread_time())
            q = model.backend.q_values(batch)
            clock.append(time.thread_time())
            times.append(np.diff(clock))
            actions += len(operators)
            successors = (space.apply(state, int(operators[i])) for i in np.argsort(-q, kind="stable"))
            state = next(successor for successor in successors if successor not in seen)
        applicable, plan, encoding, network = 1000 * np.mean(times[1:], axis=0)
        encoding -= plan  # the encoder asks for it again
        total = applicable + plan + encoding + network
        print(
            f"{domain} hard {name}: {total:.1f} ms CPU a step, aim 20 ms: {verdict(total <= 20)} "
            f"(actions {applicable:.1f}, hFF {plan:.1f}, encoding {encoding:.1f}, network {network:.1f}; "
            f"{actions / len(times):.0f} actions a state)",
            flush=True,
        )


def bench_repeat(bench: Bench) -> None:
    """Two runs: the same plan and the same log of values."""
    files = bench.blocks(6)
    _, path = bench.model(files)
    arguments = ["--heuristic", "gsp", "--model", str(path), "--search", "wastar", "--batch-size", "8", "--seed", "7"]
    logs = []
    for _ in range(2):
        *_, log = bench.plan(files, *arguments)
        logs.append(re.sub(r"\[t=.*?\] |.* time: .*|.*memory: .*|.*wall-clock.*", "", log).splitlines())
        logs[-1] += (bench.folder / "sas_plan").read_text().splitlines()
    print(f"two runs with the same seed: {'the same plan and log' if logs[0] == logs[1] else 'MISSED, they differ'}")
    values = [Model(path), Model(path)]
    task = load_pddl(*bench.blocks(30))
    assert task.lifted is not None
    space, states = random_walk(task, 32)
    first, second = (model.backend.q_values(encoded(model, task, space, states)) for model in values)
    print(f"two sessions: {'the same Q, bit by bit' if first.tobytes() == second.tobytes() else 'MISSED, Q differs'}")


def main() -> None:
    """Runs the chosen parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, help="the unpacked IPC 2023 learning track")
    parser.add_argument("--part", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--cells", nargs="+", choices=CELLS, default=CELLS, help="states x blocks, e.g. 32x30")
    parser.add_argument("--layers", type=int, default=8, help="layers of the network (8)")
    parser.add_argument("--width", type=int, default=32, help="width of the network (32)")
    parser.add_argument("--aggregation", default="max", help="max, smoothmax or logsumexp (max)")
    parser.add_argument("--with-fd", action="store_true", help="measure Fast Downward's hFF, too (minutes)")
    options = parser.parse_args()
    options.root = options.root.absolute()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), options)
        if "load" in options.part:
            bench_load(bench)
        if "evaluate" in options.part:
            bench_evaluate(bench, options.cells)
        if "overhead" in options.part:
            bench_overhead(bench)
        if "childsnack" in options.part:
            bench_policy(bench, "childsnack", 100, 60)
        if "blocks" in options.part:
            ours = bench_policy(bench, "blocksworld", 1000, 30)
            if options.with_fd:
                bench_fast_downward(bench, ours)
        if "steps" in options.part:
            bench_steps(bench)
        if "repeat" in options.part:
            bench_repeat(bench)


if __name__ == "__main__":
    main()
