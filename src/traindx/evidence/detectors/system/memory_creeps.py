"""Memory climbs to the end of the run.

Looks at the lowest use in each stretch, so peaks do not count. Seen when each third of the run stands
higher than the one before, the last part still climbs, and the whole growth is {growth_share} or more. From
{large_share} on it is of medium severity. Memory is told by the words in the names of what was logged (mem,
memory, rss, vram, ram), whatever the unit.

Silent about a climb that levels off: caches fill, and a maximum only ever rises.
Known mistakes: data that is read into memory bit by bit over a long first epoch.
"""

import re

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Skipped, stats
from traindx.evidence.detectors._number_text import percent, strength, text, where
from traindx.testing.sketch import noisy, run

DETECTOR = Detector(title="Memory climbs", needs=(), family="memory")
_FIRST = ("gpu_mem_bytes", "gpu_mem", "rss_bytes")
_MEMORY = re.compile(r"(?:^|[^a-z]|gpu|cuda|cpu|max|peak|sys)(?:mem|memory|rss|vram|ram)(?![a-z])")
# Other things with such a word: losses of a memory bank, what is left free, limits.
_ELSE = re.compile(r"loss|acc|free|avail|total|limit|frag|bank|cell|bandwidth|clock|time")
_UNITS = {"kb": "kB", "mb": "MB", "gb": "GB", "kib": "KiB", "mib": "MiB", "gib": "GiB", "bytes": "bytes"}
_UNIT = re.compile(r"(?:^|[^a-z])(kb|mb|gb|kib|mib|gib|bytes)(?![a-z])")
_BYTES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_PERCENT = re.compile(r"percent|pct|%")


def detect(
    case: Case,
    *,
    growth_share: float = 0.15,
    large_share: float = 0.5,
    last_sixth_share: float = 0.08,
    p_value: float = 0.01,
    min_points: int = 30,
) -> Detected:
    curves = [curve for curve in _memory(case) if len(curve) >= min_points]
    if not curves:
        return Skipped(f"the memory in use, logged at least {min_points} times")
    for curve in curves:
        skip = len(curve) // 10
        course = stats.bins(curve.x[skip:], curve.y[skip:], 40)
        levels = [float(np.median(part)) for part in np.array_split(course.low, 6)]
        rise = levels[-1] - levels[0]
        if levels[0] <= 0 or rise < growth_share * levels[0] or min(np.diff(levels)) <= 0:
            continue
        climb = stats.trend(course.step, course.low)
        if levels[-1] - levels[-2] < last_sixth_share * rise or climb.p > p_value:
            continue
        share = rise / levels[0]
        (first, last), unit = _sizes(curve, levels[0], levels[-1])
        begin = where(curve, float(course.step[0]))
        return Finding(
            text=f"Memory ({curve.series.source}) climbs {percent(share)} after {begin}, from {first} to "
            f"{last}{unit}, and still climbs at the end.",
            symptom="memory_growth",
            severity="medium" if share >= large_share else "low",
            step=float(course.step[0]),
            series=curve.name,
            strength=strength(share, growth_share, 1.0),
            numbers={"memory_growth": percent(share)},
        )
    return None


def _memory(case: Case) -> list[Curve]:
    """What was logged of memory, the best known first."""
    names = [name for name in case.names if name not in _FIRST and _tells_memory(name)]
    curves = [case.curve(name) for name in (*_FIRST, *names)]
    return [curve for curve in curves if curve is not None]


def _tells_memory(name: str) -> bool:
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    return _MEMORY.search(plain) is not None and _ELSE.search(plain) is None


def _sizes(curve: Curve, *sizes: float) -> tuple[list[str], str]:
    """Sizes as they are best read, and their unit: of bytes, or as the log's own name tells it."""
    if curve.name.partition("@")[0].endswith("_bytes"):
        least = min(abs(size) for size in sizes)
        factor, unit = next(((f, u) for f, u in _BYTES if least >= f), (1.0, "bytes"))
        return [text(size / factor) for size in sizes], f" {unit}"
    name = re.sub(r"(?<=[a-z])(?=[A-Z]{2})", "_", curve.series.source).lower()
    match = _UNIT.search(name)
    unit = " %" if _PERCENT.search(name) else f" {_UNITS[match[1]]}" if match else ""
    return [text(size) for size in sizes], unit


def fires() -> Runs:
    yield run({"gpu_mem": noisy(np.linspace(4.0, 10.0, 200), 0.02)})
    yield run({"rss_bytes": noisy(np.linspace(4e9, 5.2e9, 2000), 0.01)})
    yield run({"mem_mb": np.linspace(366.0, 1391.0, 100)})
    yield run({"system/cpuMemory.rss (GB)": np.linspace(2.0, 9.0, 100)})


def silent() -> Runs:
    yield run({"gpu_mem": noisy([8.0] * 200, 0.1)})
    yield run({"gpu_mem": np.maximum.accumulate(noisy([8.0] * 200, 0.2))})
    yield run({"rss_bytes": 8e9 - 4e9 * np.exp(-np.arange(300) / 30)})
    yield run({"gpu_mem": [0.0, 4.0, 8.0] + [8.1] * 100})
    yield run({"memory_bank_loss": np.linspace(1.0, 9.0, 100), "parameters": np.linspace(1.0, 9.0, 100)})
