"""Six ways to begin, from the first command to the first success, with the real programs and a clock.

With Fast Downward's habits, with a new domain of one's own, from unified-planning, from Python, for a comparison, and
with every kind of mistake, which must end in the right exit code and a message. Prints every command with its seconds,
and a table; the exit code tells whether all went as it should. ``--minutes`` says how long the training takes.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
BLOCKS = "examples/blocksworld/domain.pddl examples/blocksworld/p02.pddl"
MINE = "examples/stacking/domain.pddl"
"""A domain with derived predicates, without a shipped model."""
UNIFIED_PLANNING = """\
from unified_planning.io import PDDLReader
from unified_planning.shortcuts import OneshotPlanner, get_environment
from gsp_fd.fd_integration.unified_planning import register
get_environment().credits_stream = None
register()
problem = PDDLReader().parse_problem('examples/ferry/domain.pddl', 'examples/ferry/p01.pddl')
with OneshotPlanner(name='gsp') as planner:
    print(planner.solve(problem).plan)
"""
PYTHON = """\
import gsp_fd
task = gsp_fd.load('examples/blocksworld/p02.pddl')
model = gsp_fd.Model('blocksworld')
action, q = next(iter(model.q(task.initial).items()))
result = gsp_fd.plan(task, 'policy', heuristic='gsp', model='blocksworld')
print(action, q, result.status, result.cost)
"""


@dataclass(frozen=True)
class Step:
    """A command of bash or a program for Python, its exit code, and words that it must print."""

    command: str
    says: str
    code: int = 0
    python: bool = False

    @property
    def shown(self) -> str:
        """In one line."""
        return f"python: {len(self.command.splitlines())} lines" if self.python else self.command


def ways(minutes: float) -> dict[str, list[Step]]:
    """The steps of each way; its last step is the success."""
    return {
        "Fast Downward's habits": [
            Step(f"gsp-plan --alias lama-first {BLOCKS}", "Solution found."),
            Step(f"gsp-plan {BLOCKS} --search 'let(h, ff(), lazy_greedy([h], preferred=[h]))'", "Solution found."),
            Step(f"gsp-plan --translate {BLOCKS}", "translate exit code: 0"),
            Step("gsp-plan output.sas --search 'eager_wastar([ff()], w=3)' --search-time-limit 1m", "Solution found."),
            Step(f"gsp-plan {BLOCKS} --search 'eager_greedy([gsp(model=blocksworld)])'", "Solution found."),
        ],
        "a domain of one's own": [
            Step("gsp-generate stacking --count 30 --size 2-12 --out mine", ""),
            Step(f"gsp-train {MINE} mine --out run --minutes {minutes:g}", "--model run"),
            Step(f"gsp-plan {MINE} mine/p30.pddl --model run", "Model run was given"),
        ],
        "unified-planning": [Step(UNIFIED_PLANNING, "board", python=True)],
        "Python": [Step(PYTHON, "solved", python=True)],
        "a comparison": [
            Step(
                "gsp-compare run examples/ferry --configurations gsp-policy,hff --out results --explain", "index.html"
            ),
            Step("gsp-compare report results --reference hff", "gsp-policy: GSP greedy policy"),
        ],
        "every kind of mistake": MISTAKES,
    }


MISTAKES = [
    Step("gsp-plan nowhere.pddl", "nowhere.pddl: No such file or directory", 30),
    Step(
        "echo '(define (problem p)' > broken.pddl; gsp-plan examples/ferry/domain.pddl broken.pddl", "broken.pddl:", 31
    ),
    Step(
        "gsp-plan examples/blocksworld/domain.pddl examples/ferry/p01.pddl", "p01.pddl:2: the problem is for domain", 31
    ),
    Step(f"gsp-plan {BLOCKS} --search 'astar(hmxa())'", "did you mean 'hmax'?", 33),
    Step(f"gsp-plan {BLOCKS} --serach 'astar(hmax())'", "did you mean '--search'?", 33),
    Step(f"gsp-plan {BLOCKS} --model blockswrold", "did you mean 'blocksworld'?", 33),
    Step(f"gsp-plan {BLOCKS} --heuristic gsp --search policy --model ferry", "the model does not fit the task", 33),
    Step("gsp-plan examples/gripper/p01.pddl --heuristic gsp --search policy", "train one with gsp-train", 33),
    Step(f"gsp-plan --alias lama-frist {BLOCKS}", "did you mean 'lama-first'?", 36),
    Step("gsp-compare run nowhere --out results-2", "nowhere: there is no such file or folder", 36),
    Step("gsp-compare run examples/ferry --out results-2 --configurations gsp-polcy", "did you mean 'gsp-policy'?", 36),
    Step("gsp-train examples/ferry/domain.pddl nowhere", "nowhere: there is no such file or folder", 36),
    Step("gsp-train --resume nowhere", "this is not the folder of a run", 36),
    Step("gsp-models show blocksworl", "did you mean 'blocksworld'?", 33),
]


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=2, metavar="X", help="of training (default 2)")
    parser.add_argument("--only", metavar="WORDS", default="", help="only the ways with these words in their names")
    options = parser.parse_args()
    chosen = {name: steps for name, steps in ways(options.minutes).items() if options.only in name}
    wrong, rows = 0, []
    for name, steps in chosen.items():
        print(f"\n{name}")
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "examples").symlink_to(ROOT / "examples")
            before = _cpu_seconds()
            seconds, failed = walk(steps, Path(folder))
        wrong += failed
        rows.append((name, len(steps), seconds / 60, _cpu_seconds() - before, failed))
    print(f"\n{'way':24}{'commands':>10}{'minutes':>10}{'CPU s':>10}  outcome")
    for name, count, minutes, cpu, failed in rows:
        outcome = f"{failed} not as it should be" if failed else "as it should be"
        print(f"{name:24}{count:10}{minutes:10.1f}{cpu:10.1f}  {outcome}")
    return 1 if wrong else 0


def walk(steps: Sequence[Step], folder: Path) -> tuple[float, int]:
    """Runs the steps one after another in a folder; the seconds they took, and how many went wrong."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    total, wrong = 0.0, 0
    for step in steps:
        shell = [sys.executable, "-c"] if step.python else ["bash", "-c"]
        start = time.monotonic()
        done = subprocess.run([*shell, step.command], cwd=folder, env=environment, capture_output=True, text=True)
        seconds = time.monotonic() - start
        total += seconds
        printed = done.stdout + done.stderr
        good = done.returncode == step.code and step.says in printed and "Traceback" not in printed
        print(f"{seconds:7.1f} s  {step.shown.replace(str(ROOT) + os.sep, '').replace(sys.executable, 'python')}")
        if step.code and good:
            print(f"           {done.returncode}: {_message(printed)}")
        if not good:
            wrong += 1
            print(f"           exit code {done.returncode}, not {step.code} with '{step.says}':\n{printed[-2000:]}")
    return total, wrong


def _cpu_seconds() -> float:
    """Of all programs that have ended: what a way takes on a machine with nothing else to do, about."""
    times = os.times()
    return times.children_user + times.children_system


def _message(printed: str) -> str:
    """The line that says what is wrong."""
    found = re.search(r"^gsp-\w+: .*$", printed, re.MULTILINE)
    return found[0].replace(str(ROOT) + os.sep, "")[:120] if found else printed.strip()[:120]


if __name__ == "__main__":
    sys.exit(main())
