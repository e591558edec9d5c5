"""What else is worth doing after a treatment: by type, with the gain where one was measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from traindx.core.nouns import ACTED_ON
from traindx.knowledge.catalogue import causes, remedies
from traindx.report import document as doc
from traindx.report.document import code, listed
from traindx.report.text import percent
from traindx.report.to_markdown import markdown

if TYPE_CHECKING:
    from traindx.experiment.treat.results import Treated, Trial

TYPES = ("Architecture", "Data", "Training")
_ARCHITECTURE = {"width", "layers", "activation", "norm", "init", "output", "dropout"}
_DATA = {"data", "inputs", "augmentation", "sampling", "class_weights", "shuffle"}
_BY_CATEGORY = {"model": "Architecture", "data": "Data"}
# A second cause is worth a recommendation from here on.
_LIKELY = 0.1
_NOTHING = "Nothing is left that this training shows to be worth a change."


@dataclass(frozen=True)
class Recommendation:
    """One thing to do. `gain` is what a trial measured; without one the page's expectation is `expected`."""

    type: str
    text: str
    cause: str
    confidence: float
    gain: str = ""
    expected: str = ""

    @property
    def line(self) -> str:
        cause = f" For {self.cause} ({percent(self.confidence)})." if self.cause else ""
        return f"{self.text.rstrip('.')}.{cause} Expected gain: {self.gain or 'not measured'}."


def recommendations_of(treated: Treated) -> tuple[Recommendation, ...]:
    """What the treated training still shows, with the fixes that no trial refuted; none for a healthy one."""
    if treated.status == "healthy":
        return ()
    advice = [*_measured(treated), *_untried(treated)]
    return tuple(sorted(advice, key=lambda recommendation: TYPES.index(recommendation.type)))


def _measured(treated: Treated) -> Iterator[Recommendation]:
    """What helped in a trial about the last script and is not applied."""
    last = treated.rounds[-1] if treated.rounds else None
    for trial in last.trials if last is not None and not last.proven else ():
        if trial.helped and trial is not (last.winner if last is not None else None):
            yield Recommendation(
                _type(trial.candidate.remedy, trial.candidate.cause),
                f"{trial.candidate.title}: {trial.candidate.name}",
                trial.candidate.cause,
                trial.candidate.confidence,
                _gain(trial),
            )


def _gain(trial: Trial) -> str:
    if trial.verdict is None or trial.verdict.by_symptom:
        return ""
    unit = "higher" if trial.verdict.by.higher else "lower"
    return f"{trial.verdict.by.words} {trial.verdict.gain:.0%} {unit}, measured in {trial.length}"


def _untried(treated: Treated) -> Iterator[Recommendation]:
    """Fixes for the remaining problems; the diagnosis has no fix that a trial refuted."""
    diagnosis = treated.final or treated.before
    listed_remedies = {
        trial.candidate.remedy
        for trial_round in treated.rounds[-1:]
        for trial in trial_round.trials
        if trial.helped
    }
    problems = diagnosis.problems if diagnosis is not None else ()
    for problem in (problem for problem in problems if problem.severity in ACTED_ON):
        likely = [hypothesis for hypothesis in problem.hypotheses[1:2] if hypothesis.confidence >= _LIKELY]
        for cause in (*problem.hypotheses[:1], *likely):
            for fix in cause.fixes:
                if fix.remedy in listed_remedies:
                    continue
                listed_remedies.add(fix.remedy)
                expected = remedies()[fix.remedy].expect if fix.remedy in remedies() else ""
                yield Recommendation(
                    _type(fix.remedy, cause.cause),
                    fix.summary,
                    cause.cause,
                    cause.confidence,
                    expected=expected,
                )


def _type(remedy: str, cause: str) -> str:
    knobs = set(remedies()[remedy].knobs) if remedy in remedies() else set()
    if knobs & _ARCHITECTURE and not knobs & _DATA:
        return "Architecture"
    if knobs:
        return "Data" if knobs & _DATA and not knobs - _DATA else "Training"
    return _BY_CATEGORY.get(causes()[cause].category, "Training") if cause in causes() else "Training"


def recommendation_blocks(treated: Treated) -> Iterator[doc.Block]:
    """Each type with what belongs to it."""
    advice = recommendations_of(treated)
    for type in TYPES:
        lines = tuple(recommendation.line for recommendation in advice if recommendation.type == type)
        if lines:
            yield doc.Items(lines, type)
    if not advice:
        yield doc.Text(_NOTHING)


def recommendations(treated: Treated) -> str:
    """`optimization_recommendations.md`."""
    advice = recommendations_of(treated)
    blocks: list[doc.Block] = []
    for type in TYPES:
        blocks += listed(
            type, [_full(recommendation) for recommendation in advice if recommendation.type == type]
        )
    if not advice:
        blocks.append(doc.Text(_NOTHING))
    blocks += listed("When to stop", treated.stop)
    failed = [trial for trial_round in treated.rounds for trial in trial_round.trials if not trial.helped]
    blocks += listed("Tried without gain", [(code(t.candidate.name), f": {t.text}") for t in failed])
    title = ("What else is worth doing for ", code(treated.script))
    return markdown(doc.Document(title, "recommendations", tuple(blocks)))


def _full(recommendation: Recommendation) -> str:
    return f"{recommendation.line} {recommendation.expected}".rstrip()
