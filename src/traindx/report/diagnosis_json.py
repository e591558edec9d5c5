"""Diagnoses as JSON for programs: schema `traindx/diagnosis/1`, more fields added."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from traindx import __version__
from traindx.core.nouns import Diagnosis, Evidence, Finding, Fix, Hypothesis, Note, Place, Problem, Run
from traindx.report.architecture import architectures
from traindx.report.checked import measured_dict
from traindx.report.json_text import encoded, json_bytes
from traindx.report.measured import case_of
from traindx.report.summary import epochs_completed, final_losses
from traindx.report.wording import category

SCHEMA = "traindx/diagnosis/1"
SCHEMA_OF_SEVERAL = "traindx/diagnoses/1"
_READ_BY_EYE = 20
_LARGEST_WHOLE = 2.0**63  # what programs that read JSON can hold


def diagnosis_document(diagnoses: Sequence[Diagnosis], skipped: Sequence[Note] = ()) -> bytes:
    """One run is one object; several are in `runs`, followed by what was not read."""
    if len(diagnoses) == 1:
        document = diagnosis_dict(diagnoses[0])
        if skipped:
            document["skipped"] = encoded(skipped)
    else:
        document = diagnoses_dict(diagnoses, skipped)
    return json_bytes(document, indent=len(diagnoses) <= _READ_BY_EYE)


def diagnoses_dict(diagnoses: Sequence[Diagnosis], skipped: Sequence[Note] = ()) -> dict[str, Any]:
    return {
        "schema": SCHEMA_OF_SEVERAL,
        "traindx": __version__,
        "runs": [diagnosis_dict(diagnosis) for diagnosis in diagnoses],
        "skipped": encoded(skipped),
    }


def _phase(run: Run) -> dict[str, Any]:
    """Which of several trainings of a script it is."""
    if run.phase is None:
        return {}
    phase = {"number": run.phase.number, "of": run.phase.of, "name": run.phase.name or None}
    return {"phase": {**phase, "title": run.phase.title, "steps_before": _step(run.phase.before)}}


def diagnosis_dict(diagnosis: Diagnosis) -> dict[str, Any]:
    """The diagnosis of one run; numbers that are not finite are strings, steps whole or null."""
    run = diagnosis.run
    document: dict[str, Any] = encoded(
        {
            "schema": SCHEMA,
            "traindx": __version__,
            "source": {
                "path": run.path,
                "name": run.name,
                "format": run.format,
                "formats": run.formats,
                "axis": run.axis,
                "steps": _step(run.last_step),
                "points": run.points,
                "files": run.files,
                "evidence": diagnosis.evidence,
                **_phase(run),
            },
            "final": _final(run),
            "models": [model.to_dict() for model in architectures(run)],
            "verdict": diagnosis.verdict,
            "reasons": diagnosis.reasons,
            "problems": [_problem(problem) for problem in diagnosis.problems],
            "signs": [_finding(finding) for finding in diagnosis.signs],
            "coverage": diagnosis.coverage,
            **measured_dict(run),
        }
    )
    return document


def _final(run: Run) -> dict[str, Any]:
    """The last losses and the epochs trained; null where the log does not have them."""
    case = case_of(run)
    losses = final_losses(case)
    return {
        "train_loss": losses.get("training"),
        "val_loss": losses.get("validation"),
        "epochs": epochs_completed(case),
    }


def _problem(problem: Problem) -> dict[str, Any]:
    return {
        "symptom": problem.symptom,
        "category": category(problem.symptom),
        "also": problem.also,
        "severity": problem.severity,
        "onset_step": _step(problem.onset_step),
        "onset": problem.onset_step,
        "summary": problem.summary,
        "findings": [_finding(finding) for finding in problem.findings],
        "hypotheses": [_hypothesis(hypothesis) for hypothesis in problem.hypotheses],
        "rest": _share(problem.rest),
        "questions": problem.questions,
    }


def _hypothesis(hypothesis: Hypothesis) -> dict[str, Any]:
    first, *further = hypothesis.fixes or (Fix("", ""),)
    return {
        "cause": hypothesis.cause,
        "kind_of": hypothesis.kind_of or hypothesis.cause,
        "title": hypothesis.title,
        "confidence": _share(hypothesis.confidence),
        "evidence": [_evidence(item) for item in hypothesis.evidence],
        "against": [_evidence(item) for item in hypothesis.against],
        "fix": {**_fix(first), "then": [_fix(fix) for fix in further]},
        "confirm": hypothesis.confirm,
        "avoid": hypothesis.avoid,
        "location": None if hypothesis.place is None else _place(hypothesis.place),
        "sheets": hypothesis.sheets,
        "reference": hypothesis.cause,
    }


def _fix(fix: Fix) -> dict[str, Any]:
    return {"remedy": fix.remedy, "summary": fix.summary, "config": fix.config or None, "patch": fix.patch}


def _place(place: Place) -> dict[str, Any]:
    return {key: value for key, value in encoded(place).items() if value}


def _evidence(item: Evidence) -> dict[str, Any]:
    weighed = {"finding": item.finding, "text": item.text, "step": _step(item.step), "series": item.series}
    return {**weighed, "bits": round(item.bits, 4)} if math.isfinite(item.bits) else weighed


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "finding": finding.id,
        "text": finding.text,
        "symptom": finding.symptom,
        "severity": finding.severity,
        "step": _step(finding.step),
        "end": _step(finding.end),
        "series": finding.series,
        "strength": finding.strength,
        "numbers": finding.numbers,
        "marks": finding.marks,
        "places": [_place(place) for place in finding.places],
        "thresholds": finding.thresholds,
    }


def _step(step: float | None) -> int | None:
    is_whole = step is not None and math.isfinite(step) and abs(step) < _LARGEST_WHOLE
    return round(float(step)) if is_whole and step is not None else None


def _share(probability: float) -> float:
    return round(min(max(float(probability), 0.0), 1.0), 6) if probability == probability else 0.0
