"""Memory climbs to the end of the run.

Looks at the lowest use in each stretch, so peaks do not count. Seen when each third of the run stands
higher than the one before, the last part still climbs, and the whole growth is `growth` or more. From
`large` on it is of medium severity.

Silent about a climb that levels off: caches fill, and a maximum only ever rises.
Known mistakes: data that is read into memory bit by bit over a long first epoch.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from traindx import signal
from traindx.case import Case
from traindx.core import Finding, Run, Skipped
from traindx.detectors._numbers import percent, strength, text, where
from traindx.units import Detector

DETECTOR = Detector(title="Memory climbs", needs=("gpu_mem_bytes|gpu_mem|rss_bytes",), family="memory")
_NAMES = ("gpu_mem_bytes", "gpu_mem", "rss_bytes")


def detect(
    case: Case,
    *,
    growth: float = 0.15,
    large: float = 0.5,
    last_part: float = 0.08,
    p: float = 0.01,
    points: int = 30,
) -> Finding | Skipped | None:
    enough = [curve for name in _NAMES if (curve := case.curve(name)) is not None and len(curve) >= points]
    if not enough:
        return Skipped(f"at least {points} values of the memory in use")
    for curve in enough:
        skip = len(curve) // 10
        course = signal.bins(curve.x[skip:], curve.y[skip:], 40)
        levels = [float(np.median(part)) for part in np.array_split(course.low, 6)]
        rise = levels[-1] - levels[0]
        if levels[0] <= 0 or rise < growth * levels[0] or min(np.diff(levels)) <= 0:
            continue
        climb = signal.trend(course.step, course.low)
        if levels[-1] - levels[-2] < last_part * rise or climb.p > p:
            continue
        share = rise / levels[0]
        begin = where(curve, float(course.step[0]))
        return Finding(
            text=f"Memory ({curve.name}) climbs {percent(share)} after {begin}, from {text(levels[0])} to "
            f"{text(levels[-1])}, and still climbs at the end.",
            symptom="memory_growth",
            severity="medium" if share >= large else "low",
            step=float(course.step[0]),
            series=curve.name,
            strength=strength(share, growth, 1.0),
            numbers={"memory_growth": percent(share)},
        )
    return None


def fires() -> Iterator[Run]:
    from traindx.sketch import noisy, run

    yield run({"gpu_mem": noisy(np.linspace(4.0, 10.0, 200), 0.02)})
    yield run({"rss_bytes": noisy(np.linspace(4e9, 5.2e9, 2000), 0.01)})


def silent() -> Iterator[Run]:
    from traindx.sketch import noisy, run

    yield run({"gpu_mem": noisy([8.0] * 200, 0.1)})
    yield run({"gpu_mem": np.maximum.accumulate(noisy([8.0] * 200, 0.2))})
    yield run({"rss_bytes": 8e9 - 4e9 * np.exp(-np.arange(300) / 30)})
    yield run({"gpu_mem": [0.0, 4.0, 8.0] + [8.1] * 100})
