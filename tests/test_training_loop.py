"""The learning loop on tiny instances: learning is real, ablations switch what they say, divergence is undone."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the training extra is not installed")
pytest.importorskip("torch_geometric", reason="the training extra is not installed")
pytest.importorskip("onnx", reason="the training extra is not installed")
pytest.importorskip("onnxruntime", reason="the training extra is not installed")

from training_support import TINY, Listener, Memory, tiny_sets  # noqa: E402

from gsp_fd.common.errors import InputError  # noqa: E402
from gsp_fd.generate.variants import KINDS  # noqa: E402
from gsp_fd.task import FULL  # noqa: E402
from gsp_fd.training.config import TrainingConfig  # noqa: E402
from gsp_fd.training.instance_sets import InstanceSets, known_generator, load_sets  # noqa: E402
from gsp_fd.training.learning.episodes import Collector  # noqa: E402
from gsp_fd.training.learning.learner import (  # noqa: E402
    DEAD_END,
    EXACT,
    GOAL,
    Learner,
    encode,
    encode_actions,
    q_values,
    ranking_loss,
)
from gsp_fd.training.learning.pools import Pools, Status  # noqa: E402
from gsp_fd.training.learning.trainer import MAX_ROLLBACKS, Trainer, dead_end_return  # noqa: E402
from gsp_fd.training.learning.validation import Score, validate  # noqa: E402
from gsp_fd.training.run.card import CardFacts, card_text  # noqa: E402

torch.set_num_threads(1)
GOAL_KINDS = ("goal", "goal_true")
CONFIG = TrainingConfig(**TINY, minutes=20)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> InstanceSets:
    return tiny_sets(tmp_path_factory.mktemp("tiny"), CONFIG)


STEPS = 3000
"""Gradient steps after which a tiny run has failed, however long they took."""


def trained(sets: InstanceSets, config: TrainingConfig, *, validations: int, enough: int) -> tuple[Listener, Memory]:
    """Trains until that many validations are over or one covers enough, whatever the machine's speed."""
    seen: list[int] = []

    def react(row: object) -> None:
        if listener.rows[-1].validated:
            seen.append(listener.rows[-1].validation_covered)
        if len(seen) >= validations or max(seen, default=0) >= enough or listener.rows[-1].gradient_steps > STEPS:
            trainer.stop()

    listener, memory = Listener(react), Memory()
    trainer = Trainer(sets, config, listener, memory)
    trainer.run()
    return listener, memory


def test_learning_is_real(sets: InstanceSets) -> None:
    """With the same search but a frozen network coverage stays where it starts; with learning it rises."""
    _, start = trained(sets, replace(CONFIG, frozen=True, validate_every=0.5), validations=2, enough=99)
    frozen = {score.covered for _, score in start.best}
    assert len(frozen) == 1
    listener, memory = trained(sets, CONFIG, validations=99, enough=len(sets.validation))
    best = memory.best[-1][1]
    assert best.covered >= max(frozen) + 3
    assert best == max(score for _, score in memory.best)
    assert listener.rows[-1].gradient_steps > 0
    assert listener.rows[-1].transitions > 0


@pytest.mark.parametrize("domain", ["lift", "stacking"])
def test_conditional_effects_and_derived_predicates_are_learned(domain: str, tmp_path: Path) -> None:
    sets = tiny_sets(tmp_path, CONFIG, domain, 3)
    _, memory = trained(sets, CONFIG, validations=99, enough=len(sets.validation))
    assert memory.best[-1][1].covered == len(sets.validation)


def test_scores_rank_coverage_then_steps_then_error() -> None:
    def score(lengths: list[int | None], error: float) -> Score:
        return Score.of_plans(lengths, np.array([error]))

    ranked = [score([None, None], 0), score([3, None], 0), score([9, 9], 0), score([4, 4], 2), score([4, 4], -1)]
    assert sorted(reversed(ranked)) == ranked
    assert Score.from_json(ranked[1].to_json()) == ranked[1]
    assert (ranked[3].covered, ranked[3].steps, ranked[3].rmse, ranked[3].of) == (2, 8, 2.0, 2)


CHAIN_DOMAIN = """\
(define (domain chain) (:predicates (at ?x) (next ?x ?y))
  (:action move :parameters (?x ?y) :precondition (and (at ?x) (next ?x ?y))
    :effect (and (at ?y) (not (at ?x)))))
"""
CHAIN = """\
(define (problem five) (:domain chain) (:objects a b c d e f)
  (:init (at a) (next a b) (next b c) (next c d) (next d e) (next e f)) (:goal (at f)))
"""


def test_validation_error(tmp_path: Path) -> None:
    """Five steps are left, then four, ..., then one: Q = -3 is wrong by 2, 1, 0, 1, 2."""
    (tmp_path / "domain.pddl").write_text(CHAIN_DOMAIN)
    (tmp_path / "five.pddl").write_text(CHAIN)
    chain = load_sets(tmp_path / "domain.pddl", tmp_path, tmp_path, CONFIG, tmp_path / "none")
    score = validate(chain.validation, lambda batch: np.full(len(batch.action_node), -3, np.float32), CONFIG)
    assert score.lengths == (5,)
    assert score.rmse == pytest.approx(math.sqrt(2))


def finished_samples(sets: InstanceSets, config: TrainingConfig) -> Learner:
    learner = Learner(sets.metadata, config, dead_end_return(sets.training, config))
    collector = Collector(sets.training, Pools(len(sets.training), config), config, random.Random(0))
    while collector.episodes < 40:
        for item in collector.step(learner.q_function):
            learner.take(item.instance, item.episode)
    return learner


def test_ablations(tmp_path: Path) -> None:
    config = replace(CONFIG, symmetry=False)
    sets = tiny_sets(tmp_path, config, "spanner", 6)
    full = finished_samples(sets, config)
    kinds = Counter(sample.kind for sample in full.replay.samples)
    assert kinds[DEAD_END] > 0
    assert kinds[GOAL] > 0
    assert any(sample.bound > -math.inf for sample in full.replay.samples)
    samples = full.replay.samples[:200]
    assert all(
        y == full.dead_end_return
        for y, sample in zip(full.targets(samples), samples, strict=True)
        if sample.kind == DEAD_END
    )
    assert (full.targets(samples) >= [sample.bound for sample in samples]).all()
    without = finished_samples(sets, replace(config, dead_end_supervision=False))
    assert all(sample.kind != DEAD_END for sample in without.replay.samples)
    unbounded = finished_samples(sets, replace(config, solution_bounds=False))
    assert all(sample.bound == -math.inf for sample in unbounded.replay.samples)
    pools = Pools(4, replace(config, uniform_sampling=True))
    pools.records[0].status = Status.SOLVED
    rng = random.Random(0)
    counts = Counter(pools.pick(rng) for _ in range(4000))
    assert all(900 < counts[index] < 1100 for index in range(4))


def test_exhausted_state_spaces_are_learned(tmp_path: Path) -> None:
    config = replace(CONFIG, exact_states=20_000, exact_share=1.0, ranking=1.0, solution_bounds=False, guided=1.0)
    learner = finished_samples(tiny_sets(tmp_path, config, "spanner", 6), config)
    assert learner.exact
    lost = 0
    for group in learner.exact[:50]:
        assert {sample.action for sample in group} == set(range(group[0].episode.num_actions(group[0].state)))
        targets = learner.targets(group)
        lost += targets.max() == learner.dead_end_return
        assert all(y == sample.bound for y, sample in zip(targets, group, strict=True) if sample.kind == EXACT)
    assert 0 < lost < 25  # behind a wrong turn, too
    losses = []
    for _ in range(500):
        learner.step(0.5)
        losses.append(learner.loss)
    assert losses[-1] < 0.5 * losses[20]


def test_the_states_of_a_batch_are_encoded_once(sets: InstanceSets) -> None:
    learner = finished_samples(sets, CONFIG)
    samples = learner.replay.samples[:40]
    batch, places = encode_actions([*samples, *samples])
    one_by_one = [q_values(learner.network, encode([s], [s.state]))[s.action] for s in samples]
    assert batch.action_state.max() < len({(id(sample.episode), sample.state) for sample in samples})
    np.testing.assert_allclose(q_values(learner.network, batch)[places], [*one_by_one, *one_by_one], atol=1e-5)


def test_ranking_loss() -> None:
    """Two best actions of three, and one of two."""
    values = torch.tensor([1.0, 2.0, 3.0, -1.0, -1.0])
    loss = ranking_loss(values, torch.tensor([-3.0, -1.0, -1.0, -5.0, -9.0]), [3, 2])
    probabilities = np.exp(values.numpy())
    expected = -np.log(probabilities[1:3].sum() / probabilities[:3].sum()), -np.log(0.5)
    assert loss.item() == pytest.approx(np.mean(expected))


def test_divergence_is_rolled_back(sets: InstanceSets) -> None:
    config = replace(CONFIG, frozen=False)

    def poison(row: object) -> None:
        """Twice, each time once something was learned after the last time."""
        if trainer.learner.steps <= 5 or len(told()) < len(broken):
            return
        if len(broken) == 2:
            trainer.stop()
            return
        broken.append(trainer.learner.steps)
        with torch.no_grad():
            next(trainer.learner.network.readout.parameters()).mul_(math.nan)

    def told() -> list[str]:
        return [message for message in listener.messages if "learning diverged" in message]

    broken: list[int] = []
    listener, memory = Listener(poison), Memory()
    trainer = Trainer(sets, config, listener, memory)
    trainer.run()
    assert len(told()) == 2
    assert "back to step 0, learning rates times 0.5" in told()[0]
    assert trainer.learner.rate_factor == 0.25
    assert all(np.isfinite(array).all() for array in memory.saved[0].arrays.values())
    assert np.isfinite(trainer.learner.loss)


def test_whoever_stops_a_training_does_not_wait_for_all_of_its_validation(
    sets: InstanceSets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gsp_fd.training.learning.trainer.STOPPED_SECONDS", 0.0)
    memory = Memory()
    trainer = Trainer(sets, replace(CONFIG, validate_every=1e6), Listener(lambda row: trainer.stop()), memory)
    trainer.run()
    assert trainer.best is None
    assert not memory.best
    assert memory.saved


def test_a_checkpoint_is_never_poisoned(sets: InstanceSets) -> None:
    memory, listener = Memory(), Listener()
    trainer = Trainer(sets, CONFIG, listener, memory)
    trainer.save()
    with torch.no_grad():
        next(trainer.learner.average.readout.parameters()).fill_(math.inf)
    trainer.save()
    assert all(np.isfinite(array).all() for array in memory.saved[0].arrays.values())
    assert "a weight is not a number" in listener.messages[0]
    trainer.rollbacks = MAX_ROLLBACKS
    with torch.no_grad():
        next(trainer.learner.average.readout.parameters()).fill_(math.inf)
    with pytest.raises(InputError, match=r"diverges again and again.*lower --learning-rate"):
        trainer.save()


def test_a_restored_trainer_is_where_the_other_was(sets: InstanceSets) -> None:
    listener = Listener(lambda row: trainer.stop() if trainer.learner.steps > 20 else None)
    memory = Memory()
    trainer = Trainer(sets, CONFIG, listener, memory)
    trainer.run()
    other = Trainer(sets, CONFIG, Listener(), Memory())
    best = memory.best[-1][1]
    other.restore(memory.saved[0], best, "checkpoint.npz")
    assert other.best == best
    assert other.elapsed == trainer.elapsed
    assert other.learner.steps == trainer.learner.steps
    assert other.collector.pools.records == trainer.collector.pools.records
    assert other.collector.choice.success == trainer.collector.choice.success
    assert other.collector.rng.getstate() == trainer.collector.rng.getstate()
    assert other.learner.rng.getstate() == trainer.learner.rng.getstate()
    found = sum(record.best_length is not None for record in trainer.collector.pools.records)
    assert len({id(sample.episode) for sample in other.learner.paths.samples}) == found
    # The same batch makes the same step: weights, target, moments and counters are all there.
    for learner in (trainer.learner, other.learner):
        learner.replay, learner.paths = other.learner.replay, other.learner.paths
        learner.step(0.5)
    for left, right in zip(trainer.learner.network.parameters(), other.learner.network.parameters(), strict=True):
        torch.testing.assert_close(left, right)
    fewer = replace(sets, training=sets.training[1:])
    with pytest.raises(InputError, match="does not fit this run"):
        Trainer(fewer, CONFIG, Listener(), Memory()).restore(memory.saved[0], None, "checkpoint.npz")


def test_validation_instances(tmp_path: Path, sets: InstanceSets) -> None:
    """Generated where the domain is known, whatever its name; split by name where it is not."""
    train = tmp_path / "train"
    train.mkdir()
    for file in Path(sets.training[0].task.name).parent.iterdir():
        train.joinpath(file.name).write_text(file.read_text().replace("(domain blocksworld)", "(domain other)")
                                             .replace("(:domain blocksworld)", "(:domain other)"))  # fmt: skip
    made = load_sets(train / "domain.pddl", train, None, CONFIG, tmp_path / "made")
    assert known_generator(made.metadata) == "blocksworld"
    assert len(made.training) == len(sets.training)
    largest = max(instance.size for instance in made.training)
    sizes = [instance.size for instance in made.validation]
    assert min(sizes) == largest
    assert max(sizes) == 4 * largest
    again = load_sets(train / "domain.pddl", train, None, CONFIG, tmp_path / "made")
    assert [instance.task.lifted for instance in again.validation] == [i.task.lifted for i in made.validation]
    for file in train.iterdir():
        file.write_text(file.read_text().replace("arm-empty", "hand-free"))
    split = load_sets(train / "domain.pddl", train, None, CONFIG, tmp_path / "none")
    assert known_generator(split.metadata) is None
    names = [{instance.name for instance in part} for part in (split.training, split.validation)]
    assert not names[0] & names[1]
    assert len(names[0] | names[1]) == len(sets.training)
    assert 1 <= len(names[1]) <= len(sets.training) // 4
    assert min(i.size for i in split.validation) >= sorted(i.size for i in sets.training)[len(sets.training) // 2]
    assert not (tmp_path / "none").exists()


def test_varied_instances(tmp_path: Path, sets: InstanceSets) -> None:
    """Half of the instances have other goals or starts; what no instance shows is written down."""
    train = Path(sets.training[0].task.name).parent
    varied = replace(CONFIG, varied=0.5)
    made = load_sets(train / "domain.pddl", train, None, varied, tmp_path / "made")
    again = load_sets(train / "domain.pddl", train, None, varied, tmp_path / "made")
    for instances, count in ((made.training, len(sets.training)), (made.validation, 12)):
        kinds = Counter(instance.kind for instance in instances)
        assert kinds.pop(FULL) == count
        assert kinds.total() == count
        assert set(kinds) == set(KINDS)
    assert "12 of them with other goals or another start" in made.origin
    assert [i.task.lifted for i in again.training] == [i.task.lifted for i in made.training]
    assert set(sets.metadata.unseen) == {f"{name}@{kind}" for name in ("holding", "arm-empty") for kind in GOAL_KINDS}
    assert set(made.metadata.unseen) < set(sets.metadata.unseen)
    given = load_sets(train / "domain.pddl", train, train, varied, tmp_path / "made")
    assert {instance.kind for instance in given.validation} == {FULL}


def test_card_tells_the_kinds(tmp_path: Path, sets: InstanceSets) -> None:
    train = Path(sets.training[0].task.name).parent
    made = load_sets(train / "domain.pddl", train, None, replace(CONFIG, varied=0.2), tmp_path / "made")
    lengths = tuple(7 if instance.kind == FULL else None for instance in made.validation)
    facts = CardFacts(
        metadata=made.metadata, score=Score(12, -84, 0.0, lengths), training=made.training, validation=made.validation,
        origin=made.origin, solved_in_training=3, minutes=1.0, gradient_steps=5, workers=0, seed=0, command="gsp-train",
    )  # fmt: skip
    card = card_text(facts)
    assert "the goals and the start of the problem: 12 of 12; half of the goals: 0 of 1; " in card
    assert "a start on a plan: not validated" in card
    assert "4 of them with other goals" in card
    assert "| Never seen | " in card
