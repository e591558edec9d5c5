"""Numbers for people: whatever a detector, a plugin or a log brings, no number is long."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from traindx.core.number_text import percent, place, probability, readable, short, times

WILD = st.floats(allow_nan=True, allow_infinity=True)
POSITIVE = st.floats(min_value=0.0, allow_nan=False, allow_infinity=True)
LONGEST = len("999,999,999")
NUMBER = re.compile(r"\d[\d,.]*(?:e[+-]?\d+)?")


def longest(text: str) -> int:
    return max((len(found.rstrip(".,")) for found in NUMBER.findall(text)), default=0)


@given(WILD)
def test_no_number_is_long(value: float) -> None:
    shape = f"{value:.17g} of {value!r}, {value} % more, {value:.3g}% less, {value:.0f} times, {value:.3e}"
    for text in (short(value), readable(shape)):
        assert longest(text) <= LONGEST, text


@given(POSITIVE)
def test_factors_and_shares_are_short(value: float) -> None:
    for text in (times(value), percent(value), probability(value)):
        assert longest(text) <= len("100,000"), text
        assert "e+" not in text


@given(st.floats(min_value=1e-3, max_value=1e9))
def test_the_value_survives(value: float) -> None:
    (shown,) = NUMBER.findall(readable(f"it is {value:.10g} now"))
    assert math.isclose(float(shown.replace(",", "")), value, rel_tol=6e-3, abs_tol=1e-12)


@given(st.text())
def test_any_text_is_taken(text: str) -> None:
    once = readable(text)
    assert readable(once) == once


@pytest.mark.parametrize(
    ("wild", "plain"),
    [
        ("rose by 1984000000000000 % in all", "rose by over 100,000 % in all"),
        ("gets 4116704 times less gradient", "gets 4.1 million times less gradient"),
        ("6.99e+11 times the usual", "700 billion times the usual"),
        ("8.97e+03 steps", "8,970 steps"),
        ("(-0.0%; its noise is about 0.0%)", "(0 %; its noise is about 0 %)"),
        ("its median is 28728.", "its median is 28,728."),
        ("1.8e-06 % of their size (+0.8%)", "under 0.001 % of their size (+0.8 %)"),
        ("loss 0.6931471805599 at step 12500", "loss 0.69315 at step 12,500"),
        ("1,250 of 65,536, 30 times", "1,250 of 65,536, 30 times"),
        (
            "see train.py:12345 and `x = 6.99e+11` of run-20241105",
            "see train.py:12345 and `x = 6.99e+11` of run-20241105",
        ),
        ("torch 2.10.12345, seed=123456, 10.0.0.1", "torch 2.10.12345, seed=123456, 10.0.0.1"),
    ],
)
def test_sentences(wild: str, plain: str) -> None:
    assert readable(wild) == plain


def test_an_epoch_is_whole_where_the_log_counts_whole_epochs() -> None:
    assert place("epoch", 12.5) == "epoch 13"
    assert place("epoch", 12.53, whole=False) == "epoch 12.53"
    assert place("step", 12500.0) == "step 12,500"
