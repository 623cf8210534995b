"""Where the learner computes: the CPU with the fused kernel, or CUDA with torch operations."""

from __future__ import annotations

import torch

from gsp_fd.common.errors import driver_error


def choose_device(name: str) -> torch.device:
    """The device for ``cpu``, ``cuda`` or ``auto``, CUDA where it works. InputError if it is asked for and does not."""
    if name == "cpu":
        return torch.device("cpu")
    problem = _cuda_problem()
    if problem is None:
        return torch.device("cuda")
    if name == "cuda":
        raise driver_error(f"--device cuda: {problem}; say --device cpu or auto")
    return torch.device("cpu")


def _cuda_problem() -> str | None:
    """Why CUDA cannot be used; None if it can. A driver or a card that is too old shows only when something runs."""
    if torch.version.cuda is None:
        return f"torch {torch.__version__} was built without CUDA"
    if not torch.cuda.is_available():
        return "torch finds no CUDA device"
    try:
        torch.ones(1, device="cuda").add(1).item()
    except RuntimeError as error:
        return " ".join(str(error).split())[:200]
    return None
