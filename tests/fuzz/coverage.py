"""``python -m tests.fuzz.coverage``: libFuzzer looks for input that leads the native readers to new places."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import plugin_support
import tasks

from gsp_fd.fd_integration.tools.plugin_task import task_text
from gsp_fd.generate import domain_text, generate
from gsp_fd.model_library import SHIPPED_MODELS

from . import ROOT
from .planner_targets import SAS_TOKENS, sas_seeds

HARNESSES = Path(__file__).with_name("native")
FOLDER = ROOT / "build" / "fuzz"
FLAGS = ["-std=c++20", "-O1", "-g", "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=undefined"]
SAS_SOURCES = ("common", "ground_space", "ground_task", "sas")
INSTALL = "libFuzzer comes with Clang: install it (on Debian: apt install clang libclang-rt-dev) or set --compiler"


def task_file_seeds() -> list[bytes]:
    """A small task with its model, and its task without one."""
    ferry = tasks.load(domain_text("ferry"), generate("ferry", 3, 1)).lifted
    assert ferry is not None
    text = task_text(ferry, SHIPPED_MODELS / "ferry.onnx")
    return [text, b"".join(line for line in text.splitlines(keepends=True) if not line.startswith(b"weights"))]


def sources(reader: str) -> list[str | Path]:
    """What is compiled for a reader."""
    if reader == "sas":
        return [plugin_support.CORE / f"{name}.cpp" for name in SAS_SOURCES]
    return plugin_support.core_sources()


READERS = {"sas": sas_seeds, "task_file": task_file_seeds}


def build(reader: str, compiler: str) -> Path:
    """Compiles a harness with the core; the program."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    target = FOLDER / f"fuzz_{reader}"
    include = f"-I{plugin_support.CORE}"
    harness = HARNESSES / f"fuzz_{reader}.cpp"
    subprocess.run([compiler, *FLAGS, include, harness, *sources(reader), "-o", target], check=True)
    return target


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs libFuzzer; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.coverage", description=__doc__)
    parser.add_argument("reader", choices=READERS, help="sas: SAS files; task_file: task files and the C interface")
    parser.add_argument("--seconds", type=int, default=60, help="how long (60)")
    parser.add_argument("--compiler", default="clang++", help="a C++ compiler with -fsanitize=fuzzer (clang++)")
    options = parser.parse_args(arguments)
    if shutil.which(options.compiler) is None:
        print(f"there is no {options.compiler}. {INSTALL}", file=sys.stderr)
        return 1
    try:
        program = build(options.reader, options.compiler)
    except subprocess.CalledProcessError:
        print(f"{options.compiler} cannot build the harness. {INSTALL}", file=sys.stderr)
        return 1
    corpus = FOLDER / f"corpus-{options.reader}"
    corpus.mkdir(exist_ok=True)
    for number, seed in enumerate(READERS[options.reader]()):
        (corpus / f"seed-{number}").write_bytes(seed)
    words = FOLDER / "sas.dict"
    words.write_text("".join(f'"{token}"\n' for token in SAS_TOKENS))
    limits = [f"-max_total_time={options.seconds}", "-timeout=10", "-rss_limit_mb=2048", "-max_len=200000"]
    saved = f"-artifact_prefix={FOLDER}/{options.reader}-"
    return subprocess.run([program, *limits, f"-dict={words}", saved, corpus], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
