"""The s-expression reader: lines, encodings, and a clear message for all that is not one expression."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pddl_helpers import input_error

from gsp_fd.common.errors import InputError
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.pddl.reader import MAX_DEPTH, SList, fact_words, parse_text, read_fact, read_file


def plain(node: Any) -> Any:
    return [plain(item) for item in node] if isinstance(node, SList) else node


def failure(text: str | bytes, folder: Path) -> InputError:
    path = folder / "f.pddl"
    path.write_bytes(text if isinstance(text, bytes) else text.encode("latin-1"))
    with pytest.raises(InputError) as caught:
        read_file(path)
    assert caught.value.file == str(path)
    return caught.value


def test_lists_words_and_case() -> None:
    assert plain(parse_text("(DEFINE (Domain D)\n(:Types a B))", "f")) == [
        "define", ["domain", "d"], [":types", "a", "b"],
    ]  # fmt: skip


def test_question_mark_starts_a_word() -> None:
    assert plain(parse_text("(and (on?x?y) (p ?x-?y) a?b)", "f")) == [
        "and", ["on", "?x", "?y"], ["p", "?x-", "?y"], "a", "?b",
    ]  # fmt: skip


def test_comments_line_ends_and_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "f.pddl"
    path.write_bytes(b"\xef\xbb\xbf; caf\xe9 (\r\n(a ; ) (\r\n b\r (c))")
    node = read_file(path)
    assert plain(node) == ["a", "b", ["c"]]
    assert [node.line, node.item_line(1), node[2].line] == [2, 3, 4]


def test_lines_of_items() -> None:
    node = parse_text("(a\n b (c\n\n d\n?e?f) g\n h)", "f")
    assert [node.item_line(index) for index in range(5)] == [1, 2, 2, 5, 6]
    assert [node[2].item_line(index) for index in range(4)] == [2, 4, 5, 5]
    assert [node.item_line(-1), node[2].item_line(-1)] == [6, 5]


def test_facts_of_init_stay_text() -> None:
    node = parse_text("(:init (p a)\n(q\n b) (= (f a) 1) (not (p b))\n(r))", "f")
    assert [fact_words(fact) for fact in (node[1], node[2], node[5])] == [["p", "a"], ["q", "b"], ["r"]]
    assert plain(node[3]) == ["=", ["f", "a"], "1"]
    assert plain(node[4]) == ["not", ["p", "b"]]
    assert [node.item_line(index) for index in range(1, 6)] == [1, 2, 3, 3, 4]
    fact = read_fact(node[2], 2)
    assert plain(fact) == ["q", "b"]
    assert fact.item_line(1) == 3


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "the file is empty: expected (define ...)"),
        ("\n ; nothing\n", 1, "the file is empty: expected (define ...)"),
        ("define", 1, "expected '(', got 'define'"),
        ("(a\n (b)\n (c (d)", 3, "missing ')': this '(' is never closed"),
        ("(a\n (b\n", 2, "missing ')': this '(' is never closed"),
        ("(a))", 1, "')' without a matching '('"),
        ("\n)", 2, "')' without a matching '('"),
        ("(a)\n\nb", 3, "text after the end of the definition: 'b'"),
        ("(a)\n(b)", 2, "text after the end of the definition: '('"),
        ("(a\n caf\xe9)", 2, "non-ASCII character '\xe9' outside a comment"),
        ("(a\n\0)", 2, "this is a binary file, not PDDL"),
        ("(" * 1000, 1, f"parentheses nested more than {MAX_DEPTH} levels deep"),
        ("(\n" * 1000 + ")" * 1000, MAX_DEPTH + 1, f"parentheses nested more than {MAX_DEPTH} levels deep"),
    ],
)
def test_malformed_text(text: str, line: int, message: str, tmp_path: Path) -> None:
    error = failure(text, tmp_path)
    assert (error.message, error.line, error.exit_code) == (message, line, ExitCode.TRANSLATE_INPUT_ERROR)
    assert str(error) == f"{tmp_path / 'f.pddl'}:{line}: {message}"


@pytest.mark.parametrize(("name", "reason"), [("missing.pddl", "no such file or directory"), (".", "is a directory")])
def test_unreadable_file(name: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_file(tmp_path / name)
    assert str(caught.value) == f"{tmp_path / name}: cannot read the file: {reason}"
    assert caught.value.exit_code == ExitCode.TRANSLATE_CRITICAL_ERROR


letters = st.characters(codec="ascii", exclude_characters="();?", exclude_categories=("C", "Z"))
words = st.text(letters, min_size=1)
trees = st.recursive(words.map(str.lower), lambda items: st.lists(items, max_size=5), max_leaves=30)
spaces = st.sampled_from([" ", "\n", "\t", "\r\n", " ; comment )(\n", "  "])


def show(tree: Any, space: str) -> str:
    return tree if isinstance(tree, str) else f"({space.join(show(item, space) for item in tree)})"


@given(st.lists(trees, max_size=6), spaces)
def test_reads_back_what_was_written(tree: list[Any], space: str) -> None:
    text = show(tree, space).replace("\r\n", "\n")
    if tree[:1] != [":init"]:
        assert plain(parse_text(text, "f")) == tree


@given(st.text(st.sampled_from("()();:?-= \n\rab\0\xe9"), max_size=60))
def test_only_input_errors_escape(text: str) -> None:
    error = input_error(lambda: parse_text(text, "f"))
    assert error is None or (error.line and 1 <= error.line <= text.count("\n") + 1)
