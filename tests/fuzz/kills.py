"""``python -m tests.fuzz.kills``: programs killed at random moments leave no process, no half of a file, and go on."""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import cli_support
from training_support import TINY_OPTIONS, write_problems

from gsp_fd.common.errors import InputError
from gsp_fd.compare.results import Key, read_results
from gsp_fd.generate import domain_text, generate
from gsp_fd.task import load_pddl
from gsp_fd.validate import parse_plan

MARKER = "GSP_KILLED_RUN"
"""Of the environment, which all processes of a run inherit."""
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
MODULES = {
    "gsp-compare": "gsp_fd.compare.cli",
    "gsp-train": "gsp_fd.training.run.cli",
    "gsp-plan": "gsp_fd.fd_integration",
}
PORTFOLIO = """\
CONFIGS = [(10, ["--search", "lazy_greedy([ff()])"]), (10, ["--search", "eager_wastar([ff()], w=2, bound=BOUND)"]),
           (50, ["--search", "astar(blind(), bound=BOUND)"])]
"""
ANYTIME = "iterated([lazy_greedy([ff()]), lazy_wastar([ff()], w=5), eager_wastar([ff()], w=2), astar(blind())])"


def command(program: str, *arguments: str) -> list[str]:
    """The command line of one of our programs."""
    return [sys.executable, "-m", MODULES[program], *arguments]


def marked(mark: str) -> list[int]:
    """Processes with this mark in their environment that are no zombies."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and f"{MARKER}={mark}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
    return found


class Scenario:
    """A program, where it runs, and what must hold after its death."""

    name = ""
    least, most = 0.2, 3.0
    """Seconds until it is killed."""
    patience = 60.0
    """Seconds until no process of it may be left."""
    lived = 0.0
    """Seconds from its start until it was killed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def prepare(self) -> list[str]:
        """Writes the input; returns the command."""
        raise NotImplementedError

    def problems(self) -> Iterator[str]:
        """What is wrong with what is left."""
        raise NotImplementedError

    def invalid_plans(self) -> Iterator[str]:
        task = load_pddl(self.folder / "domain.pddl", self.folder / "problem.pddl")
        for file in sorted(self.folder.glob("sas_plan*")):
            try:
                actions = parse_plan(file.read_text(), str(file))
            except InputError as error:
                yield str(error)
                continue
            if not task.validate(actions).valid:
                yield f"{file.name} is no plan"
            if "; cost = " not in file.read_text():
                yield f"{file.name} has no last line"

    def finish(self, arguments: list[str], seconds: float = 240) -> str:
        """Runs the command to its end; its output. AssertionError if it fails."""
        run = subprocess.run(arguments, cwd=self.folder, capture_output=True, text=True, timeout=seconds, check=False)
        assert run.returncode == 0, f"{arguments}: exit code {run.returncode}: {run.stderr[-2000:]}"
        return run.stdout


class Planner(Scenario):
    """gsp-plan, one search after another"""

    name = "planner"

    def prepare(self) -> list[str]:
        blocks = {"domain.pddl": domain_text("blocksworld"), "problem.pddl": generate("blocksworld", 12, 1)}
        cli_support.write_files(self.folder, blocks)
        return command("gsp-plan", "domain.pddl", "problem.pddl", "--search", ANYTIME)

    def problems(self) -> Iterator[str]:
        return self.invalid_plans()


class Translator(Planner):
    """gsp-plan while Fast Downward's translator works"""

    name = "translator"
    least, most = 0.1, 1.0

    def prepare(self) -> list[str]:
        cli_support.write_files(self.folder, cli_support.HOUSE)
        rooms = " ".join(f"room{i}" for i in range(12))
        problem = cli_support.HOUSE["problem.pddl"].replace("(:objects ", f"(:objects {rooms} ")
        (self.folder / "problem.pddl").write_text(problem)
        options = ("--translate-options", "--keep-unimportant-variables", "--search-options")
        return command("gsp-plan", "domain.pddl", "problem.pddl", *options, "--search", "astar(blind())")


class Portfolio(Planner):
    """gsp-plan with a portfolio, whose members are processes"""

    name = "portfolio"

    def prepare(self) -> list[str]:
        super().prepare()
        (self.folder / "portfolio.py").write_text(PORTFOLIO)
        limits = ["--portfolio", "portfolio.py", "--overall-time-limit", "60"]
        return command("gsp-plan", *limits, "domain.pddl", "problem.pddl")


class Comparison(Scenario):
    """gsp-compare with two runs at a time, which then goes on where it was"""

    name = "comparison"
    NAMES = ("ff=lazy_greedy([ff()])", "blind=astar(blind())")

    def prepare(self) -> list[str]:
        suite = write_problems(self.folder / "suite", "blocksworld", (3, 6), 6)
        configurations = [word for name in self.NAMES for word in ("--configuration", name)]
        common = ["run", str(suite), "--out", "out", "--jobs", "2", "--max-expansions", "20000", *configurations]
        self.arguments = command("gsp-compare", *common)
        return self.arguments

    def problems(self) -> Iterator[str]:
        before = self.results()
        self.finish(self.arguments)
        after = self.results()
        if len(after) != 12 or any(after[key] != result for key, result in before.items()):
            yield f"{len(before)} results became {len(after)}, or others"

    def results(self) -> dict[Key, dict[str, Any]]:
        file = self.folder / "out" / "results.jsonl"
        return read_results([file]).by_key if file.exists() else {}


class Training(Scenario):
    """gsp-train with a Ray worker, which is then resumed"""

    name = "training"
    least, most = 5.0, 45.0
    patience = 90.0  # Ray's agents try for a minute to tell a server that is gone
    MOST_LOST = 60.0

    def prepare(self) -> list[str]:
        problems = write_problems(self.folder / "problems")
        common = ["--domain", str(problems / "domain.pddl"), "--train", str(problems), "--out", "run", "--minutes", "5"]
        return command("gsp-train", *common, "--workers", "1", *TINY_OPTIONS)

    def problems(self) -> Iterator[str]:
        from gsp_fd.training.checkpoint import load_checkpoint

        run = self.folder / "run"
        if not (run / "config.toml").exists():
            return
        elapsed = 0.0
        if (run / "checkpoint.npz").exists():
            elapsed = load_checkpoint(run / "checkpoint.npz").state["elapsed"]
        if self.lived - elapsed > self.MOST_LOST:
            yield f"{self.lived - elapsed:.0f} s of {self.lived:.0f} s are lost"
        self.finish(command("gsp-train", "--resume", "run", "--minutes", f"{(elapsed + 3) / 60:.4f}"))
        if json.loads((run / "status.json").read_text())["state"] != "finished":
            yield "the resumed run did not finish"
        if load_checkpoint(run / "checkpoint.npz").state["elapsed"] < elapsed:
            yield "the resumed run started anew"


SCENARIOS: dict[str, Callable[[Path], Scenario]] = {
    kind.name: kind for kind in (Planner, Translator, Portfolio, Comparison, Training)
}


def kill_once(kind: Callable[[Path], Scenario], rng: random.Random) -> list[str]:
    """Starts a program, kills it, and says what is wrong afterwards."""
    with tempfile.TemporaryDirectory(prefix="kills-") as name:
        folder = Path(name)
        scenario = kind(folder)
        mark, number = f"{os.getpid()}-{rng.getrandbits(64)}", rng.choice(SIGNALS)
        seconds = rng.uniform(scenario.least, scenario.most)
        with (folder / "log").open("w") as log:
            arguments = scenario.prepare()
            environment, start = {**os.environ, MARKER: mark}, time.monotonic()
            process = subprocess.Popen(
                arguments, cwd=folder, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=environment
            )
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
        scenario.lived = time.monotonic() - start
        process.send_signal(number)
        found = _aftermath(scenario, process, mark)
        said = (folder / "log").read_text(errors="replace")
        # Python says KeyboardInterrupt itself where a signal comes before our first line of code.
        if re.search("Traceback|internal error", said) and not said.endswith("KeyboardInterrupt\n"):
            found.append(said[-2000:])
        return [f"{number.name} after {seconds:.2f} s: {problem}" for problem in found]


def _aftermath(scenario: Scenario, process: subprocess.Popen[bytes], mark: str) -> list[str]:
    found: list[str] = []
    end = time.monotonic() + scenario.patience
    while (left := marked(mark)) and time.monotonic() < end:
        process.poll()
        time.sleep(0.05)
    for orphan in left:
        with suppress(OSError):
            found.append(f"left behind: {Path(f'/proc/{orphan}/cmdline').read_bytes().replace(bytes(1), b' ')[:200]!r}")
            os.kill(orphan, signal.SIGKILL)
    process.wait()
    try:
        found += scenario.problems()
    except Exception as error:
        found.append(f"{type(error).__name__}: {error}")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Kills programs; returns 1 if something is wrong afterwards."""
    rows = "\n".join(f"  {name:12}{kind.__doc__}" for name, kind in SCENARIOS.items())
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz.kills",
        description="Kills programs at random moments: no process may be left, no file torn, and what can be resumed "
        "must go on.",
        epilog=f"scenarios:\n{rows}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help="some of those below (default: all)")
    parser.add_argument("--count", type=int, default=10, help="kills of each scenario (10)")
    parser.add_argument("--seed", type=int, default=0, help="the same seed gives the same moments and signals (0)")
    options = parser.parse_args(arguments)
    if unknown := sorted(set(options.scenarios) - set(SCENARIOS)):
        parser.error(f"there is no scenario {', '.join(unknown)}")
    wrong = 0
    for name in options.scenarios or SCENARIOS:
        rng, found = random.Random(f"{name} {options.seed}"), []
        for _ in range(options.count):
            found += (problems := kill_once(SCENARIOS[name], rng))
            for problem in problems:
                print(f"{name}: {problem}", flush=True)
        print(f"{name}: {options.count} kills with seed {options.seed}, {len(found)} findings", flush=True)
        wrong += len(found)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
