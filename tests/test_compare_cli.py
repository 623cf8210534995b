"""The program gsp-compare, and gsp-plan --compare: from a command to results, tables and a page."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
import tasks
from cli_support import gsp_plan
from compare_support import all_end, python_planner, tower_suite, wait_for, write_plan

import gsp_fd
from gsp_fd.common.processes import PLANNER
from gsp_fd.compare.cli import EXAMPLES, main, parser
from gsp_fd.compare.configurations import OURS
from gsp_fd.compare.single import compared
from gsp_fd.compare.tables import sign_test
from gsp_fd.fd_integration.run.configuration import configurations
from gsp_fd.fd_integration.run.options import parse_command_line

EXAMPLES_FOLDER = Path(__file__).parents[1] / "examples"


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """gsp-compare as a program, in a folder of its own for temporary files."""
    (folder / "scratch").mkdir(exist_ok=True)
    # A shell's background job ignores SIGINT, and so would everything that these tests start there.
    code = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)"
    program = "; from gsp_fd.compare.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code + program, *arguments]
    environment = {**os.environ, "TMPDIR": str(folder / "scratch")}
    environment["RAY_TMPDIR"] = tempfile.gettempdir()  # names of sockets must be short
    return subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True)


def results(folder: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    return [line for line in lines if line["kind"] == "result"]


def test_run_and_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite, out = tower_suite(tmp_path / "tower", ("p01", "p02")), tmp_path / "out"
    (suite / "p03.pddl").write_text("garbage")
    (tmp_path / "empty").mkdir()
    arguments = ["run", str(suite), str(tmp_path / "empty"), "--out", str(out), "--jobs", "2"]
    arguments += ["--configurations", "hff-wastar,blind=astar(blind())", "--configuration"]
    arguments.append(python_planner(tmp_path, "mine", write_plan()))
    assert main(arguments) == 0
    found = {(result["problem"], result["configuration"]): result for result in results(out)}
    assert len(found) == 12
    for name in ("hff-wastar", "blind", "mine"):
        assert found["p01", name]["status"] == found["p02", name]["status"] == "solved"
        assert found["", name]["message"].startswith("unreadable suite: empty: found no problems")
    assert found["p03", "blind"]["status"] == "input-error"
    assert found["p03", "mine"]["status"] == "invalid-plan", "no plan is valid for a problem that cannot be read"
    assert str(tmp_path) not in (out / "results.jsonl").read_text()
    captured = capsys.readouterr()
    assert "[12/12]" in captured.err
    assert "hff-wastar    2/3    2/3" in captured.out, "a run ends with its table"
    assert "hff-wastar: WA* with hFF, w = 2" in captured.out
    assert (out / "index.html").is_file()
    assert main(["report", str(out), "--reference", "all"]) == 0
    shown = capsys.readouterr().out
    assert "hff-wastar    2/3    2/3" in shown
    tables = (out / "tables.md").read_text()
    assert "| tower | 67% (2/3) | 6 |" in tables
    assert "## blind and mine" in tables
    assert (out / "results.csv").read_text().count("\n") == 13
    assert "\\begin{tabular}" in (out / "tables.tex").read_text()
    page = (out / "index.html").read_text()
    assert "hff-wastar" in page
    assert str(tmp_path) not in page


def test_plans_beyond_the_limit_and_the_order_of_the_newest_command(tmp_path: Path) -> None:
    pytest.importorskip("up_fast_downward", reason="Fast Downward is not installed")
    suite, out = tower_suite(tmp_path / "tower", ("p01", "p02")), tmp_path / "out"
    base = ["run", str(suite), "--out", str(out), "--quiet", "--max-expansions", "2", "--configurations"]
    assert main([*base, "blind=fd:astar(blind())"]) == 0
    assert main([*base, "hff-wastar,blind=fd:astar(blind())"]) == 0
    assert main(["report", str(out)]) == 0
    tables = (out / "tables.md").read_text()
    assert "- blind: 2 more valid plan(s) within the time, found beyond the limit on expansions (tower 2)." in tables
    assert "| Domain | hff-wastar Cov. | hff-wastar Steps | blind Cov." in tables


def test_what_is_there_is_not_run_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite, out = tower_suite(tmp_path / "tower", ("p01", "p02")), tmp_path / "out"
    count = f"open({str(tmp_path / 'count')!r}, 'a').write('x')\n"
    planner = python_planner(tmp_path, "mine", count + write_plan("(nonsense)\n"))
    base = ["run", "--out", str(out), "--quiet", "--configuration", planner]
    assert main([*base, str(suite / "p01.pddl")]) == 0
    assert main([*base, str(suite)]) == 0
    assert main([*base, str(suite)]) == 0
    assert (tmp_path / "count").read_text() == "xx"
    assert "0 runs to do, 2 done before" in capsys.readouterr().err
    assert main([*base, str(suite), "--retry", "invalid-plan,crash"]) == 0
    assert (tmp_path / "count").read_text() == "xxxx"


def test_folders_keep_to_their_limits_and_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite, out = tower_suite(tmp_path / "tower"), tmp_path / "out"
    base = ["run", str(suite), "--out", str(out), "--quiet"]
    assert main([*base, "--configurations", "x=astar(blind())"]) == 0
    before = (out / "results.jsonl").read_bytes()
    assert main([*base, "--configurations", "x=astar(blind())", "--time-limit", "10m"]) == 36
    assert "made with other limits (cpu_seconds 300, wall_seconds 910.0)" in capsys.readouterr().err
    assert main([*base, "--configurations", "x=astar(hmax())"]) == 36
    assert "'x' was something else in this folder" in capsys.readouterr().err
    assert (out / "results.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--configurations", "nonsense"], "there is no configuration 'nonsense'"),
        (["--configurations", "hff-wastar", "--retry", "bad"], "'bad' is no status"),
        (["--configurations", "hff-wastar", "--split", "hard"], "no problem is left"),
        (["--configurations", "hff-wastar", "--bounds", "nowhere.json"], "nowhere.json: cannot read the file"),
    ],
)
def test_wrong_options(tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    suite = tower_suite(tmp_path / "tower")
    assert main(["run", str(suite), "--out", str(tmp_path / "out"), *arguments]) == 36
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out" / "results.jsonl").exists()


@pytest.mark.parametrize("option", [["--time-limit", "0"], ["--memory-limit", "x"], ["--jobs", "0"], ["--every", "-1"]])
def test_wrong_values(tmp_path: Path, option: list[str]) -> None:
    with pytest.raises(SystemExit) as error:
        main(["run", "suite", "--out", str(tmp_path), *option])
    assert error.value.code == 2


def test_what_is_missing_stops_a_run_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite, out = tower_suite(tmp_path / "tower"), tmp_path / "out"
    for arguments in (["nowhere"], [str(suite), "nowhere"], [str(suite), "--domain", "nowhere"]):
        assert main(["run", *arguments, "--out", str(out), "--configurations", "hff-wastar", "--quiet"]) == 36
        assert "nowhere: there is no such file or folder" in capsys.readouterr().err
        assert not out.exists()


def test_heuristics_are_configurations_and_a_domain_may_lie_anywhere(tmp_path: Path) -> None:
    suite, out = tower_suite(tmp_path / "tower"), tmp_path / "out"
    (suite / "domain.pddl").rename(tmp_path / "elsewhere.pddl")
    base = ["run", str(suite), "--out", str(out), "--quiet", "--configurations", "hff,HMAX"]
    assert main([*base, "--domain", str(tmp_path / "elsewhere.pddl")]) == 0
    assert {(result["configuration"], result["status"]) for result in results(out)} == {
        ("hff", "solved"),
        ("hmax", "solved"),
    }
    assert "eager_wastar([ff()], w=2)" in (out / "results.jsonl").read_text()


def test_plans_are_explained(tmp_path: Path) -> None:
    """As gsp-plan --explain does it, whoever found the plan."""
    suite, out = EXAMPLES_FOLDER / "blocksworld", tmp_path / "out"
    arguments = ["run", str(suite / "p01.pddl"), "--out", str(out), "--quiet", "--explain", "--configurations"]
    assert main([*arguments, "gsp-policy,blind=astar(blind())"]) == 0
    task = gsp_fd.load(suite / "domain.pddl", suite / "p01.pddl")
    model, hff = gsp_fd.Model("blocksworld"), task.heuristic("hff")
    for result in results(out):
        explanation, state = result["explanation"], task.initial
        assert len(explanation["action"]) == result["steps"]
        for i, name in enumerate(explanation["action"]):
            values = [(action.name, q) for action, q in model.q(state).items()]
            assert [name for name, _ in explanation["best"][i]] == [name for name, _ in values[:3]]
            assert explanation["gsp"][i] == pytest.approx(-values[0][1], abs=1e-3)
            assert (explanation["rest"][i], explanation["hff"][i]) == (result["steps"] - i, hff(state))
            assert explanation["better"][i] == [name for name, _ in values].index(name)
            state = state.apply(name)
        assert state.is_goal
    assert '"explanations":{"0":{"action":' in (out / "index.html").read_text()
    assert json.loads((out / "results.jsonl").read_text().splitlines()[0])["domains"] == {"blocksworld": "blocksworld"}


def test_sign_test() -> None:
    assert sign_test(0, 0) == sign_test(5, 5) == 1
    assert sign_test(0, 10) == pytest.approx(2 / 1024)
    assert sign_test(8, 2) == pytest.approx(2 * (1 + 10 + 45) / 1024)


def test_reports_need_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(tmp_path)]) == 36
    assert "cannot read the results" in capsys.readouterr().err
    (tmp_path / "results.jsonl").write_text("")
    assert main(["report", str(tmp_path)]) == 36
    assert "no results yet" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["results.jsonl"]


def test_the_examples_of_the_help_parse() -> None:
    lines = [line.strip() for line in EXAMPLES.splitlines()[1:]]
    import shlex

    for line in lines:
        program, *arguments = shlex.split(line)
        assert program == "gsp-compare"
        parser().parse_args(arguments)


def hanging(folder: Path) -> str:
    """A planner that tells its process, and that of a child that has left the session, and hangs on every ``p02``."""
    body = f"""
if "second" in open(problem).read():
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"], start_new_session=True)
    open("child.tmp", "w").write(f"{{os.getpid()}} {{child.pid}}")
    os.replace("child.tmp", {str(folder / "processes")!r})
    time.sleep(1000)
"""
    return python_planner(folder, "hang", body + write_plan())


@pytest.mark.skipif(sys.platform != "linux", reason="process trees are found by Linux's /proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_run_leaves_nothing_and_resumes(tmp_path: Path, number: signal.Signals) -> None:
    suite, out = tower_suite(tmp_path / "tower", ("p01", "p02", "p03")), tmp_path / "out"
    (suite / "p02.pddl").write_text(tasks.TOWER.replace("problem four", "problem second"))
    planner = hanging(tmp_path)
    arguments = ["run", str(suite), "--out", str(out), "--configuration", planner]
    program = start(tmp_path, *arguments)
    processes = [int(word) for word in wait_for(tmp_path / "processes").split()]
    program.send_signal(number)
    _, messages = program.communicate(timeout=60)
    assert program.returncode == (130 if number == signal.SIGINT else -9)
    assert "Traceback" not in messages
    assert all_end(processes)
    assert [result["problem"] for result in results(out)] == ["p01"]
    with (out / "results.jsonl").open("a") as file:
        file.write('{"kind": "result", "dom')
    (suite / "p02.pddl").write_text(tasks.TOWER)
    again = start(tmp_path, *arguments)
    assert again.communicate(timeout=120)[1].startswith("2 runs to do, 1 done before")
    assert again.returncode == 0
    assert [(result["problem"], result["status"]) for result in results(out)] == [
        (name, "solved") for name in ("p01", "p02", "p03")
    ]
    assert list((tmp_path / "scratch").iterdir()) == []


def test_on_ray(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    suite, out = tower_suite(tmp_path / "tower", ("p01", "p02")), tmp_path / "out"
    arguments = ["run", str(suite), "--out", str(out), "--jobs", "2", "--ray-address", "local"]
    program = start(tmp_path, *arguments, "--configuration", python_planner(tmp_path, "mine", write_plan()))
    _, messages = program.communicate(timeout=240)
    assert program.returncode == 0, messages
    assert sorted((result["problem"], result["status"]) for result in results(out)) == [
        ("p01", "solved"),
        ("p02", "solved"),
    ]


# -- gsp-plan --compare


def test_one_problem_on_the_terminal(tmp_path: Path) -> None:
    suite = tower_suite(tmp_path / "tower")
    run = gsp_plan(
        tmp_path, "--compare", "hff,hmax,b=astar(blind())", str(suite / "p01.pddl"), "--max-expansions", "500"
    )
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert lines[0] == "Limits for each: 500 expansions, 300 s of CPU time, 4096 MB"
    assert [line.partition(":")[0] for line in lines[1:4]] == ["hff", "hmax", "b"]
    assert lines[4].split() == [
        "configuration",
        "status",
        "cost",
        "steps",
        "expansions",
        "evaluations",
        "CPU",
        "s",
        "MB",
    ]
    assert [line.split()[:4] for line in lines[5:]] == [[name, "solved", "6", "6"] for name in ("hff", "hmax", "b")]
    assert list(tmp_path.iterdir()) == [suite]


def test_one_problem_without_a_plan(tmp_path: Path) -> None:
    suite = tower_suite(tmp_path / "tower")
    run = gsp_plan(suite, "--compare", "hff,hmax", "--search", "gbfs", "domain.pddl", "p01.pddl")
    assert run.returncode == 36, "before the files, --search is a flag"
    run = gsp_plan(
        suite, "domain.pddl", "p01.pddl", "--compare", "hff,hmax", "--search", "gbfs", "--max-expansions", "1"
    )
    assert run.returncode == 12, run.stderr
    assert run.stdout.count("expansion-limit") == 2


def test_the_other_options_reach_what_is_compared() -> None:
    learned = ["--model", "m.onnx", "--device", "cpu", "--threads", "2", "--symmetry", "none"]
    others = ["--search", "wastar", "--preferred", "--seed", "3", "--batch-size", "4", "-w", "3"]
    names = "hff,hmax,gsp,gsp-policy,x=lazy_greedy([ff()], batch_size=2),fd-lama-first"
    options = parse_command_line(["p.pddl", "--compare", names, *learned, *others])
    parsed = {}
    for entry in compared(options):
        if entry.planner == OURS:
            values = dict.fromkeys(("time", "memory", "expansions"), "9")
            own = parse_command_line(entry.arguments(values)[len(PLANNER) :])
            parsed[entry.name] = configurations(own)[0].text
    gsp = 'gsp(model="m.onnx", device=cpu, threads=2, symmetry=none)'
    assert parsed == {
        "hff": "let(h, ff(), eager_wastar([h], preferred=[h], w=3, batch_size=4))",
        "hmax": "eager_wastar([hmax()], w=3, batch_size=4)",
        "gsp": f"gsp_wastar([{gsp}], w=3, batch_size=4)",
        "gsp-policy": f"policy({gsp}, batch_size=4)",
        "x": "lazy_greedy([ff()], batch_size=2, random_seed=3)",
    }


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--compare", "hfff"], 36, "there is no configuration 'hfff'"),
        (["--compare", ","], 36, "--compare needs names"),
        (["--compare", "hff", "--heuristic", "hmax"], 36, "--compare names the heuristics"),
        (["--compare", "hff", "--search", "nothing"], 33, "there is no search 'nothing'"),
        (["--compare", "hff", "--alias", "lama-first"], 36, "--compare does not take --alias"),
        (["--compare", "hff", "--plan-file", "x"], 36, "--compare does not take --plan-file"),
        (["--compare", "hff", "--device", "cpu"], 36, "--device makes no difference to any"),
        (["--compare", "hmax,gsp", "--preferred"], 36, "none of these heuristics has preferred operators"),
        (["--compare", "gsp-policy", "-w", "3"], 36, "--weight is for heuristics such as hff"),
    ],
)
def test_wrong_comparisons_of_one_problem(tmp_path: Path, arguments: list[str], code: int, message: str) -> None:
    suite = tower_suite(tmp_path / "tower")
    run = gsp_plan(suite, "p01.pddl", *arguments)
    assert run.returncode == code
    assert message in run.stderr
    (suite / "p01.pddl").write_text("(define")
    broken = gsp_plan(suite, "p01.pddl", "--compare", "hff")
    assert broken.returncode == 31
    assert "p01.pddl:1" in broken.stderr
