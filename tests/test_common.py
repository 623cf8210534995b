"""What every room uses: whole files, limited commands, the machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gsp_fd.common.files import write_atomically
from gsp_fd.common.machine import usable_cores
from gsp_fd.common.processes import limited
from gsp_fd.training.run.start import default_workers


def test_cores_on_systems_without_affinities(monkeypatch: pytest.MonkeyPatch) -> None:
    assert usable_cores() >= 1
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert usable_cores() == os.cpu_count()
    assert default_workers() >= 0


@pytest.mark.parametrize("durable", [False, True])
def test_files_are_whole_or_not_there(tmp_path: Path, durable: bool) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_bytes(b"old")
    link.symlink_to("file")
    write_atomically(link, b"new", durable=durable)
    assert file.read_bytes() == b"new"
    assert link.is_symlink()
    with pytest.raises(TypeError):
        write_atomically(file, "no bytes", durable=durable)  # type: ignore[arg-type]
    assert file.read_bytes() == b"new"
    assert sorted(tmp_path.iterdir()) == [file, link]


def test_limited_commands() -> None:
    def run(code: str, seconds: int | None, size: int | None) -> int:
        command = limited([sys.executable, "-c", code], seconds, size)
        return subprocess.run(command, capture_output=True, check=False).returncode

    assert run("import sys; sys.exit(3)", None, None) == 3
    assert run("import sys; sys.exit(3)", 100, 1 << 32) == 3
    assert run("while True: pass", 1, None) in (-signal.SIGXCPU, -signal.SIGKILL)
    assert run("bytearray(1 << 30)", None, 512 << 20) == 1
    missing = limited(["no-such-program"], 1, None)
    assert subprocess.run(missing, capture_output=True, check=False).returncode == 127
