"""Validation improved, got worse for a while, and improved again to its old best or beyond.

Cuts the validation curve into falls and rises that exceed its noise and {rise_share:%} of its level, and
looks for fall, rise, fall at the end of it: the rise lasts several evaluations, the second fall takes back
most of it. Told as low: the run ended well; what matters is not to have stopped inside the rise.

Silent with fewer than {min_points} evaluations; when the training loss rose too (a spike or an unstable
stretch that recovered) or the learning rate went up again (a restart); for bumps in the first part of the
run, where batch statistics settle, unless they last for a tenth of it; and for RL and GAN losses. Known
mistakes: a change of the data or of augmentation in mid-run draws the same curve.
"""

import numpy as np

from traindx.evidence.case import Case, Curve
from traindx.evidence.detector import Detected, Detector, Finding, FloatArray, Runs, Skipped, stats
from traindx.evidence.detectors._number_text import strength, text, where
from traindx.evidence.validation import (
    evaluations,
    largest_rise,
    levels_at,
    running_median,
    steps_on,
    validation_curves,
)
from traindx.testing.sketch import decay, noisy, run

# After so many evaluations batch statistics have settled, whatever part of the run that is.
_SETTLED = 30
DETECTOR = Detector(
    title="Double descent",
    needs=("val/*|test/*|map|map50|hit_rate|ndcg|mrr|bleu|rouge|exact_match",),
    family="generalisation",
    explains=("validation_parts", "gap_wide"),
    guards=("surrogate",),
)


def detect(
    case: Case,
    *,
    rise_share: float = 0.05,
    z_score: float = 5.0,
    best_tolerance: float = 1.02,
    min_points: int = 12,
) -> Detected:
    val = next(iter(validation_curves(case)), None)
    if val is None or len(val) < min_points:
        return Skipped(f"at least {min_points} evaluations on validation data")
    steps, values = evaluations(val)
    values = -values if val.goal == "higher" else values
    width = 2 * (values.size // 40) + 3
    smooth = running_median(values, width)
    scale = abs(float(smooth.min())) if (values > 0).all() or (values < 0).all() else float(np.ptp(values))
    noise = 1.25 * stats.noise(values) / float(np.sqrt(width))
    smooth[0] = max(smooth[0], values[0])  # the window at the edge hides a steep start
    settled = _SETTLED * values.size / len(val)
    bump = _bump(smooth, max(rise_share * scale, z_score * noise), min(0.15 * values.size, settled))
    if bump is None:
        return None
    valley, peak = bump
    low, high, last = float(smooth[valley]), float(smooth[peak]), float(np.median(smooth[-width:]))
    if last > low + (best_tolerance - 1.0) * scale or high - last < 0.8 * (high - low):
        return None
    near_low = smooth[: valley + 1][smooth[: valley + 1] <= low + 3.0 * (high - low)]
    wander = max(largest_rise(near_low), largest_rise(smooth[peak:]))
    if 2.0 * wander > high - low or _disturbed(case, val, steps, valley, peak):
        return None
    sign = -1.0 if val.goal == "higher" else 1.0
    return Finding(
        f"{val.name} was {text(sign * low)} at {where(val, float(steps[valley]))}, got worse to "
        f"{text(sign * high)} at {where(val, float(steps[peak]))} and came back to {text(sign * last)} at "
        "the end, while training went on undisturbed. Stopping at the peak would have missed it.",
        "double_descent",
        "low",
        step=float(steps[valley]),
        end=float(steps[-1]),
        series=val.name,
        strength=strength((high - low) / max(scale, 1e-300), rise_share, 0.5),
        numbers={"first_best": sign * low, "peak": sign * high, "second_best": sign * last},
        marks=(float(steps[valley]), float(steps[peak])),
    )


def _bump(smooth: FloatArray, threshold: float, settled: float) -> tuple[int, int] | None:
    """Valley and peak of the largest rise between two falls, if it is no early or single jump."""
    pieces = stats.monotone_pieces(smooth, threshold=threshold)
    bumps: list[tuple[float, int, int]] = []
    for fall, climb, again in zip(pieces, pieces[1:], pieces[2:], strict=False):
        if fall.change < 0 < climb.change and again.change < 0:
            long = climb.end - climb.start >= max(3, smooth.size // 20)
            late = climb.end >= settled or climb.end - climb.start >= smooth.size // 10
            if long and late and -fall.change >= 0.5 * climb.change:
                bumps.append((climb.change, climb.start, climb.end))
    return max(bumps)[1:] if bumps else None


def _disturbed(case: Case, val: Curve, steps: FloatArray, valley: int, peak: int) -> bool:
    """Whether the training loss or the learning rate rose along with validation."""
    span = np.array([steps[valley], steps[peak]])
    train, rate = case.loss, case.lr
    if train is not None and len(train) > 3:
        before, after = levels_at(train, np.interp(span, val.x, steps_on(val, train)))
        if after > before + max(0.01 * abs(before), train.noise / np.sqrt(max(len(train) // 40, 1))):
            return True
    if rate is not None and len(rate) > 3:
        first, last = np.interp(span, val.x, steps_on(val, rate))
        path = np.interp(np.linspace(float(first), float(last), 40), rate.x, rate.y)
        return float(path.max()) > 1.2 * float(path[0])
    return False


def fires() -> Runs:
    there = np.concatenate(
        [decay(20, 2.0, 0.6, rate=4), np.linspace(0.62, 0.95, 15), decay(45, 0.95, 0.5, rate=4)]
    )
    train = decay(80, 2.0, 0.01)
    yield run({"loss": noisy(train, 0.02), "val/loss": noisy(there, 0.01, seed=1)}, axis="epoch")


def silent() -> Runs:
    there = np.concatenate(
        [decay(20, 2.0, 0.6, rate=4), np.linspace(0.62, 0.95, 15), decay(45, 0.95, 0.5, rate=4)]
    )
    yield run({"loss": 0.8 * there, "val/loss": noisy(there, 0.01, seed=1)}, axis="epoch")
    rate = np.concatenate([decay(22, 0.1, 0.001), decay(58, 0.1, 0.001)])
    yield run({"loss": decay(80, 2.0, 0.1), "val/loss": there, "lr": rate}, axis="epoch")
    yield run({"loss": decay(80, 2.0, 0.3), "val/loss": noisy(decay(80, 2.0, 0.5), 0.1)}, axis="epoch")
    up = np.concatenate([decay(20, 2.0, 0.6), np.linspace(0.6, 0.9, 60)])
    yield run({"loss": decay(80, 2.0, 0.1), "val/loss": noisy(up, 0.02)}, axis="epoch")
