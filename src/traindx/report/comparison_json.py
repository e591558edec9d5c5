"""A comparison as JSON for programs: schema `traindx/comparison/1`, described in docs/compare.md."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any

from traindx import __version__
from traindx.comparison import Comparison
from traindx.comparison.better import Placed
from traindx.core.nouns import Diagnosis, Note
from traindx.report.comparison_measures import measures
from traindx.report.comparison_words import health, verdict
from traindx.report.diagnosis_json import diagnosis_dict
from traindx.report.json_text import json_bytes
from traindx.report.text import encodable

SCHEMA = "traindx/comparison/1"
_READ_BY_EYE = 20


def comparison_document(
    told: Comparison, skipped: Sequence[Note] = (), sharpened: Sequence[Diagnosis] = ()
) -> bytes:
    """The whole document; numbers that are not finite are strings or null."""
    document = comparison_dict(told)
    if sharpened:
        document["diagnoses"] = [diagnosis_dict(diagnosis) for diagnosis in sharpened]
    if skipped:
        document["skipped"] = [
            {"path": encodable(note.path), "text": encodable(note.text)} for note in skipped
        ]
    few = len(told.runs) <= _READ_BY_EYE
    return json_bytes(document, indent=few)


def comparison_dict(told: Comparison) -> dict[str, Any]:
    """The comparison as plain data."""
    chosen, terms = told.chosen, told.terms
    return {
        "schema": SCHEMA,
        "traindx": __version__,
        "metric": {"name": chosen.name, "goal": chosen.goal, "others": list(chosen.others)},
        "verdict": _plain(verdict(told)),
        "warnings": _plain(told.warnings),
        "next": _plain(told.advice),
        "equal": {
            "axis": terms.axis,
            "step": _plain(terms.step),
            "seconds": _plain(terms.seconds),
            "samples": _plain(terms.samples),
            "target": _plain(terms.target),
        },
        "ranking": [_placed(told, one) for one in told.ranking],
        "runs": [_run(told, number) for number in range(len(told.runs))],
        "differs": [
            {
                "setting": encodable(one.key),
                "group": one.group,
                "counts": one.counts,
                "why": one.why,
                "values": [None if value is None else encodable(value) for value in one.values],
            }
            for one in told.differing
        ],
        "code": None if told.code is None else _plain(_without(asdict(told.code), "changed")),
        "parting": None if told.parting is None else _plain(asdict(told.parting)),
        "sweep": None if told.sweep is None else _plain(told.sweep),
    }


def _placed(told: Comparison, one: Placed) -> dict[str, Any]:
    made = told.configurations[one.configuration]
    return {
        "rank": one.rank,
        "configuration": encodable(made.name),
        "settings": _plain(made.settings),
        "runs": list(made.runs),
        "failed": one.failed,
        "final": _plain(one.final.value),
        "error": _plain(one.final.error if math.isfinite(one.final.error) else None),
        "behind": None
        if one.behind is None
        else {
            "estimate": _plain(one.behind.estimate),
            "low": _plain(one.behind.low),
            "high": _plain(one.behind.high),
            "p": _plain(one.behind.p),
            "ruler": one.ruler,
        },
        "tied": one.tied,
        "measures": {m.key: _plain(m.values[one.configuration]) for m in measures(told) if m.told},
    }


def _run(told: Comparison, number: int) -> dict[str, Any]:
    run, score = told.runs[number], told.scores[number]
    diagnosis = run.diagnosis
    return {
        "name": encodable(run.name),
        "path": encodable(run.run.path),
        "format": run.run.format,
        "settings": _plain(dict(run.settings)),
        "score": None if score is None else _plain(asdict(score)),
        "health": {
            "verdict": None if diagnosis is None else diagnosis.verdict,
            "line": encodable(health(told, number)),
            "problems": []
            if diagnosis is None
            else [
                {
                    "symptom": problem.symptom,
                    "severity": problem.severity,
                    "cause": problem.hypotheses[0].cause if problem.hypotheses else None,
                }
                for problem in diagnosis.problems
            ],
        },
    }


def _without(table: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in table.items() if name != key}


def _plain(value: object) -> Any:
    """Data that JSON holds: numbers that are not finite as text."""
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    if isinstance(value, Mapping):
        return {encodable(str(key)): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | frozenset):
        return [_plain(one) for one in value]
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, float):
        if math.isnan(value):
            return "NaN"
        if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**53 else str(value)
    return encodable(str(value))
