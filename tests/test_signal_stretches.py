"""Bins, thinning and alignment against slow obvious versions of themselves."""

from __future__ import annotations

import numpy as np
import pytest

from tests.noises import Array, draw, ramp
from traindx.evidence import stats
from traindx.evidence.stats import stretches


@pytest.mark.parametrize(("size", "count"), [(1, 3), (7, 3), (10, 10), (100, 7), (1001, 160)])
def test_bins_are_array_split(size: int, count: int) -> None:
    steps, values = np.sort(draw(8, size)), draw(9, size)
    found = stats.bins(steps, values, count)
    parts = np.array_split(values, min(count, size))
    np.testing.assert_allclose(found.median, [np.median(p) for p in parts])
    np.testing.assert_allclose(found.step, [np.median(p) for p in np.array_split(steps, min(count, size))])
    np.testing.assert_array_equal(found.low, [p.min() for p in parts])
    np.testing.assert_array_equal(found.high, [p.max() for p in parts])
    assert found.n.tolist() == [p.size for p in parts]


def test_bins_of_nothing() -> None:
    found = stats.bins(np.empty(0), np.empty(0), 5)
    assert found.median.size == found.n.size == 0


@pytest.mark.parametrize("limit", [6, 10, 50, 200])
@pytest.mark.parametrize("broken", [0, 5, 400])
def test_thin_keeps_ends_extremes_and_broken_values(limit: int, broken: int) -> None:
    values = np.cumsum(draw(10, 1000))
    odd = np.random.default_rng(1).choice(1000, broken, replace=False)
    values[odd] = np.random.default_rng(2).choice([np.nan, np.inf, -np.inf], broken)
    steps = np.sort(np.random.default_rng(3).uniform(0, 1e6, 1000))
    kept = stats.thin(steps, values, limit)
    assert kept.size <= limit
    assert (np.diff(kept) > 0).all()
    assert kept[0] == 0
    assert kept[-1] == 999
    finite = np.isfinite(values)
    assert np.nanmax(values[finite]) == np.max(values[kept][np.isfinite(values[kept])])
    assert np.nanmin(values[finite]) == np.min(values[kept][np.isfinite(values[kept])])
    if broken:
        places = np.flatnonzero(~finite)
        assert {int(places[0]), int(places[-1])} <= set(kept.tolist())


def test_thin_keeps_the_extremes_of_every_stretch() -> None:
    values = draw(11, 500)
    kept = set(stats.thin(ramp(500), values, 42).tolist())
    place = np.clip((ramp(500) * (20 / 499)).astype(int), 0, 19)
    for stretch in range(20):
        inside = np.flatnonzero(place == stretch)
        assert {int(inside[values[inside].argmin()]), int(inside[values[inside].argmax()])} <= kept


def test_thin_leaves_short_curves_alone() -> None:
    assert stats.thin(ramp(5), ramp(5), 3).tolist() == [0, 1, 2, 3, 4]
    assert stats.thin(np.empty(0), np.empty(0), 3).size == 0
    assert stats.thin(np.zeros(100), ramp(100), 10).size <= 10


def slow_align(a_steps: Array, a: Array, b_steps: Array, b: Array) -> list[tuple[float, float, float]]:
    """For each step of a (the sparser): b averaged half-way to both sides."""
    found = []
    for i, step in enumerate(a_steps):
        back = (step - a_steps[i - 1]) / 2 if i else (a_steps[1] - step) / 2
        ahead = (a_steps[i + 1] - step) / 2 if i + 1 < a_steps.size else (step - a_steps[i - 1]) / 2
        last = i + 1 == a_steps.size
        near = [
            v
            for s, v in zip(b_steps, b, strict=True)
            if step - back <= s and (s < step + ahead or (last and s == step + ahead))
        ]
        found.append((float(step), float(a[i]), float(np.mean(near))))
    return found


def test_align_averages_the_denser_curve() -> None:
    dense_steps, dense = ramp(500), draw(12, 500)
    sparse_steps, sparse = np.array([10.0, 50.0, 100.0, 300.0, 480.0]), draw(13, 5)
    slow = slow_align(sparse_steps, sparse, dense_steps, dense)
    steps, a, b = stats.align(sparse_steps, sparse, dense_steps, dense)
    np.testing.assert_allclose(np.column_stack([steps, a, b]), slow)
    steps, a, b = stats.align(dense_steps, dense, sparse_steps, sparse)
    np.testing.assert_allclose(np.column_stack([steps, b, a]), slow)


def test_align_leaves_out_what_the_other_does_not_cover() -> None:
    steps, a, b = stats.align(np.array([0.0, 10.0, 20.0, 1000.0]), np.ones(4), ramp(30), ramp(30))
    assert steps.tolist() == [0.0, 10.0, 20.0]
    assert a.tolist() == [1.0, 1.0, 1.0]
    assert abs(b[1] - 10) < 1
    assert stats.align(ramp(3), ramp(3), ramp(3) + 100, ramp(3))[0].size == 0
    assert stats.align(np.empty(0), np.empty(0), ramp(3), ramp(3))[0].size == 0


def test_align_of_equal_axes_changes_nothing() -> None:
    first, second = draw(14, 30), draw(15, 30)
    steps, a, b = stats.align(ramp(30), first, ramp(30), second)
    np.testing.assert_array_equal(steps, ramp(30))
    np.testing.assert_allclose(a, first)
    np.testing.assert_allclose(b, second)


def test_align_averages_repeated_steps() -> None:
    steps, a, b = stats.align(np.array([1.0, 1.0, 2.0]), np.array([0.0, 2.0, 5.0]), ramp(4), ramp(4))
    assert steps.tolist() == [1.0, 2.0]
    assert a.tolist() == [1.0, 5.0]
    assert b.tolist() == [1.0, 2.0]


def test_course_follows_a_curve_and_ignores_one_odd_stretch() -> None:
    clean = np.exp(-2 * ramp(120) / 120)
    odd = clean.copy()
    odd[50:58] += 10
    assert np.abs(stretches.course(clean, 12) - clean).max() < 0.02
    assert np.abs(stretches.course(odd, 12) - clean).max() < 0.15
