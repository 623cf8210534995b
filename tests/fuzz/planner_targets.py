"""gsp-plan with mutated tasks and arguments, and its validator with mutated plans."""

from __future__ import annotations

import random

import sas_reference as sas
import tasks

from gsp_fd.common.errors import InputError
from gsp_fd.generate import domain_text, generate
from gsp_fd.validate import parse_plan, validate_plan

from .mutators import edited
from .programs import plan
from .runner import Case, Wrong

LIMITS = ["--max-expansions", "200"]
SEARCHES = (
    "astar(hmax())",
    "astar(blind())",
    "eager_greedy([ff()])",
    "let(h, ff(), lazy_greedy([h], preferred=[h]))",
    "eager_wastar([add()], w=3)",
    "lazy_wastar([goalcount()], w=2)",
)
PDDL_TOKENS = [
    *("(", ")", "((", "))", "?x", "?y", "-", "and", "or", "not", "imply", "forall", "exists", "when", "=", "increase"),
    *("total-cost", "object", "either", "number", "define", "domain", ":init", ":goal", ":action", ":parameters"),
    *(":precondition", ":effect", ":derived", ":types", ":constants", ":objects", ":metric", "(and)", "(not (a))"),
    *("(= ?x ?y)", "(increase (total-cost) 600000000)"),
]
_PARTS = ("variable", "operator", "rule", "state", "goal", "metric", "mutex_group")
SAS_TOKENS = [
    *(f"{end}_{part}" for end in ("begin", "end") for part in _PARTS),
    *("Atom", "NegatedAtom", "-1", "0", "1", "2"),
]
SEARCH_TOKENS = [
    *("(", ")", "[", "]", ",", "=", "let", "h", "ff()", "hmax()", "add()", "blind()", "goalcount()", "g()", "gsp()"),
    *("const(3)", "weight(g(), 2)", "sum([g(), ff()])", "max([ff(), hmax()])", "single(ff())", "alt([single(ff())])"),
    *("tiebreaking([ff(), g()])", "infinity", "true", "false", "one", "plusone", "1e3", "1.5", "w=2", "bound=5"),
    *("cost_type=one", "max_time=0.1", "pref_only=true", "policy(gsp())", "iterated([astar(blind())])", '"x"'),
]
MORE_SEARCHES = (
    "iterated([lazy_greedy([ff()]), lazy_wastar([ff()], w=2)], repeat_last=true, continue_on_fail=true)",
    "eager(alt([single(ff()), tiebreaking([sum([g(), hmax()]), hmax()], unsafe_pruning=false)], boost=10))",
    "lazy(single(sum([g(), weight(ff(transform=adapt_costs(plusone)), 3)])), cost_type=one, bound=100)",
    "let(a, ff(), let(b, max([a, const(2)]), eager(single(b), f_eval=b, reopen_closed=true)))",
    "gsp_wastar([gsp(model=auto)], w=1.5)",
)
OPTIONS = (
    ["--heuristic", "hff", "--search", "wastar", "-w", "2"],
    ["--heuristic", "h=ff()", "--search", "eager_greedy([h])"],
    ["--alias", "lama-first"],
    ["--batch-size", "4", "--seed", "3", "--search", "lazy_greedy([ff()])"],
    ["--plan-file", "plan", "--search", "astar(blind())"],
    ["--show-features", "ff", "astar"],
    ["--if-unit-cost", "--search", "astar(blind())", "--if-non-unit-cost", "--search", "astar(hmax())"],
)


def pddl_seeds() -> list[tuple[str, str]]:
    """Domains and problems to start from."""
    generated = (("ferry", 4), ("spanner", 7), ("rovers", 12))
    return [
        (tasks.TOWER_DOMAIN, tasks.TOWER),
        (tasks.COURIER_DOMAIN, tasks.COURIER),
        (tasks.LAMPS_DOMAIN, tasks.lamps(3)),
        (tasks.HOUSE_DOMAIN, tasks.HOUSE),
        *((domain_text(name), generate(name, size, 1)) for name, size in generated),
    ]


def sas_seeds() -> list[bytes]:
    """Tasks of the grounder, and one with conditional effects and axioms."""
    grounded = [tasks.load(*texts).ground().to_sas() for texts in pddl_seeds()]
    three_values = sas.Variable(-1, ("Atom a()", "NegatedAtom a()", "<none of those>"))
    derived = [sas.Variable(layer, ("Atom d()", "NegatedAtom d()")) for layer in (0, 1)]
    task = sas.SasTask(
        variables=(three_values, three_values, *derived),
        initial=(0, 1, 1, 1),
        goal=((0, 2), (3, 0)),
        operators=(
            sas.Operator("move a b", ((0, 0), (2, 1)), (((), 0, 1), (((1, 1),), 1, 2)), 3),
            sas.Operator("Move a-b", ((0, 1),), (((), 0, 2), (((2, 1), (1, 0)), 1, 0)), 1),
        ),
        axioms=((((0, 1),), 2, 0), (((0, 2), (1, 2)), 3, 0)),
        mutex_groups=(((0, 0), (1, 0)),),
        metric=True,
    )
    return [*grounded, sas.write(task)]


class Pddl:
    """gsp-plan with mutated PDDL"""

    name = "pddl"

    def __init__(self) -> None:
        self.seeds = pddl_seeds()

    def case(self, rng: random.Random) -> Case:
        domain, problem = (text.encode() for text in rng.choice(self.seeds))
        which = rng.random()
        if which < 0.6:
            domain = edited(rng, domain, PDDL_TOKENS)
        if which > 0.4:
            problem = edited(rng, problem, PDDL_TOKENS)
        files = {"domain.pddl": domain, "problem.pddl": problem}
        return Case([*files, *LIMITS, "--search", rng.choice(SEARCHES)], files)

    def read(self, case: Case) -> bool:
        return plan(case.arguments)


class Sas:
    """gsp-plan with a mutated SAS file"""

    name = "sas"

    def __init__(self) -> None:
        self.seeds = sas_seeds()

    def case(self, rng: random.Random) -> Case:
        data = edited(rng, rng.choice(self.seeds), SAS_TOKENS)
        return Case(["--search", "output.sas", *LIMITS, "--search", rng.choice(SEARCHES)], {"output.sas": data})

    def read(self, case: Case) -> bool:
        return plan(case.arguments)


class Search:
    """gsp-plan with a mutated search, or with other mutated arguments"""

    name = "search"

    def __init__(self) -> None:
        self.task = tasks.load(tasks.TOWER_DOMAIN, tasks.TOWER).ground().to_sas()

    def case(self, rng: random.Random) -> Case:
        if rng.random() < 0.75:
            arguments = ["--search", rng.choice((*SEARCHES, *MORE_SEARCHES))]
            where = 1
        else:
            arguments = list(rng.choice(OPTIONS))
            where = rng.randrange(len(arguments))
        # No system takes a NUL in an argument; a slash could lead to files that are not of this campaign.
        text = edited(rng, arguments[where].encode(), SEARCH_TOKENS).translate(None, b"\0/")
        arguments[where] = text.decode(errors="surrogateescape")
        return Case(["output.sas", *LIMITS, *arguments], {"output.sas": self.task})

    def read(self, case: Case) -> bool:
        return plan(case.arguments)


class Plans:
    """the validator with mutated plans"""

    name = "plan"
    PLAN = b"(walk home park)\n(lure shop park)\n(walk home hill) ; why\n(pick box hill)\n; cost = 2 (general cost)\n"

    def __init__(self) -> None:
        task = tasks.load(tasks.COURIER_DOMAIN, tasks.COURIER)
        assert task.domain is not None
        assert task.problem is not None
        self.task = task.domain, task.problem

    def case(self, rng: random.Random) -> Case:
        return Case([], {"plan": edited(rng, self.PLAN, ["(", ")", ";", "walk", "home", "?x"])})

    def read(self, case: Case) -> bool:
        try:
            verdict = validate_plan(*self.task, parse_plan(case.files["plan"].decode(errors="replace"), "plan"))
        except InputError:
            return False
        if verdict.valid:
            raise Wrong("a plan that leaves the letter where it is passes as valid")
        return True
