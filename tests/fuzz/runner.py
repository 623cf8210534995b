"""Mutated inputs, read in a child process: whatever happens to it, the parent knows with which input, and goes on."""

from __future__ import annotations

import mmap
import os
import random
import re
import resource
import shutil
import signal
import struct
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

CPU_SECONDS = 5
"""CPU time of one input, far above what any of them needs."""
WALL_SECONDS = 900
"""For what waits without using any; a busy machine may take long for little."""
MEMORY_MB = 1024
"""Address space of one input, beyond what the modules take."""
PER_PROCESS = 500
"""Inputs until a fresh process takes over, so that what leaks is not taken for what an input needs."""
SAVED_PER_KIND = 3
IN_MEMORY = Path("/dev/shm")
"""A file system in which files cost little; input lies there for as long as it is read."""


@dataclass
class Case:
    """One input: files by name, and the arguments of the program that reads them."""

    arguments: list[str]
    files: dict[str, bytes] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Writes the files; names may be anything that a file system takes."""
        for name, data in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


class Wrong(Exception):
    """What a program did is not what it may do with any input."""


class Target(Protocol):
    """Something that reads input."""

    name: str

    def case(self, rng: random.Random) -> Case:
        """A mutated input."""

    def read(self, case: Case) -> bool:
        """Reads a case, whose files are in the working directory; whether it was taken. Wrong, or any other exception,
        is a finding."""


@dataclass(frozen=True)
class Finding:
    """An input on which a target failed."""

    target: str
    seed: int
    index: int
    kind: str
    detail: str

    def __str__(self) -> str:
        module = "tests.fuzz.differential" if self.target.endswith("-tasks") else "tests.fuzz"
        command = f"python -m {module} {self.target} --seed {self.seed} --first {self.index} --count 1"
        return f"{self.target}: {self.kind}: {self.detail.splitlines()[-1] if self.detail else ''}  [{command}]"

    @property
    def signature(self) -> str:
        """The same for findings that are probably the same."""
        frames = re.findall(r'File "([^"]+)", line (\d+)', self.detail)
        last = self.detail.splitlines()[-1] if self.detail else ""
        return f"{self.kind} {frames[-1] if frames else ''} {re.sub(r'[0-9]+', '', last)[:60]}"


@dataclass
class Summary:
    """What came of some inputs of a target."""

    target: str
    seed: int
    read: int = 0
    taken: int = 0
    seconds: float = 0.0
    findings: list[Finding] = field(default_factory=list)

    def add(self, more: Summary) -> None:
        """Counts the inputs of another summary of the same target, too."""
        self.read += more.read
        self.taken += more.taken
        self.seconds += more.seconds
        self.findings += more.findings

    def __str__(self) -> str:
        kinds = Counter(finding.kind for finding in self.findings)
        found = ", ".join(f"{count} x {kind}" for kind, count in kinds.items()) or "no findings"
        per_minute = 60 * self.read / max(self.seconds, 1e-9)
        return (
            f"{self.target}: {self.read} inputs with seed {self.seed} ({self.taken} taken, "
            f"{self.read - self.taken - len(self.findings)} refused), {found}, {per_minute:.0f} a minute"
        )


class _Shared:
    """What the child writes and the parent reads: the present input, its start in CPU time, and how many were taken."""

    FORMAT = "qdq"

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, mmap.PAGESIZE)

    def set(self, index: int, cpu: float, taken: int) -> None:
        struct.pack_into(self.FORMAT, self._memory, 0, index, cpu, taken)

    def get(self) -> tuple[int, float, int]:
        return struct.unpack_from(self.FORMAT, self._memory)


def case_of(target: Target, seed: int, index: int) -> Case:
    """Always the same case for the same numbers."""
    return target.case(random.Random(f"{target.name} {seed} {index}"))


def run(
    target: Target,
    seed: int,
    first: int,
    count: int,
    out: Path | None = None,
    report: Callable[[Finding], None] = lambda finding: None,
    seconds: float = float("inf"),
) -> Summary:
    """Reads ``count`` inputs from number ``first`` on, or as many as there is time for; saves those that fail."""
    summary, start, saved = Summary(target.name, seed), time.monotonic(), Counter[str]()
    at, end = first, first + count
    while at < end and time.monotonic() - start < seconds:
        until = min(end, at + PER_PROCESS)
        reached, taken, finding = _run_child(target, seed, at, until)
        summary.read += reached - at
        summary.taken += taken
        at = reached
        if finding is not None:
            summary.findings.append(finding)
            report(finding)
            saved[finding.signature] += 1
            if out is not None and saved[finding.signature] <= SAVED_PER_KIND:
                _save(target, finding, out)
    summary.seconds = time.monotonic() - start
    return summary


def _run_child(target: Target, seed: int, first: int, end: int) -> tuple[int, int, Finding | None]:
    """(first input that was not read, number taken, finding). The child ends with its first finding."""
    shared = _Shared()
    shared.set(first, time.process_time(), 0)
    place = IN_MEMORY if IN_MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir=place) as folder, tempfile.TemporaryFile() as words:
        child = os.fork()
        if child == 0:
            try:
                _child(target, seed, range(first, end), Path(folder), shared, words.fileno())
            finally:
                os._exit(3)
        status, why = _watch(child, shared)
        words.seek(0)
        detail = words.read().decode(errors="replace")
    index, _, taken = shared.get()
    if status == 0 and not why:
        return end, taken, None
    kind = why or (f"signal {signal.Signals(-status).name}" if status < 0 else detail.partition("\n")[0] or "exit")
    return index + 1, taken, Finding(target.name, seed, index, kind, detail.partition("\n")[2])


def _watch(child: int, shared: _Shared) -> tuple[int, str]:
    """The exit status of the child, and ``time`` if it had to be killed."""
    seen, since, pause = -1, time.monotonic(), 0.001
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status), ""
        index, cpu, _ = shared.get()
        if index != seen:
            seen, since = index, time.monotonic()
        if _cpu_of(child) - cpu > CPU_SECONDS or time.monotonic() - since > WALL_SECONDS:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return -signal.SIGKILL, "time"
        time.sleep(pause)
        pause = min(0.2, 2 * pause)


def _cpu_of(process: int) -> float:
    with suppress(OSError):
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def _child(target: Target, seed: int, indices: range, folder: Path, shared: _Shared, words: int) -> None:
    """Reads inputs until one fails; then ``words`` gets the kind and the details."""
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + (MEMORY_MB << 20),) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    taken = 0
    for index in indices:
        shared.set(index, time.process_time(), taken)
        place = folder / str(index % 2)
        try:
            case = case_of(target, seed, index)
            place.mkdir()
            os.chdir(place)
            case.write(place)
            taken += target.read(case)
        except MemoryError:
            _fail(words, "memory")
        except Wrong as error:
            _fail(words, "wrong", str(error))
        except BaseException as error:
            _fail(words, type(error).__name__)
        shutil.rmtree(place)
    shared.set(indices.stop, time.process_time(), taken)
    os._exit(0)


def _fail(words: int, kind: str, detail: str = "") -> None:
    text = f"{kind}\n{detail or traceback.format_exc()}"
    os.write(words, text.encode(errors="replace"))
    os._exit(3)


def _save(target: Target, finding: Finding, out: Path) -> None:
    folder = out / f"{finding.target}-{finding.seed}-{finding.index}"
    folder.mkdir(parents=True, exist_ok=True)
    case = case_of(target, finding.seed, finding.index)
    case.write(folder)
    (folder / "finding.txt").write_text(f"{finding}\n{case.arguments!r}\n{finding.detail}\n", errors="replace")
