"""Findings -> problems: what belongs together, what is a trouble of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass

from traindx.core.nouns import SEVERITIES, Finding, Severity
from traindx.knowledge.catalogue import symptoms

# What a defect may be the root of, the worst first.
_CAUSED = ("unstable", "stuck", "unequal", "validation")
_EARLY = 0.05


@dataclass(frozen=True)
class Complaint:
    """Findings that are seen as one problem, before anybody asked why."""

    symptoms: tuple[str, ...]
    severity: Severity
    findings: tuple[Finding, ...]

    @property
    def onset(self) -> float | None:
        steps = [f.step for f in self.findings if f.step is not None and f.symptom == self.symptoms[0]]
        return min(steps, default=None)


def complaints(
    findings: Sequence[Finding],
    ranks: Mapping[str, int],
    span: tuple[float, float],
    leads_to: Callable[[str], Set[str]] = lambda _: frozenset(),
) -> list[Complaint]:
    """The problems of a run, worst first.

    `ranks` orders the symptoms; `leads_to` gives the symptoms of the causes that a finding speaks strongly
    for: a defect that explains trouble which is there is no second problem.
    """
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.symptom is not None:
            groups.setdefault(_group(finding), []).append(finding)
    if (
        "unstable" in groups
        and "validation" in groups
        and _follows(groups["validation"], groups["unstable"], span)
    ):
        groups["unstable"] += groups.pop("validation")
    if "unstable" in groups and "stuck" in groups and _follows(groups["stuck"], groups["unstable"], span):
        groups["unstable"] += groups.pop("stuck")
    for defect in [name for name in groups if name.startswith("defect ")]:
        ends = {symptom for finding in groups[defect] for symptom in leads_to(finding.id)}
        if home := _explained(groups, ends):
            groups[home] += groups.pop(defect)
    made = [_complaint(members, ranks) for members in groups.values()]
    return sorted(made, key=lambda c: (SEVERITIES.index(c.severity), ranks[c.symptoms[0]]))


def _explained(groups: Mapping[str, Sequence[Finding]], symptoms: Set[str]) -> str:
    """The trouble that these symptoms belong to; empty when there is none."""
    for name in _CAUSED:
        if any(finding.symptom in symptoms for finding in groups.get(name, ())):
            return name
    return ""


def _group(finding: Finding) -> str:
    """Defects stand each alone; so does trouble that only the validation data have."""
    kind = symptoms()[str(finding.symptom)].kind
    if kind == "defect":
        return f"defect {finding.family}"
    if kind == "unstable" and (finding.series or "").startswith(("val/", "test/")):
        return "validation"
    return kind


def _follows(stuck: Sequence[Finding], unstable: Sequence[Finding], span: tuple[float, float]) -> bool:
    """Whether the run got stuck where, or after, it became unstable."""
    early = span[0] + _EARLY * (span[1] - span[0])
    blow = min((f.step for f in unstable if f.step is not None), default=span[0])
    halt = max((f.step for f in stuck if f.step is not None), default=span[0])
    return halt >= blow or (halt <= early and blow <= early)


def _complaint(members: Sequence[Finding], ranks: Mapping[str, int]) -> Complaint:
    """The primary symptom is the highest-ranked one among the gravest findings."""
    gravest = min(SEVERITIES.index(f.severity) for f in members)
    order = sorted(
        members,
        key=lambda f: (
            SEVERITIES.index(f.severity) > gravest + 1,
            ranks[str(f.symptom)],
            not (f.series or "").startswith("loss"),
            -f.strength,
        ),
    )
    symptoms = tuple(dict.fromkeys(str(f.symptom) for f in order))
    return Complaint(symptoms, SEVERITIES[gravest], tuple(order))
