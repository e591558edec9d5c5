"""The search: a scout over all rates that make sense, then ramps around where it turned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from traindx.experiment.lr_find.answer import RangeAnswer, answer
from traindx.experiment.lr_find.ramps import Ramps, levelled
from traindx.experiment.lr_find.shape import RampShape, shape_of

STEPS = 150
SEEDS = 3
_FURTHER = 1e4
_SCOUTS_MOST = 3
_SCOUT_LEAST = 8
# Noise of this share of the fall blurs where it turns: then batches are measured twice.
_BLURRED = 0.05
# Their steps are as large as the rate says, whatever the gradient: rates near one are never stable.
_NORMALISED = ("adam", "lion", "rmsprop", "lamb", "adafactor", "sophia", "muon", "adagrad", "rprop", "came")
_OF_NORMALISED = (1e-6, 1.0)
_OF_OTHERS = (1e-5, 30.0)
_SMALLEST, _LARGEST = 1e-10, 1e5


class Walk(Protocol):
    """Trains while the rate is raised, once for each seed; fewer steps where the training ends before."""

    def __call__(
        self, first: float, last: float, steps: int, seeds: Sequence[int], *, controls: bool
    ) -> Ramps: ...


@dataclass(frozen=True)
class RangeRequest:
    """What was asked for; `span` as given by the user is walked as it is."""

    steps: int = STEPS
    seeds: int = SEEDS
    seed: int = 0
    span: tuple[float, float] | None = None
    current: float | None = None


def search(walk: Walk, around: tuple[float, float], request: RangeRequest) -> RangeAnswer:
    """`around` is where to search first."""
    wide, close = (request.span, None) if request.span else _scouted(walk, around, request)
    range_answer = _walked(walk, close or wide, request)
    fallback = _elsewhere(range_answer.verdict, wide, close) if close is not None else None
    if fallback is not None:
        fallback_answer = _walked(walk, fallback, request)
        return fallback_answer if fallback_answer.found else range_answer
    return range_answer


def _elsewhere(
    verdict: str, wide: tuple[float, float], close: tuple[float, float]
) -> tuple[float, float] | None:
    """Where to search when the close search did not show the turn."""
    if verdict in ("no_edge", "seeds_disagree"):
        # The slower ramp had learnt all there is before it came to the edge: a faster one comes there.
        return wide
    if verdict == "diverges_at_once":
        # The scout passed its first learning rates so fast that they seemed harmless.
        return close[0] / 1e3, close[0] * 1e2
    return None


def _walked(walk: Walk, span: tuple[float, float], request: RangeRequest) -> RangeAnswer:
    seeds = range(request.seed, request.seed + request.seeds)
    range_answer = answer(walk(*span, request.steps, seeds, controls=False), request.current)
    if range_answer.blur > _BLURRED:
        range_answer = answer(walk(*span, request.steps, seeds, controls=True), request.current)
    return range_answer


def _scouted(
    walk: Walk, around: tuple[float, float], request: RangeRequest
) -> tuple[tuple[float, float], tuple[float, float] | None]:
    """The learning rates of the last ramp, and where to search closely; None where nothing turned."""
    low, high = around
    for _ in range(_SCOUTS_MOST):
        ramps = walk(low, high, request.steps, (request.seed,), controls=True)
        if ramps.steps < _SCOUT_LEAST:
            break
        shape = _shape(ramps)
        if shape.edge is None:
            if high * 10 > _LARGEST:
                break
            low, high = high / 1e3, min(high * _FURTHER, _LARGEST)
        elif shape.edge < low * (high / low) ** 0.2:
            if low / 10 < _SMALLEST:
                break
            low, high = max(low / _FURTHER, _SMALLEST), min(low * 1e2, high)
        else:
            return (low, high), _close(shape, shape.edge)
    return (low, high), None


def _shape(ramps: Ramps) -> RampShape:
    levels = levelled(ramps)
    return shape_of(levels.rates, levels.mean, noise=levels.noise)


def _close(shape: RampShape, edge: float) -> tuple[float, float]:
    """From where nothing happens yet to somewhat beyond the edge: about three decades."""
    begins = shape.begins if shape.begins is not None else edge / 30.0
    return min(max(begins / 10.0, edge / 1000.0), edge / 100.0), 8.0 * edge


def around(optimizer: str, current: float | None) -> tuple[float, float]:
    """The rates such an optimizer is used with, and those around the current one."""
    name = optimizer.lower()
    low, high = _OF_NORMALISED if any(word in name for word in _NORMALISED) else _OF_OTHERS
    if current is not None and current > 0:
        low, high = min(low, current / 10.0), max(high, current * 10.0)
    return max(low, _SMALLEST), min(high, _LARGEST)
