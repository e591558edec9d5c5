"""Fixes with the run's own numbers: right, sensible, and silent about what is not known."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from tests.detectors.test_cases import wild_runs
from traindx.core.nouns import Diagnosis, Finding, Run
from traindx.engine import diagnose
from traindx.evidence.case import Case
from traindx.knowledge.catalogue import Weight, causes, remedies
from traindx.knowledge.filled_remedies import fixes, placeholders
from traindx.knowledge.run_numbers import facts, round_down
from traindx.testing.sketch import decay, noisy, run


def first_fix(diagnosis: Diagnosis, cause: str) -> str:
    found = [h for p in diagnosis.problems for h in p.hypotheses if h.cause == cause]
    assert found, [h.cause for p in diagnosis.problems for h in p.hypotheses]
    return found[0].fixes[0].summary


def test_a_rate_far_too_high_goes_to_what_is_usual() -> None:
    loss = noisy([*decay(50, 2.3, 1.5), *[5.0] * 100], 0.05)
    seen = diagnose(run({"loss": loss}, settings={"optimizer": "adam", "lr": 5.0}))
    assert "from 5 to 0.001" in first_fix(seen, "lr_too_high")
    assert seen.problems[0].hypotheses[0].fixes[0].config == {"lr": 0.001}


def test_the_rate_where_the_loss_rose_is_told() -> None:
    rate = np.linspace(1e-4, 0.1, 150)
    loss = noisy([*decay(80, 2.3, 1.0), *np.geomspace(1.0, 20.0, 70)], 0.03)
    fix = first_fix(diagnose(run({"loss": loss, "lr": rate})), "lr_too_high")
    assert fix.startswith("Lower lr from 0.1 to 0.0")
    assert "began to rise" in fix


def test_scaled_gradient_norms_give_no_clipping_norm() -> None:
    finding = Finding("Norms are scaled 1.", id="grad_scaled")
    scaled = {"loss": [1.0, 0.9, 0.8, 0.7, 0.6, 0.5], "grad_norm": [1e5, 2e5, 1e5, 2e5, 1e5, 2e5]}
    known = facts(Case(run(scaled)), [finding], None)
    assert "clip_new" not in known
    several = {"loss": [1.0, 0.9, 0.8, 0.7, 0.6, 0.5], "grad_norm": [1.0, 2.0, 1.5, 1.2, 1.1, 1.0]}
    assert "clip_new" in facts(Case(run(several)), [], None)


def test_four_digits_are_kept() -> None:
    sketch = run({"loss": [1.0, 0.5]}, settings={"beta2": 0.9995, "lr": 1.25e-4, "clip": float("inf")})
    known = facts(Case(sketch), [], None)
    assert known["beta2"] == "0.9995"
    assert known["lr"] == "1.25e-4"
    assert "clip" not in known


@pytest.mark.parametrize("setting", [{"warmup_ratio": 0.1}, {"warmup": 5}])
def test_a_warm_up_that_is_there_is_not_advised(setting: dict[str, float]) -> None:
    known = facts(Case(run({"loss": [1.0, 0.5]}, settings=setting)), [], None)
    assert fixes([remedies()["add_warmup"]], known) == ()


def test_bf16_is_not_replaced_by_bf16() -> None:
    known = facts(Case(run({"loss": [1.0, 0.5]}, settings={"precision": "bf16-mixed"})), [], None)
    assert fixes([remedies()["leave_fp16"]], known) == ()


def test_epochs_are_called_epochs() -> None:
    known = facts(Case(run({"loss": decay(20, 2, 1)}, axis="epoch")), [], 3.0)
    (fix,) = fixes([remedies()["guard_math"]], known)
    assert "epoch 3" in fix.summary


def test_every_remedy_says_something_when_nothing_is_known() -> None:
    for fix in fixes(remedies().values(), {}):
        assert fix.summary
        assert not placeholders(fix.summary), fix.remedy


@pytest.mark.parametrize(("value", "below"), [(0.1, 0.1), (0.09, 0.05), (2.9e-4, 2e-4), (7.0, 5.0)])
def test_round_down(value: float, below: float) -> None:
    assert round_down(value) == pytest.approx(below)


def test_wrong_thresholds_are_refused() -> None:
    sketch = run({"loss": decay(20, 2, 1)})
    with pytest.raises(ValueError, match="did you mean 'rise_ratio'"):
        diagnose(sketch, thresholds={"loss_diverges": {"rato": 3.0}})
    with pytest.raises(ValueError, match="no detector is called"):
        diagnose(sketch, thresholds={"nothing_at_all": {"ratio": 3.0}})


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(wild_runs())
def test_any_run_gets_a_diagnosis(seen: Run) -> None:
    told = diagnose(seen).to_dict()
    for problem in told["problems"]:
        total = problem["rest"] + sum(h["confidence"] for h in problem["hypotheses"])
        assert total == pytest.approx(1.0, abs=1e-3)
    assert not any("mended" in (check["needs"] or "") for check in told["coverage"])


def test_vanishing_gradients_are_not_clipped() -> None:
    known = facts(Case(run({"loss": [1.0, 0.5]})), [], None)
    clip = remedies()["clip_gradients"]
    assert fixes([clip], known)
    assert not fixes([clip], known | {"symptom:vanishing_gradients": "The gradient norm is tiny."})
    vanished = diagnose(run({"loss": [2.3] * 300, "grad_norm": noisy([1e-9] * 300, 1e-10)}))
    assert "vanishing_gradients" in (vanished.problems[0].symptom, *vanished.problems[0].also)
    advised = [fix.remedy for one in vanished.problems[0].hypotheses for fix in one.fixes]
    assert advised
    assert "clip_gradients" not in advised


def test_three_points_are_no_evidence_for_a_rate() -> None:
    """That little was seen says nothing about the learning rate."""
    assert not [page.id for page in causes().values() if _seen(page.evidence, "run_too_short") > 0]


def _seen(evidence: Mapping[str, Weight], finding: str) -> float:
    return evidence[finding].seen if finding in evidence else 0.0
