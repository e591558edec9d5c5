"""Whether and what the first steps learn."""

from __future__ import annotations

import numpy as np

from traindx.core.facts import facts, number
from traindx.core.nouns import Number
from traindx.core.number_text import short
from traindx.evidence.case import Case
from traindx.evidence.stats import noise
from traindx.experiment.arm_diagnosis import acute
from traindx.experiment.preflight.ablation import Wording, judged
from traindx.experiment.preflight.arm_differences import start_and_end, still_falling
from traindx.experiment.preflight.check import CheckAnswer, failed, passed, unknown
from traindx.experiment.preflight.failure_advice import from_finding
from traindx.experiment.preflight.observations import (
    NO_INPUTS,
    ONE_BATCH,
    OTHER_LABELS,
    UNTOUCHED,
    Flight,
)

_LEAST = 5
# A fall counts beyond so many standard errors, and so much of the first loss.
_CLEAR, _LITTLE = 3.0, 0.005


def loss_stays_finite(flight: Flight, case: Case) -> CheckAnswer:
    attempt = flight.attempts[UNTOUCHED]
    if attempt.ended == "crashed":
        return failed(
            f"the script broke after {attempt.steps:,} steps: {attempt.message}",
            do="Fix the error first.",
            steps=attempt.steps,
        )
    finding = flight.trouble(
        *"nan_from_start nan_after_rise nan_out_of_nothing loss_nonfinite grad_nonfinite".split(),
        *"weights_nonfinite loss_masked_nan loss_diverges grad_explodes".split(),
    )
    if finding is not None:
        return from_finding(flight, finding)
    loss = flight.losses(UNTOUCHED)
    if not loss.size:
        return unknown("no training loss was seen")
    finite = loss[np.isfinite(loss)]
    if not finite.size:
        return failed(
            "the loss is not finite from the first step.", do="Look at the first NaN with 'traindx run'."
        )
    if loss.size < _LEAST:
        return unknown(f"{loss.size} steps are too few to decide")
    window = max(1, min(10, finite.size // 4))
    start, end = float(np.median(finite[:window])), float(np.median(finite[-window:]))
    numbers: dict[str, Number] = {"start": start, "end": end, "steps": int(loss.size)}
    text = f"loss {short(start)} → {short(end)} in {loss.size:,} steps"
    # The error of the difference of two medians.
    error = 1.25 * noise(finite) * np.sqrt(2.0 / window)
    if case.surrogate or start - end > max(_CLEAR * error, _LITTLE * abs(start)):
        return passed(f"{text}.", **numbers)
    return unknown(f"{text}: finite, but no fall beyond its noise yet.", **numbers)


_DONE, _RIGHT = 0.1, 0.97
_STUCK = 0.9
_STEPS_LEAST = 60
_DO_ABOUT_ONE_BATCH = (
    "A model that cannot learn one batch by heart cannot learn the data: look at the other failures, then "
    "at the learning rate ('traindx lr-find')."
)


def one_batch(flight: Flight) -> CheckAnswer:
    case = flight.case(ONE_BATCH)
    if case is None:
        return unknown(flight.why_not(ONE_BATCH))
    if case.surrogate or len(case.inside.optimizers) > 1:
        return unknown("several optimizers or a surrogate loss: its level says nothing")
    loss = flight.losses(ONE_BATCH)
    if loss.size < 10:
        return unknown(f"only {loss.size} steps were made", steps=int(loss.size))
    if not np.isfinite(loss).all():
        at = int(np.argmax(~np.isfinite(loss))) + 1
        return failed(
            f"on one batch the loss is no longer finite at step {at:,}.", do=_DO_ABOUT_ONE_BATCH, step=at
        )
    start, end = start_and_end(loss)
    floor, chance = _bounds(flight, start)
    numbers: dict[str, Number] = {"start": start, "end": end, "floor": floor, "steps": int(loss.size)}
    fell = f"loss {short(start)} → {short(end)} in {loss.size:,} steps on one batch"
    details = f", floor {short(floor)}" if floor else ""
    right_share = _right_share(case)
    if right_share is not None:
        numbers["right_share"] = right_share
        details += f", {right_share:.0%} right"
    if chance > floor and (end - floor) <= _DONE * (chance - floor):
        return passed(f"{fell}{details}.", **numbers)
    if right_share is not None and right_share >= _RIGHT:
        return passed(f"{fell}{details}.", **numbers)
    composed = len(facts(flight.measure("start").get("calls"))) > 1
    return _not_done(case, loss, fell + details, numbers, (start, end, floor), composed=composed)


def _not_done(
    case: Case,
    loss: np.ndarray,
    fell: str,
    numbers: dict[str, Number],
    levels: tuple[float, float, float],
    *,
    composed: bool,
) -> CheckAnswer:
    start, end, floor = levels
    if start <= floor or start <= 0:
        return unknown(f"{fell}: a loss that starts at its floor, or below zero, says nothing.", **numbers)
    if loss.size < _STEPS_LEAST:
        return unknown(f"{fell}: too few to decide.", **numbers)
    if composed:
        return unknown(
            f"{fell}: several losses are summed, and what of them must fall is not known.", **numbers
        )
    if end > 1.5 * start:
        return failed(f"{fell}: it rises.", do=_DO_ABOUT_ONE_BATCH, cause="lr_too_high", **numbers)
    if still_falling(loss):
        return unknown(f"{fell}, and still falling: more steps would decide (--steps).", **numbers)
    if (end - floor) > _STUCK * (start - floor) and case.inside.losses:
        return failed(f"{fell}: it is stuck.", do=_DO_ABOUT_ONE_BATCH, cause="", **numbers)
    return unknown(f"{fell}: it stops above zero, and what holds it there is not known.", **numbers)


def _right_share(case: Case) -> float | None:
    """The share of right answers at the last looks."""
    curve = case.curve("output/right_share")
    return float(np.median(curve.y[-3:])) if curve is not None and len(curve) >= 3 else None


def _bounds(flight: Flight, start: float) -> tuple[float, float]:
    """The lowest loss that the first batch allows, and what a constant answer gives or the start if lower.

    Both on the scale that is trained on.
    """
    calls = facts(flight.measure("start").get("calls"))
    if len(calls) != 1:
        return 0.0, start
    floor, constant, value = (number(calls[0], key) for key in ("floor", "constant", "value"))
    ratio = start / value if value and value > 0 else 0.0
    if not 0.5 < ratio < 2.0 or floor is None or constant is None:
        return 0.0, start
    return floor * ratio, min(start, constant * ratio) if constant > floor else start


_SAME_STEPS = 20
_NOTHING = 1e-6
_WITHOUT_INPUTS = Wording(
    changed="with zeroed inputs",
    nothing="what was learned needs no input",
    do="Look whether the inputs reach the model, hold what the targets ask for, and belong to them.",
    cause="misaligned_labels",
)


def inputs_matter(flight: Flight) -> CheckAnswer:
    losses, losses_without = flight.losses(UNTOUCHED), flight.losses(NO_INPUTS)
    steps = min(losses.size, losses_without.size)
    if steps >= _SAME_STEPS and flight.case(NO_INPUTS) and (losses[:steps] == losses_without[:steps]).all():
        change = number(flight.measure("inputs"), "change")
        if change is None or change > _NOTHING:
            return unknown(f"all {steps:,} losses are the same: the zeros did not reach the training.")
        return failed(
            f"all {steps:,} losses are exactly the same when the input is zeros.",
            do="Look whether the input reaches the model: overwritten, cut off, multiplied by zero?",
            cause="constant_inputs",
            steps=steps,
        )
    return judged(flight, NO_INPUTS, _WITHOUT_INPUTS)


_WITH_OTHER_LABELS = Wording(
    changed="with shuffled labels",
    nothing="the labels might as well be random",
    do="Look whether inputs and labels belong together: print a few pairs and check them by eye.",
    cause="misaligned_labels",
)


def labels_matter(flight: Flight) -> CheckAnswer:
    return judged(flight, OTHER_LABELS, _WITH_OTHER_LABELS)


_SURE = 0.5
# What comes with length: nothing to stop a long run for.
_LATER = ("overfitting",)


def diagnosis_clean(flight: Flight) -> CheckAnswer:
    diagnosis = flight.diagnosis
    if diagnosis is None:
        return unknown(flight.why_not(UNTOUCHED))
    grave = [problem for problem in acute(diagnosis) if problem.hypotheses]
    ran = sum(check.status == "ran" for check in diagnosis.coverage)
    if not grave:
        return passed(f"{ran} detectors ran, nothing of medium severity or above.", detectors=ran)
    worst = max(grave, key=lambda problem: (problem.symptom not in _LATER, problem.hypotheses[0].confidence))
    first = worst.hypotheses[0]
    suspicion = f"{worst.summary.rstrip('.')}. Likeliest cause: {first.title} ({first.confidence:.0%})"
    if first.confidence < _SURE or worst.symptom in _LATER:
        return unknown(f"a suspicion: {suspicion}; a longer run would show.", confidence=first.confidence)
    do = first.fixes[0].summary if first.fixes else ""
    return failed(f"{suspicion}.", do=do, cause=first.cause, confidence=first.confidence, problems=len(grave))
