"""Differences of two sets of results, against scipy and against coverage by simulation."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from traindx.evidence import stats as signal
from traindx.evidence.stats.differences import permutation_test, sign_flip_test
from traindx.evidence.stats.student import f_tail


@pytest.mark.parametrize("freedom", [1, 2, 3, 4.5, 10, 37.2, 1e6])
@pytest.mark.parametrize("t", [0.0, 0.1, 1.0, 2.5, 12.0, 400.0])
def test_t_is_scipys(t: float, freedom: float) -> None:
    assert signal.t_two_sided(t, freedom) == pytest.approx(2 * scipy.stats.t.sf(t, freedom), rel=1e-8)


@pytest.mark.parametrize("freedom", [1, 2, 3.3, 8, 40, 1e6])
def test_reach_is_scipys(freedom: float) -> None:
    for confidence in (0.5, 0.8, 0.95, 0.99):
        assert signal.t_reach(confidence, freedom) == pytest.approx(
            scipy.stats.t.ppf(0.5 + confidence / 2, freedom), rel=1e-6
        )


def test_paired_and_unpaired_intervals_are_scipys() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(1.0, 0.5, 7), rng.normal(0.4, 0.2, 7)
    told = signal.paired(a, b)
    low, high = scipy.stats.ttest_rel(a, b).confidence_interval()
    assert (told.low, told.high) == pytest.approx((low, high))
    apart = signal.unpaired(a, b[:4])
    low, high = scipy.stats.ttest_ind(a, b[:4], equal_var=False).confidence_interval()
    assert (apart.low, apart.high) == pytest.approx((low, high))
    assert apart.estimate == pytest.approx(a.mean() - b[:4].mean())


def test_exact_tests_are_scipys() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.normal(0.8, 1, 6), rng.normal(0, 1, 5)

    def apart(x: np.ndarray, y: np.ndarray, axis: int = -1) -> np.ndarray:
        return np.mean(x, axis=axis) - np.mean(y, axis=axis)

    exact = scipy.stats.permutation_test((a, b), apart, n_resamples=np.inf).pvalue
    assert permutation_test(a, b) == pytest.approx(exact, abs=0.02)
    changes = a[:5] - b
    flips = scipy.stats.permutation_test((changes,), np.mean, permutation_type="samples", n_resamples=np.inf)
    assert sign_flip_test(changes) == pytest.approx(flips.pvalue, abs=1e-9)
    assert signal.sign_test([1, 1, 1, 1, 1, -1, 0]) == pytest.approx(scipy.stats.binomtest(1, 6).pvalue)


def test_five_pairs_all_better_are_one_in_sixteen() -> None:
    told = signal.paired([1, 2, 3, 4, 5], [0.5, 1.4, 2.6, 3.3, 4.7])
    assert told.p == pytest.approx(2 / 32)
    assert told.sign_p == pytest.approx(2 / 32)


def test_drawn_arrangements_come_close_to_the_counted() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.normal(0.3, 1, 40), rng.normal(0, 1, 40)
    assert permutation_test(a, b) == pytest.approx(scipy.stats.ttest_ind(a, b).pvalue, abs=0.03)


def test_too_few_values_tell_nothing() -> None:
    assert not signal.paired([1.0], [0.0]).sure
    assert signal.unpaired([1.0], [0.0]).p == 1.0
    assert not signal.within((1.0, np.inf), (0.0, 0.1)).sure
    assert signal.within((1.0, 0.1), (0.0, 0.1)).sure


def test_intervals_hold_what_they_promise() -> None:
    rng = np.random.default_rng(4)
    held = 0
    for _ in range(400):
        told = signal.unpaired(rng.normal(1, 1, 4).tolist(), rng.normal(0, 2, 6).tolist())
        held += told.low <= 1 <= told.high
    assert 0.92 <= held / 400 <= 0.99


@pytest.mark.parametrize("f", [0.1, 1.0, 3.0, 30.0])
def test_f_is_scipys(f: float) -> None:
    for between, within in ((1, 5), (3, 40), (7, 900)):
        assert f_tail(f, between, within) == pytest.approx(scipy.stats.f.sf(f, between, within), rel=1e-8)
