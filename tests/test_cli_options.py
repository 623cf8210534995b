"""The command line without running anything: options, limits, short forms, aliases, files."""

from __future__ import annotations

from pathlib import Path

import cli_support as cli
import pytest

from gsp_fd.common.discovery import domain_candidates, find_domain
from gsp_fd.common.errors import InputError
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.fd_integration.help import help_text
from gsp_fd.fd_integration.language.aliases import ALIASES, describe_aliases
from gsp_fd.fd_integration.language.context import compose_cost_types
from gsp_fd.fd_integration.language.registry import FEATURES, describe
from gsp_fd.fd_integration.run.components import choose_inputs
from gsp_fd.fd_integration.run.configuration import SHORT_HEURISTICS, SHORT_SEARCHES, check_combinations, configurations
from gsp_fd.fd_integration.run.options import GROUPS, parse_command_line


def searches(*arguments: str) -> list[str]:
    """The searches that a command line leads to."""
    options = parse_command_line(arguments)
    check_combinations(options)
    return [configuration.text for configuration in configurations(options)]


def refused(*arguments: str) -> InputError:
    """The error of a command line that is wrong whatever the files say."""
    with pytest.raises(InputError) as error:
        searches(*arguments)
    return error.value


@pytest.mark.parametrize(
    ("arguments", "seconds", "files"),
    [
        (["p.pddl"], None, ["p.pddl"]),
        (["--improve", "p.pddl"], float("inf"), ["p.pddl"]),
        (["--improve", "off", "p.pddl"], 0.0, ["p.pddl"]),
        (["--improve", "5m", "p.pddl"], 300.0, ["p.pddl"]),
        (["p.pddl", "--improve"], float("inf"), ["p.pddl"]),
        (["p.pddl", "--improve", "--search", "wastar"], float("inf"), ["p.pddl"]),
    ],
)
def test_improve_with_and_without_a_value(arguments: list[str], seconds: float | None, files: list[str]) -> None:
    options = parse_command_line(arguments)
    assert (options.improve, options.files) == (seconds, files)


def test_driver_and_component_options() -> None:
    options = parse_command_line(
        [
            *("--overall-time-limit", "30m", "--overall-memory-limit=3584M", "--validate", "--log-level", "DEBUG"),
            *("d.pddl", "p.pddl"),
            *("--translate-options", "--keep-unreachable-facts", "--search-options"),
            *("--evaluator", "h=ff()", "--search", "astar(h)", "--plan-file", "out"),
        ]
    )
    assert options.files == ["d.pddl", "p.pddl"]
    assert (options.overall_time, options.overall_memory) == (1800, 3584 << 20)
    assert options.validate
    assert options.log_level == "debug"
    assert options.plan_path == Path("out")
    assert options.translate_options == ["--keep-unreachable-facts"]
    assert options.search_tokens == ["--evaluator", "h=ff()", "--search", "astar(h)"]


@pytest.mark.parametrize(
    ("arguments", "files", "tokens"),
    [
        (["a", "b", "--search", "x"], ["a", "b"], ["--search", "x"]),
        (["--validate", "a", "--", "--search", "x"], ["a"], ["--search", "x"]),
        (["--", "--a", "-b", "--", "--search", "x"], ["--a", "-b"], ["--search", "x"]),
        (["--", "--search", "x"], [], ["--search", "x"]),
        (["-", "--search", "x"], ["-"], ["--search", "x"]),
        (["a", "--search=x"], ["a"], ["--search", "x"]),
        (["--heuristic", "hff", "a"], ["a"], ["--heuristic", "hff"]),
    ],
)
def test_files_end_where_fast_downward_says(arguments: list[str], files: list[str], tokens: list[str]) -> None:
    options = parse_command_line(arguments)
    assert options.files == files
    assert options.search_tokens == tokens
    assert not options.search


def test_search_before_the_files_is_a_flag() -> None:
    options = parse_command_line(["--search", "output.sas", "--search", "astar(blind())"])
    assert options.search
    assert options.files == ["output.sas"]


def test_driver_options_may_be_abbreviated_before_the_files() -> None:
    assert parse_command_line(["--overall-t", "5", "p.pddl"]).overall_time == 5
    assert refused("--overall", "5", "p.pddl").exit_code == ExitCode.DRIVER_INPUT_ERROR


@pytest.mark.parametrize(("text", "seconds"), [("7", 7), ("7s", 7), ("5m", 300), ("2H", 7200)])
def test_time_limits(text: str, seconds: int) -> None:
    assert parse_command_line(["--time-limit", text]).overall_time == seconds


@pytest.mark.parametrize(("text", "size"), [("7", 7 << 20), ("7m", 7 << 20), ("5K", 5 << 10), ("2g", 2 << 30)])
def test_memory_limits(text: str, size: int) -> None:
    assert parse_command_line(["--search-memory-limit", text]).search_memory == size


@pytest.mark.parametrize("text", ["0", "0s", "-1", "1.5", "x", "", "5x", "1 m", "٣", "9" * 30])
@pytest.mark.parametrize("option", ["--time-limit", "--memory-limit", "--translate-time-limit"])
def test_nonsense_limits(option: str, text: str) -> None:
    error = refused("p.pddl", option, text)
    assert error.exit_code == ExitCode.DRIVER_INPUT_ERROR
    assert option in str(error)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--heuristic", "hff"], "eager_wastar([ff()], w=2)"),
        (["--heuristic", "hff", "--search", "wastar", "-w", "3"], "eager_wastar([ff()], w=3)"),
        (["--search", "GBFS"], "eager_greedy([ff()])"),
        (["--search", "astar"], "astar(hmax())"),
        (["--heuristic", "blind", "--search", "astar"], "astar(blind())"),
        (["--heuristic", "hadd", "--search", "lazy_gbfs"], "lazy_greedy([add()])"),
        (
            ["--heuristic", "hff", "--search", "lazy_wastar", "--preferred", "-w", "5"],
            "let(h, ff(), lazy_wastar([h], preferred=[h], w=5))",
        ),
        (
            ["--heuristic", "hff", "--heuristic", "goalcount", "--search", "gbfs", "--preferred"],
            "let(h1, ff(), let(h2, goalcount(), eager_greedy([h1, h2], preferred=[h1, h2])))",
        ),
        (["--heuristic", "max([ff(), hmax()])", "--search", "gbfs"], "eager_greedy([max([ff(), hmax()])])"),
        (["--heuristic", "h=ff()", "--search", "astar(h)"], "let(h, ff(), astar(h))"),
        (
            ["--evaluator", "h = ff()", "--heuristic", "k=add()", "--search", "eager_greedy([h,k])"],
            "let(h,  ff(), let(k, add(), eager_greedy([h,k])))",
        ),
    ],
)
def test_short_forms(arguments: list[str], expected: str) -> None:
    assert searches("p.pddl", *arguments) == [expected]


def test_selection_by_costs() -> None:
    arguments = ["--if-unit-cost", "--search", "astar(ff())", "--if-non-unit-cost", "--search", "astar(hmax())"]
    assert searches("p", *arguments) == ["astar(ff())", "astar(hmax())"]
    arguments = ["--search", "--if-unit-cost", "astar(ff())", "--if-non-unit-cost", "astar(hmax())", "--always"]
    assert searches("p", *arguments) == ["astar(ff())", "astar(hmax())"]
    definition = ["--evaluator", "--if-unit-cost", "h=ff()", "--if-non-unit-cost", "h=hmax()", "--always"]
    assert searches("p", *definition, "--search", "astar(h)") == [
        "let(h, ff(), astar(h))",
        "let(h, hmax(), astar(h))",
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--evaluator", "h=ff()"], 36, "no search given"),
        (["--search"], 33, "needs a value"),
        (["--evaluator", "--search", "astar(h)"], 33, "--evaluator needs a value"),
        (["--evaluator", "h", "--search", "astar(h)"], 33, "NAME=DEFINITION"),
        (["--search", "astar(h)", "--evaluator", "h=ff()"], 33, "before --search"),
        (["--search", "astar(ff())", "--search", "astar(ff())"], 33, "twice"),
        (["--search", "wstar"], 33, "did you mean 'wastar'"),
        (["--search", "eager_greedy"], 33, "eager_greedy(evals"),
        (["--heuristic", "hfff"], 33, "did you mean 'hff'"),
        (["--heuristic", "landmarks"], 33, "known are hff"),
        (["--frobnicate"], 33, "unknown option --frobnicate"),
        (["--max-expansion", "3"], 33, "did you mean '--max-expansions'"),
        (["--search", "astar(ff())", "stray"], 33, "unknown option stray"),
        (["--heuristic", "hff", "--search", "astar(ff())"], 36, "short forms"),
        (["-w", "3", "--search", "astar(ff())"], 36, "--weight belongs"),
        (["-w", "3", "--search", "gbfs"], 36, "--weight is for wastar"),
        (["-w", "1.5", "--search", "wastar"], 36, "whole number"),
        (["-w", "-1"], 36, "at least 0"),
        (["-w", "x"], 36, "must be a number"),
        (["-w"], 36, "needs a value"),
        (["--preferred", "--heuristic", "hmax"], 36, "preferred operators: ff, add"),
        (["--preferred", "--search", "astar"], 36, "preferred"),
        (["--heuristic", "hff", "--heuristic", "hadd", "--search", "astar"], 36, "one --heuristic"),
        (["--max-expansions", "0"], 36, "at least 1"),
        (["--threads", "0"], 36, "at least 1"),
        (["--device", "abacus"], 36, "none of cpu, cuda, auto"),
        (["--time-limit", "5", "--overall-time-limit", "6", "--search", "gbfs"], 36, "contradicts"),
        (["--heuristic", "hff", "--model", "x.onnx"], 36, "only for learned heuristics"),
        (["--alias", "lama-first", "--search", "gbfs"], 36, "cannot combine --alias"),
        (["--alias", "lama-frist"], 36, "unknown alias 'lama-frist'; did you mean 'lama-first'?"),
        (["--alias", "lama-first", "--portfolio", "x.py"], 36, "cannot combine --alias with --portfolio"),
        (["--portfolio-bound", "3", "--search", "gbfs"], 36, "--portfolio"),
        (["--debug", "--build", "release", "--search", "gbfs"], 36, "--debug"),
        (["--validate=yes"], 36, "takes no value"),
        (["--log-level", "loud"], 36, "none of debug, info, warning"),
        (["--plan-file", ""], 36, "empty"),
    ],
)
def test_contradictions_and_nonsense(arguments: list[str], code: int, message: str) -> None:
    error = refused("p.pddl", *arguments)
    assert error.exit_code == code
    assert message in str(error)


def test_unknown_driver_option() -> None:
    error = refused("--overal-time-limit", "5", "p.pddl")
    assert error.exit_code == ExitCode.DRIVER_INPUT_ERROR
    assert "did you mean '--overall-time-limit'" in str(error)


@pytest.mark.parametrize(
    ("arguments", "components"),
    [
        (["domain.pddl", "problem.pddl"], ["translate", "search"]),
        (["problem.pddl"], ["translate", "search"]),
        (["task.sas"], ["search"]),
        (["--translate", "problem.pddl"], ["translate"]),
        (["--search", "task.sas"], ["search"]),
        (["--translate", "--search", "problem.pddl"], ["translate", "search"]),
        (["--run-all", "--validate", "problem.pddl"], ["translate", "search", "validate"]),
        (["--debug", "problem.pddl"], ["translate", "search", "validate"]),
    ],
)
def test_components(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], components: list[str]
) -> None:
    cli.write_files(tmp_path, {"domain.pddl": "", "problem.pddl": "", "task.sas": "begin_version\n3\n"})
    monkeypatch.chdir(tmp_path)
    inputs = choose_inputs(parse_command_line(arguments))
    assert inputs.components == components
    if components[0] == "translate":
        assert inputs.domain == Path("domain.pddl")


def test_domain_discovery_order() -> None:
    names = [path.name for path in domain_candidates(Path("folder/p05-airport.pddl"))]
    assert names == [
        "domain.pddl",
        "p05-airport-domain.pddl",
        "p05-domain.pddl",
        "domain_p05-airport.pddl",
        "domain-p05-airport.pddl",
    ]


def test_domain_in_the_folders_above(tmp_path: Path) -> None:
    problem = tmp_path / "testing" / "easy" / "p01.pddl"
    problem.parent.mkdir(parents=True)
    problem.touch()
    above = tmp_path / "domain.pddl"
    above.touch()
    assert find_domain(problem) == above
    (tmp_path / "testing" / "domain.pddl").touch()
    assert find_domain(problem) == tmp_path / "testing" / "domain.pddl"
    (problem.parent / "domain.pddl").touch()
    assert find_domain(problem) == problem.parent / "domain.pddl"


def test_domain_too_far_above(tmp_path: Path) -> None:
    (tmp_path / "domain.pddl").touch()
    problem = tmp_path / "a" / "b" / "c" / "d" / "p01.pddl"
    problem.parent.mkdir(parents=True)
    with pytest.raises(InputError, match=r"no domain\.pddl in the 3 folders above") as error:
        find_domain(problem)
    assert error.value.exit_code == ExitCode.DRIVER_INPUT_ERROR


@pytest.mark.parametrize(
    ("weight", "text"), [("1000000", "1000000"), ("999999999", "999999999"), ("0", "0"), ("2.0", "2")]
)
def test_weights_have_all_their_digits(weight: str, text: str) -> None:
    assert searches("p.pddl", "-w", weight, "--heuristic", "hff") == [f"eager_wastar([ff()], w={text})"]


@pytest.mark.parametrize(("weight", "text"), [("1234567.5", "1234567.5"), ("0.0000001", "0.0000001")])
def test_weights_of_learned_heuristics(weight: str, text: str) -> None:
    assert searches("p.pddl", "-w", weight, "--heuristic", "gsp") == [f"gsp_wastar([gsp()], w={text})"]


@pytest.mark.parametrize("files", [[], ["a", "b", "c"]])
def test_number_of_files(files: list[str]) -> None:
    with pytest.raises(InputError) as error:
        choose_inputs(parse_command_line(files))
    assert error.value.exit_code == ExitCode.DRIVER_INPUT_ERROR


def test_a_search_before_the_files_gets_a_hint() -> None:
    with pytest.raises(InputError, match="write --search wastar after the files"):
        choose_inputs(parse_command_line(["--search", "wastar", "d.pddl", "p.pddl"]))


def test_cost_types_compose() -> None:
    assert compose_cost_types("normal", "plusone") == "plusone"
    assert compose_cost_types("plusone", "normal") == "plusone"
    assert compose_cost_types("one", "plusone") == "one"
    assert compose_cost_types("plusone", "one") == "one"
    with pytest.raises(InputError):
        compose_cost_types("plusone", "plusone")


MODEL_OPTIONS = ["--model", 'a "b".onnx', "--device", "cpu", "--threads", "2", "--symmetry", "none"]


@pytest.mark.parametrize(
    ("arguments", "search"),
    [
        (
            ["--heuristic", "gsp", "--search", "policy", *MODEL_OPTIONS, "--batch-size", "8"],
            r'policy(gsp(model="a \"b\".onnx", device=cpu, threads=2, symmetry=none), batch_size=8)',
        ),
        (
            ["--search", 'let(h, gsp("x", threads=3), lazy_wastar([h, ff()], w=2))', *MODEL_OPTIONS, "--seed", "7"],
            'let(h, gsp("x", threads=3, device=cpu, symmetry=none), lazy_wastar([h, ff()], w=2, random_seed=7))',
        ),
        (
            ["--search", "iterated([lazy_greedy([ff()], batch_size=2), astar(blind())])", "--batch-size", "4"],
            "iterated([lazy_greedy([ff()], batch_size=2), astar(blind(), batch_size=4)])",
        ),
        (["--search", "eager(single(ff()))", "--seed", "7"], "eager(single(ff()))"),
        (["--search", "eager( single(ff() ))"], "eager( single(ff() ))"),
    ],
)
def test_options_become_text_where_the_search_leaves_them_open(arguments: list[str], search: str) -> None:
    assert searches("p.pddl", *arguments) == [search]


def test_help_is_complete() -> None:
    text = help_text()
    assert all(name in text for group in GROUPS.values() for option in group for name in option.names)
    assert all(name in text for name, feature in SHORT_HEURISTICS.items() if feature in FEATURES)
    assert all(name in text for name, row in SHORT_SEARCHES.items() if row.algorithm in FEATURES)


def test_features_are_explained() -> None:
    text = describe()
    for feature in FEATURES.values():
        assert feature.signature() in text
    assert "admissible: yes" in describe(["hmax"])
    assert "preferred operators: yes" in describe(["FF"])
    with pytest.raises(InputError, match="did you mean 'hmax'"):
        describe(["hmaxx"])


def test_aliases_are_explained_and_checked() -> None:
    text = describe_aliases()
    for name in ALIASES:
        assert name in text
        assert searches("--alias", name, "p.pddl")
