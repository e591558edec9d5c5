"""Whether a report agrees with itself: headline, evidence, advice and numbers of one document.

`disagreements` gives a sentence for everything in the documents of a diagnosis that contradicts something
else in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from traindx.core.nouns import Diagnosis, Hypothesis, Problem
from traindx.knowledge.catalogue import symptoms
from traindx.report.diagnosis import document, html_document, render_diagnosis
from traindx.report.layout import Screen
from traindx.report.text import percent
from traindx.report.titles import finding_title
from traindx.report.to_markdown import markdown
from traindx.report.wording import ABSENT, leading, shown_problems

NUMBER = re.compile(r"(?<![\w.:/=-])\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?(?![\w/:])")
LONGEST = len("999,999,999")
CODE = re.compile(r"`[^`]*`")
SETTINGS = re.compile(r"^\|? ?(?:settings|config|read from)\b.*$|^ .*(?:=|/).*$", re.MULTILINE)
TWICE_ESCAPED = re.compile(r"&amp;(?:amp|lt|gt|quot|#\d+);")
NOTHING_WRONG = re.compile(r"nothing (?:to (?:fix|repair|act on)|needs fixing|is wrong)", re.IGNORECASE)
# A warm-up raises the learning rate to its peak, not the peak.
RAISE = re.compile(r"\b(?:raise|increase)\b[^.;:]{0,25}\b(?:lr|learning rate)\b(?! linearly)", re.IGNORECASE)
CONDITION = re.compile(r"\b(?:on a|if|when|where|while|only|before|without|after)\b")
LOWER = re.compile(r"\b(?:lower|reduce|decrease)\b[^.;:]{0,25}\b(?:lr|learning rate)\b", re.IGNORECASE)
STOPS = re.compile(r"\b(?:stop|early stopping|halve the (?:width|model))\b", re.IGNORECASE)
NO_STOP = re.compile(r"\b(?:do not|don't|not|never|instead of)\b[^.;]{0,40}\bstop", re.IGNORECASE)


def disagreements(diagnosis: Diagnosis) -> list[str]:
    """What in the documents of a diagnosis contradicts something else in them."""
    text = markdown(document([diagnosis]))
    terminal = "\n".join(render_diagnosis(diagnosis, everything=False, screen=Screen(width=4000)))
    found = [*_verdict(diagnosis, text), *_numbers(text), *_numbers(terminal)]
    for problem in shown_problems(diagnosis):
        found += [*_own_finding(problem, diagnosis, text), *_confidence(problem, text), *_advice(problem)]
    return [*dict.fromkeys([*found, *_recovered(diagnosis)])]


def escaped_twice(diagnosis: Diagnosis) -> list[str]:
    return TWICE_ESCAPED.findall(html_document([diagnosis]) + markdown(document([diagnosis])))


def _verdict(diagnosis: Diagnosis, text: str) -> Iterator[str]:
    if diagnosis.verdict == "problem" and (said := NOTHING_WRONG.search(text)):
        yield f"a problem, and yet {said[0]!r}"
    if diagnosis.verdict == "problem" and not diagnosis.problems:
        yield "a problem, and none is named"
    grave = [problem.symptom for problem in diagnosis.problems if problem.severity != "low"]
    if diagnosis.verdict == "healthy" and grave:
        yield f"healthy, with {', '.join(grave)}"


def _own_finding(problem: Problem, diagnosis: Diagnosis, text: str) -> Iterator[str]:
    """What the headline says was found is not among what was not found."""
    unseen = {check.check for check in diagnosis.coverage if check.status == "ran" and not check.seen}
    for finding in problem.findings:
        if finding.id in unseen:
            yield f"{finding.id} is found and not found"
    for name in (problem.symptom, *problem.also):
        own = symptoms()[name].finding if name in symptoms() else ""
        if own and f"{ABSENT}{finding_title(own)}." in text:
            yield f"the headline says {name}, the evidence that {own} was not found"


def _confidence(problem: Problem, text: str) -> Iterator[str]:
    first = leading(problem)
    shares = [cause.confidence for cause in problem.hypotheses]
    if sum(shares) + problem.rest > 1.01:
        yield f"the causes of {problem.symptom} add up to {sum(shares) + problem.rest:.2f}"
    if shares != sorted(shares, reverse=True):
        yield f"the causes of {problem.symptom} are not in order"
    if first is not None:
        shown = re.findall(r"Most likely cause \(([^)]*) confidence\)", text)
        if percent(first.confidence).replace("<", "&lt;") not in shown:
            yield f"{first.cause} has {percent(first.confidence)} in one place, {shown} in another"


def _advice(problem: Problem) -> Iterator[str]:
    first = leading(problem)
    if first is None:
        return
    summaries = [fix.summary for fix in first.fixes]
    raised = [text for text in summaries if RAISE.search(text)]
    lowered = [text for text in summaries if LOWER.search(text)]
    if raised and lowered:
        yield f"{first.cause}: both advised: {raised[0]!r} and {lowered[0]!r}"
    for avoid in first.avoid:
        for way, texts in ((RAISE, raised), (LOWER, lowered)):
            if texts and way.search(avoid.split(",")[0]) and not CONDITION.search(avoid):
                yield f"{first.cause}: advised {texts[0]!r}, and to avoid: {avoid!r}"
    yield from _undone(first)
    for advice in summaries[:1] if problem.symptom == "double_descent" else ():
        if STOPS.search(advice) and not NO_STOP.search(advice):
            yield f"double descent, and the advice is {advice!r}"


def _undone(cause: Hypothesis) -> Iterator[str]:
    """No fix sets a setting to another value than one before it."""
    values: dict[str, object] = {}
    old = ""
    for fix in cause.fixes:
        if old and re.search(rf"\b(?:lr|learning rate)\b[^.;]* from {re.escape(old)}\b", fix.summary):
            yield f"{cause.cause}: lr is changed from {old}, and then {fix.summary!r}"
        if (change := re.search(r"\blr from (\S+) to ", fix.summary)) and "lr" in fix.config:
            old = old or change[1]
        for key, value in fix.config.items() if "optimizer" not in fix.config else ():
            if values.setdefault(key, value) != value:
                yield f"{cause.cause}: {key} is set to {values[key]} and then to {value}"


def _recovered(diagnosis: Diagnosis) -> Iterator[str]:
    """Nothing recovers right before a curve ends in NaN or Inf."""
    for problem in diagnosis.problems:
        for finding in problem.findings:
            series = diagnosis.run.series.get(finding.series or "")
            if series is None or not re.search(r"\b(?:recover(?:s|ed)|came back)\b", finding.text):
                continue
            if re.search(r"\b(?:not|never|without)\b[^.;]{0,20}\b(?:recover|came back)", finding.text):
                continue
            last = max((*finding.marks, finding.end or finding.step or 0.0))
            broken = series.steps[~np.isfinite(series.values)]
            if (
                broken.size
                and last < broken[0]
                and np.searchsorted(series.steps, broken[0]) <= (np.searchsorted(series.steps, last) + 2)
            ):
                yield f"{finding.id}: recovered at {last:g}, NaN or Inf at {broken[0]:g}"


def _numbers(text: str) -> Iterator[str]:
    """No number is longer than a person would write it; those of the user's own settings are theirs."""
    for token in NUMBER.findall(SETTINGS.sub("", CODE.sub("", text))):
        if len(token.rstrip(".,")) > LONGEST or re.search(r"e\+|e-0", token):
            yield f"the number {token}"
    for token in re.findall(r"epochs? \d+\.5\b", text):
        yield f"half an epoch: {token}"
