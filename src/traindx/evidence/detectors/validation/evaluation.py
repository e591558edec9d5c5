"""How the validation is done."""

import math
from typing import Any

import numpy as np

from traindx.evidence.detector import (
    Case,
    Cases,
    Curve,
    Detected,
    Detector,
    Event,
    Finding,
    Severity,
    Skipped,
    number,
)
from traindx.evidence.detectors._modes import what_modes_change, with_dropout
from traindx.evidence.detectors._number_text import text, times, where
from traindx.evidence.sampled import odd_objective, part
from traindx.testing.sketch import decay, run


@Detector("Validates in training mode", needs=("fact:models",), family="mode_validation")
def validates_in_train_mode(case: Case, *, min_passes: int = 2) -> Detected:
    """Validation runs in training mode, though the model has dropout or batch norm.

    Told by losses that are computed without gradients, and by passes over data without gradients, while the
    model is in training mode: dropout is on, and batch norm learns from what it should be measured on.

    Silent when modes change nothing, about what happens before the first step, and about a single pass
    without a loss (batch norm statistics are estimated anew in training mode on purpose).
    """
    noun = what_modes_change(case)
    if not noun:
        return Skipped()
    losses = {step for step in case.events("validated_in_train_mode") if step > 0}
    bare = {step for step in case.events("evaluated_in_train_mode") if step > 0}
    if not losses and len(bare) < min_passes:
        return None
    steps = sorted(losses | bare)
    return Finding(
        f"{len(steps)} validation{'s run' if len(steps) > 1 else ' runs'} in training mode, first after step "
        f"{text(steps[0])}: {noun} {'are' if ' and ' in noun else 'is'} at work while the model is measured.",
        "silent_defect",
        "medium",
        steps[0],
        series="val/loss" if losses else None,
        numbers={"validations": len(steps)},
        marks=tuple(steps[:20]),
    )


@Detector("Validation loss NaN or Inf", family="nonfinite")
def val_nonfinite(val_loss: Curve, loss: Curve | None = None, *, bad_share: float = 0.2) -> Detected:
    """The validation loss is NaN or Inf while the training loss is finite.

    The model still trains, but nothing can be said about it and no best checkpoint can be chosen. All
    evaluations lost is critical; the last ones, or a good share, high; single ones that passed, medium.

    Silent when the training loss is lost too (see loss_nonfinite).
    Known mistakes: a log that writes NaN for an evaluation that was skipped.
    """
    if not val_loss.broken:
        return None
    broken = np.flatnonzero(~val_loss.finite)
    onset = float(val_loss.series.steps[broken[0]])
    if loss is not None and loss.broken:
        return None
    count, total = int(broken.size), int(val_loss.finite.size)
    kind = "NaN" if np.isnan(val_loss.series.values[broken[0]]) else "Inf"
    severity: Severity = "medium"
    if count == total > 1:
        severity = "critical"
    elif count / total > bad_share or not val_loss.finite[-1]:
        severity = "high"
    phrase = " (no training loss is logged)"
    if loss is not None and len(loss):
        phrase = f", while the training loss is finite ({text(float(loss.y[-1]))} at the end)"
    return Finding(
        f"The validation loss is {kind} in {count} of {total} evaluations, first at {where(val_loss, onset)}"
        f"{phrase}.",
        "nonfinite",
        severity,
        step=onset,
        strength=1.0 if total > 1 else 0.7,
        numbers={"nonfinite": count, "evaluations": total, "nonfinite_share": count / total},
        marks=(onset,),
    )


@Detector("Validation inputs differ from training", needs=("fact:samples",), family="input_shift")
def validation_shifted(
    case: Case,
    *,
    min_distance: float = 0.4,
    far_distance: float = 1.5,
    distance_together: float = 0.6,
    min_rows: int = 64,
) -> Detected:
    """What the model is given in validation is on another scale, or about another place, than in training.

    Measured where inputs enter the model, feature by feature, for the middle feature: how far its mean moved,
    in deviations of training, and how its deviation changed, together as the distance of two normal
    distributions (Kullback-Leibler): 0.5 for a shift of one deviation alone, 0.65 for a deviation of a third
    or three times. Training and validation data of one kind lie within 0.2 of each other.

    Where images of validation have other sizes, or are few, all values together are compared, from
    {distance_together} on.

    Trouble from {min_distance} on, a clear defect from {far_distance} on. Silent with under {min_rows}
    samples, for whole numbers, and for small differences, which augmentation makes. Known mistakes: a test on
    other data on purpose.
    """
    held_out = part(case.inside.fact("samples"), "validation")
    moved, ratio = number(held_out, "shift"), number(held_out, "spread_ratio")
    if number(held_out, "together"):
        min_distance, min_rows = distance_together, 0
    if moved is None or ratio is None or (number(held_out, "rows") or 0) < min_rows or odd_objective(case):
        return Skipped("real-valued inputs of training and of validation")
    factor = max(ratio, 1 / ratio) if ratio > 0 else 1e6
    distance = 0.5 * (factor**-2 - 1.0 + 2.0 * math.log(factor) + moved**2)
    if distance < min_distance:
        return None
    wider = "as wide" if ratio >= 1 else "narrower"
    sentence = (
        f"In validation the inputs lie {text(moved)} deviations elsewhere than in training and spread "
        f"{times(factor)} {wider}."
    )
    numbers = {"shift": moved, "spread_ratio": ratio}
    return Finding(
        sentence, "silent_defect", "high" if distance >= far_distance else "medium", numbers=numbers
    )


def _facts(moved: float, ratio: float) -> dict[str, Any]:
    held_out = {"batches": 9, "taken": 500, "known": 0, "rows": 500.0, "shift": moved, "spread_ratio": ratio}
    return {"samples": {"taken": 900, "validation": held_out}}


def cases() -> Cases:
    yield from validates_in_train_mode.fires(
        with_dropout(
            [Event("validated_in_train_mode", "4 validation batches", step) for step in (16.0, 32.0)]
        ),
        with_dropout([Event("evaluated_in_train_mode", "a pass", step) for step in (16.0, 32.0)]),
    )
    yield from validates_in_train_mode.silent(
        with_dropout([]),
        with_dropout([Event("evaluated_in_train_mode", "a pass", 160.0)]),
        with_dropout([Event("validated_in_train_mode", "4 validation batches", 16.0)], dropout=0.0),
        with_dropout([Event("validated_in_train_mode", "the first loss", 0.0)]),
    )
    nan = float("nan")
    yield from val_nonfinite.fires(
        run({"loss": decay(80, 6.0, 5.2), "val/loss": (np.arange(7) * 10, [nan] * 7)}),
        run({"loss": decay(20, 2.0, 0.5), "val/loss": [*decay(17, 2.0, 0.6), float("inf"), nan, nan]}),
        run({"val/loss": [1.0, nan, nan]}),
    )
    yield from val_nonfinite.silent(
        run({"loss": decay(20, 2.0, 0.5), "val/loss": decay(20, 2.0, 0.6)}),
        run({"loss": [*decay(10, 2.0, 1.0), *[nan] * 10], "val/loss": [*decay(12, 2.0, 1.0), *[nan] * 8]}),
        run({"loss": [nan] * 10, "val/loss": [nan] * 10}),
    )
    yield from validation_shifted.fires(run({}, facts=_facts(0.3, 255.0)), run({}, facts=_facts(2.6, 1.0)))
    yield from validation_shifted.silent(run({}, facts=_facts(0.15, 1.02)), run({}, facts=_facts(0.4, 0.8)))
