"""Findings -> problems: which belong together, which are a problem of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass

from traindx.core.nouns import SEVERITIES, Finding, Severity
from traindx.knowledge.catalogue import symptoms

# What a defect may be the root of, the worst first.
_CAUSED = ("unstable", "stuck", "unequal", "validation")
_EARLY = 0.05


@dataclass(frozen=True)
class FindingGroup:
    """Findings that form one problem, before its causes are ranked."""

    symptoms: tuple[str, ...]
    severity: Severity
    findings: tuple[Finding, ...]

    @property
    def onset(self) -> float | None:
        steps = [f.step for f in self.findings if f.step is not None and f.symptom == self.symptoms[0]]
        return min(steps, default=None)


def group_findings(
    findings: Sequence[Finding],
    ranks: Mapping[str, int],
    span: tuple[float, float],
    leads_to: Callable[[str], Set[str]] = lambda _: frozenset(),
) -> list[FindingGroup]:
    """The problems of a run, worst first.

    `ranks` orders the symptoms; `leads_to` gives the symptoms of the causes that a finding speaks strongly
    for: a defect that explains another problem is no second problem.
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
    result = [_complaint(members, ranks) for members in groups.values()]
    return sorted(result, key=lambda c: (SEVERITIES.index(c.severity), ranks[c.symptoms[0]]))


def _explained(groups: Mapping[str, Sequence[Finding]], symptoms: Set[str]) -> str:
    """The group that these symptoms belong to; empty when there is none."""
    for name in _CAUSED:
        if any(finding.symptom in symptoms for finding in groups.get(name, ())):
            return name
    return ""


def _group(finding: Finding) -> str:
    """Each defect is its own group; so are problems of the validation data alone."""
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


def _complaint(members: Sequence[Finding], ranks: Mapping[str, int]) -> FindingGroup:
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
    return FindingGroup(symptoms, SEVERITIES[gravest], tuple(order))
