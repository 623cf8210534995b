"""Models by name: the shipped ones, the user's own, runs of gsp-train; and the command gsp-models."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
import tasks
from random_models import lifted_of

from gsp_fd import model_library, models_cli
from gsp_fd.common.errors import InputError
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.common.files import write_atomically
from gsp_fd.generate import domain_text, generate
from gsp_fd.model_format import read_metadata
from gsp_fd.model_library import SHIPPED_MODELS, find_model, fitting_model, installed_models, named_model, user_folder
from gsp_fd.pddl import LiftedTask

FERRY, SPANNER = SHIPPED_MODELS / "ferry.onnx", SHIPPED_MODELS / "spanner.onnx"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder, still missing; the test runs elsewhere."""
    monkeypatch.setenv("GSP_MODELS", str(tmp_path / "mine"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "mine"


@pytest.fixture(scope="module")
def ferry() -> LiftedTask:
    return lifted_of(tasks.load(domain_text("ferry"), generate("ferry", 3, 1)))


def run(*arguments: str) -> int:
    return models_cli.main(arguments)


def error_of(capsys: pytest.CaptureFixture[str], code: int, *arguments: str) -> str:
    assert run(*arguments) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("gsp-models: ")
    assert shown.err.count("\n") == 1
    return shown.err


def make_run(path: Path, model: Path = FERRY) -> Path:
    """A folder as gsp-train leaves it, as far as models are concerned."""
    path.mkdir()
    (path / "model.onnx").write_bytes(model.read_bytes())
    (path / "card.md").write_text("# The card of a run")
    return path


# Where the user's models are


def test_folder_of_the_platform(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("GSP_MODELS")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert user_folder() == tmp_path / "gsp-fd" / "models"
    monkeypatch.delenv("XDG_DATA_HOME")
    assert user_folder() == Path.home() / ".local" / "share" / "gsp-fd" / "models"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert user_folder() == Path.home() / "Library" / "Application Support" / "gsp-fd" / "models"


def test_folder_that_is_none(folder: Path, ferry: LiftedTask) -> None:
    folder.write_text("no folder")
    for name in ("auto", "ferry"):
        with pytest.raises(InputError, match=r"mine: .*\(GSP_MODELS\) is no folder"):
            find_model(name, ferry)


# Names


def test_names_files_and_runs(folder: Path, ferry: LiftedTask) -> None:
    assert find_model("ferry", ferry) == FERRY
    assert find_model("auto", ferry) == FERRY
    assert find_model(str(SPANNER), ferry) == SPANNER  # whether it fits is another question
    assert find_model("missing.onnx", ferry) == Path("missing.onnx")
    made = make_run(Path("run"))
    assert find_model("run", ferry) == made / "model.onnx"
    assert find_model("./run/", ferry) == made / "model.onnx"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("fery", "there is no model 'fery'; did you mean 'ferry'?"),
        ("zzz", "there is no model 'zzz': give an .onnx file, the folder of a run, auto, or one of blocksworld, "),
        ("empty", "empty: the folder has no model.onnx: it is no run of gsp-train, or has no model yet"),
    ],
)
def test_names_that_are_none(folder: Path, name: str, message: str) -> None:
    Path("empty").mkdir()
    with pytest.raises(InputError) as caught:
        named_model(name)
    assert str(caught.value).startswith(message)
    assert caught.value.exit_code == ExitCode.SEARCH_INPUT_ERROR


def test_ambiguous_name(folder: Path) -> None:
    Path("ferry").mkdir()  # benchmarks lie in folders called like their domains: these are no models
    assert named_model("ferry") == FERRY
    (Path("ferry") / "model.onnx").write_bytes(SPANNER.read_bytes())
    with pytest.raises(
        InputError, match=r"'ferry' is the name of a model \(.*ferry.onnx\) and of a folder here: write"
    ):
        named_model("ferry")
    assert named_model(os.path.join(".", "ferry")) == Path("ferry/model.onnx")
    Path("spanner").write_bytes(SPANNER.read_bytes())
    with pytest.raises(InputError, match="and of a file here"):
        named_model("spanner")


def test_own_models_go_before_shipped_ones(folder: Path, ferry: LiftedTask) -> None:
    assert fitting_model(ferry).model == model_library.InstalledModel(FERRY, shipped=True)
    assert run("add", "ferry", "--name", "zz-ferry") == 0
    choice = fitting_model(ferry)
    assert choice.model is not None
    assert (choice.model.path, choice.model.origin) == (folder / "zz-ferry.onnx", "yours")
    assert choice.reason == "so would ferry (shipped)"
    assert run("add", "ferry") == 0
    assert named_model("ferry") == folder / "ferry.onnx"


def test_why_none_fits(folder: Path) -> None:
    lamps = lifted_of(tasks.load(tasks.LAMPS_DOMAIN, tasks.lamps(2)))
    choice = fitting_model(lamps)
    assert choice.model is None
    assert choice.reason.startswith("there is none for domain lamps, only blocksworld, childsnack, ferry, ")
    domain = domain_text("ferry").replace("(:action sail", "(:action steam")
    other = fitting_model(lifted_of(tasks.load(domain, generate("ferry", 3, 1))))
    assert other.reason == "ferry is for another ferry: action schema steam of the domain is unknown to the model"


def test_broken_models_are_passed_over(folder: Path, ferry: LiftedTask) -> None:
    folder.mkdir()
    (folder / "broken.onnx").write_bytes(FERRY.read_bytes()[:1000])
    choice = fitting_model(ferry)
    assert choice.model is not None
    assert choice.model.path == FERRY
    assert len(choice.broken) == 1
    assert str(folder / "broken.onnx") in choice.broken[0]
    assert find_model("broken", ferry) == folder / "broken.onnx"  # the planner says what is wrong with it


# gsp-models


def test_list(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("list") == 0
    shown = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in shown] == [[model.name, "shipped"] for model in installed_models()]
    folder.mkdir()
    (folder / "bad.onnx").write_text("nothing")
    assert run("list", "--json") == 0
    first = json.loads(capsys.readouterr().out)[0]
    assert (first["name"], first["origin"], first["domain"]) == ("bad", "yours", "")
    assert "not an ONNX model" in first["broken"]
    assert run("list") == 0
    assert capsys.readouterr().out.splitlines()[0].startswith("bad            yours    broken: ")


def test_list_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(model_library, "SHIPPED_MODELS", folder)
    assert run("list") == 0
    assert capsys.readouterr().out == f"There are no models; gsp-models add puts them into {folder}.\n"


def test_show_by_name_file_and_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, file, card in (
        ("ferry", FERRY, FERRY.with_suffix(".md")),
        (str(FERRY), FERRY, FERRY.with_suffix(".md")),
        (str(make_run(Path("run"))), Path("run/model.onnx"), Path("run/card.md")),
    ):
        assert run("show", name) == 0
        lines = capsys.readouterr().out.splitlines()
        assert [line.split(maxsplit=1) for line in lines[:3]] == [
            ["file:", str(file)],
            ["card:", str(card)],
            ["domain:", "ferry"],
        ]
    assert "there is no model 'fery'" in error_of(capsys, 33, "show", "fery")
    assert "cannot read the model" in error_of(capsys, 33, "show", "missing.onnx")


def test_add_and_remove(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("add", str(make_run(Path("run")))) == 0
    assert capsys.readouterr().out == f"ferry: {folder / 'ferry.onnx'} (with its card)\n"
    assert sorted(path.name for path in folder.iterdir()) == ["ferry.md", "ferry.onnx"]
    assert (folder / "ferry.onnx").read_bytes() == FERRY.read_bytes()
    assert (folder / "ferry.md").read_text() == "# The card of a run"
    assert "you already have a model ferry: --replace it, or give another --name" in error_of(capsys, 36, "add", "run")
    Path("bare.onnx").write_bytes(SPANNER.read_bytes())
    assert run("add", "bare.onnx", "--name", "ferry", "--replace") == 0
    assert capsys.readouterr().out == f"ferry: {folder / 'ferry.onnx'} (it has no card)\n"
    assert read_metadata(folder / "ferry.onnx").domain == "spanner"
    assert [path.name for path in folder.iterdir()] == ["ferry.onnx"], "the card of the model before is gone too"
    assert run("remove", "ferry") == 0
    assert list(folder.iterdir()) == []
    assert run("add", "bare.onnx") == run("remove", str(folder / "bare.onnx")) == 0
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("name", ["a/b", "../x", ".hidden", "", "auto", "a b", "-x"])
def test_names_that_no_model_can_have(folder: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    if name:
        assert "cannot be the name of a model" in error_of(capsys, 36, "add", "ferry", f"--name={name}")
    assert not folder.exists()


def test_nothing_broken_is_added(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("cut.onnx").write_bytes(FERRY.read_bytes()[:-2000])
    assert "cut.onnx: " in error_of(capsys, 33, "add", "cut.onnx")
    assert "cannot read the model" in error_of(capsys, 33, "add", "missing.onnx")
    assert not folder.exists()


def test_nothing_half_added(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def full_disk(path: Path, data: bytes) -> None:
        if path.suffix == ".onnx":
            raise OSError(28, "No space left on device", str(path))
        write_atomically(path, data)

    monkeypatch.setattr(model_library, "write_atomically", full_disk)
    assert "cannot add the model: No space left on device" in error_of(capsys, 36, "add", "ferry")
    assert list(folder.iterdir()) == []


def test_what_cannot_be_removed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "ferry comes with the package" in error_of(capsys, 36, "remove", "ferry")
    assert "there is no model 'x'" in error_of(capsys, 36, "remove", "x")
    assert "there is no model" in error_of(capsys, 36, "remove", str(FERRY))
    assert FERRY.exists()
