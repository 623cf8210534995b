"""What reads input from strangers: the programs, called as functions with mutated files and arguments."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock

import compare_records
import sas_reference as sas
import tasks

from gsp_fd import _core, task
from gsp_fd.errors import InputError
from gsp_fd.exit_codes import ExitCode
from gsp_fd.fd_integration import driver
from gsp_fd.generate import domain_text, generate

from .mutators import edited, edited_json, json_text
from .runner import Case, Wrong, program

REFUSED = (
    *(ExitCode.TRANSLATE_INPUT_ERROR, ExitCode.SEARCH_INPUT_ERROR, ExitCode.SEARCH_UNSUPPORTED),
    *(ExitCode.DRIVER_INPUT_ERROR, ExitCode.DRIVER_UNSUPPORTED, 2),
)
"""Exit codes that say that input is wrong; 2 is that of argparse, too."""
ENDED = (*range(4), *range(10, 14), *range(20, 25))
"""Exit codes with which a planner may end on good input."""
SEARCHES = (
    "astar(hmax())",
    "astar(blind())",
    "eager_greedy([ff()])",
    "let(h, ff(), lazy_greedy([h], preferred=[h]))",
    "eager_wastar([add()], w=3)",
    "lazy_wastar([goalcount()], w=2)",
)


def pddl_seeds() -> list[tuple[str, str]]:
    """Domains and problems to start from."""
    return [
        (tasks.TOWER_DOMAIN, tasks.TOWER),
        (tasks.COURIER_DOMAIN, tasks.COURIER),
        (tasks.LAMPS_DOMAIN, tasks.lamps(3)),
        (tasks.HOUSE_DOMAIN, tasks.HOUSE),
        *(
            (domain_text(name), generate(name, size, 1))
            for name, size in (("ferry", 4), ("spanner", 7), ("rovers", 12))
        ),
    ]


def sas_seeds() -> list[bytes]:
    """Tasks of the grounder, and one with conditional effects and axioms."""
    grounded = [tasks.load(*texts).ground().to_sas() for texts in pddl_seeds() if texts[0] is not tasks.HOUSE_DOMAIN]
    derived = sas.SasTask(
        variables=(*[sas.Variable(-1, ("Atom a()", "NegatedAtom a()", "<none of those>"))] * 2,
                   sas.Variable(0, ("Atom d()", "NegatedAtom d()")), sas.Variable(1, ("Atom e()", "NegatedAtom e()"))),
        initial=(0, 1, 1, 1),
        goal=((0, 2), (3, 0)),
        operators=(
            sas.Operator("move a b", ((0, 0), (2, 1)), (((), 0, 1), (((1, 1),), 1, 2)), 3),
            sas.Operator("Move a-b", ((0, 1),), (((), 0, 2), (((2, 1), (1, 0)), 1, 0)), 1),
        ),
        axioms=((((0, 1),), 2, 0), (((2, 1), (1, 2)), 3, 0)),
        mutex_groups=(((0, 0), (1, 0)),),
        metric=True,
    )  # fmt: skip
    return [*grounded, sas.write(derived)]


def plan(arguments: list[str]) -> bool:
    """Runs gsp-plan, but for Fast Downward's translator, which is not ours; whether it took the input."""
    with mock.patch.object(task, "translate", _no_translator):
        code, out, messages = program(driver.main, arguments)
    _check(code, messages, ENDED)
    searched, written = "search exit code" in out, sorted(Path().glob("*plan*"))
    if searched and (code < 4) != bool(written):
        raise Wrong(f"exit code {code} with the plan files {written}")
    return code in ENDED


def _no_translator(*arguments: Any, **options: Any) -> Any:
    raise InputError("Fast Downward's translator is not part of this")


def _check(code: int, messages: str, good: Sequence[int]) -> None:
    """Exit codes are those of wrong input or of a good end, and messages have no traceback in them."""
    if code not in (*good, *REFUSED, ExitCode.TRANSLATE_CRITICAL_ERROR) or "internal error" in messages:
        raise Wrong(f"{messages[-3000:]}\nexit code {code}: {messages.strip().splitlines()[-1:]}")
    if code == ExitCode.TRANSLATE_CRITICAL_ERROR and "cannot read the file" not in messages:
        raise Wrong(f"exit code {code}: {messages}")
    if "Traceback" in messages or "\x1b" in messages:
        raise Wrong(f"{messages[-3000:]}\na traceback or an escape sequence among the messages")


LIMITS = ["--max-expansions", "200"]


class Pddl:
    """gsp-plan with mutated PDDL."""

    name = "pddl"
    TOKENS: ClassVar = """( ) (( )) ?x ?y - and or not imply forall exists when = increase total-cost object either number
        :init :goal :action :parameters :precondition :effect :derived :types :constants :objects :metric define domain
        (and) (not (a)) (= ?x ?y) (increase (total-cost) 600000000)""".split()

    def __init__(self) -> None:
        self.seeds = pddl_seeds()

    def case(self, rng: random.Random) -> Case:
        domain, problem = (text.encode() for text in rng.choice(self.seeds))
        which = rng.random()
        if which < 0.6:
            domain = edited(rng, domain, self.TOKENS)
        if which > 0.4:
            problem = edited(rng, problem, self.TOKENS)
        files = {"domain.pddl": domain, "problem.pddl": problem}
        return Case([*files, *LIMITS, "--search", rng.choice(SEARCHES)], files)

    def read(self, case: Case) -> bool:
        return plan(case.arguments)


class Sas:
    """gsp-plan with a mutated SAS file."""

    name = "sas"
    TOKENS: ClassVar = """begin_variable end_variable begin_operator end_operator begin_rule end_rule begin_state end_state
        begin_goal end_goal begin_mutex_group end_mutex_group begin_version begin_metric Atom NegatedAtom -1 0 1 2""".split()

    def __init__(self) -> None:
        self.seeds = sas_seeds()

    def case(self, rng: random.Random) -> Case:
        data = edited(rng, rng.choice(self.seeds), self.TOKENS)
        return Case(["--search", "output.sas", *LIMITS, "--search", rng.choice(SEARCHES)], {"output.sas": data})

    def read(self, case: Case) -> bool:
        return plan(case.arguments)


class Search:
    """gsp-plan with a mutated search, or with other mutated arguments."""

    name = "search"
    TOKENS: ClassVar = """( ) [ ] , = let h ff() hmax() add() blind() goalcount() g() gsp() const(3) weight(g(), 2)
        sum([g(), ff()]) max([ff(), hmax()]) single(ff()) alt([single(ff())]) tiebreaking([ff(), g()]) infinity true false
        one plusone 1e3 1.5 w=2 bound=5 cost_type=one max_time=0.1 pref_only=true policy(gsp()) iterated([astar(blind())])
        adapt_costs(one) random_seed=3 "x" """.split()
    SEEDS: ClassVar = (
        *SEARCHES,
        "iterated([lazy_greedy([ff()]), lazy_wastar([ff()], w=2)], repeat_last=true, continue_on_fail=true)",
        "eager(alt([single(ff()), tiebreaking([sum([g(), hmax()]), hmax()], unsafe_pruning=false)], boost=10))",
        "lazy(single(sum([g(), weight(ff(transform=adapt_costs(plusone)), 3)])), cost_type=one, bound=100)",
        "let(a, ff(), let(b, max([a, const(2)]), eager(single(b), f_eval=b, reopen_closed=true)))",
        "gsp_wastar([gsp(model=auto)], w=1.5)",
    )  # fmt: skip
    OPTIONS: ClassVar = (
        ["--heuristic", "hff", "--search", "wastar", "-w", "2"],
        ["--heuristic", "h=ff()", "--search", "eager_greedy([h])"],
        ["--alias", "lama-first"],
        ["--batch-size", "4", "--seed", "3", "--search", "lazy_greedy([ff()])"],
        ["--plan-file", "plan", "--search", "astar(blind())"],
        ["--show-features", "ff", "astar"],
        ["--if-unit-cost", "--search", "astar(blind())", "--if-non-unit-cost", "--search", "astar(hmax())"],
    )

    def __init__(self) -> None:
        self.task = tasks.load(tasks.TOWER_DOMAIN, tasks.TOWER).ground().to_sas()

    def case(self, rng: random.Random) -> Case:
        if rng.random() < 0.75:
            text = edited(rng, rng.choice(self.SEEDS).encode(), self.TOKENS)
            search = text.decode(errors="surrogateescape").replace("\0", "")
            arguments = ["output.sas", *LIMITS, "--search", search]
        else:
            arguments = ["output.sas", *LIMITS, *rng.choice(self.OPTIONS)]
            where = rng.randrange(1, len(arguments))
            text = edited(rng, arguments[where].encode(), self.TOKENS)
            arguments[where] = text.decode(errors="surrogateescape").replace("\0", "")
        return Case(arguments, {"output.sas": self.task})

    def read(self, case: Case) -> bool:
        inside = [argument for argument in case.arguments if "/" in argument]
        return False if inside else plan(case.arguments)


class Models:
    """gsp-plan and gsp-models with a mutated model."""

    name = "model"

    def __init__(self) -> None:
        import onnx

        from gsp_fd import models_cli
        from gsp_fd.model import SHIPPED_MODELS

        self.show = models_cli.main
        self.onnx = onnx
        self.data = (SHIPPED_MODELS / "ferry.onnx").read_bytes()
        self.texts = domain_text("ferry").encode(), generate("ferry", 3, 1).encode()

    def case(self, rng: random.Random) -> Case:
        how = rng.random()
        data = edited(rng, self.data) if how < 0.3 else self.rewritten(rng)
        files = {"domain.pddl": self.texts[0], "problem.pddl": self.texts[1], "m.onnx": data}
        if rng.random() < 0.2:
            return Case(["show", *rng.choice(([], ["--json"])), "m.onnx"], files)
        search = rng.choice(("policy", "wastar", "gbfs"))
        common = ["domain.pddl", "problem.pddl", "--max-expansions", "10", "--heuristic", "gsp", "--model", "m.onnx"]
        return Case([*common, "--device", "cpu", "--search", search], files)

    def rewritten(self, rng: random.Random) -> bytes:
        """A model with other metadata, other weights or another graph, but a well-formed file."""
        model = self.onnx.load_from_string(self.data)
        for _ in range(rng.choice((1, 1, 2, 3))):
            kind = rng.random()
            if kind < 0.6:
                entry = rng.choice(model.metadata_props)
                entry.value = _encodable(json_text(rng, edited_json(rng, json.loads(entry.value))))
            elif kind < 0.8:
                tensor = rng.choice(model.graph.initializer)
                data = edited(rng, tensor.raw_data)
                tensor.raw_data = (
                    data if rng.random() < 0.5 else data[: len(tensor.raw_data)].ljust(len(tensor.raw_data))
                )
            elif kind < 0.9:
                node = rng.choice(model.graph.node)
                node.op_type = rng.choice(("Add", "Mul", "Identity", "Loop", "If", "Scan", "Cast", "Expand", "Nothing"))
            else:
                names = model.graph.initializer
                rng.choice(names).name = rng.choice(names).name
        return model.SerializeToString()

    def read(self, case: Case) -> bool:
        if case.arguments[0] != "show":
            return plan(case.arguments)
        code, _, messages = program(self.show, case.arguments)
        _check(code, messages, (0,))
        return code == 0


def _encodable(text: str) -> str:
    return text.encode(errors="replace").decode()


class Checkpoints:
    """gsp-export with a mutated checkpoint."""

    name = "checkpoint"

    def __init__(self) -> None:
        import numpy
        from random_models import Batch, random_checkpoint, random_model

        import tempfile
        from dataclasses import replace

        from gsp_fd.export import cli, writer  # noqa: F401  (loaded before the forks)
        from gsp_fd.model import Model
        from gsp_fd.training.checkpoint import save_checkpoint

        self.export, self.numpy = cli.main, numpy
        tower = tasks.load(tasks.TOWER_DOMAIN, tasks.TOWER)
        with tempfile.TemporaryDirectory() as folder:
            model = Model(random_model(tower, Path(folder, "m.onnx")), device="cpu")
            batch = Batch(model, tower, 3)
            encoded = batch.encoder.encode(batch.space, batch.states, *_core.applicable_rows(batch.space, batch.states))
            checkpoint = replace(random_checkpoint(tower), batches=[encoded], arrays={"more": numpy.zeros(3)})
            save_checkpoint(Path(folder, "c.npz"), checkpoint)
            self.data = Path(folder, "c.npz").read_bytes()

    def case(self, rng: random.Random) -> Case:
        data = edited(rng, self.data) if rng.random() < 0.3 else self.rewritten(rng)
        return Case(["c.npz", "m.onnx"], {"c.npz": data})

    def rewritten(self, rng: random.Random) -> bytes:
        """A well-formed archive with other arrays or other JSON."""
        import io

        numpy = self.numpy
        with numpy.load(io.BytesIO(self.data)) as data:
            entries = {name: data[name] for name in data.files}
        for _ in range(rng.choice((1, 1, 2))):
            name = rng.choice([*entries, "json", "json"])
            if name == "json":
                content = json.loads(entries[name].tobytes())
                if rng.random() < 0.5:
                    key = rng.choice(list(content["metadata"]))
                    value = json.loads(content["metadata"][key])
                    content["metadata"][key] = json_text(rng, edited_json(rng, value))
                else:
                    content = edited_json(rng, content)
                entries[name] = numpy.frombuffer(json_text(rng, content).encode(errors="replace"), numpy.uint8)
            else:
                entries[name] = self.other_array(rng, entries[name])
        buffer = io.BytesIO()
        save = rng.choice((numpy.savez, numpy.savez_compressed))
        save(buffer, **{name: array for name, array in entries.items() if rng.random() < 0.995})
        return buffer.getvalue()

    def other_array(self, rng: random.Random, array: Any) -> Any:
        numpy = self.numpy
        how = rng.randrange(6)
        if how == 0:
            return array.astype(rng.choice(("f4", "f8", "i8", "u1", "U3", "c8", "f2", "?", "M8[s]")))
        if how == 1:
            return array.reshape(rng.choice(((-1,), (1, -1), (-1, 1), (*array.shape, 1))))
        if how == 2:
            return numpy.zeros(rng.choice(((), (0,), (1,), (5,), (0, 2), (3, 1), (2, 2, 2))), array.dtype)
        if how == 3:
            return numpy.full(array.shape, rng.choice((-100000, -1, 0, 1, 100000, 2**31 - 1))).astype(array.dtype)
        if how == 4 and array.dtype.kind == "f":
            return array * rng.choice((float("nan"), float("inf"), 1e30, 0.0))
        flat = array.copy().reshape(-1)
        if len(flat):
            with numpy.errstate(all="ignore"):
                flat[rng.randrange(len(flat))] = numpy.float64(rng.choice((-1, 2**31, -(2**40), 7))).astype(array.dtype)
        return flat.reshape(array.shape)

    def read(self, case: Case) -> bool:
        code, _, messages = program(self.export, case.arguments)
        _check(code, messages, (0,))
        if (code == 0) != Path("m.onnx").exists():
            raise Wrong(f"exit code {code}, and whether there is a model is another matter")
        return code == 0


class Toml:
    """gsp-train with a mutated configuration; it ends before it trains, because no training problems are given."""

    name = "toml"
    TOKENS: ClassVar = [
        "=",
        "[run]",
        "[[run]]",
        '"',
        "'''",
        "[",
        "]",
        "{a=1}",
        "true",
        "1979-05-27",
        "nan",
        "inf",
        ".",
        "0x",
    ]

    def __init__(self) -> None:
        from gsp_fd.training import cli
        from gsp_fd.training.config import TrainingConfig
        from gsp_fd.training.settings import RunInputs, to_toml

        self.train = cli.main
        self.text = to_toml(TrainingConfig(), RunInputs(domain="d.pddl")).encode()

    def case(self, rng: random.Random) -> Case:
        data = self.text
        if rng.random() < 0.5:
            lines = [line for line in data.splitlines(keepends=True) if not line.startswith(b"#")]
            data = b"".join(rng.sample(lines, rng.randint(1, len(lines))))
        return Case(["--config", "c.toml"], {"c.toml": edited(rng, data, self.TOKENS)})

    def read(self, case: Case) -> bool:
        code, _, messages = program(self.train, case.arguments)
        _check(code, messages, ())
        return "is missing" in messages


class Results:
    """gsp-compare report with a mutated results file."""

    name = "results"

    def __init__(self) -> None:
        from gsp_fd.compare import cli, page, tables  # noqa: F401  (loaded before the forks)

        self.report = cli.main
        header = compare_records.header(("gsp-policy", "hff-wastar"), 4)
        self.records = [header, *compare_records.results(2, ("ferry",), ("easy", "hard"), ("gsp-policy", "hff-wastar"))]

    def case(self, rng: random.Random) -> Case:
        records: list[Any] = list(self.records)
        for _ in range(rng.choice((0, 1, 1, 2, 4))):
            where = rng.randrange(len(records))
            records[where] = edited_json(rng, records[where])
        data = "".join(json_text(rng, record) + "\n" for record in records).encode(errors="surrogatepass")
        if rng.random() < 0.3:
            data = edited(rng, data)
        reference = rng.choice(([], ["--reference", "all"], ["--reference", "hff-wastar"]))
        return Case(["report", "results.jsonl", "--out", "report", *reference], {"results.jsonl": data})

    def read(self, case: Case) -> bool:
        code, _, messages = program(self.report, case.arguments)
        _check(code, messages, (0,))
        return code == 0


class Lists:
    """gsp-compare's list files and best known costs."""

    name = "lists"

    def __init__(self) -> None:
        from gsp_fd.compare import suites

        self.suites = suites
        self.bounds = {"ferry/testing/easy/p01.pddl": 12, "ferry/testing/easy/p02.pddl": 17.5, "x": 1}

    def case(self, rng: random.Random) -> Case:
        bounds = json_text(rng, edited_json(rng, self.bounds)).encode(errors="surrogatepass")
        tokens = ["generate:ferry?count=2&size=2-3", "generate:", "?", "&", "..", "#", "suite/p.pddl", "suite"]
        suite = edited(rng, b"suite/p.pddl\n# all\ngenerate:ferry?count=1&size=2&seed=1\nsuite\n", tokens)
        texts = dict(zip(("suite/domain.pddl", "suite/p.pddl"), (tasks.TOWER_DOMAIN, tasks.TOWER), strict=True))
        return Case([], {"b.json": bounds, "list.txt": suite, **{name: text.encode() for name, text in texts.items()}})

    def read(self, case: Case) -> bool:
        try:
            if len(case.files["list.txt"]) < 200:  # sizes of generated problems are for those who ask for them
                found = self.suites.read_suites(["list.txt"], self.suites.Selection(), Path("generated"))
                self.suites.with_bounds(found, self.suites.read_bounds(Path("b.json")))
        except InputError:
            return False
        return True


class Plans:
    """The validator with mutated plans."""

    name = "plan"

    def __init__(self) -> None:
        from gsp_fd.validate import parse_plan, validate_plan

        self.parse, self.validate = parse_plan, validate_plan
        self.task = tasks.load(tasks.COURIER_DOMAIN, tasks.COURIER)

    def case(self, rng: random.Random) -> Case:
        text = b"(walk home park)\n(lure shop park)\n(walk home hill) ; why\n(pick box hill)\n; cost = 200002 (general cost)\n"
        return Case([], {"plan": edited(rng, text, ["(", ")", ";", "walk", "home", "?x"])})

    def read(self, case: Case) -> bool:
        try:
            actions = self.parse(case.files["plan"].decode(errors="replace"), "plan")
            verdict = self.validate(self.task.domain, self.task.problem, actions)
        except InputError:
            return False
        if verdict.valid:
            raise Wrong("a plan that leaves the letter where it is passes as valid")
        return True


class TaskFiles:
    """The C interface with a mutated task file: see ``gsp_fd/core/c_api.h``."""

    name = "task"

    def __init__(self) -> None:
        import plugin_support

        from gsp_fd.fd_integration.plugin_task import task_text
        from gsp_fd.model import SHIPPED_MODELS

        from .library import compiled

        self.plugin = plugin_support
        self.library = plugin_support.load_library(compiled())
        ferry = tasks.load(domain_text("ferry"), generate("ferry", 3, 1)).lifted
        assert ferry is not None
        self.text = task_text(ferry, SHIPPED_MODELS / "ferry.onnx")
        lines = self.text.splitlines(keepends=True)
        self.head = b"".join(line for line in lines if not line.startswith((b"weights", b"end")))
        self.weights = [line for line in lines if line.startswith(b"weights")]

    def case(self, rng: random.Random) -> Case:
        tokens = "object type predicate function value network relation weights schema positive add cost equal init goal".split()
        weights = list(self.weights)
        if rng.random() < 0.2:
            weights[where] = edited(rng, weights[where := rng.randrange(len(weights))][:3000])
        head = self.head if rng.random() < 0.1 else edited(rng, self.head, tokens)
        return Case([], {"task": head + b"".join(weights) + b"end\n"})

    def read(self, case: Case) -> bool:
        try:
            task = self.plugin.CTask(self.library, case.files["task"])
        except ValueError:
            return False
        state = task.call("initial_state")
        for step in range(3):
            successors, _ = task.successors(state)
            if task.call("batch_add", state) == 0:
                task.q_values()
            task.call("batch_clear")
            task.call("atom", b"Atom at-ferry(loc1)")
            if not successors:
                break
            state = successors[step % len(successors)]
        task.call("forget_states")
        return True


TARGETS: dict[str, Callable[[], Any]] = {
    kind.name: kind for kind in (Pddl, Sas, Search, Models, Checkpoints, Toml, Results, Lists, Plans, TaskFiles)
}
