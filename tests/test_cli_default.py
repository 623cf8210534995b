"""gsp-plan without a search: a model if one fits, what is done without one, slices of the time, errors."""

from __future__ import annotations

import re
from pathlib import Path
from subprocess import CompletedProcess

import cli_support as cli
import pytest
import tasks
from random_models import random_model

from gsp_fd.fd_integration.language.aliases import ALIASES
from gsp_fd.generate import domain_text, generate
from gsp_fd.model_library import SHIPPED_MODELS

FILES = ("domain.pddl", "problem.pddl")
LAMA = re.escape(ALIASES["lama-first"].tokens[1])


@pytest.fixture
def blocks(tmp_path: Path) -> Path:
    """A domain that a shipped model fits."""
    return cli.write_files(
        tmp_path, {"domain.pddl": domain_text("blocksworld"), "problem.pddl": generate("blocksworld", 6, 1)}
    )


@pytest.fixture
def tower(tmp_path: Path) -> Path:
    """A domain that no shipped model fits."""
    return cli.write_files(tmp_path, cli.TOWER)


def solved(folder: Path, *arguments: str, **options: object) -> str:
    """The log of a run that found a plan and wrote it to ``sas_plan``."""
    run = cli.gsp_plan(folder, *arguments, **options)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stderr == ""
    assert cli.plan_files(folder) == ["sas_plan"]
    assert run.stdout.splitlines().count("Solution found.") == 1
    return run.stdout


def search_of(log: str) -> str:
    found = re.search(r"search command line string: gsp-plan .* --search (.*)", log)
    assert found is not None
    return found[1].replace("'\"'\"'", "'").strip("'")


def lines_of(log: str, beginning: str) -> list[str]:
    return [line for line in log.splitlines() if line.startswith(beginning)]


# With a model


@pytest.mark.parametrize("options", [(), ("--alias", "gsp"), ("--model", "auto")])
def test_shipped_model(blocks: Path, options: tuple[str, ...]) -> None:
    log = solved(blocks, *FILES, *options)
    assert lines_of(log, "Model ") == [f"Model blocksworld (shipped) fits: {ALIASES['gsp'].steps}"]
    assert f'gsp(model="{SHIPPED_MODELS / "blocksworld.onnx"}")' in search_of(log)
    assert re.search(r"Starting search: policy, for up to \d+\.\ds$", log, re.MULTILINE)
    assert log.count("Starting search") == 1, "the policy found a plan"
    assert re.search(r"Improving the plan of cost \d+, for up to \d\.\ds$", log, re.MULTILINE)


def test_given_model(blocks: Path) -> None:
    log = solved(blocks, *FILES, "--model", "blocksworld")
    assert lines_of(log, "Model ") == [f"Model blocksworld was given: {ALIASES['gsp'].steps}"]
    assert search_of(log).startswith('let(q, gsp(model="blocksworld"), ')


def test_run_of_gsp_train_is_a_model(blocks: Path) -> None:
    (blocks / "run").mkdir()
    (blocks / "run" / "model.onnx").write_bytes((SHIPPED_MODELS / "blocksworld.onnx").read_bytes())
    assert "Model: run/model.onnx for domain blocksworld" in solved(blocks, *FILES, "--model", "run")


def test_own_model_before_the_shipped_one(blocks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = blocks / "own"
    own.mkdir()
    (own / "zz.onnx").write_bytes((SHIPPED_MODELS / "blocksworld.onnx").read_bytes())
    (own / "broken.onnx").write_bytes(b"no model")
    monkeypatch.setenv("GSP_MODELS", str(own))
    log = solved(blocks, *FILES)
    assert lines_of(log, "Warning") == [f"Warning: {own / 'broken.onnx'}: not an ONNX model, or a truncated one"]
    assert lines_of(log, "Model ") == [
        f"Model zz (yours) fits (so would blocksworld (shipped)): {ALIASES['gsp'].steps}"
    ]


def test_search_after_a_policy_that_fails(tower: Path) -> None:
    random_model(tasks.load(tasks.TOWER_DOMAIN, tasks.TOWER), tower / "m.onnx")
    text = ALIASES["gsp"].tokens[1].replace("max_expansions=10000", "max_expansions=1")
    log = solved(tower, *FILES, "--search", text, "--model", "m.onnx")
    assert log.index("Expansion limit reached. Abort search.") < log.index("Starting search: gsp_queues, for up to ")
    assert "Cumulative statistics:" in log
    text = text.replace("shares=[0.5, 0.5]", "shares=[0, 0]")
    log = solved(tower, *FILES, "--search", text, "--model", "m.onnx")
    assert log.count("Time limit reached. Abort search.") == 2
    assert "Starting search: lazy_greedy\n" in log, "LAMA's first iteration, on the ground task"
    assert re.findall("Model: ", log) == ["Model: "] * 2


# Without one


def assert_fallback(log: str, reason: str) -> None:
    steps = ALIASES["lama-first"].steps
    assert re.fullmatch(f"{reason}. {re.escape(steps)}", "\n".join(lines_of(log, "No model")))
    assert re.fullmatch(LAMA, search_of(log))


@pytest.mark.parametrize("options", [(), ("--model", "auto"), ("--device", "cpu")])
def test_no_model_fits(tower: Path, options: tuple[str, ...]) -> None:
    assert_fallback(solved(tower, *FILES, *options), "No model fits: there is none for domain tower, only blocks.*")


def test_another_version_of_a_domain(blocks: Path) -> None:
    cli.write_files(blocks, {"domain.pddl": domain_text("blocksworld").replace("(:action stack", "(:action put-on")})
    reason = "No model fits: blocksworld is for another blocksworld: action schema put-on .* is unknown to the model"
    assert_fallback(solved(blocks, *FILES), reason)


def test_pddl_beyond_strips(tmp_path: Path) -> None:
    folder = cli.write_files(tmp_path, cli.HOUSE)
    assert_fallback(solved(folder, *FILES), "No model fits: .*")
    random_model(tasks.load(cli.HOUSE["domain.pddl"], cli.HOUSE["problem.pddl"]), folder / "m.onnx")
    assert "for domain house" in solved(folder, *FILES, "--model", "m.onnx")


def test_sas(tower: Path) -> None:
    assert cli.gsp_plan(tower, "--translate", *FILES).returncode == 0
    assert_fallback(solved(tower, "output.sas"), "No model: a model needs PDDL files, not SAS")


# Errors


def refused(run: CompletedProcess[str], code: int) -> str:
    assert run.returncode == code, run.stdout + run.stderr
    assert run.stderr.startswith("gsp-plan: error: ")
    assert "Traceback" not in run.stderr
    return run.stderr


def test_given_models_are_used_or_refused(tower: Path) -> None:
    (tower / "empty").mkdir()
    (tower / "broken.onnx").write_bytes(b"no model")
    for model, message in (
        ("blocksworld", "does not fit the task: predicate "),
        ("blocksworl", "there is no model 'blocksworl'; did you mean 'blocksworld'?"),
        ("empty", "the folder has no model.onnx"),
        ("broken.onnx", "broken.onnx: not an ONNX model"),
        ("missing.onnx", "missing.onnx: cannot read the model: No such file or directory"),
    ):
        assert message in refused(cli.gsp_plan(tower, *FILES, "--model", model), 33)
    assert cli.plan_files(tower) == []


@pytest.mark.parametrize("option", [("-w", "3"), ("--preferred",)])
def test_options_of_short_forms(tower: Path, option: tuple[str, ...]) -> None:
    assert "belongs to the short forms of --search" in refused(cli.gsp_plan(tower, *FILES, *option), 36)


# first_of, and what it proves


def test_shares_of_the_time(tower: Path) -> None:
    log = solved(tower, *FILES, "--search", "first_of([astar(blind()), lazy_greedy([ff()])], shares=[0])")
    assert "Starting search: astar, for up to 0.0s" in log
    assert log.index("Time limit reached. Abort search.") < log.index("Starting search: lazy_greedy\n")
    log = solved(
        tower, *FILES, "--search-time-limit", "100", "--search", "first_of([astar(blind()), astar(blind())], [0.25])"
    )
    assert re.search(r"Starting search: astar, for up to (25\.0|24\.\d)s", log)
    assert log.count("Starting search") == 1


def test_bound(tower: Path) -> None:
    run = cli.gsp_plan(tower, *FILES, "--search", "first_of([astar(blind(), bound=3), astar(blind())], bound=5)")
    assert run.returncode == 13, "no plan below 5 exists, as the second search finds"
    assert "no plan with cost 2 or less exists" in run.stdout
    assert "no plan with cost 4 or less exists" in run.stdout


def test_limits_end_all_phases(tmp_path: Path) -> None:
    folder = cli.write_files(tmp_path, cli.ENDLESS)
    run = cli.gsp_plan(folder, *FILES, "--search-time-limit", "2", "--search", "first_of([astar(blind())], shares=[1])")
    assert run.returncode == 23
    run = cli.gsp_plan(
        folder, *FILES, "--max-expansions", "9", "--search", "first_of([astar(blind()), astar(blind())])"
    )
    assert run.returncode == 12
    assert re.findall(r"Expanded (\d+) state", run.stdout) == ["9", "0", "9"]


def test_proofs_need_a_complete_search(tmp_path: Path) -> None:
    folder = cli.write_files(tmp_path, cli.UNSOLVABLE)
    run = cli.gsp_plan(folder, *FILES)
    assert run.returncode == 11
    random_model(tasks.load(cli.UNSOLVABLE["domain.pddl"], cli.UNSOLVABLE["problem.pddl"]), folder / "m.onnx")
    text = "first_of([policy(gsp(), max_expansions=1), policy(gsp(), max_expansions=2)])"
    run = cli.gsp_plan(folder, *FILES, "--search", text, "--model", "m.onnx")
    assert run.returncode == 12, "neither has seen all states"


# Better plans


def test_what_is_improved(tower: Path) -> None:
    for options, improved in (
        (["--time-limit", "100"], r"Improving the plan of cost \d+, for up to (49\.\d|50\.0)s"),
        (["--improve", "off"], None),
        (["--improve", "on"], r"Improving the plan of cost \d+$"),
        (["--alias", "gsp-first"], None),
        (["--alias", "gsp-first", "--improve", "5"], r"Improving the plan of cost \d+, for up to 5\.0s"),
        (["--search", "gbfs"], None),
        (["--search", "gbfs", "--improve", "auto"], r"Improving the plan of cost \d+, for up to \d\.\ds"),
    ):
        log = solved(tower, *FILES, *options)
        found = re.findall(r"\] (Improving .*)", log)
        assert len(found) == (improved is not None)
        assert improved is None or re.match(improved, found[0])


@pytest.mark.parametrize("model", [True, False])
def test_anytime_plans_are_numbered_and_cheaper_each_time(tmp_path: Path, model: bool) -> None:
    folder = cli.write_files(tmp_path, cli.COURIER)
    if model:
        random_model(tasks.load(cli.COURIER["domain.pddl"], cli.COURIER["problem.pddl"]), folder / "m.onnx")
    run = cli.gsp_plan(folder, "--alias", "gsp-anytime", *FILES, *(["--model", "m.onnx"] if model else []))
    assert run.returncode == 0, run.stdout + run.stderr
    names = cli.plan_files(folder)
    assert names == [f"sas_plan.{number}" for number in range(1, len(names) + 1)]
    costs = [int(cost) for cost in re.findall(r"Plan cost: (\d+)", run.stdout)]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] == 270019, "the last phase is a complete search for cheaper plans"
    written = [int((folder / name).read_text().split("; cost = ")[1].split()[0]) for name in names]
    assert written == sorted(set(written), reverse=True)
    assert set(costs) <= set(written), "and those between two of them, which improvement found"
    assert "Improving the plan of cost" in run.stdout
