"""A diagnosis as PNGs: the loss with its marks, lr beside it, the validation gap, gradient norms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from traindx.core.nouns import Diagnosis
from traindx.evidence.case import Case, Curve
from traindx.report.curves import Panel, main_panels, moving_average, panel_of, placed
from traindx.report.figures import ALARM, COLOURS, GOOD, MUTED, file_name, save
from traindx.report.inside_plots import inside_plots
from traindx.report.marked import Sheet
from traindx.report.marks import best_checkpoint, lr_marks
from traindx.report.text import short

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from traindx.core.nouns import FloatArray

_POINTS_LEAST = 2
_GAP_LEAST = 3


def write_diagnosis_plots(diagnoses: Iterable[Diagnosis], folder: Path) -> list[Path]:
    """The plots of each run that its data allow; gives the paths written.

    Those of the inside bear the run's name only where there are several runs: scripts look for them.
    """
    told = list(diagnoses)
    written: list[Path] = []
    taken = set[str]()
    for diagnosis in told:
        for ending, draw in _plots(diagnosis):
            path = folder / file_name(diagnosis.run.name, taken, f"-{ending}")
            save(draw, path)
            written.append(path)
        for ending, draw in inside_plots(diagnosis, Case(diagnosis.run)):
            name = file_name(diagnosis.run.name, taken, f"-{ending}") if len(told) > 1 else f"{ending}.png"
            save(draw, folder / name)
            written.append(folder / name)
    return written


def _plots(diagnosis: Diagnosis) -> Iterator[tuple[str, Callable[[], Figure]]]:
    """What each plot is called, and how it is drawn."""
    case = Case(diagnosis.run)
    panels = main_panels(case)
    if not panels:
        return
    main, *others = panels
    yield "loss" if main.metric == "loss" else "curve", partial(_main, diagnosis, case, main)
    lr, gradients = panel_of(others, "lr"), panel_of(others, "grad_norm")
    if lr is not None and len(lr.curves[0]) >= _POINTS_LEAST:
        yield "lr", partial(_beside_lr, diagnosis, case, main, lr)
    train, val = case.loss, case.val_loss
    if train is not None and val is not None and len(train) and len(val) >= _GAP_LEAST:
        yield "gap", partial(_gap, diagnosis, case, train, val)
    if gradients is not None and len(gradients.curves[0]) >= _POINTS_LEAST:
        yield "gradients", partial(_gradients, diagnosis, case, gradients)


def _main(diagnosis: Diagnosis, case: Case, panel: Panel) -> Figure:
    """The curve that stands for the run, its moving average, validation, and all that was seen on it."""
    sheet = Sheet(diagnosis, case, [4.2])
    sheet.draw(0, panel)
    sheet.mark(0, panel)
    best = best_checkpoint(case)
    if best is not None and best.series in panel.names:
        sheet.point(0, panel, best)
    return sheet.finish()


def _beside_lr(diagnosis: Diagnosis, case: Case, main: Panel, lr: Panel) -> Figure:
    """The loss above, the learning rate below, its changes marked through both."""
    sheet = Sheet(diagnosis, case, [2.9, 1.7])
    sheet.draw(0, Panel(main.metric, main.curves[:1]))
    sheet.mark(0, main, onsets_only=True)
    sheet.draw(1, lr, average=False)
    sheet.mark(1, main, onsets_only=True)
    sheet.mark(1, lr)
    for mark in lr_marks(case):
        sheet.axes[0].axvline(mark.step, color=COLOURS[3], linewidth=0.8, linestyle=":")
        sheet.point(1, lr, mark)
    return sheet.finish()


def _gap(diagnosis: Diagnosis, case: Case, train: Curve, val: Curve) -> Figure:
    """Training and validation loss, what lies between them shaded."""
    panel = Panel("loss", (train.series, val.series))
    sheet = Sheet(diagnosis, case, [4.2])
    sheet.draw(0, panel, title="train and validation loss")
    steps = placed(case, val.series, val.x)
    below = _levels(case, train, steps)
    axes, worse = sheet.axes[0], val.y > below
    gap = val.y - below
    last = f"at {val.axis} {short(float(val.x[-1]))}"
    label = f"gap, {short(float(gap[-1]))} {last}"
    shade: Any = {"alpha": 0.14, "linewidth": 0, "interpolate": True}
    axes.fill_between(
        steps, below, val.y, where=worse, color=ALARM, label=label if worse[-1] else None, **shade
    )
    better = None if worse[-1] else f"validation better by {short(float(-gap[-1]))} {last}"
    axes.fill_between(steps, below, val.y, where=~worse, color=GOOD, label=better, **shade)
    best = best_checkpoint(case)
    if best is not None:
        axes.axvline(best.step, color=GOOD, linewidth=0.9, linestyle=":")
        sheet.point(0, panel, best)
    return sheet.finish()


def _levels(case: Case, curve: Curve, steps: FloatArray) -> FloatArray:
    """What the curve averages to at given steps."""
    own = placed(case, curve.series, curve.x)
    smooth = moving_average(own, curve.y)
    x, y = (own, curve.y) if smooth is None else smooth[:2]
    return np.interp(steps, x, y)


def _gradients(diagnosis: Diagnosis, case: Case, panel: Panel) -> Figure:
    """Gradient norms on a logarithmic axis, with the norm they are clipped at when it is known."""
    sheet = Sheet(diagnosis, case, [4.2])
    sheet.draw(0, panel, logarithmic=True)
    sheet.mark(0, panel)
    clip = case.number("clip")
    if clip is not None and clip > 0:
        label = f"clipped at {short(clip)}"
        sheet.axes[0].axhline(clip, color=MUTED, linewidth=1.1, linestyle="-.", label=label)
    return sheet.finish()
