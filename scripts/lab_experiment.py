"""A Downward Lab experiment: our configurations and Fast Downward's side by side, a coverage table, a scatter plot.

    python scripts/lab_experiment.py --all

Settings come from the environment, because on a cluster Lab calls this script again in every job:

    GSP_LAB_SLURM       name of a Slurm partition: run there; otherwise on this machine
    GSP_LAB_BENCHMARKS  folder of domains (default: examples)
    GSP_LAB_SUITE       domains or domain:problem, with spaces between (default: all domains of the folder)
    GSP_LAB_TIME        time limit of a run (default: 60s, on Slurm 30m); GSP_LAB_MEMORY its memory limit (3584M)
    GSP_LAB_DATA        where runs and reports go (default: data/lab_experiment beside this script)
    GSP_MODEL           model of the learned configurations (default: the shipped ones)
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from downward import suites
from downward.parsers.exitcode_parser import ExitcodeParser
from downward.parsers.planner_parser import PlannerParser
from downward.parsers.single_search_parser import SingleSearchParser
from downward.parsers.translator_parser import TranslatorParser
from downward.reports.absolute import AbsoluteReport
from downward.reports.scatter import ScatterPlotReport
from lab.environments import LocalEnvironment, SlurmEnvironment
from lab.experiment import Experiment

from gsp_fd.common.processes import fast_downward_command
from gsp_fd.model_library import installed_models

SETTINGS = os.environ
SLURM = SETTINGS.get("GSP_LAB_SLURM")
BENCHMARKS = Path(SETTINGS.get("GSP_LAB_BENCHMARKS", Path(__file__).parents[1] / "examples"))
DATA = Path(SETTINGS.get("GSP_LAB_DATA", Path(__file__).parent / "data" / "lab_experiment"))
TIME_LIMIT = SETTINGS.get("GSP_LAB_TIME", "30m" if SLURM else "60s")
MEMORY_LIMIT = SETTINGS.get("GSP_LAB_MEMORY", "3584M")
LIMITS = ["--overall-time-limit", TIME_LIMIT, "--overall-memory-limit", MEMORY_LIMIT]

HFF = ["--search", "eager_wastar([ff()], w=2)"]
PAIRS = [("fd-wastar-hff", "wastar-hff")]
"""Configurations that a scatter plot compares."""

ATTRIBUTES = [
    "coverage",
    "cost",
    "error",
    "evaluations",
    "expansions",
    "generated",
    "memory",
    "plan_length",
    "planner_memory",
    "planner_time",
    "run_dir",
    "search_time",
    "total_time",
]


class Slurm(SlurmEnvironment):  # type: ignore[misc]
    """Any Slurm cluster; all settings of this script and of Python go with the jobs."""

    DEFAULT_PARTITION = SLURM
    DEFAULT_QOS = "normal"
    DEFAULT_MEMORY_PER_CPU = "4G"
    MAX_TASKS = 1000
    DEFAULT_EXPORT = ["PATH", "PYTHONPATH", *(name for name in SETTINGS if name.startswith("GSP_"))]  # noqa: RUF012


def algorithms() -> dict[str, tuple[list[str], list[str]]]:
    """By name: the planner's command, and what follows the files."""
    ours = [sys.executable, "-m", "gsp_fd.fd_integration"]
    result = {"wastar-hff": (ours, HFF)}
    if theirs := fast_downward_command():
        result["fd-wastar-hff"] = (theirs, HFF)
    if (model := SETTINGS.get("GSP_MODEL")) or installed_models():
        learned = ["--heuristic", "gsp", "--model", model or "auto"]
        result["gsp-wastar"] = (ours, [*learned, "--search", "wastar", "-w", "2"])
        result["gsp-policy"] = (ours, [*learned, "--search", "policy"])
    return result


def add_runs(experiment: Any) -> None:
    """One run for every algorithm on every task."""
    names = SETTINGS.get("GSP_LAB_SUITE", "").split()
    suite = names or sorted(path.name for path in BENCHMARKS.iterdir() if path.is_dir())
    for task in suites.build_suite(BENCHMARKS.resolve(), suite):
        for algorithm, (command, options) in algorithms().items():
            run = experiment.add_run()
            run.add_resource("domain", task.domain_file, "domain.pddl", symlink=True)
            run.add_resource("problem", task.problem_file, "problem.pddl", symlink=True)
            run.add_command("planner", [*command, *LIMITS, "{domain}", "{problem}", *options])
            run.add_command(
                "remove-sas",
                [sys.executable, "-c", "import os; os.path.exists('output.sas') and os.remove('output.sas')"],
            )
            run.set_property("domain", task.domain)
            run.set_property("problem", task.problem)
            run.set_property("algorithm", algorithm)
            run.set_property("id", [algorithm, task.domain, task.problem])


def main() -> None:
    """Build, run, parse, fetch and report: Lab's steps, all or some of them."""
    experiment = Experiment(path=DATA, environment=Slurm() if SLURM else LocalEnvironment(processes=1))
    add_runs(experiment)
    for parser in (ExitcodeParser, TranslatorParser, SingleSearchParser, PlannerParser):
        experiment.add_parser(parser())
    experiment.add_step("build", experiment.build)
    experiment.add_step("start", experiment.start_runs)
    experiment.add_step("parse", experiment.parse)
    experiment.add_fetcher(name="fetch")
    experiment.add_report(AbsoluteReport(attributes=ATTRIBUTES), outfile="report.html")
    for first, second in PAIRS:
        if {first, second} <= set(algorithms()):
            report = ScatterPlotReport(
                attributes=["planner_time"], filter_algorithm=[first, second], get_category=lambda run, _: run["domain"]
            )
            experiment.add_report(report, name=f"scatter-{first}-{second}", outfile=f"scatter-{first}-{second}.png")
    experiment.run_steps()


if __name__ == "__main__":
    main()
