"""Blocks of steps in turn, with and without an observer, and how much longer the observed ones took.

Every observed block stands between two plain ones and is compared with their mean, so that a machine that
grows slower or faster meets both alike. The observers come up in random order.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from observers import Observer, plain
from trainings import Training

_RESAMPLES = 4000
# An interval from fewer blocks says nothing.
_FEW = 3


@dataclass(frozen=True)
class Pair:
    """Seconds per step of an observed block, and of the plain steps around it."""

    observed: float
    around: float


@dataclass(frozen=True)
class Overhead:
    """How much longer an observed step takes, as a share; 95 of 100 resamples lie between low and high."""

    share: float
    low: float
    high: float
    blocks: int

    def __str__(self) -> str:
        share = f"{100 * self.share:+.1f} %"
        return share if self.blocks < _FEW else f"{share} ({100 * self.low:+.1f} to {100 * self.high:+.1f})"


def timed(training: Training, observer: Observer, steps: int) -> float:
    """Seconds per step of one block. Means, not medians: the rare slow step is what an observer costs."""
    with observer.on() as after:
        began = time.perf_counter()
        training.run(steps, after)
        return (time.perf_counter() - began) / steps


def pace(training: Training, seconds: float) -> float:
    """Seconds of a plain step, from about so many seconds of them."""
    training.run(2)
    began, steps = time.perf_counter(), 0
    while time.perf_counter() < began + seconds:
        training.run(1)
        steps += 1
    return (time.perf_counter() - began) / steps


def take_turns(
    training: Training, often: Sequence[Observer], seldom: Sequence[Observer], *, block: float, seconds: float
) -> dict[str, list[Pair]]:
    """Pairs of each observer: `often` has all of its observers in each round, `seldom` one after the other.

    Goes on for `seconds`, and until every observer has come up.
    """
    nothing = Observer("plain", plain)
    steps = max(2, round(block / pace(training, block)))
    taken: dict[str, list[Pair]] = {one.name: [] for one in (*often, *seldom)}
    order = random.Random(0)
    before = timed(training, nothing, steps)
    ends = time.perf_counter() + seconds
    rounds = 0
    while time.perf_counter() < ends or rounds < max(1, len(seldom)):
        turn = [*often, seldom[rounds % len(seldom)]] if seldom else list(often)
        order.shuffle(turn)
        for observer in turn:
            full = observer.period if observer.period * before < 10 * block else steps
            observed = timed(training, observer, max(steps, full))
            after = timed(training, nothing, steps)
            taken[observer.name].append(Pair(observed, (before + after) / 2))
            before = after
        rounds += 1
    return taken


def overhead(pairs: Sequence[Pair]) -> Overhead:
    """Ratio of the mean times, with an interval from drawing the pairs anew."""
    observed = np.array([pair.observed for pair in pairs])
    around = np.array([pair.around for pair in pairs])
    drawn = np.random.default_rng(0).integers(len(pairs), size=(_RESAMPLES, len(pairs)))
    shares = observed[drawn].sum(axis=1) / around[drawn].sum(axis=1) - 1
    low, high = np.percentile(shares, [2.5, 97.5])
    return Overhead(float(observed.sum() / around.sum() - 1), float(low), float(high), len(pairs))


def seconds_per_step(taken: dict[str, list[Pair]]) -> float:
    """Of the plain training."""
    return fmean(pair.around for pairs in taken.values() for pair in pairs)
