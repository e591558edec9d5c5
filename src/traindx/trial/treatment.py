"""Diagnose, plan, try, judge, edit, prove: one change at a time until nothing is left to mend."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from traindx.core import SEVERITIES, Diagnosis, Run
from traindx.intervene.changes.save_weights import FILE as WEIGHTS
from traindx.intervene.unit import Change
from traindx.script.source import Script
from traindx.trial.arms import Arm, Outcome, Stop, Workshop
from traindx.trial.candidates import Course, courses
from traindx.trial.editing import Edited, Instruction, edit_for_all, text_now
from traindx.trial.examining import examined, rewritten
from traindx.trial.horizon import horizon
from traindx.trial.judge import Pair, Verdict, changed_symptoms, judge
from traindx.trial.measure import Yardstick, read_level, yardstick
from traindx.trial.results import Cost, Proof, Round, Status, Treated, Trial
from traindx.trial.screening import Screening

Planner = Callable[[Diagnosis, "Script | None"], Sequence[Course]]
Tell = Callable[[str, Mapping[str, Any]], None]
_ROUNDS_MOST = 3
# The edited script must keep at least so much of what the trial had gained.
_KEPT = 0.5
# Of the time for everything, what the untouched script may take at most.
_FIRST_SHARE, _FIRST_SHARE_MOST, _FIRST_STEPS = 0.3, 0.6, 200
_UNTRIED = "no trial could be run for the likely cause"
_FIRST, _EDITED = "untouched", "edited"


@dataclass(frozen=True)
class Wishes:
    """What the user asked for; None leaves it to the treatment."""

    steps: int | None = None
    seeds: int | None = None
    metric: str | None = None
    only: str | None = None
    dry_run: bool = False
    rounds: int = _ROUNDS_MOST
    trial_steps: int | None = None
    """So many steps for trials in all, then the best so far is kept."""
    healthy_too: bool = False
    """Try even where nothing is wrong: a single remedy that somebody asked for."""


@dataclass
class Patient:
    """The script as it stands: changed by the rounds so far, with the run that shows it."""

    script: Script | None
    args: tuple[str, ...]
    baseline: Outcome
    diagnosis: Diagnosis
    sources: dict[str, str] = field(default_factory=dict)


class Treatment:
    """The treatment of one script; `tell` hears what happens, `plan` says what to try."""

    def __init__(
        self,
        workshop: Workshop,
        script: Script | None,
        args: Sequence[str],
        wishes: Wishes,
        tell: Tell,
        plan: Planner | None = None,
        *,
        save_model: Path | None = None,
    ) -> None:
        self.workshop = workshop
        self.script = script
        self.args = tuple(args)
        self.wishes = wishes
        self.tell = tell
        self._plan = plan or self._courses
        self._save_model = save_model
        self._spent: list[Outcome] = []
        self._which = 0
        self._pace = 0, 0.0
        self._proof_seconds = 0.0
        self._texts: dict[str, str] = {}

    def _courses(self, diagnosis: Diagnosis, script: Script | None) -> Sequence[Course]:
        return courses(diagnosis, script, self.wishes.only)

    # From the first run to the last.

    def run(self, recorded: Run | None = None) -> Treated:
        """Everything; `recorded` is a run of this script from before, to begin with its diagnosis."""
        [first] = self._run_many([Arm(_FIRST, steps=self.wishes.steps)], self._enough_seen())
        if first.run is None or not first.steps:
            return self._ended("unclear", f"the script could not be observed: {first.said}", None, [first])
        first, before = self._worst_training(first)
        if recorded is not None:
            before = examined(recorded, self.script)
        self.tell("diagnosed", {"diagnosis": before, "outcome": first})
        if before.verdict != "problem" and not self.wishes.healthy_too:
            word = "healthy" if before.verdict == "healthy" else "unclear"
            part = "this training" if first.ended == "finished" else f"its first {first.steps:,} steps"
            said = f"nothing is wrong with {part}: nothing is changed."
            if first.ended == "crashed":
                word, said = "unclear", f"{first.said}. The steps before that show nothing else to mend."
            elif word == "unclear":
                said = "the training was too short or told too little to say what is wrong with it."
            return self._ended(word, said, before, [first])
        patient = Patient(self.script, self.args, first, before)
        rounds: list[Round] = []
        while len(rounds) < self.wishes.rounds:
            done = self._round(patient)
            if done is None:
                break
            rounds.append(done)
            if self.wishes.dry_run or done.proof is None or done.edited is None or not done.proof.reproduced:
                break
            patient = self._mended(patient, done.edited, done.proof)
            if patient.diagnosis.verdict != "problem" or self.workshop.spent:
                break
        return self._result(before, first, patient, rounds)

    def _round(self, patient: Patient) -> Round | None:
        plan = tuple(self._plan(patient.diagnosis, patient.script))
        tried = any(course.candidates for course in plan)
        length = patient.baseline.steps
        self._proof_seconds = patient.baseline.seconds
        # A limit of steps would end the script in the first of its trainings.
        whole = self.wishes.healthy_too or len(patient.baseline.trainings) > 1
        steps = length if whole else horizon(patient.diagnosis, length)
        self.tell("planned", {"plan": plan, "horizon": steps, "length": length, "outcome": patient.baseline})
        done = Round(patient.diagnosis, plan, steps)
        if not plan:
            return None
        if self.wishes.dry_run:
            return done
        told = next((word for course in plan for word in course.told), None)
        if not tried:
            return replace(done, instruction=told)
        screening = Screening(
            self._run_many,
            patient,
            steps,
            self.wishes.metric,
            self.wishes.seeds,
            self.tell,
            self._exhausted,
            self._late,
        )
        trials, winner = screening.run(plan)
        done = replace(done, trials=tuple(trials), winner=winner)
        if winner is None:
            return replace(done, instruction=told)
        return self._prove(patient, done, winner)

    # The winner in the source.

    def _prove(self, patient: Patient, done: Round, winner: Trial) -> Round:
        edited = self._edit(patient, winner)
        if isinstance(edited, Instruction):
            edited = _same_remedy(done.plan, winner) or edited
        if isinstance(edited, Instruction):
            return replace(done, instruction=edited)
        for path in edited.sources:
            self._texts.setdefault(path, text_now(path))
        self.tell("edited", {"edited": edited, "winner": winner})
        proof = self._proof(patient, winner, edited)
        if proof is None or not proof.reproduced:
            why = "the edited script did not show the gain of the trial"
            if proof is None or _failed(proof.outcome, patient.baseline):
                why = f"the edited script was not proven: {self._spent[-1].said}"
            return replace(done, edited=None, proof=proof, instruction=_instead(edited, why))
        return replace(done, edited=edited, proof=proof)

    def _edit(self, patient: Patient, winner: Trial) -> Edited | Instruction:
        if winner.candidate.edited is not None:
            return winner.candidate.edited
        if patient.script is None:
            return Instruction(f"{winner.candidate.title}: {winner.candidate.name}", None)
        run = patient.baseline.run
        assert run is not None
        return edit_for_all(patient.script, winner.candidate.changes, run=run, args=patient.args)

    def _proof(self, patient: Patient, winner: Trial, edited: Edited) -> Proof | None:
        """The edited script for as long as the one before ran, untouched by interventions."""
        cut = patient.baseline.ended in ("timed out", "stopped")
        steps = patient.baseline.steps if cut else self.wishes.steps
        arm = Arm(
            _EDITED,
            steps=steps,
            sources=patient.sources | dict(edited.sources),
            args=_args(edited, patient.args),
        )
        if self._save_model:
            arm = replace(arm, changes=(Change("save_weights", {}),))
        outcome = self._run(arm)
        if outcome.run is None or patient.baseline.run is None:
            return None
        by = self._by(patient, winner) or Yardstick("loss")
        verdict = _compared(by, patient.baseline.run, outcome.run)
        diagnosis = examined(outcome.run, rewritten(patient.script, edited.sources))
        gone, fresh = changed_symptoms(patient.diagnosis, diagnosis)
        verdict = replace(verdict, symptom_gone=gone, new_problems=fresh)
        told = winner.verdict
        kept = told is None or told.by_symptom or verdict.gain >= _KEPT * told.gain
        reproduced = verdict.word == "helped" or (kept and bool(gone) and verdict.word != "hurt")
        if told is not None and told.by_symptom:
            reproduced = reproduced or (bool(gone) and not fresh)
            verdict = replace(verdict, by_symptom=True, word="helped" if reproduced else verdict.word)
        reproduced = reproduced and not _failed(outcome, patient.baseline)
        proof = Proof(outcome, verdict, diagnosis, reproduced)
        if reproduced:
            self._keep_weights(outcome)
        self.tell("proven", {"proof": proof})
        return proof

    def _keep_weights(self, outcome: Outcome) -> None:
        kept = outcome.recording / WEIGHTS
        if self._save_model is not None and kept.exists():
            self._save_model.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(kept, self._save_model)

    def _by(self, patient: Patient, winner: Trial) -> Yardstick | None:
        if winner.verdict is not None:
            return winner.verdict.by
        assert patient.baseline.run is not None
        symptoms = [problem.symptom for problem in patient.diagnosis.problems[:1]]
        return yardstick(patient.baseline.run, symptoms, self.wishes.metric)

    def _mended(self, patient: Patient, edited: Edited, proof: Proof) -> Patient:
        return Patient(
            rewritten(patient.script, edited.sources),
            _args(edited, patient.args),
            proof.outcome,
            proof.diagnosis,
            patient.sources | dict(edited.sources),
        )

    # Arms and what they cost.

    def _run(self, arm: Arm) -> Outcome:
        return self._run_many([arm])[0]

    def _enough_seen(self) -> Stop | None:
        """A training longer than the time for everything must leave some of it for trials."""
        budget = self.workshop.left
        if budget is None or self.wishes.dry_run:
            return None

        def stop(*_: object) -> str | None:
            steps, seconds = self._pace
            share = _FIRST_SHARE if steps >= _FIRST_STEPS else _FIRST_SHARE_MOST
            return "the rest of the time is for trials" if steps and seconds > share * budget else None

        return stop

    def _run_many(self, arms: Sequence[Arm], stop: Stop | None = None) -> list[Outcome]:
        """The outcomes in the order of the arms."""
        done: dict[str, Outcome] = {}
        for outcome in self.workshop.run(list(arms), stop=stop, progress=self._progress):
            outcome = self._named(outcome)
            done[outcome.arm.name] = outcome
            self._spent.append(outcome)
            self.tell("arm", {"outcome": outcome})
        return [done[arm.name] for arm in arms if arm.name in done]

    def _named(self, outcome: Outcome) -> Outcome:
        """Its run under the name of the script: the recording is gone with the workshop."""
        if outcome.run is None:
            return outcome
        run = outcome.trainings[self._which] if self._which < len(outcome.trainings) else outcome.run
        return replace(outcome, run=replace(run, name=os.path.basename(self._path()), path=self._path()))

    def _worst_training(self, first: Outcome) -> tuple[Outcome, Diagnosis]:
        """Of several trainings of a script (a resume, folds) the first that has the worst trouble."""
        assert first.run is not None
        told = [examined(run, self.script) for run in first.trainings] or [examined(first.run, self.script)]
        self._which = min(range(len(told)), key=lambda at: _trouble(told[at]))
        named = self._named(first)
        assert named.run is not None
        return named, examined(named.run, self.script)

    def _progress(self, arm: Arm, steps: int, seconds: float) -> None:
        self._pace = steps, seconds
        self.tell("progress", {"arm": arm, "steps": steps, "seconds": seconds})

    @property
    def trial_steps(self) -> int:
        """Steps of all runs but those of the script as it was and as it is in the end."""
        return sum(one.steps for one in self._spent if one.arm.name not in (_FIRST, _EDITED))

    def _exhausted(self) -> bool:
        limit = self.wishes.trial_steps
        return self.workshop.spent or (limit is not None and self.trial_steps >= limit)

    def _late(self) -> bool:
        """Whether what is left is needed to run the edited script."""
        left = self.workshop.left
        return self._exhausted() or (left is not None and left <= self._proof_seconds)

    def _cost(self, whole: Outcome) -> Cost:
        seconds = sum(outcome.seconds for outcome in self._spent)
        steps = sum(outcome.steps for outcome in self._spent)
        work = sum(_work(outcome, whole) for outcome in self._spent)
        return Cost(
            seconds,
            steps,
            len(self._spent),
            work / whole.steps if whole.steps else 0.0,
            seconds / whole.seconds if whole.seconds else 0.0,
        )

    # The end.

    def _ended(self, status: Any, said: str, before: Diagnosis | None, arms: list[Outcome]) -> Treated:
        return Treated(self._path(), self.args, status, said, before, tuple(arms), cost=self._cost(arms[0]))

    def _path(self) -> str:
        return self.script.main.path if self.script is not None else self.workshop.program.name

    def _result(
        self, before: Diagnosis, first: Outcome, patient: Patient, rounds: Sequence[Round]
    ) -> Treated:
        proven = [one for one in rounds if one.proof is not None and one.proof.reproduced]
        helped = [one for one in rounds if one.winner is not None]
        changed = {path: (self._texts[path], text) for path, text in patient.sources.items()}
        status: Status
        if proven:
            status, said = "treated", _proven_words(proven)
        elif helped:
            why = "no edit of the source is proven: what to do is told in words"
            status, said = "instructed", f"a remedy helped in the trials, but {why}."
        elif any(one.instruction for one in rounds):
            why = "nothing that was tried helped" if any(one.trials for one in rounds) else _UNTRIED
            status, said = "instructed", f"{why}: what to do is told in words."
        else:
            status, said = "not treated", "nothing that was tried helped."
        baseline, after = self._seeds(first, rounds)
        return Treated(
            self._path(),
            self.args,
            status,
            said,
            before,
            baseline,
            tuple(rounds),
            after,
            patient.diagnosis if proven else None,
            changed,
            patient.args if patient.args != self.args else None,
            self._cost(first),
            self.trial_steps,
        )

    def _seeds(
        self, first: Outcome, rounds: Sequence[Round]
    ) -> tuple[tuple[Outcome, ...], tuple[Outcome, ...]]:
        """The runs of the first script and of the last that worked, further seeds behind the whole run."""
        seeds = [
            one for one in self._spent if one.arm.name.startswith("before, seed") and not one.arm.sources
        ]
        baseline = [first, *seeds]
        last = next((one for one in reversed(rounds) if one.proof and one.proof.reproduced), None)
        if last is not None and last.proof is not None:
            return tuple(baseline), (last.proof.outcome,)
        won = next((one.winner for one in reversed(rounds) if one.winner), None)
        return tuple(baseline), won.outcomes if won is not None else ()


def _same_remedy(plan: Sequence[Course], winner: Trial) -> Edited | None:
    """An edit that carries out the remedy of an intervention which itself has none."""
    for course in plan:
        for candidate in course.candidates:
            if candidate.remedy == winner.candidate.remedy and candidate.edited is not None:
                return candidate.edited
    return None


def _trouble(diagnosis: Diagnosis) -> int:
    """How bad a diagnosis is: the lower the worse."""
    if not diagnosis.problems:
        return len(SEVERITIES)
    return SEVERITIES.index(diagnosis.problems[0].severity)


def _work(outcome: Outcome, whole: Outcome) -> float:
    """Its steps, as steps of the first run: one of another batch size is another amount of work."""
    sizes = [one.run.settings.get("batch_size") if one.run is not None else None for one in (outcome, whole)]
    its, usual = (size if isinstance(size, int | float) and size > 0 else None for size in sizes)
    return outcome.steps * (its / usual if its and usual else 1.0)


def _compared(by: Yardstick, before: Run, after: Run) -> Verdict:
    """The whole runs beside each other."""
    first, last = read_level(before, by), read_level(after, by)
    return judge(by, [Pair(0, first, last)] if first is not None and last is not None else [])


def _failed(outcome: Outcome, before: Outcome) -> bool:
    """A script that ends with an error is not mended, whatever its loss."""
    return outcome.ended == "crashed" or outcome.cut_short(before.steps)


def _args(edited: Edited, before: tuple[str, ...]) -> tuple[str, ...]:
    return before if edited.args is None else edited.args


def _instead(edited: Edited, why: str) -> Instruction:
    return Instruction(f"{edited.text} ({why}: not applied)", None)


def _proven_words(proven: Sequence[Round]) -> str:
    count = "one change" if len(proven) == 1 else f"{len(proven)} changes, one after the other,"
    last = proven[-1].proof
    assert last is not None
    left = "; nothing is wrong with it any more" if last.diagnosis.verdict == "healthy" else ""
    return f"{count} mended it, and the edited script shows the same gain{left}."
