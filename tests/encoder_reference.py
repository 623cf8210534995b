"""What the encoder makes of states, in plain Python: nodes are objects, the global one, actions, operators of plans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from reference import Action, Atom

from gsp_fd import _core as core
from gsp_fd.model_format import ModelMetadata
from gsp_fd.pddl import LiftedTask

Rows = list[tuple[int, ...]]


def fluent_atoms(task: LiftedTask, space: core.LiftedSpace, state: int) -> set[Atom]:
    flat = space.export_state(state).tolist()
    atoms = set()
    while flat:
        width = 1 + task.arities[flat[0]]
        atoms.add((flat[0], tuple(flat[1:width])))
        flat = flat[width:]
    return atoms


def surroundings(task: LiftedTask, atoms: set[Atom], o: int) -> Counter[object]:
    """All that is said about an object, with the object itself left out: equal for interchangeable objects."""
    said: list[tuple[object, tuple[int, ...]]] = [
        *((("atom", predicate), args) for predicate, args in atoms),
        *((("goal", predicate), args) for predicate, args in task.goal_positive),
        *((("not goal", predicate), args) for predicate, args in task.goal_negative),
        *((("type", t), (member,)) for t, members in enumerate(task.type_members) for member in members),
        *((("value", f, v), args) for f, values in enumerate(task.function_values) for args, v in values.items()),
    ]
    for schema in task.schemas:
        literals = [*schema.positive, *schema.negative, *schema.add, *schema.delete]
        terms = [literal.args for literal in literals] + [args for _, args in schema.cost_terms]
        named = {term for args in [*terms, *schema.equal, *schema.unequal] for term in args if term < 0}
        said += [(("named", term), (-term - 1,)) for term in named]
    return Counter((what, tuple(None if arg == o else arg for arg in args)) for what, args in said if o in args)


@dataclass
class EncodedState:
    """One state with the actions that get a node, and its relaxed plan with what that adds."""

    task: LiftedTask
    space: core.LiftedSpace
    state: int
    operators: list[int]
    plan: Sequence[Action] = ()
    symmetry: bool = False
    added: Sequence[Atom] = ()

    def __post_init__(self) -> None:
        static = {atom for atom in self.task.init if not self.task.fluent[atom[0]]}
        self.atoms = fluent_atoms(self.task, self.space, self.state) | static

    @property
    def first_action(self) -> int:
        return len(self.task.objects) + 1

    def size(self) -> int:
        """The number of nodes."""
        nodes = {row[0] for rows in self.plan_rows().values() for row in rows}
        return (
            self.first_action
            + len(self.operators)
            + len([n for n in nodes if n >= self.first_action + len(self.operators)])
        )

    def relations(self, goal_split: bool) -> dict[str, Rows]:
        """Every relation over nodes 0, 1, ..."""
        task, groups = self.task, dict[str, Rows]()
        for predicate, args in self.atoms:
            groups.setdefault(task.predicates[predicate], []).append(args)
        for word, goals, wanted in (("goal", task.goal_positive, True), ("not_goal", task.goal_negative, False)):
            for predicate, args in goals:
                satisfied = ((predicate, args) in self.atoms) == wanted
                suffix = "_true" if satisfied and goal_split else ""
                groups.setdefault(f"{task.predicates[predicate]}@{word}{suffix}", []).append(args)
        for name, members in zip(task.types, task.type_members, strict=True):
            groups[f"type@{name}"] = [(o,) for o in members]
        for o in range(task.constants):
            groups[f"const@{task.objects[o]}"] = [(o,)]
        for k, op in enumerate(self.operators):
            schema, *objects = self.space.action(op)
            groups.setdefault(f"action@{task.schemas[schema].name}", []).append((self.first_action + k, *objects))
        groups |= self.plan_rows()
        for predicate, args in self.added:
            groups.setdefault(f"added@{self.task.predicates[predicate]}", []).append(args)
        return {name: [args or (len(task.objects),) for args in rows] for name, rows in groups.items()}

    def plan_rows(self) -> dict[str, Rows]:
        """The relaxed plan: on the node of an action that is there, or else on one of its own."""
        groups: dict[str, Rows] = {}
        extra = self.first_action + len(self.operators)
        for schema, objects in self.plan:
            node = self.action_node((schema, objects))
            groups.setdefault(f"plan@{self.task.schemas[schema].name}", []).append(
                (extra if node is None else node, *objects)
            )
            extra += node is None
        return groups

    def action_node(self, action: Action) -> int | None:
        """The node of an action or, with symmetry, of the one that stands for it."""
        for k, op in enumerate(self.operators):
            schema, *objects = self.space.action(op)
            if schema == action[0] and self.same(action[1], tuple(objects)):
                return self.first_action + k
        return None

    def same(self, ours: tuple[int, ...], theirs: tuple[int, ...]) -> bool:
        """Whether tuples of objects are equal, or with symmetry one by exchanging interchangeable objects."""
        if ours == theirs or not self.symmetry:
            return ours == theirs
        if len(set(zip(ours, theirs, strict=True))) != len(set(ours)) or len(set(ours)) != len(set(theirs)):
            return False
        look = {o: surroundings(self.task, self.atoms, o) for o in {*ours, *theirs}}
        return all(look[a] == look[b] for a, b in zip(ours, theirs, strict=True))


def encode(
    encoder: core.Encoder,
    space: core.LiftedSpace,
    states: list[int],
    rows: list[list[int]],
    plans: core.Heuristic | None = None,
) -> core.EncodedBatch:
    begin = np.cumsum([0, *map(len, rows)], dtype=np.int32)
    operators = np.array([op for row in rows for op in row], np.int32)
    return encoder.encode(space, np.array(states, np.int32), begin, operators, plans)


def check_batch(metadata: ModelMetadata, batch: core.EncodedBatch, states: Sequence[EncodedState]) -> None:
    """Relations as sets, everything else in order."""
    sizes = [state.size() for state in states]
    firsts = np.cumsum([0, *sizes]).tolist()
    expected: dict[str, Counter[tuple[int, ...]]] = {name: Counter() for name, _ in metadata.relations}
    for first, state in zip(firsts, states, strict=False):
        for name, atoms in state.relations(metadata.goal_split).items():
            if name in expected:
                expected[name].update(tuple(first + node for node in atom) for atom in atoms)
    for (relation, arity), rows in zip(metadata.relations, batch.relations, strict=True):
        assert rows.dtype == np.int64
        assert rows.shape == (len(rows), arity)
        assert Counter(map(tuple, rows.tolist())) == expected[relation], relation
    assert batch.state_sizes.tolist() == sizes
    assert batch.node_state.tolist() == [i for i, size in enumerate(sizes) for _ in range(size)]
    assert batch.action_state.tolist() == [i for i, state in enumerate(states) for _ in state.operators]
    nodes = [
        first + s.first_action + k for first, s in zip(firsts, states, strict=False) for k in range(len(s.operators))
    ]
    assert batch.action_node.tolist() == nodes
