"""One report does not contradict itself: comparisons, preflight, and fixes that follow each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from traindx.comparison.compare import compare
from traindx.comparison.subjects import subjects
from traindx.evidence.case import Case
from traindx.experiment.preflight.observations import UNTOUCHED, Attempt, Flight
from traindx.experiment.preflight.result import check
from traindx.knowledge.catalogue import causes, remedies
from traindx.knowledge.filled_remedies import fixes
from traindx.report.comparison_words import parting_words, verdict
from traindx.testing.sketch import run as sketch


def wild(level: float, seed: int, name: str) -> object:
    """A few evaluations that jump about, around a level."""
    rng = np.random.default_rng(seed)
    values = level + np.array([2.0, -1.5, 1.8, -1.2, 1.0, -0.8, 0.3, 0.02, -0.02, 0.0, 0.01, 0.0])
    made = sketch(
        {"val/loss": values + rng.normal(0, 0.01, values.size), "loss": values}, settings={"lr": level}
    )
    return replace(made, name=name, path=name)


@pytest.mark.parametrize("level", [1.2, 1.6, 2.525, 5.0])
def test_a_run_that_is_surely_better_is_not_said_to_never_part(level: float) -> None:
    both = [wild(1.0, 0, "a"), wild(level, 1, "b")]
    result = compare(subjects(both))  # type: ignore[arg-type]
    words = parting_words(result, result.parting) if result.parting is not None else []
    if not result.ranking[1].tied:
        assert not any("never part" in line for line in words), (verdict(result), words)
    assert verdict(result)


def answer_to(loss: list[float]) -> tuple[str, str]:
    arm = Attempt(UNTOUCHED, Case(sketch({"loss": loss})), "stopped", steps=len(loss))
    result = check(Flight({UNTOUCHED: arm}), 1.0)["loss_stays_finite"]
    return result.status, result.text


def test_a_loss_that_stays_within_its_noise_does_not_train() -> None:
    noise = 0.01 * np.random.default_rng(0).standard_normal(300)
    status, text = answer_to(list(1.3865 + noise))
    assert status == "unknown"
    assert "no fall beyond its noise" in text
    status, _ = answer_to(list(np.linspace(1.387, 1.386, 300)))
    assert status == "unknown", "a smooth fall of a thousandth is none either"


@pytest.mark.parametrize("end", [1.2, 0.1])
def test_a_loss_that_falls_trains(end: float) -> None:
    noise = 0.02 * np.random.default_rng(0).standard_normal(300)
    assert answer_to(list(np.linspace(1.387, end, 300) + noise))[0] == "pass"


def test_a_second_fix_begins_where_the_first_one_ends() -> None:
    known = {"lr": "1e-7", "lr_higher": "1e-4", "total_steps": "1,000"}
    order = [remedies()[name] for name in causes()["lr_too_low"].remedies]
    filled = {fix.remedy: fix.summary for fix in fixes(order, known)}
    assert "from 1e-7 to 1e-4" in filled["raise_lr"]
    assert "from 1e-4" in filled["change_schedule"]
    assert not any("1e-7" in text for remedy, text in filled.items() if remedy != "raise_lr")


def test_a_fix_that_stands_alone_speaks_of_the_rate_in_use() -> None:
    known = {"lr": "0.1", "total_steps": "1,000"}
    [fix] = fixes([remedies()["change_schedule"]], known)
    assert "from 0.1" in fix.summary
