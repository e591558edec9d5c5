"""How the loss became NaN, as its own values show."""

from dataclasses import dataclass

import numpy as np

from traindx.evidence.detector import Case, Cases, Curve, Detected, Detector, Finding, Skipped
from traindx.evidence.detectors._number_text import where
from traindx.testing.sketch import decay, noisy, run


@Detector("NaN from the first value", family="nan_onset")
def nan_from_start(loss: Curve, *, certain_until: float = 2.0, doubtful_from: float = 20.0) -> Detected:
    """The very first logged loss is NaN or Inf.

    A sign that separates causes: no step of the optimizer is needed. Labels that are all masked, a mean over
    nothing, log(0), a bad first batch or values beyond half precision give it; a rate that overshoots needs
    steps first. It speaks less clearly when the first line was logged after many steps, or at the end of an
    epoch.

    Silent when a finite loss comes first (see nan_out_of_nothing and nan_after_rise).
    """
    if not loss.broken:
        return Skipped()
    if loss.finite[0]:
        return None
    first = float(loss.series.steps[0])
    finite = f"{len(loss):,} of {loss.finite.size:,} values are finite"
    sentence = f"The first logged loss, at {where(loss, first)}, is already not finite; {finite}."
    return Finding(sentence, step=first, strength=_clarity(loss, first, certain_until, doubtful_from))


def _clarity(loss: Curve, first: float, early: float, late: float) -> float:
    """How little can have happened before the first value."""
    if loss.axis == "step":
        return 1.0 if first <= early else 0.7 if first <= late else 0.4
    steps = loss.series.steps
    gap = float(np.median(np.diff(steps))) if steps.size > 1 else 1.0
    if loss.axis == "epoch" and gap < 0.5 and first < 0.05:
        return 1.0
    return 0.7 if loss.axis == "row" else 0.5


@Detector("NaN without a rise", family="nan_onset")
def nan_out_of_nothing(
    case: Case, loss: Curve, *, rise_factor: float = 1.5, min_points_before: int = 10
) -> Detected:
    """The loss became NaN from one step to the next, without any rise before it.

    A sign that separates causes: a bad sample, log(0), a division by zero or an fp16 overflow strike at
    once; an optimizer that overshoots mostly shows a rise before.

    Silent when the loss or the gradient norm rose before, when the values are logged so rarely that a rise
    could have gone unseen (fewer than {min_points_before} values before the NaN), and when the very first
    value is NaN (see nan_from_start).
    """
    if not loss.broken or not loss.finite[0]:
        return Skipped()
    onset = float(loss.series.steps[int(np.argmin(loss.finite))])
    before = loss.y[loss.x < onset]
    if before.size < min_points_before:
        return Skipped(f"at least {min_points_before} finite values before the NaN")
    usual = float(np.median(before[:-3][-20:]))
    peak = float(before[-3:].max())
    if peak > rise_factor * usual and peak - usual > 4 * loss.noise:
        return None
    norm = case.grad_norm
    if any(_departs(curve, onset, rise_factor) for curve in (loss, norm) if curve is not None):
        return None
    if norm is not None and (early := norm.y[norm.x < onset]).size >= 6:
        middle = float(np.median(early[:-3]))
        if early[-3:].max() > 5 * middle > 0:
            return None
    text = f"The last loss before the NaN at {where(loss, onset)} is {before[-1]:.4g}; usual is {usual:.4g}."
    return Finding(text, step=onset)


@Detector("Rise before the NaN", family="nan_onset")
def nan_after_rise(
    case: Case,
    loss: Curve,
    *,
    rise_factor: float = 1.5,
    slow_rise_factor: float = 1.15,
    last_points: int = 3,
) -> Detected:
    """The loss or the gradients grew before the NaN.

    A sign that separates causes: an optimizer that overshoots, or gradients that explode, let the loss or
    the gradient norm grow for some steps before the overflow. Compares the last finite points before the
    first NaN with the ones before them ({rise_factor} times), and with the lowest level that was held: where
    a curve left that level for good and ends {slow_rise_factor} times above it, the step is reported. What
    happened there began the trouble, and weights from before it are sound.

    Silent when the values before the NaN are like all others, and when there are too few of them.
    """
    if not loss.broken:
        return Skipped()
    onset = float(loss.series.steps[int(np.argmin(loss.finite))])
    rises: list[str] = []
    steps: list[float] = []
    for name, curve in (("loss", loss), ("gradient norm", case.grad_norm)):
        if curve is None:
            continue
        grown = _growth(curve, onset, last_points)
        rise = _departure(curve, onset)
        if rise is not None and rise.end >= slow_rise_factor * rise.level > 0:
            rose = f"{rise.end / rise.level:.3g} times, from {rise.level:.4g} to {rise.end:.4g}"
            rises.append(f"the {name} rose {rose}, since {where(curve, rise.step)}")
            steps.append(rise.step)
        elif grown is not None and grown[0] >= rise_factor:
            rises.append(f"the {name} rose {grown[0]:.3g} times, from {grown[1]:.4g} to {grown[2]:.4g}")
    if rises:
        text = f"Before the first NaN at {where(loss, onset)} {' and '.join(rises)}."
        if steps:
            text += f" Weights from before {where(loss, min(steps))} are sound: see what began there."
        return Finding(text, step=onset, marks=tuple(steps), numbers={"began": min(steps)} if steps else {})
    if loss.before(onset).size < last_points + 3:
        return Skipped(f"at least {last_points + 3} finite values before the NaN")
    return None


def _departs(curve: Curve, onset: float, factor: float) -> bool:
    """Whether a curve left its level before a step and ends so many times above it."""
    rise = _departure(curve, onset)
    return rise is not None and rise.end >= factor * rise.level > 0


@dataclass(frozen=True)
class _Departure:
    step: float
    level: float
    end: float


def _departure(curve: Curve, onset: float, *, windows: int = 60, errors: float = 8.0) -> _Departure | None:
    """Where a curve left for good the lowest level it had held, well before a step."""
    early = curve.x < onset
    steps, values = curve.x[early], curve.y[early]
    width = values.size // windows
    if width < 5:
        return None
    pieces = values[: width * windows].reshape(windows, width)
    middles = np.median(pieces, axis=1)
    quiet = int(np.convolve(middles, np.full(5, 0.2), "valid").argmin())
    lowest = pieces[quiet : quiet + 5]
    level = float(np.median(lowest))
    error = 1.86 * float(np.median(np.abs(lowest - level))) / np.sqrt(width)
    low = np.flatnonzero(middles <= level + errors * error)
    last = int(low.max())
    if not quiet <= last < windows - 2:
        return None
    near = values[last * width : (last + 2) * width]
    above = near > (level + middles[last + 1]) / 2
    at = last * width + int(np.cumsum(np.where(above, -1, 1)).argmax()) + 1
    end = float(np.median(values[-max(3, width // 4) :]))
    return _Departure(float(steps[min(at, steps.size - 1)]), level, end)


def _growth(curve: Curve, onset: float, last: int) -> tuple[float, float, float] | None:
    """How many times the highest of the last values exceeds the lowest level held before."""
    before = curve.y[curve.x < onset]
    if before.size < 2:
        return None
    count = min(last, before.size - 1)
    peak, usual = float(before[-count:].max()), float(np.median(before[:-count][-20:]))
    noise = curve.noise
    if not usual > 0 or peak - usual < 4 * noise:
        return None
    return peak / usual, usual, peak


def cases() -> Cases:
    yield from nan_from_start.fires(run({"loss": [float("nan")] * 20}))
    yield from nan_from_start.fires(run({"loss": [float("inf"), 3.0, 2.0, 1.5, 1.2]}))
    yield from nan_from_start.fires(run({"loss": [float("nan")] * 5, "accuracy": [0.1] * 5}, axis="epoch"))
    yield from nan_from_start.silent(run({"loss": [2.3, *[float("nan")] * 20]}))
    yield from nan_from_start.silent(run({"loss": decay(50, 2.0, 0.5)}))
    yield from nan_out_of_nothing.fires(
        run({"loss": [*noisy(decay(50, 2.0, 0.5), 0.05), *[float("nan")] * 20]})
    )
    yield from nan_out_of_nothing.silent(
        run({"loss": [*decay(50, 2.0, 0.5), 0.9, 3.0, 40.0, *[float("nan")] * 20]}),
        run({"loss": decay(50, 2.0, 0.5)}),
        run({"loss": [float("nan")] * 20}),
    )
    yield from nan_after_rise.fires(
        run({"loss": [*decay(50, 2.0, 0.5), 0.9, 3.0, 40.0, *[float("nan")] * 20]})
    )
    grows = noisy([*decay(300, 2.0, 0.5), *np.linspace(0.5, 0.9, 200)], 0.02)
    yield from nan_after_rise.fires(run({"loss": [*grows, *[float("nan")] * 20]}))
    yield from nan_after_rise.silent(run({"loss": [*noisy(decay(500, 2.0, 0.5), 0.05), float("nan")]}))
    yield from nan_after_rise.silent(run({"loss": [*noisy(decay(50, 2.0, 0.5), 0.05), *[float("nan")] * 20]}))
    yield from nan_after_rise.silent(run({"loss": decay(50, 2.0, 0.5)}))
