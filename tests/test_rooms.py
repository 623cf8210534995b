"""Rooms: modules import from their own room and from earlier ones, in the order that CONTRIBUTING.md shows."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE, NATIVE = "gsp_fd", "gsp_fd._core"
NO_MODULES = ("portfolios",)
"""Folders whose files are data: portfolios that Fast Downward's driver or ours executes."""


def rooms_of(text: str) -> list[str]:
    """The folders in the first column of the table of rooms, in their order."""
    table = text.partition("| room |")[2].partition("\n\n")[0]
    return re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)


def module_name(folder: str) -> str:
    """The name under which a folder is imported: all top-level folders but the package itself lie in it."""
    if folder == "gsp_fd/core":
        return NATIVE
    parts = folder.split("/")
    return ".".join(parts if parts[0] == PACKAGE else [PACKAGE, *parts])


def modules_in(root: Path, rooms: list[str]) -> dict[str, Path]:
    """The files of all rooms by the names of their modules."""
    found = {}
    for folder in dict.fromkeys(room.partition("/")[0] for room in rooms):
        for file in (root / folder).rglob("*.py"):
            path = file.relative_to(root)
            if not set(path.parts) & set(NO_MODULES):
                inner = path.parent if path.stem == "__init__" else path.with_suffix("")
                found[module_name(inner.as_posix())] = file
    return found


def imports_of(file: Path, modules: dict[str, Path]) -> Iterator[str]:
    """All that a file imports, wherever the import stands: names of our own modules, and of packages of others."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.module, f"{file}:{node.lineno}: relative import"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in modules or inner == NATIVE else node.module


def room_of(module: str, rooms: list[str]) -> int:
    """The number of a module's room: the innermost folder."""
    names = [module_name(room) for room in rooms]
    inside = [name for name in names if module == name or module.startswith(f"{name}.")]
    return names.index(max(inside, key=len))


def wrong_imports(root: Path, rooms: list[str]) -> list[str]:
    """Imports from later rooms. The rooms are in order, so there is no cycle among them if there is none of these."""
    modules = modules_in(root, rooms)
    return [
        f"{name} imports {other} from a later room"
        for name, file in modules.items()
        for other in imports_of(file, modules)
        if other.partition(".")[0] == PACKAGE and room_of(other, rooms) > room_of(name, rooms)
    ]


@pytest.fixture(scope="module")
def rooms() -> list[str]:
    return rooms_of((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))


def test_no_import_from_a_later_room(rooms: list[str]) -> None:
    assert not wrong_imports(ROOT, rooms)


def test_every_folder_is_a_room_that_says_what_it_is(rooms: list[str]) -> None:
    folders = {file.relative_to(ROOT).parent.as_posix() for file in modules_in(ROOT, rooms).values()}
    assert folders | {"gsp_fd/core"} == set(rooms)
    for folder in folders:
        assert ast.get_docstring(ast.parse((ROOT / folder / "__init__.py").read_text(encoding="utf-8"))), folder


def test_the_planner_does_not_know_torch(rooms: list[str]) -> None:
    modules = modules_in(ROOT, rooms)
    users = {
        rooms[room_of(name, rooms)]
        for name, file in modules.items()
        if any(other.partition(".")[0] in ("torch", "torch_geometric") for other in imports_of(file, modules))
    }
    assert {room.partition("/")[0] for room in users} == {"training", "export"}


@pytest.mark.parametrize(
    "code",
    [
        "import gsp_fd.late.module",
        "from gsp_fd.late import module",
        "from gsp_fd.late.module import name",
        "def lazy():\n    from gsp_fd.late import module",
        "if TYPE_CHECKING:\n    from gsp_fd.late.module import name",
        "from gsp_fd import late",
    ],
)
def test_imports_from_later_rooms_are_found(code: str, tmp_path: Path) -> None:
    for folder, text in (("gsp_fd/early", code), ("late", "from gsp_fd.early import module")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "__init__.py").touch()
        (tmp_path / folder / "module.py").write_text(text)
    (wrong,) = wrong_imports(tmp_path, rooms_of("| room | what |\n|---|---|\n| `gsp_fd/early` | |\n| `late` | |\n"))
    assert wrong.startswith("gsp_fd.early.module imports gsp_fd.late")
