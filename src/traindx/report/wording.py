"""The sentences about a diagnosis, shared by every report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache

from traindx.core.facts import word
from traindx.core.nouns import (
    ACTED_ON,
    SEVERITIES,
    Diagnosis,
    Evidence,
    Finding,
    Hypothesis,
    Problem,
    Run,
)
from traindx.core.number_text import place, step_text
from traindx.evidence.phase import of_one_script
from traindx.knowledge.catalogue import causes, symptoms
from traindx.report.coverage_words import checks_run
from traindx.report.text import count, percent
from traindx.report.titles import symptom_title

_EVEN = 0.5  # below this the second cause is named beside the first
_UNCLEAR = 0.3  # below this no cause is put forward without saying so

# What the run did, and the word before the step where it began.
_HAPPENED = {
    "nonfinite": ("went to NaN or Inf", "at"),
    "divergence": ("diverged", "from"),
    "not_learning": ("does not learn", "from"),
    "exploding_gradients": ("gradients explode", "at"),
    "vanishing_gradients": ("gradients vanish", "from"),
    "dead_units": ("units died", "from"),
    "saturated_units": ("units are saturated", "from"),
    "oscillation": ("oscillates", "from"),
    "loss_spike": ("loss spikes", "from"),
    "plateau": ("stopped improving", "at"),
    "slow_convergence": ("learns too slowly", "from"),
    "underfitting": ("underfits", "from"),
    "overfitting": ("overfits", "from"),
    "double_descent": ("validation worsened, then improved again", "from"),
    "silent_defect": ("trains, but something in it is broken", "from"),
    "slow_training": ("steps are slow", "from"),
    "memory_growth": ("memory grows", "from"),
    "crash": ("crashed", "at"),
}
SYMPTOMS_WORDED = frozenset(_HAPPENED)
# The six patterns that a training problem is sorted by first.
_CATEGORIES = {
    "Not Learning": ("not_learning", "vanishing_gradients", "dead_units", "saturated_units"),
    "Plateau": ("plateau", "slow_convergence", "underfitting"),
    "Instability": ("oscillation", "loss_spike", "divergence"),
    "Explosion": ("nonfinite", "exploding_gradients"),
    "Overfitting": ("overfitting", "double_descent"),
    "Performance": ("slow_training", "memory_growth"),
}
_OTHER_CATEGORY = "Silent Defect"
ABSENT = "Checked, not found: "


def bits(weight: float) -> str:
    """The weight of evidence with its sign."""
    return f"{weight:+.1f}" if abs(weight) < 99.95 else f"{weight:+.0f}"


def step_of(run: Run, step: float) -> str:
    """A step of the run as a number; whole where the log counts in whole numbers."""
    same_axis = [series for series in run.series.values() if series.axis == run.axis]
    return step_text(step, whole=all(series.whole for series in same_axis))


def place_of(run: Run, step: float) -> str:
    """`step 240`, `epoch 13`."""
    return f"{run.axis} {step_of(run, step)}"


def at_step(step: float, series: str | None, run: Run) -> str:
    """A step in the units of the curve it was seen on, named where they are not the run's own."""
    curve = run.series.get(series) if series else None
    if curve is None or curve.axis == run.axis:
        return step_of(run, step)
    return place(curve.axis, step, whole=curve.whole)


def onset(problem: Problem, run: Run, word: str = "from") -> str:
    """`from step 240`; empty when it is not known, or was only seen at the very end."""
    step = problem.onset_step
    if step is None or not math.isfinite(step):
        return ""
    if word == "from" and run.last_step is not None and step >= run.last_step:
        return ""
    starts = [float(series.steps[0]) for series in run.series.values() if len(series)]
    if step <= min(starts, default=-math.inf):
        return "from the start"
    return f"{word} {place_of(run, step)}"


def happening(problem: Problem, run: Run) -> str:
    """`diverged from step 240`."""
    did, word = _HAPPENED.get(problem.symptom, (beginning(symptom_title(problem.symptom)), "from"))
    return f"{did} {onset(problem, run, word)}".rstrip()


def beginning(title: str) -> str:
    """A title inside a sentence; names that are not plain words keep their capitals."""
    first = title.split(" ", 1)[0]
    return title if any(char.isupper() for char in first[1:]) else title[:1].lower() + title[1:]


def leading(problem: Problem) -> Hypothesis | None:
    """The first cause, if a finding speaks for it. One that is only common is never put forward."""
    first = next(iter(problem.hypotheses), None)
    return first if first is not None and any(item.bits > 0 for item in first.evidence) else None


def category(symptom: str) -> str:
    """Which of the patterns a symptom belongs to."""
    return next((name for name, members in _CATEGORIES.items() if symptom in members), _OTHER_CATEGORY)


def evidence_for(cause: Hypothesis, problem: Problem) -> list[Evidence]:
    """What speaks for a cause, the strongest first: what was found, then what was checked and not found.

    Of equally strong findings the one that speaks for the fewest causes comes first. That the problem's own
    symptom was not found by some check is no evidence about its cause.
    """
    own_findings = [
        symptoms()[name].finding for name in (problem.symptom, *problem.also) if name in symptoms()
    ]
    items = [item for item in cause.evidence if not (absent(item) and item.finding in own_findings)]
    return sorted(items, key=lambda item: (absent(item), -round(item.bits, 1), _speaks_for(item.finding)))


def absent(item: Evidence) -> bool:
    """Whether it is that something was checked and not found."""
    return item.text.startswith(ABSENT)


@cache
def _speaks_for(finding: str) -> int:
    """How many causes a finding speaks for: the fewer, the more it says about each."""
    return sum(bits > 0 for bits in _weights(finding))


@cache
def _most_bits(finding: str) -> float:
    return max(_weights(finding), default=0.0)


def _weights(finding: str) -> list[float]:
    """The bits that a finding gives to each cause that names it."""
    return [cause.evidence[finding].seen for cause in causes().values() if finding in cause.evidence]


def decides(problem: Problem) -> str:
    """The question or the experiment that would separate the causes."""
    confirm = problem.hypotheses[0].confirm if problem.hypotheses else None
    return next(iter(problem.questions), None) or confirm or ""


def sentence(problem: Problem, run: Run) -> str:
    """`diverged from step 240: learning rate too high (82 %)`."""
    happened = happening(problem, run)
    if not problem.hypotheses:
        return f"{happened}: no known cause fits"
    first, others = leading(problem), problem.hypotheses[1:]
    if first is None:
        return f"{happened}: cause open"
    if not first.confidence >= _EVEN and others:
        unclear = "" if first.confidence >= _UNCLEAR else "cause unclear, perhaps "
        return f"{happened}: {unclear}{_likely(first)} or {_likely(others[0])}"
    return f"{happened}: {_likely(first)}"


def _likely(hypothesis: Hypothesis) -> str:
    return f"{beginning(hypothesis.title)} ({percent(hypothesis.confidence)})"


def verdict_word(diagnosis: Diagnosis) -> str:
    if diagnosis.verdict == "insufficient_evidence" and subject_checked(diagnosis.run):
        return "NO FINDING"
    return {"problem": "PROBLEM", "healthy": "HEALTHY"}.get(diagnosis.verdict, "NO VERDICT")


def verdict_sentences(diagnosis: Diagnosis) -> list[str]:
    """What the verdict is, one sentence for each problem that calls for action."""
    if diagnosis.verdict == "problem":
        grave = acted_on(diagnosis) or diagnosis.problems
        sentences = [sentence(problem, diagnosis.run) for problem in grave]
        at_rest = bool(subject_checked(diagnosis.run))
        return [text.removeprefix("trains, but ") if at_rest else text for text in sentences]
    checks = checks_run(diagnosis.coverage)
    if diagnosis.verdict == "healthy":
        return [f"{checks} and found nothing to act on"]
    if subject := subject_checked(diagnosis.run):
        return [f"nothing wrong in what can be seen of {subject}"]
    blind = any(check.status == "skipped" for check in diagnosis.coverage)
    return [f"too little evidence: only {checks}" if blind else "too little evidence"]


def subject_checked(run: Run) -> str:
    """What was checked without a training: `weights`; empty for a training."""
    return word(fact, "subject") if isinstance(fact := run.facts.get("checked"), Mapping) else ""


def grade(diagnosis: Diagnosis) -> str:
    """One word: the severity of the worst problem, or that there is none to act on."""
    if diagnosis.verdict == "problem" and diagnosis.problems:
        return diagnosis.problems[0].severity
    return {"healthy": "healthy", "problem": "problem"}.get(diagnosis.verdict, "no verdict")


def look(diagnosis: Diagnosis) -> str:
    """What colours its state."""
    return grade(diagnosis).replace(" ", "-")


def acted_on(diagnosis: Diagnosis) -> list[Problem]:
    return [problem for problem in diagnosis.problems if problem.severity in ACTED_ON]


def minor(diagnosis: Diagnosis) -> list[Problem]:
    """Problems worth knowing but not worth acting on, unless there is nothing else to show."""
    grave = acted_on(diagnosis)
    if diagnosis.verdict == "problem" and not grave:
        return []
    return [problem for problem in diagnosis.problems if problem.severity not in ACTED_ON]


def shown_problems(diagnosis: Diagnosis) -> list[Problem]:
    """The problems reported in full."""
    small = minor(diagnosis)
    return [
        problem
        for problem in diagnosis.problems
        if not any(problem is problem_of_note for problem_of_note in small)
    ]


def further_signs(diagnosis: Diagnosis) -> list[Finding]:
    """The signs that are not among the evidence for the first cause of a problem, what says most first.

    What is true of many trainings (a constant learning rate, no warm-up) says little about any cause.
    """
    first = [problem.hypotheses[0] for problem in shown_problems(diagnosis) if problem.hypotheses]
    reported = {item.text for cause in first for item in (*cause.evidence, *cause.against)}
    reported |= set(diagnosis.reasons)
    further = [sign for sign in diagnosis.signs if sign.text not in reported]
    return sorted(further, key=lambda sign: -_most_bits(sign.id) * sign.strength)


def severity_rank(severity: str) -> int:
    return SEVERITIES.index(severity) if severity in SEVERITIES else len(SEVERITIES)


def tally(diagnoses: Sequence[Diagnosis]) -> str:
    """`24 runs: 3 critical, 2 high, 18 healthy, 1 without a verdict`."""
    counts = dict.fromkeys((*SEVERITIES, "without a verdict", "healthy"), 0)
    for diagnosis in diagnoses:
        if diagnosis.verdict == "problem":
            counts[min((p.severity for p in diagnosis.problems), key=severity_rank, default="low")] += 1
        else:
            counts["healthy" if diagnosis.verdict == "healthy" else "without a verdict"] += 1
    counts_text = ", ".join(f"{number:,} {word}" for word, number in counts.items() if number)
    one_script = of_one_script([diagnosis.run for diagnosis in diagnoses])
    whole = f"{len(diagnoses):,} trainings of one script" if one_script else count(len(diagnoses), "run")
    return f"{whole}: {counts_text}" if counts_text else whole
