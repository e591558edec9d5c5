"""A range test as JSON: schema `traindx/lr-find/1`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from traindx import __version__
from traindx.experiment.lr_find.answer import RangeAnswer
from traindx.report.json_text import json_document
from traindx.report.lr_words import advice, headline, standing

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
        "program": name,
        "verdict": found.verdict,
        "found": found.found,
        "headline": headline(found),
        "reason": found.reason,
        "advice": advice(found),
        "suggested": {"low": found.low, "high": found.high} if found.found else None,
        "largest_stable": found.edge,
        "begins_to_fall": found.begins,
        "current": {"lr": found.current, "standing": found.standing, "text": standing(found)},
        "drop": found.drop,
        "noise": found.noise,
        "relative": found.relative,
        "seeds": found.ramps.seeds,
        "steps": found.ramps.steps,
        "lr": found.ramps.rates,
        "smoothed": found.curve,
        "losses": found.ramps.losses,
        "notes": notes,
        "outside": outside or {},
    }
    return json_document(document)
