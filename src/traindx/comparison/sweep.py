"""Many runs as a sweep: what matters, which rates are good, how each choice does at its own best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from traindx.comparison.better import Placed, Ruler, difference
from traindx.comparison.descent import Descent, descent
from traindx.comparison.differing import Differing
from traindx.comparison.effects import Effect, Interaction, effects
from traindx.comparison.groups import Configuration, seed_spread
from traindx.comparison.metric import Chosen
from traindx.comparison.rates import LrScaling, RateRange, rate_range, scaling
from traindx.comparison.scores import Score
from traindx.comparison.subjects import Subject
from traindx.evidence import stats

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

RUNS_LEAST = 6
_CONFIGURATIONS_LEAST = 4
_CHOICES = ("optimizer", "batch_size", "model", "schedule", "precision")
_CHOICES_MOST = 8
_MOSTLY, _RAGGED_FROM = 0.8, 3
_SIZES = ("model_parameters", "width", "layers", "epochs", "max_steps")


@dataclass(frozen=True)
class AtItsBest:
    """One value of a setting with everything else as it suits it best."""

    value: str
    configuration: int
    final: float
    behind: stats.Difference | None
    ruler: Ruler


@dataclass(frozen=True)
class Sweep:
    """What a sweep shows. `aliased` are settings that always changed together."""

    effects: tuple[Effect, ...]
    interactions: tuple[Interaction, ...]
    rates: tuple[RateRange, ...]
    scaling: LrScaling | None
    choices: tuple[tuple[str, tuple[AtItsBest, ...]], ...]
    descents: tuple[Descent, ...]
    aliased: tuple[tuple[str, ...], ...]
    noise: float


def sweep(
    runs: Sequence[Subject],
    scores: Sequence[Score | None],
    differing: Sequence[Differing],
    groups: Sequence[Configuration],
    placed: Sequence[Placed],
    chosen: Chosen,
) -> Sweep | None:
    """None when the runs are too few, or nothing that could matter differs between them."""
    scored = [number for number, score in enumerate(scores) if score is not None]
    changing = [] if unlike(differing) else [one for one in differing if one.counts and _mostly_told(one)]
    if len(scored) < RUNS_LEAST or len(groups) < _CONFIGURATIONS_LEAST or not changing:
        return None
    ends = [_end(scores[number], chosen) for number in scored]
    settings = {one.key: [one.values[number] for number in scored] for one in changing}
    aliased = _aliased(settings)
    unaliased = {
        key: values for key, values in settings.items() if not any(key in group[1:] for group in aliased)
    }
    estimates, together = effects(unaliased, _places(ends))
    spread = seed_spread([one.runs for one in groups], scores, chosen.sign)
    noise = spread[0] if spread else _usual_error(scores)
    rates, scaled = _rates(runs, scored, ends, settings, noise)
    choices = [
        (key, values)
        for key in _CHOICES
        if key in settings and (values := _choices(key, groups, placed, runs, scores, chosen))
    ]
    sized = [
        made_of
        for key in _SIZES
        if (key in settings or any(one.key == key for one in differing))
        and (made_of := descent(key, _sized(runs, scored, ends, key), noise)) is not None
    ]
    if not chosen.name.startswith(("val/", "test/")):
        sized = []
    return Sweep(
        tuple(estimates), tuple(together), rates, scaled, tuple(choices), tuple(sized), aliased, noise
    )


def unlike(differing: Sequence[Differing]) -> bool:
    """Whether the runs seem to be different trainings: most of what differs is known of some of them only."""
    changing = [one for one in differing if one.counts]
    return len(changing) >= _RAGGED_FROM and sum(map(_mostly_told, changing)) < len(changing) / 2


def _mostly_told(one: Differing) -> bool:
    return sum(value is not None for value in one.values) >= _MOSTLY * len(one.values)


def _end(score: Score | None, chosen: Chosen) -> float:
    """The final level, lower being better; inf for what failed."""
    return chosen.sign * score.final.value if score is not None and score.final.known else math.inf


def _places(ends: Sequence[float]) -> FloatArray:
    """Places from 0 (best) to 1 (worst); equals share theirs."""
    values = np.array(ends)
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    middle = last - (counts - 1) / 2.0
    ranked: FloatArray = (middle[place] - 1.0) / max(values.size - 1, 1)
    return ranked


def _usual_error(scores: Sequence[Score | None]) -> float:
    errors = [s.final.error for s in scores if s is not None and math.isfinite(s.final.error)]
    return float(np.median(errors)) if errors else 0.0


def _aliased(settings: dict[str, list[str | None]]) -> tuple[tuple[str, ...], ...]:
    """Settings that split the runs into the same parts: their effects cannot be separated."""
    parts: dict[tuple[int, ...], list[str]] = {}
    for key, values in settings.items():
        first: dict[str | None, int] = {}
        parts.setdefault(tuple(first.setdefault(v, len(first)) for v in values), []).append(key)
    return tuple(tuple(keys) for keys in parts.values() if len(keys) > 1)


def _rates(
    runs: Sequence[Subject],
    scored: Sequence[int],
    ends: Sequence[float],
    settings: dict[str, list[str | None]],
    noise: float,
) -> tuple[tuple[RateRange, ...], LrScaling | None]:
    """Ranges by optimizer where it varies, and the best rate by batch size."""
    if "lr" not in settings:
        return (), None
    rates = [runs[number].number("lr") for number in scored]
    optimizers = settings.get("optimizer", [None] * len(scored))
    ranges = []
    for name in dict.fromkeys(optimizers):
        tried = [
            (r, e) for r, e, o in zip(rates, ends, optimizers, strict=True) if o == name and r is not None
        ]
        lr_range = rate_range(f"optimizer={name}" if name is not None else "", tried, noise)
        if lr_range is not None:
            ranges.append(lr_range)
    return tuple(ranges), _scaling(runs, scored, ends, rates, optimizers, noise)


def _scaling(
    runs: Sequence[Subject],
    scored: Sequence[int],
    ends: Sequence[float],
    rates: Sequence[float | None],
    optimizers: Sequence[str | None],
    noise: float,
) -> LrScaling | None:
    """By the optimizer with most runs: the rule differs between them."""
    named = max(set(optimizers), key=list(optimizers).count, default=None)
    by_batch: dict[float, list[tuple[float, float]]] = {}
    for number, end, rate, optimizer in zip(scored, ends, rates, optimizers, strict=True):
        batch = runs[number].samples_per_step
        if batch and rate and optimizer == named:
            by_batch.setdefault(batch, []).append((rate, end))
    ranges = {batch: rate_range(f"batch_size={batch:g}", tried, noise) for batch, tried in by_batch.items()}
    return scaling({batch: one for batch, one in ranges.items() if one is not None})


def _choices(
    key: str,
    groups: Sequence[Configuration],
    placed: Sequence[Placed],
    runs: Sequence[Subject],
    scores: Sequence[Score | None],
    chosen: Chosen,
) -> tuple[AtItsBest, ...]:
    """Each value of a setting by its best configuration, against the best of all."""
    firsts: dict[str, Placed] = {}
    for one in placed:
        value = groups[one.configuration].settings.get(key)
        if value is not None and one.final.known:
            firsts.setdefault(value, one)
    if not 2 <= len(firsts) <= _CHOICES_MOST:
        return ()
    spread = seed_spread([one.runs for one in groups], scores, chosen.sign)
    ordered = list(firsts.items())
    leader = groups[ordered[0][1].configuration]
    choices = []
    for value, one in ordered:
        behind: stats.Difference | None = None
        ruler: Ruler = "unknown"
        if one is not ordered[0][1]:
            behind, ruler = difference(groups[one.configuration], leader, runs, scores, chosen, spread)
        choices.append(AtItsBest(value, one.configuration, one.final.value, behind, ruler))
    return tuple(choices)


def _sized(
    runs: Sequence[Subject], scored: Sequence[int], ends: Sequence[float], key: str
) -> list[tuple[float, float]]:
    sizes = [(runs[number].number(key), end) for number, end in zip(scored, ends, strict=True)]
    return [(size, end) for size, end in sizes if size is not None]
