"""A training session: what lies between the command line and the loop. One seed or several, new or resumed."""

from __future__ import annotations

import fcntl
import json
import math
import os
import shlex
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from gsp_fd.common.errors import InputError, driver_error
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.common.files import remove_unfinished, write_atomically
from gsp_fd.export.weights import network_of
from gsp_fd.export.writer import export_model, model_bytes
from gsp_fd.inference import backend_of
from gsp_fd.model_format import ModelMetadata, metadata_of, read_model
from gsp_fd.training.baseline import Baseline, measure
from gsp_fd.training.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from gsp_fd.training.config import TrainingConfig
from gsp_fd.training.instance_sets import InstanceSets, load_sets
from gsp_fd.training.learning.episodes import QFunction
from gsp_fd.training.learning.trainer import Trainer
from gsp_fd.training.learning.validation import Score
from gsp_fd.training.learning.workers import Fleet
from gsp_fd.training.network import RelationalNetwork
from gsp_fd.training.progress import CsvFile, Row, Table, Watcher, Watchers, event_files, explanation, read_rows
from gsp_fd.training.run.card import CardFacts, card_text, verdict
from gsp_fd.training.run.figures import Searched
from gsp_fd.training.run.folder import RunFolder
from gsp_fd.training.run.report import report_html
from gsp_fd.training.run.settings import RunInputs, to_toml

TRIAL_SHARE = 0.2
"""Of the time of a run, for each trial with and without the relaxed plan; the chosen one goes on."""
BASELINE_SECONDS, BASELINE_SHARE = 30.0, 0.1
"""CPU time to measure hFF on the validation instances: at most this, and this share of the time of a run."""
INTERRUPTED = 130
"""Exit code after Ctrl-C, as in a shell."""


@dataclass
class FolderStore:
    """Puts checkpoints, the best model and its card into the folder of a run."""

    folder: RunFolder
    sets: InstanceSets
    config: TrainingConfig
    inputs: RunInputs
    message: Callable[[str], None]
    baseline: Baseline
    facts: CardFacts | None = None

    def save(self, checkpoint: Checkpoint) -> None:
        """Replaces the checkpoint."""
        save_checkpoint(self.folder.checkpoint, checkpoint)

    def keep_best(self, checkpoint: Checkpoint, score: Score) -> None:
        """Replaces the model, its card, and the checkpoint it was made from."""
        self.facts = self.facts_of(checkpoint, score)
        try:
            export_model(checkpoint, self.folder.model, file=str(self.folder.best))
        except InputError as error:
            self.message(f"the model was not exported: {error}")
            return
        save_checkpoint(self.folder.best, replace(checkpoint, state={"score": score.to_json()}))
        write_atomically(self.folder.card, card_text(self.facts).encode())

    def facts_of(self, checkpoint: Checkpoint, score: Score) -> CardFacts:
        """What the card says about a checkpoint."""
        training = checkpoint.metadata.training
        return CardFacts(
            metadata=checkpoint.metadata,
            score=score,
            training=self.sets.training,
            validation=self.sets.validation,
            origin=self.sets.origin,
            solved_in_training=int(training["solved_in_training"]),
            minutes=float(training["trained_minutes"]),
            gradient_steps=int(training["gradient_steps"]),
            workers=self.inputs.workers,
            seed=self.config.seed,
            command=self.inputs.command,
            decision=self.inputs.decision,
            baseline=self.baseline,
        )


@dataclass
class Session:
    """Runs training in a folder."""

    folder: RunFolder
    config: TrainingConfig
    inputs: RunInputs
    is_new: bool = False
    """The folder was made for this session, and goes with it if an error comes before the training."""
    interrupted: bool = False
    _trainer: Trainer | None = field(default=None, repr=False)
    _explained: bool = False
    _verdict: str = ""

    def run(self) -> int:
        """Trains whatever is left to train; returns the exit code."""
        torch.set_num_threads(1)
        seeds = range(self.config.seed, self.config.seed + self.inputs.seeds)
        with _locked(self.folder), self._signals():
            try:
                folders = [self.folder] if len(seeds) == 1 else [self.folder.seed(seed) for seed in seeds]
                if self.config.relaxed_plan == "auto":
                    self._decide(folders[0])
                for seed, folder in zip(seeds, folders, strict=True):
                    if not self.interrupted and not self._is_finished(folder):
                        self._train(folder, replace(self.config, seed=seed))
            except KeyboardInterrupt:
                self.interrupted = True
            except Exception:
                if self.is_new and not self.folder.has_begun():
                    shutil.rmtree(self.folder.path)
                raise
            if len(seeds) > 1:
                self._keep_best_seed(seeds)
        self._say_goodbye()
        return INTERRUPTED if self.interrupted else ExitCode.SUCCESS

    def _decide(self, folder: RunFolder) -> None:
        """Settles whether the network sees the relaxed plan; ``folder`` goes on with the trial that is chosen."""
        scores: dict[str, Score] = {}
        for choice in ("no", "yes"):
            trial = self.folder.trial(choice)
            if trial.read_status().get("state") != "finished":
                self._train(trial, replace(self.config, relaxed_plan=choice), TRIAL_SHARE * self.config.minutes)
            if self.interrupted:
                return
            scores[choice] = Score.from_json(trial.read_status()["best"])
            if scores[choice].covered == scores[choice].of:
                break
        chosen, reason = relaxed_plan_decision(scores)
        print(reason, flush=True)
        self.inputs = replace(self.inputs, decision=reason)
        minutes = self.config.minutes * (1 - TRIAL_SHARE * (len(scores) - 1))
        self.config = replace(self.config, relaxed_plan=chosen, minutes=minutes)
        folder.take_over(self.folder.trial(chosen))
        write_atomically(self.folder.config, to_toml(self.config, self.inputs).encode())

    def _is_finished(self, folder: RunFolder) -> bool:
        status = folder.read_status()
        return status.get("state") == "finished" and status.get("minutes", 0) >= self.config.minutes

    def _train(self, folder: RunFolder, config: TrainingConfig, minutes: float = math.inf) -> None:
        """Trains for the configured time, or only the first minutes of it."""
        folder.path.mkdir(parents=True, exist_ok=True)
        inputs, validation = self.inputs, Path(self.inputs.validate) if self.inputs.validate else None
        # All seeds are judged by the same instances: those of the first one.
        judged = replace(config, seed=self.config.seed)
        sets = load_sets(Path(inputs.domain), Path(inputs.train), validation, judged, self.folder.validation)
        first = first_network(inputs.start, sets.metadata)
        fleet = self._fleet(sets, config) if inputs.workers else None
        watchers = Watchers([Table()])
        store = FolderStore(folder, sets, config, inputs, watchers.message, self._baseline(sets))

        def freeze(network: RelationalNetwork) -> QFunction:
            """As the planner evaluates it: large states are faster in native code."""
            return backend_of(model_bytes(network, sets.metadata), sets.metadata).q_values

        trainer = self._trainer = Trainer(sets, config, watchers, store, fleet, freeze)
        try:
            if first is not None:
                trainer.start_from(first)
            self._resume(trainer, store)
            _add_files(watchers, folder, trainer.elapsed / 60)
            watchers.message(
                f"{sets.metadata.domain}, seed {config.seed}: {len(sets.training)} training problems; validation on "
                f"{sets.origin}; {min(minutes, config.minutes):g} minutes{_trial(config, minutes)}"
            )
            self._explain(watchers, store.baseline)
            folder.write_status({"state": "running", "minutes": trainer.elapsed / 60})
            trainer.run(minutes)
        except BaseException as error:
            state = "interrupted" if isinstance(error, KeyboardInterrupt) else "failed"
            with suppress(OSError):  # the disk may be full, which is then the error to tell
                folder.write_status({"state": state, "minutes": trainer.elapsed / 60})
            raise
        finally:
            self._trainer = None
            watchers.close()
            if fleet is not None:
                fleet.close()
        self._finish(folder, trainer, store)

    def _baseline(self, sets: InstanceSets) -> Baseline:
        """What hFF achieves, measured once for a run."""
        known = None
        with suppress(OSError, ValueError):
            known = Baseline(json.loads(self.folder.baseline.read_text()))
        seconds = min(BASELINE_SECONDS, 60 * BASELINE_SHARE * self.config.minutes)
        measured = measure(sets.validation, seconds, known)
        write_atomically(self.folder.baseline, (json.dumps(measured.steps) + "\n").encode())
        return measured

    def _explain(self, watchers: Watchers, baseline: Baseline) -> None:
        """Once in a session: what there is to beat, and how the table is read."""
        if not self._explained:
            watchers.message(f"to beat: {baseline.sentence()}\n{explanation()}")
        self._explained = True

    def _fleet(self, sets: InstanceSets, config: TrainingConfig) -> Fleet:
        tasks = (sets.training_tasks, sets.validation_tasks)
        model_of = partial(model_bytes, metadata=sets.metadata)
        return Fleet(self.inputs.workers, self.inputs.ray_address, config, sets.metadata, tasks, model_of)

    def _resume(self, trainer: Trainer, store: FolderStore) -> None:
        file, best = store.folder.checkpoint, store.folder.best
        if not file.is_file():
            return
        score = None
        if best.is_file():
            kept = load_checkpoint(best)
            score = Score.from_json(kept.state["score"])
            store.facts = store.facts_of(kept, score)
        trainer.restore(load_checkpoint(file), score, str(file))

    def _finish(self, folder: RunFolder, trainer: Trainer, store: FolderStore) -> None:
        state = "interrupted" if self.interrupted else "finished"
        best = trainer.best.to_json() if trainer.best else None
        folder.write_status({"state": state, "minutes": trainer.elapsed / 60, "seed": store.config.seed, "best": best})
        if store.facts is not None:
            write_atomically(folder.card, card_text(store.facts).encode())
            rows = read_rows(folder.progress)
            write_atomically(folder.report, report_html(store.facts, rows, searches_of(trainer)).encode())
            self._verdict = f"{verdict(store.facts)} {outlook(rows, store.facts.score)}".strip()

    def _keep_best_seed(self, seeds: Sequence[int]) -> None:
        scores = {}
        for seed in seeds:
            status = self.folder.seed(seed).read_status()
            if status.get("best") and self.folder.seed(seed).model.is_file():
                scores[seed] = Score.from_json(status["best"])
        if not scores:
            return
        chosen = max(scores, key=lambda seed: scores[seed])
        source = self.folder.seed(chosen)
        for name in ("best", "model", "card", "report"):
            file: Path = getattr(source, name)
            if file.is_file():
                write_atomically(getattr(self.folder, name), file.read_bytes())
        listed = ", ".join(f"{seed}: {s.covered}/{s.of} in {s.steps} steps" for seed, s in scores.items())
        print(f"seeds: {listed}; the best is {chosen}", flush=True)

    def _say_goodbye(self) -> None:
        """What came of it, and the next command to type."""
        run, minutes = shlex.quote(str(self.folder.path)), self.config.minutes
        otherwise = "no validation was finished" if self.interrupted else f"this run had its {minutes:g} minutes before"
        print(self._verdict or otherwise, flush=True)
        if self.folder.model.is_file():
            print(f"model: {self.folder.model} (card: {self.folder.card}, report: {self.folder.report})", flush=True)
            domain = shlex.quote(os.path.relpath(self.inputs.domain))
            print(f"plan with it: gsp-plan {domain} PROBLEM --heuristic gsp --search policy --model {run}", flush=True)
        if self.interrupted:
            print(f"interrupted; go on with: gsp-train --resume {run}", flush=True)
        else:
            print(f"prolong it: gsp-train --resume {run} --minutes {2 * minutes:g}", flush=True)

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """The first Ctrl-C or SIGTERM ends training in good order, the second at once."""

        def handle(number: int, frame: Any) -> None:
            if self.interrupted or self._trainer is None:
                raise KeyboardInterrupt
            self.interrupted = True
            self._trainer.stop()
            print("\nending: validating and saving (once more to end at once)", file=sys.stderr, flush=True)

        previous = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)


def first_network(file: str, metadata: ModelMetadata) -> RelationalNetwork | None:
    """With the weights of the model to start from, if one was given: it must be of this domain."""
    if not file:
        return None
    model = read_model(file)
    known = metadata_of(model, file)
    if set(known.relations) != set(metadata.relations):
        odd = sorted(name for name, _ in set(known.relations) ^ set(metadata.relations))
        raise driver_error(f"the model to start from is of another domain: {', '.join(odd[:5])} differ", file)
    return network_of(model, replace(known, relations=metadata.relations), file)


def searches_of(trainer: Trainer) -> list[Searched]:
    """The last searches on the training instances."""
    pools = trainer.collector.pools
    return [
        Searched(instance.size, record.last_expansions, letter)
        for instance, record, letter in zip(trainer.sets.training, pools.records, pools.letters(), strict=True)
        if record.last_expansions is not None
    ]


def outlook(rows: Sequence[Row], score: Score) -> str:
    """Whether more time may help."""
    validated = [row for row in rows if row.validated]
    if not validated or score.covered == score.of:
        return ""
    best = max(row.validation_covered for row in validated)
    reached = next(row.minutes for row in validated if row.validation_covered == best)
    if reached > validated[-1].minutes * 2 / 3:
        return f"It was still getting better (at minute {reached:.1f}): more minutes may help."
    return f"It has not got better since minute {reached:.1f}: other problems may help more than more time."


def relaxed_plan_decision(scores: Mapping[str, Score]) -> tuple[str, str]:
    """``yes`` or ``no``, and why, from the trials with (``yes``) and without (``no``) the relaxed plan.

    What the purely lifted network masters stays lifted: it needs no relaxed task, which large problems make costly.
    """
    lifted = scores["no"]
    if "yes" not in scores:
        return "no", f"no relaxed plan: without it the first trial solves all {lifted.of} validation problems"
    relaxed = scores["yes"]
    chosen = "yes" if relaxed.covered > lifted.covered else "no"
    coverage = (
        f"the trials solve {relaxed.covered} of {relaxed.of} validation problems with it, {lifted.covered} without"
    )
    return chosen, f"{'the' if chosen == 'yes' else 'no'} relaxed plan: {coverage}"


def _trial(config: TrainingConfig, minutes: float) -> str:
    """What a trial tries."""
    if minutes >= config.minutes:
        return ""
    return f" to try the network {'with' if config.relaxed_plan == 'yes' else 'without'} the relaxed plan"


@contextmanager
def _locked(folder: RunFolder) -> Iterator[None]:
    """One process per run; the lock goes with the process, however that ends."""
    with (folder.path / ".lock").open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            message = "another gsp-train is at work here"
            raise driver_error(message, str(folder.path)) from None
        remove_unfinished(folder.path)
        yield


def _add_files(watchers: Watchers, folder: RunFolder, resumed_at: float) -> None:
    files: list[Watcher] = [CsvFile(folder.progress, resumed_at)]
    events = event_files(folder.events)
    if events is not None:
        files.append(events)
    watchers.watchers += files
