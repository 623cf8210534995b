"""Parses domain and problem files: everything that Fast Downward's translator accepts, as leniently."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from gsp_fd.common.spelling import near_miss
from gsp_fd.pddl.ast import (
    OBJECT,
    Action,
    ConjunctiveEffect,
    Derived,
    Domain,
    FunctionTerm,
    Predicate,
    Problem,
    TypedName,
    supertypes,
)
from gsp_fd.pddl.formulas import TOTAL_COST, FormulaParser, Scope, types_of
from gsp_fd.pddl.reader import SList, fact_words, read_fact, read_file

REQUIREMENTS = (
    ":strips", ":adl", ":typing", ":negation", ":equality", ":negative-preconditions",
    ":disjunctive-preconditions", ":existential-preconditions", ":universal-preconditions",
    ":quantified-preconditions", ":conditional-effects", ":derived-predicates", ":action-costs",
)  # fmt: skip
_DECLARATIONS = (":requirements", ":types", ":constants", ":predicates", ":functions")
_PROBLEM_SECTIONS = (":domain", ":requirements", ":objects", ":init", ":goal", ":metric")
_ACTION_FIELDS = (":parameters", ":precondition", ":effect")
_UNSUPPORTED = {
    ":durative-action": "durative actions",
    ":constraints": "trajectory constraints",
    ":process": "the processes of PDDL+",
    ":event": "the events of PDDL+",
}
_NUMBER = "number"


@contextmanager
def garbage_collection_paused() -> Iterator[None]:
    """No cycle collection: building millions of acyclic objects would only be slowed down by it."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def read_domain(path: str | os.PathLike[str]) -> Domain:
    """Reads a domain file; InputError with file and line if it is not one."""
    file = os.fspath(path)
    return _DomainParser(file).parse(read_file(path))


def read_problem(path: str | os.PathLike[str], domain: Domain) -> Problem:
    """Reads a problem file of ``domain``; InputError with file and line if it is not one."""
    file = os.fspath(path)
    with garbage_collection_paused():
        return _ProblemParser(file, domain).parse(read_file(path))


class _FileParser(FormulaParser):
    def header(self, node: SList, kind: str) -> str:
        """Checks ``(define (kind NAME)`` and returns the name."""
        other = "problem" if kind == "domain" else "domain"
        if node[:1] != ["define"]:
            self.fail(f"expected (define ({kind} NAME) ...)", node.line)
        title = node[1] if len(node) > 1 else None
        if not isinstance(title, SList) or title[:1] != [kind]:
            swapped = isinstance(title, SList) and title[:1] == [other]
            hint = f": this is a {other} file" if swapped else ""
            self.fail(f"expected ({kind} NAME) after 'define'{hint}", node.line)
        return self.one_word(title)

    def one_word(self, node: SList) -> str:
        if len(node) != 2 or not isinstance(node[1], str):
            self.fail(f"expected exactly one word after '{node[0]}'", node.line)
        return node[1]

    def sections(self, node: SList, allowed: tuple[str, ...], repeated: tuple[str, ...]) -> Iterator[SList]:
        """The lists after the header, each checked to start with a known keyword that is allowed there."""
        seen: set[str] = set()
        for index in range(2, len(node)):
            entry, line = node[index], node.item_line(index)
            if not isinstance(entry, SList) or not entry or not isinstance(entry[0], str):
                self.fail(f"expected a list that starts with one of {', '.join(allowed + repeated)}", line)
            keyword = entry[0]
            if keyword not in allowed and keyword not in repeated:
                hint = near_miss(keyword, allowed + repeated)
                hint = "; write (:derived (PREDICATE ?x ...) CONDITION)" if keyword == ":axiom" else hint
                if keyword in _UNSUPPORTED:
                    self.fail(f"'{keyword}': {_UNSUPPORTED[keyword]} are not supported", line)
                self.fail(f"unknown keyword '{keyword}'{hint}", line)
            if keyword in seen and keyword in allowed:
                self.fail(f"second '{keyword}' section", line)
            seen.add(keyword)
            yield entry

    def requirements(self, node: SList) -> tuple[str, ...]:
        for index in range(1, len(node)):
            if not isinstance(node[index], str):
                self.fail("expected a requirement such as :strips, got a list", node.item_line(index))
            if node[index] not in REQUIREMENTS:
                self.warn(f"unknown requirement '{node[index]}' is ignored", node.item_line(index))
        return tuple(node[1:])


class _DomainParser(_FileParser):
    def parse(self, node: SList) -> Domain:
        name = self.header(node, "domain")
        found: dict[str, SList] = {}
        bodies: list[SList] = []
        for entry in self.sections(node, _DECLARATIONS, (":action", ":derived")):
            if entry[0] not in _DECLARATIONS:
                bodies.append(entry)
            elif bodies:
                self.fail(f"'{entry[0]}' must come before the first action", entry.line)
            else:
                found[entry[0]] = entry
        empty = SList([""], node.line)
        requirements = self.requirements(found.get(":requirements", empty))
        self.types = self._types(found.get(":types", empty))
        constants = self.typed_list(found.get(":constants", empty), 1)
        self.predicates = self._signatures(found.get(":predicates", empty), "predicate")
        self.functions = self._signatures(found.get(":functions", empty), "function")
        known = types_of(constants)
        heads = [body[1][0] for body in bodies if body[0] == ":derived" and _is_derived(body)]
        self.derived = frozenset(head for head in heads if isinstance(head, str))
        derived = tuple(self._derived(body, known) for body in bodies if body[0] == ":derived")
        actions = tuple(self._action(body, known) for body in bodies if body[0] == ":action")
        self._warn_about_duplicates(actions)
        return Domain(
            name, requirements, self.types, constants, self.predicates, self.functions, actions, derived,
            self.file, tuple(self.warnings),
        )  # fmt: skip

    def _types(self, node: SList) -> dict[str, tuple[str, ...]]:
        """Direct supertypes of every type; a type declared twice has the supertypes of both."""
        types: dict[str, tuple[str, ...]] = {}
        lines: dict[str, int] = {}
        pending: list[int] = []
        index = 1
        while index < len(node):
            if node[index] != "-":
                pending.append(index)
                index += 1
                continue
            parents = self._parents(node, index + 1)
            self._declare_types(node, pending, parents, types, lines)
            pending = []
            index += 2
        self._declare_types(node, pending, (OBJECT,), types, lines)
        for parent in [parent for parents in types.values() for parent in parents]:
            if parent != OBJECT:
                types.setdefault(parent, (OBJECT,))
        for name, line in lines.items():
            if any(name in supertypes(types, parent) for parent in types[name] if name != OBJECT):
                self.fail(f"type '{name}' is its own supertype", line)
        types.pop(OBJECT, None)
        return types

    def _parents(self, node: SList, index: int) -> tuple[str, ...]:
        if index >= len(node):
            self.fail("type missing after '-'", node.item_line(index - 1))
        item = node[index]
        names = [item] if isinstance(item, str) else list(item[1:]) if item[:1] == ["either"] else []
        if not names or not all(isinstance(name, str) for name in names):
            self.fail("expected a type after '-'", node.item_line(index))
        return tuple(names)

    def _declare_types(
        self,
        node: SList,
        indices: list[int],
        parents: tuple[str, ...],
        types: dict[str, tuple[str, ...]],
        lines: dict[str, int],
    ) -> None:
        for index in indices:
            name = node[index]
            if not isinstance(name, str):
                self.fail("expected the name of a type, got a list", node.item_line(index))
            if name == _NUMBER:
                self.fail("type 'number' is reserved", node.item_line(index))
            types[name] = tuple(dict.fromkeys((*types.get(name, ()), *parents)))
            lines[name] = node.item_line(index)

    def _signatures(self, node: SList, kind: str) -> dict[str, Predicate]:
        """Declared predicates, or functions (with an optional ``- number`` after each)."""
        result: dict[str, Predicate] = {}
        index = 1
        while index < len(node):
            item, line = node[index], node.item_line(index)
            if kind == "function" and item == "-" and index > 1:
                if node[index + 1 : index + 2] != [_NUMBER]:
                    self.fail("only functions of type 'number' are supported", line)
                index += 2
                continue
            if not isinstance(item, SList) or not item or not isinstance(item[0], str):
                self.fail(f"expected ({kind.upper()} ?PARAMETER...) in the declaration of a {kind}", line)
            name = item[0]
            if name in result:
                self.warn(f"{kind} '{name}' is declared twice: the last declaration counts", line)
            parameters = self.typed_list(item, 1, variables=True, either=True, signature=True)
            result[name] = Predicate(name, parameters, line)
            index += 1
        result.pop("=", None)
        return result

    def _action(self, node: SList, constants: Scope) -> Action:
        if len(node) < 2 or not isinstance(node[1], str):
            self.fail("expected the name of the action after ':action'", node.line)
        fields: dict[str, SList] = {}
        for index in range(2, len(node), 2):
            keyword, line = node[index], node.item_line(index)
            if not isinstance(keyword, str):
                self.fail(f"action '{node[1]}': expected a keyword such as :effect, got a list", line)
            if keyword not in _ACTION_FIELDS:
                hint = near_miss(keyword, _ACTION_FIELDS)
                self.fail(f"action '{node[1]}': unknown keyword '{keyword}'{hint}", line)
            if keyword in fields:
                self.fail(f"action '{node[1]}' has two '{keyword}' fields", line)
            if index + 1 == len(node) or not isinstance(node[index + 1], SList):
                self.fail(f"action '{node[1]}': expected a list after '{keyword}'", line)
            fields[keyword] = node[index + 1]
        if ":effect" not in fields:
            self.fail(f"action '{node[1]}' has no :effect", node.line)
        parameters = self.typed_list(fields.get(":parameters", SList([], node.line)), 0, variables=True, either=True)
        known = {**constants, **types_of(parameters)}
        precondition = self.condition(fields.get(":precondition", SList([], node.line)), known)
        costs: list[int | FunctionTerm] = []
        effect = fields[":effect"]
        parsed = self.effect(effect, known, costs) if effect else ConjunctiveEffect((), effect.line)
        return Action(node[1], parameters, precondition, parsed, costs[-1] if costs else None, node.line)

    def _derived(self, node: SList, constants: Scope) -> Derived:
        if not _is_derived(node):
            self.fail("expected (:derived (PREDICATE ?x ...) CONDITION)", node.line)
        head = node[1]
        parameters = self.typed_list(head, 1, variables=True, either=True)
        known = {**constants, **types_of(parameters)}
        self.atom(SList([head[0], *(parameter.name for parameter in parameters)], head.line), known)
        return Derived(head[0], parameters, self.condition(node[2], known), node.line)

    def _warn_about_duplicates(self, actions: tuple[Action, ...]) -> None:
        seen: set[str] = set()
        for action in actions:
            if action.name in seen:
                self.warn(f"duplicate action '{action.name}'", action.line)
            seen.add(action.name)


def _is_derived(node: SList) -> bool:
    return len(node) == 3 and all(isinstance(item, SList) for item in node[1:]) and bool(node[1])


class _ProblemParser(_FileParser):
    def __init__(self, file: str, domain: Domain) -> None:
        super().__init__(file)
        self.domain = domain
        self.types, self.predicates, self.functions = domain.types, domain.predicates, domain.functions
        self.derived = frozenset(rule.predicate for rule in domain.derived)

    def parse(self, node: SList) -> Problem:
        name = self.header(node, "problem")
        found = {entry[0]: entry for entry in self.sections(node, _PROBLEM_SECTIONS, ())}
        for keyword in (":domain", ":init", ":goal"):
            if keyword not in found:
                self.fail(f"the problem has no {keyword} section", node.line)
        domain_name = self.one_word(found[":domain"])
        if domain_name != self.domain.name:
            given = self.domain.name
            self.fail(f"the problem is for domain '{domain_name}', not for '{given}'", found[":domain"].line)
        if ":requirements" in found:
            self.requirements(found[":requirements"])
        objects, names = self._objects(found.get(":objects"))
        init, values = self._init(found[":init"], names)
        goal = found[":goal"]
        if len(goal) != 2 or not isinstance(goal[1], SList) or not goal[1]:
            self.fail("expected one non-empty condition after ':goal'", goal.line)
        condition = self.condition(goal[1], types_of((*self.domain.constants, *objects)))
        return Problem(
            name, domain_name, objects, init, values, condition, self._metric(found.get(":metric")),
            self.file, tuple(self.warnings),
        )  # fmt: skip

    def _objects(self, node: SList | None) -> tuple[tuple[TypedName, ...], dict[str, str]]:
        """The objects, and the names of all constants and objects, each mapped to itself."""
        objects = self.typed_list(node, 1) if node else ()
        names = {constant.name: constant.name for constant in self.domain.constants}
        for item in objects:
            if item.name in names:
                assert node is not None
                line = node.item_line(node.index(item.name, 1))
                self.fail(f"object '{item.name}' is already a constant of the domain", line)
            names[item.name] = item.name
        return objects, names

    def _init(
        self, node: SList, names: dict[str, str]
    ) -> tuple[tuple[tuple[str, ...], ...], dict[tuple[str, ...], int]]:
        sizes = {name: item.arity + 1 for name, item in self.predicates.items() if name not in self.derived}
        atoms: list[tuple[str, ...]] = []
        false_atoms: dict[tuple[str, ...], int] = {}
        values: dict[tuple[str, ...], int] = {}
        for index in range(1, len(node)):
            fact = node[index]
            if fact.__class__ is str and fact[0] == "(":
                words = fact_words(fact)
                try:
                    if sizes[words[0]] == len(words):
                        atoms.append((words[0], *[names[word] for word in words[1:]]))
                        continue
                except LookupError:
                    pass
                fact = read_fact(fact, node.item_line(index))
            if not isinstance(fact, SList) or not fact:
                self.fail("expected a fact in :init", node.item_line(index))
            if fact[0] == "=":
                self._value(fact, values, names)
            elif fact[0] == "not":
                if len(fact) != 2 or not isinstance(fact[1], SList) or not fact[1]:
                    self.fail("'not' in :init takes one atom", fact.line)
                false_atoms[self._fact(fact[1], names)] = fact.line
            else:
                atoms.append(self._fact(fact, names))
        return self._unique(atoms, false_atoms, node.line), values

    def _fact(self, fact: SList, names: Mapping[str, str]) -> tuple[str, ...]:
        atom = self.atom(fact, names)
        if atom.predicate in self.derived:
            self.fail(f"derived predicate '{atom.predicate}' cannot be given in :init", fact.line)
        return (atom.predicate, *atom.args)

    def _unique(
        self, atoms: list[tuple[str, ...]], false_atoms: Mapping[tuple[str, ...], int], line: int
    ) -> tuple[tuple[str, ...], ...]:
        unique = dict.fromkeys(atoms)
        if len(unique) != len(atoms):
            self.warn(f"{len(atoms) - len(unique)} fact(s) of :init are given more than once", line)
        for atom, where in false_atoms.items():
            if atom in unique:
                self.fail(f"({' '.join(atom)}) is both true and false in :init", where)
        return tuple(unique)

    def _value(self, fact: SList, values: dict[tuple[str, ...], int], names: Mapping[str, str]) -> None:
        if len(fact) != 3:
            self.fail("expected (= (FUNCTION OBJECT...) NUMBER)", fact.line)
        term = [fact[1]] if isinstance(fact[1], str) else fact[1]
        if not term or not all(isinstance(word, str) for word in term):
            self.fail("expected (= (FUNCTION OBJECT...) NUMBER)", fact.line)
        if isinstance(fact[1], str) and fact[1] in names:
            self.fail("'=' between objects is not allowed in :init", fact.line)
        if term[0] in self.functions:
            self.check_arity(SList(term, fact.line), self.functions[term[0]], "function")
        elif term[0] != TOTAL_COST:
            hint = self.hint(term[0], self.functions)
            self.warn(f"function '{term[0]}' is not declared{hint}", fact.line)
        for word in term[1:]:
            # Fast Downward never looks at these arguments.
            if word not in names:
                self.warn(f"undefined object '{word}'{self.hint(word, names)}", fact.line)
        key, value = tuple(term), self.number(fact[2], fact.item_line(2))
        if values.setdefault(key, value) != value:
            self.fail(f"({' '.join(key)}) is given two different values in :init", fact.line)

    def _metric(self, node: SList | None) -> bool:
        if node is None:
            return False
        if list(node[1:]) != ["minimize", [TOTAL_COST]]:
            self.fail("only the metric (:metric minimize (total-cost)) is supported", node.line)
        return True


__all__ = ["garbage_collection_paused", "read_domain", "read_problem"]
