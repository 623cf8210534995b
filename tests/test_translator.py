"""Fast Downward's translator as a program."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pddl_helpers import DOMAIN, PLAN, PROBLEM, parse

from gsp_fd import translator
from gsp_fd.common.errors import InputError
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.translator import TranslationResult, translate, translator_available
from gsp_fd.validate import validate_sas_plan

needs_translator = pytest.mark.skipif(
    not translator_available(), reason="PyPI package fast-downward-translate is not installed"
)


def run(folder: Path, domain: str = DOMAIN, problem: str = PROBLEM, *options: str) -> TranslationResult:
    (folder / "d.pddl").write_text(domain)
    (folder / "p.pddl").write_text(problem)
    return translate(folder / "d.pddl", folder / "p.pddl", folder / "out.sas", extra_options=options)


@needs_translator
def test_translation(tmp_path: Path) -> None:
    lines: list[str] = []
    parse(tmp_path)
    result = translate(tmp_path / "d.pddl", tmp_path / "p.pddl", tmp_path / "out.sas", log=lines.append)
    assert result == TranslationResult(ExitCode.SUCCESS, tuple(lines))
    assert lines[-1].startswith("Done!")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d.pddl", "out.sas", "p.pddl"]
    verdict = validate_sas_plan((tmp_path / "out.sas").read_bytes(), PLAN)
    assert (verdict.valid, verdict.cost) == (True, 10)


@needs_translator
def test_options_reach_the_translator(tmp_path: Path) -> None:
    result = run(tmp_path, DOMAIN, PROBLEM, "--invariant-generation-max-candidates", "0")
    assert result.exit_code == ExitCode.SUCCESS
    assert "Translator mutex groups: 0" in result.log


@needs_translator
@pytest.mark.parametrize(
    ("domain", "options", "code"),
    [
        (DOMAIN.replace("(on ?c ?s) (not", "(onto ?c ?s) (not"), (), ExitCode.TRANSLATE_INPUT_ERROR),
        (DOMAIN, ("--no-such-option",), ExitCode.DRIVER_INPUT_ERROR),
        # The translator has no message for this: it dies of an assertion.
        (DOMAIN.replace("(:constants ground - surface)", "(:constants ground - floor)"), (),
         ExitCode.TRANSLATE_CRITICAL_ERROR),
    ],
)  # fmt: skip
def test_failures(domain: str, options: tuple[str, ...], code: ExitCode, tmp_path: Path) -> None:
    (tmp_path / "out.sas").write_text("old")
    result = run(tmp_path, domain, PROBLEM, *options)
    assert result.exit_code == code
    assert (tmp_path / "out.sas").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d.pddl", "out.sas", "p.pddl"]


@needs_translator
def test_missing_problem_file(tmp_path: Path) -> None:
    (tmp_path / "d.pddl").write_text(DOMAIN)
    result = translate(tmp_path / "d.pddl", tmp_path / "no.pddl", tmp_path / "out.sas")
    assert result.exit_code == ExitCode.TRANSLATE_CRITICAL_ERROR
    assert any("No such file" in line for line in result.log)


@needs_translator
def test_unwritable_sas_file(tmp_path: Path) -> None:
    parse(tmp_path)
    with pytest.raises(InputError) as caught:
        translate(tmp_path / "d.pddl", tmp_path / "p.pddl", tmp_path / "no" / "out.sas")
    reason = "cannot write the SAS file: No such file or directory"
    assert str(caught.value) == f"{tmp_path / 'no' / 'out.sas'}: {reason}"
    assert caught.value.exit_code == ExitCode.DRIVER_INPUT_ERROR


@needs_translator
def test_limits(tmp_path: Path, benchmarks: Path) -> None:
    folder = benchmarks / "ipc2023-learning" / "rovers"
    files = folder / "domain.pddl", folder / "testing" / "hard" / "p29.pddl", tmp_path / "out.sas"
    assert translate(*files, time_limit=1).exit_code == ExitCode.TRANSLATE_OUT_OF_TIME
    assert translate(*files, memory_limit_mb=64).exit_code == ExitCode.TRANSLATE_OUT_OF_MEMORY
    assert list(tmp_path.iterdir()) == []


@needs_translator
def test_interrupt_ends_the_translator(tmp_path: Path, benchmarks: Path) -> None:
    folder = benchmarks / "ipc2023-learning" / "rovers"
    files = folder / "domain.pddl", folder / "testing" / "hard" / "p29.pddl", tmp_path / "out.sas"
    code = "import signal, sys; from pathlib import Path; from gsp_fd.translator import translate\n"
    code += "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell's background job ignores it
    code += "translate(*map(Path, sys.argv[1:]), log=lambda line: print(line, flush=True))"
    command = [sys.executable, "-c", code, *map(str, files)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("Parsing")
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        if not children.exists():
            process.kill()
            pytest.skip("this system does not list child processes")
        (child,) = map(int, children.read_text().split())
        process.send_signal(signal.SIGINT)
        process.wait(timeout=30)
    for _ in range(100):
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            break
        time.sleep(0.05)
    else:
        pytest.fail("the translator outlived the interrupt")
    assert list(tmp_path.iterdir()) == []


def test_missing_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translator, "_MODULE", "no_such_package.translate")
    with pytest.raises(InputError) as caught:
        run(tmp_path)
    assert "pip install 'gsp-fd[translate]'" in str(caught.value)
    assert caught.value.exit_code == ExitCode.DRIVER_UNSUPPORTED
