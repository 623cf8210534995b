"""What a source distribution holds, and what the workflow runs. ``make wheel`` builds a wheel and plans with it."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
from itertools import combinations
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]


def tracked() -> list[str]:
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip("no git repository")
    return done.stdout.splitlines()


def test_the_sdist_has_everything_that_a_build_needs(tmp_path: Path) -> None:
    build = "import scikit_build_core.build as b, sys; print(b.build_sdist(sys.argv[1]))"
    done = subprocess.run([sys.executable, "-c", build, str(tmp_path)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (file,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(file) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    packages = ("gsp_fd/", "compare/", "export/", "fd_integration/", "training/")
    missing = [name for name in tracked() if name.startswith(packages) and name not in names]
    assert not missing
    assert {"CMakeLists.txt", "pyproject.toml", "README.md", "LICENSE", "constraints.txt", "Makefile"} <= names
    assert not any(name.startswith((".venv", "build/")) for name in names)


def test_the_workflow_runs_the_tests_and_wheels_are_tried() -> None:
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    assert re.search(r"run: \.ci/run$", workflow, re.MULTILINE)
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    command = settings["tool"]["cibuildwheel"]["test-command"].split()
    assert command[0] in settings["project"]["scripts"]
    for file in command:
        if file.startswith("{project}/"):
            assert (ROOT / file.removeprefix("{project}/")).is_file()
    supported = settings["project"]["requires-python"].removeprefix(">=3.")
    assert settings["tool"]["cibuildwheel"]["build"][0] == f"cp3{supported}-*"


def test_extras_with_different_builds_of_onnx_runtime_conflict() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = settings["project"]["optional-dependencies"]

    def builds(name: str) -> set[str]:
        found = {re.split(r"[\[<>=;]", text)[0] for text in extras[name] if text.startswith("onnxruntime")}
        inner = [part for text in extras[name] if text.startswith("gsp-fd[") for part in text[7:-1].split(",")]
        return found.union(*map(builds, inner))

    pairs = [{entry["extra"] for entry in pair} for pair in settings["tool"]["uv"]["conflicts"]]
    for first, second in combinations(extras, 2):
        clash = bool(builds(first) and builds(second)) and builds(first) != builds(second)
        assert ({first, second} in pairs) == clash, (first, second)
