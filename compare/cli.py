"""``gsp-compare``: configurations side by side on suites of problems."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from gsp_fd.common.errors import InputError, driver_error
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.common.files import write_atomically
from gsp_fd.common.machine import machine
from gsp_fd.common.quantities import parse_memory, parse_time
from gsp_fd.common.untrusted import file_name
from gsp_fd.compare.configurations import BUILT_IN, Configuration, find_configurations, located, split_names
from gsp_fd.compare.limits import (
    DEFAULT_DISK_MB,
    DEFAULT_EXPANSIONS,
    DEFAULT_MEMORY_MB,
    DEFAULT_SECONDS,
    RunLimits,
    run_limits,
)
from gsp_fd.compare.outcome import STATUSES
from gsp_fd.compare.progress import Progress, duration
from gsp_fd.compare.results import VERSION, Results, ResultsWriter, read_results
from gsp_fd.compare.runner import Job, Record, run_local, run_on_ray
from gsp_fd.compare.suites import (
    GENERATE,
    Selection,
    SuiteProblem,
    pddl_names,
    read_bounds,
    read_suites,
    with_bounds,
    with_domain,
)
from gsp_fd.compare.versions import versions
from gsp_fd.fd_integration.run.configuration import SHORT_HEURISTICS
from gsp_fd.fd_integration.run.options import Options

EXAMPLES = """\
examples:
  gsp-compare run ipc2023-learning/ferry --configurations gsp-policy,hff-wastar,fd-lama-first --out ferry
  gsp-compare run 'generate:gripper?count=5&size=10-40' --configurations 'hff-wastar,lazy=lazy_greedy([ff()])' --out l
  gsp-compare run problems --configuration 'other=!./planner {domain} {problem} {plan}' --out other --time-limit 30m
  gsp-compare run problems --configurations gsp,hff,hmax --domain domain.pddl --out three
  gsp-compare report ferry other --out both
"""


def parser() -> argparse.ArgumentParser:
    """The command line of ``gsp-compare``."""
    rows = "\n".join(f"  {name:16}{description}" for name, (_, description, _) in BUILT_IN.items())
    result = argparse.ArgumentParser(
        prog="gsp-compare",
        description="Run planner configurations on suites of problems under the same limits, validate every plan, and "
        "show the results as tables and as a page.",
        epilog=f"configurations:\n{rows}\n  {', '.join(SHORT_HEURISTICS)}: as of gsp-plan --compare\n\n{EXAMPLES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    commands = result.add_subparsers(dest="command", required=True, metavar="COMMAND")
    run = commands.add_parser(
        "run", help="run configurations, or go on where a run was interrupted", allow_abbrev=False
    )
    _add_run_options(run.add_argument)
    report = commands.add_parser(
        "report", help="write tables.md, tables.tex, results.csv and index.html", allow_abbrev=False
    )
    report.add_argument("results", nargs="+", type=Path, metavar="DIR", help="folders or results files, put together")
    report.add_argument("--out", type=Path, metavar="DIR", help="where the report goes (default: the first folder)")
    report.add_argument(
        "--reference", metavar="NAME", help="configuration to compare with the others pairwise, or all for all pairs"
    )
    return result


def _add_run_options(add: Callable[..., Any]) -> None:
    add("suites", nargs="+", metavar="SUITE", help="folder of a domain (flat, or testing/{easy,medium,hard}) or of "
        "domains, problem, list file, or generate:DOMAIN?count=N&size=A-B&seed=S")  # fmt: skip
    add("--out", type=Path, required=True, metavar="DIR", help="folder of the results; what is there is not run again")
    add("--configurations", metavar="A,B,…", help="names, NAME=SEARCH, NAME=fd:SEARCH for Fast Downward, or "
        "NAME=!COMMAND with {domain} {problem} {plan} (default: all that have names)")  # fmt: skip
    add("--configuration", action="append", default=[], metavar="A", help="one more, commas in it are part of it")
    add("--model", default="auto", metavar="MODEL", help="of the learned configurations: file, shipped name, or auto")
    add("--domain", type=Path, metavar="FILE", help="domain of all problems (default: what lies beside them)")
    add("--split", metavar="A,B", help="only these splits, such as easy,medium")
    add("--every", type=_positive, default=1, metavar="N", help="only every N-th problem of a split")
    add("--bounds", type=Path, metavar="FILE", help="JSON file with best known costs")
    add("--jobs", type=_positive, metavar="N", help="runs at the same time (default 1; on a cluster: its processors)")
    add("--ray-address", metavar="ADDRESS", help="run on a Ray cluster (auto, HOST:PORT; local starts one)")
    add(
        "--time-limit",
        type=_limit(parse_time),
        default=DEFAULT_SECONDS,
        metavar="TIME",
        help="CPU time of a run: 90, 5m, 1h (300)",
    )
    add(
        "--memory-limit",
        type=_limit(lambda text: parse_memory(text) >> 20),
        default=DEFAULT_MEMORY_MB,
        metavar="SIZE",
        help="4G, 3584M (4G)",
    )
    add(
        "--max-expansions",
        type=_natural,
        default=DEFAULT_EXPANSIONS,
        metavar="N",
        help="expansions of a run, 0 for no limit (10000)",
    )
    add(
        "--wall-limit",
        type=_limit(parse_time),
        metavar="TIME",
        help="how long a run may wait idly (3 times the CPU time and 10 s)",
    )
    add(
        "--disk-limit",
        type=_limit(lambda text: parse_memory(text) >> 20),
        default=DEFAULT_DISK_MB,
        metavar="SIZE",
        help="what the folder of a run may hold (4G)",
    )
    add("--retry", metavar="STATUS,…", help=f"run these again: {', '.join(STATUSES)}")
    add("--explain", action="store_true", help="keep what the model and hFF say of each step of the plans found: a "
        "click on a number of steps shows it on the page")  # fmt: skip
    add("--quiet", action="store_true", help="no line for each run")


def _limit(parse: Callable[[str], int]) -> Callable[[str], int]:
    def checked(text: str) -> int:
        try:
            value = parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
        if value < 1:
            raise argparse.ArgumentTypeError(f"'{text}' is less than 1 MB")
        return value

    return checked


def _natural(text: str) -> int:
    if not text.isdecimal() or len(text) > 12:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number")
    return int(text)


def _positive(text: str) -> int:
    if _natural(text) < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return int(text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs ``gsp-compare``; returns its exit code."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    options = parser().parse_args(arguments)
    try:
        if options.command == "report":
            return report(options.results, options.out, options.reference)
        return run(options, arguments)
    except InputError as error:
        _complain(str(error))
        return error.exit_code
    except OSError as error:
        _complain(f"{error.filename or ''}: {error.strerror or error}".removeprefix(": "))
        return ExitCode.DRIVER_CRITICAL_ERROR
    except KeyboardInterrupt:
        _complain("interrupted; the same command goes on where it was")
        return 130


def _complain(message: str) -> None:
    with suppress(OSError):
        print(f"gsp-compare: {message}", file=sys.stderr, flush=True)


def run(options: argparse.Namespace, arguments: Sequence[str]) -> int:
    """``gsp-compare run``."""
    limits = run_limits(
        options.time_limit, options.memory_limit, options.max_expansions or None, options.wall_limit, options.disk_limit
    )
    names = split_names(options.configurations or "") + options.configuration or list(BUILT_IN)
    configurations = find_configurations(names, Options(model=options.model), expansions=limits.expansions is not None)
    retry = set((options.retry or "").split(",")) - {""}
    if unknown := retry - set(STATUSES):
        raise driver_error(f"--retry: '{min(unknown)}' is no status; known are {', '.join(STATUSES)}")
    selection = Selection(tuple(split_names(options.split or "")), options.every)
    _check_there(options.suites, options.domain)
    problems = read_suites(options.suites, selection, options.out / "generated")
    if options.domain is not None:
        problems = with_domain(problems, options.domain)
    if options.bounds is not None:
        problems = with_bounds(problems, read_bounds(options.bounds))
    if not problems:
        raise driver_error("no problem is left: look at --split")
    header = _header(configurations, problems, limits, options.suites, arguments)
    with closing(ResultsWriter(options.out)) as writer:
        check_same(writer.before, header)
        jobs = _missing(problems, configurations, writer.before, retry)
        if options.explain:
            jobs = [replace(job, explain=located(options.model)) for job in jobs]
        known = len(problems) * len(configurations) - len(jobs)
        _say(f"{len(jobs)} runs to do" + (f", {known} done before" if known else ""))
        if jobs:
            writer.write(header)
            _run_all(jobs, limits, options, writer)
    if all(problem.error for problem in problems):
        return ExitCode.DRIVER_INPUT_ERROR
    return report([options.out], None, None)


def _check_there(suites: Sequence[str], domain: Path | None) -> None:
    """InputError for what is not there: better now than hours later, beside the results of the others."""
    for path in [*(Path(suite) for suite in suites if not suite.startswith(GENERATE)), *([domain] if domain else [])]:
        if not path.exists():
            raise driver_error("there is no such file or folder", path)


def _run_all(jobs: Sequence[Job], limits: RunLimits, options: argparse.Namespace, writer: ResultsWriter) -> None:
    start = datetime.now(timezone.utc)
    parallel = options.jobs or (os.cpu_count() or 1 if options.ray_address else 1)
    progress = Progress(jobs, parallel)
    with closing(_records(jobs, limits, options)) as records:
        for result in records:
            writer.write(result)
            line = progress.finished(result)
            if not options.quiet:
                _say(line)
    seconds = (datetime.now(timezone.utc) - start).total_seconds()
    _say(f"done in {duration(seconds)}")


def _records(jobs: Sequence[Job], limits: RunLimits, options: argparse.Namespace) -> Generator[Record, None, None]:
    if options.ray_address is None:
        return run_local(jobs, limits, options.jobs or 1)
    return run_on_ray(jobs, limits, options.jobs, options.ray_address)


def _missing(
    problems: Sequence[SuiteProblem], configurations: Sequence[Configuration], before: Results, retry: set[str]
) -> list[Job]:
    """All runs without a result, problem by problem."""
    jobs = []
    for problem in problems:
        for configuration in configurations:
            known = before.by_key.get((*problem.key, configuration.name))
            if known is None or known["status"] in retry:
                jobs.append(Job(problem, configuration))
    return jobs


def check_same(before: Results, header: dict[str, Any]) -> None:
    """InputError if a results file holds results of other limits, or of another configuration by the same name."""
    for old in before.headers:
        if old["limits"] != header["limits"]:
            changed = [name for name, value in header["limits"].items() if old["limits"].get(name) != value]
            values = ", ".join(f"{name} {old['limits'].get(name)}" for name in changed)
            raise driver_error(
                f"the results in this folder were made with other limits ({values}); choose another --out"
            )
        specs = {entry["name"]: entry["spec"] for entry in old["configurations"]}
        for entry in header["configurations"]:
            if specs.get(entry["name"], entry["spec"]) != entry["spec"]:
                raise driver_error(
                    f"'{entry['name']}' was something else in this folder, {specs[entry['name']]}; "
                    "use another name or another --out"
                )


def _header(
    configurations: Sequence[Configuration],
    problems: Sequence[SuiteProblem],
    limits: RunLimits,
    suites: Sequence[str],
    arguments: Sequence[str],
) -> dict[str, Any]:
    return {
        "kind": "header",
        "version": VERSION,
        "started": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "command": file_name(shlex.join(["gsp-compare", *map(_shown, arguments)])),
        "limits": limits.header(),
        "configurations": [configuration.header() for configuration in configurations],
        "machine": machine(),
        "versions": versions(configurations),
        "suite": file_name(" ".join(_shown(suite) for suite in suites)),
        "domains": pddl_names(problems),
        "problems": len(problems),
    }


def _shown(argument: str) -> str:
    """An argument without the folders of this machine: from the benchmarks on, or its last two parts."""
    if not os.path.isabs(argument):
        return re.sub(r"(?<=[=! ])/[^\s{}]*/", "", argument)
    benchmarks = os.environ.get("GSP_BENCHMARKS")
    if benchmarks and Path(argument).is_relative_to(benchmarks):
        return str(Path("$GSP_BENCHMARKS", Path(argument).relative_to(benchmarks)))
    return str(Path("…", *Path(argument).parts[1:][-2:]))


def report(places: Sequence[Path], out: Path | None, reference: str | None) -> int:
    """``gsp-compare report``."""
    from gsp_fd.compare import page, tables
    from gsp_fd.compare.comparison import Comparison

    results = read_results(places)
    if not results.by_key:
        raise driver_error(f"{places[0]}: there are no results yet")
    comparison = Comparison(results.headers, results.results)
    if reference not in (None, "all", *comparison.compared):
        raise driver_error(
            f"--reference: there are no results of '{reference}', but of {', '.join(comparison.compared)}"
        )
    folder = out or (places[0] if places[0].is_dir() else places[0].parent)
    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        "tables.md": tables.markdown(comparison, reference),
        "tables.tex": tables.latex(comparison, reference),
        "results.csv": tables.csv_text(results.results),
        "index.html": page.render(comparison),
    }
    for name, text in texts.items():
        write_atomically(folder / name, text.encode())
    print(tables.overview(comparison).text())
    print("\n".join(tables.searches(comparison)))
    print(f"{len(results.by_key)} results: {', '.join(str(folder / name) for name in texts)}")
    return ExitCode.SUCCESS


def _say(text: str) -> None:
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
