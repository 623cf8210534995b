"""Conditions as alternatives, each a conjunction of literals, as the lifted engine takes them.

What is no such thing becomes an auxiliary derived predicate, as in Fast Downward's translator: ``forall x. f`` is
the negation of a predicate that says where ``f`` does not hold. Existential variables become variables of the
conjunction.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from gsp_fd.pddl.ast import And, Atom, Condition, Equality, Exists, Forall, Not, Or, TypedName
from gsp_fd.pddl.literals import ContradictionError, GroundAtom, Literals
from gsp_fd.pddl.rules import Literal, Rule

AUXILIARY = "@aux-"
"""Starts the names of predicates that stand for parts of conditions."""
MAX_ALTERNATIVES = 64
"""Of a condition; where there would be more, a part of it becomes an auxiliary predicate."""


@dataclass(frozen=True, slots=True)
class Variables:
    """The names that a condition may use, and the types of the variables that rules made of it have.

    ``terms`` is the term of every name, ``named`` the type of every variable among them, ``types`` the type of every
    term that is a variable; it is shared by all that is inside the same rule, and grows.
    """

    terms: Mapping[str, int]
    named: Mapping[str, int]
    types: list[int]

    def extended(self, variables: Sequence[TypedName], types: Sequence[int]) -> Variables:
        """With more variables, each a term of its own."""
        names = [variable.name for variable in variables]
        first = len(self.types)
        self.types.extend(types)
        terms = {name: first + index for index, name in enumerate(names)}
        return Variables({**self.terms, **terms}, {**self.named, **dict(zip(names, types, strict=True))}, self.types)

    def instance(self, variables: Sequence[TypedName], types: Sequence[int], objects: Sequence[int]) -> Variables:
        """With more variables, which stand for objects."""
        names = [variable.name for variable in variables]
        terms = {name: -index - 1 for name, index in zip(names, objects, strict=True)}
        return Variables({**self.terms, **terms}, {**self.named, **dict(zip(names, types, strict=True))}, self.types)


TRUE: list[Literals] = [Literals()]
Guard: TypeAlias = tuple[GroundAtom, ...]
"""Atoms over terms."""


@dataclass(slots=True)
class NormalForm:
    """Alternatives of the conditions of one task; ``rules`` are those of the auxiliary predicates made on the way.

    ``basic`` are the predicates that no rule derives.
    """

    predicates: dict[str, int]
    predicate_types: list[tuple[int, ...]]
    members: Sequence[tuple[int, ...]]
    types_of: Callable[[Sequence[TypedName]], tuple[int, ...]]
    constants: Mapping[str, int]
    basic: Container[int]
    rules: list[Rule] = field(default_factory=list)
    _known: dict[tuple[int, bool, Guard], int] = field(default_factory=dict)
    _never: set[int] = field(default_factory=set)
    """Auxiliary predicates of conditions that cannot hold."""

    # Each level of nesting costs one Python frame, and a quantifier a few, see reader.MAX_DEPTH.

    def alternatives(
        self, condition: Condition, scope: Variables, negated: bool = False, guard: Guard = ()
    ) -> list[Literals]:
        """The conjunctions of which one must hold; none if the condition can never hold.

        ``guard`` holds wherever it matters whether the condition does.
        """
        if isinstance(condition, Not):
            return self.alternatives(condition.part, scope, not negated, guard)
        if isinstance(condition, (And, Or)):
            if isinstance(condition, And) != negated:
                return self._conjunction(condition.parts, scope, negated)
            found = [item for part in condition.parts for item in self.alternatives(part, scope, negated)]
            found = _weakest(found)
            return [self.auxiliary(condition, scope, negated)] if len(found) > MAX_ALTERNATIVES else found
        if isinstance(condition, (Forall, Exists)):
            types = self.types_of(condition.variables)
            if isinstance(condition, Exists) == negated:
                return self._universal(condition, types, scope, negated, guard)
            if not all(self.members[kind] for kind in types):
                return []
            return self.alternatives(condition.part, scope.extended(condition.variables, types), negated)
        result = Literals()
        try:
            if isinstance(condition, Atom):
                args = tuple([scope.terms[name] for name in condition.args])
                result.add((self.predicates[condition.predicate], args), negated)
            else:
                result.compare(scope.terms[condition.left], scope.terms[condition.right], negated)
        except ContradictionError:
            return []
        return [result]

    def _conjunction(self, parts: Sequence[Condition], scope: Variables, negated: bool) -> list[Literals]:
        result = TRUE
        # Universal parts last: their rules need look only where everything else may hold.
        for part in sorted(parts, key=lambda part: is_universal(part, negated)):
            guard = result[0].positive if is_universal(part, negated) and len(result) == 1 else {}
            further = self.alternatives(part, scope, negated, tuple(guard))
            if len(result) * len(further) > MAX_ALTERNATIVES:
                further = [self.auxiliary(part, scope, negated)]
            result = conjunction(result, further)
        return result

    def _universal(
        self, condition: Forall | Exists, types: Sequence[int], scope: Variables, negated: bool, guard: Guard
    ) -> list[Literals]:
        if not all(self.members[kind] for kind in types):
            return TRUE
        violated = self.auxiliary(condition, scope, not negated, guard)
        (atom,) = violated.positive
        return TRUE if atom[0] in self._never else [Literals(negative={atom: None})]

    def auxiliary(self, condition: Condition, scope: Variables, negated: bool, guard: Guard = ()) -> Literals:
        """The condition, negated or not, as one atom of a derived predicate over its free variables."""
        free = tuple(name for name in dict.fromkeys(free_names(condition)) if name in scope.named)
        place = {scope.terms[name]: index for index, name in enumerate(free)}
        # Guards of derived predicates could make a circle of rules.
        kept = [atom for atom in guard if atom[0] in self.basic and all(term in place or term < 0 for term in atom[1])]
        atoms = [_renamed(atom, place) for atom in kept]
        key = (id(condition), negated, tuple(atoms))
        if key not in self._known:
            types = [scope.named[name] for name in free]
            predicate = self.new_predicate(str(len(self._known)), tuple(types))
            self._known[key] = predicate
            own = Variables(self.constants, {}, []).extended([TypedName(name) for name in free], types)
            head = (predicate, tuple(range(len(free))))
            if isinstance(condition, (And, Or)) and isinstance(condition, And) == negated:
                bodies = [item for part in condition.parts for item in self.alternatives(part, own, negated)]
            else:
                bodies = self.alternatives(condition, own, negated)
            bodies = conjunction(bodies, [Literals(positive=dict.fromkeys(atoms))])
            if not bodies:
                self._never.add(predicate)
            self.rules += [rule for body in bodies for rule in self.rule(own.types, len(free), body, [head])]
        return Literals(positive={(self._known[key], tuple(scope.terms[name] for name in free)): None})

    def new_predicate(self, name: str, types: tuple[int, ...]) -> int:
        """The index of an auxiliary predicate of this name and these types, which is made."""
        index = len(self.predicates)
        while AUXILIARY + name in self.predicates:
            name += "@"
        self.predicates[AUXILIARY + name] = index
        self.predicate_types.append(types)
        return index

    def rule(
        self,
        types: Sequence[int],
        fixed: int,
        condition: Literals,
        add: Iterable[GroundAtom] = (),
        delete: Iterable[GroundAtom] = (),
    ) -> Iterator[Rule]:
        """The rule of a conjunction whose first ``fixed`` terms are parameters that stay; none if it can never hold.

        Other variables that nothing mentions are left out; those that are said to be equal to a term become that term.
        """
        literals = condition
        names: dict[int, int] = {}
        try:
            while (pair := self._replaceable(types, fixed, literals.equal)) is not None:
                names = {**{old: (pair[1] if new == pair[0] else new) for old, new in names.items()}, pair[0]: pair[1]}
                literals = literals.renamed(dict([pair]))
        except ContradictionError:
            return
        changed = [[_renamed(atom, names) for atom in part] for part in (add, delete)]
        used = dict.fromkeys(range(fixed))
        for atoms in (literals.positive, literals.negative, *changed):
            used.update((term, None) for _, args in atoms for term in args if term >= 0)
        for pairs in (literals.equal, literals.unequal):
            used.update((term, None) for two in pairs for term in two if term >= 0)
        place = {term: index for index, term in enumerate(used)}

        def placed(atoms: Iterable[GroundAtom]) -> tuple[Literal, ...]:
            return tuple(Literal(predicate, tuple(place.get(t, t) for t in args)) for predicate, args in atoms)

        def placed_pairs(two: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
            return tuple((place.get(a, a), place.get(b, b)) for a, b in two)

        yield Rule(
            tuple(types[term] for term in used),
            placed(literals.positive),
            placed(literals.negative),
            placed_pairs(literals.equal),
            placed_pairs(literals.unequal),
            placed(changed[0]),
            placed(changed[1]),
        )

    def _replaceable(
        self, types: Sequence[int], fixed: int, equal: Iterable[tuple[int, int]]
    ) -> tuple[int, int] | None:
        """A variable that need not be there, because it is another term of its type; ContradictionError if of none."""
        for pair in equal:
            for variable, other in (pair, pair[::-1]):
                if variable < fixed:
                    continue
                allowed = self.members[types[variable]]
                if other < 0 and -other - 1 not in allowed:
                    raise ContradictionError
                if other < 0 or types[other] == types[variable] or set(self.members[types[other]]) <= set(allowed):
                    return variable, other
        return None


def conjunction(left: list[Literals], right: list[Literals]) -> list[Literals]:
    """What holds where one of the left and one of the right alternatives do."""
    if right == TRUE:
        return left
    result = []
    for first in left:
        for second in right:
            both = first.copy()
            try:
                both.update(second)
            except ContradictionError:
                continue
            result.append(both)
    return _weakest(result) if len(right) > 1 else result


def _weakest(found: list[Literals]) -> list[Literals]:
    """Without those that imply another one, which is enough."""
    if len(found) > MAX_ALTERNATIVES**2:
        return found
    return [
        item
        for index, item in enumerate(found)
        if not any(
            item.implies(other) and (place < index or not other.implies(item))
            for place, other in enumerate(found)
            if place != index
        )
    ]


def _renamed(atom: GroundAtom, names: Mapping[int, int]) -> GroundAtom:
    return atom[0], tuple(names.get(term, term) for term in atom[1])


def is_universal(condition: Condition, negated: bool) -> bool:
    """Whether a condition, negated or not, is one about all values of some variables."""
    while isinstance(condition, Not):
        condition, negated = condition.part, not negated
    return isinstance(condition, Exists if negated else Forall)


def free_names(condition: Condition) -> Iterator[str]:
    """The names that a condition uses and does not bind, with repetitions."""
    if isinstance(condition, Atom):
        yield from condition.args
    elif isinstance(condition, Equality):
        yield from (condition.left, condition.right)
    elif isinstance(condition, Not):
        yield from free_names(condition.part)
    elif isinstance(condition, (And, Or)):
        for part in condition.parts:
            yield from free_names(part)
    else:
        bound = {variable.name for variable in condition.variables}
        yield from (name for name in free_names(condition.part) if name not in bound)
