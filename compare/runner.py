"""Runs: each in a fresh folder, with the same limits for all, several at a time on this machine or on a Ray cluster."""

from __future__ import annotations

import json
import os
import queue
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gsp_fd.common.processes import python_command
from gsp_fd.common.untrusted import parse_json
from gsp_fd.compare.configurations import Configuration
from gsp_fd.compare.explain import EXPLAINED_PLAN, EXPLANATION
from gsp_fd.compare.limits import RunLimits
from gsp_fd.compare.outcome import SOLVED, Ending, Tasks, judge, record
from gsp_fd.compare.results import checked_explanation
from gsp_fd.compare.suites import SuiteProblem

Record = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """One configuration on one problem."""

    problem: SuiteProblem
    configuration: Configuration
    explain: str = ""
    """The model whose values along the plan are wanted; empty if they are not."""


class Supervisor:
    """The process that starts planners and watches over them; see :mod:`gsp_fd.compare.supervisor`."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()
        self._closed = False

    def run(self, command: Sequence[str], folder: Path, limits: RunLimits) -> Ending:
        """Run a command in a folder; its output goes to ``log`` there."""
        request = {
            "command": list(command),
            "folder": str(folder),
            "log": str(folder / "log"),
            "cpu_seconds": limits.cpu_seconds,
            "wall_seconds": limits.wall_seconds,
            "memory_mb": limits.memory_mb,
            "disk_mb": limits.disk_mb,
        }
        process = self._started()
        if process is None:
            return Ending("interrupted")
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        except (OSError, ValueError):  # it is gone, or closed by another thread
            answer = ""
        if not answer:
            self._end(process)
            process.stdout.close()
            return Ending("the process that watched over the run was killed")
        return Ending(**json.loads(answer))

    def _started(self) -> subprocess.Popen[str] | None:
        with self._lock:
            if self._process is None and not self._closed:
                self._process = subprocess.Popen(
                    python_command("gsp_fd.compare.supervisor"),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                    start_new_session=True,
                )
            return self._process

    def _end(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        with suppress(OSError):
            process.stdin.close()
        process.wait()
        with self._lock:
            if self._process is process:
                self._process = None

    def close(self) -> None:
        """End the process and the planner that it runs, for good; another thread may be waiting for that planner."""
        with self._lock:
            self._closed = True
            process = self._process
        if process is not None:
            self._end(process)


class Worker:
    """Runs jobs one after another."""

    def __init__(self, limits: RunLimits, scratch: str | None = None) -> None:
        self.limits = limits
        self.scratch = scratch
        self.tasks = Tasks()
        self.supervisor = Supervisor()

    def run(self, job: Job) -> Record:
        """The record of a run; whatever goes wrong with it is in there."""
        problem, configuration = job.problem, job.configuration
        if why := problem.error or configuration.missing:
            return record(problem, configuration, status="input-error", message=why)
        folder = Path(tempfile.mkdtemp(prefix="gsp-compare-", dir=self.scratch))
        try:
            try:
                shutil.copyfile(problem.domain_file, folder / "domain.pddl")
                shutil.copyfile(problem.problem_file, folder / "problem.pddl")
            except OSError as error:
                message = f"cannot read {Path(str(error.filename)).name}: {error.strerror}"
                return record(problem, configuration, status="input-error", message=message)
            ending = self.supervisor.run(configuration.arguments(self._values()), folder, self.limits)
            values, plan = judge(problem, configuration, ending, folder, self.limits, self.tasks)
            if job.explain and values["status"] == SOLVED:
                values["explanation"] = self._explained(folder, plan, job.explain)
            return values
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _explained(self, folder: Path, plan: Sequence[str], model: str) -> dict[str, Any] | None:
        """What there is to say about a plan within the limits of a run."""
        (folder / EXPLAINED_PLAN).write_text(json.dumps(plan))
        self.supervisor.run([*python_command("gsp_fd.compare.explain"), model], folder, self.limits)
        try:
            return checked_explanation(parse_json((folder / EXPLANATION).read_bytes()))
        except (OSError, ValueError):
            return None

    def run_files(self, job: Job, domain: bytes, problem: bytes) -> Record:
        """As ``run``, for a machine that does not have the files."""
        with tempfile.TemporaryDirectory(prefix="gsp-compare-", dir=self.scratch) as name:
            files = Path(name, "domain.pddl"), Path(name, "problem.pddl")
            files[0].write_bytes(domain)
            files[1].write_bytes(problem)
            return self.run(replace(job, problem=replace(job.problem, domain_file=files[0], problem_file=files[1])))

    def _values(self) -> dict[str, str]:
        return {
            "domain": "domain.pddl",
            "problem": "problem.pddl",
            "plan": "plan",
            "time": str(self.limits.cpu_seconds),
            "memory": str(self.limits.memory_mb),
            "expansions": str(self.limits.expansions or 0),
        }


def run_local(jobs: Sequence[Job], limits: RunLimits, count: int) -> Generator[Record, None, None]:
    """Records in the order in which runs end, ``count`` at a time on this machine.

    However this iterator is left, no planner of it is left running.
    """
    pending: queue.SimpleQueue[Job] = queue.SimpleQueue()
    records: queue.SimpleQueue[Record | BaseException] = queue.SimpleQueue()
    for job in jobs:
        pending.put(job)
    workers = [Worker(limits) for _ in range(min(count, len(jobs)))]
    stop = threading.Event()
    threads = [threading.Thread(target=_work, args=(worker, pending, records, stop), daemon=True) for worker in workers]
    for thread in threads:
        thread.start()
    try:
        for _ in jobs:
            result = records.get()
            if isinstance(result, BaseException):
                raise result
            yield result
    finally:
        stop.set()
        for worker in workers:
            worker.supervisor.close()
        for thread in threads:
            thread.join()


def _work(
    worker: Worker,
    pending: queue.SimpleQueue[Job],
    records: queue.SimpleQueue[Record | BaseException],
    stop: threading.Event,
) -> None:
    while not stop.is_set():
        try:
            job = pending.get_nowait()
        except queue.Empty:
            return
        try:
            records.put(worker.run(job))
        except BaseException as error:
            records.put(error)
            return


def run_on_ray(
    jobs: Sequence[Job], limits: RunLimits, count: int | None, address: str
) -> Generator[Record, None, None]:
    """As ``run_local``, on a Ray cluster; ``count`` of None: one at a time per processor of the cluster."""
    from gsp_fd.common.cluster import connect

    here = address == "local"
    ray = connect(count or 1, "" if here else address, needed_by="--ray-address needs", otherwise="leave it out")
    try:
        count = count or int(ray.cluster_resources().get("CPU", 1))
        actor = ray.remote(num_cpus=1)(Worker)
        yield from _ray_records(ray, [actor.remote(limits) for _ in range(min(count, len(jobs)))], jobs)
    finally:
        ray.shutdown()


def _ray_records(ray: Any, actors: list[Any], jobs: Sequence[Job]) -> Generator[Record, None, None]:
    pending = list(reversed(jobs))
    running: dict[Any, tuple[Any, Job]] = {}
    while pending or running:
        while actors and pending:
            job, actor = pending.pop(), actors.pop()
            running[_ray_run(actor, job)] = actor, job
        done, _ = ray.wait(list(running), num_returns=1)
        for reference in done:
            actor, job = running.pop(reference)
            try:
                result: Record = ray.get(reference)
            except ray.exceptions.RayError as error:
                message = f"lost on the cluster: {type(error).__name__}"
                result = record(job.problem, job.configuration, message=message)
            actors.append(actor)
            yield result


def _ray_run(actor: Any, job: Job) -> Any:
    problem = job.problem
    readable = not problem.error and all(os.access(f, os.R_OK) for f in (problem.domain_file, problem.problem_file))
    if not readable:
        return actor.run.remote(job)
    return actor.run_files.remote(job, problem.domain_file.read_bytes(), problem.problem_file.read_bytes())
