"""Curves of several runs on one axis: which are drawn, and groups of repeats as a middle and a band.

Whatever draws them (PNG, page) takes them from here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from traindx.core.names import METRICS, parts
from traindx.core.nouns import Run, Series
from traindx.evidence import stats
from traindx.evidence.case import Case
from traindx.report.curves import drawable, moving_average, placed

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

_TITLES = {"lr": "learning rate", "grad_norm": "gradient norm", "step_s": "seconds per step"}
_GRID = 300
_MANY, _FAR = 5, 10.0
_CROWD, _STRETCHES = 24, 60
SHARE = "share of the run"
COMPARISON_PLOT = "training_comparison.png"


@dataclass(frozen=True, eq=False)
class Line:
    """One curve of one run, on the common axis; `smooth` where it is noisy enough to have one."""

    run: int
    x: FloatArray
    y: FloatArray
    smooth: tuple[FloatArray, FloatArray] | None
    dashed: bool

    @property
    def shown(self) -> tuple[FloatArray, FloatArray]:
        return self.smooth if self.smooth is not None else (self.x, drawable(self.y))


@dataclass(frozen=True, eq=False)
class Band:
    """Repeats as one: their middle, lowest and highest where at least two of them are."""

    x: FloatArray
    middle: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, eq=False)
class SharedPanel:
    """What one metric did in every group: lines by group, validation dashed where both are shown."""

    metric: str
    title: str
    lines: Mapping[str, Sequence[Line]]

    @property
    def empty(self) -> bool:
        return not any(self.lines.values())

    @property
    def values(self) -> FloatArray:
        """All finite values that the axis has to hold: smooth where there is noise, lest one spike rule it.

        Of five groups and more, those that run far away from most leave the picture.
        """
        kept: FloatArray = np.concatenate([*self._near(), np.empty(0)])
        return kept

    @property
    def trimmed(self) -> bool:
        """Whether a group leaves the picture."""
        return len(self._near()) < len(self._groups())

    def _groups(self) -> list[FloatArray]:
        held = [
            np.concatenate([line.shown[1][np.isfinite(line.shown[1])] for line in lines])
            for lines in self.lines.values()
            if lines
        ]
        return [values for values in held if values.size]

    def _near(self) -> list[FloatArray]:
        groups = self._groups()
        if len(groups) < _MANY or self.metric == "lr":
            return groups
        heights = [float(np.abs(values).max()) for values in groups]
        bar = _FAR * float(np.median(heights))
        return [v for v, height in zip(groups, heights, strict=True) if height <= bar] or groups


class SideBySide:
    """Named groups of runs with what they share: an axis, and the metrics worth drawing."""

    def __init__(self, groups: Mapping[str, Sequence[Run]]) -> None:
        self.cases = {name: [Case(run) for run in runs] for name, runs in groups.items()}
        self._crowded = sum(map(len, self.cases.values())) > _CROWD
        axes = {case.run.axis for cases in self.cases.values() for case in cases}
        self.axis = next(iter(axes)) if len(axes) == 1 else SHARE

    def panels(self, most: int = 4) -> list[SharedPanel]:
        """Loss, metric, learning rate and gradient norm; others where one of them was not logged.

        Validation loss shares the panel of the loss only when a metric needs the second one.
        """
        metrics = self._metrics()
        together = bool(metrics) and self._any("val/loss")
        wished: list[tuple[str, str, tuple[str, ...]]] = []
        if self._any("loss"):
            wished.append(("loss", "loss, validation dashed", ("loss", "val/loss")) if together else _LOSS)
        if self._any("val/loss") and not (together and self._any("loss")):
            wished.append(_VAL_LOSS)
        wished += [(name, _title(name), (name,)) for name in metrics[:1]]
        wished += [(name, _title(name), (name,)) for name in ("lr", "grad_norm") if self._any(name)]
        wished += [(name, _title(name), (name,)) for name in metrics[1:]]
        if self._any("step_s"):
            wished.append(("step_s", _title("step_s"), ("step_s",)))
        made = [SharedPanel(metric, title, self.lines(*names)) for metric, title, names in wished]
        return [panel for panel in made if not panel.empty][:most]

    def lines(self, *names: str) -> dict[str, list[Line]]:
        """The lines of some curves by group; the second name is dashed."""
        told: dict[str, list[Line]] = {}
        number = 0
        for group, cases in self.cases.items():
            told[group] = []
            for case in cases:
                for at, name in enumerate(names):
                    series = _series(case, name)
                    if series is not None and len(series):
                        told[group].append(self._line(case, series, number, dashed=at > 0))
                number += 1
        return told

    def _line(self, case: Case, series: Series, number: int, *, dashed: bool) -> Line:
        steps = placed(case, series, series.steps)
        if self.axis == SHARE:
            steps = steps / (max(case.span[1], float(steps[-1])) or 1.0)
        plain = parts(series.name).metric == "lr"  # a schedule has corners, not noise
        smooth = None if plain else self._smooth(steps, series.values)
        return Line(number, steps, series.values, smooth, dashed)

    def _smooth(self, steps: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray] | None:
        """The moving average; where lines are many, medians of stretches, which cost far less."""
        if not self._crowded:
            found = moving_average(steps, values)
            return found[:2] if found else None
        finite = np.isfinite(values)
        if finite.sum() < 2 * _STRETCHES:
            return None
        coarse = stats.bins(steps[finite], values[finite], _STRETCHES)
        return coarse.step, drawable(coarse.median)

    def _metrics(self) -> list[str]:
        """What is measured beside the loss and is to rise or fall: in most runs first, validation first."""
        counts: dict[str, int] = {}
        for cases in self.cases.values():
            for case in cases:
                for name in case.names:
                    series = case.run.series[name]
                    told = parts(name)
                    wished = series.goal != "none" and told.metric != "loss" and not told.scope
                    if wished and told.metric in METRICS and np.isfinite(series.values).sum() > 1:
                        counts[name] = counts.get(name, 0) + 1
        order = list(counts)
        return sorted(
            counts,
            key=lambda name: (-counts[name], not name.startswith(("val/", "test/")), order.index(name)),
        )

    def _any(self, name: str) -> bool:
        found = (_series(case, name) for cases in self.cases.values() for case in cases)
        return any(series is not None and len(series) > 0 for series in found)


_LOSS = ("loss", "training loss", ("loss",))
_VAL_LOSS = ("loss", "validation loss", ("val/loss",))


def _title(name: str) -> str:
    told = parts(name)
    plain = _TITLES.get(told.metric, told.metric + (f"/{told.part}" if told.part else ""))
    return f"validation {plain}" if told.split == "val" else f"{told.split} {plain}".strip()


def _series(case: Case, name: str) -> Series | None:
    held = {"loss": case.loss, "val/loss": case.val_loss, "lr": case.lr, "grad_norm": case.grad_norm}
    curve = held[name] if name in held else case.curve(name)
    return None if curve is None else curve.series


def band(lines: Sequence[Line]) -> Band | None:
    """Repeats on a grid of their own steps, to the end of the longest; None when they do not overlap."""
    shown = [line.shown for line in lines]
    shown = [(x[np.isfinite(y)], y[np.isfinite(y)]) for x, y in shown]
    shown = [(x, y) for x, y in shown if x.size > 1]
    if len(shown) < 2:
        return None
    steps = np.unique(np.concatenate([x for x, _ in shown]))
    if steps.size > _GRID:
        steps = steps[np.unique(np.linspace(0, steps.size - 1, _GRID).astype(int))]
    held = np.array([np.interp(steps, x, y, left=np.nan, right=np.nan) for x, y in shown])
    there = np.isfinite(held).sum(axis=0)
    if (there >= 2).sum() < 2:
        return None
    kept = there >= 1
    held = held[:, kept]
    low, middle, high = (np.nanquantile(held, share, axis=0) for share in (0.0, 0.5, 1.0))
    return Band(steps[kept], middle, low, high)
