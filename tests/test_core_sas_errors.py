"""Malformed SAS files: the right line, and never a crash."""

from __future__ import annotations

import numpy as np
import pytest
import sas_reference
from hypothesis import given, settings
from hypothesis import strategies as st
from sas_reference import SasTask
from sas_strategy import sas_tasks

from gsp_fd import _core

TEXT = b"""\
begin_version
3
end_version
begin_metric
1
end_metric
2
begin_variable
var0
-1
2
Atom a()
NegatedAtom a()
end_variable
begin_variable
var1
0
2
Atom d()
NegatedAtom d()
end_variable
1
begin_mutex_group
2
0 0
1 0
end_mutex_group
begin_state
1
1
end_state
begin_goal
1
1 0
end_goal
1
begin_operator
make a
1
1 1
1
1 1 1 0 -1 0
7
end_operator
1
begin_rule
1
0 0
1 1 0
end_rule
"""

MISTAKES = [  # line, its new text, what the message says; the line is where the reader notices
    (1, b"begin_versio", "begin_version"),
    (2, b"4", "version 4"),
    (2, b"three", "SAS version"),
    (5, b"2", "outside 0..1"),
    (7, b"-1", "outside"),
    (7, b"1000", "more than the file can hold"),
    (10, b"-2", "axiom layer"),
    (11, b"0", "at least one value"),
    (11, b"2147483648", "number of values"),
    (11, b"9999999999999999999999", "number of values"),
    (17, b"100001", "axiom layer"),
    (25, b"2 0", "variable 2"),
    (25, b"0 2", "value 2"),
    (25, b"x 0", "expected variable"),
    (25, b"0 0 0", "end of the line"),
    (28, b"2", "begin_state"),
    (34, b"", "expected variable"),
    (29, b"2", "initial value"),
    (34, b"1 -1", "value -1"),
    (40, b"1 x", "expected value"),
    (42, b"1 1 1 0 0 2", "value after"),
    (42, b"1 1 1 0 -2 0", "value before"),
    (42, b"1 1 1 1 -1 0", "derived variable"),
    (42, b"9 1 1 0 -1 0", "outside"),
    (43, b"-1", "operator cost"),
    (43, b"2147483648", "operator cost"),
    (44, b"end_operators", "end_operator"),
    (49, b"1 0 1", "default value"),
    (49, b"0 1 0", "not derived"),
    (49, b"1 1 1", "default value"),
    (49, b"1 1 0 9", "end of the line"),
    (51, b"more", "after the end"),
]


def replaced(line: int, text: bytes) -> bytes:
    lines = TEXT.splitlines()
    lines[line - 1 : line] = [text]
    return b"\n".join(lines) + b"\n"


def use(text: bytes) -> None:
    """Loads a text and, if that succeeds, lets the task do a bit of everything."""
    try:
        task = _core.GroundTask.from_sas(text)
    except _core.CoreInputError as error:
        message, line = error.args
        assert message
        assert 1 <= line <= text.count(b"\n") + 2
        return
    written = task.to_sas()
    assert _core.GroundTask.from_sas(written).to_sas() == written
    space = _core.GroundSpace(task)
    _, successors = space.expand(space.initial_state())
    ids = np.array([0, *successors.tolist()], dtype=np.int32)
    heuristics = [_core.heuristic(kind, task) for kind in ("ff", "hmax", "add", "goalcount", "blind")]
    for heuristic in heuristics:
        assert (heuristic.evaluate(space, ids) >= 0).all()
        heuristic.preferred(space, 0)
    for lazy in (False, True):
        open_list = _core.TieBreakingOpenList([_core.sum([_core.g(), heuristics[0]]), heuristics[1]])
        space, preferred = _core.GroundSpace(task), heuristics[:1]
        _core.search(space, open_list, lazy=lazy, preferred=preferred, max_expansions=30, max_time=20.0)


def test_the_text_is_well_formed() -> None:
    use(TEXT)
    assert _core.GroundTask.from_sas(TEXT).to_sas() == TEXT


@pytest.mark.parametrize(("line", "text", "message"), MISTAKES)
def test_mistakes_are_located(line: int, text: bytes, message: str) -> None:
    with pytest.raises(_core.CoreInputError) as caught:
        _core.GroundTask.from_sas(replaced(line, text))
    found, where = caught.value.args
    assert message in found
    assert where == line


def test_derived_variables_are_binary() -> None:
    """Rules that chase each other through three values would have no fixed point."""
    with pytest.raises(_core.CoreInputError, match="derived") as caught:
        _core.GroundTask.from_sas(replaced(18, b"3\nAtom e()"))
    assert caught.value.args[1] == 18


def test_more_things_announced_than_there_are() -> None:
    for line, noticed in ((7, 22), (24, 27), (36, 45), (45, 51)):
        count = int(TEXT.splitlines()[line - 1]) + 1
        with pytest.raises(_core.CoreInputError) as caught:
            _core.GroundTask.from_sas(replaced(line, str(count).encode()))
        assert caught.value.args[1] == noticed


def test_axioms_respect_their_layers() -> None:
    """A rule may not ask for the default value of its own layer."""
    with pytest.raises(_core.CoreInputError, match="layer") as caught:
        _core.GroundTask.from_sas(replaced(48, b"1 1"))
    assert caught.value.args[1] == 49


def test_every_prefix() -> None:
    for end in range(len(TEXT) - 1):
        with pytest.raises(_core.CoreInputError):
            _core.GroundTask.from_sas(TEXT[:end])


def test_line_ends_and_blanks() -> None:
    assert _core.GroundTask.from_sas(TEXT.replace(b"\n", b"\r\n")).to_sas() == TEXT
    assert _core.GroundTask.from_sas(TEXT + b"\n \n").to_sas() == TEXT


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=200))
def test_arbitrary_bytes(text: bytes) -> None:
    use(text)
    use(TEXT[: len(text)] + text)


NUMBERS = st.sampled_from([b"0", b"1", b"2", b"3", b"-1", b"9", b"65536", b"2147483647", b"2147483648", b"-9e9", b""])


@st.composite
def mutations(draw: st.DrawFn) -> bytes:
    """A well-formed file with a few lines, words or bytes changed."""
    task: SasTask = draw(sas_tasks())
    text = sas_reference.write(task) if draw(st.booleans()) else TEXT
    for _ in range(draw(st.integers(1, 3))):
        lines = text.split(b"\n")
        where = draw(st.integers(0, len(lines) - 1))
        kind = draw(st.sampled_from(["delete", "repeat", "swap", "number", "byte", "cut"]))
        if kind == "delete":
            del lines[where]
        elif kind == "repeat":
            lines.insert(where, lines[where])
        elif kind == "swap":
            other = draw(st.integers(0, len(lines) - 1))
            lines[where], lines[other] = lines[other], lines[where]
        elif kind == "number":
            words = lines[where].split(b" ")
            words[draw(st.integers(0, len(words) - 1))] = draw(NUMBERS)
            lines[where] = b" ".join(words)
        elif kind == "byte":
            at = draw(st.integers(0, len(lines[where])))
            lines[where] = lines[where][:at] + draw(st.binary(min_size=1, max_size=1)) + lines[where][at + 1 :]
        text = b"\n".join(lines)
        if kind == "cut":
            text = text[: draw(st.integers(0, len(text)))]
        if not text:
            break
    return text


@settings(max_examples=400, deadline=None)
@given(mutations())
def test_mutated_files(text: bytes) -> None:
    use(text)
