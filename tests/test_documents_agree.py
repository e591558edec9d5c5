"""No report contradicts itself: every kept recording of the clinic, every made-up run, several real logs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from clinic.corpus import unpack

from tests.diagnoses import broken, healthy
from tests.documents_agree import disagreements, escaped_twice
from tests.simulated import HEALTHY, SICK
from traindx.core.nouns import Check, Diagnosis, Evidence, Fix, Problem
from traindx.engine import diagnose, read
from traindx.report.wording import ABSENT

SHAPES = {**HEALTHY, **{name: shape for name, (shape, _) in SICK.items()}}


def test_the_clinics_reports_agree_with_themselves(tmp_path: Path) -> None:
    assert len(unpack(tmp_path)) > 300
    wrong = {}
    for path in sorted({found.parent for found in tmp_path.rglob("run.json")}):
        for run in read(path).runs:
            if texts := disagreements(diagnose(run)):
                wrong[str(path.relative_to(tmp_path))] = texts
    assert not wrong


@pytest.mark.parametrize("name", SHAPES)
def test_made_up_runs(name: str) -> None:
    for seed in range(6):
        run = SHAPES[name](np.random.default_rng(seed))
        assert not disagreements(diagnose(run)), seed


@pytest.mark.parametrize("seed", range(3))
def test_no_page_is_escaped_twice(seed: int) -> None:
    run = SHAPES["diverged"](np.random.default_rng(seed))
    events = replace(run, name="a -> b & <c>", notes=())
    assert not escaped_twice(diagnose(events))


def changed(problem: Problem, **fields: object) -> Diagnosis:
    base = broken()
    first = replace(problem.hypotheses[0], **fields)  # type: ignore[arg-type]
    return replace(base, problems=(replace(problem, hypotheses=(first, *problem.hypotheses[1:])),))


def contradictions() -> Iterator[tuple[str, Diagnosis, str]]:
    base = broken()
    problem = base.problems[0]
    first = problem.hypotheses[0]
    both = (Fix("lower_lr", "Lower lr from 0.4 to 0.04"), Fix("raise_lr", "Raise lr from 0.4 to 1"))
    yield "raise and lower", changed(problem, fixes=both), "both advised"
    undone = (Fix("a", "Lower lr from 0.4 to 0.04", {"lr": 0.04}), Fix("b", "Decay lr slowly from 0.4 to 0"))
    yield "undone", changed(problem, fixes=undone), "lr is changed from 0.4"
    twice = (Fix("a", "Set it", {"clip": 1.0}), Fix("b", "Set it", {"clip": 5.0}))
    yield "set twice", changed(problem, fixes=twice), "clip is set to 1.0 and then to 5.0"
    avoid = ("Do not lower the learning rate, because it hides the fault.",)
    yield "avoided", changed(problem, avoid=avoid), "and to avoid"
    yield "all is well", changed(problem, confirm="There is nothing to fix."), "and yet"
    unseen = (*base.coverage, Check(problem.findings[0].id, "ran", seen=False))
    yield "unseen", replace(base, coverage=unseen), "found and not found"
    wild = Evidence("x", "It rose 12345678901234567 times, to 3.123456789012345.", 9.0)
    yield "healthy and ill", replace(base, verdict="healthy"), "healthy, with"
    certain = replace(problem, rest=0.9)
    yield "too sure", replace(base, problems=(certain,)), "add up to"
    assert not disagreements(changed(problem, evidence=(wild, *first.evidence)))


@pytest.mark.parametrize(("case", "text"), [(d, text) for _, d, text in contradictions()])
def test_a_contradiction_is_seen(case: Diagnosis, text: str) -> None:
    assert any(text in found for found in disagreements(case)), disagreements(case)


def test_a_recovery_before_nan_is_seen() -> None:
    base = broken()
    series = base.run.series["loss"]
    at = float(series.steps[np.flatnonzero(~np.isfinite(series.values))[0] - 1])
    spike = replace(
        base.problems[0].findings[0], text="1 spike (recovered).", step=at, end=None, series="loss"
    )
    problem = replace(base.problems[0], findings=(replace(spike, marks=(at,)),))
    assert any("recovered" in found for found in disagreements(replace(base, problems=(problem,))))


def test_the_symptom_itself_is_never_reported_as_not_found() -> None:
    base = broken()
    problem = replace(base.problems[0], symptom="divergence", also=())
    unseen = Evidence("loss_diverges", f"{ABSENT}Loss diverges.", 1.0)
    first = replace(problem.hypotheses[0], evidence=(*problem.hypotheses[0].evidence, unseen))
    diagnosis = replace(base, problems=(replace(problem, hypotheses=(first,)),))
    assert not [found for found in disagreements(diagnosis) if "headline" in found]


def test_what_is_made_by_hand_agrees() -> None:
    assert not disagreements(healthy())
