"""Equal terms: the step, the time and the samples that all runs reached, and a target to race for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from traindx.comparison.metric import Chosen
from traindx.comparison.results import Results
from traindx.comparison.scores import Score, ScoreLevel, clock, level_at, level_at_time, reached
from traindx.comparison.subjects import Subject
from traindx.core.nouns import Axis
from traindx.evidence.case import Curve

# Runs shorter than this share of the usual length do not set the terms for the others.
_SHORT = 0.2
_FEW = 4


@dataclass(frozen=True)
class Terms:
    """The equal terms; None where the logs lack them. `axis` is None when the runs count differently."""

    axis: Axis | None
    step: float | None
    seconds: float | None
    samples: float | None
    target: float | None
    why_not: str = ""


@dataclass(frozen=True)
class Equal:
    """One run on equal terms."""

    at_step: ScoreLevel
    at_time: ScoreLevel
    at_samples: ScoreLevel
    target_step: float | None
    target_seconds: float | None


NOWHERE = Equal(ScoreLevel(math.nan), ScoreLevel(math.nan), ScoreLevel(math.nan), None, None)


def terms(results: Results, target: float | None) -> Terms:
    """The terms on which runs that have the metric are compared."""
    all_curves = [(run, run.curve(results.chosen.name), score) for run, score in results.scored]
    curves = [(run, curve, score) for run, curve, score in all_curves if curve is not None and len(curve)]
    if len(curves) < 2:
        return Terms(None, None, None, None, target)
    axis, why_not = _axis([(run, curve) for run, curve, _ in curves])
    ends = [scale(run, curve, axis) * score.last_step for run, curve, score in curves] if axis else []
    clocks = [passed for run, curve, _ in curves if (passed := clock(run, curve)) is not None]
    seconds = _shared([float(passed[-1]) for passed in clocks]) if len(clocks) == len(curves) else None
    batches = [run.samples_per_step for run, _, _ in curves]
    samples = None
    if axis == "step" and all(batches) and len(set(batches)) > 1:
        samples = _shared([end * (batch or 0.0) for end, batch in zip(ends, batches, strict=True)])
    target = _target(results) if target is None else target
    return Terms(axis, _shared(ends), seconds, samples, target, why_not)


def _axis(curves: Sequence[tuple[Subject, Curve]]) -> tuple[Axis | None, str]:
    axes = {curve.axis for _, curve in curves}
    if len(axes) == 1:
        return next(iter(axes)), ""
    if axes == {"step", "epoch"} and all(run.case.epoch_length for run, _ in curves):
        return "epoch", ""
    run_by_axis = {
        axis: next(run.name for run, curve in curves if curve.axis == axis) for axis in sorted(axes)
    }
    counted_by = ", ".join(f"{name} by {axis}s" for axis, name in run_by_axis.items())
    return None, (
        f"the runs are counted in different units ({counted_by}) and nothing says how they relate, so they "
        "are not compared at equal steps; log the step and the epoch together to allow it"
    )


def scale(run: Subject, curve: Curve, axis: Axis | None) -> float:
    """What a step of the curve is on the common axis."""
    if axis is None or curve.axis == axis:
        return 1.0
    length = run.case.epoch_length or 1.0
    return 1.0 / length if axis == "epoch" else length


def _shared(ends: Sequence[float]) -> float | None:
    """What all reached, but for those that ended long before the others."""
    positive = [end for end in ends if end > 0]
    if len(positive) < 2:
        return None
    if len(positive) > 2:
        usual = float(np.median(positive))
        positive = [end for end in positive if end >= _SHORT * usual]
    return min(positive)


def _target(results: Results) -> float | None:
    """The worst end of a few configurations, the middle one of many."""
    ends = sorted(float(np.mean(ends)) for group in results.configurations if (ends := results.ends(group)))
    if len(ends) < 2:
        return None
    return results.chosen.sign * (ends[-1] if len(ends) <= _FEW else float(np.median(ends)))


def equal(run: Subject, score: Score, chosen: Chosen, shared: Terms) -> Equal:
    """One run on the terms of all."""
    curve = run.curve(chosen.name)
    if curve is None or not len(curve):
        return NOWHERE
    unit = scale(run, curve, shared.axis)
    at_step = _alive(curve, score, None if shared.step is None else shared.step / unit)
    at_time = (
        level_at_time(run, curve, shared.seconds) if shared.seconds and score.ended else ScoreLevel(math.nan)
    )
    batch = run.samples_per_step
    at_samples = _alive(curve, score, shared.samples / batch if shared.samples and batch else None)
    target_step = reached(curve, shared.target, chosen.sign) if shared.target is not None else None
    passed = clock(run, curve)
    target_seconds = None
    if target_step is not None and passed is not None:
        target_seconds = float(passed[min(int(np.searchsorted(curve.x, target_step)), passed.size - 1)])
    if target_step is not None:
        target_step *= unit
    return Equal(at_step, at_time, at_samples, target_step, target_seconds)


def _alive(curve: Curve, score: Score, step: float | None) -> ScoreLevel:
    """The level at a step that the run reached in good order."""
    if step is None or (score.broken_from is not None and score.broken_from <= step):
        return ScoreLevel(math.nan)
    if score.last_step < 0.999 * step:
        return ScoreLevel(math.nan)
    return level_at(curve, step)
