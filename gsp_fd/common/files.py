"""Files that are never half there, and problem files among others."""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path

_DEFINES_DOMAIN = re.compile(rb"\s*\(\s*define\s*\(\s*domain\b", re.IGNORECASE)
_UNFINISHED = re.compile(r"\..*\.[0-9a-f]{16}\.tmp")
_COMMENT = re.compile(rb";[^\n\r]*")


def write_atomically(path: str | os.PathLike[str], data: bytes | memoryview, *, durable: bool = False) -> None:
    """Write a file under another name beside it and rename that; ``durable``: not even a power cut leaves a part.

    The other name cannot be foreseen, and nothing that is already there is opened: no planted link leads elsewhere.
    OSError names ``path``.
    """
    target = Path(path)
    if target.is_symlink():
        target = target.resolve()
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}.tmp")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            with open(descriptor, "wb") as stream:
                stream.write(data)
                if durable:
                    stream.flush()
                    os.fsync(descriptor)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:  # a full disk comes without a name, and nobody knows the other one
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None


def remove_unfinished(folder: Path) -> None:
    """Removes what writers that were killed left behind; for a folder in which nobody writes."""
    for file in folder.glob(".*.tmp"):
        if _UNFINISHED.fullmatch(file.name):
            file.unlink(missing_ok=True)


def problem_files(folder: Path) -> list[Path]:
    """The ``*.pddl`` files of a folder that define no domain, by name: broken ones too, so that somebody tells."""
    return sorted(file for file in folder.glob("*.pddl") if not _defines_domain(file))


def _defines_domain(file: Path) -> bool:
    try:
        return _DEFINES_DOMAIN.match(_COMMENT.sub(b"", file.read_bytes())) is not None
    except OSError:
        return False
