"""The card of a model: what it solves and what it does not, how it was made, on what machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gsp_fd.common.machine import machine
from gsp_fd.generate.variants import DESCRIPTIONS
from gsp_fd.model_format import ModelMetadata
from gsp_fd.task import FULL
from gsp_fd.training.baseline import Baseline
from gsp_fd.training.instances import TrainingInstance
from gsp_fd.training.learning.validation import Score


@dataclass(frozen=True, kw_only=True)
class CardFacts:
    """What a card is made from."""

    metadata: ModelMetadata
    score: Score
    training: Sequence[TrainingInstance]
    validation: Sequence[TrainingInstance]
    origin: str
    """Where the validation instances come from."""
    solved_in_training: int
    minutes: float
    """Of training until these weights."""
    gradient_steps: int
    workers: int
    seed: int
    command: str
    decision: str = ""
    """Why the network sees the relaxed plan, or does not."""
    baseline: Baseline = field(default_factory=Baseline)
    """What hFF achieves on the validation instances."""


def card_facts(facts: CardFacts) -> dict[str, str]:
    """The figures of the card, as names and values."""
    score, sizes = facts.score, [instance.size for instance in facts.training]
    varied = sum(instance.kind != FULL for instance in facts.training)
    network, here = facts.metadata.network, machine()
    mode = f"{facts.workers} search workers" if facts.workers else "search and learning in one process"
    return {
        "Domain": facts.metadata.domain,
        "Training": f"{len(sizes)} problems with {min(sizes)} to {max(sizes)} objects, {varied} of them with other "
        "goals or another start than their file; "
        f"a plan was found for {facts.solved_in_training}",
        "Time": f"{facts.minutes:.1f} minutes, {facts.gradient_steps} gradient steps, seed {facts.seed}, {mode}",
        "Machine": "{cpu}, {cores} cores, {memory:.0f} GiB".format(memory=here["memory_mb"] / 1024, **here),
        "Validation": f"{facts.origin}: the greedy policy solves {score.covered} of {score.of} "
        f"with {score.steps} steps in all; RMSE of Q on these plans {score.rmse:.2f}",
        "hFF": facts.baseline.sentence() if facts.baseline.steps else "not tried",
        "Goals and starts": _coverage_of_kinds(facts),
        "Never seen": ", ".join(facts.metadata.unseen) or "nothing: every relation had atoms in training",
        "Relaxed plan": facts.decision or ("seen, as asked for" if facts.metadata.relaxed_plan else "not seen"),
        "Network": f"{network.layers} layers of width {network.d}, {network.aggregation} aggregation, "
        f"{network.pool} pool",
        "Version": f"gsp-fd {facts.metadata.package_version}",
    }


def _coverage_of_kinds(facts: CardFacts) -> str:
    """Solved of all for each kind of validation instance; kinds that were not tried are named."""
    parts = []
    for kind, description in DESCRIPTIONS.items():
        pairs = zip(facts.validation, facts.score.lengths, strict=True)
        lengths = [length for instance, length in pairs if instance.kind == kind]
        solved = sum(length is not None for length in lengths)
        parts.append(f"{description}: {f'{solved} of {len(lengths)}' if lengths else 'not validated'}")
    return "; ".join(parts)


def verdict(facts: CardFacts) -> str:
    """What came of a run, in plain sentences."""
    score, baseline = facts.score, facts.baseline
    text = f"The greedy policy solves {score.covered} of {score.of} validation problems"
    if not baseline.steps:
        return f"{text}."
    text += f"; {baseline.sentence()}."
    pairs = zip(facts.validation, score.lengths, strict=True)
    lost = [i.name for i, length in pairs if length is None and baseline.steps.get(i.name) is not None]
    if lost:
        shown = ", ".join(lost[:5]) + (f" and {len(lost) - 5} more" if len(lost) > 5 else "")
        text += f" hFF solves {shown}, which the policy does not."
    return text


def card_text(facts: CardFacts) -> str:
    """The card, as Markdown."""
    pairs = list(zip(facts.validation, facts.score.lengths, strict=True))
    solved = [(instance, length) for instance, length in pairs if length is not None]
    failed = [instance for instance, length in pairs if length is None]
    lines = [f"# Model for {facts.metadata.domain}", "", verdict(facts), ""]
    lines += _table(card_facts(facts))
    lines += ["", "## What it solves", ""]
    hff = facts.baseline.text
    lines += [f"- {i.name}: {i.size} objects, {length} steps ({hff(i.name)})" for i, length in solved]
    lines += [] if solved else ["- none of the validation problems"]
    lines += ["", "## What it does not solve", ""]
    lines += [f"- {instance.name}: {instance.size} objects ({hff(instance.name)})" for instance in failed]
    lines += [] if failed else ["- every validation problem was solved; larger ones were not tried"]
    lines += ["", "## Command", "", "```", facts.command, "```", ""]
    return "\n".join(lines)


def _table(facts: Mapping[str, str]) -> list[str]:
    return ["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in facts.items())]
