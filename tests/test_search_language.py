"""Fast Downward's search language: tokens, syntax, types, and the real Fast Downward as the judge."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import cli_support as cli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gsp_fd.common.errors import InputError
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.fd_integration.language.registry import FEATURES, check_search
from gsp_fd.fd_integration.language.syntax import Call, Let, ListNode, Literal, Node, parse, to_text


def test_syntax_tree() -> None:
    node = parse(' LET( h , FF( ) , eager_wastar( [h] , W = 2k, bound=infinity, description="a\\"\\\\\\nB" ) ) ')
    expected = Let(
        "h",
        Call("ff", (), (), 0),
        Call(
            "eager_wastar",
            (ListNode((Literal("symbol", "h", 0),), 0),),
            (
                ("w", Literal("int", 2000, 0)),
                ("bound", Literal("int", math.inf, 0)),
                ("description", Literal("string", 'a"\\\nB', 0)),
            ),
            0,
        ),
        0,
    )
    assert node == expected


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("+7", "int", 7),
        ("-3m", "int", -3_000_000),
        ("1.5", "double", 1.5),
        (".5", "double", 0.5),
        ("2.", "double", 2.0),
        ("1e3", "double", 1000.0),
        ("-1.5E-1", "double", -0.15),
        ("TRUE", "bool", True),
        ("infinity", "int", math.inf),
        ("infinityx", "symbol", "infinityx"),
        ("letter", "symbol", "letter"),
    ],
)
def test_constants(text: str, kind: str, value: object) -> None:
    assert parse(text) == Literal(kind, value, 0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("", 1, "empty"),
        ("   ", 4, "empty"),
        ("astar(blind()", 14, "expected ',' or ')', found the end"),
        ("astar(blind(),)", 15, "comma"),
        ("eager_wastar([ff()],w=%)", 23, "unexpected character '%'"),
        ("eager_wastar([ff()],w=1,2)", 25, "positional"),
        ("eager_wastar([ff()],w=1,w=2)", 25, "twice"),
        ("eager_wastar([ff()])x", 21, "end of the expression"),
        ("let(1,ff(),astar(h))", 5, "name of a variable"),
        ("let(h,ff())", 11, "expected ','"),
        ("astar(ff(]", 10, "found ']'"),
        ("eager_wastar([ff()],w=99999999999)", 23, "too large"),
        ("eager_wastar([ff()],max_time=1e999)", 30, "too large"),
        ("eager_wastar([ff()],max_time=1.5k)", 31, "'.'"),
        ('astar(ff(description="open))', 22, "unexpected character"),
        ("[" * 100_000, 152, "deep"),
        # types
        ("ff()", 1, "expected a SearchAlgorithm, found ff, which is an Evaluator"),
        ("astar", 1, "write astar() for the feature"),
        ("[astar(ff())]", 1, "expected a SearchAlgorithm, found a list"),
        ("eager_greedy(ff())", 14, "in brackets"),
        ("eager_greedy([])", 14, "empty"),
        ("eager_wastar([ff()],w=1.5)", 23, "expected an int, found 1.5"),
        ("eager_wastar([ff()],w=-1)", 23, "at least 0"),
        ("eager_wastar([ff()],bound=-1)", 27, "at least 0"),
        ("eager_wastar([fff()])", 15, "did you mean 'ff'?"),
        ("eager_wastar([ff()],preffered=[ff()])", 31, "did you mean 'preferred'?"),
        ("eager_wastar([ff()],evals=[ff()])", 27, "by position and by name"),
        ("eager_wastar()", 1, "needs a value for 'evals'"),
        ("astar(ff(1))", 10, "expected one of {approximate_negative"),
        ("astar(ff(cache_estimates=1))", 26, "expected a bool"),
        ("astar(eval_modify_costs(ff(),cost_type=plusoone))", 40, "did you mean 'plusone'?"),
        ('astar(blind(),blind(),null(),one,1,1,"x",silent,2,2)', 51, "at most 9 arguments"),
        ("let(h,ff(),let(h,ff(),astar(h)))", 12, "already defined"),
        ("let(n,2,astar(ff()))", 7, "only stand for an evaluator"),
        ("let(o,single(ff()),eager(o))", 7, "expected an Evaluator"),
        ("astar(h)", 7, "neither a variable nor a call"),
        ("eager(alt([single(ff())],pref=2))", 31, "alt has no option 'pref'"),
    ],
)
def test_errors_say_where(text: str, position: int, message: str) -> None:
    with pytest.raises(InputError) as error:
        check_search(text)
    assert error.value.exit_code == ExitCode.SEARCH_INPUT_ERROR
    assert f"--search, character {position}:" in str(error.value)
    assert message in str(error.value)


def test_message_points_into_long_text() -> None:
    text = f"let(h, ff(), iterated([{', '.join(['astar(h)'] * 50)}, astar(k), {', '.join(['astar(h)'] * 50)}]))"
    with pytest.raises(InputError) as error:
        check_search(text)
    _, shown, caret = str(error.value).splitlines()
    assert shown[caret.index("^")] == "k"
    assert len(shown) < 110


# Each with what Fast Downward 26.6 makes of it: 0 found a plan, 12 or 13 ended without one, 33 refused the input.
JUDGED = [
    ("EAGER_WASTAR([Ff()],W=2,COST_TYPE=ONE,reopen_closed=FALSE)", 0),
    ("eager_wastar([ff(),hmax()],w=2,preferred=[ff()])", 0),
    ("eager_wastar([ff()],[],true,0,2,null())", 0),
    ("eager_wastar([ff()],w=+2)", 0),
    ("eager_wastar([ff()],w=1k)", 0),
    ("eager_wastar([ff()],w=0)", 0),
    ("eager_wastar([const(3)])", 0),
    ("eager_wastar([ff()],max_time=1.)", 0),
    ("eager_wastar([ff()],max_time=.5)", 0),
    ("eager_wastar([ff()],max_time=-1)", 12),
    ("eager_wastar([ff()],bound=3)", 13),
    ("eager_wastar([ff()],bound=0)", 13),
    ('eager_wastar([ff(description="a b")])', 0),
    ("eager_greedy([eval_modify_costs(ff(),cost_type=one)])", 0),
    ("let(ff,ff(),eager_wastar([ff]))", 0),
    ("let(h,ff(),let(k,h,astar(k)))", 0),
    ("astar(max([blind(),hmax()]))", 0),
    ("astar(weight(hmax(),2),pruning=null(verbosity=silent),verbosity=silent)", 0),
    ("let(h,hmax(),astar(h,lazy_evaluator=h))", 0),
    ("eager(single(sum([g(),add()])),f_eval=g(),preferred=[add()])", 0),
    ("eager(tiebreaking([sum([g(),hmax()]),hmax()],unsafe_pruning=false),reopen_closed=true)", 0),
    ("lazy(alt([single(ff()),single(ff(),pref_only=true)],boost=1000),preferred=[ff()])", 0),
    ("lazy_greedy([ff()],randomize_successors=true,random_seed=3,preferred_successors_first=true)", 0),
    ("lazy_wastar([ff(),goalcount()],w=3,preferred=[ff()],cost_type=plusone)", 0),
    ("iterated([lazy_greedy([add()]),astar(hmax())],repeat_last=true)", 0),
    ("iterated([eager_wastar([ff()],bound=3),astar(ff(),bound=4)])", 12),
    ("iterated([eager_greedy([ff()])],bound=5)", 13),
    ("iterated([astar(ff())],continue_on_solve=false,pass_bound=false)", 0),
    ("eager_greedy(ff())", 33),
    ("eager_wastar([])", 33),
    ("eager_wastar([ff],w=2)", 33),
    ("eager_wastar([ff()],w=1.5)", 33),
    ("eager_wastar([ff()],w=-1)", 33),
    ("eager_wastar([ff()],w=3g)", 33),
    ("eager_wastar([ff()],w=2kk)", 33),
    ("eager_wastar([ff()],w=2,w=3)", 33),
    ("eager_wastar([ff()],w=1,2)", 33),
    ("eager_wastar([ff(),],w=2)", 33),
    ("eager_wastar([ff()],bound=-1)", 33),
    ("eager_wastar([ff()],bound=1.5)", 33),
    ("eager_wastar([ff()],evals=[ff()])", 33),
    ("eager_wastar([ff(1)])", 33),
    ("eager_wastar([ff(cache_estimates=1)])", 33),
    ("eager_wastar([ff(description=a)])", 33),
    ("eager_wastar([eval_modify_costs(ff(),cost_type=two)])", 33),
    ("eager_wastar", 33),
    ("eager_wastar()", 33),
    ("eager_wastar([ff()])x", 33),
    ("ff()", 33),
    ("[astar(ff())]", 33),
    ("astar(ff(),w=2)", 33),
    ("let(w,2,eager_wastar([ff()],w=w))", 33),
    ("let(o,single(ff()),eager(o))", 33),
    ("let(h,ff(),let(h,hmax(),astar(h)))", 33),
    ("let(h,ff())", 33),
    ("let(true,ff(),astar(h))", 33),
    ("astar(", 33),
    ("", 33),
    (" ", 33),
]


@pytest.fixture(scope="module")
def tower(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = cli.write_files(tmp_path_factory.mktemp("tower"), cli.TOWER)
    assert cli.gsp_plan(folder, "--translate", "domain.pddl", "problem.pddl").returncode == 0
    return folder


@pytest.mark.parametrize(("text", "code"), JUDGED)
def test_fast_downward_agrees(tower: Path, text: str, code: int) -> None:
    assert cli.fast_downward_search(tower, "--search", text).returncode == code


@pytest.mark.parametrize(("text", "code"), [row for row in JUDGED if row[1] == 33])
def test_we_refuse(text: str, code: int) -> None:
    with pytest.raises(InputError) as error:
        check_search(text)
    assert error.value.exit_code == code


def test_we_search(tower: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from gsp_fd.fd_integration.run.components import Components, choose_inputs
    from gsp_fd.fd_integration.run.configuration import configurations
    from gsp_fd.fd_integration.run.interrupts import Interrupts
    from gsp_fd.fd_integration.run.log import Log
    from gsp_fd.fd_integration.run.options import parse_command_line
    from gsp_fd.fd_integration.run.plans import PlanFiles

    monkeypatch.chdir(tower)
    for text, code in JUDGED:
        if code == 33:
            continue
        options = parse_command_line(["output.sas", "--search", text])
        plans = PlanFiles(options.plan_path)
        components = Components(options, choose_inputs(options), configurations(options), plans, Log(), Interrupts())
        assert components.search() == code, text
        assert bool(plans.written) == (code == 0)
        assert "Traceback" not in capfd.readouterr().out


# Fuzzing

_NAMES = st.sampled_from([*FEATURES, "let", "h", "w", "evals", "true", "infinity", "x_1"])
_ATOMS = st.one_of(
    _NAMES,
    st.integers(-(10**12), 10**12).map(str),
    st.floats(allow_nan=False).map(str),
    st.text('ab"\\n ', max_size=4).map(lambda text: f'"{text}"'),
)
_TOKENS = st.one_of(_ATOMS, st.sampled_from(list("()[],= \n\t%.'\"\\")), st.text(max_size=2))


def _refusal(text: str, step: Callable[[str], object]) -> InputError | None:
    """The error of a step on a text; nothing but an InputError may escape."""
    try:
        step(text)
    except InputError as error:
        return error
    return None


@given(st.lists(_TOKENS, max_size=40).map("".join))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    error = _refusal(text, parse)
    if error is None:
        assert parse(to_text(parse(text))) == parse(text)
    else:
        assert error.exit_code == ExitCode.SEARCH_INPUT_ERROR


@given(st.sampled_from([text for text, code in JUDGED if code == 0]), st.data())
def test_damaged_searches_are_checked_or_refused(text: str, data: st.DataObject) -> None:
    position = data.draw(st.integers(0, len(text)))
    length = data.draw(st.integers(0, 3))
    damaged = text[:position] + data.draw(_TOKENS) + text[position + length :]
    error = _refusal(damaged, check_search)
    assert error is None or error.exit_code == ExitCode.SEARCH_INPUT_ERROR


def _nodes(children: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    names = st.from_regex(r"[a-z_][a-z0-9_]{0,5}", fullmatch=True).filter(
        lambda name: name not in ("let", "true", "false", "infinity")
    )
    sequence = st.lists(children, max_size=3).map(tuple)
    keywords = st.dictionaries(names, children, max_size=2).map(lambda items: tuple(items.items()))
    return st.one_of(
        st.builds(ListNode, sequence, st.just(0)),
        st.builds(Call, names, sequence, keywords, st.just(0)),
        st.builds(Let, names, children, children, st.just(0)),
    )


_LITERALS = st.one_of(
    st.builds(Literal, st.just("bool"), st.booleans(), st.just(0)),
    st.builds(Literal, st.just("int"), st.integers(-(2**31) + 1, 2**31 - 1), st.just(0)),
    st.builds(Literal, st.just("double"), st.floats(allow_nan=False, allow_infinity=False), st.just(0)),
    st.builds(Literal, st.just("string"), st.text(), st.just(0)),
)


@given(st.recursive(_LITERALS, _nodes, max_leaves=20))
def test_text_of_a_tree_is_the_tree(node: Node) -> None:
    assert parse(to_text(node)) == node
