"""A range test as JSON: schema `traindx/lr-find/1`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from traindx import __version__
from traindx.experiment.lr_find.answer import RangeAnswer
from traindx.report.json_text import json_document
from traindx.report.lr_words import advice, headline, standing

SCHEMA = "traindx/lr-find/1"


def range_document(
    answer: RangeAnswer,
    name: str,
    notes: Sequence[str] = (),
    outside: Mapping[str, Sequence[str]] | None = None,
) -> bytes:
    """The whole document. JSON has no NaN: numbers that are not finite are strings."""
    document = {
        "schema": SCHEMA,
        "traindx": __version__,
        "program": name,
        "verdict": answer.verdict,
        "found": answer.found,
        "headline": headline(answer),
        "reason": answer.reason,
        "advice": advice(answer),
        "suggested": {"low": answer.low, "high": answer.high} if answer.found else None,
        "largest_stable": answer.edge,
        "begins_to_fall": answer.begins,
        "current": {"lr": answer.current, "standing": answer.standing, "text": standing(answer)},
        "drop": answer.drop,
        "noise": answer.noise,
        "relative": answer.relative,
        "seeds": answer.ramps.seeds,
        "steps": answer.ramps.steps,
        "lr": answer.ramps.rates,
        "smoothed": answer.curve,
        "losses": answer.ramps.losses,
        "notes": notes,
        "outside": outside or {},
    }
    return json_document(document)
