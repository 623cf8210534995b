"""Which files a run is about: SAS or PDDL, and the domain that belongs to a problem."""

from __future__ import annotations

from pathlib import Path

from gsp_fd.common.errors import InputError, driver_error
from gsp_fd.common.exit_codes import ExitCode

_FOLDERS_ABOVE = 3


def looks_like_sas(path: Path) -> bool:
    """Whether the first line says ``begin_version``; InputError 30 if the file cannot be read."""
    try:
        with path.open("rb") as file:
            return file.readline(100).rstrip() == b"begin_version"
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(reason, str(path), exit_code=ExitCode.TRANSLATE_CRITICAL_ERROR) from None


def domain_candidates(problem: Path) -> list[Path]:
    """Where the domain of a problem may be, in Fast Downward's order."""
    names = (
        "domain.pddl",
        f"{problem.stem}-domain{problem.suffix}",
        f"{problem.name[:3]}-domain.pddl",
        f"domain_{problem.name}",
        f"domain-{problem.name}",
    )
    return [problem.parent / name for name in names]


def find_domain(problem: Path) -> Path:
    """The domain file of a problem: beside it, or as ``domain.pddl`` in the folders above it, where benchmark sets
    have one for all their problems. InputError with exit code 36 if there is none.
    """
    beside = domain_candidates(problem)
    above = [folder / "domain.pddl" for folder in list(problem.absolute().parents)[1 : 1 + _FOLDERS_ABOVE]]
    for candidate in (*beside, *above):
        if candidate.exists():
            return candidate
    tried = ", ".join(dict.fromkeys(candidate.name for candidate in beside))
    raise driver_error(
        f"found no domain file beside the problem (tried {tried}) and no domain.pddl in the {_FOLDERS_ABOVE} folders "
        f"above; give the domain first: gsp-plan DOMAIN {problem.name}",
        str(problem),
    )
