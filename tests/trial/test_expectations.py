"""What a remedy's page expects is measured, and said with its numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from traindx.core.nouns import Run, Series
from traindx.experiment.treat.expectations import expectations, known_terms
from traindx.knowledge.catalogue import remedies


def run(**columns: Sequence[float]) -> Run:
    names = {"val": "val/loss"}
    series = {}
    for key, values in columns.items():
        name = names.get(key, key)
        steps = np.arange(1.0, len(values) + 1)
        series[name] = Series(name, steps, np.asarray(values, dtype=float), "made", "lower")
    return Run("train", "train.py", ("made",), "step", series)


FALLING = [2.0 * 0.97**i for i in range(100)]
FLAT = [2.0 + 0.01 * (-1) ** i for i in range(100)]
BROKEN = [*FLAT[:50], *[float("nan")] * 50]


def met(remedy: str, before: Run, after: Run, upto: float | None = None) -> dict[str, bool | None]:
    return {one.text: one.met for one in expectations(remedy, before, after, upto)}


def test_every_remedy_that_can_be_tried_says_what_to_measure() -> None:
    for remedy in remedies().values():
        assert set(remedy.then) <= known_terms(), remedy.id
        assert remedy.then or not remedy.trials, remedy.id


def test_a_lower_rate_keeps_its_promise() -> None:
    wild = run(loss=BROKEN, grad_norm=[1.0] * 90 + [1e6] * 10)
    calm = run(loss=FALLING, grad_norm=[1.0] * 100)
    assert set(met("lower_lr", wild, calm).values()) == {True}
    assert set(met("lower_lr", calm, wild).values()) == {False}


def test_the_numbers_stand_in_the_line() -> None:
    [first, second] = expectations("raise_lr", run(loss=FLAT), run(loss=FALLING))
    assert first.line.startswith("the training loss ends lower: met (2 -> 0.1")
    assert second.line.startswith("the old loss is reached in half of the steps: met (the old run's 2")


def test_both_are_read_at_the_same_step() -> None:
    long, brief = run(loss=FALLING), run(loss=FALLING[:20])
    assert met("weaken_regularisation", long, brief, 20.0) == {"the training loss ends lower": False}
    assert met("weaken_regularisation", brief, long) == {"the training loss ends lower": True}


@pytest.mark.parametrize(
    ("remedy", "before", "after", "good"),
    [
        ("add_regularisation", run(loss=FALLING, val=[2.0] * 100), run(loss=FALLING, val=FALLING), True),
        ("feed_faster", run(step_s=[0.2] * 40), run(step_s=[0.1] * 40), True),
        ("raise_batch", run(loss=FLAT), run(loss=[2.0 + 0.001 * (-1) ** i for i in range(100)]), True),
        (
            "swap_activation",
            run(loss=FLAT, grad_norm=[1e-6] * 40),
            run(loss=FLAT, grad_norm=[1.0] * 40),
            True,
        ),
        ("clip_gradients", run(loss=FLAT), run(loss=BROKEN), False),
        ("free_memory", run(rss_bytes=range(100)), run(rss_bytes=[5] * 100), True),
        ("reinitialise", run(loss=[90.0] * 9 + FLAT), run(loss=FLAT), True),
    ],
)
def test_each_kind(remedy: str, before: Run, after: Run, good: bool) -> None:
    assert good in set(met(remedy, before, after).values())


def test_what_was_not_recorded_cannot_be_told() -> None:
    told = expectations("add_regularisation", run(loss=FLAT), run(loss=FLAT))
    assert {one.met for one in told} == {None}
    assert told[0].line == "the validation loss ends lower: cannot tell (no validation loss in both runs)"
