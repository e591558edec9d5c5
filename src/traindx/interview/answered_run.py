"""The run that answers describe: settings and curves of the answers, where the run itself has none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from traindx.core.nouns import Run, Scalar
from traindx.engine import examine
from traindx.evidence.case import Case
from traindx.evidence.examine import Examination
from traindx.interview.answers import Answer
from traindx.knowledge.questions import questions


def examined(base: Case, answers: Mapping[str, Answer]) -> tuple[Case, Examination, tuple[str, ...]]:
    """The case with the settings and curves of the answers, examined by every detector."""
    contradictions: list[str] = []
    run = _with_settings(base.run, answers, contradictions)
    run = _with_curves(run, answers, contradictions)
    case = base if run is base.run else Case(run, base.script)
    examination = examine(case)
    if not base.run.series:
        # A few pasted values are no run that is too short: they are what somebody chose to show.
        findings = tuple(finding for finding in examination.findings if finding.id != "run_too_short")
        examination = replace(examination, findings=findings)
    return case, examination, tuple(contradictions)


def _with_settings(run: Run, answers: Mapping[str, Answer], contradictions: list[str]) -> Run:
    """The settings of the run are kept; answers fill the gaps."""
    answered_settings: dict[str, Scalar] = {}
    for answer in answers.values():
        settings = dict(answer.settings)
        for name in answer.options:
            settings |= questions()[answer.question].options[name].set or {}
        if run.axis != "step" or not run.series:
            settings.pop("max_steps", None)
        for name, value in settings.items():
            measured = run.settings.get(name)
            if measured is None:
                answered_settings[name] = value
            elif not _same_value(measured, value):
                contradictions.append(
                    f"You answered that {name} is {value}; the run itself says {measured}, and that counts."
                )
    if "batch_size" in answered_settings and "accumulation" not in run.settings:
        answered_settings.setdefault("accumulation", 1)  # who accumulates says so next to the batch size
    return replace(run, settings={**run.settings, **answered_settings}) if answered_settings else run


def _same_value(measured: Scalar, value: Scalar) -> bool:
    if isinstance(measured, int | float) and isinstance(value, int | float):
        return abs(measured - value) <= 1e-6 * max(abs(measured), abs(value))
    measured_text, value_text = str(measured).lower(), str(value).lower()
    return measured_text in value_text or value_text in measured_text


def _with_curves(run: Run, answers: Mapping[str, Answer], contradictions: list[str]) -> Run:
    """The curves of the run are kept; pasted ones are used where it has none."""
    for answer in answers.values():
        pasted = answer.pasted
        if pasted is None:
            continue
        new = {name: series for name, series in pasted.series.items() if name not in run.series}
        if not new:
            listed = ", ".join(list(pasted.series)[:3])
            contradictions.append(f"{listed}: given twice; the values that were there first count.")
            continue
        first = not run.series
        run = replace(
            run,
            series={**run.series, **new},
            axis=pasted.axis if first else run.axis,
            settings={**pasted.settings, **run.settings},
            config={**pasted.config, **run.config},
            events=run.events + pasted.events,
            traits=run.traits | pasted.traits,
        )
    return run
