"""Curves of several runs on one axis: which are drawn, and groups of repeats as a middle and a band."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from traindx.core.names import METRICS, parts
from traindx.core.nouns import Run, Series
from traindx.evidence import stats
from traindx.evidence.case import Case
from traindx.report.charts import SHARE, Curves, Line, Panel
from traindx.report.curves import broken_steps, drawable, evenly, moving_average, wants_log
from traindx.report.marks import placed
from traindx.report.measured import case_of
from traindx.report.panels import title_of

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

COMPARISON_PLOT = "training_comparison.png"
# Colours that do on light and on dark pages alike.
PALETTE = tuple("#3d85d9 #db6b12 #2e9560 #8a63c9 #c2518f #3c9ea3 #a07a3c #8b9321 #d1495b #7d8590".split())
_BEST, _MIDDLE, _WORST = (46, 149, 96), (125, 133, 144), (219, 107, 18)
_GRID = 300
_MANY, _FAR = 5, 10.0
_CROWD, _STRETCHES = 24, 60
_LOSSES = [("loss", "training loss", ("loss",)), ("loss", "validation loss", ("val/loss",))]
_LOG_FROM = 5.0


def colours(count: int) -> list[str]:
    """One for each group from best to worst: distinct colours for a few groups, else a scale."""
    if count <= len(PALETTE):
        return list(PALETTE[:count])
    return [mixed(at / max(count - 1, 1)) for at in range(count)]


def mixed(share: float) -> str:
    """The colour of a place from 0 (best) to 1 (worst)."""
    first, last, at = (_BEST, _MIDDLE, 2 * share) if share < 0.5 else (_MIDDLE, _WORST, 2 * share - 1)
    red, green, blue = (round(a + (b - a) * at) for a, b in zip(first, last, strict=True))
    return f"#{red:02x}{green:02x}{blue:02x}"


class SideBySide:
    """Named groups of runs with what they share: an axis, and the metrics worth drawing."""

    def __init__(self, groups: Mapping[str, Sequence[Run]]) -> None:
        self.cases = {name: [case_of(run) for run in runs] for name, runs in groups.items()}
        self.colours = colours(len(groups))
        self._crowded = sum(map(len, self.cases.values())) > _CROWD
        axes = {case.run.axis for cases in self.cases.values() for case in cases}
        self.axis: str = next(iter(axes)) if len(axes) == 1 else SHARE

    def curves(self, most: int = 4) -> Curves | None:
        """The panels on one axis; None without a curve."""
        panels = self.panels(most)
        ends = [x for panel in panels for line in panel.lines for x in line.x[[0, -1]].tolist()]
        if not ends:
            return None
        label = f"{', '.join(panel.title for panel in panels)} of {len(self.cases):,} groups of runs"
        return Curves(tuple(panels), self.axis, (min(ends), max(ends)), label)

    def panels(self, most: int = 4) -> list[Panel]:
        """Loss, metric, learning rate and gradient norm; others where one of them was not logged.

        Validation loss shares the panel of the loss only when a metric needs the second one.
        """
        metrics = self._metrics()
        together = bool(metrics) and self._any("val/loss")
        choices: list[tuple[str, str, tuple[str, ...]]] = []
        if self._any("loss"):
            both_losses = ("loss", "loss, validation dashed", ("loss", "val/loss"))
            choices.append(both_losses if together else _LOSSES[0])
        if self._any("val/loss") and not (together and self._any("loss")):
            choices.append(_LOSSES[1])
        names = [*metrics[:1], *(name for name in ("lr", "grad_norm") if self._any(name)), *metrics[1:]]
        names += ["step_s"] if self._any("step_s") else []
        choices += [(name, _title(name), (name,)) for name in names]
        panels = [self._panel(metric, title, self.lines(*names)) for metric, title, names in choices]
        return [panel for panel in panels if panel.lines][:most]

    def _panel(self, metric: str, title: str, groups: Mapping[str, Sequence[Line]]) -> Panel:
        near = _near(metric, [_values(lines) for lines in groups.values() if lines])
        values: FloatArray = np.concatenate([*near, np.empty(0)])
        panel_lines = tuple(line for lines in groups.values() for line in _merged(lines))
        if metric == "lr":  # rates that differ several times are told apart on a logarithmic scale only
            peaks = [float(np.nanmax(y)) for line in panel_lines if np.isfinite(y := line.shown[1]).any()]
            positive = bool(values.size) and values.min() > 0
            logarithmic = positive and min(peaks) > 0 and max(peaks) > _LOG_FROM * min(peaks)
        else:
            logarithmic = wants_log(metric, values)
        return Panel(metric, title, panel_lines, (), logarithmic, values)

    def lines(self, *names: str) -> dict[str, list[Line]]:
        """The lines of some curves by group; the second name is dashed."""
        by_group: dict[str, list[Line]] = {}
        for number, (group, cases) in enumerate(self.cases.items()):
            by_group[group] = []
            for case in cases:
                for at, name in enumerate(names):
                    series = _series(case, name)
                    if series is not None and len(series):
                        line = self._line(case, series, group, number)
                        by_group[group].append(replace(line, dashed=at > 0))
        return by_group

    def _line(self, case: Case, series: Series, group: str, number: int) -> Line:
        steps = placed(case, series, series.steps)
        if self.axis == SHARE:
            steps = steps / (max(case.span[1], float(steps[-1])) or 1.0)
        plain = parts(series.name).metric == "lr"  # a schedule has corners, not noise
        smoother = None if plain else _stretches if self._crowded else moving_average
        is_raw_drawn = len(self.cases) <= len(PALETTE)
        return Line(group, steps, series.values, self.colours[number], smoother, is_raw_drawn, group=number)

    def _metrics(self) -> list[str]:
        """What is measured besides the loss and is to rise or fall: in most runs first, validation first."""
        counts: dict[str, int] = {}
        for case in (case for cases in self.cases.values() for case in cases):
            for name in case.names:
                series, name_parts = case.run.series[name], parts(name)
                has_goal = series.goal != "none" and name_parts.metric != "loss" and not name_parts.scope
                if has_goal and name_parts.metric in METRICS and np.isfinite(series.values).sum() > 1:
                    counts[name] = counts.get(name, 0) + 1
        order = list(counts)
        return sorted(
            counts,
            key=lambda name: (-counts[name], not name.startswith(("val/", "test/")), order.index(name)),
        )

    def _any(self, name: str) -> bool:
        curves = (_series(case, name) for cases in self.cases.values() for case in cases)
        return any(series is not None and len(series) > 0 for series in curves)


def _stretches(steps: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray, int] | None:
    """Medians of stretches, which cost far less than a moving average where lines are many."""
    finite = np.isfinite(values)
    if finite.sum() < 2 * _STRETCHES:
        return None
    coarse = stats.bins(steps[finite], values[finite], _STRETCHES)
    return coarse.step, drawable(coarse.median), int(finite.sum() // _STRETCHES)


def _title(name: str) -> str:
    name_parts = parts(name)
    plain = title_of(name_parts.metric) + (f"/{name_parts.part}" if name_parts.part else "")
    return f"validation {plain}" if name_parts.split == "val" else f"{name_parts.split} {plain}".strip()


def _series(case: Case, name: str) -> Series | None:
    main_curves = {"loss": case.loss, "val/loss": case.val_loss, "lr": case.lr, "grad_norm": case.grad_norm}
    curve = main_curves[name] if name in main_curves else case.curve(name)
    return None if curve is None else curve.series


def _values(lines: Sequence[Line]) -> FloatArray:
    """The smoothed values of noisy lines, because a single spike would set the range of the axis."""
    values: FloatArray = np.concatenate([line.shown[1][np.isfinite(line.shown[1])] for line in lines])
    return values


def _near(metric: str, groups: Sequence[FloatArray]) -> list[FloatArray]:
    """Of five groups and more, those that run far away from most leave the picture."""
    filled = [values for values in groups if values.size]
    if len(filled) < _MANY or metric == "lr":
        return filled
    heights = [float(np.abs(values).max()) for values in filled]
    bar = _FAR * float(np.median(heights))
    return [v for v, height in zip(filled, heights, strict=True) if height <= bar] or filled


def _merged(lines: Sequence[Line]) -> Iterator[Line]:
    """Repeats as one line with a band; where they were NaN or Inf stays to be seen."""
    for dashed in (False, True):
        repeats = [line for line in lines if line.dashed == dashed]
        together = band(repeats) if len(repeats) > 1 else None
        if together is None:
            yield from repeats
            continue
        yield together
        for line in repeats:
            broken = broken_steps(line.x, line.y, 3)
            if broken.size:
                yield replace(line, x=broken, y=np.full(broken.size, np.nan), smoother=None)


def band(lines: Sequence[Line]) -> Line | None:
    """Repeats on a grid of their own steps, to the end of the longest; None when they do not overlap."""
    curves = [(x[np.isfinite(y)], y[np.isfinite(y)]) for x, y in (line.shown for line in lines)]
    curves = [(x, y) for x, y in curves if x.size > 1]
    if len(curves) < 2:
        return None
    steps = np.unique(np.concatenate([x for x, _ in curves]))
    steps = steps[evenly(steps.size, _GRID)]
    interpolated = np.array([np.interp(steps, x, y, left=np.nan, right=np.nan) for x, y in curves])
    there = np.isfinite(interpolated).sum(axis=0)
    if (there >= 2).sum() < 2:
        return None
    low, middle, high = (
        np.nanquantile(interpolated[:, there >= 1], share, axis=0) for share in (0.0, 0.5, 1.0)
    )
    return replace(lines[0], x=steps[there >= 1], y=middle, low=low, high=high, smoother=None)
