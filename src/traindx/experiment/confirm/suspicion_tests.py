"""Suspicions tested: by what was recorded, by the cheapest experiment that could refute them, by a patch."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from traindx.core.nouns import Place, Problem
from traindx.experiment.arm_diagnosis import acute
from traindx.experiment.confirm.belief import Belief, ExperimentObservation
from traindx.experiment.confirm.next_experiment import ExperimentChoice, Price, steps_of
from traindx.experiment.prove.prove import Race
from traindx.experiment.prove.results import CannotProve, Proved, ProveRequest, VersionVerdict
from traindx.experiment.prove.sequential import QUICK
from traindx.experiment.prove.versions import Version, as_patch
from traindx.knowledge.catalogue import causes, symptoms
from traindx.knowledge.questions import entropy
from traindx.knowledge.suspicions import Suspicion, with_witnesses

if TYPE_CHECKING:
    from traindx.experiment.arms import Notify, Workshop
    from traindx.experiment.confirm.experiments import Planned
    from traindx.experiment.confirm.paired_runs import PairedRuns
    from traindx.experiment.confirm.recorded import Answer, RecordedCause
    from traindx.source.script import Script

DecidedBy = Literal["recording", "experiment", "patch", "nothing"]
# The share of a cause from which on it is confirmed, below which it is refuted, and the bits that experiments
# must have said for that by themselves.
_SURE, _OUT, _SPEAKS = 0.8, 0.1, 1.0
# The share that suffices where the change against this very cause removed the problem.
_SURE_WHEN_CURED = 0.6
# Bits about the suspicion, were it as likely as not, below which an experiment is not worth its time.
_WORTH = 0.03
# What an observation must weigh to be named among the reasons.
_SAYS = 0.3
_MOST_EXPERIMENTS = 4
# A place is right within so many lines: a statement may span some.
_NEAR_LINES = 2


@dataclass(frozen=True)
class SuspicionAnswer:
    """The answer about one suspicion. `by` is what decided: the recording, experiments, a patch, or nothing.

    `because` has the numbers; `place` says what is known of the line that was named.
    """

    suspicion: Suspicion
    answer: Answer
    because: str
    by: DecidedBy
    place: str = ""
    before: float | None = None
    after: float | None = None
    experiments: tuple[str, ...] = ()
    shown: tuple[ExperimentObservation, ...] = ()
    proved: Proved | None = None
    """The pairs of runs with and without the patch."""
    seconds: float = 0.0


def by_the_recording(suspicion: Suspicion, recorded: RecordedCause) -> SuspicionAnswer | None:
    """What measurements decide without any run."""
    decided = recorded.decided()
    return None if decided is None else _recorded_answer(suspicion, recorded, *decided)


def _recorded_answer(
    suspicion: Suspicion, recorded: RecordedCause, answer: Answer, text: str
) -> SuspicionAnswer:
    place, because = _about_place(suspicion, recorded), f"measured in the recording: {text}"
    return SuspicionAnswer(suspicion, answer, because, "recording", place, recorded.share)


def by_experiments(
    suspicion: Suspicion,
    recorded: RecordedCause,
    menu: Sequence[Planned],
    pairs: PairedRuns,
    steps: int,
    price: Price,
    notify: Notify,
    *,
    earlier: Sequence[ExperimentObservation] = (),
    longer: bool = True,
) -> SuspicionAnswer:
    """Experiments that speak about one cause, the most decisive per second first.

    `earlier` are observations of experiments that were made before.
    """
    cause, belief = suspicion.cause, Belief.of(witnessed(recorded, suspicion))
    share_before, tried_ids, seconds = belief.shares[cause], list[str](), 0.0
    belief = belief.after(*earlier)
    failed = ""
    remaining = [plan for plan in menu if plan.experiment.id not in belief.done and _applies(plan, recorded)]
    while len(tried_ids) < _MOST_EXPERIMENTS and not _decided(belief, cause):
        able = [(_information(belief, plan, cause), plan) for plan in remaining]
        worth = [
            (bits / price.seconds(steps_of(plan, steps)), bits, plan) for bits, plan in able if bits >= _WORTH
        ]
        if not worth or not pairs.seconds_left:
            break
        _, bits, plan = max(worth, key=lambda entry: entry[0])
        length = steps_of(plan, steps)
        choice = ExperimentChoice((plan,), length, bits, price.seconds(length))
        notify("testing", {"suspicion": suspicion, "choice": choice})
        result = pairs.carry_out(choice, longer)
        remaining.remove(plan)
        tried_ids.append(plan.experiment.id)
        seconds += result.seconds
        failed = failed or ("" if result.shown else f"{plan.experiment.title}: {result.text}")
        belief = belief.after(*result.shown)
    answer, because = _verdict(belief, recorded, failed if tried_ids else "")
    by: DecidedBy = "experiment" if belief.shown else "recording"
    if answer == "not testable":
        by = "nothing"
    place = _about_place(suspicion, recorded)
    return SuspicionAnswer(
        suspicion, answer, because, by, place, share_before, belief.shares[cause], tuple(tried_ids),
        belief.shown, seconds=seconds,
    )  # fmt: skip


def _applies(plan: Planned, recorded: RecordedCause) -> bool:
    """Whether there is something for an experiment to change: one against a symptom needs that symptom."""
    return recorded.listed or not plan.experiment.symptoms


def witnessed(recorded: RecordedCause, suspicion: Suspicion) -> Problem:
    """The problem with the suspicion among its evidence; one of its own was made with it."""
    return with_witnesses(recorded.problem, [suspicion]) if recorded.listed else recorded.problem


def _decided(belief: Belief, cause: str) -> Answer | None:
    own_bits, share = belief.bits(cause), belief.shares[cause]
    cured = any(
        observation.outcome == "cured" and observation.bits(cause) >= _SPEAKS for observation in belief.shown
    )
    if share >= (_SURE_WHEN_CURED if cured else _SURE) and own_bits >= _SPEAKS:
        return "confirmed"
    if share <= _OUT and own_bits <= -_SPEAKS:
        return "refuted"
    rival = belief.first
    speaks_for_rival = belief.bits(rival) >= _SPEAKS
    return "refuted" if rival != cause and belief.shares[rival] >= _SURE and speaks_for_rival else None


def _information(belief: Belief, plan: Planned, cause: str) -> float:
    """What an experiment says about this one cause against all the others, in bits, were both as likely.

    A suspicion is tested however unlikely it looks.
    """
    experiment = plan.experiment
    rivals = [(rival, share) for rival, share in belief.shares.items() if rival != cause]
    rivals.append(("", belief.rest_now))
    total = sum(share for _, share in rivals)
    expected_entropy = 0.0
    for outcome in experiment.outcomes:
        own = experiment.likely(outcome, cause)
        rest = sum(share * experiment.likely(outcome, rival or None) for rival, share in rivals) / total
        expected_entropy += (own + rest) / 2 * entropy([own / (own + rest), rest / (own + rest)])
    return 1.0 - expected_entropy


def _verdict(belief: Belief, recorded: RecordedCause, failed: str) -> tuple[Answer, str]:
    cause = recorded.cause.id
    observed = " ".join(
        observation.text for observation in belief.shown if abs(observation.bits(cause)) >= _SAYS
    )
    answer = _decided(belief, cause)
    if answer == "refuted" and belief.bits(cause) > -_SPEAKS:
        observed = " ".join(
            observation.text for observation in belief.shown if observation.bits(belief.first) >= _SAYS
        )
        rival = causes()[belief.first].title
        return answer, f"{observed} {rival} explains it instead ({belief.shares[belief.first]:.0%})."
    if answer is not None:
        return answer, observed
    together, own_bits = recorded.together(), belief.bits(cause)
    if together is not None and (own_bits >= 0 if together[0] == "confirmed" else own_bits <= 0):
        return together[0], f"measured in the recording: {together[1]} {observed}".strip()
    if observed:
        return "not testable", f"the experiments do not decide: {observed}"
    if failed:
        return "not testable", f"no experiment could be made: {failed}."
    others_symptom = recorded.others_symptom
    if others_symptom:
        return "not testable", f"it would not explain what is wrong here ({others_symptom})."
    needs = f"; to measure it: {recorded.missing[0]}" if recorded.missing else ""
    return "not testable", f"no change of a running training would show it{needs}"


def untested(suspicion: Suspicion, recorded: RecordedCause, reason: str) -> SuspicionAnswer:
    """Nothing could be run: what the recording has against it, or why not."""
    together = recorded.together()
    if together is not None:
        return _recorded_answer(suspicion, recorded, *together)
    place = _about_place(suspicion, recorded)
    return SuspicionAnswer(suspicion, "not testable", reason, "nothing", place, recorded.share)


# The place.


def _about_place(suspicion: Suspicion, recorded: RecordedCause) -> str:
    """Whether measurements name the same line; empty where none was given."""
    place = suspicion.place
    if place is None:
        return ""
    stated, lengths = _line_text(place), recorded.lengths
    line_counts = [count for file, count in lengths.items() if _same_file(place.file, file)]
    if lengths and not line_counts:
        return f"{place.file} is no file of this program"
    if line_counts and place.line is not None and not 1 <= place.line <= max(line_counts):
        return f"{place.file} has {max(line_counts)} lines, so there is no {stated}"
    measured_places = recorded.lines or ((recorded.set_at,) if recorded.set_at is not None else ())
    if not measured_places:
        return f"nothing that was measured names a line, so {stated} could not be checked"
    if any(_same_place(place, measured) for measured in measured_places):
        return f"{stated} is where it {'was measured' if recorded.lines else 'is set'}"
    word = "it was measured at" if recorded.lines else "the script sets it at"
    return f"{word} {_line_text(measured_places[0])}, not at {stated}"


def _same_place(stated: Place, measured: Place) -> bool:
    is_near = stated.line is None or measured.line is None or abs(stated.line - measured.line) <= _NEAR_LINES
    return is_near and _same_file(stated.file, measured.file)


def _same_file(stated: str, path: str) -> bool:
    """Whether a path ends as it was stated."""
    ends = Path(os.path.normpath(stated)).parts
    return Path(path).parts[-len(ends) :] == ends


def _line_text(place: Place) -> str:
    name = os.path.basename(place.file)
    return name if place.line is None else f"{name}:{place.line}"


# A patch.


def by_patch(
    suspicion: Suspicion, workshop: Workshop, script: Script | None, steps: int | None, notify: Notify
) -> SuspicionAnswer:
    """If this edit removes the problem, what it changes was the cause."""
    candidate = as_patch(suspicion.patch, workshop.cwd)
    request = ProveRequest(steps=steps, rule=QUICK)
    notify("testing", {"suspicion": suspicion, "choice": None})
    try:
        proved = Race(workshop, script, Version("as it is"), [candidate], request, notify).run()
    except CannotProve as error:
        return SuspicionAnswer(suspicion, "not testable", f"{error}", "nothing")
    problems = acute(proved.diagnosis)
    symptom = symptoms()[problems[0].symptom].title if problems else ""
    answer, because = _of_patch(proved.best, symptom)
    by: DecidedBy = "patch" if answer != "not testable" else "nothing"
    return SuspicionAnswer(suspicion, answer, because, by, proved=proved, seconds=proved.cost.seconds)


def _of_patch(verdict: VersionVerdict, symptom: str) -> tuple[Answer, str]:
    if verdict.answer == "cannot tell":
        return "not testable", "the runs with the edit do not decide"
    if verdict.answer != "better":
        return "refuted", "the edit does not make it better"
    if symptom and verdict.symptom_gone is False:
        return "not testable", f"it is better, but the problem ({symptom.lower()}) is still there"
    return (
        "confirmed",
        f"with the edit the problem ({symptom.lower()}) is gone" if symptom else "with the edit it is better",
    )
