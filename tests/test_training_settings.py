"""Hyper-parameters on the command line and in TOML files."""

from __future__ import annotations

from dataclasses import asdict, fields, replace
from pathlib import Path

import pytest

from gsp_fd.common.errors import InputError
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.training.config import TrainingConfig, documented
from gsp_fd.training.run import cli
from gsp_fd.training.run.settings import RunInputs, given_options, make_config, option_of, read_toml, to_toml


def test_every_hyper_parameter_is_documented_and_an_option() -> None:
    shown = cli.parser().format_help()
    docs = documented(TrainingConfig)
    for name in TrainingConfig.types():
        assert docs[name].endswith(".")
        assert option_of(name) in shown
    assert "(paper: 1e-4)" in shown


def test_toml_round_trip(tmp_path: Path) -> None:
    changed = replace(
        TrainingConfig(),
        d=16,
        wastar_weights=(1.5, 3.0, 7.0),
        message_hidden=24,
        huber=False,
        pool="sum",
        learning_rate=3e-5,
        seed=9,
    )
    inputs = RunInputs(domain='a "quoted" \\ name.pddl', train="ü", seeds=3, workers=2, command="gsp-train --x 'y z'")
    file = tmp_path / "config.toml"
    for config in (TrainingConfig(), changed):
        file.write_text(to_toml(config, inputs), encoding="utf-8")
        values, run = read_toml(file)
        assert make_config(values) == config
        assert RunInputs(**run) == inputs
    for name, text in documented(TrainingConfig).items():
        assert f"# {text}\n{name} = " in file.read_text(encoding="utf-8")


def test_options_override_the_file() -> None:
    options = cli.parser().parse_args(
        ["--learning-rate", "0.01", "--wastar-weights", "2", "3", "--no-huber", "--pool-weights", "1", "2", "3"]
    )
    given = given_options(options)
    assert given == {
        "learning_rate": 0.01,
        "wastar_weights": [2.0, 3.0],
        "huber": False,
        "pool_weights": [1.0, 2.0, 3.0],
    }
    config = make_config({"d": 8, "learning_rate": 0.5, **given})
    assert (config.d, config.learning_rate, config.wastar_weights, config.huber) == (8, 0.01, (2.0, 3.0), False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("learning_rat = 0.1", "unknown key learning_rat; the keys are d, layers"),
        ("weights = [2.0, 5.0]", "unknown key weights; the keys are .*wastar_weights"),
        ("message_hidden = -8", "message_hidden is -8; it must be a whole number from 0 to 65536"),
        ("d = 1.5", r"d is 1.5; it must be a whole number"),
        ("d = true", r"d is True; it must be a whole number"),
        ("huber = 1", "huber is 1; it must be true or false"),
        ("pool = 'cat'", "pool is 'cat'"),
        ("pool_weights = [1, 2]", "pool_weights must be a list of 3 numbers"),
        ("wastar_weights = 2", "wastar_weights must be a list of numbers"),
        ("minutes = nan", "minutes is nan; it must be finite"),
        ("minutes = -1", "minutes must be positive"),
        ("checkpoint_every = 61", "checkpoint_every must lie between 0 and 60"),
        ("d = = 2", "this is no TOML"),
        ("run = 3", "run must be a table"),
        ("[run]\nworker = 3", "unknown key worker; the keys are domain"),
        ("[run]\nworkers = 'two'", "workers is 'two'; it must be a whole number"),
    ],
)
def test_wrong_files(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        read_toml(file)
    assert caught.value.exit_code == ExitCode.DRIVER_INPUT_ERROR
    assert str(caught.value).startswith(str(file))


def test_defaults_are_the_dataclass() -> None:
    assert make_config({}) == TrainingConfig()
    assert (
        set(asdict(TrainingConfig())) == {field.name for field in fields(TrainingConfig)} == set(TrainingConfig.types())
    )
