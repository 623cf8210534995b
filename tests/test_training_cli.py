"""``gsp-train`` from end to end: train, plan with the model, kill, resume, interrupt, and every message to the user."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="the training extra is not installed")
pytest.importorskip("torch_geometric", reason="the training extra is not installed")
pytest.importorskip("onnx", reason="the training extra is not installed")
pytest.importorskip("onnxruntime", reason="the training extra is not installed")

import torch
from training_support import TINY_OPTIONS, write_problems

from gsp_fd import _core
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.model import Model
from gsp_fd.model_library import named_model
from gsp_fd.task import load_pddl
from gsp_fd.training.checkpoint import load_checkpoint
from gsp_fd.training.device import choose_device
from gsp_fd.training.learning.trainer import Trainer
from gsp_fd.training.learning.validation import Score
from gsp_fd.training.progress import Row, read_rows
from gsp_fd.training.run import cli
from gsp_fd.training.run.session import outlook, relaxed_plan_decision
from gsp_fd.training.run.settings import read_toml

COMMAND = [sys.executable, "-m", "gsp_fd.training.run.cli"]
STEPS = 3000
"""Gradient steps after which a tiny run has failed, however long they took."""


@pytest.fixture(scope="module")
def problems(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_problems(tmp_path_factory.mktemp("cli") / "train")


def options_of(problems: Path, out: Path, minutes: float, *more: str) -> list[str]:
    inputs = ["--domain", str(problems / "domain.pddl"), "--train", str(problems), "--out", str(out)]
    return [*inputs, "--minutes", str(minutes), "--workers", "0", *TINY_OPTIONS, *more]


def wait_for(condition: Path, process: subprocess.Popen[str]) -> None:
    """Until a file is there; a process that ends before is an error."""
    while not condition.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)


def train_until(out: Path, arguments: list[str], enough: Callable[[Row], bool]) -> str:
    """Trains until a row of the progress is enough, whatever the machine's speed, and interrupts; what was printed."""
    command = [*COMMAND, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        wait_for(out / "progress.csv", process)
        while not (rows := read_rows(out / "progress.csv")) or not enough(rows[-1]):
            assert process.poll() is None, process.communicate()
            assert not rows or rows[-1].gradient_steps < STEPS
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        printed, _ = process.communicate()
    assert process.returncode == 130, printed
    return printed


def state_of(out: Path) -> dict[str, Any]:
    """The state to resume from."""
    return dict(load_checkpoint(out / "checkpoint.npz").state)


def test_train_plan_and_prolong(problems: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    options = options_of(problems, out, 60, "--validate", str(problems))
    printed = train_until(out, options, lambda row: row.validation_covered >= 8)
    assert "16 training problems" in printed
    assert "  satisf  training problems whose last search found a plan" in printed
    assert re.search(r"^to beat: hFF \(.*\) solves \d+ of the \d+ it was tried on", printed, re.MULTILINE)
    assert f"--model {out}" in printed
    assert re.search(r"^ +\d+\.\d\d +\d+ +\d+ +\d+ +\d+ +\d+/16 ", printed, re.MULTILINE)
    for name in ("config.toml", "checkpoint.npz", "best.npz", "model.onnx", "card.md", "progress.csv", "report.html"):
        assert (out / name).stat().st_size > 0
    rows = len(read_rows(out / "progress.csv"))
    steps = state_of(out)["learner"]["steps"]
    train_until(out, ["--resume", str(out)], lambda row: row.gradient_steps > steps)
    assert state_of(out)["learner"]["steps"] > steps
    assert cli.main(["--resume", str(out), "--minutes", "0.01"]) == ExitCode.SUCCESS  # which are over
    status = json.loads((out / "status.json").read_text())
    covered = status["best"]["covered"]
    assert status["state"] == "finished"
    assert covered >= 8
    assert len(read_rows(out / "progress.csv")) > rows
    card = (out / "card.md").read_text()
    assert f"solves {covered} of 16" in card
    assert f"gsp-train --domain {problems / 'domain.pddl'}" in card
    check_report((out / "report.html").read_text())
    assert plans_found(out / "model.onnx", problems) >= covered

    capsys.readouterr()
    assert cli.main(["--resume", str(out)]) == ExitCode.SUCCESS  # nothing is left to do
    assert f"prolong it: gsp-train --resume {out} --minutes 0.02" in capsys.readouterr().out
    assert "(hFF: " in card
    errors = {
        ("--resume", str(out), "--d", "8"): "--d cannot change when a run is resumed",
        ("--resume", str(out), "--out", "x"): "--out cannot change when a run is resumed",
        tuple(options_of(problems, out, 1)): "this exists already: choose another --out",
    }
    for arguments, message in errors.items():
        assert cli.main(arguments) == ExitCode.DRIVER_INPUT_ERROR
        assert message in capsys.readouterr().err


def test_the_program_decides_about_the_relaxed_plan(problems: Path, tmp_path: Path) -> None:
    """Trials with and without it, of which one goes on; the second is left out where the first masters everything."""
    out = tmp_path / "run"
    options = options_of(problems, out, 0.25, "--validate", str(problems), "--relaxed-plan", "auto")
    assert cli.main(options) == ExitCode.SUCCESS
    values, run = read_toml(out / "config.toml")
    chosen, reason = values["relaxed_plan"], run["decision"]
    assert chosen in ("yes", "no")
    assert reason.startswith("the relaxed plan: " if chosen == "yes" else "no relaxed plan: ")
    assert f"| Relaxed plan | {reason} |" in (out / "card.md").read_text()
    assert Model(out / "model.onnx").metadata.relaxed_plan == (chosen == "yes")
    tried = [trial for trial in ("no", "yes") if (out / f"trial-{trial}").is_dir()]
    assert tried == ["no"] if "first trial solves all" in reason else ["no", "yes"]
    rows = read_rows(out / "progress.csv")
    assert rows[-1].minutes >= values["minutes"]
    assert [row.minutes for row in rows] == sorted(row.minutes for row in rows)


def score(covered: int) -> Score:
    return Score.of_plans([1] * covered + [None] * (4 - covered), np.zeros(0))


@pytest.mark.parametrize(
    ("without", "seen", "chosen"),
    [(4, None, "no"), (2, 3, "yes"), (3, 3, "no"), (3, 2, "no"), (0, 4, "yes"), (0, 0, "no")],
)
def test_decision_about_the_relaxed_plan(without: int, seen: int | None, chosen: str) -> None:
    scores = {"no": score(without)} | ({} if seen is None else {"yes": score(seen)})
    decided, reason = relaxed_plan_decision(scores)
    assert decided == chosen
    assert reason.startswith("the relaxed plan: " if chosen == "yes" else "no relaxed plan: ")


def test_a_domain_and_a_folder_are_enough(
    problems: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Run after run, each in a folder of its own name; then the folder alone, and what contradicts it."""
    monkeypatch.chdir(tmp_path)
    tiny = ["--minutes", "0.01", "--workers", "0", "--relaxed-plan", "no", "--d", "8", "--layers", "1"]
    assert cli.main([str(problems / "domain.pddl"), str(problems), *tiny]) == ExitCode.SUCCESS
    assert cli.main([str(problems), *tiny]) == ExitCode.SUCCESS
    printed = capsys.readouterr().out
    assert "--model blocksworld-run-2" in printed
    assert "The greedy policy solves" in printed
    assert (tmp_path / "blocksworld-run" / "model.onnx").is_file()
    assert named_model("blocksworld-run") == Path("blocksworld-run", "model.onnx")
    for arguments, message in (
        ([str(problems), "--train", "x"], "there is already --train x"),
        (["a.pddl", "b.pddl", "c.pddl"], "expected a domain file and a folder of problems"),
        ([str(problems / "domain.pddl")], "a folder of problems is missing"),
        ([str(problems / "domain.pddl"), "nowhere"], "nowhere: there is no such file or folder"),
        (["x", "--resume", "blocksworld-run"], "x cannot change when a run is resumed"),
    ):
        assert cli.main(arguments) == ExitCode.DRIVER_INPUT_ERROR
        assert message in capsys.readouterr().err


def row(minutes: float, covered: int) -> Row:
    known: dict[str, Any] = {field.name: 0 for field in fields(Row)}
    return Row(**{**known, "minutes": minutes, "validation_covered": covered, "validated": True, "pools": "us"})


def test_outlook() -> None:
    rows = [row(1, 1), row(2, 2), row(9, 2)]
    assert "not got better since minute 2.0" in outlook(rows, score(2))
    assert "still getting better (at minute 10.0)" in outlook([*rows, row(10, 3)], score(3))
    assert outlook(rows, score(4)) == outlook([], score(0)) == ""


def check_report(page: str) -> None:
    """One file, with nine figures, for phones and dark rooms too, and nothing that has to be loaded."""
    assert page.startswith("<!DOCTYPE html>")
    assert page.count("<svg ") == page.count("</svg>") == 9
    assert 'name="viewport"' in page
    assert "prefers-color-scheme: dark" in page
    assert 'class="satisficed"' in page
    assert "Training problems by size" in page
    assert "Expansions against problem size" in page
    assert "expansions" in page
    assert "solve rate" in page
    assert "nan" not in page.replace("finance", "")
    assert not re.search(r"(src|href)=|https?://|<script", page)


def plans_found(model_file: Path, problems: Path) -> int:
    """Problems that the greedy policy of a model file solves, with plans that are valid."""
    found = 0
    model = Model(model_file, device="cpu")
    for file in sorted(problems.glob("p*.pddl")):
        task = load_pddl(problems / "domain.pddl", file)
        assert task.lifted is not None
        space = _core.LiftedSpace(task.native_lifted())
        policy = _core.DepthFirstOpenList(model.heuristic(task))
        result = _core.search(space, policy, lazy=True, max_expansions=100)
        if result.status == "solved":
            assert task.validate([space.operator_name(op) for op in result.plan]).valid
            found += 1
    return found


def test_kill_and_resume(problems: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    options = options_of(problems, out, 5, "--checkpoint-every", "0.5", "--validate-every", "1")
    with subprocess.Popen([*COMMAND, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        wait_for(out / "model.onnx", process)
        assert cli.main(["--resume", str(out)]) == ExitCode.DRIVER_INPUT_ERROR
        assert "another gsp-train is at work here" in capsys.readouterr().err
        os.kill(process.pid, signal.SIGKILL)
    (out / ".checkpoint.npz.0123456789abcdef.tmp").write_bytes(b"what a process left that was killed as it wrote")
    before = state_of(out)
    assert json.loads((out / "status.json").read_text())["state"] == "running"
    assert before["elapsed"] > 0
    # What was going on after the checkpoint is in the table as well: only later rows are those of the resumed run.
    episodes = read_rows(out / "progress.csv")[-1].episodes
    train_until(out, ["--resume", str(out)], lambda row: row.episodes > episodes)
    after = state_of(out)
    for counter in ("episodes", "expansions"):
        assert after["collector"][counter] > before["collector"][counter]
    assert after["elapsed"] > before["elapsed"]
    assert after["learner"]["steps"] >= before["learner"]["steps"]
    times = [row.minutes for row in read_rows(out / "progress.csv")]
    assert times == sorted(times)
    assert not list(out.glob(".*.tmp"))


def test_interrupt_ends_in_good_order(problems: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    options = options_of(problems, out, 5, "--validate-every", "500")
    with subprocess.Popen([*COMMAND, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        wait_for(out / "checkpoint.npz", process)
        process.send_signal(signal.SIGINT)
        printed, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "validating and saving" in errors
    assert "Traceback" not in errors
    assert f"go on with: gsp-train --resume {out}" in printed
    assert json.loads((out / "status.json").read_text())["state"] == "interrupted"
    assert (out / "model.onnx").exists()
    assert (out / "report.html").exists()


@pytest.mark.parametrize(
    ("error", "state"), [(RuntimeError, "failed"), (MemoryError, "failed"), (KeyboardInterrupt, "interrupted")]
)
def test_whatever_ends_a_run_is_its_status(
    problems: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException], state: str
) -> None:
    def run(trainer: Trainer, minutes: float) -> None:
        raise error

    monkeypatch.setattr(Trainer, "run", run)
    with pytest.raises(RuntimeError) if error is RuntimeError else nullcontext():
        assert cli.main(options_of(problems, tmp_path / "run", 1)) != ExitCode.SUCCESS
    assert json.loads((tmp_path / "run" / "status.json").read_text())["state"] == state


def test_a_run_starts_from_a_model(problems: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With its network and weights, whatever the options' defaults; one of another domain or size is refused."""
    first, second = tmp_path / "first", tmp_path / "second"
    assert cli.main(options_of(problems, first, 0.02)) == ExitCode.SUCCESS
    inputs = [str(problems), "--workers", "0", "--minutes", "0.01", "--out", str(second)]
    start = ["--start", str(first), "--frozen"]
    assert cli.main([*inputs, *start, "--validate", str(problems)]) == ExitCode.SUCCESS
    before, after = (load_checkpoint(run / "best.npz") for run in (first, second))
    assert after.metadata.network == before.metadata.network
    for name, array in before.weights.items():
        np.testing.assert_allclose(after.weights[name], array, rtol=1e-6)
    assert read_toml(second / "config.toml")[1]["start"] == str(first / "model.onnx")

    capsys.readouterr()
    third = ["--out", str(tmp_path / "third")]
    for more, message in (
        (["--layers", "3"], "--layers cannot differ from that of the model to start from: 4"),
        (["--start", "ferry"], "the model to start from is of another domain: action@board, action@debark, "),
        (["--start", "fery"], "there is no model 'fery'"),
    ):
        assert cli.main([*inputs, *start, *third, *more]) > 30
        printed = capsys.readouterr().err
        assert message in printed
        assert printed.count("\n") == 1
        assert not (tmp_path / "third").exists()
    assert cli.main(["--resume", str(second), "--start", "ferry"]) == ExitCode.DRIVER_INPUT_ERROR
    assert "--start cannot change" in capsys.readouterr().err


def test_several_seeds_keep_the_best(problems: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    assert cli.main(options_of(problems, out, 0.05, "--seeds", "2", "--seed", "4")) == ExitCode.SUCCESS
    chosen = int(re.findall(r"the best is (\d)", capsys.readouterr().out)[0])
    assert chosen in (4, 5)
    assert (out / "model.onnx").read_bytes() == (out / f"seed-{chosen}" / "model.onnx").read_bytes()
    scores = [load_checkpoint(out / f"seed-{seed}" / "best.npz").state["score"] for seed in (4, 5)]
    assert len(scores[0]["lengths"]) == len(scores[1]["lengths"]) == 12
    weights = [load_checkpoint(out / f"seed-{seed}" / "best.npz").weights for seed in (4, 5)]
    assert any(not np.array_equal(weights[0][name], weights[1][name]) for name in weights[0])


def test_wrong_input(problems: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line per mistake, nothing left behind, no traceback."""
    empty = tmp_path / "empty"
    empty.mkdir()
    other = write_problems(tmp_path / "other", "gripper", (6, 8), 2)
    out = tmp_path / "run"
    config = tmp_path / "config.toml"
    config.write_text("learning_rat = 1")
    domain, train = str(problems / "domain.pddl"), str(problems)
    base = ["--out", str(out), "--workers", "0"]
    cases: list[tuple[list[str], str]] = [
        (base, "a domain file is missing"),
        (["--domain", domain, *base], "a folder of problems is missing"),
        (["--domain", "nowhere.pddl", "--train", train, *base], "nowhere.pddl: there is no such file (--domain)"),
        (["--domain", domain, "--train", "nowhere", *base], "nowhere: there is no such folder (--train)"),
        (["--domain", domain, "--train", train, "--validate", "none", *base], "no such folder (--validate)"),
        (["--domain", domain, "--train", train, "--minutes", "-1", *base], "minutes must be positive"),
        (["--domain", domain, "--train", train, "--pool", "cat", *base], "pool is 'cat'"),
        (["--domain", domain, "--train", train, "--device", "tpu", *base], "it must be auto, cpu or cuda"),
        (["--domain", domain, "--train", train, "--config", str(config), *base], "unknown key learning_rat"),
        (["--resume", str(empty)], "this is not the folder of a run"),
        (["--resume", str(tmp_path / "nowhere")], "this is not the folder of a run"),
    ]
    for arguments, message in cases:
        assert cli.main(arguments) == ExitCode.DRIVER_INPUT_ERROR, arguments
        printed = capsys.readouterr().err
        assert message in printed
        assert printed.count("\n") == 1
        assert not out.exists()
    late = [
        (["--domain", domain, "--train", str(empty)], "there is no problem file"),
        (["--domain", train, "--train", train], "this is a folder; a domain file is needed"),
        (["--domain", domain, "--train", domain], "this is no folder; a folder of training problems is needed"),
        (["--domain", domain, "--train", str(other)], "gripper"),
    ]
    for arguments, message in late:
        assert cli.main([*arguments, *base]) > 30
        printed = capsys.readouterr().err
        assert message in printed
        assert "Traceback" not in printed
        assert not out.exists()


def test_a_run_that_cannot_go_on_is_kept(problems: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, domain = tmp_path / "run", tmp_path / "domain.pddl"
    text = (problems / "domain.pddl").read_text()
    domain.write_text(text)
    assert cli.main([str(domain), *options_of(problems, out, 0.01)[2:]]) == ExitCode.SUCCESS
    domain.write_text(text.replace("(:action", "(:acton", 1))
    assert cli.main(["--resume", str(out), "--minutes", "1"]) == ExitCode.TRANSLATE_INPUT_ERROR
    assert "domain.pddl:" in capsys.readouterr().err
    assert (out / "model.onnx").is_file()


def test_device(problems: Path, tmp_path: Path) -> None:
    """A run goes on with another device than it was started with."""
    out = tmp_path / "run"
    assert cli.main(options_of(problems, out, 0.05, "--device", "auto")) == ExitCode.SUCCESS
    steps = state_of(out)["learner"]["steps"]
    train_until(
        out, ["--resume", str(out), "--device", "cpu", "--minutes", "60"], lambda row: row.gradient_steps > steps
    )
    assert 'device = "cpu"' in (out / "config.toml").read_text()


def test_cuda_that_is_not_there(problems: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if torch.cuda.is_available():
        pytest.skip("this machine has CUDA")
    out = tmp_path / "run"
    assert cli.main(options_of(problems, out, 1, "--device", "cuda")) == ExitCode.DRIVER_INPUT_ERROR
    assert re.fullmatch(r"gsp-train: --device cuda: torch .*; say --device cpu or auto\n", capsys.readouterr().err)
    assert not out.exists()
    assert choose_device("auto") == choose_device("cpu") == torch.device("cpu")


def test_a_damaged_checkpoint_is_refused(problems: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    assert cli.main(options_of(problems, out, 0.01)) == ExitCode.SUCCESS
    file = out / "checkpoint.npz"
    file.write_bytes(file.read_bytes()[:-2000])
    capsys.readouterr()
    assert cli.main(["--resume", str(out), "--minutes", "1"]) == ExitCode.DRIVER_INPUT_ERROR
    assert "damaged" in capsys.readouterr().err
