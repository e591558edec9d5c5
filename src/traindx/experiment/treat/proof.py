"""The winner of the trials written into the source, and the edited script run by itself: the proof."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from traindx.core.nouns import Run
from traindx.experiment.arm_diagnosis import examined, rewritten
from traindx.experiment.arms import Arm, Outcome
from traindx.experiment.changes.save_weights import FILE as WEIGHTS
from traindx.experiment.edit import Edited, Instruction, edit_for_all, text_now
from traindx.experiment.measure import Yardstick, read_level, yardstick
from traindx.experiment.runtime.change import Change
from traindx.experiment.treat.candidates import CauseCandidates
from traindx.experiment.treat.expectations import expectations
from traindx.experiment.treat.ledger import EDITED, Ledger, Tell
from traindx.experiment.treat.remedy_verdict import Pair, TrialVerdict, changed_symptoms, judge
from traindx.experiment.treat.request import ScriptState, TreatRequest
from traindx.experiment.treat.results import Proof, Round, Trial

# The edited script must keep at least so much of what the trial had gained.
_KEPT = 0.5


class Proving:
    """Edits and proofs of one treatment; `texts` are the files as they were before the first edit."""

    def __init__(self, ledger: Ledger, wishes: TreatRequest, tell: Tell, save_model: Path | None) -> None:
        self.texts: dict[str, str] = {}
        self._ledger = ledger
        self._wishes = wishes
        self._tell = tell
        self._save_model = save_model

    def prove(self, patient: ScriptState, done: Round, winner: Trial) -> Round:
        """The round with its edit and proof; with words where there is no edit, or it does not hold."""
        edited = _edit(patient, done.plan, winner)
        if isinstance(edited, Instruction):
            return replace(done, instruction=edited)
        for path in edited.sources:
            self.texts.setdefault(path, text_now(path))
        self._tell("edited", {"edited": edited, "winner": winner})
        proof = self._proof(patient, winner, edited)
        if proof is not None and proof.reproduced:
            return replace(done, edited=edited, proof=proof)
        why = "the edited script did not show the gain of the trial"
        if proof is None or _failed(proof.outcome, patient.baseline):
            why = f"the edited script was not proven: {self._ledger.outcomes[-1].said}"
        words = Instruction(f"{edited.text} ({why}: not applied)", None)
        return replace(done, edited=None, proof=proof, instruction=words)

    def _proof(self, patient: ScriptState, winner: Trial, edited: Edited) -> Proof | None:
        """The edited script for as long as the one before ran, untouched by interventions."""
        [outcome] = self._ledger.run([self._arm(patient, edited)])
        if outcome.run is None or patient.baseline.run is None:
            return None
        verdict = _compared(self._by(patient, winner), patient.baseline.run, outcome.run)
        diagnosis = examined(outcome.run, rewritten(patient.script, edited.sources))
        gone, fresh = changed_symptoms(patient.diagnosis, diagnosis)
        verdict = replace(verdict, symptom_gone=gone, new_problems=fresh)
        told = winner.verdict
        kept = told is None or told.by_symptom or verdict.gain >= _KEPT * told.gain
        better = kept or (verdict.gain > 0 and not fresh)
        reproduced = verdict.word == "helped" or (better and bool(gone) and verdict.word != "hurt")
        if told is not None and told.by_symptom:
            reproduced = reproduced or (bool(gone) and not fresh)
            verdict = replace(verdict, by_symptom=True, word="helped" if reproduced else verdict.word)
        reproduced = reproduced and not _failed(outcome, patient.baseline)
        both = patient.diagnosis, diagnosis
        expected = expectations(winner.candidate.remedy, patient.baseline.run, outcome.run, diagnoses=both)
        proof = Proof(outcome, verdict, diagnosis, reproduced, expected)
        if reproduced:
            self._keep_weights(outcome)
        self._tell("proven", {"proof": proof})
        return proof

    def _arm(self, patient: ScriptState, edited: Edited) -> Arm:
        cut = patient.baseline.ended in ("timed out", "stopped")
        return Arm(
            EDITED,
            changes=(Change("save_weights", {}),) if self._save_model else (),
            steps=patient.baseline.steps if cut else self._wishes.steps,
            sources=patient.sources | dict(edited.sources),
            args=patient.args if edited.args is None else edited.args,
        )

    def _keep_weights(self, outcome: Outcome) -> None:
        kept = outcome.recording / WEIGHTS
        if self._save_model is not None and kept.exists():
            self._save_model.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(kept, self._save_model)

    def _by(self, patient: ScriptState, winner: Trial) -> Yardstick:
        if winner.verdict is not None:
            return winner.verdict.by
        assert patient.baseline.run is not None
        symptoms = [problem.symptom for problem in patient.diagnosis.problems[:1]]
        return yardstick(patient.baseline.run, symptoms, self._wishes.metric) or Yardstick("loss")


def mended(patient: ScriptState, edited: Edited, proof: Proof) -> ScriptState:
    """The script after an edit that was proven: its proof is the baseline of the next round."""
    return ScriptState(
        rewritten(patient.script, edited.sources),
        patient.args if edited.args is None else edited.args,
        proof.outcome,
        proof.diagnosis,
        patient.sources | dict(edited.sources),
    )


def _edit(patient: ScriptState, plan: Sequence[CauseCandidates], winner: Trial) -> Edited | Instruction:
    """The winner as an edit; where its intervention has none, another edit that does the same remedy."""
    if winner.candidate.edited is not None:
        return winner.candidate.edited
    if patient.script is None:
        return Instruction(f"{winner.candidate.title}: {winner.candidate.name}", None)
    run = patient.baseline.run
    changes, texts = winner.candidate.changes, patient.sources
    made = edit_for_all(patient.script, changes, run=run, args=patient.args, texts=texts)
    if isinstance(made, Edited):
        return made
    remedy = winner.candidate.remedy
    same = [c.edited for course in plan for c in course.candidates if c.edited and c.remedy == remedy]
    return same[0] if same else made


def _compared(by: Yardstick, before: Run, after: Run) -> TrialVerdict:
    """The whole runs beside each other."""
    first, last = read_level(before, by), read_level(after, by)
    return judge(by, [Pair(0, first, last)] if first is not None and last is not None else [])


def _failed(outcome: Outcome, before: Outcome) -> bool:
    """A script that ends with an error is not mended, whatever its loss."""
    return outcome.ended == "crashed" or outcome.cut_short(before.steps)
