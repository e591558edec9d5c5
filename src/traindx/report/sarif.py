"""Findings of scripts as SARIF 2.1.0, for code hosts and editors."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from traindx import __version__
from traindx.core.nouns import Edit, Finding, Place
from traindx.core.units import Detector, detectors
from traindx.report.json_text import json_bytes
from traindx.report.text import encodable

_LEVELS = {"critical": "error", "high": "error", "medium": "warning", "low": "note"}
_LINK = re.compile(r"\[(?=[^\]]*\]\()")  # what viewers make a link of, unless it is escaped
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif_document(findings: Sequence[Finding]) -> bytes:
    """One run of the tool with all findings."""
    units = {unit.id: unit for unit in detectors() if unit.needs[:1] == ("script",)}
    order = sorted(units)
    driver = {
        "name": "traindx",
        "version": __version__,
        "informationUri": "https://pypi.org/project/traindx/",
        "rules": [_rule(units[id]) for id in order],
    }
    results = [_result(finding, order) for finding in findings]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json_bytes({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(unit: Detector) -> dict[str, Any]:
    first, _, rest = unit.page.partition("\n\n")
    return {
        "id": unit.id,
        "name": "".join(part.capitalize() for part in unit.id.split("_")),
        "shortDescription": {"text": " ".join(first.split())},
        "fullDescription": {"text": " ".join(rest.split()) or first},
        "help": {"text": f"traindx explain {unit.id}"},
    }


def _result(finding: Finding, rules: Sequence[str]) -> dict[str, Any]:
    level = _LEVELS[finding.severity] if finding.symptom is not None else "note"
    places = [place for place in finding.places if place.file and place.line]
    result: dict[str, Any] = {
        "ruleId": finding.id,
        "level": level,
        "message": {"text": _LINK.sub(r"\\[", encodable(finding.text))},
        "locations": [{"physicalLocation": _location(place)} for place in places[:1]],
    }
    if finding.id in rules:
        result["ruleIndex"] = rules.index(finding.id)
    if places[1:]:
        result["relatedLocations"] = [
            {"id": at, "physicalLocation": _location(place)} for at, place in enumerate(places[1:], 1)
        ]
    if finding.edits:
        result["fixes"] = [_fix(finding.edits)]
    return result


def _location(place: Place) -> dict[str, Any]:
    return {"artifactLocation": _artifact(place.file), "region": {"startLine": place.line}}


def _artifact(file: str) -> Mapping[str, str]:
    """A path as a URI: relative as it was given, absolute with its scheme."""
    if Path(file).is_absolute():
        return {"uri": Path(file).as_uri()}
    return {"uri": quote(os.fsencode(Path(file).as_posix()))}


def _fix(edits: Sequence[Edit]) -> dict[str, Any]:
    grade = {"safe": "safe to apply", "ask": "look before you apply it", "show": "a sketch to finish"}
    changes = []
    for file in dict.fromkeys(edit.file for edit in edits):
        replacements = [_replacement(edit) for edit in edits if edit.file == file]
        changes.append({"artifactLocation": _artifact(file), "replacements": replacements})
    return {"description": {"text": grade[edits[0].grade]}, "artifactChanges": changes}


def _replacement(edit: Edit) -> dict[str, Any]:
    """Whole lines: from the start of the first to the start of the one after the last."""
    region = {
        "startLine": edit.first,
        "startColumn": 1,
        "endLine": max(edit.last + 1, edit.first),
        "endColumn": 1,
    }
    text = "".join(encodable(line) + "\n" for line in edit.new)
    return {"deletedRegion": region, "insertedContent": {"text": text}}
