"""The planner as a program: logs, plan files, limits, signals, terminals."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import cli_support as cli
import pytest

from gsp_fd.fd_integration.help import EXAMPLES
from gsp_fd.fd_integration.language.aliases import ALIASES
from gsp_fd.validate import parse_plan

ROOT = Path(__file__).parents[1]
PLAN_END = re.compile(r"; cost = (\d+) \((unit cost|general cost)\)\n\Z")


def cost_of(path: Path) -> tuple[int, str]:
    match = PLAN_END.search(path.read_text())
    assert match is not None
    return int(match[1]), match[2]


@pytest.fixture
def tower(tmp_path: Path) -> Path:
    return cli.write_files(tmp_path, cli.TOWER)


@pytest.fixture
def courier(tmp_path: Path) -> Path:
    return cli.write_files(tmp_path, cli.COURIER)


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    return cli.write_files(tmp_path, cli.ENDLESS)


@pytest.mark.parametrize("example", [arguments for _, arguments in EXAMPLES])
def test_examples_of_the_help(tmp_path: Path, example: str) -> None:
    for name, copy in (("domain.pddl", "domain.pddl"), ("p01.pddl", "problem.pddl")):
        shutil.copyfile(ROOT / "examples" / "blocksworld" / name, tmp_path / copy)
    assert cli.gsp_plan(tmp_path, "--translate", "domain.pddl", "problem.pddl").returncode == 0
    run = cli.gsp_plan(tmp_path, *shlex.split(example))
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stderr == ""


def test_make_plan_plans_with_gsp(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    makefile = (ROOT / "Makefile").read_text()
    recipe = makefile[makefile.index("\nplan:") :].partition("\n\n")[0]
    example = re.search(r"^EXAMPLE := (.*)$", makefile, re.MULTILINE)
    assert example is not None
    commands = re.findall(r"\t\$\(BIN\)/gsp-plan (.*)", recipe.replace("$(EXAMPLE)", example[1]))
    logs = [cli.gsp_plan(tmp_path, *shlex.split(command)).stdout for command in commands]
    assert "models/blocksworld.onnx for domain blocksworld" in logs[0]
    assert "Solution found." in logs[0]
    assert (tmp_path / "sas_plan").is_file()
    gsp, hff = (line.split() for line in logs[1].splitlines()[-2:])
    assert gsp[:2] == ["gsp-policy", "solved"]
    assert hff[0] == "hff-wastar"


@pytest.mark.parametrize("alias", ALIASES)
@pytest.mark.parametrize("task", ["tower", "courier"])
def test_aliases(task: str, alias: str, request: pytest.FixtureRequest) -> None:
    folder = request.getfixturevalue(task)
    run = cli.gsp_plan(folder, "--alias", alias, "domain.pddl", "problem.pddl")
    assert run.returncode == 0, run.stdout + run.stderr
    costs = [cost_of(folder / name) for name in cli.plan_files(folder)]
    assert costs == sorted(set(costs), reverse=True)
    if alias in ("astar-blind", "astar-hmax", "anytime-hff"):
        assert costs[-1] == ((6, "unit cost") if task == "tower" else (270019, "general cost"))


def test_lines_and_their_order(tower: Path) -> None:
    run = cli.gsp_plan(
        tower, "domain.pddl", "problem.pddl", "--search", "let(h, ff(), eager_wastar([h], preferred=[h], w=2))"
    )
    expected = [
        r"INFO     planner time limit: None",
        r"INFO     planner memory limit: None",
        r"",
        r"INFO     Running translator\.",
        r"Parsing\.\.\.",
        r"Parsing: \[\d+\.\d{3}s CPU, \d+\.\d{3}s wall-clock\]",
        r"Translator variables: \d+",
        r"Translator operators: \d+",
        r"Translator task size: \d+",
        r"Translator peak memory: \d+ KB",
        r"Done! \[\d+\.\d{3}s CPU, \d+\.\d{3}s wall-clock\]",
        r"translate exit code: 0",
        r"INFO     Running search \(release\)\.",
        r"INFO     search time limit: None",
        r"\[t=\d+\.\d{6}s, \d+ KB\] Conducting best first search with reopening closed nodes, "
        r"\(real\) bound = 2147483647",
        r"\[t=.*\] Initial heuristic value for ff: \d+",
        r"\[t=.*\] New best heuristic value for ff: \d+",
        r"\[t=.*\] \[g=\d+, \d+ evaluated, \d+ expanded\]",
        r"\[t=.*\] Solution found!",
        r"\[t=.*\] Actual search time: \d+\.\d+s",
        r"take c b \(1\)",
        r"\[t=.*\] Plan length: 6 step\(s\)\.",
        r"\[t=.*\] Plan cost: 6",
        r"\[t=.*\] Expanded \d+ state\(s\)\.",
        r"\[t=.*\] Reopened \d+ state\(s\)\.",
        r"\[t=.*\] Evaluated \d+ state\(s\)\.",
        r"\[t=.*\] Evaluations: \d+",
        r"\[t=.*\] Generated \d+ state\(s\)\.",
        r"\[t=.*\] Dead ends: \d+ state\(s\)\.",
        r"\[t=.*\] Number of registered states: \d+",
        r"\[t=.*\] Search time: \d+\.\d+s",
        r"\[t=.*\] Total time: \d+\.\d+s",
        r"Solution found\.",
        r"Peak memory: \d+ KB",
        r"search exit code: 0",
        r"INFO     Planner time: \d+\.\d\ds",
    ]
    lines = iter(run.stdout.splitlines())
    for pattern in expected:
        assert any(re.fullmatch(pattern, line) for line in lines), pattern
    assert run.stderr == ""
    assert cli.plan_files(tower) == ["sas_plan"]
    assert len(parse_plan((tower / "sas_plan").read_text(), "sas_plan")) == 6
    assert not (tower / "output.sas").exists()


def test_iterated_search_numbers_its_plans(courier: Path) -> None:
    search = "iterated([lazy_greedy([goalcount()]), eager_greedy([ff()]), astar(hmax())], repeat_last=true)"
    run = cli.gsp_plan(courier, "domain.pddl", "problem.pddl", "--search", search)
    assert run.returncode == 0, run.stderr
    names = cli.plan_files(courier)
    assert names == [f"sas_plan.{number}" for number in range(1, len(names) + 1)]
    costs = [cost_of(courier / name)[0] for name in names]
    assert costs == sorted(set(costs), reverse=True)
    assert [int(cost) for cost in re.findall(r"Plan cost: (\d+)", run.stdout)] == costs
    assert "Cumulative statistics:" in run.stdout
    assert "exists - stop searching" in run.stdout


def test_old_plans_are_deleted_before_the_search(tower: Path) -> None:
    old = ["sas_plan", "sas_plan.1", "sas_plan.2"]
    cli.write_files(tower, dict.fromkeys([*old, "sas_plan.4"], "old\n"))
    run = cli.gsp_plan(tower, "problem.pddl", "--heuristic", "hff", "--max-expansions", "1")
    assert run.returncode == 12
    assert cli.plan_files(tower) == ["sas_plan.4"]


def test_nothing_is_deleted_for_a_command_line_that_is_wrong(tower: Path) -> None:
    cli.write_files(tower, {"sas_plan": "old\n"})
    assert cli.gsp_plan(tower, "problem.pddl", "--heuristic", "hfff").returncode == 33
    assert cli.plan_files(tower) == ["sas_plan"]


def test_as_a_component_of_a_portfolio(tower: Path) -> None:
    cli.write_files(tower, {"plan.1": "old\n", "plan.2": "old\n"})
    options = ["--internal-plan-file", "plan", "--internal-previous-portfolio-plans", "2"]
    run = cli.gsp_plan(tower, "problem.pddl", "--search", "eager_greedy([ff()])", *options)
    assert run.returncode == 0
    assert (tower / "plan.1").read_text() == "old\n"
    assert cost_of(tower / "plan.3")[1] == "unit cost"


def test_plan_file_elsewhere_and_cleanup(tower: Path) -> None:
    (tower / "out").mkdir()
    files = ["--plan-file", "out/plan", "--sas-file", "out/task.sas"]
    assert cli.gsp_plan(tower, *files, "problem.pddl", "--heuristic", "hff").returncode == 0
    assert sorted(path.name for path in (tower / "out").iterdir()) == ["plan", "task.sas"]
    assert cli.gsp_plan(tower, *files, "--cleanup").returncode == 0
    assert list((tower / "out").iterdir()) == []


def test_devices_as_plan_files_survive(tower: Path) -> None:
    run = cli.gsp_plan(tower, "--plan-file", "/dev/stdout", "problem.pddl", "--heuristic", "hff")
    assert run.returncode == 0
    assert "\n(take c b)\n" in run.stdout
    assert cli.gsp_plan(tower, "--plan-file", "/dev/null", "problem.pddl", "--heuristic", "hff").returncode == 0
    assert Path("/dev/null").is_char_device()
    assert Path("/dev/stdout").is_symlink()


def test_sas_files(tower: Path) -> None:
    assert cli.gsp_plan(tower, "--translate", "domain.pddl", "problem.pddl").returncode == 0
    run = cli.gsp_plan(tower, "output.sas", "--search", "astar(hmax())")
    assert run.returncode == 0
    assert cost_of(tower / "sas_plan") == (6, "unit cost")
    assert "translate exit code" not in run.stdout
    assert (tower / "output.sas").exists()


def test_options_of_the_translator(tmp_path: Path) -> None:
    pytest.importorskip("fast_downward", reason="Fast Downward's translator is not installed")
    cli.write_files(tmp_path, cli.GAME)
    options = ["--translate-options", "--layer-strategy", "max", "--search-options"]
    run = cli.gsp_plan(tmp_path, "--keep-sas-file", "problem.pddl", *options, "--heuristic", "hff")
    assert run.returncode == 0, run.stderr
    assert "Using Fast Downward's translator, because of its options" in run.stdout
    assert len(re.findall("^Translator variables: ", run.stdout, re.MULTILINE)) == 1
    assert (tmp_path / "output.sas").read_text().startswith("begin_version\n3\n")


@pytest.mark.parametrize(
    ("search", "code", "line"),
    [
        ("astar(hmax())", 11, "Task is provably unsolvable."),
        ("eager_greedy([ff()])", 11, "Task is provably unsolvable."),
        ("astar(blind(), bound=3)", 13, "Task is provably unsolvable within the given bound."),
        ("iterated([lazy_greedy([goalcount()]), astar(blind())])", 11, "Task is provably unsolvable."),
    ],
)
def test_unsolvable(tmp_path: Path, search: str, code: int, line: str) -> None:
    cli.write_files(tmp_path, cli.UNSOLVABLE)
    run = cli.gsp_plan(tmp_path, "problem.pddl", "--search", search)
    assert run.returncode == code
    assert f"\n{line}\n" in run.stdout
    assert cli.plan_files(tmp_path) == []


def test_unsolvable_within_the_bound(tower: Path) -> None:
    run = cli.gsp_plan(tower, "problem.pddl", "--search", "astar(blind(), bound=6)")
    assert run.returncode == 13
    assert "no plan with cost 5 or less exists!" in run.stdout


def test_selection_by_costs(tower: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    courier = cli.write_files(tmp_path_factory.mktemp("courier"), cli.COURIER)
    arguments = ["--search", "--if-unit-cost", "astar(blind())", "--if-non-unit-cost", "astar(hmax())"]
    for folder, name in ((tower, "blind"), (courier, "hmax")):
        run = cli.gsp_plan(folder, "problem.pddl", *arguments)
        assert run.returncode == 0
        assert f"Initial heuristic value for {name}: " in run.stdout


def test_shared_evaluators_are_evaluated_once(tower: Path) -> None:
    shared = "let(h, ff(), lazy_greedy([h], preferred=[h]))"
    separate = "lazy_greedy([ff()], preferred=[ff()])"
    counts = []
    for search in (shared, separate):
        run = cli.gsp_plan(tower, "problem.pddl", "--search", search)
        assert len(re.findall("Initial heuristic value", run.stdout)) == 1
        match = re.search(r"Evaluations: (\d+)", run.stdout)
        assert match is not None
        counts.append(int(match[1]))
    assert counts[1] == 2 * counts[0]


def test_log_levels(tower: Path) -> None:
    arguments = ["problem.pddl", "--heuristic", "hff", "-w", "3"]
    told, usual = (cli.gsp_plan(tower, "--log-level", level, *arguments).stdout for level in ("debug", "info"))
    line = "DEBUG    processed args: {'files': ['problem.pddl'], 'search_tokens': ['--heuristic', 'hff'], "
    assert told.startswith(line + "'log_level': 'debug', 'weight': 3.0}")
    assert "DEBUG" not in usual
    quiet = cli.gsp_plan(tower, "--log-level", "warning", "problem.pddl", "--heuristic", "hff").stdout
    assert "INFO" not in quiet
    assert "Plan cost: " in quiet


def test_verbosity(tower: Path) -> None:
    run = cli.gsp_plan(tower, "problem.pddl", "--search", "eager_greedy([ff()], verbosity=silent)")
    assert "New best heuristic value" not in run.stdout
    assert "Plan cost: " in run.stdout


def test_progress_only_on_a_terminal(endless: Path) -> None:
    pty = pytest.importorskip("pty")
    arguments = ["problem.pddl", "--search", "astar(blind(), max_time=1)"]
    master, terminal = pty.openpty()
    command = cli.planner_command(*arguments)
    with subprocess.Popen(command, cwd=endless, stdout=terminal, stderr=terminal) as process:
        os.close(terminal)
        output = b""
        while True:
            try:
                data = os.read(master, 65536)
            except OSError:
                break
            if not data:
                break
            output += data
    os.close(master)
    assert process.returncode == 12
    assert b"expansions/s" in output
    run = cli.gsp_plan(endless, *arguments)
    assert "expansions/s" not in run.stdout + run.stderr


def test_a_reader_that_goes_away(tower: Path) -> None:
    command = cli.planner_command("problem.pddl", "--search", "iterated([astar(blind()), astar(ff())])")
    with subprocess.Popen(command, cwd=tower, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        errors = process.stderr.read()
    assert process.returncode == 0
    assert errors == ""
    assert cli.plan_files(tower) == ["sas_plan.1"]


# VAL


def _stand_in(folder: Path, status: int, verdict: str = "") -> dict[str, str]:
    """A program named ``validate`` that runs some code and then accepts or rejects whatever it gets."""
    program = folder / "bin" / "validate"
    program.parent.mkdir(exist_ok=True)
    program.write_text(
        f"#!{sys.executable}\nimport sys\nprint('judged', *sys.argv[1:])\n{verdict}\nsys.exit({status})\n"
    )
    program.chmod(0o755)
    return {**os.environ, "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}


def test_val_is_used_where_it_is(tower: Path) -> None:
    arguments = ["--validate", "domain.pddl", "problem.pddl", "--heuristic", "hff"]
    run = cli.gsp_plan(tower, *arguments, env=_stand_in(tower, 0))
    assert run.returncode == 0
    assert "\njudged domain.pddl problem.pddl sas_plan\n" in run.stdout
    assert "validate exit code: 0" in run.stdout


def test_a_plan_that_val_rejects_is_withdrawn(tower: Path) -> None:
    arguments = ["--validate", "domain.pddl", "problem.pddl", "--heuristic", "hff"]
    run = cli.gsp_plan(tower, *arguments, env=_stand_in(tower, 1))
    assert run.returncode == 32
    assert "VAL rejected the plan" in run.stderr
    assert cli.plan_files(tower) == []


BUSY = "while True: pass"
ASLEEP = "import time; time.sleep(1.5)"
LARGE = """
try:
    bytearray(512 << 20)
except MemoryError:  # as VAL ends
    print("Error: std::bad_alloc")
    sys.exit(255)
"""


def test_val_has_limits_of_its_own(tower: Path) -> None:
    arguments = ["--validate", "domain.pddl", "problem.pddl", "--heuristic", "hff"]
    run = cli.gsp_plan(tower, "--validate-time-limit", "1s", *arguments, env=_stand_in(tower, 0, BUSY))
    assert run.returncode == 35
    assert "validate time limit: 1s" in run.stdout
    assert "Time limit has been reached." in run.stdout
    run = cli.gsp_plan(tower, "--validate-memory-limit", "300M", *arguments, env=_stand_in(tower, 0, LARGE))
    assert run.returncode == 35
    assert "Memory limit has been reached." in run.stdout
    assert "rejected" not in run.stderr
    assert cli.plan_files(tower) == ["sas_plan"], "a validator that gave no verdict takes no plan away"
    run = cli.gsp_plan(tower, "--validate-memory-limit", "2G", *arguments, env=_stand_in(tower, 0, LARGE))
    assert run.returncode == 0
    run = cli.gsp_plan(tower, "--validate-time-limit", "1s", *arguments, env=_stand_in(tower, 0, ASLEEP))
    assert run.returncode == 0, "time is CPU time"
    run = cli.gsp_plan(tower, *arguments, env=_stand_in(tower, 0, "import os; os.abort()"))
    assert run.returncode == 35
    assert "VAL gave no verdict" in run.stderr


def test_validate_without_val(tower: Path) -> None:
    env = {**os.environ, "PATH": str(tower)}
    run = cli.gsp_plan(tower, "--validate", "problem.pddl", "--heuristic", "hff", env=env)
    assert run.returncode == 0
    assert "checked by the built-in validator" in run.stdout


def test_start_up_imports_little(tower: Path) -> None:
    script = (
        "import sys; from gsp_fd.fd_integration.driver import main; "
        "code = main(['problem.pddl', '--heuristic', 'hff', '--log-level', 'warning']); "
        "heavy = [name for name in ('torch', 'onnxruntime', 'pddl', 'argparse', 'numpy') if name in sys.modules]; "
        "sys.exit(f'imported {heavy}' if heavy else code)"
    )
    command = [cli.planner_command()[0], "-c", script]
    run = subprocess.run(command, cwd=tower, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_a_wrong_plan_is_never_written(tower: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The validator decides: here the goal of the files is not the one the search knows."""
    from gsp_fd.fd_integration.language.context import Context
    from gsp_fd.fd_integration.language.registry import check_search
    from gsp_fd.fd_integration.run.limits import Deadline, Limits
    from gsp_fd.fd_integration.run.log import Log
    from gsp_fd.fd_integration.run.plans import PlanFiles
    from gsp_fd.fd_integration.run.search import InvalidPlanError, Run
    from gsp_fd.task import load_pddl

    monkeypatch.chdir(tower)
    other = cli.TOWER["problem.pddl"].replace("(on a b) (on b c)", "(on b a) (on a c)")
    cli.write_files(tower, {"other.pddl": other})
    searched = load_pddl("domain.pddl", "problem.pddl")
    judged = load_pddl("domain.pddl", "other.pddl")
    plans = PlanFiles(Path("sas_plan"))
    run = Run(Context(judged, searched.ground()), Log(), plans, Deadline(Limits()))
    with pytest.raises(InvalidPlanError):
        run.execute(check_search("eager_greedy([ff()])"))
    assert cli.plan_files(tower) == []
