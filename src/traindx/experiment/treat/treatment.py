"""Diagnose, plan, try, judge, edit, prove: one change at a time until nothing is left to fix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from traindx.core.nouns import Diagnosis, Run
from traindx.evidence.phase import badness
from traindx.experiment.arm_diagnosis import acute, examined
from traindx.experiment.arms import Arm, Notify, Outcome, Workshop
from traindx.experiment.horizon import horizon
from traindx.experiment.treat.candidates import CauseCandidates, as_edits, by_hand, candidates_by_cause
from traindx.experiment.treat.ledger import UNTOUCHED, Ledger
from traindx.experiment.treat.proof import Proving, after_edit
from traindx.experiment.treat.remedy_verdict import symptoms_of
from traindx.experiment.treat.request import ScriptState, TreatRequest
from traindx.experiment.treat.results import Round, Status, Treated, records_after
from traindx.experiment.treat.screening import Screening
from traindx.experiment.treat.stopping import when_to_stop
from traindx.knowledge.advice import advised, without_fixes
from traindx.source.script import Script

Planner = Callable[[Diagnosis, "Script | None"], Sequence[CauseCandidates]]
_TO_THE_END = (
    "A script whose steps cannot be seen is tried to its end: give more time (--time-budget) or fewer epochs."
)
_UNTRIED = "no trial could be run for the likely cause"


class Treatment:
    """The treatment of one script; `notify` is called with what happens, `plan` says what to try."""

    def __init__(
        self,
        workshop: Workshop,
        script: Script | None,
        args: Sequence[str],
        request: TreatRequest,
        notify: Notify,
        plan: Planner | None = None,
        *,
        save_model: Path | None = None,
    ) -> None:
        self.script = script
        self.args = tuple(args)
        self.request = request
        self.notify = notify
        path = script.main.path if script is not None else workshop.program.name
        self.ledger = Ledger(workshop, path, request, notify)
        self._proving = Proving(self.ledger, request, notify, save_model)
        self._plan = plan or (lambda diagnosis, script: candidates_by_cause(diagnosis, script, request.only))

    def run(self, recorded: Run | None = None) -> Treated:
        """Everything; `recorded` is a run of this script from before, to begin with its diagnosis."""
        [first] = self.ledger.run([Arm(UNTOUCHED, steps=self.request.steps)], self.ledger.enough_seen())
        if first.run is None or not first.steps:
            reason = f"the script could not be observed: {first.message}"
            return self._treated("unclear", reason, None, (first,))
        if first.unit != "steps" and first.ended == "timed out":
            return self._treated("unclear", f"{first.message}. {_TO_THE_END}", None, (first,))
        first, diagnosis = self._worst_training(first)
        if recorded is not None:
            diagnosis = examined(recorded, self.script)
        self.notify("diagnosed", {"diagnosis": diagnosis, "outcome": first})
        if diagnosis.verdict != "problem" and not self.request.healthy_too:
            pooled_diagnosis = examined(diagnosis.run, self.script, unchanged=True)
            if pooled_diagnosis.verdict == "problem":
                return self._found_elsewhere(pooled_diagnosis, first)
            status, reason = _left_alone(diagnosis, first)
            return self._treated(status, reason, without_fixes(diagnosis), (first,))
        state = ScriptState(self.script, self.args, first, diagnosis)
        rounds: list[Round] = []
        while len(rounds) < self.request.rounds:
            round_ = self._round(state)
            if round_ is None:
                break
            rounds.append(round_)
            if self.request.dry_run or not round_.proven:
                break
            assert round_.edited is not None
            assert round_.proof is not None
            state = after_edit(state, round_.edited, round_.proof)
            if state.diagnosis.verdict != "problem" or self.ledger.workshop.spent:
                break
        return self._result(diagnosis, first, state, rounds)

    def _found_elsewhere(self, diagnosis: Diagnosis, first: Outcome) -> Treated:
        """This run shows nothing, another command did: no trial could show that it is gone."""
        plan = tuple(self._plan(diagnosis, self.script))
        reason = f"this run itself shows nothing to fix, but: {diagnosis.problems[0].summary}"
        round_ = Round(diagnosis, plan, None, instruction=by_hand(plan, ()))
        return replace(self._treated("instructed", reason, diagnosis, (first,)), rounds=(round_,))

    def _worst_training(self, first: Outcome) -> tuple[Outcome, Diagnosis]:
        """Of several trainings of a script (a resume, folds) the first that has the worst problem."""
        assert first.run is not None
        diagnoses = [examined(run, self.script) for run in first.trainings or (first.run,)]
        self.ledger.training = min(range(len(diagnoses)), key=lambda at: badness(diagnoses[at]))
        outcome = self.ledger.named(first)
        assert outcome.run is not None
        return outcome, replace(diagnoses[self.ledger.training], run=outcome.run)

    def _round(self, state: ScriptState) -> Round | None:
        plan = tuple(self._plan(state.diagnosis, state.script))
        if not state.baseline.changeable:
            plan = tuple(as_edits(plan, state))
        length = state.baseline.steps
        self.ledger.proof_seconds = state.baseline.seconds
        # A limit of steps would end the script in the first of its trainings.
        baseline = state.baseline
        whole_length = self.request.healthy_too or len(baseline.trainings) > 1 or baseline.unit != "steps"
        steps = length if whole_length else horizon(state.diagnosis, length)
        self.notify("planned", {"plan": plan, "horizon": steps, "length": length, "outcome": state.baseline})
        round_ = Round(state.diagnosis, plan, steps)
        if not plan:
            return None
        if self.request.dry_run:
            return round_
        if not any(course.candidates for course in plan):
            return replace(round_, instruction=by_hand(plan, ()))
        screening = Screening(self.ledger, state, steps, self.request, self.notify)
        trials, winner = screening.run(plan)
        round_ = replace(round_, trials=tuple(trials), winner=winner)
        if winner is None:
            return replace(round_, instruction=by_hand(plan, round_.records))
        return self._proving.prove(state, round_, winner)

    # The end.

    def _treated(
        self, status: Status, summary: str, before: Diagnosis | None, arms: tuple[Outcome, ...]
    ) -> Treated:
        cost = self.ledger.cost(arms[0])
        return Treated(self.ledger.path, self.args, status, summary, before, arms, cost=cost)

    def _result(
        self, before: Diagnosis, first: Outcome, state: ScriptState, rounds: Sequence[Round]
    ) -> Treated:
        proven = [round_ for round_ in rounds if round_.proven]
        before = advised(before, rounds[0].records if rounds else ())
        status, summary = in_words(before, rounds, proven)
        texts = self._proving.texts
        return replace(
            self._treated(status, summary, before, self.ledger.before(first)),
            rounds=tuple(rounds),
            after=_outcomes_after(rounds, proven),
            final=advised(state.diagnosis, records_after(rounds)) if proven else None,
            sources={path: (texts[path], text) for path, text in state.sources.items()},
            new_args=state.args if state.args != self.args else None,
            trial_steps=self.ledger.trial_steps,
            stop=when_to_stop(rounds, before) if not proven else (),
        )


def _left_alone(before: Diagnosis, first: Outcome) -> tuple[Status, str]:
    """Why nothing is tried."""
    if first.ended == "crashed":
        return "unclear", f"{first.message}. The steps before that show nothing else to fix."
    if before.verdict != "healthy":
        return "unclear", "the training was too short or logged too little to say what is wrong with it."
    part = "this training" if first.ended == "finished" else f"its first {first.steps:,} {first.unit}"
    word = "calls for a change in" if before.problems else "is wrong with"
    return "healthy", f"nothing {word} {part}: nothing is changed."


def _outcomes_after(rounds: Sequence[Round], proven: Sequence[Round]) -> tuple[Outcome, ...]:
    """The runs of the last script that is proven, else of what helped last."""
    if proven and proven[-1].proof is not None:
        return (proven[-1].proof.outcome,)
    won = next((round_.winner for round_ in reversed(rounds) if round_.winner), None)
    return won.outcomes if won is not None else ()


def in_words(before: Diagnosis, rounds: Sequence[Round], proven: Sequence[Round]) -> tuple[Status, str]:
    """How a treatment ended, as a status and a sentence."""
    if proven:
        return _proven_words(before, proven)
    if any(round_.winner is not None for round_ in rounds):
        reason = "no edit of the source is proven: see the instructions"
        return "instructed", f"a remedy helped in the trials, but {reason}."
    if any(round_.instruction for round_ in rounds):
        reason = "nothing that was tried helped" if any(round_.trials for round_ in rounds) else _UNTRIED
        return "instructed", f"{reason}: see the instructions."
    if not any(round_.trials for round_ in rounds):
        return "not treated", "nothing was tried: this is the plan."
    return "not treated", "nothing that was tried helped."


def _proven_words(before: Diagnosis, proven: Sequence[Round]) -> tuple[Status, str]:
    """What was reached, and what is still wrong: fixed only where the symptom itself is gone."""
    count = "one change" if len(proven) == 1 else f"{len(proven)} changes, one after the other,"
    last = proven[-1].proof
    assert last is not None
    symptoms = [problem.symptom for problem in acute(last.diagnosis)]
    remainder = f"; still found in it: {', '.join(dict.fromkeys(symptoms))}" if symptoms else ""
    if last.diagnosis.verdict == "healthy":
        remainder = "; nothing is wrong with it any more"
    stays = symptoms_of(before) & symptoms_of(last.diagnosis)
    status: Status = "improved" if stays else "treated"
    word = "improved" if stays else "fixed"
    return status, f"{count} {word} it, and the edited script shows the same gain{remainder}."
