"""Training ends far better than validation.

Compares every score that is logged for both sides (accuracy, F1, AUC, R2, ...): seen when the training score
is at least {medium_gap} above the validation score at the end and the difference is more than their noise;
{high_gap} or more is a severe gap. Errors that are logged for both sides (RMSE, MAE, ...) are apart when
that of validation is {error_factor} times that of training. Compares the losses as well: seen when the
validation loss is {loss_factor} times the training loss or more and at least {loss_gap} above it, the two
began close together, and validation no longer improves; or when training lost {train_made} of its first loss
and validation kept {val_kept} of its own (not for objectives of several or unusual terms, whose sizes cannot
be compared). A gap between {low_gap} and {medium_gap} is worth knowing.

A gap of the losses is low where a validation score, or an error such as WER, still gets better at the end.

What is a gap of the measuring is no gap: training scores taken with dropout or augmentation lie below those
of validation. Silent when a validation score is good ({good_score} and above), where the losses were apart
from the first evaluation on (they may be defined differently), under {min_evaluations} evaluations, and for
reinforcement learning and GANs.
"""

from dataclasses import replace

import numpy as np

from traindx.evidence.curve import shares
from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Severity, Skipped
from traindx.evidence.detectors._number_text import strength, text, times, where
from traindx.evidence.sampled import odd_objective
from traindx.evidence.validation import holding_score, last_level, levels_at, steps_on
from traindx.testing.sketch import decay, noisy, run

_ERRORS = ("rmse", "mae", "mse", "mape", "error", "wer", "cer")
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
    train_made: float = 0.8,
    val_kept: float = 0.5,
    error_factor: float = 2.5,
    good_score: float = 0.9,
    min_evaluations: int = 3,
) -> Detected:
    errors = _errors(case, min_evaluations)
    gaps = [gap for gap in case.level.gaps if len(gap.curve) >= min_evaluations]
    losses = case.loss is not None and case.val_loss is not None and len(case.val_loss) >= min_evaluations
    if not gaps and not losses and not errors:
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
    for name, train, val in errors:
        now, held_out = last_level(train.y), last_level(val.y)
        if not 0 < now * error_factor <= held_out or held_out - now < 4 * (train.noise + val.noise):
            continue
        return Finding(
            f"The training {name} ends at {text(now)}, the validation {name} at {text(held_out)}: "
            f"{times(held_out / now)} as much.",
            "overfitting",
            "high" if held_out >= 2 * error_factor * now else "medium",
            step=_parted(val),
            series=val.name,
            strength=strength(held_out / now, error_factor, 10.0),
            numbers={"gap": held_out - now, "val_last": held_out, "train_last": now},
        )
    apart = _losses_apart(case, loss_factor, loss_gap) if losses else None
    if apart is None and losses and not odd_objective(case):
        apart = _left_behind(case, train_made, val_kept)
    improves = apart is not None and holding_score(case, case.span[1] / 2, improved=True) is not None
    return replace(apart, severity="low") if apart is not None and improves else apart


def _errors(case: Case, evaluations: int) -> list[tuple[str, Curve, Curve]]:
    """The errors that are logged for both sides under one name."""
    sides = [(name, case.curve(name), case.val(name)) for name in _ERRORS]
    return [
        (name, train, val)
        for name, train, val in sides
        if train is not None and val is not None and min(len(train), len(val)) >= evaluations
    ]


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


def _left_behind(case: Case, progress: float, remaining: float, *, together: float = 2.5) -> Finding | None:
    """Training went most of its way, validation hardly any of its own, at a start of the same size."""
    train, val = case.loss, case.val_loss
    if train is None or val is None or min(len(train), len(val)) < 6 or not (val.y > 0).all():
        return None
    now, held_out = last_level(train.y), float(np.median(val.y[-3:]))
    first = float(levels_at(train, np.array([float(steps_on(val, train)[0])]))[0])
    alike = first / together <= float(val.y[0]) <= together * first
    if not alike or not 0 < now <= (1 - progress) * train.head or held_out < remaining * float(val.y[0]):
        return None
    if train.tail + 6 * train.noise > held_out:
        return None
    return Finding(
        f"The training loss fell from {text(train.head)} to {text(now)}, the validation loss from "
        f"{text(float(val.y[0]))} to {text(held_out)}: what is learned does not carry over.",
        "overfitting",
        "medium",
        step=_parted(val),
        series=val.name,
        strength=strength(held_out / now, 3.0, 20.0),
        numbers={"gap": held_out - now, "val_last": held_out, "train_last": now},
    )


def fires() -> Runs:
    falls = noisy(decay(20, 12.0, 1.6), 0.02)
    yield run({"loss": falls, "mae": falls, "val/mae": noisy([10.8] * 20, 0.03)}, axis="epoch")
    up = np.linspace(0.5, 1.0, 20)
    yield run({"accuracy": up, "val/accuracy": noisy(np.linspace(0.5, 0.74, 20), 0.01)}, axis="epoch")
    yield run({"loss": decay(20, 1.1, 0.14), "val/loss": noisy(decay(20, 1.1, 0.89), 0.01)}, axis="epoch")
    yield run({"loss": decay(20, 0.43, 0.007), "val/loss": noisy(decay(20, 0.37, 0.215), 0.01)})


def silent() -> Runs:
    falls = noisy(decay(20, 12.0, 1.6), 0.02)
    yield run({"loss": falls, "mae": falls, "val/mae": 1.4 * falls}, axis="epoch")
    up = np.linspace(0.5, 0.99, 20)
    yield run({"accuracy": up, "val/accuracy": noisy(up - 0.06, 0.01)}, axis="epoch")
    yield run({"accuracy": noisy(up - 0.1, 0.01), "val/accuracy": up}, axis="epoch")
    yield run({"loss": decay(20, 1.1, 0.14), "val/loss": decay(20, 1.1, 0.2)}, axis="epoch")
    yield run({"loss": decay(20, 3.0, 1.0), "val/loss": noisy([12.0] * 20, 0.01)}, axis="epoch")
