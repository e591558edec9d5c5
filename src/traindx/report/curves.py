"""What is drawn of a run, whatever draws it: its curves picked, placed, thinned and smoothed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from traindx.core.names import parts
from traindx.core.nouns import Finding, Series
from traindx.evidence import stats
from traindx.evidence.case import Case
from traindx.report.summary import main_series

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

POINTS_MOST = 3000
_SMOOTH_POINTS = 400
_SMOOTH_FROM = 24
_BLOCKS = 8000
_LOG_FROM = 50.0
_LARGEST = 1e150
_FLAT = 0.005
_TITLES = {"lr": "learning rate", "grad_norm": "gradient norm"}


@dataclass(frozen=True, eq=False)
class Panel:
    """Curves of one metric, drawn over each other."""

    metric: str
    curves: tuple[Series, ...]

    @property
    def title(self) -> str:
        return _TITLES.get(self.metric, self.metric)

    @property
    def names(self) -> set[str]:
        return {series.name for series in self.curves}


def metric_of(name: str) -> str:
    """What a series measures, whatever split it comes from: `val/loss/ce` -> `loss/ce`."""
    told = parts(name)
    return "/".join(word for word in (told.metric, told.part) if word)


def main_panels(case: Case) -> list[Panel]:
    """The loss with its validation, the learning rate, the gradient norm: those that were logged."""
    losses = tuple(curve.series for curve in (case.loss, case.val_loss) if curve is not None)
    if losses:
        panels = [Panel("loss", losses)]
    else:
        main = main_series(case.run)
        panels = [] if main is None else [_panel_of(case, main.name)]
    for curve in (case.lr, case.grad_norm):
        if curve is not None and not any(curve.name in panel.names for panel in panels):
            panels.append(Panel(metric_of(curve.name), (curve.series,)))
    return panels


def panels_for(case: Case, findings: Sequence[Finding], most: int = 6) -> list[Panel]:
    """The main panels and those of every curve a finding names; what all findings name comes first."""
    panels = main_panels(case)
    named = {f.series: None for f in findings if f.series is not None and f.series in case.run.series}
    others = [name for name in named if not any(_shows(panel, name) for panel in panels)]
    extra: list[Panel] = []
    for name in others:
        if not any(name in panel.names for panel in extra):
            extra.append(_panel_of(case, name))
    if extra and len(others) == len(named):
        return (extra + panels[:1])[:most]
    return (panels + extra)[:most]


def panel_of(panels: Iterable[Panel], name: str | None) -> Panel | None:
    """The panel in which a series, or another scope or split of it, is drawn."""
    return next((panel for panel in panels if name is not None and _shows(panel, name)), None)


def _shows(panel: Panel, name: str) -> bool:
    return name in panel.names or metric_of(name) == panel.metric


def _panel_of(case: Case, name: str) -> Panel:
    metric = metric_of(name)
    scope = parts(name).scope
    same = [
        series
        for series in case.run.series.values()
        if len(series) and metric_of(series.name) == metric and parts(series.name).scope == scope
    ]
    return Panel(metric, tuple(sorted(same, key=lambda series: parts(series.name).split != ""))[:3])


def placed(case: Case, series: Series | None, steps: FloatArray) -> FloatArray:
    """Steps of a series on the run's own axis: validation may be counted by epochs, training by steps."""
    if series is None or series.axis == case.run.axis or not len(series):
        return steps
    if series.axis == "epoch" and case.run.axis == "step" and case.epoch_length:
        return steps * case.epoch_length
    others = [s for s in case.run.series.values() if s.axis == case.run.axis and len(s)]
    last = float(series.steps[-1])
    if not others or last <= 0:
        return steps
    return steps * (max(float(s.steps[-1]) for s in others) / last)


def thinned(steps: FloatArray, values: FloatArray, limit: int = POINTS_MOST) -> tuple[FloatArray, FloatArray]:
    """Fewer points with the same looks: no spike is lost, nor a gap."""
    if values.size <= limit:
        return steps, values
    kept = stats.thin(steps, values, limit)
    return steps[kept], values[kept]


def moving_average(steps: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray, int] | None:
    """Steps, means and window (in points); each mean leaves out the upper and lower quarter of its window.

    Without them one spike would lift the line as long as the window is. None when points are too few.
    """
    finite = np.isfinite(values)
    x, y = steps[finite], drawable(values[finite])
    if y.size < _SMOOTH_FROM:
        return None
    per = -(-y.size // _BLOCKS)
    if per > 1:  # windows over a million points: blocks first
        whole = y.size // per * per
        x, y = x[:whole].reshape(-1, per).mean(axis=1), np.median(y[:whole].reshape(-1, per), axis=1)
    half = max(2, min(y.size // 30, 250))
    centres = np.unique(np.linspace(0, y.size - 1, min(y.size, _SMOOTH_POINTS)).astype(int))
    means = np.empty(centres.size)
    for number, at in enumerate(centres.tolist()):
        # Windows shrink towards the steep beginning; at the end half a window still holds the noise down.
        reach = min(half, at, max(y.size - 1 - at, half // 2))
        window = np.sort(y[at - reach : at + reach + 1])
        cut = window.size // 4
        means[number] = window[cut : window.size - cut].mean()
    return x[centres], means, (2 * half + 1) * per


def drawable(values: FloatArray) -> FloatArray:
    """NaN for what is not finite; axes cannot span what is near the ends of the number range either."""
    held: FloatArray = np.where(np.isfinite(values), np.clip(values, -_LARGEST, _LARGEST), np.nan)
    held[np.abs(held) < 1 / _LARGEST] = 0.0
    return held


def finite_values(curves: Iterable[Series]) -> FloatArray:
    """All finite values of some curves, fit to be drawn."""
    values = np.concatenate([series.values for series in curves] or [np.empty(0)])
    return drawable(values[np.isfinite(values)])


def wants_log(metric: str, values: FloatArray) -> bool:
    """A learning rate is read on a linear scale: its schedule has a shape. Gradients never are."""
    if not values.size or values.min() <= 0 or parts(metric).metric == "lr":
        return False
    from_ratio = 3.0 if parts(metric).metric == "grad_norm" else _LOG_FROM
    return bool(values.max() > from_ratio * values.min())


def limits(values: FloatArray, *, logarithmic: bool) -> tuple[float, float] | None:
    """Where an axis begins and ends: room above and below, and what hardly changes looks flat.

    None when there are no two different values: the axis may choose for itself.
    """
    if values.size < 2 or values.min() == values.max():
        return None
    low, high = float(values.min()), float(values.max())
    if logarithmic:
        room = (high / low) ** 0.1
        return low / room, high * room
    room = max(0.1 * (high - low), _FLAT * max(abs(low), abs(high)))
    return low - room, high + room


def broken_steps(steps: FloatArray, values: FloatArray, most: int = 200) -> FloatArray:
    """Where a curve is NaN or Inf: the first, the last and evenly between."""
    gone = steps[~np.isfinite(values)]
    places = np.unique(np.linspace(0, gone.size - 1, min(gone.size, most)).astype(int))
    kept: FloatArray = gone[places]
    return kept


def span(case: Case) -> tuple[float, float]:
    """The first and the last step of any curve, on the run's axis."""
    ends = [placed(case, s, s.steps[[0, -1]]) for s in case.run.series.values() if len(s)]
    return (min(float(e[0]) for e in ends), max(float(e[1]) for e in ends)) if ends else (0.0, 1.0)
