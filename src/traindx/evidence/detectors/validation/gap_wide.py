"""Training ends far better than validation.

Compares every score that is logged for both sides (accuracy, F1, AUC, R2, ...): seen when the training score
is at least {medium_gap} above the validation score at the end and the difference is more than their noise;
{high_gap} or more is a severe gap. Compares the losses as well: seen when the validation loss is
{loss_factor} times the training loss or more and at least {loss_gap} above it, the two began close together,
and validation no longer improves. A gap between {low_gap} and {medium_gap} is worth knowing.

What is a gap of the measuring is no gap: training scores taken with dropout or augmentation lie below those
of validation. Silent when a validation score is good ({good_score} and above), where the losses were apart
from the first evaluation on (they may be defined differently), under {min_evaluations} evaluations, and for
reinforcement learning and GANs.
"""

import numpy as np

from traindx.evidence.curve import shares
from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Severity, Skipped
from traindx.evidence.detectors._number_text import strength, text, where
from traindx.evidence.validation import last_level, levels_at, steps_on
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(
    title="Wide gap between training and validation",
    needs=("val/*|test/*",),
    family="generalisation",
    guards=("surrogate",),
    counts_as="validation_parts",
)


def detect(
    case: Case,
    *,
    low_gap: float = 0.1,
    medium_gap: float = 0.15,
    high_gap: float = 0.2,
    loss_factor: float = 2.5,
    loss_gap: float = 0.5,
    good_score: float = 0.9,
    min_evaluations: int = 3,
) -> Detected:
    gaps = [gap for gap in case.level.gaps if len(gap.curve) >= min_evaluations]
    losses = case.loss is not None and case.val_loss is not None and len(case.val_loss) >= min_evaluations
    if not gaps and not losses:
        return Skipped(f"a score or a loss of both sides, with at least {min_evaluations} evaluations")
    for gap in gaps:
        values = shares(gap.curve)
        noise = gap.curve.noise * (
            values[-1] / gap.curve.y[-1] if values is not None and gap.curve.y[-1] else 1
        )
        if gap.size < max(low_gap, 2.0 * noise) or gap.validation >= good_score:
            continue
        severe = gap.size >= high_gap and len(gap.curve) >= 2 * min_evaluations
        severity: Severity = "high" if severe else "medium" if gap.size >= medium_gap else "low"
        return Finding(
            f"The training {gap.metric} ends at {text(gap.train)}, the validation {gap.metric} at "
            f"{text(gap.validation)}: a gap of {100 * gap.size:.0f} points.",
            "overfitting",
            severity,
            step=_parted(gap.curve),
            series=gap.curve.name,
            strength=strength(gap.size, low_gap, 0.3),
            numbers={"gap": gap.size, "val_last": gap.validation, "train_last": gap.train},
        )
    if any(score >= good_score for score in case.level.validation_scores):
        return None
    return _losses_apart(case, loss_factor, loss_gap) if losses else None


def _parted(held_out: Curve) -> float:
    """Where validation last gained: the first evaluation within noise of its end."""
    stop = held_out.course.standstill(min_share=0.2)
    return stop.since if stop is not None else float(held_out.x[len(held_out) // 2])


def _losses_apart(case: Case, factor: float, least: float) -> Finding | None:
    train, val = case.loss, case.val_loss
    if train is None or val is None or not train.course.came_down(share=0.2, noises=3.0, points=3):
        return None
    now, held_out = last_level(train.y), last_level(val.y)
    first = float(levels_at(train, np.array([float(steps_on(val, train)[0])]))[0])
    began_together = 0 < float(val.y[0]) <= 1.5 * first
    improves = held_out < float(np.median(val.y[-max(3, len(val) // 3) :])) * 0.98
    if not (now > 0 and held_out >= factor * now and held_out - now >= least and began_together) or improves:
        return None
    step, best = val.best_point
    return Finding(
        f"The training loss ends at {text(now)}, the validation loss at {text(held_out)} (best {text(best)} "
        f"at {where(val, step)}).",
        "overfitting",
        "medium",
        step=step,
        series=val.name,
        strength=strength(held_out / now, factor, 10.0),
        numbers={"gap": held_out - now, "val_last": held_out, "val_best": best, "val_best_step": step},
    )


def fires() -> Runs:
    up = np.linspace(0.5, 1.0, 20)
    yield run({"accuracy": up, "val/accuracy": noisy(np.linspace(0.5, 0.74, 20), 0.01)}, axis="epoch")
    yield run({"loss": decay(20, 1.1, 0.14), "val/loss": noisy(decay(20, 1.1, 0.89), 0.01)}, axis="epoch")


def silent() -> Runs:
    up = np.linspace(0.5, 0.99, 20)
    yield run({"accuracy": up, "val/accuracy": noisy(up - 0.06, 0.01)}, axis="epoch")
    yield run({"accuracy": noisy(up - 0.1, 0.01), "val/accuracy": up}, axis="epoch")
    yield run({"loss": decay(20, 1.1, 0.14), "val/loss": decay(20, 1.1, 0.2)}, axis="epoch")
    yield run({"loss": decay(20, 3.0, 1.0), "val/loss": noisy([12.0] * 20, 0.01)}, axis="epoch")
