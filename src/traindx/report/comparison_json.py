"""A comparison as JSON for programs: schema `traindx/comparison/1`, described in docs/compare.md."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from traindx import __version__
from traindx.comparison.better import Placed
from traindx.comparison.compare import Comparison
from traindx.core.nouns import Diagnosis, Note, Problem
from traindx.report.comparison_measures import measures
from traindx.report.comparison_words import health, verdict
from traindx.report.diagnosis_json import diagnosis_dict
from traindx.report.json_text import json_document

SCHEMA = "traindx/comparison/1"
_READ_BY_EYE = 20


def comparison_document(
    compared: Comparison, skipped: Sequence[Note] = (), sharpened: Sequence[Diagnosis] = ()
) -> bytes:
    """The whole document; numbers that are not finite are strings or null."""
    document = comparison_dict(compared)
    if sharpened:
        document["diagnoses"] = [diagnosis_dict(diagnosis) for diagnosis in sharpened]
    if skipped:
        document["skipped"] = list(skipped)
    return json_document(document, indent=len(compared.runs) <= _READ_BY_EYE)


def comparison_dict(compared: Comparison) -> dict[str, Any]:
    """The comparison as plain data."""
    chosen = compared.chosen
    return {
        "schema": SCHEMA,
        "traindx": __version__,
        "metric": {"name": chosen.name, "goal": chosen.goal, "others": chosen.others},
        "verdict": verdict(compared),
        "warnings": compared.warnings,
        "next": compared.advice,
        "equal": _without(compared.terms, "why_not"),
        "ranking": [_placed(compared, placed) for placed in compared.ranking],
        "runs": [_run(compared, number) for number in range(len(compared.runs))],
        "differs": [{"setting": setting.key, **_without(setting, "key")} for setting in compared.differing],
        "code": None if compared.code is None else _without(compared.code, "changed"),
        "parting": compared.parting,
        "sweep": compared.sweep,
    }


def _placed(compared: Comparison, placed: Placed) -> dict[str, Any]:
    configuration = compared.configurations[placed.configuration]
    return {
        "rank": placed.rank,
        "configuration": configuration.name,
        "settings": configuration.settings,
        "runs": configuration.runs,
        "failed": placed.failed,
        "final": placed.final.value,
        "error": placed.final.error if math.isfinite(placed.final.error) else None,
        "behind": None if placed.behind is None else {**vars(placed.behind), "ruler": placed.ruler},
        "tied": placed.tied,
        "measures": {m.key: m.values[placed.configuration] for m in measures(compared) if m.known},
    }


def _run(compared: Comparison, number: int) -> dict[str, Any]:
    run, diagnosis = compared.runs[number], compared.runs[number].diagnosis
    return {
        "name": run.name,
        "path": run.run.path,
        "format": run.run.format,
        "settings": run.settings,
        "score": compared.scores[number],
        "health": {
            "verdict": None if diagnosis is None else diagnosis.verdict,
            "line": health(compared, number),
            "problems": [_problem(problem) for problem in (diagnosis.problems if diagnosis else ())],
        },
    }


def _problem(problem: Problem) -> dict[str, Any]:
    cause = problem.hypotheses[0].cause if problem.hypotheses else None
    return {"symptom": problem.symptom, "severity": problem.severity, "cause": cause}


def _without(fields: object, name: str) -> dict[str, Any]:
    """The fields of a dataclass but for one that is not for programs."""
    return {key: value for key, value in vars(fields).items() if key != name}
