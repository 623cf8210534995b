"""Parses typed lists, conditions and effects, and checks every name in them against what is declared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from gsp_fd.common.errors import InputError
from gsp_fd.common.spelling import near_miss
from gsp_fd.pddl.ast import (
    OBJECT,
    And,
    Atom,
    Condition,
    ConditionalEffect,
    ConjunctiveEffect,
    Effect,
    Equality,
    Exists,
    Forall,
    FunctionTerm,
    Not,
    Or,
    Predicate,
    SimpleEffect,
    TypedName,
    UniversalEffect,
    supertypes,
)
from gsp_fd.pddl.reader import SList

TOTAL_COST = "total-cost"
MAX_COST = 2**31 - 1
"""Of an action, as in Fast Downward."""
MAX_HINTS = 20
"""Warnings of a file that guess what was meant: each guess compares a name with all others."""
_CONNECTIVES = ("and", "or", "not", "imply", "forall", "exists")
_COMPARISONS = (">", ">=", "<", "<=")
_MODAL = ("always", "sometime", "within", "at-most-once", "sometime-after", "sometime-before", "always-within")
_UNSUPPORTED = {
    "preference": "preferences",
    **dict.fromkeys((*_MODAL, "hold-during", "hold-after"), "trajectory constraints"),
}
"""What a condition may start with in other versions of PDDL, unless it is a predicate."""
Scope = Mapping[str, tuple[str, ...]]
"""The variables and objects that a formula may name, with their types."""
_TIMES = (("at", "start"), ("at", "end"), ("over", "all"))


def _unsupported(tag: str, node: SList) -> str | None:
    """What a condition that starts like this would be in another version of PDDL."""
    if len(node) > 1 and (tag, node[1]) in _TIMES:
        return "durative conditions"
    return _UNSUPPORTED.get(tag)


def types_of(names: Iterable[TypedName]) -> dict[str, tuple[str, ...]]:
    """The types of declared names."""
    return {item.name: item.types for item in names}


class FormulaParser:
    """What is declared so far in one file, and the parsing of formulas against it."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.types: Mapping[str, tuple[str, ...]] = {}
        self.predicates: Mapping[str, Predicate] = {}
        self.functions: Mapping[str, Predicate] = {}
        self.derived: frozenset[str] = frozenset()
        self.warnings: list[str] = []
        self._overlaps: dict[tuple[tuple[str, ...], tuple[str, ...]], bool] = {}

    def fail(self, message: str, line: int | None) -> NoReturn:
        raise InputError(message, self.file, line)

    def hint(self, name: str, known: Iterable[str]) -> str:
        """What was probably meant, unless there are too many warnings already."""
        return near_miss(name, known) if len(self.warnings) < MAX_HINTS else ""

    def warn(self, message: str, line: int) -> None:
        self.warnings.append(f"{self.file}:{line}: {message}")

    # -- typed lists

    def typed_list(
        self,
        node: SList,
        start: int,
        *,
        variables: bool = False,
        either: bool = False,
        signature: bool = False,
    ) -> tuple[TypedName, ...]:
        """``a b - t c`` from item ``start`` on; names are unique, and all types are declared.

        In the ``signature`` of a predicate neither matters, and Fast Downward looks at neither.
        """
        result: list[TypedName] = []
        pending: list[str] = []
        seen: set[str] = set()
        index = start
        while index < len(node):
            item = node[index]
            if item == "-":
                types = self._type_names(node, index + 1, either, signature)
                result += [TypedName(name, types) for name in pending]
                pending = []
                index += 2
                continue
            if not isinstance(item, str):
                self.fail("expected a name, got a list", item.line)
            if variables != item.startswith("?"):
                wanted = "a variable that starts with '?'" if variables else "a name without '?'"
                self.fail(f"expected {wanted}, got '{item}'", node.item_line(index))
            if item in seen and not signature:
                what = "parameter" if variables else "object"
                self.fail(f"duplicate {what} '{item}'", node.item_line(index))
            seen.add(item)
            pending.append(item)
            index += 1
        return (*result, *(TypedName(name) for name in pending))

    def _type_names(self, node: SList, index: int, either: bool, signature: bool) -> tuple[str, ...]:
        if index >= len(node):
            self.fail("type missing after '-'", node.item_line(index - 1))
        item, line = node[index], node.item_line(index)
        if isinstance(item, str):
            names = [item]
        elif len(item) >= 2 and item[0] == "either":
            names = item[1:]
            if not either:
                self.fail("(either ...) is not allowed here: an object has one type", line)
        else:
            self.fail("expected a type or (either TYPE...) after '-'", line)
        for name in names:
            if not isinstance(name, str):
                self.fail("expected the name of a type, got a list", line)
            if name != OBJECT and name not in self.types:
                message = f"undefined type '{name}'{self.hint(name, self.types)}"
                if not signature:
                    self.fail(message, line)
                self.warn(message, line)
                return (OBJECT,)
        return tuple(dict.fromkeys(names))

    # -- terms and atoms

    def _terms(self, node: SList, known: Mapping[str, Any]) -> tuple[str, ...]:
        for index in range(1, len(node)):
            term = node[index]
            if not isinstance(term, str):
                self.fail(f"expected a variable or object as argument {index} of '{node[0]}'", term.line)
            if term not in known:
                what = "variable" if term.startswith("?") else "object"
                line = node.item_line(index)
                self.fail(f"undefined {what} '{term}'{near_miss(term, known)}", line)
        return tuple(node[1:])

    def check_arity(self, node: SList, declared: Predicate, kind: str = "predicate") -> None:
        """Fails unless ``node`` has as many arguments as the declaration."""
        given = len(node) - 1
        if given != declared.arity:
            wanted = f"{declared.arity} argument{'s' * (declared.arity != 1)}"
            self.fail(f"{kind} '{node[0]}' takes {wanted}, got {given}", node.line)

    def atom(self, node: SList, known: Mapping[str, Any]) -> Atom:
        """``(predicate term...)`` with a declared predicate, known terms and the right arity."""
        name = node[0]
        if not isinstance(name, str):
            self.fail("expected the name of a predicate, got a list", node.line)
        declared = self.predicates.get(name)
        if declared is None and name in _COMPARISONS:
            self._fail_on_numbers(name, node.line)
        if declared is None:
            hint = near_miss(name, [*self.predicates, *_CONNECTIVES])
            hint = f"; '{name}' is a type" if name in self.types else hint
            self.fail(f"undefined predicate '{name}'{hint}", node.line)
        terms = self._terms(node, known)
        self.check_arity(node, declared)
        return Atom(name, terms, node.line)

    def typed_atom(self, node: SList, known: Scope) -> Atom:
        """The same with a warning for arguments of a wrong type, which Fast Downward does not look at."""
        atom = self.atom(node, known)
        for index, parameter in enumerate(self.predicates[atom.predicate].parameters, 1):
            types = known[node[index]]
            if not self._overlap(types, parameter.types):
                wanted, given = (" or ".join(names) for names in (parameter.types, types))
                message = f"argument {index} of '{atom.predicate}' is of type {wanted}, but '{node[index]}' of {given}"
                self.warn(message, node.item_line(index))
        return atom

    def _overlap(self, types: tuple[str, ...], others: tuple[str, ...]) -> bool:
        """Whether an object can be of both."""
        if (types, others) not in self._overlaps:
            chains = (supertypes(self.types, name) for name in (OBJECT, *self.types))
            found = any(not {*types}.isdisjoint(chain) and not {*others}.isdisjoint(chain) for chain in chains)
            self._overlaps[types, others] = found
        return self._overlaps[types, others]

    def _fail_on_numbers(self, comparison: str, line: int) -> NoReturn:
        message = (
            f"numeric fluents are not supported: '{comparison}' compares numbers; functions may only be action costs"
        )
        self.fail(message, line)

    # -- conditions. Each level of nesting costs one Python frame, see reader.MAX_DEPTH.

    def condition(self, node: SList, known: Scope) -> Condition:
        """A precondition, goal or condition of an effect; ``()`` is true."""
        if not node:
            return And((), node.line)
        tag, line = node[0], node.line
        if tag not in _CONNECTIVES:
            if tag != "=":
                if isinstance(tag, str) and tag not in self.predicates and (what := _unsupported(tag, node)):
                    self.fail(f"'{tag}': {what} are not supported", line)
                return self.typed_atom(node, known)
            if len(node) != 3:
                self.fail(f"'=' takes 2 arguments, got {len(node) - 1}", line)
            if any(isinstance(term, SList) for term in node):
                self._fail_on_numbers("=", line)
            left, right = self._terms(node, known)
            return Equality(left, right, line)
        first = 1
        if tag in ("forall", "exists"):
            variables, first = self._quantifier(node), 2
            known = {**known, **types_of(variables)}
        if tag in ("not", "imply") and len(node) != (2 if tag == "not" else 3):
            self.fail(f"'{tag}' takes {1 if tag == 'not' else 2} argument(s), got {len(node) - 1}", line)
        parts: list[Condition] = []
        for index in range(first, len(node)):
            if not isinstance(node[index], SList) or not node[index]:
                self.fail(f"argument {index} of '{tag}' must be a non-empty list", node.item_line(index))
            parts.append(self.condition(node[index], known))
        if tag == "and":
            return And(tuple(parts), line)
        if tag == "or":
            return Or(tuple(parts), line)
        if tag == "not":
            return Not(parts[0], line)
        if tag == "imply":
            return Or((Not(parts[0], line), parts[1]), line)
        return (Forall if tag == "forall" else Exists)(variables, parts[0], line)

    def _quantifier(self, node: SList, *, may_be_empty: bool = False) -> tuple[TypedName, ...]:
        if len(node) != 3 or not isinstance(node[1], SList) or not (node[1] or may_be_empty):
            self.fail(f"'{node[0]}' takes a list of variables and a formula", node.line)
        return self.typed_list(node[1], 0, variables=True, either=True)

    # -- effects

    def effect(self, node: SList, known: Scope, costs: list[int | FunctionTerm] | None) -> Effect:
        """An effect; what it adds to total-cost goes to ``costs`` (None where that is not allowed)."""
        if not node:
            self.fail("an effect must be a non-empty list", node.line)
        tag, line = node[0], node.line
        if tag == "and":
            parts: list[Effect] = []
            for index in range(1, len(node)):
                child = self._sublist(node, index)
                if child and child[0] == "increase":
                    self._increase(child, known, costs)
                else:
                    parts.append(self.effect(child, known, costs))
            return ConjunctiveEffect(tuple(parts), line)
        if tag == "forall":
            variables = self._quantifier(node, may_be_empty=True)
            known = {**known, **types_of(variables)}
            return UniversalEffect(variables, self.effect(self._sublist(node, 2), known, None), line)
        if tag == "when":
            if len(node) != 3:
                self.fail("'when' takes a condition and an effect", line)
            condition = self.condition(self._sublist(node, 1), known)
            return ConditionalEffect(condition, self.effect(self._sublist(node, 2), known, None), line)
        if tag == "increase":
            self._increase(node, known, costs)
            return ConjunctiveEffect((), line)
        return self._simple_effect(node, known)

    def _sublist(self, node: SList, index: int) -> SList:
        child = node[index]
        if not isinstance(child, SList):
            self.fail(f"argument {index} of '{node[0]}' must be a list, got '{child}'", node.item_line(index))
        return child

    def _simple_effect(self, node: SList, known: Scope) -> SimpleEffect:
        negated, inner = node[0] == "not", node
        if negated:
            if len(node) != 2 or not isinstance(node[1], SList) or not node[1]:
                self.fail("'not' in an effect takes one atom", node.line)
            inner = node[1]
        if inner[0] in ("decrease", "assign", "scale-up", "scale-down"):
            self.fail(f"numeric effect '{inner[0]}' is not supported: only (increase (total-cost) ...)", inner.line)
        if inner[0] == "=" or inner[0] in _CONNECTIVES:
            self.fail(f"'{inner[0]}' is not allowed here in an effect", inner.line)
        atom = self.typed_atom(inner, known)
        if atom.predicate in self.derived:
            self.fail(f"derived predicate '{atom.predicate}' cannot be changed by an effect", inner.line)
        return SimpleEffect(atom, negated, node.line)

    def _increase(self, node: SList, known: Mapping[str, Any], costs: list[int | FunctionTerm] | None) -> None:
        if len(node) != 3 or node[1] != [TOTAL_COST]:
            self.fail("expected (increase (total-cost) VALUE): no other function can be changed", node.line)
        if costs is None:
            self.fail("total-cost cannot be increased inside 'when' or 'forall'", node.line)
        if costs:
            self.warn("total-cost is increased more than once: only the last one counts", node.line)
        value = node[2]
        costs.append(
            self.number(value, node.item_line(2))
            if isinstance(value, str) and not value[0].isalpha()
            else self._function_term(node, value, known)
        )

    def _function_term(self, node: SList, value: Any, known: Mapping[str, Any]) -> FunctionTerm:
        term = SList([value], node.item_line(2)) if isinstance(value, str) else value
        if not term or not isinstance(term[0], str):
            self.fail("expected a number or (FUNCTION TERM...)", node.line)
        if term[0] == TOTAL_COST or term[0] in ("+", "-", "*", "/"):
            self.fail(f"'{term[0]}' is not supported in a cost: expected a number or (FUNCTION TERM...)", term.line)
        if term[0] in self.functions:
            self.check_arity(term, self.functions[term[0]], "function")
        else:
            hint = self.hint(term[0], self.functions)
            self.warn(f"function '{term[0]}' is not declared{hint}", term.line)
        return FunctionTerm(term[0], self._terms(term, known), term.line)

    def number(self, text: Any, line: int) -> int:
        """A non-negative integer, which is all that Fast Downward takes."""
        if isinstance(text, str) and text.isdigit():
            digits = text.lstrip("0")
            if len(digits) > len(str(MAX_COST)) or int(digits or 0) > MAX_COST:
                self.fail(f"the number {text[:20]} is too large: costs are at most {MAX_COST}", line)
            return int(digits or 0)
        shown = f"'{text}'" if isinstance(text, str) else "a list"
        reason = "expected a non-negative integer"
        if isinstance(text, str) and text.startswith("-"):
            reason = "negative numbers are not supported"
        elif isinstance(text, str) and text.replace(".", "").isdigit():
            reason = "fractional numbers are not supported"
        raise InputError(f"{reason}, got {shown}", self.file, line)
