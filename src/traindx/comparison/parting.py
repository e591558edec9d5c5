"""Where two curves part for good, and what happened there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from traindx.comparison.subjects import Subject
from traindx.core.number_text import short
from traindx.evidence import stats
from traindx.evidence.case import Curve

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

_POINTS_LEAST = 6
_BEYOND = 3.0
_STRETCHES = 80
_NEAR = 0.04
_JUMP = 3.0
_RATIO = 1.5


@dataclass(frozen=True)
class Parting:
    """Two runs part at `step`: until then their difference is noise, from there on it never is again.

    `step` is None when they never do. `happened` are sentences on what happened near it.
    """

    metric: str
    step: float | None
    from_start: bool
    first: float
    second: float
    happened: tuple[str, ...] = ()


def parting(first_run: Subject, second_run: Subject, metric: str, axis: str) -> Parting | None:
    """Where the curves of a metric part; None when they cannot be aligned."""
    a, b = first_run.curve(metric), second_run.curve(metric)
    if a is None or b is None or a.axis != b.axis or min(len(a), len(b)) < _POINTS_LEAST:
        return None
    steps, first, second = stats.align(a.x, a.y, b.x, b.y)
    if steps.size < _POINTS_LEAST:
        return None
    apart, noise = first - second, _noise(a, b, steps.size)
    if steps.size > 2 * _STRETCHES:
        coarse = stats.bins(steps, apart, _STRETCHES)
        noise /= math.sqrt(max(1.0, steps.size / coarse.step.size) / 1.57)
        steps, apart = coarse.step, coarse.median
    at = _parts_at(apart, noise)
    if at is None:
        return Parting(metric, None, False, a.tail, b.tail)
    step = float(steps[at])
    broken = [end for curve in (a, b) if (end := _ends_early(curve)) is not None and end < step]
    step = min([step, *broken])
    last = float(min(a.x[-1], b.x[-1]))
    after = min(step + 0.1 * (last - float(steps[0])), last)
    happened = tuple(_happened(first_run, second_run, step, last - float(steps[0]), axis))
    return Parting(metric, step, at == 0, a.at(after), b.at(after), happened)


def _noise(a: Curve, b: Curve, points: int) -> float:
    """What two curves would differ by if only noise made them; the denser one was averaged."""
    parts = [curve.noise / math.sqrt(max(1.0, len(curve) / points)) for curve in (a, b)]
    return math.hypot(*parts)


def _parts_at(apart: FloatArray, noise: float) -> int | None:
    """The first place from which the difference keeps its sign and stays beyond the noise."""
    scale = max(float(np.abs(apart).max()), 1e-300)
    bar = max(_BEYOND * noise, 1e-9 * scale)
    sign = np.sign(np.median(apart[-max(1, apart.size // 10) :]))
    if sign == 0:
        return None
    beyond = sign * apart > bar
    if not beyond[-max(1, apart.size // 10) :].mean() >= 0.5:
        return None
    within = np.flatnonzero(~_settled(beyond))
    return (
        int(within[-1]) + 1
        if within.size and within[-1] + 1 < apart.size
        else (0 if not within.size else None)
    )


def _settled(
    beyond: np.ndarray[tuple[int], np.dtype[np.bool_]],
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Single stretches that fall back into the noise do not undo a parting."""
    padded = np.concatenate([beyond[:1], beyond, beyond[-1:]])
    votes = padded[:-2].astype(int) + padded[1:-1] + padded[2:]
    apart: np.ndarray[tuple[int], np.dtype[np.bool_]] = votes >= 2
    return apart


def _ends_early(curve: Curve) -> float | None:
    """Where a curve turns NaN or Inf for good."""
    if curve.finite[-1]:
        return None
    return float(curve.x[-1]) if len(curve) else float(curve.series.steps[0])


def _happened(first_run: Subject, second_run: Subject, step: float, span: float, axis: str) -> list[str]:
    sentences = [*_rates(first_run, second_run, step), *_gradients(first_run, second_run, step, span)]
    for run in (first_run, second_run):
        sentences += _events(run, step, span, axis)
        sentences += _problems(run, step, span, axis)
    return sentences


def _rates(first_run: Subject, second_run: Subject, step: float) -> list[str]:
    a, b = first_run.case.lr, second_run.case.lr
    if a is None or b is None or not len(a) or not len(b):
        return []
    first, second = a.at(step), b.at(step)
    if first == second or (min(first, second) > 0 and max(first, second) < 1.05 * min(first, second)):
        return []
    return [
        f"The learning rate there was {short(first)} in {first_run.name} and {short(second)} in "
        f"{second_run.name}."
    ]


def _gradients(first_run: Subject, second_run: Subject, step: float, span: float) -> list[str]:
    sentences = []
    norms = []
    for run in (first_run, second_run):
        curve = run.case.grad_norm
        if curve is None or len(curve) < 2:
            return []
        reach = max(_NEAR * span, 1.0)
        near = curve.y[(curve.x >= step - reach) & (curve.x <= step + reach)]
        before = curve.y[curve.x < step - reach]
        norms.append(float(np.median(near)) if near.size else curve.at(step))
        usual = float(np.median(before[-50:])) if before.size >= 5 else 0.0
        if near.size and usual > 0 and near.max() > _JUMP * max(usual, float(before[-50:].max())):
            jump = short(float(near.max()) / usual)
            sentences.append(
                f"The gradient norm of {run.name} rose {jump}-fold there, to {short(float(near.max()))}."
            )
    if min(norms) > 0 and max(norms) > _RATIO * min(norms):
        sentences.append(
            f"Gradient norms there: {short(norms[0])} in {first_run.name}, {short(norms[1])} in "
            f"{second_run.name}."
        )
    return sentences


def _events(run: Subject, step: float, span: float, axis: str) -> list[str]:
    near = [
        event
        for event in run.run.events
        if event.step is not None and abs(event.step - step) <= max(_NEAR * span, 1.0)
    ]
    return [
        f"{run.name}, {axis} {short(event.step)}: {(event.text or event.kind).rstrip('.')}."
        for event in near[:2]
    ]


def _problems(run: Subject, step: float, span: float, axis: str) -> Sequence[str]:
    if run.diagnosis is None:
        return []
    sentences = []
    for problem in run.diagnosis.problems:
        onset = problem.onset_step
        if onset is None or abs(onset - step) > max(2 * _NEAR * span, 1.0) or problem.severity == "low":
            continue
        symptom = problem.symptom.replace("_", " ")
        sentences.append(f"{run.name}: {symptom} begins at {axis} {short(onset)}: {problem.summary}")
    return sentences[:2]
