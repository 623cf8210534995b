"""The puzzles: their formulations against the rules played by brute force, and their text formats."""

from __future__ import annotations

import itertools
import re
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import cli_support as cli
import pytest

from gsp_fd.generate import GENERATORS, generate
from gsp_fd.generate.cli import main
from gsp_fd.generate.sliding_tiles import solvable

SOKOBAN = {
    "corridor": "#######\n#@ $ .#\n#######",
    "two boxes, one goal": "######\n#@ $ #\n# $. #\n#    #\n######",
    "any box on any goal": "########\n#  .   #\n# $@$  #\n#  .   #\n########",
    "box on goal must move": "#######\n#  . ##\n#@ * ##\n#  $ ##\n#    ##\n#######",
    "deadlock": "######\n#@ $ #\n# .###\n######",
}
WITNESS = {
    "one cell": "Size: 1 1\nInit: 0 0\nGoal: 1 1\nColors: |0 0 1",
    "two colours apart": "Size: 1 2\nInit: 0 0\nGoal: 0 2\nColors: |0 0 1|0 1 2",
    "around a square": "Size: 3 3\nInit: 0 0\nGoal: 3 3\nColors: |0 0 1|0 1 2|2 2 2|1 1 1",
    "three colours": "Size: 2 3\nInit: 0 0\nGoal: 2 2\nColors: |0 0 1|0 2 2|1 1 3|1 0 1",
    "no way": "Size: 1 3\nInit: 0 0\nGoal: 0 1\nColors: |0 0 1|0 1 2|0 2 1",
}
TILES = {
    "2 x 2": "3 2 1 0",
    "3 x 3": "1 4 2 3 5 8 6 7 0",
}
PUSHWORLD = {
    "push one": ". . . .\nA M1 . G1\n. . . .",
    "push a row": ". . . . .\nA M2 M1 . G1\n. . W W .",
    "shapes": ". . . . .\n. M1 M1 . .\nA . M1 G1 G1\nA . . . G1\n. . . . .",
    "an agent's wall lets shapes pass": "A M1 AW G1\n. . . .",
    "a wall stops what is pushed": "A M2 W\n. M1 G1\n. . .",
    "goal under a shape": "A . M1+G2\n. M2 .\n. . .",
    "two goals": "A M1 G1 .\n. . . .\n. M2 . .\n. G2 . .",
    "no way": "A . .\n. . M1\nG1 . .",
}


# ---- the rules, as moves on states; places are complex numbers

S = TypeVar("S", bound=Hashable)
Places = frozenset[complex]


def shortest(start: S, moves: Callable[[S], Iterable[S]], solved: Callable[[S], bool]) -> int | None:
    """Number of moves to the nearest solved state; None if there is none."""
    depth = {start: 0}
    queue = deque([start])
    while queue:
        state = queue.popleft()
        if solved(state):
            return depth[state]
        for child in moves(state):
            if child not in depth:
                depth[child] = depth[state] + 1
                queue.append(child)
    return None


def play_sokoban(text: str) -> int | None:
    cells = {complex(x, y): mark for y, row in enumerate(text.splitlines()) for x, mark in enumerate(row)}
    walls = {cell for cell, mark in cells.items() if mark == "#"}
    goals = {cell for cell, mark in cells.items() if mark in ".*+"}
    player = next(cell for cell, mark in cells.items() if mark in "@+")

    def moves(state: tuple[complex, Places]) -> Iterator[tuple[complex, Places]]:
        at, boxes = state
        for step in (1, -1, 1j, -1j):
            to, beyond = at + step, at + 2 * step
            if to in boxes and beyond not in boxes and beyond not in walls:
                yield to, boxes - {to} | {beyond}
            elif to not in boxes and to not in walls:
                yield to, boxes

    boxes = frozenset(cell for cell, mark in cells.items() if mark in "$*")
    return shortest((player, boxes), moves, lambda state: goals <= state[1])


def play_witness(text: str) -> int | None:
    fields = dict(line.split(": ") for line in text.splitlines())
    lines, columns = map(int, fields["Size"].split())
    start, goal = (complex(*reversed(list(map(int, fields[name].split())))) for name in ("Init", "Goal"))
    colours = {}
    for item in filter(None, fields["Colors"].split("|")):
        line, column, colour = map(int, item.split())
        colours[complex(column + 0.5, line + 0.5)] = colour

    def moves(path: tuple[complex, ...]) -> Iterator[tuple[complex, ...]]:
        for step in (1, -1, 1j, -1j):
            to = path[-1] + step
            if 0 <= to.real <= columns and 0 <= to.imag <= lines and to not in path:
                yield (*path, to)

    def parted(path: tuple[complex, ...]) -> bool:
        crossed = {(a + b) / 2 for a, b in itertools.pairwise(path)}
        for cell, colour in colours.items():
            region, queue = {cell}, [cell]
            for here in queue:
                for step in (1, -1, 1j, -1j):
                    to = here + step
                    inside = 0 < to.real < columns and 0 < to.imag < lines
                    if inside and to not in region and here + step / 2 not in crossed:
                        region.add(to)
                        queue.append(to)
            if any(colours.get(other, colour) != colour for other in region):
                return False
        return True

    drawn: tuple[complex, ...] = (start,)
    return shortest(drawn, moves, lambda path: path[-1] == goal and parted(path))


def play_tiles(text: str) -> int | None:
    numbers = tuple(map(int, text.split()))
    side = int(len(numbers) ** 0.5)

    def moves(state: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        blank = state.index(0)
        for step in (1, -1, side, -side):
            to = blank + step
            if 0 <= to < side * side and (abs(step) == side or to // side == blank // side):
                board = list(state)
                board[blank], board[to] = board[to], 0
                yield tuple(board)

    return shortest(numbers, moves, lambda state: list(state) == sorted(state))


def play_pushworld(text: str) -> int | None:
    rows = [line.split() for line in text.splitlines()]
    walls, places = set(), dict[str, set[complex]]()
    for y in range(-1, len(rows) + 1):
        walls |= {complex(-1, y), complex(len(rows[0]), y)}
    for x in range(len(rows[0])):
        walls |= {complex(x, -1), complex(x, len(rows))}
    for y, row in enumerate(rows):
        for x, marks in enumerate(row):
            for mark in marks.split("+"):
                places.setdefault(mark, set()).add(complex(x, y))
    walls |= places.get("W", set())
    movables = sorted(name for name in places if name == "A" or name[0] == "M")
    goals = {name: frozenset(at) for name, at in places.items() if name[0] == "G"}

    def step_to(state: tuple[Places, ...], step: complex) -> tuple[Places, ...] | None:
        """What becomes of all shapes if the agent's (the first) moves; None if a wall is in the way."""
        shapes = list(state)
        pushed = [0]
        for index in pushed:
            shapes[index] = frozenset(cell + step for cell in state[index])
            blocked = walls | (places.get("AW", set()) if index == 0 else set())
            if shapes[index] & blocked:
                return None
            pushed += [i for i in range(len(shapes)) if i not in pushed and state[i] & shapes[index]]
        return tuple(shapes)

    def moves(state: tuple[Places, ...]) -> Iterator[tuple[Places, ...]]:
        return (after for step in (1, -1, 1j, -1j) if (after := step_to(state, step)) is not None)

    def solved(state: tuple[Places, ...]) -> bool:
        return all(state[movables.index(f"M{name[1:]}")] == at for name, at in goals.items())

    return shortest(tuple(frozenset(places[name]) for name in movables), moves, solved)


RULES = {
    "sokoban-boxes": (SOKOBAN, play_sokoban),
    "witness": (WITNESS, play_witness),
    "sliding-tiles": (TILES, play_tiles),
    "pushworld": (PUSHWORLD, play_pushworld),
}
LEVELS = [(puzzle, name) for puzzle, (levels, _) in RULES.items() for name in levels]


@pytest.mark.parametrize(("puzzle", "name"), LEVELS, ids=[f"{puzzle}: {name}" for puzzle, name in LEVELS])
def test_shortest_plans_are_shortest_solutions(puzzle: str, name: str, tmp_path: Path) -> None:
    levels, play = RULES[puzzle]
    (tmp_path / "level").write_text(levels[name])
    assert main([puzzle, "--from", str(tmp_path / "level"), "--out", str(tmp_path / "pddl")]) == 0
    result = cli.gsp_plan(tmp_path, "pddl/domain.pddl", "pddl/p01.pddl", "--search", "astar(blind())")
    length = re.search(r"Plan length: (\d+) step", result.stdout)
    moves = play(levels[name])
    assert (int(length[1]) if length else None) == moves, result.stdout[-2000:]
    assert (result.returncode == 0) == (moves is not None)


@pytest.mark.parametrize("puzzle", RULES)
def test_same_file_same_problems(puzzle: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    levels = next(iter(RULES[puzzle][0].values()))
    (tmp_path / "level").write_text(levels)
    for out in ("one", "two"):
        assert main([puzzle, "--from", str(tmp_path / "level"), "--out", str(tmp_path / out)]) == 0
    assert (tmp_path / "one" / "p01.pddl").read_bytes() == (tmp_path / "two" / "p01.pddl").read_bytes()
    assert "1 problem and domain.pddl" in capsys.readouterr().out


def test_several_levels_and_how_many_of_them(tmp_path: Path) -> None:
    level = SOKOBAN["corridor"]
    (tmp_path / "levels").write_text(f"; 0\n{level}\n\n; 1\n; a comment\n{level}\n\n\n{level}\n")
    assert main(["sokoban-boxes", "--from", str(tmp_path / "levels"), "--out", str(tmp_path / "all")]) == 0
    some = ["--count", "2", "--out", str(tmp_path / "some")]
    assert main(["sokoban-boxes", "--from", str(tmp_path / "levels"), *some]) == 0
    problems = [(tmp_path / "all" / f"p0{i}.pddl").read_text().partition("\n")[2] for i in (1, 2, 3)]
    assert len(set(problems)) == 1
    assert sorted(path.name for path in (tmp_path / "some").iterdir()) == ["domain.pddl", "p01.pddl", "p02.pddl"]


MALFORMED = [
    ("sokoban-boxes", "####\n#@x#\n####", 2, "'x' stands for nothing"),
    ("sokoban-boxes", "; 1\n####\n#  #\n####", 2, "one player"),
    ("sokoban-boxes", "#####\n#@@$.#\n######", 2, "one player"),
    ("sokoban-boxes", "######\n#@ $.\n######", 2, "leave the level at column 5"),
    ("sokoban-boxes", "\n\n######\n#@$  #\n######", 3, "no goal"),
    ("sokoban-boxes", "######\n#@$..#\n######", 1, "only 1 of 2 goals"),
    ("sokoban-boxes", "########\n#@ $.#$#\n########", 2, "cannot reach the box in column 7"),
    ("sokoban-boxes", "; only a comment", 1, "no level"),
    ("witness", "Size: 2 2\nInit: 0 0\nGoal: 2 2", 1, "Colors is missing"),
    ("witness", "Size: 2 2\nInit: 0 0\nGoal: 3 2\nColors:", 3, "lies outside"),
    ("witness", "Size: 2 2\nInit: 0 0\nGoal: 0 0\nColors:", 3, "the same node"),
    ("witness", "Size: 2 2\nInit: 0\nGoal: 0 0\nColors:", 2, "not 2 whole numbers"),
    ("witness", "Size: 2 2\nInit: 0 0\nGoal: 2 2\nColors: |0 0 1|0 0 2", 4, "a second colour"),
    ("witness", "Size: 2 2\nInit: 0 0\nGoal: 2 2\nColors: |0 2 1", 4, "lies outside"),
    ("witness", "Size: 2 2\nInit: 0 0\nGoal: 2 2\nColours: |0 2 1", 4, "does not begin with"),
    ("witness", "Size: 9999 9999\nInit: 0 0\nGoal: 2 2\nColors: |0 2 1", 1, "1 to 50000 cells"),
    ("witness", f"Size: 2 {'9' * 5000}\nInit: 0 0\nGoal: 2 2\nColors: |0 2 1", 1, "not 2 whole numbers"),
    ("sliding-tiles", f"0 1 2 {'9' * 5000}", 1, "is no number"),
    ("sliding-tiles", "3 2 1 0\n1 2 3", 2, "no square board"),
    ("sliding-tiles", "0 1 2 x", 1, "'x' is no number"),
    ("sliding-tiles", "0 1 2 2", 1, "3 is missing"),
    ("sliding-tiles", "0 2 1 3", 1, "cannot be solved"),
    ("sliding-tiles", "\n\n", 1, "no board"),
    ("pushworld", "A M1 G1\n. .", 2, "2 cells, but the first row has 3"),
    ("pushworld", "A M1 X", 1, "'X' in column 3"),
    ("pushworld", ". M1 G1", 1, "no agent"),
    ("pushworld", "A M1 .", 1, "no goal"),
    ("pushworld", "A M1 .\n. G2 .", 2, "which is not there"),
    ("pushworld", "A M1 .\nG1 G1 .", 2, "another shape"),
    ("pushworld", "A+W M1 G1", 1, "A overlaps a wall"),
    ("pushworld", "A M1+M2 G1", 1, "overlaps"),
]


@pytest.mark.parametrize(("puzzle", "text", "line", "reason"), MALFORMED)
def test_malformed_levels_are_told_by_file_line_and_reason(
    puzzle: str, text: str, line: int, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "levels"
    file.write_text(text)
    assert main([puzzle, "--from", str(file), "--out", str(tmp_path / "pddl")]) != 0
    message = capsys.readouterr().err
    assert message.startswith(f"gsp-generate: {file}:{line}: ") or "no level" in message or "no board" in message
    assert reason in message
    assert not (tmp_path / "pddl").exists()


def test_files_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe#")
    for name, reason in (("binary", "no ASCII text"), ("missing", "cannot be read")):
        assert main(["witness", "--from", str(tmp_path / name), "--out", str(tmp_path / "pddl")]) != 0
        assert reason in capsys.readouterr().err


def test_domains_without_text_format_say_which_have_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["blocksworld", "--from", str(tmp_path / "x"), "--out", str(tmp_path / "pddl")])
    assert "only for pushworld, sliding-tiles, sokoban-boxes, witness" in capsys.readouterr().err


def test_half_of_all_boards_can_be_solved() -> None:
    from itertools import permutations

    boards = [" ".join(map(str, board)) for board in permutations(range(4))]
    assert [solvable(list(map(int, board.split())), 2) for board in boards] == [
        play_tiles(board) is not None for board in boards
    ]


def test_drawn_witness_puzzles_have_two_colours_or_more() -> None:
    for size in (GENERATORS["witness"].smallest, 30, 45):
        assert len(set(re.findall(r"\(square \S+ (k\d)\)", generate("witness", size, 1)))) >= 2
