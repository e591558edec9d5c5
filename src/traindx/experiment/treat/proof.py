"""The winner of the trials written into the source, and the edited script run by itself: the proof."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from traindx.core.nouns import Run
from traindx.experiment.arm_diagnosis import examined, rewritten
from traindx.experiment.arms import Arm, Notify, Outcome
from traindx.experiment.edit import Edited, Instruction, edit_for_all, text_now
from traindx.experiment.measure import Yardstick, read_pair, yardstick
from traindx.experiment.runtime.change import Change
from traindx.experiment.treat.before_after import before_after
from traindx.experiment.treat.candidates import CauseCandidates, by_hand
from traindx.experiment.treat.expectations import expectations
from traindx.experiment.treat.ledger import EDITED, Ledger
from traindx.experiment.treat.remedy_verdict import (
    TrialVerdict,
    by_the_best,
    changed_symptoms,
    judge,
)
from traindx.experiment.treat.request import ScriptState, TreatRequest
from traindx.experiment.treat.results import Proof, Round, Trial
from traindx.knowledge.catalogue import symptom_kind

# The edited script must keep at least so much of what the trial had gained.
_KEPT = 0.5


class Proving:
    """Edits and proofs of one treatment; `texts` are the files as they were before the first edit."""

    def __init__(
        self, ledger: Ledger, request: TreatRequest, notify: Notify, save_model: Path | None
    ) -> None:
        self.texts: dict[str, str] = {}
        self._ledger = ledger
        self._request = request
        self._notify = notify
        self._save_model = save_model

    def prove(self, state: ScriptState, round_: Round, winner: Trial) -> Round:
        """The round with its edit and proof; with words where there is no edit, or it does not hold."""
        edited = _edit(state, round_.plan, winner)
        if isinstance(edited, Instruction):
            return replace(round_, instruction=edited)
        for path in edited.sources:
            self.texts.setdefault(path, text_now(path))
        self._notify("edited", {"edited": edited, "winner": winner})
        proof = self._proof(state, winner, edited)
        if proof is not None and proof.reproduced:
            return replace(round_, edited=edited, proof=proof)
        reason = "the edited script did not show the gain of the trial"
        if proof is None or _failed(proof.outcome, state.baseline):
            reason = f"the edited script was not proven: {self._ledger.outcomes[-1].message}"
        unproven = replace(round_, proof=proof)
        if proof is not None and proof.refuted:
            return replace(unproven, instruction=by_hand(round_.plan, unproven.records))
        words = Instruction(f"{edited.text} ({reason}: not applied)", None)
        return replace(unproven, instruction=words)

    def _proof(self, state: ScriptState, winner: Trial, edited: Edited) -> Proof | None:
        """The edited script for as long as the one before ran, without changes at run time.

        A trial that was the same run is not repeated.
        """
        arm = self._arm(state, edited)
        same_runs = [outcome for outcome in winner.outcomes if replace(outcome.arm, name=arm.name) == arm]
        [outcome] = same_runs or self._ledger.run([arm])
        if outcome.run is None or state.baseline.run is None:
            return None
        verdict = _compared(self._by(state, winner), state.baseline.run, outcome.run)
        scores = before_after(state.baseline.run, outcome.run)
        script = rewritten(state.script, edited.sources)
        diagnosis = examined(outcome.run, script, proven=winner.record)
        symptom_gone, fresh = changed_symptoms(state.diagnosis, diagnosis)
        verdict = replace(verdict, symptom_gone=symptom_gone, new_problems=fresh)
        trial = winner.verdict
        enough = trial is None or trial.by_symptom or verdict.gain >= _KEPT * trial.gain
        better = enough or (verdict.gain > 0 and not fresh)
        reproduced = verdict.word == "helped" or (better and bool(symptom_gone) and verdict.word != "hurt")
        if trial is not None and trial.by_symptom:
            reproduced = reproduced or (bool(symptom_gone) and not fresh)
            verdict = replace(verdict, by_symptom=True, word="helped" if reproduced else verdict.word)
        reproduced = reproduced and not _failed(outcome, state.baseline)
        if reproduced and (not symptom_gone or _unequal(state)):
            verdict = by_the_best(verdict, [(state.baseline.run, outcome.run)])
            reproduced = not verdict.best
        diagnoses = state.diagnosis, diagnosis
        expected = expectations(winner.candidate.remedy, state.baseline.run, outcome.run, diagnoses=diagnoses)
        proof = Proof(outcome, verdict, diagnosis, reproduced, expected, scores)
        if reproduced:
            self._keep_weights(outcome)
        self._notify("proven", {"proof": proof})
        return proof

    def _arm(self, state: ScriptState, edited: Edited) -> Arm:
        cut = state.baseline.ended in ("timed out", "stopped") and state.baseline.unit == "steps"
        arm = state.arm(EDITED, steps=state.baseline.steps if cut else self._request.steps).edited(edited)
        return replace(arm, changes=(Change("save_weights", {}),)) if self._save_model else arm

    def _keep_weights(self, outcome: Outcome) -> None:
        if self._save_model is None:
            return
        self._save_model.mkdir(parents=True, exist_ok=True)
        for model in outcome.recording.glob("model*"):
            shutil.copyfile(model, self._save_model / f"treated_{model.name}")

    def _by(self, state: ScriptState, winner: Trial) -> Yardstick:
        if winner.verdict is not None:
            return winner.verdict.by
        assert state.baseline.run is not None
        symptoms = [problem.symptom for problem in state.diagnosis.problems[:1]]
        return yardstick(state.baseline.run, symptoms, self._request.metric) or Yardstick("loss")


def after_edit(state: ScriptState, edited: Edited, proof: Proof) -> ScriptState:
    """The script after an edit that was proven: its proof is the baseline of the next round."""
    return ScriptState(
        rewritten(state.script, edited.sources),
        state.args if edited.args is None else edited.args,
        proof.outcome,
        proof.diagnosis,
        state.sources | dict(edited.sources),
    )


def _edit(state: ScriptState, plan: Sequence[CauseCandidates], winner: Trial) -> Edited | Instruction:
    """The winner as an edit; where its change has none, another edit for the same remedy."""
    if winner.candidate.edited is not None:
        return winner.candidate.edited
    if state.script is None:
        return Instruction(f"{winner.candidate.title}: {winner.candidate.name}", None)
    run = state.baseline.run
    changes, texts = winner.candidate.changes, state.sources
    edited = edit_for_all(state.script, changes, run=run, args=state.args, texts=texts)
    if isinstance(edited, Edited):
        return edited
    remedy = winner.candidate.remedy
    other_edits = [c.edited for course in plan for c in course.candidates if c.edited and c.remedy == remedy]
    return other_edits[0] if other_edits else edited


def _compared(by: Yardstick, before: Run, after: Run) -> TrialVerdict:
    """The two whole runs compared."""
    pair = read_pair(by, before, after)
    return judge(by, [pair] if pair is not None else [])


def _unequal(state: ScriptState) -> bool:
    """Whether validation is worse than training, or than its own best: then a fix must better the best."""
    return any(symptom_kind(problem.symptom) == "unequal" for problem in state.diagnosis.problems[:1])


def _failed(outcome: Outcome, before: Outcome) -> bool:
    """A script that ends with an error is not fixed, whatever its loss."""
    return outcome.ended == "crashed" or outcome.cut_short(before.steps)
