"""``gsp-train``, with the exporter handed in: training comes before this room and knows nothing of ONNX graphs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gsp_fd.training import cli

if TYPE_CHECKING:
    from gsp_fd.training.session import Exporter


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs ``gsp-train``; returns its exit code."""
    return cli.main(arguments, _exporter)


def _exporter() -> Exporter:
    from gsp_fd.export import writer

    return writer


if __name__ == "__main__":
    sys.exit(main())
