"""The columns of a comparison: one measure each, a value per configuration."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from traindx.comparison.compare import Comparison
from traindx.report.text import lasting, short


@dataclass(frozen=True)
class Measure:
    """`values` go by the place of the configuration, NaN where it is not known.

    `lower` says whether lower is better; None where neither is.
    """

    key: str
    head: str
    words: str
    values: tuple[float, ...]
    texts: tuple[str, ...]
    lower: bool | None

    @property
    def known(self) -> bool:
        return any(map(math.isfinite, self.values))

    @property
    def leader(self) -> int | None:
        """The configuration that is best by it."""
        finite = [number for number, value in enumerate(self.values) if math.isfinite(value)]
        if not finite or self.lower is None:
            return None
        return min(finite, key=lambda number: self.values[number] if self.lower else -self.values[number])


def measures(compared: Comparison) -> list[Measure]:
    """Every measure, known or not, in the order of columns; the final level has a column of its own."""
    return list(_all_measures(compared))


def _all_measures(compared: Comparison) -> Iterator[Measure]:
    lower = compared.chosen.goal != "higher"
    yield _measure(compared, "best", "best", "by the best value", _score(compared, "best"), lower)
    yield from _on_equal_terms(compared, lower)
    if compared.terms.target is not None:
        yield from _to_reach(compared, short(compared.terms.target))
    yield _measure(compared, "gap", "gap", "by the gap to training", _score(compared, "gap"), None)
    share = "{:.2g} %".format
    rough = _score(compared, "rough")
    yield _measure(compared, "noise", "noise", "by steadiness", rough, True, lambda value: share(100 * value))
    yield _measure(compared, "spikes", "spikes", "by loss spikes", _score(compared, "spikes"), True)


def _on_equal_terms(compared: Comparison, lower: bool) -> Iterator[Measure]:
    """After as many steps, samples, seconds as every run has."""
    terms, equal = compared.terms, compared.equal
    if terms.step is not None:
        text = short(terms.step)
        words = f"at equal steps ({terms.axis or 'step'} {text})"
        yield _measure(compared, "at_step", f"at {text}", words, lambda n: equal[n].at_step.value, lower)
    if terms.samples is not None:
        text = short(terms.samples)
        head, words = f"at {text} samples", f"at equal samples ({text})"
        yield _measure(compared, "at_samples", head, words, lambda n: equal[n].at_samples.value, lower)
    if terms.seconds is not None:
        text = lasting(terms.seconds)
        words = f"at equal time ({text})"
        yield _measure(compared, "at_time", f"at {text}", words, lambda n: equal[n].at_time.value, lower)


def _to_reach(compared: Comparison, target: str) -> Iterator[Measure]:
    axis, equal = compared.terms.axis or "step", compared.equal
    head, words = f"{axis}s to {target}", f"in {axis}s to reach {target}"
    yield _measure(compared, "to_target", head, words, lambda n: equal[n].target_step, True)
    head, words = f"time to {target}", f"in time to reach {target}"
    yield _measure(compared, "time_to_target", head, words, lambda n: equal[n].target_seconds, True, lasting)


def _score(compared: Comparison, field: str) -> Callable[[int], float | None]:
    """Reads a field of a run's score."""

    def read(number: int) -> float | None:
        value = getattr(compared.scores[number], field, None)
        return None if value is None else float(value)

    return read


def _measure(
    compared: Comparison,
    key: str,
    head: str,
    words: str,
    value_of: Callable[[int], float | None],
    lower: bool | None,
    text: Callable[[float], str] = short,
) -> Measure:
    by_configuration = [
        [value_of(number) for number in configuration.runs] for configuration in compared.configurations
    ]
    finite = [[v for v in values if v is not None and math.isfinite(v)] for values in by_configuration]
    values = tuple(float(np.mean(numbers)) if numbers else math.nan for numbers in finite)
    texts = tuple(
        ""
        if not numbers
        else text(value)
        + (f" ({len(numbers)} of {len(all_values)})" if len(numbers) < len(all_values) else "")
        for value, numbers, all_values in zip(values, finite, by_configuration, strict=True)
    )
    return Measure(key, head, words, values, texts, lower)
