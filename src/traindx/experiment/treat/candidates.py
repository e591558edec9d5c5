"""What could be tried for a diagnosis: remedies for its causes, the likeliest and least disruptive first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from traindx.core.nouns import ACTED_ON, Diagnosis, Fix, Hypothesis, Place, Problem
from traindx.core.pool import PooledTrial
from traindx.experiment.runtime.change import Change, change_specs
from traindx.knowledge.advice import advised_fix
from traindx.knowledge.catalogue import Remedy, causes, remedies, symptoms

if TYPE_CHECKING:
    from traindx.experiment.edit import Edited, Instruction
    from traindx.experiment.treat.request import ScriptState
    from traindx.source.script import Script

_LEAST_CONFIDENCE = 0.04
_CAUSES_MOST = 5
_REMEDIES_MOST = 5
_VARIANTS_MOST = 4
_RISKS = ("low", "medium", "high")
# Where a cause is sure and only the user can fix it, what other remedies do to the curves proves nothing.
_SURE = 0.5
# A defect need not show in the loss: that a loss falls faster does not prove that it was fixed.
_DEFECT_LEAST = 0.3
_STILL_LIKELY = 0.25


@dataclass(frozen=True)
class Candidate:
    """One way to carry out a remedy: changes of the running script, or an edit of its source.

    With both, the edit is what the changes would do, for a training that cannot be changed while it runs.
    """

    remedy: str
    cause: str
    confidence: float
    changes: tuple[Change, ...] = ()
    edited: Edited | None = None
    second_remedy: str = ""
    """The other one, where two remedies are tried together."""

    @property
    def name(self) -> str:
        return " + ".join(map(str, self.changes)) if self.changes else f"edit: {self.remedy}"

    @property
    def _page(self) -> Remedy | None:
        return remedies().get(self.remedy)

    @property
    def title(self) -> str:
        return self._page.title if self._page is not None else self.remedy

    @property
    def other_loss(self) -> bool:
        """Whether losses before and after mean different things."""
        return self._alters == "loss" or any(change.alters_loss for change in self.changes)

    @property
    def rare(self) -> bool:
        """Whether it is for the rare classes, which plain losses and accuracies hardly count."""
        return self._page is not None and self._page.rare

    @property
    def other_measure(self) -> bool:
        """Whether nothing that is measured before and after can be compared."""
        return self._alters == "measure"

    @property
    def _alters(self) -> str:
        return self._page.alters if self._page is not None else ""

    @property
    def knobs(self) -> tuple[str, ...]:
        """What it moves; of an edit, what its remedy does."""
        if not self.changes:
            return self._page.knobs if self._page is not None else ()
        specs = [change_specs().get(change.id) for change in self.changes]
        return tuple(dict.fromkeys(knob for spec in specs if spec is not None for knob in spec.knobs))

    @property
    def key(self) -> object:
        """The same for two that do the same."""
        if self.edited is not None:
            return tuple(sorted(self.edited.sources.items()))
        return self.changes


@dataclass(frozen=True)
class CauseCandidates:
    """What can be done about one cause; `instructions` are by remedy, for those that have no edit."""

    cause: str
    confidence: float
    symptom: str
    candidates: tuple[Candidate, ...]
    instructions: tuple[tuple[str, Instruction], ...] = ()
    fixes: tuple[Fix, ...] = ()
    place: Place | None = None


def candidates_by_cause(
    diagnosis: Diagnosis, script: Script | None, only: str | None = None
) -> list[CauseCandidates]:
    """For each cause that is likely enough, what can be tried: the likeliest of the worst problem first."""
    by_cause: list[CauseCandidates] = []
    for problem in diagnosis.problems:
        if problem.severity not in ACTED_ON:
            continue
        for hypothesis in problem.hypotheses[:_CAUSES_MOST]:
            listed = any(course.cause == hypothesis.cause for course in by_cause)
            if hypothesis.confidence >= _LEAST_CONFIDENCE and not listed:
                by_cause.append(_candidates_for(diagnosis, problem, hypothesis, script, only))
    return _worth_trying([course for course in by_cause if course.candidates or course.instructions])


def _worth_trying(by_cause: Sequence[CauseCandidates]) -> list[CauseCandidates]:
    """All; where the first cause is sure and only words are left for it, what is nearly as likely."""
    if not by_cause or by_cause[0].confidence < _SURE:
        return list(by_cause)
    if causes()[by_cause[0].cause].untrusted:
        return [by_cause[0]]
    if by_cause[0].candidates:
        return list(by_cause)
    return [course for course in by_cause if course is by_cause[0] or course.confidence >= _STILL_LIKELY]


def _candidates_for(
    diagnosis: Diagnosis,
    problem: Problem,
    hypothesis: Hypothesis,
    script: Script | None,
    only: str | None,
) -> CauseCandidates:
    candidates: list[Candidate] = []
    instructions: list[tuple[str, Instruction]] = []
    fixes = [fix for fix in hypothesis.fixes if only in (None, fix.remedy)]
    fixes = fixes[:_REMEDIES_MOST] if only is None else fixes
    for fix in fixes:
        ways, without_edit = _carried_out(fix, hypothesis, diagnosis, script, _VARIANTS_MOST)
        candidates += ways
        instructions += without_edit
    if symptoms()[problem.symptom].kind == "defect" and hypothesis.confidence < _DEFECT_LEAST:
        candidates = []
    return CauseCandidates(
        hypothesis.cause,
        hypothesis.confidence,
        problem.symptom,
        _unique(candidates),
        tuple(instructions),
        tuple(fixes),
        hypothesis.place,
    )


def as_edits(by_cause: Sequence[CauseCandidates], state: ScriptState) -> list[CauseCandidates]:
    """The same without changes at run time: each is written into the source, or becomes an instruction."""
    courses: list[CauseCandidates] = []
    for course in by_cause:
        results = [(candidate.remedy, as_edit(candidate, state)) for candidate in course.candidates]
        edited = [result for _, result in results if isinstance(result, Candidate)]
        by_hand = [(remedy, result) for remedy, result in results if not isinstance(result, Candidate)]
        courses.append(
            replace(course, candidates=_unique(edited), instructions=(*course.instructions, *by_hand))
        )
    return courses


def as_edit(candidate: Candidate, state: ScriptState) -> Candidate | Instruction:
    """A candidate whose changes are written into the source; where no edit is certain, what to do by hand."""
    from traindx.experiment.edit import Edited, Instruction, edit_for_all

    if candidate.edited is not None:
        return candidate
    if state.script is None:
        return Instruction(f"{candidate.title}: {candidate.name}")
    run = state.baseline.run
    edit = edit_for_all(state.script, candidate.changes, run=run, args=state.args, texts=state.sources)
    return replace(candidate, edited=edit) if isinstance(edit, Edited) else edit


def by_hand(plan: Sequence[CauseCandidates], trials: Sequence[PooledTrial]) -> Instruction | None:
    """What to do by hand: the first fix of the plan that no trial speaks against."""
    from traindx.experiment.edit import Instruction

    for course in plan:
        for fix in course.fixes:
            allowed = advised_fix(fix, trials)
            if allowed is fix:
                special = [words for remedy, words in course.instructions if remedy == fix.remedy]
                return special[0] if special else Instruction(fix.summary, course.place)
            if allowed is not None:
                return Instruction(allowed.summary, course.place)
    return None


def _carried_out(
    fix: Fix,
    hypothesis: Hypothesis | None,
    diagnosis: Diagnosis,
    script: Script | None,
    most: int | None = None,
) -> tuple[list[Candidate], list[tuple[str, Instruction]]]:
    """The ways to carry out a remedy: as changes and as edits; and instructions where no edit is certain."""
    from traindx.experiment.edit import Edited, edit_for_remedy

    cause, confidence = (hypothesis.cause, hypothesis.confidence) if hypothesis is not None else ("", 0.0)
    variants = [changes for text in fix.trials if (changes := changes_of(text))]
    candidates = [Candidate(fix.remedy, cause, confidence, changes) for changes in variants[:most]]
    if script is None or hypothesis is None:
        return candidates, []
    edits = edit_for_remedy(script, fix.remedy, hypothesis, diagnosis)
    edited = [edit for edit in edits if isinstance(edit, Edited)]
    candidates += [Candidate(fix.remedy, cause, confidence, edited=edit) for edit in edited]
    return candidates, [(fix.remedy, edit) for edit in edits if not isinstance(edit, Edited)]


def changes_of(text: str) -> tuple[Change, ...]:
    """The changes of a remedy; none where this run's numbers are out of their range."""
    try:
        return tuple(Change.parse(part.strip()) for part in text.split(" + "))
    except ValueError:
        return ()


def _unique(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Each once: two remedies may come down to the same change, two edits to the same text."""
    unique: dict[object, Candidate] = {}
    for candidate in candidates:
        unique.setdefault(candidate.key, candidate)
    return tuple(unique.values())


def single(remedy: str, diagnosis: Diagnosis, script: Script | None) -> CauseCandidates:
    """What one remedy can do for a run, whatever its diagnosis says: for `traindx try`."""
    from traindx.evidence.case import Case
    from traindx.knowledge.filled_remedies import fixes
    from traindx.knowledge.run_numbers import facts

    listed = [h for problem in diagnosis.problems for h in problem.hypotheses]
    fitting = [h for h in listed if any(fix.remedy == remedy for fix in h.fixes)]
    numbers = facts(Case(diagnosis.run, script), [f for p in diagnosis.problems for f in p.findings], None)
    filled = list(fixes([remedies()[remedy]], numbers)) or [Fix(remedy, "")]
    first = fitting[0] if fitting else None
    cause, confidence = (first.cause, first.confidence) if first is not None else ("", 0.0)
    candidates, instructions = _carried_out(filled[0], first, diagnosis, script)
    symptom = diagnosis.problems[0].symptom if diagnosis.problems else ""
    unique, fixes_left = _unique(candidates), tuple(filled[:1])
    return CauseCandidates(cause, confidence, symptom, unique, tuple(instructions), fixes_left)


def risk(candidate: Candidate) -> int:
    """The risk of a remedy: 0 is low."""
    page = remedies().get(candidate.remedy)
    word = page.risk.split()[0].rstrip(",.;") if page is not None else "medium"
    return _RISKS.index(word) if word in _RISKS else 1
