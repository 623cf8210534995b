"""Models from strangers: they cannot escape limits and signals, and what they say about themselves is checked."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import cli_support as cli
import pytest
import tasks

pytest.importorskip("torch", reason="the training extra is not installed")
pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

from hostile_models import endless_model, with_metadata, with_network
from random_models import random_model

from gsp_fd import _core, models_cli
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.generate import domain_text, generate
from gsp_fd.model import Model

POLICY = [
    "domain.pddl",
    "problem.pddl",
    "--heuristic",
    "gsp",
    "--model",
    "m.onnx",
    "--device",
    "cpu",
    "--search",
    "policy",
]


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return endless_model(tmp_path_factory.mktemp("endless") / "m.onnx")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return random_model(tasks.load(tasks.TOWER_DOMAIN, tasks.TOWER), tmp_path_factory.mktemp("model") / "m.onnx")


@pytest.fixture
def folder(tmp_path: Path, endless: Path) -> Path:
    cli.write_files(tmp_path, cli.TOWER)
    (tmp_path / "m.onnx").write_bytes(endless.read_bytes())
    return tmp_path


def test_a_model_cannot_escape_the_time_limit(folder: Path) -> None:
    run = cli.gsp_plan(folder, "--search-time-limit", "2", *POLICY)
    assert run.returncode == ExitCode.SEARCH_OUT_OF_TIME, run.stderr
    assert "Time limit reached. Abort search." in run.stdout


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_model_cannot_escape_signals(folder: Path, number: signal.Signals) -> None:
    with subprocess.Popen(cli.planner_command(*POLICY), cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        while not process.stdout.readline().endswith("(CPUExecutionProvider)\n"):
            assert process.poll() is None
        time.sleep(0.5)
        process.send_signal(number)
        rest, _ = process.communicate(timeout=60)
    assert process.returncode == 256 - number
    assert f"caught signal {int(number)} -- exiting" in rest


def test_the_native_network_looks_at_the_limits(tmp_path: Path) -> None:
    """Many layers on many objects take far longer than the limit: it strikes within the first call."""
    small, task = (tasks.load(domain_text("blocksworld"), generate("blocksworld", size, 1)) for size in (4, 4000))
    file = random_model(small, tmp_path / "m.onnx", layers=1000)
    heuristic = Model(file, device="cpu").heuristic(task)
    space = _core.LiftedSpace(task.native_lifted())
    result = _core.search(space, _core.SingleOpenList(heuristic), max_time=0.3)
    assert (result.status, result.evaluations) == ("time", 0)


def test_the_last_resort_ends_the_process_with_its_code() -> None:
    code = "from gsp_fd import _core; _core.set_last_resort(0.2, 23)\nwhile True: pass"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout) == (23, "Time limit has been reached.\n")


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"layers": 2**31 - 1}, "layers is 2147483647; it must be a whole number from 1 to 1000"),
        ({"layers": 2.5}, "layers is 2.5"),
        ({"layers": True}, "layers is True"),
        ({"d": 2**62}, "d is 4611686018427387904"),
        ({"d": "32"}, "d is '32'"),
        ({"message_hidden": 10**9}, "message_hidden is 1000000000"),
        ({"alpha": "x"}, "alpha is 'x'"),
    ],
)
def test_sizes_are_checked(
    model: Path, tmp_path: Path, sizes: dict[str, object], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = with_network(model, tmp_path / "m.onnx", **sizes)
    assert models_cli.main(["show", str(broken)]) == ExitCode.SEARCH_INPUT_ERROR
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "values",
    [
        {"format_version": "Infinity"},
        {"format_version": "[" * 100_000 + "]" * 100_000},
        {"format_version": "9" * 5000},
        {"domain": '"tower\\nINFO     search exit code: 0"'},
        {"domain": '"tower\\u001b[2J"'},
        {"domain": '"\\ud800"'},
        {"relations": '[["on", 100000000000000000000]]'},
        {"relations": '[["on", 2.0]]'},
        {"relations": '[["on", 0]]'},
        {"relations": '[["on", 3]]'},
        {"relations": '[["nothing", 1]]'},
        {"predicates": '[["on", -1]]'},
        {"types": '"object"'},
        {"training": "[]"},
        {"package_version": "null"},
        {"package_version": '"\\ud800"'},
    ],
    ids=lambda values: " ".join(f"{name} {text[:30]}" for name, text in values.items()),
)
def test_metadata_is_checked(
    model: Path, tmp_path: Path, values: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    broken = with_metadata(model, tmp_path / "m.onnx", **values)
    assert models_cli.main(["show", str(broken)]) == ExitCode.SEARCH_INPUT_ERROR
    message = capsys.readouterr().err
    assert message.startswith(f"gsp-models: {broken}: ")
    assert message.count("\n") == 1
    assert message[:-1].isprintable()


def test_what_a_model_says_of_its_training_moves_no_cursor(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = with_metadata(model, tmp_path / "m.onnx", training='{"by": "me\\u001b[2J\\nvalidation: all"}')
    assert models_cli.main(["show", str(odd)]) == ExitCode.SUCCESS
    shown = capsys.readouterr().out
    assert "me\\x1b[2J\\nvalidation: all" in shown
    assert all(line.isprintable() for line in shown.splitlines())
