"""Many runs as a sweep: what matters, which rates are good, how each choice does at its own best."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from traindx.comparison.better import Placed, Ruler, difference
from traindx.comparison.combinations import Combination, combinations
from traindx.comparison.descent import Descent, descent
from traindx.comparison.differing import Differing
from traindx.comparison.effects import Effect, Interaction, effects
from traindx.comparison.factors import factors_of
from traindx.comparison.in_units import in_units
from traindx.comparison.rates import LrScaling, RateRange, rate_range, scaling
from traindx.comparison.results import Results
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
    combinations: tuple[Combination, ...] = ()


def sweep(results: Results, placed: Sequence[Placed]) -> Sweep | None:
    """None when the runs are too few, or nothing that could matter differs between them."""
    scored = [number for number, score in enumerate(results.scores) if score is not None]
    changing = [] if unlike(results) else [setting for setting in results.changing if _mostly_known(setting)]
    if len(scored) < RUNS_LEAST or len(results.configurations) < _CONFIGURATIONS_LEAST or not changing:
        return None
    ends = {number: results.end(number) for number in scored}
    settings = {setting.key: [setting.values[number] for number in scored] for setting in changing}
    aliased = _aliased(settings)
    unaliased = {
        key: values for key, values in settings.items() if not any(key in group[1:] for group in aliased)
    }
    order, metric = _places(list(ends.values())), results.chosen.sign * np.array(list(ends.values()))
    factors = factors_of(unaliased, order.size)
    estimates, together = effects(unaliased, order)
    combined = combinations(factors, metric, order)
    estimates = in_units(estimates, factors, metric, order, combined)
    combined = [
        replace(combination, runs=tuple(scored[number] for number in combination.runs))
        for combination in combined
    ]
    noise = results.spread[0] if results.spread else _usual_error(results)
    rates, scaled = _rates(results, ends, settings, noise)
    choices = [
        (key, values) for key in _CHOICES if key in settings and (values := _choices(key, results, placed))
    ]
    sized: list[Descent] = []
    if results.chosen.name.startswith(("val/", "test/")):
        differing = {setting.key for setting in results.differing}
        by_size = {key: _sized(results, ends, key) for key in _SIZES if key in settings or key in differing}
        sized = [curve for key, pairs in by_size.items() if (curve := descent(key, pairs, noise))]
    return Sweep(
        tuple(estimates),
        tuple(together),
        rates,
        scaled,
        tuple(choices),
        tuple(sized),
        aliased,
        noise,
        tuple(combined),
    )


def unlike(results: Results) -> bool:
    """Whether the runs seem to be different trainings: most of what differs is known of some of them only."""
    changing = results.changing
    return len(changing) >= _RAGGED_FROM and sum(map(_mostly_known, changing)) < len(changing) / 2


def _mostly_known(setting: Differing) -> bool:
    return sum(value is not None for value in setting.values) >= _MOSTLY * len(setting.values)


def _places(ends: Sequence[float]) -> FloatArray:
    """Places from 0 (best) to 1 (worst); equals share theirs."""
    values = np.array(ends)
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    middle = last - (counts - 1) / 2.0
    ranked: FloatArray = (middle[place] - 1.0) / max(values.size - 1, 1)
    return ranked


def _usual_error(results: Results) -> float:
    errors = [score.final.error for _, score in results.scored if math.isfinite(score.final.error)]
    return float(np.median(errors)) if errors else 0.0


def _aliased(settings: dict[str, list[str | None]]) -> tuple[tuple[str, ...], ...]:
    """Settings that split the runs into the same parts: their effects cannot be separated."""
    parts: dict[tuple[int, ...], list[str]] = {}
    for key, values in settings.items():
        first: dict[str | None, int] = {}
        parts.setdefault(tuple(first.setdefault(v, len(first)) for v in values), []).append(key)
    return tuple(tuple(keys) for keys in parts.values() if len(keys) > 1)


def _rates(
    results: Results, ends: Mapping[int, float], settings: dict[str, list[str | None]], noise: float
) -> tuple[tuple[RateRange, ...], LrScaling | None]:
    """Ranges by optimizer where it varies; the best rate by batch size, of the optimizer with most runs."""
    if "lr" not in settings:
        return (), None
    optimizers = settings.get("optimizer", [None] * len(ends))
    usual = max(set(optimizers), key=optimizers.count, default=None)
    by_optimizer: dict[str | None, list[tuple[float, float]]] = {name: [] for name in optimizers}
    by_batch: dict[float, list[tuple[float, float]]] = {}
    for (number, end), optimizer in zip(ends.items(), optimizers, strict=True):
        rate, batch = results.runs[number].number("lr"), results.runs[number].samples_per_step
        if rate is not None:
            by_optimizer[optimizer].append((rate, end))
        if batch and rate and optimizer == usual:
            by_batch.setdefault(batch, []).append((rate, end))
    by_condition = {
        f"optimizer={name}" if name is not None else "": pairs for name, pairs in by_optimizer.items()
    }
    ranges = [rate_range(condition, pairs, noise) for condition, pairs in by_condition.items()]
    batches = {batch: rate_range(f"batch_size={batch:g}", pairs, noise) for batch, pairs in by_batch.items()}
    return (
        tuple(lr_range for lr_range in ranges if lr_range is not None),
        scaling({batch: lr_range for batch, lr_range in batches.items() if lr_range is not None}),
    )


def _choices(key: str, results: Results, placed: Sequence[Placed]) -> tuple[AtItsBest, ...]:
    """Each value of a setting by its best configuration, against the best of all."""
    firsts: dict[str, Placed] = {}
    for place in placed:
        value = results.configurations[place.configuration].settings.get(key)
        if value is not None and place.final.known:
            firsts.setdefault(value, place)
    if not 2 <= len(firsts) <= _CHOICES_MOST:
        return ()
    leader, *_ = firsts.values()
    choices = []
    for value, place in firsts.items():
        behind: stats.Difference | None = None
        ruler: Ruler = "unknown"
        if place is not leader:
            mine, first = (
                results.configurations[placed_value.configuration] for placed_value in (place, leader)
            )
            behind, ruler = difference(mine, first, results)
        choices.append(AtItsBest(value, place.configuration, place.final.value, behind, ruler))
    return tuple(choices)


def _sized(results: Results, ends: Mapping[int, float], key: str) -> list[tuple[float, float]]:
    sizes = [(results.runs[number].number(key), end) for number, end in ends.items()]
    return [(size, end) for size, end in sizes if size is not None]
