"""A diagnosis sharpened by a reference run: what the baseline did at the same step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from traindx.comparison.compare import Comparison
from traindx.comparison.differing import compared_value, shown
from traindx.comparison.scores import level_at
from traindx.comparison.script_diff import CodeDifference, code_difference
from traindx.comparison.subjects import Subject
from traindx.core.nouns import SEVERITIES, Diagnosis, Evidence, Finding, Hypothesis, Problem, Severity
from traindx.core.number_text import rounded, short
from traindx.evidence.case import Curve
from traindx.knowledge.catalogue import causes, in_the_loss

FINDING = "baseline"
_MOST = 0.95
_BITS_MOST = 4.0
_CURVES = ("loss", "val/loss", "grad_norm", "lr")
_SAME_TIME = 0.2
_DIRECTIONS = {"more": 1, "less": -1, "other": 0}
_CLEAR = 1.5
_SAME_BITS, _OPPOSITE_BITS, _OTHER_BITS = -2.0, -2.5, 1.5
_SETTING_BITS_MOST = 3.0
_LINE_BITS = 1.5


@dataclass(frozen=True)
class Sharpened:
    """The diagnosis with the baseline's evidence in it, and what the baseline says in sentences."""

    diagnosis: Diagnosis
    sentences: tuple[str, ...]


def sharpen(comparison: Comparison, bad: int, good: int) -> Sharpened:
    """The diagnosis of one run of a comparison by another one; unchanged where that one is no better."""
    bad_run, reference = comparison.runs[bad], comparison.runs[good]
    if bad_run.diagnosis is None:
        raise ValueError("the run has not been diagnosed")
    worse, why = _worse(comparison, bad, good)
    sentences = [why]
    code = code_difference(reference, bad_run) if worse else None
    problems = []
    for problem in bad_run.diagnosis.problems:
        contrast = _at_onset(problem, bad_run, reference)
        sharpened = _with_finding(problem, contrast)
        if worse:
            sharpened = _reranked(sharpened, bad_run, reference, code)
        sharpened, change = _regraded(sharpened, bad_run, reference, worse)
        sentences += [text for text in (contrast, change) if text]
        problems.append(sharpened)
    problems.sort(key=lambda problem: SEVERITIES.index(problem.severity))
    diagnosis = replace(bad_run.diagnosis, problems=tuple(problems))
    mild = all(problem.severity == "low" for problem in problems)
    if mild and diagnosis.verdict == "problem" and not worse:
        diagnosis = replace(diagnosis, verdict="healthy")
    if not problems and worse:
        diagnosis = replace(diagnosis, reasons=(*diagnosis.reasons, why))
    return Sharpened(diagnosis, tuple(sentences))


def _worse(comparison: Comparison, bad: int, good: int) -> tuple[bool, str]:
    """Whether the run is clearly behind the reference, in a sentence with numbers."""
    bad_score, good_score = comparison.scores[bad], comparison.scores[good]
    name, metric, sign = comparison.runs[good].name, comparison.chosen.name, comparison.chosen.sign
    if good_score is None or not good_score.final.known:
        return False, f"The baseline {name} has no {metric} at its end: nothing is concluded from it."
    if bad_score is None or not bad_score.final.known:
        return (
            True,
            f"The baseline ends at {metric} {short(good_score.final.value)}; this run ended in NaN or Inf.",
        )
    apart = sign * (bad_score.final.value - good_score.final.value)
    values = (
        f"{metric} {short(bad_score.final.value)} against {short(good_score.final.value)} of the baseline"
    )
    noise = sum(level.error**2 for level in (bad_score.final, good_score.final)) ** 0.5
    if apart > 2 * noise and apart > 0.01 * abs(good_score.final.value):
        return True, f"Worse than the baseline: {values}."
    word = "No worse" if apart > -2 * noise else "Better"
    return (
        False,
        f"{word} than the baseline at the end: {values}. Nothing is concluded from the baseline's settings.",
    )


def _at_onset(problem: Problem, bad: Subject, good: Subject) -> str:
    """`At step 240: loss 3.1 (baseline 0.42), gradient norm 48 (baseline 1.2)`."""
    step = problem.onset_step
    if step is None or bad.run.axis != good.run.axis:
        return ""
    parts = []
    for name in _CURVES:
        bad_curve, good_curve = bad.curve(name), good.curve(name)
        curves = [c for c in (bad_curve, good_curve) if c is not None and c.axis == bad.run.axis]
        values = [value for curve in curves if (value := _value(curve, step))]
        if len(values) == 2:
            parts.append(f"{name} {values[0]} (baseline {values[1]})")
    if not parts:
        return ""
    symptom = problem.symptom.replace("_", " ")
    return f"At {bad.run.axis} {short(step)}, where {symptom} begins: {', '.join(parts)}."


def _value(curve: Curve, step: float) -> str:
    """The level around a step; empty when the curve does not reach it."""
    if not len(curve.series) or step > 1.02 * float(curve.series.steps[-1]) + 1:
        return ""
    near = curve.series.values[curve.series.steps <= step][-1:]
    if near.size and near[0] != near[0]:
        return "NaN"
    level = level_at(curve, step) if curve.name != "lr" else None
    if level is not None and level.known:
        return rounded(level.value, 4)
    return short(curve.at(step)) if len(curve) else "NaN"


def _with_finding(problem: Problem, text: str) -> Problem:
    if not text:
        return problem
    finding = Finding(text, None, "low", problem.onset_step, id=FINDING, family=FINDING)
    return replace(problem, findings=(*problem.findings, finding))


def _reranked(problem: Problem, bad: Subject, good: Subject, code: CodeDifference | None) -> Problem:
    """Causes weighed again with the evidence of the reference."""
    weighed: list[tuple[Hypothesis, float]] = []
    for cause in problem.hypotheses:
        evidence = _evidence(cause, bad, good, code)
        bits = max(-_BITS_MOST, min(_BITS_MOST, sum(item.bits for item in evidence)))
        hypothesis = replace(
            cause,
            evidence=(*cause.evidence, *(item for item in evidence if item.bits > 0)),
            against=(*cause.against, *(item for item in evidence if item.bits < 0)),
        )
        weighed.append((hypothesis, cause.confidence * 2.0**bits))
    total = sum(weight for _, weight in weighed) + problem.rest
    if total <= 0:
        return problem
    ranked = [replace(cause, confidence=min(_MOST, weight / total)) for cause, weight in weighed]
    ranked.sort(key=lambda cause: -cause.confidence)
    rest = max(0.0, 1.0 - sum(cause.confidence for cause in ranked))
    return replace(problem, hypotheses=tuple(ranked), rest=rest)


def _evidence(cause: Hypothesis, bad: Subject, good: Subject, code: CodeDifference | None) -> list[Evidence]:
    """The evidence of the reference about one cause, the strongest first."""
    evidence = [*_settings(cause.cause, bad, good), *_line(cause, bad, code)]
    return sorted(evidence, key=lambda item: -abs(item.bits))


def _settings(cause: str, bad: Subject, good: Subject) -> list[Evidence]:
    """Of several settings behind a cause those that differ speak; only when none does, the same ones."""
    evidence: list[Evidence] = []
    equal_settings: list[str] = []
    for key, way in causes()[cause].settings.items() if cause in causes() else ():
        bad_value, good_value = bad.settings.get(key), good.settings.get(key)
        if bad_value is None or good_value is None:
            continue
        if compared_value(bad_value) == compared_value(good_value):
            equal_settings.append(f"{key} {shown(bad_value)}")
            continue
        bits = _setting_bits(bad.number(key), good.number(key), _DIRECTIONS[way])
        if bits:
            text = f"{key} is {shown(bad_value)}; the baseline trained with {shown(good_value)}"
            evidence.append(Evidence(FINDING, text, bits))
    if evidence:
        return evidence[:1]
    if equal_settings:
        return [
            Evidence(
                FINDING,
                f"{', '.join(equal_settings)} is the same in the baseline, which trained well",
                _SAME_BITS,
            )
        ]
    return []


def _setting_bits(bad_value: float | None, good_value: float | None, wants: int) -> float:
    """The evidence grows with the distance from the baseline in the direction that the cause needs."""
    if bad_value is None or good_value is None or wants == 0:
        return _OTHER_BITS
    if min(bad_value, good_value) <= 0:
        return _OTHER_BITS if (bad_value - good_value) * wants > 0 else _OPPOSITE_BITS
    ratio = (bad_value / good_value) ** wants
    if ratio >= _CLEAR:
        return min(_SETTING_BITS_MOST, 1.0 + 0.5 * math.log2(ratio))
    return _OPPOSITE_BITS if ratio <= 1 / _CLEAR else 0.0


def _line(cause: Hypothesis, bad: Subject, code: CodeDifference | None) -> list[Evidence]:
    """Evidence for a cause whose line is one in which the scripts differ."""
    place = cause.place
    if code is None or code.note or place is None or place.line is None or not place.file:
        return []
    script = bad.run.facts.get("script")
    path = script.get("path") if isinstance(script, dict) else None
    if not isinstance(path, str) or path.rsplit("/", 1)[-1] != place.file.rsplit("/", 1)[-1]:
        return []
    if place.line not in code.changed:
        # An unchanged line says nothing: the place of a cause may be where it shows, not where it is.
        return []
    text = f"line {place.line} is one in which the script differs from the baseline's"
    return [Evidence(FINDING, text, _LINE_BITS)]


def _regraded(problem: Problem, bad: Subject, good: Subject, worse: bool) -> tuple[Problem, str]:
    """One severity lower for a problem that the baseline has too, if this run ends no worse."""
    shared = _shared(problem, bad, good) if in_the_loss(problem.symptom) else None
    if shared is None or worse or problem.severity == "low":
        return problem, ""
    lower: Severity = SEVERITIES[SEVERITIES.index(problem.severity) + 1]
    symptom = problem.symptom.replace("_", " ")
    when = "" if shared.onset_step is None else f" from {good.run.axis} {short(shared.onset_step)}"
    return replace(problem, severity=lower), (
        f"The baseline shows {symptom} too{when}, and this run ends no worse: {problem.severity} becomes "
        f"{lower}."
    )


def _shared(problem: Problem, bad: Subject, good: Subject) -> Problem | None:
    """The same symptom in the baseline at about the same time."""
    problems: Sequence[Problem] = good.diagnosis.problems if good.diagnosis is not None else ()
    span = bad.case.span[1] - bad.case.span[0]
    for candidate in problems:
        if candidate.symptom != problem.symptom:
            continue
        if problem.onset_step is None or candidate.onset_step is None:
            return candidate
        if abs(problem.onset_step - candidate.onset_step) <= _SAME_TIME * max(span, 1.0):
            return candidate
    return None
