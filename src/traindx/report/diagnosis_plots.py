"""A diagnosis as PNGs: the loss with its marks, the learning rate, the validation gap, gradient norms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from traindx.core.nouns import Diagnosis, Problem
from traindx.evidence.case import Case, Curve
from traindx.report.charts import Curves, HorizontalLine, Mark, Panel, Shade
from traindx.report.curves import moving_average
from traindx.report.inside import inside_parts
from traindx.report.marks import best_checkpoint, finding_marks, lr_marks, onset_mark, placed
from traindx.report.measured import case_of
from traindx.report.panels import line, main_panels, marked, panel, panel_of, span
from traindx.report.text import short
from traindx.report.titles import symptom_title
from traindx.report.to_png import Picture, file_name, write_picture
from traindx.report.wording import verdict_sentences, verdict_word

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

_POINTS_LEAST = 2
_GAP_LEAST = 3


def write_diagnosis_plots(diagnoses: Iterable[Diagnosis], folder: Path) -> list[Path]:
    """The plots of each run that its data allow; gives the paths written.

    Those of the inside bear the run's name only where there are several runs: scripts look for them.
    """
    plotted = list(diagnoses)
    paths: list[Path] = []
    names = set[str]()
    for diagnosis in plotted:
        for ending, picture in pictures(diagnosis):
            paths.append(folder / file_name(diagnosis.run.name, names, f"-{ending}"))
            write_picture(picture, paths[-1])
        for ending, picture in inside_pictures(diagnosis):
            name = file_name(diagnosis.run.name, names, f"-{ending}") if len(plotted) > 1 else f"{ending}.png"
            paths.append(folder / name)
            write_picture(picture, paths[-1])
    return paths


def inside_pictures(diagnosis: Diagnosis) -> Iterator[tuple[str, Picture]]:
    """The inside of a recorded training: those pictures that the recording allows."""
    for ending, parts in inside_parts(case_of(diagnosis.run)).items():
        yield ending, _picture(diagnosis, tuple(part.drawing for part in parts))


def _picture(diagnosis: Diagnosis, charts: tuple[object, ...], heights: tuple[float, ...] = ()) -> Picture:
    verdict = f"{verdict_word(diagnosis).capitalize()}: {verdict_sentences(diagnosis)[0]}"
    return Picture(diagnosis.run.name, charts, verdict, heights)  # type: ignore[arg-type]


def pictures(diagnosis: Diagnosis) -> Iterator[tuple[str, Picture]]:
    """The name and the picture of each plot."""
    case = case_of(diagnosis.run)
    panels = main_panels(case)
    if not panels:
        return

    def picture(*panels: Panel, heights: tuple[float, ...] = (4.2,)) -> Picture:
        return _picture(diagnosis, (Curves(panels, case.run.axis, span(case)),), heights)

    main, *others = panels
    problem_marks = _problem_marks(diagnosis, case, main)
    best = best_checkpoint(case)
    yield (
        "loss" if main.metric == "loss" else "curve",
        picture(_with(main, [*problem_marks, *([best] if best else [])])),
    )
    lr, gradients = panel_of(others, "lr"), panel_of(others, "grad_norm")
    if lr is not None and lr.lines[0].x.size >= _POINTS_LEAST:
        yield "lr", picture(*_with_lr(diagnosis, case, main, lr), heights=(2.9, 1.7))
    train, val = case.loss, case.val_loss
    if train is not None and val is not None and len(train) and len(val) >= _GAP_LEAST:
        yield "gap", picture(_gap(case, train, val, best))
    if gradients is not None and gradients.lines[0].x.size >= _POINTS_LEAST:
        clip = case.number("clip")
        levels = (HorizontalLine(clip, f"clipped at {short(clip)}"),) if clip is not None and clip > 0 else ()
        positive = bool(gradients.values.size and gradients.values.min() > 0)
        marks = _problem_marks(diagnosis, case, gradients)
        yield "gradients", picture(replace(_with(gradients, marks), levels=levels, logarithmic=positive))


def _with(panel: Panel, marks: Sequence[Mark]) -> Panel:
    return marked([panel], marks)[0]


def _problem_marks(
    diagnosis: Diagnosis, case: Case, panel: Panel, *, onsets_only: bool = False
) -> list[Mark]:
    """Where the problems seen on a panel's curves began, their stretches and their points."""
    problem_marks: list[Mark] = []
    for problem in diagnosis.problems:
        if not _concerns(problem, panel):
            continue
        onset = onset_mark(case, problem)
        if onset is not None:
            problem_marks.append(replace(onset, title=f"onset: {symptom_title(problem.symptom)}"))
        for finding in problem.findings:
            if not onsets_only and panel_of([panel], finding.series) is not None:
                marks = finding_marks(case, finding)
                problem_marks += [
                    m for m in marks if m.kind == "span" or onset is None or m.step != onset.step
                ]
    return problem_marks


def _concerns(problem: Problem, panel: Panel) -> bool:
    """Whether a problem was seen on a panel, or on no curve at all."""
    curves = [finding.series for finding in problem.findings if finding.series is not None]
    return not curves or any(panel_of([panel], name) is not None for name in curves)


def _with_lr(diagnosis: Diagnosis, case: Case, main: Panel, lr: Panel) -> tuple[Panel, Panel]:
    """The loss above, the learning rate below, its changes marked in both."""
    onsets = _problem_marks(diagnosis, case, main, onsets_only=True)
    changes = lr_marks(case)
    through = [Mark("upright", mark.step, "change of the learning rate", colour="lr") for mark in changes]
    above = _with(replace(main, lines=main.lines[:1]), onsets)
    below = _with(lr, [*onsets, *_problem_marks(diagnosis, case, lr), *changes])
    return replace(above, marks=(*above.marks, *through)), below


def _gap(case: Case, train: Curve, val: Curve, best: Mark | None) -> Panel:
    """Training and validation loss with the area between them shaded."""
    lines = [line(case, train.series, 0), line(case, val.series, 1)]
    steps = placed(case, val.series, val.x)
    below = _levels(case, train, steps)
    worse, last = val.y > below, f"at {val.axis} {short(float(val.x[-1]))}"
    gap = float(val.y[-1] - below[-1])
    label = f"gap, {short(gap)} {last}" if worse[-1] else None
    better = None if worse[-1] else f"validation better by {short(-gap)} {last}"
    shades = (
        Shade(steps, below, val.y, worse, "alarm", label),
        Shade(steps, below, val.y, ~worse, "good", better),
    )
    losses = replace(panel("loss", lines, "train and validation loss"), shades=shades)
    return _with(losses, [best] if best is not None else [])


def _levels(case: Case, curve: Curve, steps: FloatArray) -> FloatArray:
    """What the curve averages to at given steps."""
    positions = placed(case, curve.series, curve.x)
    smooth = moving_average(positions, curve.y)
    x, y = (positions, curve.y) if smooth is None else smooth[:2]
    return np.interp(steps, x, y)
