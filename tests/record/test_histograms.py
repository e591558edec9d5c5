"""Histograms of activations, against numpy's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from traindx.observe.torch.activation_probe import ActivationProbe
from traindx.observe.torch.histograms import Histograms, spreads
from traindx.observe.torch.naming import Names


@given(st.lists(st.lists(st.floats(width=32), min_size=1, max_size=40), max_size=5))
def test_every_value_is_counted_once(lists: list[list[float]]) -> None:
    samples = [np.array(values, dtype=np.float32) for values in lists]
    for values, told in zip(samples, spreads(samples), strict=True):
        counts: Any = told["counts"]
        assert told["nonfinite"] == int((~np.isfinite(values)).sum())
        assert sum(counts) + int(str(told["nonfinite"])) == values.size
        assert len(counts) == 16
        assert min(counts) >= 0


def test_counts_are_those_of_numpy() -> None:
    values = np.random.default_rng(0).uniform(-1, 3, 500)
    (told,) = spreads([values])
    low, high = float(values.min()), float(values.max())
    assert told["counts"] == np.histogram(values, 16, (low, high))[0].tolist()
    assert (told["low"], told["high"]) == (pytest.approx(low, rel=1e-4), pytest.approx(high, rel=1e-4))


def test_a_far_value_does_not_hide_the_others() -> None:
    values = np.append(np.random.default_rng(0).normal(size=500), 1e6)
    (told,) = spreads([values])
    assert float(str(told["high"])) < 2e5


def look(probe: ActivationProbe, model: nn.Module) -> None:
    probe.arm()
    model(torch.randn(16, 8))
    probe.disarm()
    probe.collect()


def test_the_first_and_the_latest_look_are_told() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
    probe = ActivationProbe(Names())
    histograms = Histograms(probe)
    assert histograms.end() is None
    counted = []
    for step in range(1, 8):
        look(probe, model)
        if histograms.sampled(step) is not None:
            counted.append(step)
    assert counted == [1, 2, 4]
    last = histograms.end()
    assert last is not None
    assert [(one["name"], one["step"]) for one in last] == [("1", 1), ("1", 7), ("3", 1), ("3", 7)]
    assert histograms.end() is None
    again = histograms.sampled(1)  # another training
    assert again is not None
    assert {one["step"] for one in again} == {1}


def test_many_activations_are_some() -> None:
    model = nn.Sequential(*(part for _ in range(100) for part in (nn.Linear(8, 8), nn.ReLU())))
    probe = ActivationProbe(Names())
    look(probe, model)
    samples = probe.samples(40, 64)
    assert 25 <= len(samples) <= 40
    assert all(0 < values.size <= 64 for _, values in samples)
    assert samples[0][0] == "1"
