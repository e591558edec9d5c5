"""What ramps of known shape support: a range, or an honest none."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from traindx.experiment.lr_find.answer import RangeAnswer, answer
from traindx.experiment.lr_find.ramps import Ramps
from traindx.experiment.lr_find.search import RangeRequest, around, search

EDGE = 0.1


def losses(rates: np.ndarray, seed: int, noise: float = 0.1, *, edge: float = EDGE) -> np.ndarray:
    """A loss of 2 that begins to fall a hundredth of the edge below it, and explodes beyond it."""
    rng = np.random.default_rng(seed)
    fall = 1.5 / (1.0 + (edge / 12.0 / rates) ** 2)
    rise = np.exp(np.clip(3.0 * np.log(rates / edge), -50.0, 50.0))
    return (2.0 - fall + rise) * np.exp(noise * rng.normal(size=rates.size))


def made(first: float = 1e-4, last: float = 1.0, steps: int = 150, seeds: int = 3, **how: Any) -> Ramps:
    rates = np.geomspace(first, last, steps)
    return Ramps.of(rates, [losses(rates, seed, **how) for seed in range(seeds)])


def test_a_range_with_its_interval_and_the_place_of_the_current_rate() -> None:
    found = answer(made(), current=0.003)
    assert found.found
    assert found.low
    assert found.high
    assert found.edge
    assert EDGE / 2 < found.edge.value < EDGE * 2
    assert found.edge.low <= found.edge.value <= found.edge.high < 3 * found.edge.low
    assert found.low.value < found.high.value < found.edge.value / 2
    assert found.drop == pytest.approx(0.73, abs=0.1)
    assert found.standing == "too_low"
    for current, standing in ((0.02, "inside"), (found.high.value * 1.5, "too_high"), (1.0, "unstable")):
        assert replace(found, current=current).standing == standing


def test_repeats_agree_within_a_factor_of_two() -> None:
    rates = np.geomspace(1e-4, 1.0, 150)
    ends = []
    for repeat in range(5):
        rows = [losses(rates, 10 * repeat + seed, 0.4) for seed in range(3)]
        found = answer(Ramps.of(rates, rows))
        assert found.high
        assert found.edge
        ends.append((found.high.value, found.edge.value))
    assert (np.max(ends, axis=0) < 2 * np.min(ends, axis=0)).all()


def test_a_ramp_that_breaks_is_unstable_from_there_on() -> None:
    rates = np.geomspace(1e-4, 1.0, 150)
    rows = [losses(rates, seed, 0.05)[:112] for seed in range(3)]  # ends at 0.096
    found = answer(Ramps.of(rates, rows))
    assert found.edge
    assert 0.05 < found.edge.value < 0.12


def test_paired_controls_take_the_noise_of_batches_away() -> None:
    rates = np.geomspace(1e-4, 1.0, 150)
    rng = np.random.default_rng(5)
    batches = [np.exp(rng.normal(0.0, 1.0, rates.size)) for _ in range(3)]
    rows = [losses(rates, seed, 0.02) * hard for seed, hard in enumerate(batches)]
    with_controls = answer(Ramps.of(rates, rows, [2.0 * hard for hard in batches]))
    without = answer(Ramps.of(rates, rows))
    assert with_controls.blur < 0.3 * without.blur
    assert with_controls.edge
    assert EDGE / 2 < with_controls.edge.value < EDGE * 2
    assert with_controls.noise == pytest.approx(without.noise)


def noise_only(scale: float, level: float = 2.0) -> Ramps:
    rates = np.geomspace(1e-4, 1.0, 150)
    rng = np.random.default_rng(3)
    return Ramps.of(rates, [level * np.exp(scale * rng.normal(size=150)) for _ in range(3)])


@pytest.mark.parametrize(
    ("ramps", "verdict"),
    [
        (noise_only(1e-4), "flat"),
        (noise_only(0.5), "noisy"),
        (made(1e-6, 0.02), "no_edge"),
        (made(0.15, 1e3, edge=0.02), "diverges_at_once"),
        (made(steps=30), "too_few_steps"),
        (Ramps.of(np.geomspace(1e-4, 1.0, 150), [[math.nan] * 150] * 3), "not_finite"),
        (Ramps.of(np.geomspace(1e-4, 1.0, 150), [[]] * 2), "not_finite"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_no_answer_is_told_as_such(ramps: Ramps, verdict: str) -> None:
    found = answer(ramps, current=0.01)
    assert found.verdict == verdict
    assert found.reason
    assert not found.found
    assert found.low is None
    assert found.high is None
    assert found.standing is None


@pytest.mark.parametrize("seed", range(8))
def test_noise_alone_is_never_a_range(seed: int) -> None:
    rates = np.geomspace(1e-4, 1.0, 150)
    rng = np.random.default_rng(100 + seed)
    heavy = [2.0 * np.exp(0.3 * rng.standard_t(3, size=150)) for _ in range(3)]
    assert not answer(Ramps.of(rates, heavy)).found


def test_seeds_that_disagree_are_told() -> None:
    rates = np.geomspace(1e-5, 10.0, 200)
    rows = [losses(rates, seed, 0.05, edge=edge) for seed, edge in enumerate((0.003, 0.05, 2.0))]
    assert answer(Ramps.of(rates, rows)).verdict == "seeds_disagree"


def test_losses_below_zero_are_judged_in_their_own_units() -> None:
    ramps = made()
    shifted = answer(Ramps.of(ramps.rates, ramps.losses - 1.8))
    assert not shifted.relative
    assert shifted.edge
    assert EDGE / 2 < shifted.edge.value < EDGE * 2


class Walked:
    """A training of known edge, and where it was looked at."""

    def __init__(self, edge: float) -> None:
        self.edge, self.spans = edge, list[tuple[float, float, int]]()

    def __call__(self, first: float, last: float, steps: int, seeds: Any, *, controls: bool) -> Ramps:
        del controls
        self.spans.append((first, last, len(seeds)))
        rates = np.geomspace(first, last, steps)
        return Ramps.of(rates, [losses(rates, seed, edge=self.edge) for seed in seeds])


@pytest.mark.parametrize("edge", [1e-8, 1e-5, 1e-2, 1.0, 300.0])
def test_the_scout_finds_the_edge_wherever_it_is(edge: float) -> None:
    walked = Walked(edge)
    found: RangeAnswer = search(walked, around("SGD", 0.01), RangeRequest())
    assert found.edge
    assert edge / 2 < found.edge.value < edge * 2
    first, last, seeds = walked.spans[-1]
    assert seeds == 3
    assert last < 1e4 * first


def test_a_span_that_was_asked_for_is_walked_as_it_is() -> None:
    walked = Walked(0.1)
    search(walked, around("Adam", 1e-3), RangeRequest(span=(1e-3, 2.0), seeds=2))
    assert set(walked.spans) == {(1e-3, 2.0, 2)}


def test_where_to_look_depends_on_optimizer_and_current_rate() -> None:
    assert around("AdamW", 1e-3) == (1e-6, 1.0)
    assert around("SGD", None) == (1e-5, 30.0)
    assert around("Adam", 100.0) == (1e-6, 1000.0)
