"""Six ways to begin, as a new user would: each ends in success, or in the right exit code and a message.

One of them goes from a domain file and 30 problems to a plan with a model of one's own.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "first_steps.py"
WAYS = {
    "Fast Downward's habits": (),
    "a domain of one's own": ("torch", "torch_geometric", "onnx", "onnxruntime"),
    "unified-planning": ("unified_planning",),
    "Python": (),
    "a comparison": (),
    "every kind of mistake": ("torch", "torch_geometric", "onnx", "onnxruntime"),
}
"""What each needs."""


@pytest.mark.parametrize("way", WAYS)
def test_ways_to_begin(way: str) -> None:
    for package in WAYS[way]:
        pytest.importorskip(package)
    command = [sys.executable, str(SCRIPT), "--minutes", "0.05", "--only", way]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith(way)
    assert done.stdout.endswith("as it should be\n")
