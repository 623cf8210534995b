"""Whatever is wrong gets one clear message and the right exit code: no traceback, no plan file."""

from __future__ import annotations

import os
from pathlib import Path

import cli_support as cli
import pytest

DOMAIN, PROBLEM = cli.TOWER["domain.pddl"], cli.TOWER["problem.pddl"]
GOOD = ["--heuristic", "hff"]


def complaint(folder: Path, *arguments: str, code: int, **options: object) -> str:
    """The one message of a run that must fail with this exit code."""
    run = cli.gsp_plan(folder, *arguments, **options)
    assert run.returncode == code, run.stdout + run.stderr
    assert "Traceback" not in run.stdout + run.stderr
    assert run.stderr.count("gsp-plan: error: ") == 1, run.stderr
    assert cli.plan_files(folder) == []
    return run.stderr


BAD_PDDL = {
    "empty problem": ("problem.pddl", "", 31),
    "truncated problem": ("problem.pddl", PROBLEM[:-30], 31),
    "unknown object": ("problem.pddl", PROBLEM.replace("(on c d)", "(on c zz)"), 31),
    "unknown predicate": ("problem.pddl", PROBLEM.replace("(on c d)", "(under c d)"), 31),
    "wrong arity": ("problem.pddl", PROBLEM.replace("(on c d)", "(on c)"), 31),
    "duplicate object": ("problem.pddl", PROBLEM.replace("a b c d)", "a b c d a)"), 31),
    "deep nesting": ("problem.pddl", "(" * 5000 + ")" * 5000, 31),
    "empty domain": ("domain.pddl", "", 31),
    "truncated domain": ("domain.pddl", DOMAIN[: len(DOMAIN) // 2], 31),
    "undefined predicate": ("domain.pddl", DOMAIN.replace("(holding ?x))\n", ")\n", 1), 31),
    "undefined type": ("domain.pddl", DOMAIN.replace("lift :parameters (?x)", "lift :parameters (?x - thing)"), 31),
}


@pytest.mark.parametrize("name", BAD_PDDL)
def test_bad_pddl(tmp_path: Path, name: str) -> None:
    file, text, code = BAD_PDDL[name]
    cli.write_files(tmp_path, {**cli.TOWER, file: text})
    assert file in complaint(tmp_path, "domain.pddl", "problem.pddl", *GOOD, code=code)


def test_binary_file(tmp_path: Path) -> None:
    cli.write_files(tmp_path, cli.TOWER)
    (tmp_path / "problem.pddl").write_bytes(bytes(range(256)) * 10)
    assert "problem.pddl" in complaint(tmp_path, "domain.pddl", "problem.pddl", *GOOD, code=31)


def test_missing_files(tmp_path: Path) -> None:
    cli.write_files(tmp_path, cli.TOWER)
    assert "none.pddl" in complaint(tmp_path, "domain.pddl", "none.pddl", *GOOD, code=30)
    assert "none.pddl" in complaint(tmp_path, "none.pddl", "problem.pddl", *GOOD, code=30)
    assert "none.pddl" in complaint(tmp_path, "none.pddl", *GOOD, code=30)
    (tmp_path / "domain.pddl").unlink()
    assert "domain" in complaint(tmp_path, "problem.pddl", *GOOD, code=36)


def test_folder_as_input(tmp_path: Path) -> None:
    cli.write_files(tmp_path, cli.TOWER)
    (tmp_path / "folder").mkdir()
    complaint(tmp_path, "domain.pddl", "folder", *GOOD, code=30)
    complaint(tmp_path, "folder", *GOOD, code=30)


@pytest.fixture(scope="module")
def sas(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = cli.write_files(tmp_path_factory.mktemp("sas"), cli.TOWER)
    assert cli.gsp_plan(folder, "--translate", "problem.pddl").returncode == 0
    return (folder / "output.sas").read_text()


@pytest.mark.parametrize("damage", ["truncated", "index", "version", "words", "header only"])
def test_bad_sas(tmp_path: Path, sas: str, damage: str) -> None:
    goal = sas.index("begin_goal")
    damaged = {
        "truncated": sas[: len(sas) // 2],
        "index": sas[:goal] + sas[goal:].replace("\n0 ", "\n77 ", 1).replace("\n1 ", "\n77 ", 1),
        "version": sas.replace("begin_version\n3", "begin_version\n4"),
        "words": sas.replace("begin_state", "begin_something"),
        "header only": "begin_version\n",
    }[damage]
    cli.write_files(tmp_path, {"task.sas": damaged})
    message = complaint(tmp_path, "task.sas", *GOOD, code=33)
    assert "task.sas:" in message


def test_missing_sas(tmp_path: Path) -> None:
    assert "none.sas" in complaint(tmp_path, "--search", "none.sas", *GOOD, code=33)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([], 36),
        (["problem.pddl", "--heuristic", "h42"], 33),
        (["problem.pddl", "--search", "astar(lmcut())"], 33),
        (["problem.pddl", "--search", "astar("], 33),
        (["problem.pddl", "--heuristic", "gsp", "--search", "nonsense"], 33),
        (["--alias", "nonsense", "problem.pddl"], 36),
        (["--alias", "lama-first", "problem.pddl", "--search", "gbfs"], 36),
        (["--time-limit", "0", "problem.pddl", *GOOD], 36),
        (["--memory-limit", "many", "problem.pddl", *GOOD], 36),
        (["--max-expansions", "-5", "problem.pddl", *GOOD], 36),
        (["--portfolio", "p.py", "problem.pddl"], 35),
        (["--unknown", "problem.pddl", *GOOD], 36),
        (["problem.pddl", *GOOD, "--unknown"], 33),
        (["--plan-file", "none/plan", "problem.pddl", *GOOD], 33),
        (["--plan-file", ".", "problem.pddl", *GOOD], 33),
        (["--sas-file", "none/task.sas", "problem.pddl", *GOOD], 36),
        (["--", "--help", "nonsense"], 33),
    ],
)
def test_bad_command_lines(tmp_path: Path, arguments: list[str], code: int) -> None:
    cli.write_files(tmp_path, cli.TOWER)
    complaint(tmp_path, *arguments, code=code)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["domain.pddl", "problem.pddl"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_unwritable_folder(tmp_path: Path) -> None:
    cli.write_files(tmp_path, cli.TOWER)
    (tmp_path / "locked").mkdir(mode=0o500)
    assert "permission" in complaint(tmp_path, "--plan-file", "locked/plan", "problem.pddl", *GOOD, code=33)


def test_strict(tmp_path: Path) -> None:
    cli.write_files(tmp_path, cli.TOWER)
    assert cli.gsp_plan(tmp_path, "--strict", "problem.pddl", *GOOD).returncode == 0
    (tmp_path / "sas_plan").unlink()
    loose = DOMAIN.replace("(:requirements :strips)", "").replace(
        "(?x ?y) :precondition (and (holding ?x)", "(?x ?y) :precondition (and (not (= ?x ?y)) (holding ?x)"
    )
    cli.write_files(tmp_path, {"domain.pddl": loose})
    assert "--strict" in complaint(tmp_path, "--strict", "problem.pddl", *GOOD, code=31)
    assert cli.gsp_plan(tmp_path, "problem.pddl", *GOOD).returncode == 0


def test_names_that_are_no_text(tmp_path: Path) -> None:
    cli.write_files(tmp_path, cli.TOWER)
    complaint(tmp_path, "domain.pddl", os.fsdecode(b"p\xff.pddl"), *GOOD, code=30, env={**os.environ, "LC_ALL": "C"})


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["domain.pddl", "problem.pddl", *GOOD, "--plan-file", "p" * 400], 33),
        (["domain.pddl", "p" * 400], 30),
        (["p" * 400, "problem.pddl"], 30),
        (["p" * 400], 30),
        (["domain.pddl", "problem.pddl", "--model", "p" * 400], 33),
        (["domain.pddl", "problem.pddl", "--model", "p" * 400 + ".onnx"], 33),
        (["domain.pddl", "problem.pddl", "--portfolio", "p" * 400], 35),
    ],
)
def test_names_that_are_too_long(tmp_path: Path, arguments: list[str], code: int) -> None:
    cli.write_files(tmp_path, cli.TOWER)
    assert "p" * 400 in complaint(tmp_path, *arguments, code=code)


def test_internal_errors_show_no_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from gsp_fd.fd_integration import driver

    def broken(*arguments: object) -> None:
        raise RuntimeError("broken on purpose")

    monkeypatch.chdir(cli.write_files(tmp_path, cli.TOWER))
    monkeypatch.setattr(driver, "choose_inputs", broken)
    assert driver.main(["problem.pddl", *GOOD]) == 35
    errors = capsys.readouterr().err
    assert errors.count("gsp-plan: error: internal error: RuntimeError: broken on purpose") == 1
    assert "Traceback" not in errors
    assert driver.main(["--debug", "problem.pddl", *GOOD]) == 35
    assert "Traceback" in capsys.readouterr().err
