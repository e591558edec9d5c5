"""Somebody to interview: answers truthfully what the recording of a clinic script tells, and no more.

Nothing here knows the cause. A question is answered from the settings, the curves and what was looked for
in the recording; where that does not tell, the answer is "don't know".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from traindx.core.nouns import Run
from traindx.evidence.case import Case
from traindx.evidence.examine import Examination, examine
from traindx.knowledge.questions import Question

from .truth import Script

DONT_KNOW = "?"
_SEEN_BY_EYE = 40
_GRAVE = ("critical", "high", "medium")


@dataclass(frozen=True, eq=False)
class Patient:
    """A script of the clinic, its recording, and what its user is able to say.

    `efforts` are the kinds of question that are answered: `know` at once, `look` after a look at code and
    data. Nobody here runs an experiment (`try`).
    """

    script: Script
    case: Case
    examination: Examination
    efforts: frozenset[str] = frozenset()

    @property
    def run(self) -> Run:
        return self.case.run

    @cached_property
    def symptoms(self) -> tuple[str, ...]:
        """What is seen from outside: the symptom of the truth; of a silent one, what the curves show."""
        if self.script.symptom and self.script.symptom != "silent_defect":
            return (self.script.symptom,)
        shown = [
            finding.symptom
            for finding in self.examination.findings
            if finding.symptom and finding.severity in _GRAVE and finding.series in ("loss", "val/loss")
        ]
        return tuple(dict.fromkeys(shown)) or ("silent_defect",)

    def answer(self, question: Question) -> object:
        if question.effort not in self.efforts:
            return DONT_KNOW
        if question.kind == "settings":
            return self._settings(question) or DONT_KNOW
        if question.kind == "values":
            return self._values(question.series) or DONT_KNOW
        special = {
            "nan_step": self._nan_step,
            "progress": self._progress,
            "data_time": self._data_time,
            "precision": self._precision,
            "train_score": self._train_score,
            "ranks": self._ranks,
        }
        found = special[question.id]() if question.id in special else ""
        return found or self._choice(question) or DONT_KNOW

    def _choice(self, question: Question) -> object:
        """The options whose findings were seen; the fine one when all were looked for in vain."""
        if not question.chosen:
            return ""
        seen = {finding.id for finding in self.examination.findings}
        looked = self.examination.checked
        telling = {o.id: {*o.sees, *o.shown_by} for o in question.options.values() if not o.fine}
        chosen = [name for name, findings in telling.items() if findings & seen]
        if chosen:
            return chosen if question.kind == "any" else chosen[0]
        fine = next((o.id for o in question.options.values() if o.fine), "")
        told = [findings for findings in telling.values() if findings]
        return fine if told and all(findings & looked for findings in told) else ""

    def _settings(self, question: Question) -> str:
        settings = dict(self.run.settings)
        settings.setdefault("batch_size", self._batch())
        if self.run.facts.get("models"):
            settings.setdefault("dropout", 0)
        told = {name: settings[name] for name in question.settings if settings.get(name) is not None}
        return " ".join(f"{name}={value}" for name, value in told.items())

    def _batch(self) -> int | None:
        """The first dimension of what the loss gets."""
        for loss in self.run.facts.get("losses", ()):
            match = re.match(r"(\d+)", str(loss.get("output_shape", "")))
            if match:
                return int(match[1])
        return None

    def _values(self, names: Sequence[str]) -> str:
        """Some values from start to end, as somebody would copy them from a terminal."""
        curves = [self.case.curve(name) for name in names]
        if not all(curve is not None and len(curve.series) >= 3 for curve in curves):
            return ""
        shortest = min((c for c in curves if c is not None), key=lambda c: len(c.series))
        total = len(shortest.series)
        at = np.unique(np.linspace(0, total - 1, min(total, _SEEN_BY_EYE)).astype(int))
        steps = shortest.series.steps[at]
        columns = [_at(c.series.steps, c.series.values, steps) for c in curves if c is not None]
        return "\n".join(" ".join(f"{value:.4g}" for value in row) for row in zip(*columns, strict=True))

    def _nan_step(self) -> str:
        loss = self.run.series.get("loss")
        if loss is None or np.isfinite(loss.values).all():
            return ""
        first = int(np.argmin(np.isfinite(loss.values)))
        before = " ".join(f"{value:.4g}" for value in loss.values[max(0, first - 5) : first])
        return f"{loss.steps[first]:.0f}: {before}"

    def _progress(self) -> str:
        last = self.run.last_step
        return "" if last is None else f"{last:.0f} of {last:.0f}"

    def _data_time(self) -> str:
        wait, step = self.run.series.get("data_wait_s"), self.run.series.get("step_s")
        if wait is None or step is None:
            return ""
        waited, took = float(np.median(wait.values)), float(np.median(step.values))
        return f"{min(waited, took):.4g} of {took:.4g}"

    def _precision(self) -> str:
        word = str(self.run.settings.get("precision", "")).lower()
        if "bf" in word:
            return "bf16"
        if "16" in word or "half" in word:
            return "fp16_scaled" if "loss_scale" in self.run.series else "fp16_bare"
        return "fp32" if self.run.facts.get("models") else ""

    def _train_score(self) -> str:
        accuracy = self.run.series.get("accuracy")
        if accuracy is None or not len(accuracy):
            return ""
        last = float(np.nanmean(accuracy.values[-5:]))
        classes = len(self.run.facts.get("classes", ())) or 2
        return "perfect" if last > 0.97 else "chance" if last < 1.2 / classes else "between"

    def _ranks(self) -> str:
        return "one" if self.run.facts.get("world_size") == 1 else ""


def _at(steps: np.ndarray, values: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The value logged at, or last before, each wanted step."""
    places = np.clip(np.searchsorted(steps, wanted, side="right") - 1, 0, len(values) - 1)
    found: np.ndarray = values[places]
    return found


def patient(script: Script, runs: Path) -> Patient | None:
    """The patient behind a script that was recorded; None when there is no recording."""
    from traindx.engine import case_of, diagnose, read
    from traindx.evidence.phase import worst_first

    found = read(runs / script.name / "recording").runs
    if not found:
        return None
    run = found[0] if len(found) == 1 else worst_first(diagnose(run) for run in found)[0].run
    case = case_of(run, script.path)
    return Patient(script, case, examine(case))
