"""The instance generators: deterministic, solvable, and in the terms of the published domains."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from random import Random

import cli_support as cli
import pytest
from pddl.parser.domain import DomainParser
from pddl.parser.problem import ProblemParser

from gsp_fd.generate import DISTRIBUTIONS, GENERATORS, domain_text, generate, generate_set
from gsp_fd.generate.cli import main
from gsp_fd.generate.registry import draw_sizes
from gsp_fd.pddl import Domain, LiftedTask, Literal, lifted_task, read_domain, read_problem
from gsp_fd.validate import parse_plan, validate_plan

EXAMPLES = Path(__file__).parents[1] / "examples"
IPC_2023 = (
    "blocksworld", "childsnack", "ferry", "floortile", "miconic", "rovers", "satellite", "sokoban", "spanner",
    "transport",
)  # fmt: skip
PUBLISHED = {name: ("ipc2023-learning", name) for name in IPC_2023} | {"gripper": ("conformance", "gripper")}
CONSTANTS = {"childsnack": 1, "sokoban": 4}
INEXACT = ("reward", "sliding-tiles", "sokoban", "witness")  # grids do not come in all sizes
BLIND = ("pushworld",)  # LAMA gets lost in small puzzles

all_domains = pytest.mark.parametrize("domain", GENERATORS)
published_domains = pytest.mark.parametrize("domain", PUBLISHED)


def medium(domain: str) -> int:
    """A size in the lower half of the training sizes."""
    smallest, largest = GENERATORS[domain].training
    return (2 * smallest + largest) // 3


def count_objects(domain: str, size: int, seed: int = 0) -> int:
    instance = GENERATORS[domain].instance(size, Random(seed))
    names = [name for objects in instance.objects.values() for name in objects]
    assert len(set(names)) == len(names)
    assert len(set(instance.init)) == len(instance.init)
    return len(names) + CONSTANTS.get(domain, 0)


def write_task(folder: Path, domain: str, size: int, seed: int) -> tuple[Path, Path]:
    (folder / "domain.pddl").write_text(domain_text(domain))
    (folder / "p.pddl").write_text(generate(domain, size, seed))
    return folder / "domain.pddl", folder / "p.pddl"


def lama_plan(folder: Path, domain: Path, problem: Path) -> list[str]:
    """A plan by Fast Downward's lama-first, or a failed (or skipped) test."""
    options = ["--overall-time-limit", "60s", "--alias", "lama-first"]
    result = cli.fast_downward(folder, *options, str(domain), str(problem))
    assert result.returncode == 0, result.stdout[-1000:]
    return parse_plan((folder / "sas_plan").read_text(), "sas_plan")


def blind_plan(folder: Path, domain: Path, problem: Path) -> list[str]:
    """A shortest plan."""
    result = cli.gsp_plan(folder, str(domain), str(problem), "--search", "astar(blind())")
    assert result.returncode == 0, result.stdout[-1000:]
    return parse_plan((folder / "sas_plan").read_text(), "sas_plan")


# -- every generator


@all_domains
def test_same_arguments_same_text(domain: str) -> None:
    size = medium(domain)
    assert generate(domain, size, 7) == generate(domain, size, 7)
    assert generate(domain, size, 7).partition("\n")[2] != generate(domain, size, 8).partition("\n")[2]


def test_hash_randomisation_changes_nothing() -> None:
    sizes = {domain: medium(domain) for domain in GENERATORS}
    script = (
        "import hashlib; from gsp_fd.generate import domain_text, generate\n"
        f"texts = [domain_text(d) + generate(d, s, 1) for d, s in {sizes}.items()]\n"
        "print([hashlib.sha256(text.encode()).hexdigest() for text in texts])"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


@all_domains
def test_pddl_package_reads_our_files(domain: str) -> None:
    parsed = DomainParser()(domain_text(domain))
    smallest = GENERATORS[domain].smallest
    for seed, size in enumerate((smallest, smallest + 1, medium(domain))):
        problem = ProblemParser()(generate(domain, size, seed))
        problem.check(parsed)
        assert len(problem.objects) + len(parsed.constants) == count_objects(domain, size, seed)


@all_domains
def test_size_is_the_number_of_objects(domain: str) -> None:
    generator = GENERATORS[domain]
    sizes = [*range(generator.smallest, generator.training[1] + 1), generator.largest]
    counts = [count_objects(domain, size) for size in sizes]
    assert counts == sorted(counts)
    if domain in INEXACT:
        assert all(0.7 * size <= count <= size for size, count in zip(sizes, counts, strict=True))
    else:
        assert counts == sizes


@all_domains
def test_goals_are_not_reached_initially(domain: str, tmp_path: Path) -> None:
    for seed in range(10):
        paths = write_task(tmp_path, domain, GENERATORS[domain].smallest, seed)
        parsed = read_domain(paths[0])
        assert not validate_plan(parsed, read_problem(paths[1], parsed), []).valid


@all_domains
def test_solvable(domain: str, tmp_path: Path) -> None:
    smallest = GENERATORS[domain].smallest
    for seed, size in enumerate((smallest, smallest + 3, medium(domain))):
        paths = write_task(tmp_path, domain, size, seed)
        plan = blind_plan(tmp_path, *paths) if domain in BLIND else lama_plan(tmp_path, *paths)
        parsed = read_domain(paths[0])
        assert validate_plan(parsed, read_problem(paths[1], parsed), plan).valid


# -- the published domains


def published(benchmarks: Path, domain: str) -> Path:
    archive, folder = PUBLISHED[domain]
    return benchmarks / archive / folder


def describe(domain: Domain) -> dict[str, object]:
    """Names, types and arities, without the order of the file and the names of the parameters."""
    return {
        "name": domain.name,
        "types": dict(domain.types),
        "constants": {(constant.name, constant.types) for constant in domain.constants},
        "predicates": {
            (name, tuple(parameter.types for parameter in predicate.parameters))
            for name, predicate in domain.predicates.items()
        },
        "actions": {
            (action.name, tuple(parameter.types for parameter in action.parameters)) for action in domain.actions
        },
    }


def describe_schemas(task: LiftedTask) -> dict[str, list[set[tuple[str, tuple[object, ...]]]]]:
    """Preconditions and effects of every action, with parameters as positions and constants as names."""

    def atom(literal: Literal) -> tuple[str, tuple[object, ...]]:
        terms = (term if term >= 0 else task.objects[-term - 1] for term in literal.args)
        return task.predicates[literal.predicate], tuple(terms)

    return {
        schema.name: [
            set(map(atom, literals)) for literals in (schema.positive, schema.negative, schema.add, schema.delete)
        ]
        for schema in task.schemas
    }


@published_domains
def test_domain_equals_the_published_one(domain: str, tmp_path: Path, benchmarks: Path) -> None:
    folder = published(benchmarks, domain)
    ours, problem = write_task(tmp_path, domain, medium(domain), 1)
    domains = [read_domain(path) for path in (ours, folder / "domain.pddl")]
    assert describe(domains[0]) == describe(domains[1])
    tasks = [lifted_task(parsed, read_problem(problem, parsed)) for parsed in domains]
    assert describe_schemas(tasks[0]) == describe_schemas(tasks[1])


@published_domains
def test_plans_hold_in_either_domain(domain: str, tmp_path: Path, benchmarks: Path) -> None:
    folder = published(benchmarks, domain)
    ours, our_problem = write_task(tmp_path, domain, medium(domain), 2)
    theirs = folder / "domain.pddl"
    candidates = (folder / "training" / "p12.pddl", folder / "problem.pddl")
    their_problem = next(path for path in candidates if path.exists())
    for solved, other, problem in ((ours, theirs, our_problem), (theirs, ours, their_problem)):
        plan = lama_plan(tmp_path, solved, problem)
        parsed = read_domain(other)
        assert validate_plan(parsed, read_problem(problem, parsed), plan).valid


@pytest.mark.parametrize("domain", IPC_2023)
def test_training_sizes_are_the_published_ones(domain: str, benchmarks: Path) -> None:
    folder = published(benchmarks, domain)
    parsed = read_domain(folder / "domain.pddl")
    files = (folder / "training").glob("*.pddl")
    sizes = [len(read_problem(file, parsed).objects) + len(parsed.constants) for file in files]
    assert GENERATORS[domain].training == (min(sizes), max(sizes))


def test_script_compares_with_published_problems(benchmarks: Path) -> None:
    script = Path(__file__).parents[1] / "scripts" / "compare_instances.py"
    options = [str(benchmarks / "ipc2023-learning"), "--domains", "floortile,sokoban", "--every", "25"]
    result = subprocess.run([sys.executable, script, *options], capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    rows = [line.split(" | ") for line in result.stdout.splitlines() if line.startswith("| ")]
    measured = {row[0].removeprefix("| ") for row in rows}
    assert {"objects: box", "goals: painted", "floor per cell", "rows", "initial hFF", "expansions"} <= measured
    assert [row[3] for row in rows if row[0] in ("| objects: location", "| objects: color")] == ["1.00 |"] * 2
    assert "## floortile" in result.stdout
    assert "## sokoban" in result.stdout


# -- sets


def atoms(problem: str) -> tuple[frozenset[str], frozenset[str]]:
    """The initial state and the goal, in any order."""
    init, _, goal = problem.partition("(:goal")
    return frozenset(init.splitlines()[1:]), frozenset(goal.splitlines())


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_sets_are_sorted_and_without_duplicates(distribution: str) -> None:
    problems = list(generate_set("blocksworld", 60, (2, 8), 1, distribution))
    assert problems == list(generate_set("blocksworld", 60, (2, 8), 1, distribution))
    assert len(set(map(atoms, problems))) == 60
    sizes = [int(size) for size in re.findall(r"problem blocksworld-(\d+)-", "".join(problems))]
    assert sizes == sorted(sizes)
    assert (sizes[0], sizes[-1]) == (2, 8)


def test_duplicates_only_where_there_is_nothing_else() -> None:
    problems = list(generate_set("blocksworld", 20, (2, 2), 1))
    assert len(problems) == 20
    assert len(set(map(atoms, problems))) == 6  # all pairs of the three states


def test_distributions() -> None:
    def sizes(distribution: str) -> list[int]:
        return draw_sizes(1000, (1, 100), distribution, Random(1))

    for distribution in DISTRIBUTIONS:
        assert all(1 <= size <= 100 for size in sizes(distribution))
    assert sum(size <= 25 for size in sizes("small")) == pytest.approx(500, abs=50)
    assert sum(size <= 25 for size in sizes("uniform")) == pytest.approx(250, abs=50)
    assert draw_sizes(4, (10, 40), "even", Random(1)) == [10, 20, 30, 40]
    assert draw_sizes(1, (10, 40), "even", Random(1)) == [10]


# -- the program


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_program_writes_a_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["ferry", "--count", "3", "--size", "4-6", "--seed", "5", "--out"]
    assert main([*arguments, str(tmp_path / "new" / "set")]) == 0
    assert "3 problems" in capsys.readouterr().out
    written = contents(tmp_path / "new" / "set")
    problems = generate_set("ferry", 3, (4, 6), 5)
    expected = {f"p0{i}.pddl": problem.encode() for i, problem in enumerate(problems, 1)}
    assert written == {"domain.pddl": domain_text("ferry").encode(), **expected}
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["set"]


def test_file_names_sort(tmp_path: Path) -> None:
    assert main(["gripper", "--count", "100", "--size", "5-30", "--out", str(tmp_path)]) == 0
    assert sorted(contents(tmp_path))[1:] == [f"p{i:03}.pddl" for i in range(1, 101)]


def test_force_replaces_an_older_set_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["miconic", "--out", str(tmp_path), "--size", "5", "--count"]
    assert main([*arguments, "4"]) == 0
    (tmp_path / "notes.txt").write_text("mine")
    before = contents(tmp_path)
    with pytest.raises(SystemExit) as stopped:
        main([*arguments, "2"])
    assert stopped.value.code == 2
    assert "not empty" in capsys.readouterr().err
    assert contents(tmp_path) == before
    assert main([*arguments, "2", "--force"]) == 0
    assert sorted(contents(tmp_path)) == ["domain.pddl", "notes.txt", "p01.pddl", "p02.pddl"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rover"], "invalid choice: 'rover' (choose from"),
        (["ferry", "--size", "2-9"], "size 2 is too small for ferry: at least 3 (cars + locations)"),
        (["ferry", "--size", "9-4"], "did you mean 4-9?"),
        (["ferry", "--size", "big"], "'big' is neither a size nor a range"),
        (["ferry", "--size", "5-1000000"], "size 1000000 is too large"),
        (["ferry", "--count", "0"], "'0' is not a positive whole number"),
        (["ferry", "--seed", "x"], "invalid int value: 'x'"),
        (["ferry", "--distribution", "normal"], "invalid choice: 'normal'"),
    ],
)
def test_wrong_arguments(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([*arguments, "--out", str(tmp_path / "set")])
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["file", "file/set"])
def test_directory_that_cannot_be_written(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(SystemExit) as stopped:
        main(["ferry", "--out", str(tmp_path / name)])
    assert stopped.value.code == 2
    assert name in capsys.readouterr().err.splitlines()[-1]
    assert contents(tmp_path) == {"file": b"mine"}


def test_help_names_every_domain(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--help"])
    assert stopped.value.code == 0
    text = capsys.readouterr().out
    assert all(f"  {domain} " in text for domain in GENERATORS)


def test_examples_of_the_help_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        main(["--help"])
    commands = re.findall(r"^  gsp-generate (.*)$", capsys.readouterr().out, re.MULTILINE)
    assert len(commands) == 3
    (tmp_path / "levels.txt").write_text("; 0\n#####\n#@$.#\n#####\n")
    for command in commands:
        assert main(shlex.split(command)) == 0


def example_commands() -> list[list[str]]:
    lines = (EXAMPLES / "README.md").read_text().splitlines()
    return [shlex.split(line)[1:] for line in lines if line.startswith("gsp-generate ")]


def test_every_example_has_its_command() -> None:
    folders = [path.name for path in sorted(EXAMPLES.iterdir()) if path.is_dir()]
    assert sorted(command[0] for command in example_commands()) == folders


@pytest.mark.parametrize("command", example_commands(), ids=lambda command: command[0])
def test_examples_are_what_their_command_writes(command: list[str], tmp_path: Path) -> None:
    assert command[-2:] == ["--out", f"examples/{command[0]}"]
    assert main([*command[:-1], str(tmp_path / "set")]) == 0
    assert contents(tmp_path / "set") == contents(EXAMPLES / command[0])
