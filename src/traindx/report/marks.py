"""Marks on a curve: onset, spikes, stretches, changes of the learning rate, the best checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from traindx.core.nouns import Finding, Problem, Series
from traindx.evidence.case import Case
from traindx.report.charts import Kind, Mark
from traindx.report.curves import evenly
from traindx.report.text import short
from traindx.report.titles import finding_title
from traindx.report.wording import place_of, step_of

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

_LR_MARKS_MOST = 12
_EVENTS_MOST = 40
_POINTS_MOST = 200


def marks(case: Case, problem: Problem | None, signs: Sequence[Finding] = ()) -> list[Mark]:
    """All marks of one chart."""
    findings = [*(problem.findings if problem else ()), *signs]
    chart_marks: list[Mark] = []
    onset = onset_mark(case, problem) if problem is not None else None
    if onset is not None:
        chart_marks.append(onset)
    for finding in findings:
        chart_marks += [mark for mark in finding_marks(case, finding) if not _same_place(mark, onset)]
    chart_marks += lr_marks(case)
    best = best_checkpoint(case)
    if best is not None:
        chart_marks.append(best)
    for event in case.run.events[:_EVENTS_MOST]:
        if event.step is not None and np.isfinite(event.step):
            chart_marks.append(Mark("event", event.step, event.kind.replace("_", " "), event.text))
    return chart_marks


def _same_place(mark: Mark, onset: Mark | None) -> bool:
    """Whether the onset is drawn there already."""
    return mark.kind == "point" and onset is not None and onset.step == mark.step


def onset_mark(case: Case, problem: Problem) -> Mark | None:
    """Where a problem began, when it is known."""
    step = problem.onset_step
    if step is None or not np.isfinite(step):
        return None
    source = next((f.series for f in problem.findings if f.step == step), None)
    at = _on_axis(case, source, step)
    if float(step_of(case.run, step).replace(",", "")) != step:  # between two steps of the log
        at = float(np.floor(at + 0.5))
    return Mark("onset", at, "onset", f"Onset at {place_of(case.run, step)}. {problem.summary}")


def finding_marks(case: Case, finding: Finding) -> Iterator[Mark]:
    """The stretch a finding spans and the points it marks."""
    title = finding_title(finding.id)

    def mark(kind: Kind, step: float, end: float | None = None) -> Mark:
        return Mark(kind, _on_axis(case, finding.series, step), title, finding.text, end, finding.series)

    step = finding.step if finding.step is not None and np.isfinite(finding.step) else None
    end = finding.end if finding.end is not None and np.isfinite(finding.end) else None
    points = [at for at in finding.marks if np.isfinite(at)]
    if step is not None and end is not None and end > step:
        yield mark("span", step, _on_axis(case, finding.series, end))
        points = [at for at in points if at not in (step, end)]  # its edges show already
    elif step is not None and not points:
        points = [step]
    for at in evenly(len(points), _POINTS_MOST):
        yield mark("point", points[at])


def placed(case: Case, series: Series | None, steps: FloatArray) -> FloatArray:
    """Steps of a series on the run's own axis: validation may be counted by epochs, training by steps."""
    if series is None or series.axis == case.run.axis or not len(series):
        return steps
    if series.axis == "epoch" and case.run.axis == "step" and case.epoch_length:
        return steps * case.epoch_length
    same_axis = [s for s in case.run.series.values() if s.axis == case.run.axis and len(s)]
    last = float(series.steps[-1])
    if not same_axis or last <= 0:
        return steps
    return steps * (max(float(s.steps[-1]) for s in same_axis) / last)


def _on_axis(case: Case, name: str | None, step: float) -> float:
    series = case.run.series.get(name or "")
    return float(placed(case, series, np.array([step]))[0])


def best_checkpoint(case: Case) -> Mark | None:
    """The best validation loss, when there is a choice of checkpoints."""
    curve = case.val_loss
    if curve is None or len(curve) < 3:
        return None
    (step, best), last = curve.best_point, float(curve.y[-1])
    text = f"Best {curve.name} {short(best)} at {curve.axis} {short(step)}; the last one is {short(last)}."
    return Mark("best", _on_axis(case, curve.name, step), "best checkpoint", text, series=curve.name)


def lr_marks(case: Case) -> list[Mark]:
    """The end of the warm-up, sudden changes and restarts of the learning rate."""
    curve = case.lr
    if curve is None or len(curve) < 4:
        return []
    steps, values = placed(case, curve.series, curve.x), curve.y
    changes = sorted({**_turns(values), **_jumps(values)}.items())
    return [
        Mark(
            "lr",
            float(steps[at]),
            title,
            f"{text} at {curve.axis} {short(float(curve.x[at]))}.",
            None,
            curve.name,
        )
        for at, (title, text) in (changes[i] for i in evenly(len(changes), _LR_MARKS_MOST))
    ]


def _jumps(values: FloatArray) -> dict[int, tuple[str, str]]:
    """Changes between neighbours of a third or more, far larger than the changes around them."""
    change = np.abs(np.diff(values))
    level = np.maximum(np.abs(values[:-1]), np.abs(values[1:]))
    jumps = {}
    steady = np.flatnonzero(np.diff(values) <= 0)
    warm = int(steady[0]) if steady.size else values.size  # until there it only rose
    for at in np.flatnonzero(change >= 0.3 * level).tolist():
        if at < warm:
            continue
        around = np.concatenate([change[max(0, at - 8) : at], change[at + 1 : at + 9]])
        if level[at] > 0 and around.size and change[at] > 6 * np.median(around):
            before, after = float(values[at]), float(values[at + 1])
            word = "drop" if after < before else "rise"
            jumps[at + 1] = (
                f"lr {word}",
                f"The learning rate changes from {short(before)} to {short(after)}",
            )
    return jumps


def _turns(values: FloatArray) -> dict[int, tuple[str, str]]:
    """Where it turns from rising to falling for the first time, and from falling to rising."""
    moves = np.flatnonzero(np.diff(values))
    if moves.size < 2:
        return {}
    signs = np.sign(np.diff(values)[moves])
    turns = {}
    turning = np.flatnonzero(signs[1:] != signs[:-1]).tolist()
    ends = [0, *(int(moves[t]) + 1 for t in turning), values.size - 1]
    top = float(values[0])
    for number, at in enumerate(ends[1:-1], start=1):
        here, following = float(values[at]), float(values[ends[number + 1]])
        if number == 1 and signs[0] > 0 and here > 1.5 * top:
            turns[at] = ("end of warm-up", f"The warm-up ends, the learning rate is {short(here)}")
        elif following > here and here < 0.5 * top and following > 2 * here:
            turns[at] = (
                "lr restart",
                f"The learning rate rises again from {short(here)} to {short(following)}",
            )
        top = max(top, here) if following < here else following
    return turns
