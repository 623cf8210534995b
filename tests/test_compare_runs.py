"""Single runs of comparisons: whatever a planner does, its record says so and nothing of it is left."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
import tasks
from compare_support import LIMITS, TOWER_PLAN, is_running, python_planner, run_once, tower_suite, write_plan

from gsp_fd.fd_integration.run.options import Options

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="process trees are found by Linux's /proc")


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return tower_suite(tmp_path / "tower")


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the folders of runs are made."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_a_plan_of_any_command_is_validated_and_counted(suite: Path, tmp_path: Path, scratch: Path) -> None:
    record = run_once(suite, python_planner(tmp_path, "good", write_plan()))
    assert record["status"] == "solved"
    assert (record["cost"], record["steps"], record["objects"], record["exit_code"]) == (6, 6, 4, 0)
    assert record["message"] == ""
    assert record["memory_mb"] > 1
    assert list(scratch.iterdir()) == []


def test_our_planner_and_fast_downward(suite: Path) -> None:
    pytest.importorskip("up_fast_downward", reason="up-fast-downward is not installed")
    for name in (
        "hff-wastar",
        "hmax-wastar",
        "fd-ff-wastar",
        "fd-lama-first",
        "fd-lama",
        "mine=astar(hmax())",
        "fd=fd:astar(hmax())",
    ):
        record = run_once(suite, name)
        assert record["status"] == "solved", record
        assert record["steps"] == record["cost"] >= 6
        assert record["expansions"] >= 6
        assert record["generated"] >= record["expansions"]
        assert record["evaluations"] > 0
        assert record["cpu_seconds"] > 0


def test_expansion_limit(suite: Path) -> None:
    pytest.importorskip("up_fast_downward", reason="up-fast-downward is not installed")
    limits = replace(LIMITS, expansions=3)
    ours = run_once(suite, "hff-wastar", limits)
    assert (ours["status"], ours["steps"], ours["expansions"]) == ("expansion-limit", None, 3)
    theirs = run_once(suite, "fd-ff-wastar", limits)
    assert theirs["status"] == "expansion-limit"
    assert theirs["steps"] == 6, "its plan is known, but does not count"
    assert str(theirs["expansions"]) in theirs["message"]
    free = run_once(suite, "hff-wastar", replace(LIMITS, expansions=None), expansions=False)
    assert free["status"] == "solved"


def test_the_cheapest_of_several_plans_counts(suite: Path, tmp_path: Path) -> None:
    detour = "(lift d)\n(drop d)\n" + TOWER_PLAN
    body = f"open(plan + '.1', 'w').write({detour!r})\nopen(plan + '.2', 'w').write({TOWER_PLAN!r})\nsys.exit(3)"
    record = run_once(suite, python_planner(tmp_path, "anytime", body))
    assert (record["status"], record["cost"], record["exit_code"]) == ("solved", 6, 3)


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ("(take b a)\n", "step 1, (take b a): precondition (clear b) does not hold"),
        ("(take c b)\n", "after the last step the goal (on a b) does not hold"),
        ("\x00\xff<garbage>\n", "expected an action"),
    ],
)
def test_invalid_plans(suite: Path, tmp_path: Path, plan: str, message: str) -> None:
    record = run_once(suite, python_planner(tmp_path, "liar", write_plan(plan)))
    assert record["status"] == "invalid-plan"
    assert message in record["message"]
    assert record["cost"] is record["steps"] is None


def test_garbage(suite: Path, tmp_path: Path) -> None:
    body = "sys.stdout.buffer.write(bytes(range(256)) * 4000)\nsys.stderr.write('\\nerror: not my day\\n')\nsys.exit(7)"
    record = run_once(suite, python_planner(tmp_path, "garbage", body))
    assert (record["status"], record["exit_code"]) == ("crash", 7)
    assert record["message"] == "exit code 7 and no plan: error: not my day"


def test_numbers_in_garbage_are_no_crash(suite: Path, tmp_path: Path) -> None:
    body = "print('Expanded 99999999999999999999999 state(s).\\nEvaluations: -')"
    record = run_once(suite, python_planner(tmp_path, "garbage", body))
    assert record["status"] == "incomplete"


def test_killed_by_a_signal(suite: Path, tmp_path: Path) -> None:
    record = run_once(suite, python_planner(tmp_path, "crash", "os.kill(os.getpid(), signal.SIGSEGV)"))
    assert (record["status"], record["exit_code"]) == ("crash", -11)
    assert "SIGSEGV" in record["message"]


def test_hanging(suite: Path, tmp_path: Path) -> None:
    body = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(1000)"
    record = run_once(suite, python_planner(tmp_path, "hang", body), replace(LIMITS, wall_seconds=1))
    assert record["status"] == "time-limit"
    assert "hung: it waited for 1 s" in record["message"]


def test_cpu_time_of_all_processes_counts(suite: Path, tmp_path: Path) -> None:
    body = "for _ in range(2):\n    os.fork()\nwhile True:\n    pass"
    record = run_once(suite, python_planner(tmp_path, "busy", body), replace(LIMITS, cpu_seconds=1))
    assert record["status"] == "time-limit"
    assert record["message"] == ""
    assert record["cpu_seconds"] >= 1


@pytest.mark.parametrize(("seconds", "status"), [(1.9, "time-limit"), (0.1, "crash")])
def test_a_driver_that_kills_its_planner_at_the_limit(suite: Path, tmp_path: Path, seconds: float, status: str) -> None:
    """As Fast Downward's driver: SIGKILL of its child becomes the exit code 247, near the limit or not."""
    body = f"while time.process_time() < {seconds}:\n    pass\nsys.exit(247)"
    record = run_once(suite, python_planner(tmp_path, "driver", body), replace(LIMITS, cpu_seconds=2))
    assert (record["status"], record["exit_code"]) == (status, 247)


def test_memory_of_all_processes_counts(suite: Path, tmp_path: Path) -> None:
    body = "os.fork()\nblock = os.urandom(40 << 20)\ntime.sleep(1000)"
    record = run_once(suite, python_planner(tmp_path, "large", body), replace(LIMITS, memory_mb=70))
    assert record["status"] == "memory-limit"
    assert record["memory_mb"] > 70


@pytest.mark.parametrize("single", [True, False])
def test_disk_quota(suite: Path, tmp_path: Path, scratch: Path, single: bool) -> None:
    name = "'data'" if single else "f'data{count}'"
    body = (
        "count = 0\nwhile True:\n    count += 1\n"
        f"    with open({name}, 'ab') as file:\n        file.write(bytes(1 << 20))\n    time.sleep(0.001)"
    )
    record = run_once(suite, python_planner(tmp_path, "writer", body), replace(LIMITS, disk_mb=8))
    assert record["status"] == "crash"
    if not single:
        assert record["message"] == "filled the 8 MB that its folder may hold"
    assert list(scratch.iterdir()) == []


def test_endless_output_fills_the_quota(suite: Path, tmp_path: Path) -> None:
    body = "while True:\n    os.write(1, b'x' * 65536)"
    planner = python_planner(tmp_path, "talker", "signal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n" + body)
    record = run_once(suite, planner, replace(LIMITS, disk_mb=2))
    assert (record["status"], record["message"]) == ("crash", "filled the 2 MB that its folder may hold")


def test_forks_end_with_the_run(suite: Path, tmp_path: Path) -> None:
    body = f"""
for new_session in (False, True):
    child = subprocess.Popen(
        [sys.executable, "-c", "from signal import *\\nsignal(SIGTERM, SIG_IGN)\\npause()"],
        start_new_session=new_session)
    with open({str(tmp_path / "children")!r}, "a") as file:
        file.write(f"{{child.pid}}\\n")
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        with open({str(tmp_path / "children")!r}, "a") as file:
            file.write(f"{{os.getpid()}}\\n")
        time.sleep(1000)
    os._exit(0)
os.wait()
time.sleep(0.2)
"""
    record = run_once(suite, python_planner(tmp_path, "forks", body + write_plan()))
    assert record["status"] == "solved"
    children = [int(line) for line in (tmp_path / "children").read_text().split()]
    assert len(children) == 3
    assert not any(is_running(child) for child in children)


def test_files_of_the_suite_are_safe(suite: Path, tmp_path: Path) -> None:
    body = "os.remove(domain)\nopen(problem, 'w').write('gone')\n"
    record = run_once(suite, python_planner(tmp_path, "vandal", body + write_plan()))
    assert record["status"] == "solved"
    assert (suite / "p01.pddl").read_text() == tasks.TOWER


def test_missing_model(suite: Path, scratch: Path) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    record = run_once(suite, "gsp-policy", common=Options(model="no_such_model.onnx"))
    assert record["status"] == "input-error"
    assert "no_such_model.onnx" in record["message"]
    unfit = run_once(suite, "gsp-policy")
    assert unfit["status"] == "input-error"
    assert "no model fits" in unfit["message"]


def test_missing_program(suite: Path) -> None:
    record = run_once(suite, "none=!no-such-planner {domain} {problem} {plan}")
    assert record["status"] == "input-error"
    assert record["message"] == "cannot start no-such-planner: No such file or directory"


def test_broken_problem(suite: Path, scratch: Path) -> None:
    (suite / "p01.pddl").write_text("(define (problem x)\n  (:domain tower) (:objects a")
    record = run_once(suite, "hff-wastar")
    assert (record["status"], record["objects"]) == ("input-error", None)
    assert "problem.pddl" in record["message"]
    assert str(scratch) not in record["message"]
    (suite / "p01.pddl").unlink()
    assert run_once(suite, "hff-wastar")["message"] == "cannot read p01.pddl: No such file or directory"


def test_proofs_and_incomplete_searches(suite: Path) -> None:
    (suite / "p01.pddl").write_text(tasks.TOWER.replace("(on b c)", "(on b a)").replace("(on c d)", "(on c a)"))
    assert run_once(suite, "mine=astar(blind())")["status"] == "unsolvable"
    (suite / "p01.pddl").write_text(tasks.TOWER)
    assert run_once(suite, "mine=astar(blind(), bound=2)")["status"] == "incomplete"
