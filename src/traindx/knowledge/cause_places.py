"""Where a cause is: the line or layer its evidence names, and the edit that would fix it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from traindx.core.nouns import Finding, Fix, Place
from traindx.evidence.case import Case
from traindx.knowledge.catalogue import Cause
from traindx.knowledge.infer import Ranked
from traindx.source import Script
from traindx.source.anchors import anchor
from traindx.source.edits import diff

_SYSTEM = ("step_s", "rss_bytes", "gpu_mem_bytes")


def speaking_findings(ranked: Ranked, findings: Sequence[Finding]) -> list[Finding]:
    """The findings that are evidence for a cause, the strongest first."""
    by_id = {finding.id: finding for finding in findings}
    return [by_id[item.finding] for item in ranked.evidence if item.finding in by_id]


def place_of(cause: Cause, speaking: Sequence[Finding], script: Script | None) -> Place | None:
    """The line that the strongest evidence names; else where the script sets what the cause is about."""
    places = [place for finding in speaking for place in finding.places]
    line = next((place for place in places if place.line is not None), None)
    layer = next((place.layer for place in places if place.layer), "")
    if line is None and script is not None:
        line = next((anchored for name in cause.where if (anchored := anchor(script, name))), None)
    if line is None:
        return Place(layer=layer) if layer else None
    return replace(line, layer=line.layer or layer)


def with_patch(fixes: tuple[Fix, ...], speaking: Sequence[Finding], script: Script | None) -> tuple[Fix, ...]:
    """The first fix with the edit of the strongest evidence that has one."""
    edits = next((finding.edits for finding in speaking if finding.edits), ())
    if script is None or not fixes or not edits:
        return fixes
    return (replace(fixes[0], patch=diff(script, edits)), *fixes[1:])


def kinds_of_evidence(case: Case) -> tuple[str, ...]:
    """The kinds of evidence there are: log, settings, internals, ..."""
    series = case.run.series
    kinds = {
        "log": bool(series),
        "config": bool(case.run.settings or case.run.config),
        "internals": any(name.startswith(("grad_norm/", "activation_", "update_ratio/")) for name in series),
        "data": any(name.startswith(("input/", "target/")) for name in series) or bool(case.inside.loaders),
        "script": case.script is not None,
        "system": any(name in series for name in _SYSTEM),
    }
    return tuple(kind for kind, there in kinds.items() if there)
