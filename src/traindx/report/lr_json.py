"""A range test as JSON: schema `traindx/lr-find/1`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from traindx import __version__
from traindx.experiment.lr_find.answer import Estimate, RangeAnswer
from traindx.report.json_text import json_bytes
from traindx.report.lr_words import advice, headline, standing
from traindx.report.text import encodable

SCHEMA = "traindx/lr-find/1"


def range_document(
    found: RangeAnswer,
    name: str,
    notes: Sequence[str] = (),
    outside: Mapping[str, Sequence[str]] | None = None,
) -> bytes:
    """The whole document. JSON has no NaN: numbers that are not finite are strings."""
    document = {
        "schema": SCHEMA,
        "traindx": __version__,
        "program": encodable(name),
        "verdict": found.verdict,
        "found": found.found,
        "headline": headline(found),
        "reason": found.reason,
        "advice": advice(found),
        "suggested": {"low": _estimate(found.low), "high": _estimate(found.high)} if found.found else None,
        "largest_stable": _estimate(found.edge),
        "begins_to_fall": _estimate(found.begins),
        "current": {"lr": found.current, "standing": found.standing, "text": standing(found)},
        "drop": found.drop,
        "noise": found.noise,
        "relative": found.relative,
        "seeds": found.ramps.seeds,
        "steps": found.ramps.steps,
        "lr": _numbers(found.ramps.rates),
        "smoothed": None if found.curve is None else _numbers(found.curve),
        "losses": [_numbers(row) for row in found.ramps.losses],
        "notes": [encodable(note) for note in notes],
        "outside": outside or {},
    }
    return json_bytes(document)


def _estimate(estimate: Estimate | None) -> dict[str, Any] | None:
    if estimate is None:
        return None
    return {"value": estimate.value, "low": _number(estimate.low), "high": _number(estimate.high)}


def _numbers(values: np.typing.NDArray[np.float64]) -> list[float | str]:
    return [_number(value) for value in values.tolist()]


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else "NaN" if math.isnan(value) else "Inf" if value > 0 else "-Inf"
