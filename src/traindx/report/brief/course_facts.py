"""How far it got, against chance and simple models, and where the curves turned."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from traindx.core.facts import number
from traindx.core.names import is_secondary
from traindx.core.number_text import percent as share_text
from traindx.core.number_text import place
from traindx.evidence.case import Case
from traindx.evidence.curve import Curve
from traindx.evidence.sampled import late, part, sampled
from traindx.report.brief.facts import BriefFact
from traindx.report.brief.task_facts import table
from traindx.report.marks import lr_marks
from traindx.report.text import count, percent, rounded, short, visible

_SCORES_MOST = 6
_EVENTS_MOST = 4
_TURNS_MOST = 3
_STILL = 0.01
_NOISE_FROM = 8
# What says how long something took, not how good it is.
_ABOUT_TIME = ("_s", "_per_s", "bytes")


def course_facts(case: Case) -> Iterator[BriefFact]:
    """Curves with a goal, the level reached, then where they turned."""
    main = [curve for curve in (case.loss, case.val_loss) if curve is not None]
    for curve in main:
        yield BriefFact(f"curve {curve.name}", _ends(curve), 9, (curve.name,))
    for curve in _scores(case, main)[:_SCORES_MOST]:
        yield BriefFact(f"curve {curve.name}", _ends(curve), 7, (curve.name,))
    yield from _level(case)
    yield from _simple(case)
    yield from _turns(case)
    yield from _rates(case)
    yield from _events(case)


def _scores(case: Case, main: list[Curve]) -> list[Curve]:
    """Further curves that have a goal, validation first: scores, rewards, parts of the loss."""
    main_names = {curve.name for curve in main}
    names = [name for name in case.names if name not in main_names and not is_secondary(name)]
    curves = [case.curve(name) for name in names if not name.endswith(_ABOUT_TIME)]
    aimed = [curve for curve in curves if curve is not None and len(curve) and curve.goal != "none"]
    return sorted(aimed, key=lambda curve: not curve.name.startswith(("val/", "test/")))


def _ends(curve: Curve) -> str:
    """First and last value, the best, how many points and how many of them are not finite."""
    if not len(curve):
        return f"none of {count(curve.broken, 'value')} is finite"
    whole = curve.series.whole
    ends = [(float(curve.x[at]), float(curve.y[at])) for at in (0, -1)]
    first, last = (f"{short(value)} at {place(curve.axis, step, whole=whole)}" for step, value in ends)
    text = f"{first} -> {last}"
    if curve.goal != "none" and len(curve) > 2:
        step, best = curve.best_point
        text += f", best {short(best)} at {place(curve.axis, step, whole=whole)}"
    broken = f", {curve.broken:,} NaN or Inf" if curve.broken else ""
    noise = f", noise {rounded(curve.noise)}" if len(curve) >= _NOISE_FROM else ""
    return f"{text}; {count(len(curve), 'point')}{broken}{noise}"


def _level(case: Case) -> Iterator[BriefFact]:
    """The final losses as a share of a constant answer's loss, for training and validation."""
    level = case.task.constant_loss
    if not level:
        return
    sides = (("training", case.loss), ("validation", case.val_loss))
    curves = [(name, curve) for name, curve in sides if curve is not None and len(curve)]
    parts = [f"{name} {share_text(curve.tail / level)}" for name, curve in curves]
    if parts:
        text = f"share of a constant answer's loss that is left at the end: {', '.join(parts)}"
        yield BriefFact("level", text, 9, tuple(curve.name for _, curve in curves))


def _simple(case: Case) -> Iterator[BriefFact]:
    """What a straight line or a vote of neighbours reaches on the recorded samples."""
    relation = part(case.inside.fact("samples"), "relation")
    reached, chance, samples = (number(relation, key) for key in ("told", "by_chance", "samples"))
    if reached is None:
        return
    measure = "right answers" if number(relation, "classes") else "explained variance"
    text = f"a line or neighbours reach {percent(reached)} {measure} on recorded samples not seen"
    if samples:
        text += f" ({samples:,.0f} recorded)"
    text += f", by chance {percent(chance)}" if chance is not None else ""
    model, names = case.level.against_simple, ("output/right_share", "output/explained")
    if model is not None:
        text += f"; the model {percent(model.reached)}"
    elif (right := sampled(case, names[not number(relation, "classes")])) is not None:
        text += f"; the model {percent(late(right))} of its training batches"
    alone, feature = number(relation, "alone"), number(relation, "feature")
    if alone is not None and feature is not None:
        text += f"; best column alone ({feature:.0f}) {percent(alone)}"
    series = tuple(name for name in names if name in case.run.series)
    yield BriefFact("simple models", text, 9, series, table(("", ""), list(relation.items())))


def _turns(case: Case) -> Iterator[BriefFact]:
    """Where the losses fell, stopped falling, rose again, or became NaN or Inf."""
    for curve in (case.loss, case.val_loss):
        if curve is None or not len(curve.series):
            continue
        parts = [*_broken(curve), *(_moves(case, curve) if len(curve) >= 6 else ())]
        if parts:
            yield BriefFact(f"turn {curve.name}", "; ".join(parts), 9, (curve.name,))


def _broken(curve: Curve) -> Iterator[str]:
    if curve.broken:
        at = float(curve.series.steps[~curve.finite][0])
        yield f"first NaN or Inf at {place(curve.axis, at, whole=curve.series.whole)}"


def _moves(case: Case, curve: Curve) -> Iterator[str]:
    whole, ends = curve.series.whole, curve.course.ends
    moved = "fell" if ends.fall >= 0 else "rose"
    yield f"{moved} by {share_text(abs(ends.share))} from its first to its last tenth"
    reached = curve.coarse.median <= ends.head - 0.5 * ends.fall
    if ends.share > _STILL and reached.any():
        yield f"half of it by {place(curve.axis, float(curve.coarse.step[reached.argmax()]), whole=whole)}"
    since = curve.course.standstill()
    if since is not None:
        at = place(curve.axis, since.since, whole=whole)
        yield f"flat at {short(since.level)} since {at} ({percent(since.share)} of the run)"
    elif curve.course.still_falls():
        yield f"still falls {share_text(curve.course.late_fall)} within its last third"
    step, best = curve.best_point
    after = float(curve.x[-1] - step) / (float(curve.x[-1] - curve.x[0]) or 1.0)
    if after > 0.1 and curve.tail - best > max(3 * curve.noise, _STILL * abs(best)):
        yield f"lowest at {place(curve.axis, step, whole=whole)}, {short(curve.tail)} at the end"
    spikes = [float(curve.x[spike.at]) for spike in curve.spikes]
    if spikes and not case.surrogate:
        yield f"{count(len(spikes), 'spike')}, first at {place(curve.axis, spikes[0], whole=whole)}"


def _rates(case: Case) -> Iterator[BriefFact]:
    """The learning rate over the run, and the gradient norm."""
    rate = case.lr
    if rate is not None and len(rate) > 1:
        low, high = float(rate.y.min()), float(rate.y.max())
        if high - low <= 1e-3 * abs(high):
            text = f"{short(high)} all the time"
        else:
            text = f"{short(float(rate.y[0]))} -> {short(float(rate.y[-1]))}, highest {short(high)}"
            turns = [mark.text.rstrip(".") for mark in lr_marks(case)]
            text += "".join(f"; {turn}" for turn in turns[:_TURNS_MOST])
        yield BriefFact("learning rate", text, 6, (rate.name,))
    norm = case.grad_norm
    if norm is not None and len(norm):
        at = int(norm.y.argmax())
        middle, top = short(float(np.median(norm.y))), short(float(norm.y[at]))
        where = place(norm.axis, float(norm.x[at]), whole=norm.series.whole)
        broken = f", {norm.broken:,} NaN or Inf" if norm.broken else ""
        ends = f"{short(float(norm.y[0]))} -> {short(norm.tail)}"
        text = f"{ends}, median {middle}, highest {top} at {where}{broken}"
        yield BriefFact("gradient norm", text, 6, (norm.name,))


def _events(case: Case) -> Iterator[BriefFact]:
    """What happened, each kind once."""
    kinds = dict.fromkeys(event.kind for event in case.run.events)
    for kind in list(kinds)[:_EVENTS_MOST]:
        events = [event for event in case.run.events if event.kind == kind]
        steps = [event.step for event in events if event.step is not None]
        at = f" at {place(case.run.axis, steps[0])}" if steps else ""
        times = f"{len(events):,} times, first" if len(events) > 1 else "once"
        rows = [(event.step, event.text) for event in events]
        text = f"{times}{at}: {visible(events[0].text, 160)}"
        yield BriefFact(f"event {kind}", text, 7, table=table((case.run.axis, "text"), rows))
