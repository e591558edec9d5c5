"""The columns of a comparison: one measure each, a value per configuration."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from traindx.comparing import Comparison
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
    def told(self) -> bool:
        return any(map(math.isfinite, self.values))

    @property
    def leader(self) -> int | None:
        """The configuration that is best by it."""
        known = [number for number, value in enumerate(self.values) if math.isfinite(value)]
        if not known or self.lower is None:
            return None
        return min(known, key=lambda number: self.values[number] if self.lower else -self.values[number])


def measures(told: Comparison) -> list[Measure]:
    """Every measure, known or not, in the order of columns; the final level stands apart."""
    lower, terms, axis = told.chosen.goal != "higher", told.terms, told.terms.axis or "step"
    made = [_measure(told, "best", "best", "by the best value", lambda n: _score(told, n, "best"), lower)]
    if terms.step is not None:
        words = f"at equal steps ({axis} {short(terms.step)})"
        made.append(
            _measure(
                told,
                "at_step",
                f"at {short(terms.step)}",
                words,
                lambda n: told.equal[n].at_step.value,
                lower,
            )
        )
    if terms.samples is not None:
        words = f"at equal samples ({short(terms.samples)})"
        head = f"at {short(terms.samples)} samples"
        made.append(
            _measure(told, "at_samples", head, words, lambda n: told.equal[n].at_samples.value, lower)
        )
    if terms.seconds is not None:
        words = f"at equal time ({lasting(terms.seconds)})"
        made.append(
            _measure(
                told,
                "at_time",
                f"at {lasting(terms.seconds)}",
                words,
                lambda n: told.equal[n].at_time.value,
                lower,
            )
        )
    if terms.target is not None:
        head = f"{axis}s to {short(terms.target)}"
        words = f"in {axis}s to reach {short(terms.target)}"
        made.append(_measure(told, "to_target", head, words, lambda n: told.equal[n].target_step, True))
        words = f"in time to reach {short(terms.target)}"
        timed = _measure(
            told,
            "time_to_target",
            f"time to {short(terms.target)}",
            words,
            lambda n: told.equal[n].target_seconds,
            True,
            lasting,
        )
        made.append(timed)
    made.append(
        _measure(told, "gap", "gap", "by the gap to training", lambda n: _score(told, n, "gap"), None)
    )
    made.append(
        _measure(
            told,
            "noise",
            "noise",
            "by steadiness",
            lambda n: _score(told, n, "rough"),
            True,
            lambda v: f"{100 * v:.2g} %",
        )
    )
    made.append(
        _measure(told, "spikes", "spikes", "by loss spikes", lambda n: _score(told, n, "spikes"), True)
    )
    return made


def _score(told: Comparison, number: int, field: str) -> float | None:
    score = told.scores[number]
    value = None if score is None else getattr(score, field)
    return None if value is None else float(value)


def _measure(
    told: Comparison,
    key: str,
    head: str,
    words: str,
    each: Callable[[int], float | None],
    lower: bool | None,
    text: Callable[[float], str] = short,
) -> Measure:
    held = [[each(number) for number in one.runs] for one in told.configurations]
    known = [[v for v in values if v is not None and math.isfinite(v)] for values in held]
    values = tuple(float(np.mean(some)) if some else math.nan for some in known)
    texts = tuple(
        ""
        if not some
        else text(value) + (f" ({len(some)} of {len(every)})" if len(some) < len(every) else "")
        for value, some, every in zip(values, known, held, strict=True)
    )
    return Measure(key, head, words, values, texts, lower)
