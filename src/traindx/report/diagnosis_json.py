"""Diagnoses as JSON for programs: schema `traindx/diagnosis/1`, more fields added."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from traindx import __version__
from traindx.core.nouns import Check, Diagnosis, Evidence, Finding, Fix, Hypothesis, Note, Place, Problem
from traindx.report.json_text import json_bytes
from traindx.report.text import encodable

SCHEMA = "traindx/diagnosis/1"
SCHEMA_OF_SEVERAL = "traindx/diagnoses/1"
_READ_BY_EYE = 20
_LARGEST_WHOLE = 2.0**63  # what programs that read JSON can hold


def diagnosis_document(diagnoses: Sequence[Diagnosis], skipped: Sequence[Note] = ()) -> bytes:
    """One run is one object; several stand in `runs`, with what was not read beside them."""
    if len(diagnoses) == 1:
        document = diagnosis_dict(diagnoses[0])
        if skipped:
            document["skipped"] = _skipped(skipped)
    else:
        document = diagnoses_dict(diagnoses, skipped)
    return json_bytes(document, indent=len(diagnoses) <= _READ_BY_EYE)


def diagnoses_dict(diagnoses: Sequence[Diagnosis], skipped: Sequence[Note] = ()) -> dict[str, Any]:
    return {
        "schema": SCHEMA_OF_SEVERAL,
        "traindx": __version__,
        "runs": [diagnosis_dict(diagnosis) for diagnosis in diagnoses],
        "skipped": _skipped(skipped),
    }


def _skipped(skipped: Sequence[Note]) -> list[dict[str, str]]:
    return [{"path": encodable(note.path), "text": encodable(note.text)} for note in skipped]


def diagnosis_dict(diagnosis: Diagnosis) -> dict[str, Any]:
    """The diagnosis of one run; numbers that are not finite are strings, steps whole or null."""
    run = diagnosis.run
    return {
        "schema": SCHEMA,
        "traindx": __version__,
        "source": {
            "path": encodable(run.path),
            "name": encodable(run.name),
            "format": run.format,
            "formats": list(run.formats),
            "axis": run.axis,
            "steps": _step(run.last_step),
            "points": run.points,
            "files": [encodable(file) for file in run.files],
            "evidence": list(diagnosis.evidence),
        },
        "verdict": diagnosis.verdict,
        "reasons": [encodable(reason) for reason in diagnosis.reasons],
        "problems": [_problem(problem) for problem in diagnosis.problems],
        "signs": [_finding(finding) for finding in diagnosis.signs],
        "coverage": [_check(check) for check in diagnosis.coverage],
    }


def _problem(problem: Problem) -> dict[str, Any]:
    return {
        "symptom": encodable(problem.symptom),
        "also": [encodable(symptom) for symptom in problem.also],
        "severity": problem.severity,
        "onset_step": _step(problem.onset_step),
        "onset": _number(problem.onset_step),
        "summary": encodable(problem.summary),
        "findings": [_finding(finding) for finding in problem.findings],
        "hypotheses": [_hypothesis(hypothesis) for hypothesis in problem.hypotheses],
        "rest": _share(problem.rest),
        "questions": [encodable(question) for question in problem.questions],
    }


def _hypothesis(hypothesis: Hypothesis) -> dict[str, Any]:
    first, *others = hypothesis.fixes or (Fix("", ""),)
    return {
        "cause": encodable(hypothesis.cause),
        "title": encodable(hypothesis.title),
        "confidence": _share(hypothesis.confidence),
        "evidence": [_evidence(item) for item in hypothesis.evidence],
        "against": [_evidence(item) for item in hypothesis.against],
        "fix": {**_fix(first), "then": [_fix(fix) for fix in others]},
        "confirm": None if hypothesis.confirm is None else encodable(hypothesis.confirm),
        "avoid": [encodable(text) for text in hypothesis.avoid],
        "location": None if hypothesis.place is None else _place(hypothesis.place),
        "sheets": [encodable(sheet) for sheet in hypothesis.sheets],
        "reference": encodable(hypothesis.cause),
    }


def _fix(fix: Fix) -> dict[str, Any]:
    config = {encodable(key): _scalar(value) for key, value in fix.config.items()}
    return {
        "remedy": encodable(fix.remedy),
        "summary": encodable(fix.summary),
        "config": config or None,
        "patch": None if fix.patch is None else encodable(fix.patch),
    }


def _place(place: Place) -> dict[str, Any]:
    told = {"file": encodable(place.file), "line": place.line, "layer": encodable(place.layer)}
    return {key: value for key, value in told.items() if value}


def _evidence(item: Evidence) -> dict[str, Any]:
    told = {
        "finding": encodable(item.finding),
        "text": encodable(item.text),
        "step": _step(item.step),
        "series": None if item.series is None else encodable(item.series),
    }
    return {**told, "bits": round(item.bits, 4)} if math.isfinite(item.bits) else told


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "finding": encodable(finding.id),
        "text": encodable(finding.text),
        "symptom": None if finding.symptom is None else encodable(finding.symptom),
        "severity": finding.severity,
        "step": _step(finding.step),
        "end": _step(finding.end),
        "series": None if finding.series is None else encodable(finding.series),
        "strength": _number(finding.strength),
        "numbers": _scalars(finding.numbers),
        "marks": [_number(mark) for mark in finding.marks],
        "places": [_place(place) for place in finding.places],
        "thresholds": _scalars(finding.thresholds),
    }


def _check(check: Check) -> dict[str, Any]:
    return {
        "check": encodable(check.check),
        "status": check.status,
        "seen": check.seen,
        "needs": None if check.needs is None else encodable(check.needs),
    }


def _step(step: float | None) -> int | None:
    known = step is not None and math.isfinite(step) and abs(step) < _LARGEST_WHOLE
    return round(float(step)) if known and step is not None else None


def _share(probability: float) -> float:
    return round(min(max(float(probability), 0.0), 1.0), 6) if probability == probability else 0.0


def _number(value: float | None) -> float | int | str | None:
    if value is None:
        return None
    number = float(value)
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    return int(number) if abs(number) < 2.0**53 and number == int(number) else number


def _scalars(table: Mapping[str, object]) -> dict[str, object]:
    return {encodable(str(name)): _scalar(value) for name, value in table.items()}


def _scalar(value: object) -> object:
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, str):
        return encodable(value)
    try:
        return _number(float(value))  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return encodable(str(value))
