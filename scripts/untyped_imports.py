"""Counts the imports among our own modules that mypy takes for Any: ``python scripts/untyped_imports.py``.

An edge is a pair of modules, wherever the import stands. mypy reads what its configuration names, as in ``make check``.
"""

from __future__ import annotations

import sys

from mypy.build import State, build
from mypy.errors import CompileError
from mypy.main import process_options


def main() -> int:
    """Prints the edges that are Any, and their number; the exit code says whether there are any."""
    sources, options = process_options([])
    options.incremental = True
    try:
        graph = build(sources, options).graph
    except CompileError as error:
        print("\n".join(error.messages), file=sys.stderr)
        return 2
    own = {source.module for source in sources}
    untyped = [(name, target) for name in sorted(own) for target in _untyped(graph[name], own)]
    typed = sum(target in own for name in own for target in graph[name].dependencies)
    for name, target in untyped:
        print(f"{name} imports {target}")
    print(f"{len(untyped)} of {typed + len(untyped)} imports among our own modules are Any")
    return 1 if untyped else 0


def _untyped(module: State, own: set[str]) -> list[str]:
    return sorted(name for name in module.suppressed if name in own or name.partition(".")[0] == "gsp_fd")


if __name__ == "__main__":
    sys.exit(main())
