"""The learning rate as the schedule made it."""

from __future__ import annotations

import re

from traindx.case import Case, Curve

_RATE = re.compile(r"(?:^|[/_.])lr(?![a-z])")


def rates(case: Case) -> Curve | None:
    """The logged learning rate of the parameter group that tells the schedule.

    Mostly the first one. Detectors of the YOLO family start the biases, which they log first, at a
    high rate that falls while the weights' rate warms up: then the weights' group is taken.
    """
    first = case.lr
    if first is None or len(first) < 3:
        return first
    others = [group for group in groups(case) if len(group) == len(first)]
    early = max(2, len(first) // 10)
    if first.y[0] >= first.y.max() and first.y[early] < 0.9 * first.y[0]:
        for group in others:
            if group.y[early] > 1.1 * group.y[0]:
                return group
    return first


def groups(case: Case) -> list[Curve]:
    """The logged rates of further parameter groups."""
    names = [name for name in case.run.series if name != "lr" and _RATE.search(name.lower())]
    found = [case.curve(name) for name in names]
    return [curve for curve in found if curve is not None and len(curve)]


def peak_rate(case: Case) -> float | None:
    """The highest learning rate in use: logged, else configured."""
    logged, configured = rates(case), case.number("lr")
    if logged is None or not len(logged):
        return configured
    highest = float(logged.y.max())
    # A log that begins after the first steps of a decay misses the peak by little.
    return configured if configured is not None and highest <= configured <= 1.25 * highest else highest
