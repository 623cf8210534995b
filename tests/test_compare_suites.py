"""Suites, configurations, the results file and the tables of comparisons."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import tasks
from compare_support import tower_suite

from gsp_fd.common.errors import InputError
from gsp_fd.compare.comparison import Comparison
from gsp_fd.compare.configurations import BUILT_IN, find_configurations, split_names
from gsp_fd.compare.progress import Progress, duration
from gsp_fd.compare.results import FILE_NAME, Results, ResultsWriter, read_results
from gsp_fd.compare.runner import Job
from gsp_fd.compare.suites import Selection, SuiteProblem, read_bounds, read_suites, with_bounds
from gsp_fd.compare.tables import Table, coverage_table, csv_text, latex, markdown, notes, pair_table, pair_tables
from gsp_fd.fd_integration.run.options import Options
from gsp_fd.training.instances import read_tasks

ALL = Selection()


def names(problems: list[SuiteProblem]) -> list[str]:
    return [str(problem) for problem in problems]


@pytest.fixture
def ipc(tmp_path: Path) -> Path:
    """Two domains in the IPC layout."""
    for domain in ("north", "south"):
        for split in ("hard", "easy", "medium"):
            folder = tmp_path / "ipc" / domain / "testing" / split
            folder.mkdir(parents=True)
            for number in range(1, 5):
                (folder / f"p0{number}.pddl").write_text(tasks.TOWER)
        (tmp_path / "ipc" / domain / "domain.pddl").write_text(tasks.TOWER_DOMAIN)
    return tmp_path / "ipc"


# -- suites


def test_ipc_layout(ipc: Path, tmp_path: Path) -> None:
    found = read_suites([str(ipc / "north")], ALL, tmp_path)
    assert len(found) == 12
    assert names(found)[:5] == [*(f"north/easy/p0{number}" for number in range(1, 5)), "north/medium/p01"]
    assert all(problem.domain_file == ipc / "north" / "domain.pddl" for problem in found)
    assert names(read_suites([str(ipc)], ALL, tmp_path))[12] == "south/easy/p01"


def test_selection(ipc: Path, tmp_path: Path) -> None:
    selected = read_suites([str(ipc)], Selection(("hard", "easy"), every=3), tmp_path)
    assert names(selected) == [
        f"{domain}/{split}/{problem}"
        for domain in ("north", "south")
        for split in ("easy", "hard")
        for problem in ("p01", "p04")
    ]


def test_flat_folder_problem_and_list_file(tmp_path: Path) -> None:
    suite = tower_suite(tmp_path / "tower", ("p2", "p1"))
    (suite / "p1-domain.pddl").write_text(tasks.TOWER_DOMAIN)
    assert names(read_suites([str(suite)], ALL, tmp_path)) == ["tower/p1", "tower/p2"]
    assert names(read_suites([str(suite / "p2.pddl")], ALL, tmp_path)) == ["tower/p2"]
    listed = tmp_path / "list.txt"
    listed.write_text(
        "# problems\n\ntower/p2.pddl  # the second\ntower/domain.pddl tower/p1.pddl\ngenerate:ferry?count=1&size=5\n"
    )
    assert names(read_suites([str(listed)], ALL, tmp_path)) == ["tower/p2", "tower/p1", "ferry/size 5/p01"]


def test_generated_problems_are_the_same_again(tmp_path: Path) -> None:
    text = "generate:blocksworld?count=3&size=3-8&seed=1"
    first, second = (read_suites([text], ALL, tmp_path / name) for name in "ab")
    assert names(first) == [f"blocksworld/size 3-8/p0{number}" for number in (1, 2, 3)]
    for one, other in zip(first, second, strict=True):
        assert one.problem_file != other.problem_file
        assert one.problem_file.read_bytes() == other.problem_file.read_bytes()
    assert read_suites([text], ALL, tmp_path / "a") == first


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nothing-here", "there is no such file or folder"),
        ("empty", "found no problems"),
        ("binary", "neither a folder nor a PDDL file nor a list of problems"),
        ("list", "list:2: 'nothing' is neither a folder"),
        ("generate:grippers", "there is no generator 'grippers'"),
        ("generate:gripper?count=0", "'0' is not a positive whole number"),
        ("generate:gripper?count=9223372036854775808", "at most 1000 problems"),
        ("generate:gripper?size=9-3", "did you mean 3-9?"),
        ("generate:gripper?size=1", "too small"),
        ("generate:gripper?number=3", "unknown option 'number'"),
        ("generate:gripper?distribution=odd", "'odd' is no distribution"),
    ],
)
def test_unreadable_suites_are_problems_with_an_error(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    tower_suite(tmp_path / "tower")
    (tmp_path / "list").write_text("tower\nnothing\n")
    suite = text if text.startswith("generate:") else str(tmp_path / text)
    bad, good = read_suites([suite, str(tmp_path / "tower")], ALL, tmp_path / "generated")
    assert message in bad.error
    assert str(tmp_path) not in bad.error
    assert (good.name, good.error) == ("p01", "")


def test_a_problem_without_a_domain(tmp_path: Path) -> None:
    (tmp_path / "lonely").mkdir()
    (tmp_path / "lonely" / "p01.pddl").write_text(tasks.TOWER)
    (problem,) = read_suites([str(tmp_path / "lonely")], ALL, tmp_path)
    assert "found no domain file" in problem.error


def test_two_problems_of_one_name(tmp_path: Path) -> None:
    for parent in ("a", "b"):
        (tmp_path / parent).mkdir()
        tower_suite(tmp_path / parent / "tower")
    with pytest.raises(InputError, match="would both be called tower/p01"):
        read_suites([str(tmp_path / "a" / "tower"), str(tmp_path / "b" / "tower")], ALL, tmp_path)
    twice = [str(tmp_path / "a" / "tower")] * 2
    assert len(read_suites(twice, ALL, tmp_path)) == 1


def test_bounds(ipc: Path, tmp_path: Path) -> None:
    file = tmp_path / "bounds.json"
    file.write_text('{"north/testing/easy/p02.pddl": 6, "south/easy/p01": 7}')
    problems = with_bounds(read_suites([str(ipc)], ALL, tmp_path), read_bounds(file))
    known = {str(problem): problem.best_known for problem in problems if problem.best_known is not None}
    assert known == {"north/easy/p02": 6, "south/easy/p01": 7}
    for text in ("[1]", '{"a": "b"}', "{"):
        file.write_text(text)
        with pytest.raises(InputError, match=r"bounds\.json"):
            read_bounds(file)


def test_problems_are_known_by_what_they_define(tmp_path: Path) -> None:
    suite = tower_suite(tmp_path / "tower", ("p01", "subdomain-3"))
    domain = (
        f"; (define (problem p)\n ( DEFINE\n(domain tower) ; no problem\n{tasks.TOWER_DOMAIN.partition('tower)')[2]}"
    )
    (suite / "another-name.pddl").write_text(domain)
    (suite / "broken.pddl").write_text("(define (problem")
    found = ["tower/broken", "tower/p01", "tower/subdomain-3"]
    assert names(read_suites([str(suite)], ALL, tmp_path)) == found
    (suite / "broken.pddl").unlink()
    assert [Path(task.name).stem for task in read_tasks(suite / "domain.pddl", suite)] == ["p01", "subdomain-3"]


# -- configurations


def test_every_built_in_configuration_is_complete() -> None:
    for configuration in find_configurations(list(BUILT_IN)):
        arguments = configuration.arguments({"domain": "D", "problem": "P", "plan": "X", "time": "7", "memory": "8"})
        assert arguments.index("D") + 1 == arguments.index("P")
        assert {"X", "7", "8m"} <= set(arguments)
        assert "/" not in configuration.spec
        assert configuration.missing == "" or "pip install" in configuration.missing


def test_split_names() -> None:
    text = "a, b=lazy_greedy([ff()], preferred=[ff()]),c=!sh -c 'x, y' {plan},"
    assert split_names(text) == ["a", "b=lazy_greedy([ff()], preferred=[ff()])", "c=!sh -c 'x, y' {plan}"]


def test_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.onnx").write_bytes(b"")
    learned = ["gsp-wastar", "x=--search policy --heuristic gsp", "y=let(h, gsp(threads=1), eager_greedy([h]))"]
    plain = [
        'a=gsp_wastar([gsp(model="other.onnx")], w=3)',
        'b=policy(gsp("other.onnx"))',
        'c=astar(blind(description="gsp()"))',
        "hff-wastar",
    ]
    for configuration in find_configurations([*learned, *plain], Options(model="mine.onnx")):
        if configuration.name in ("gsp-wastar", "x", "y"):
            assert configuration.command[-2:] == ("--model", str(tmp_path / "mine.onnx"))
            assert configuration.spec.endswith("--model mine.onnx")
            assert configuration.model == "mine.onnx"
        else:
            assert "--model" not in configuration.command
            assert configuration.model == ""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "model.onnx").write_bytes(b"")
    (policy,) = find_configurations(["gsp-policy"], Options(model="run"))
    assert policy.command[-2:] == ("--model", str(tmp_path / "run")), "planners run in another folder"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gsp-polcy", "did you mean"),
        ("x=", "should be NAME=SEARCH"),
        ("a b=astar(blind())", "should be NAME=SEARCH"),
        ("x=astar(", "astar"),
        ("x=--heuristic hff --search 'gbfs", "No closing quotation"),
        ("x=!", "no command"),
        ("x=!planner {domain} {problem}", "needs {plan}"),
    ],
)
def test_wrong_configurations(name: str, message: str) -> None:
    with pytest.raises(InputError, match=message.replace("{", r"\{").replace("(", r"\(")):
        find_configurations([name])


def test_names_are_used_once() -> None:
    with pytest.raises(InputError, match="two configurations are called 'hff-wastar'"):
        find_configurations(["hff-wastar", "hff-wastar=astar(blind())"])


def test_commands_find_their_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "planner.py").write_text("")
    (found,) = find_configurations([f"x=!{sys.executable} planner.py {{domain}} {{problem}} {{plan}}"])
    assert found.command[1] == str(tmp_path / "planner.py")
    assert str(tmp_path) not in found.spec


# -- the results file


def entry(problem: str, configuration: str, status: str = "solved", **values: Any) -> dict[str, Any]:
    """A result with the values that tables look at."""
    base = {"kind": "result", "domain": "tower", "split": "easy", "problem": problem, "configuration": configuration}
    unknown = dict.fromkeys(("cost", "steps", "expansions", "generated", "evaluations", "objects", "best_known"))
    times = {"cpu_seconds": 1.0, "wall_seconds": 2.0, "memory_mb": 3.0, "message": "", "exit_code": 0}
    return {**base, **unknown, **times, "status": status, **values}


HEADER = {
    "kind": "header",
    "version": 1,
    "command": "gsp-compare run tower",
    "limits": {"expansions": 10_000, "cpu_seconds": 300, "memory_mb": 4096},
    "configurations": [{"name": "gsp-wastar", "spec": ""}, {"name": "hff_100%", "spec": ""}],
}


def test_a_half_written_line_is_repaired(tmp_path: Path) -> None:
    lines = [json.dumps(HEADER), json.dumps(entry("p01", "a")), json.dumps(entry("p02", "a"))]
    file = tmp_path / FILE_NAME
    for cut in range(len(lines[-1])):
        file.write_text("\n".join(lines)[: len("\n".join(lines)) - cut])
        writer = ResultsWriter(tmp_path)
        writer.write(entry("p03", "a"))
        writer.close()
        kept = ["p01", "p02", "p03"] if cut == 0 else ["p01", "p03"]
        assert [result["problem"] for result in read_results([tmp_path]).results] == kept


def test_the_last_result_counts(tmp_path: Path) -> None:
    for name, status in (("one", "crash"), ("two", "solved")):
        writer = ResultsWriter(tmp_path / name)
        writer.write(HEADER)
        writer.write(entry("p01", "a", "crash"))
        writer.write(entry("p01", "a", status))
        writer.close()
    together = read_results([tmp_path / "one", tmp_path / "two" / FILE_NAME])
    assert [result["status"] for result in together.results] == ["solved"]
    assert len(together.headers) == 2


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    writer = ResultsWriter(tmp_path)
    with pytest.raises(InputError, match="another gsp-compare"):
        ResultsWriter(tmp_path)
    writer.close()
    ResultsWriter(tmp_path).close()


@pytest.mark.parametrize("line", ["garbage", "[]", "{}", '{"kind": "result"}', '{"kind": "header", "version": 99}'])
def test_broken_results_files_are_named_with_the_line(tmp_path: Path, line: str) -> None:
    file = tmp_path / FILE_NAME
    file.write_text(f"{json.dumps(HEADER)}\n{line}\n{json.dumps(entry('p01', 'a'))}\n")
    with pytest.raises(InputError, match=rf"{FILE_NAME}:2: "):
        read_results([tmp_path])
    with pytest.raises(InputError, match="cannot read the results"):
        read_results([tmp_path / "nowhere"])


@pytest.mark.parametrize(
    "change",
    [{"action": 3}, {"action": ["a", "b"]}, {"rest": ["many"]}, {"best": [["a"]]}, {"best": [[["a", "b"]]]}, {"x": []}],
)
def test_broken_explanations_are_refused(change: dict[str, Any]) -> None:
    explanation = {"action": ["a"], "rest": [1], "gsp": [None], "hff": [1.0], "better": [0], "best": [[["a", -1.5]]]}
    Results().add(entry("p01", "a", explanation=explanation))
    with pytest.raises(ValueError, match=r"explanation|must be"):
        Results().add(entry("p01", "a", explanation=explanation | change))


# -- tables


@pytest.fixture
def comparison() -> Comparison:
    results = Results()
    for line in (
        HEADER,
        entry("p01", "gsp-wastar", steps=10, cost=10, expansions=12),
        entry("p02", "gsp-wastar", steps=31, cost=31, expansions=40),
        entry("p03", "gsp-wastar", "crash", message="out of luck"),
        entry("p01", "hff_100%", steps=14, cost=14, expansions=100),
        entry("p02", "hff_100%", "expansion-limit", steps=20, cost=20, expansions=20_000),
        entry("p03", "hff_100%", "time-limit"),
        {**entry("", "hff_100%", "input-error", message="unreadable suite: gone"), "domain": "moon", "split": ""},
    ):
        results.add(dict(line))
    return Comparison(results.headers, results.results)


def test_coverage_and_steps(comparison: Comparison) -> None:
    table = coverage_table(comparison)
    assert table.rows == [["tower", "67% (2/3)", "20", "33% (1/3)", "14"]]
    assert table.total == ["total", "67% (2/3)", "20", "33% (1/3)", "14"]
    assert "10,000 expansions, 300 s of CPU time, 4096 MB" in table.caption


def test_pairs_count_problems_that_both_solved(comparison: Comparison) -> None:
    table = pair_table(comparison, "gsp-wastar", "hff_100%")
    assert table.rows == [["tower", "1", "12", "10", "100", "14"]]
    assert [found.title for found in pair_tables(comparison, None)] == ["gsp-wastar and hff_100%"]


def test_notes_tell_what_the_tables_leave_out(comparison: Comparison) -> None:
    text = "\n".join(notes(comparison))
    assert "moon: unreadable suite: gone" in text
    assert "gsp-wastar: 1 run(s) ended with crash, the first on tower/easy/p03: out of luck" in text
    assert "hff_100%: 1 more valid plan(s)" in text


def test_documents(comparison: Comparison) -> None:
    shown = markdown(comparison)
    assert "| tower easy | 2/3 | 1/3 |" in shown
    assert "    gsp-compare run tower\n" in shown
    rows = [line for line in shown.splitlines() if line.startswith("|")]
    assert all(row.count("|") >= 4 for row in rows)
    typeset = latex(comparison)
    assert "hff\\_100\\%" in typeset
    assert typeset.count("\\begin{tabular}") == typeset.count("\\end{tabular}") == 3
    assert " & 67\\% (2/3) & 20 & " in typeset


def test_table_as_text() -> None:
    table = Table("", "", [("", 2)], ["", "ferry", "total"], [["gsp", "1/10", "2/20"], ["longer", "-", "-"]])
    assert table.text() == "        ferry  total\ngsp      1/10   2/20\nlonger      -      -"


def test_csv(comparison: Comparison) -> None:
    rows = list(csv.DictReader(io.StringIO(csv_text(comparison.results))))
    assert len(rows) == 6
    assert rows[4]["message"] == "out of luck"
    assert rows[4]["cost"] == ""
    assert rows[0]["expansions"] == "12"


# -- progress


def test_estimate() -> None:
    fast, slow = find_configurations(["hff-wastar", "hmax-wastar"])
    problems = [SuiteProblem("tower", "easy", f"p{number}") for number in range(3)]
    progress = Progress([Job(problem, configuration) for problem in problems for configuration in (fast, slow)], 2)
    progress.finished(entry("p0", "hff-wastar", wall_seconds=1.0))
    line = progress.finished(entry("p0", "hmax-wastar", "crash", message="why", wall_seconds=10.0))
    assert progress.seconds_left() == pytest.approx(11.0)
    assert line == "[2/6] tower/easy/p0 hmax-wastar: crash, 1.0 s (why); about 11 s left"
    assert [duration(seconds) for seconds in (40, 720, 12_000)] == ["40 s", "12 min", "3 h 20 min"]
