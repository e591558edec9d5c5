"""Copies of one history: the same file twice, a log and its export, a checkpoint of a later one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from traindx.core.nouns import Note, Run, Series

_LONG_ENOUGH = 8
_COMPARED_MOST = 1000


def without_copies(runs_by_source: list[list[Run]]) -> list[Run]:
    """Drop copies that are the beginning of another file's history; trainings of one file are none."""
    distinct: list[Run] = []
    alike: dict[tuple[object, ...], list[tuple[int, int]]] = {}
    for source, runs in enumerate(runs_by_source):
        for run in runs:
            first = next(iter(run.series.values()), None)
            long = first is not None and len(first) >= _LONG_ENOUGH
            begin = _fingerprint(run, series=3, points=1)
            more = (*begin, *_fingerprint(run, series=1, points=_LONG_ENOUGH))
            # Many runs may begin alike: a long one is compared with those that continue alike, or are short.
            near = alike.get(more, []) + alike.get(("short", *begin), []) if long else alike.get(begin, [])
            for at, earlier in near[:_COMPARED_MOST]:
                if earlier != source and _prefix(run, distinct[at]):
                    distinct[at] = _longer(run, distinct[at])
                    break
            else:
                for key in (begin, more if long else ("short", *begin)):
                    alike.setdefault(key, []).append((len(distinct), source))
                distinct.append(run)
    return distinct


def _longer(a: Run, b: Run) -> Run:
    long, short = (a, b) if a.points > b.points else (b, a)
    note = Note(short.path, f"{short.name} has the same history, or its beginning; counted once")
    return replace(long, files=tuple(dict.fromkeys(long.files + short.files)), notes=(*long.notes, note))


def _fingerprint(run: Run, *, series: int, points: int) -> tuple[object, ...]:
    """The first points of the leading series: equal for copies of one history."""
    return tuple(
        (name, s.steps[:points].tobytes(), np.float32(s.values[:points]).tobytes())
        for name, s in list(run.series.items())[:series]
        if len(s)
    )


def _prefix(a: Run, b: Run) -> bool:
    """Whether every curve the runs share begins the other's, to single precision."""
    shared = [(a.series[name], b.series[name]) for name in a.series if name in b.series]
    if not shared or (max(len(x) for x, _ in shared) < 2 and a.points != b.points):
        return False
    return all(begins(x, y) for x, y in shared)


def begins(x: Series, y: Series) -> bool:
    """Whether one curve is the beginning of the other, to single precision."""
    n = min(len(x), len(y))
    return bool(
        np.array_equal(x.steps[:n], y.steps[:n])
        and np.allclose(x.values[:n], y.values[:n], rtol=1e-6, atol=0, equal_nan=True)
    )
