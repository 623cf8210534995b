"""Files from strangers: results, checkpoints, configurations, lists, file names, planted links."""

from __future__ import annotations

import io
import json
import os
import threading
import tracemalloc
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import cli_support
import compare_records
import numpy as np
import pytest
import tasks
from compare_support import python_planner, tower_suite, write_plan

from gsp_fd.common.errors import InputError
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.common.files import write_atomically
from gsp_fd.common.untrusted import file_name, parse_json, printable
from gsp_fd.compare import cli as compare_cli
from gsp_fd.compare.results import read_results
from gsp_fd.compare.suites import read_bounds
from gsp_fd.compare.tables import csv_text
from gsp_fd.model_format import EncodedBatch
from gsp_fd.pddl import read_domain, read_problem
from gsp_fd.pddl.formulas import MAX_HINTS

# -- text and JSON


def test_text_of_strangers_is_shown_as_one_line() -> None:
    assert printable("(on a b) é") == "(on a b) é"
    assert printable("a\nb\x1b[2J\u2028\ud800\x85") == "a\\nb\\x1b[2J\\u2028\\ud800\\x85"
    assert file_name(b"p\xff\n.pddl".decode(errors="surrogateescape")) == "p\\xff\\n.pddl"
    assert (
        str(InputError("unknown object 'a\x1b[2J'\n   ^", "p\r.pddl", 3))
        == "p\\r.pddl:3: unknown object 'a\\x1b[2J'\n   ^"
    )


@pytest.mark.parametrize("text", ["[" * 100_000 + "]" * 100_000, "9" * 5000, "[1", "", "\udcff"])
def test_json_that_is_none_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  (its text is for people)
        parse_json(text)


# -- results


def results_file(folder: Path, **changes: Any) -> Path:
    """A results file whose second line has other values."""
    names = ("gsp-policy", "hff-wastar")
    lines = [compare_records.header(names, 2), *compare_records.results(1, ("ferry",), ("easy",), names)]
    lines[1] |= changes
    file = folder / "results.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"steps": "many"}, "steps must be a number"),
        ({"expansions": [1]}, "expansions must be a number"),
        ({"cost": float("inf")}, "cost must be a number"),
        ({"cpu_seconds": True}, "cpu_seconds must be a number"),
        ({"domain": ["ferry"]}, "domain must be a text"),
        ({"status": {}}, "status must be a text"),
        ({"problem": "\ud800"}, "surrogates not allowed"),
        ({"kind": None}, "it has no kind"),
    ],
)
def test_values_of_a_wrong_type_in_results(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    file = results_file(tmp_path, **changes)
    with pytest.raises(InputError, match=message) as caught:
        read_results([file])
    assert caught.value.line == 2
    assert compare_cli.main(["report", str(file)]) == ExitCode.DRIVER_INPUT_ERROR


@pytest.mark.parametrize("limits", [7, {"expansions": "10000"}, {"memory_mb": []}])
def test_limits_of_a_wrong_type_in_results(tmp_path: Path, limits: object) -> None:
    file = results_file(tmp_path)
    header, *rest = file.read_text().splitlines(keepends=True)
    file.write_text(json.dumps(json.loads(header) | {"limits": limits}) + "\n" + "".join(rest))
    with pytest.raises(InputError, match="no line of a results file"):
        read_results([file])


def test_no_cell_of_the_csv_file_is_a_formula(tmp_path: Path) -> None:
    file = results_file(tmp_path, problem='=HYPERLINK("http://evil")', message="@now", domain="+1", cost=-3)
    row = csv_text(read_results([file]).results).splitlines()[1]
    assert row.startswith('\'+1,easy,"\'=HYPERLINK(""http://evil"")",')
    assert ",'@now," in row
    assert ",-3," in row


def test_reports_at_once(tmp_path: Path) -> None:
    """Each writes whole files, whatever the other does in the same folder."""
    file = results_file(tmp_path)
    codes: list[int] = []

    def report() -> None:
        codes.extend(compare_cli.main(["report", str(file), "--out", str(tmp_path)]) for _ in range(10))

    threads = [threading.Thread(target=report) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == [0] * 40
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("index.html", "results.csv", "results.jsonl", "tables.md", "tables.tex"),
    ]


def test_a_file_name_that_is_no_utf8(tmp_path: Path) -> None:
    suite = tower_suite(tmp_path / "tower")
    (suite / os.fsdecode(b"p\xff.pddl")).write_text(tasks.TOWER)
    planner = python_planner(tmp_path, "mine", write_plan())
    arguments = ["run", str(suite), "--out", str(tmp_path / "out"), "--configuration", planner]
    assert compare_cli.main(arguments) == ExitCode.SUCCESS
    found = read_results([tmp_path / "out"]).results
    assert [(result["problem"], result["status"]) for result in found] == [("p01", "solved"), ("p\\xff", "solved")]
    assert compare_cli.main(arguments) == ExitCode.SUCCESS
    assert len((tmp_path / "out" / "results.jsonl").read_text().splitlines()) == 3, "nothing runs twice"
    assert compare_cli.main(["report", str(tmp_path / "out")]) == ExitCode.SUCCESS


@pytest.mark.parametrize("text", ['{"a": Infinity}', '{"a": NaN}', "[" * 100_000, '{"a": "1"}', "3", "\udcff"])
def test_best_known_costs_that_are_none(tmp_path: Path, text: str) -> None:
    file = tmp_path / "bounds.json"
    file.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(InputError, match=r"bounds\.json"):
        read_bounds(file)


# -- links


def test_a_planted_link_leads_nowhere(tmp_path: Path) -> None:
    """The other name of a file that is being written cannot be foreseen, and links by any name are not followed."""
    precious, target = tmp_path / "precious", tmp_path / "sas_plan"
    precious.write_text("precious")
    for process in range(os.getpid() - 2, os.getpid() + 3):
        (tmp_path / f".sas_plan.{process}.tmp").symlink_to(precious)
    write_atomically(target, b"(a plan)")
    assert precious.read_text() == "precious"
    assert target.read_bytes() == b"(a plan)"
    assert not target.is_symlink()


def test_an_error_names_the_file_that_was_wanted(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file") as caught:
        write_atomically(tmp_path / "nowhere" / "plan", b"")
    assert caught.value.filename == str(tmp_path / "nowhere" / "plan")


# -- what training reads


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch", reason="the training extra is not installed")
    from random_models import random_checkpoint

    from gsp_fd.training.checkpoint import save_checkpoint

    known = random_checkpoint(tasks.load(tasks.TOWER_DOMAIN, tasks.TOWER))
    relations = tuple(np.zeros((1, arity), np.int64) for _, arity in known.metadata.relations)
    one, zero = np.ones(1, np.float32), np.zeros(1, np.int64)
    file = tmp_path_factory.mktemp("checkpoint") / "c.npz"
    save_checkpoint(file, replace(known, batches=[EncodedBatch(relations, zero, zero, zero, one)]))
    return file


Entries = dict[str, Any]


def negative(entries: Entries) -> None:
    entries["batches/0/relations/0"] = np.full_like(entries["batches/0/relations/0"], -100_000)


def too_large(entries: Entries) -> None:
    entries["batches/0/action_node"] = np.array([7], np.int64)


def other_shape(entries: Entries) -> None:
    entries["batches/0/relations/0"] = np.zeros((3, 1), np.int64)


def other_type(entries: Entries) -> None:
    entries["batches/0/relations/0"] = entries["batches/0/relations/0"].astype(np.int32)


def sizes_of_a_table(entries: Entries) -> None:
    entries["batches/0/state_sizes"] = entries["batches/0/state_sizes"][:, np.newaxis]


def deep_json(entries: Entries) -> None:
    entries["json"] = np.frombuffer(b"[" * 100_000 + b"]" * 100_000, np.uint8)


def no_object(entries: Entries) -> None:
    text = json.loads(entries["json"].tobytes())
    entries["json"] = np.frombuffer(json.dumps(text | {"state": []}).encode(), np.uint8)


def rewritten(checkpoint: Path, target: Path, change: Callable[[Entries], None], save: Any = np.savez) -> Path:
    with np.load(checkpoint) as data:
        entries = {name: data[name] for name in data.files}
    change(entries)
    save(target, **entries)
    return target


@pytest.mark.parametrize(
    "change", [negative, too_large, other_shape, other_type, sizes_of_a_table, deep_json, no_object]
)
def test_broken_checkpoints(
    checkpoint: Path, tmp_path: Path, change: Callable[[Entries], None], capsys: pytest.CaptureFixture[str]
) -> None:
    from gsp_fd.export import cli

    assert cli.main([str(checkpoint), str(tmp_path / "m.onnx")]) == ExitCode.SUCCESS
    broken = rewritten(checkpoint, tmp_path / "broken.npz", change)
    assert cli.main([str(broken), str(tmp_path / "b.onnx")]) == ExitCode.DRIVER_INPUT_ERROR
    assert "not a gsp-fd checkpoint, or a damaged one" in capsys.readouterr().err
    assert not (tmp_path / "b.onnx").exists()


def test_a_network_larger_than_its_weights(
    checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the file says of its sizes is not made before the arrays fit it: 69 GB here."""
    from gsp_fd.export import cli

    def wide(entries: Entries) -> None:
        content = json.loads(entries["json"].tobytes())
        network = json.loads(content["metadata"]["gsp_fd.network"])
        content["metadata"]["gsp_fd.network"] = json.dumps(network | {"d": 1 << 16})
        entries["json"] = np.frombuffer(json.dumps(content).encode(), np.uint8)

    broken = rewritten(checkpoint, tmp_path / "broken.npz", wide)
    assert cli.main([str(broken), str(tmp_path / "b.onnx")]) == ExitCode.DRIVER_INPUT_ERROR
    assert "the checkpoint's weights do not match its network sizes" in capsys.readouterr().err


def test_a_checkpoint_takes_no_more_memory_than_its_file(checkpoint: Path, tmp_path: Path) -> None:
    from gsp_fd.training.checkpoint import load_checkpoint

    bomb = rewritten(checkpoint, tmp_path / "bomb.npz", lambda entries: None, np.savez_compressed)
    with pytest.raises(InputError, match="damaged"):
        load_checkpoint(bomb)
    liar = tmp_path / "liar.npz"
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)})
    with zipfile.ZipFile(checkpoint) as source, zipfile.ZipFile(liar, "w") as archive:
        for name in source.namelist():
            archive.writestr(name, source.read(name))
        archive.writestr("arrays/x.npy", header.getvalue() + b"12345678")
    with pytest.raises(InputError, match="damaged"):
        load_checkpoint(liar)
    data = bytearray(checkpoint.read_bytes())
    packed_size = data.index(b"PK\x01\x02") + 20  # of the first entry of the archive's directory
    data[packed_size : packed_size + 4] = (3 << 30).to_bytes(4, "little")
    liar.write_bytes(data)
    tracemalloc.start()
    with pytest.raises(InputError, match="damaged"):
        load_checkpoint(liar)
    assert tracemalloc.get_traced_memory()[1] < 100 << 20
    tracemalloc.stop()


@pytest.mark.parametrize(
    "text",
    [
        "seed = " + "9" * 5000,
        "seed = 0x" + "f" * 5000,
        "budget = 1e999",
        "d = 0x" + "f" * 300,
        "weights = " + "[" * 9999,
    ],
    ids=lambda text: text[:16],
)
def test_numbers_that_no_configuration_has(tmp_path: Path, text: str) -> None:
    pytest.importorskip("torch", reason="the training extra is not installed")
    from gsp_fd.training.run.settings import read_toml

    file = tmp_path / "c.toml"
    file.write_text(text + "\n")
    with pytest.raises(InputError, match=r"c\.toml") as caught:
        read_toml(file)
    assert caught.value.exit_code == ExitCode.DRIVER_INPUT_ERROR


# -- PDDL


def test_guesses_are_made_for_the_first_warnings_only(tmp_path: Path) -> None:
    """Each guess compares a name with all others: one for every warning would take quadratic time."""
    objects = " ".join(f"place{i} - place" for i in range(300))
    values = " ".join(f"(= (length plase{i} plaec{i}) 1)" for i in range(300))
    problem = tasks.COURIER.replace("(:objects ", f"(:objects {objects} ").replace("(:init ", f"(:init {values} ")
    cli_support.write_files(tmp_path, {"domain.pddl": tasks.COURIER_DOMAIN, "problem.pddl": problem})
    warnings = read_problem(tmp_path / "problem.pddl", read_domain(tmp_path / "domain.pddl")).warnings
    assert sum("undefined object" in warning for warning in warnings) == 600
    assert 0 < sum("did you mean" in warning for warning in warnings) <= MAX_HINTS
