"""What could be tried for a diagnosis: remedies for its causes, the likeliest and least disruptive first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from traindx.core.nouns import ACTED_ON, Diagnosis, Fix, Hypothesis, Problem
from traindx.experiment.runtime.change import Change
from traindx.knowledge.catalogue import causes, remedies, symptoms

if TYPE_CHECKING:
    from traindx.experiment.edit import Edited, Instruction
    from traindx.source.script import Script

_LEAST_CONFIDENCE = 0.04
_CAUSES_MOST = 5
_REMEDIES_MOST = 5
_VARIANTS_MOST = 4
_RISKS = ("low", "medium", "high")
# Where a cause is sure and nobody but the user can mend it, what others do to the curves proves nothing.
_SURE = 0.5
# A defect need not show in the loss: that a loss falls faster is no proof that it was mended.
_DEFECT_LEAST = 0.3
_STILL_LIKELY = 0.25


@dataclass(frozen=True)
class Candidate:
    """One way to carry out a remedy: interventions in the running script, or an edit of its source."""

    remedy: str
    cause: str
    confidence: float
    changes: tuple[Change, ...] = ()
    edited: Edited | None = None
    place: str = ""

    @property
    def name(self) -> str:
        return " + ".join(map(str, self.changes)) if self.changes else f"edit: {self.remedy}"

    @property
    def title(self) -> str:
        return remedies()[self.remedy].title if self.remedy in remedies() else self.remedy

    @property
    def other_loss(self) -> bool:
        """Whether losses before and after mean different things."""
        return self._alters == "loss" or any(change.alters_loss for change in self.changes)

    @property
    def rare(self) -> bool:
        """Whether it is for the rare classes, which plain losses and accuracies hardly count."""
        return self.remedy in remedies() and remedies()[self.remedy].rare

    @property
    def other_measure(self) -> bool:
        """Whether nothing that is measured before and after can be compared."""
        return self._alters == "measure"

    @property
    def _alters(self) -> str:
        return remedies()[self.remedy].alters if self.remedy in remedies() else ""

    @property
    def key(self) -> object:
        """The same for two that do the same."""
        if self.edited is not None:
            return tuple(sorted(self.edited.sources.items()))
        return self.changes


@dataclass(frozen=True)
class CauseCandidates:
    """What can be done about one cause; `told` are remedies that only words can carry out."""

    cause: str
    confidence: float
    symptom: str
    candidates: tuple[Candidate, ...]
    told: tuple[Instruction, ...] = field(default=())
    meant: Instruction | None = None
    """What the first remedy of the cause says to do, for the case that nothing helps."""


def candidates_by_cause(
    diagnosis: Diagnosis, script: Script | None, only: str | None = None
) -> list[CauseCandidates]:
    """For each cause that is likely enough, what can be tried: the likeliest of the worst problem first."""
    found: list[CauseCandidates] = []
    for problem in diagnosis.problems:
        if problem.severity not in ACTED_ON:
            continue
        for hypothesis in problem.hypotheses[:_CAUSES_MOST]:
            known = any(course.cause == hypothesis.cause for course in found)
            if hypothesis.confidence >= _LEAST_CONFIDENCE and not known:
                found.append(_course(diagnosis, problem, hypothesis, script, only))
    return _worth_trying([course for course in found if course.candidates or course.told])


def _worth_trying(found: Sequence[CauseCandidates]) -> list[CauseCandidates]:
    """All; where the first cause is sure and only words are left for it, what is nearly as likely."""
    if not found or found[0].confidence < _SURE:
        return list(found)
    if causes()[found[0].cause].untrusted:
        return [found[0]]
    if found[0].candidates:
        return list(found)
    return [course for course in found if course is found[0] or course.confidence >= _STILL_LIKELY]


def _course(
    diagnosis: Diagnosis,
    problem: Problem,
    hypothesis: Hypothesis,
    script: Script | None,
    only: str | None,
) -> CauseCandidates:
    from traindx.experiment.edit import Edited, Instruction

    candidates: list[Candidate] = []
    told: list[Instruction] = []
    meant: Instruction | None = None
    fixes = [fix for fix in hypothesis.fixes if only in (None, fix.remedy)]
    for fix in fixes[:_REMEDIES_MOST] if only is None else fixes:
        candidates += _interventions(fix, hypothesis)
        for edit in _edits(diagnosis, hypothesis, fix, script):
            if isinstance(edit, Edited):
                candidates.append(Candidate(fix.remedy, hypothesis.cause, hypothesis.confidence, edited=edit))
            else:
                told.append(edit)
        if meant is None:
            meant = told[0] if told else Instruction(fix.summary, hypothesis.place)
    if symptoms()[problem.symptom].kind == "defect" and hypothesis.confidence < _DEFECT_LEAST:
        candidates = []
    every = _apart(candidates)
    return CauseCandidates(
        hypothesis.cause, hypothesis.confidence, problem.symptom, every, tuple(told), meant
    )


def _interventions(fix: Fix, hypothesis: Hypothesis) -> list[Candidate]:
    able = [changes for text in fix.trials if (changes := changes_of(text))]
    return [
        Candidate(fix.remedy, hypothesis.cause, hypothesis.confidence, changes)
        for changes in able[:_VARIANTS_MOST]
    ]


def changes_of(text: str) -> tuple[Change, ...]:
    """The interventions of a remedy; none where this run's numbers are out of their range."""
    try:
        return tuple(Change.parse(part.strip()) for part in text.split(" + "))
    except ValueError:
        return ()


def _edits(
    diagnosis: Diagnosis, hypothesis: Hypothesis, fix: Fix, script: Script | None
) -> Sequence[Edited | Instruction]:
    if script is None:
        return ()
    from traindx.experiment.edit import edit_for_remedy

    return edit_for_remedy(script, fix.remedy, hypothesis, diagnosis)


def _apart(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Each once: two remedies may come down to the same change, two edits to the same text."""
    made: dict[object, Candidate] = {}
    for candidate in candidates:
        made.setdefault(candidate.key, candidate)
    return tuple(made.values())


def single(remedy: str, diagnosis: Diagnosis, script: Script | None) -> CauseCandidates:
    """What one remedy can do for a run, whatever its diagnosis says: for `traindx try`."""
    from traindx.evidence.case import Case
    from traindx.experiment.edit import Edited
    from traindx.knowledge.filled_remedies import fixes
    from traindx.knowledge.run_numbers import facts

    listed = [h for problem in diagnosis.problems for h in problem.hypotheses]
    mine = [h for h in listed if any(fix.remedy == remedy for fix in h.fixes)]
    known = facts(Case(diagnosis.run, script), [f for p in diagnosis.problems for f in p.findings], None)
    able = list(fixes([remedies()[remedy]], known)) or [Fix(remedy, "")]
    cause, confidence = (mine[0].cause, mine[0].confidence) if mine else ("", 0.0)
    tries = [changes for text in able[0].trials if (changes := changes_of(text))]
    candidates = [Candidate(remedy, cause, confidence, changes) for changes in tries]
    told: list[Instruction] = []
    for hypothesis in mine[:1]:
        for edit in _edits(diagnosis, hypothesis, able[0], script):
            if isinstance(edit, Edited):
                candidates.append(Candidate(remedy, cause, confidence, edited=edit))
            else:
                told.append(edit)
    symptom = diagnosis.problems[0].symptom if diagnosis.problems else ""
    return CauseCandidates(cause, confidence, symptom, _apart(candidates), tuple(told))


def risk(candidate: Candidate) -> int:
    """How much a remedy may upset: 0 little."""
    page = remedies().get(candidate.remedy)
    word = page.risk.split()[0].rstrip(",.;") if page is not None else "medium"
    return _RISKS.index(word) if word in _RISKS else 1
