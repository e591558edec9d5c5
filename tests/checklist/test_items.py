"""What each item says of made-up arms: passes, fails, and cannot tell where it cannot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from traindx.core.units import detectors
from traindx.evidence.case import Case
from traindx.experiment.preflight.check import CheckAnswer, items
from traindx.experiment.preflight.observations import (
    AGAIN,
    MEASURED,
    NO_INPUTS,
    ONE_BATCH,
    OTHER_LABELS,
    UNTOUCHED,
    Attempt,
    Flight,
)
from traindx.experiment.preflight.result import check
from traindx.testing.sketch import decay, noisy, run

STEPS = 300
LOADER = {"role": "training", "batches": 30, "batch_size": 16}
FACTS: dict[str, Any] = {
    "optimizers": [{"class": "SGD", "elements": 10}],
    "losses": [{"function": "cross_entropy", "output_shape": "16x2", "target_shape": "16"}],
    "loaders": [LOADER],
}


def attempt(name: str, loss: Any, **facts: Any) -> Attempt:
    values = np.asarray(loss, dtype=np.float64)
    return Attempt(name, Case(run({"loss": values}, facts={**FACTS, **facts})), "stopped", steps=len(values))


def answers(*attempts: Attempt) -> dict[str, CheckAnswer]:
    told = check(Flight({one.name: one for one in attempts}), 1.0)
    return {item.id: answer for item, answer in told.answers}


def measured(**parts: Mapping[str, Any]) -> Attempt:
    return attempt(MEASURED, [0.7, 0.7], measured=parts)


def call(value: float, even: float, constant: float, **more: Any) -> dict[str, Any]:
    told = {
        "function": "cross_entropy",
        "reduction": "mean",
        "value": value,
        "even": even,
        "constant": constant,
    }
    return {"calls": [told | {"floor": 0.0} | more]}


FALLING = noisy(decay(STEPS, 0.7, 0.05), 0.03)
FLAT = noisy(np.full(STEPS, 0.69), 0.03)


def test_items_name_findings_that_are_there() -> None:
    known = {unit.id for unit in detectors()}
    assert {name for item in items() for name in item.findings} <= known


def test_every_item_has_a_page_and_answers_without_any_arm() -> None:
    assert len(items()) >= 20
    for item, answer in check(Flight({}), 0.0).answers:
        assert len(item.page) > 80, item.id
        assert answer.status == "unknown", item.id
        assert answer.text, item.id


@pytest.mark.parametrize(
    ("told", "status"),
    [
        (call(0.70, 0.693, 0.66), "pass"),
        (call(0.66, 0.693, 0.3), "pass"),
        (call(2.4, 0.693, 0.66), "fail"),
        (call(0.1, 0.693, 0.66), "unknown"),
        (call(1.9, 1.0, 0.9, function="mse_loss"), "pass"),
        (call(40.0, 1.0, 0.9, function="mse_loss"), "fail"),
        ({"why": "none of torch's loss functions was called"}, "unknown"),
        ({"calls": [{"function": "ctc_loss", "value": 3.0, "why": "not known"}]}, "unknown"),
    ],
)
def test_loss_at_chance(told: dict[str, Any], status: str) -> None:
    assert answers(measured(start=told))["loss_at_chance"].status == status


def test_one_batch_that_is_learned_passes() -> None:
    assert answers(attempt(ONE_BATCH, decay(STEPS, 0.7, 0.001)))["one_batch"].status == "pass"


def test_one_batch_passes_at_its_floor() -> None:
    loss = decay(STEPS, 0.7, 0.31)
    assert answers(attempt(ONE_BATCH, loss))["one_batch"].status == "unknown"
    told = measured(start=call(0.7, 0.693, 0.66, floor=0.3))
    assert answers(attempt(ONE_BATCH, loss), told)["one_batch"].status == "pass"


@pytest.mark.parametrize(
    ("loss", "status"),
    [
        (noisy(np.full(STEPS, 0.69), 0.001), "fail"),
        (np.linspace(0.7, 3.0, STEPS), "fail"),
        ([0.7] * 40 + [float("nan")] * 60, "fail"),
        (np.linspace(0.7, 0.5, STEPS), "unknown"),
        (decay(STEPS, 0.7, 0.3), "unknown"),
        (np.full(20, 0.69), "unknown"),
    ],
    ids=["stuck", "rises", "breaks", "still falling", "stops halfway", "too short"],
)
def test_one_batch_that_is_not(loss: Any, status: str) -> None:
    assert answers(attempt(ONE_BATCH, loss))["one_batch"].status == status


def test_several_optimizers_are_not_judged_by_one_loss() -> None:
    two = [{"class": "Adam"}, {"class": "Adam"}]
    assert answers(attempt(ONE_BATCH, FLAT, optimizers=two))["one_batch"].status == "unknown"


@pytest.mark.parametrize(("id", "arm"), [("inputs_matter", NO_INPUTS), ("labels_matter", OTHER_LABELS)])
def test_what_is_taken_away(id: str, arm: str) -> None:
    untouched = attempt(UNTOUCHED, FALLING)
    assert answers(untouched, attempt(arm, FLAT))[id].status == "pass"
    # Both at rest at the same level, for ten epochs.
    at_rest = attempt(UNTOUCHED, noisy(np.full(STEPS, 0.69), 0.03, seed=1))
    assert answers(at_rest, attempt(arm, FLAT))[id].status == "fail"
    # The same within less than two epochs.
    long = attempt(UNTOUCHED, at_rest.case.run.series["loss"].values, loaders=[LOADER | {"batches": 200}])  # type: ignore[union-attr]
    assert answers(long, attempt(arm, FLAT))[id].status == "unknown"
    # Both still on their way down.
    down = np.linspace(2.0, 1.0, STEPS)
    both = attempt(UNTOUCHED, noisy(down, 0.03)), attempt(arm, noisy(down, 0.03, seed=1))
    assert answers(*both)[id].status == "unknown"
    refused = Attempt(arm, None, "stopped", refused="no loss function of torch was given targets")
    assert answers(untouched, refused)[id].text == "no loss function of torch was given targets"


def test_an_input_that_never_reaches_the_loss() -> None:
    same = attempt(UNTOUCHED, FALLING), attempt(NO_INPUTS, FALLING)
    told = answers(*same, measured(inputs={"change": 0.0}))["inputs_matter"]
    assert told.status == "fail"
    assert answers(*same, measured(inputs={"change": 0.8}))["inputs_matter"].status == "unknown"
    assert "exactly the same" in told.text


def test_determinism() -> None:
    def status(other: Any) -> str:
        return answers(attempt(UNTOUCHED, FALLING), attempt(AGAIN, other))["deterministic"].status

    assert status(FALLING) == "pass"
    assert status(FALLING * (1 + 1e-7)) == "pass"
    assert status(noisy(decay(STEPS, 0.7, 0.05), 0.03, seed=5)) == "fail"
    grows = FALLING * (1 + 1e-9 * np.exp(np.arange(STEPS) / 15))
    assert status(grows) == "pass"


@pytest.mark.parametrize(
    ("told", "status"),
    [
        ({"leak_eval": 0.0, "leak_train": 0.0, "batch": 16, "certain": True}, "pass"),
        ({"leak_eval": 0.0, "leak_train": 0.4, "batch": 16, "certain": True, "batch_norm": 2}, "pass"),
        ({"leak_eval": 0.4, "leak_train": 0.4, "batch": 16, "certain": True}, "fail"),
        ({"leak_eval": 0.4, "leak_train": 0.4, "batch": 16, "certain": False}, "unknown"),
        ({"why": "the batch holds one sample"}, "unknown"),
    ],
)
def test_items_independent(told: dict[str, Any], status: str) -> None:
    assert answers(measured(items=told))["items_independent"].status == status


def test_memory_tells_the_largest_batch() -> None:
    told = {
        "free": 8e9,
        "total": 16e9,
        "device": "cuda",
        "batch": 32,
        "kept": 64e6,
        "half": 16,
        "kept_half": 32e6,
    }
    answer = answers(measured(memory=told))["memory"]
    assert answer.status == "pass"
    assert answer.numbers["bytes_per_sample"] == 2e6
    assert answer.numbers["largest_batch"] == 32 + int(0.8 * 8e9 / 4e6)
    assert answers(measured(memory=told | {"free": 1e8}))["memory"].status == "fail"


def test_a_single_step_tells_nothing_of_training() -> None:
    assert answers(attempt(UNTOUCHED, [0.7]))["loss_stays_finite"].status == "unknown"
