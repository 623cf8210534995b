"""Models of the puzzles that come with the package."""

from __future__ import annotations

import pytest
import tasks

from gsp_fd.generate import domain_text, generate
from gsp_fd.model import task_fit_problems
from gsp_fd.model_format import read_metadata
from gsp_fd.model_library import SHIPPED_MODELS, find_model

SIZES = {"pushworld": 30, "sokoban": 54, "sokoban-boxes": 20, "sliding-tiles": 17, "witness": 30}


@pytest.mark.parametrize("domain", SIZES)
def test_a_puzzle_finds_its_own_model_and_no_other_one_fits(domain: str) -> None:
    task = tasks.load(domain_text(domain), generate(domain, SIZES[domain], 1))
    assert task.lifted is not None
    shipped = sorted(SHIPPED_MODELS.glob("*.onnx"))
    assert [path.stem for path in shipped if not task_fit_problems(read_metadata(path), task.lifted)] == [domain]
    assert find_model("auto", task.lifted).stem == domain
