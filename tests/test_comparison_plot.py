"""`training_comparison.png`: which curves are drawn beside each other, and how repeats become a band."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from traindx.core.nouns import Run
from traindx.report.charts import SHARE
from traindx.report.comparison_plot import write_comparison_plot
from traindx.report.side_by_side import SideBySide, band
from traindx.testing.sketch import noisy, power, run


def training(level: float, seed: int, **more: np.ndarray) -> Run:
    return run({"loss": noisy(power(200, 3.0, level), 0.05, seed=seed), **more}, settings={"seed": seed})


def test_repeats_become_a_band_of_their_range() -> None:
    runs = [run({"loss": np.full(50, level)}) for level in (1.0, 2.0, 4.0)]
    lines = SideBySide({"a": runs}).lines("loss")["a"]
    told = band(lines)
    assert told is not None
    assert told.low is not None
    assert told.high is not None
    assert (told.low[0], told.y[0], told.high[0]) == pytest.approx((1.0, 2.0, 4.0))


def test_panels_are_what_the_runs_logged() -> None:
    accuracy, rate = np.linspace(0, 1, 200), np.full(200, 0.1)
    many = {"val/loss": accuracy + 1, "val/accuracy": accuracy, "lr": rate, "grad_norm": rate + 1}
    told = [panel.title for panel in SideBySide({"a": [training(0.1, 1, **many)]}).panels()]
    assert told == ["loss, validation dashed", "validation accuracy", "learning rate", "gradient norm"]
    few = SideBySide({"a": [training(0.1, 1)], "b": [training(0.2, 2, **{"val/loss": accuracy})]}).panels()
    assert [panel.title for panel in few] == ["training loss", "validation loss"]


def test_runs_counted_differently_share_an_axis() -> None:
    one = training(0.1, 1)
    other = replace(
        one, axis="epoch", series={name: replace(s, axis="epoch") for name, s in one.series.items()}
    )
    beside = SideBySide({"a": [one], "b": [other]})
    assert beside.axis == SHARE
    assert beside.lines("loss")["a"][0].x[-1] == pytest.approx(1.0)


@pytest.mark.parametrize("groups", [1, 2, 20])
def test_it_is_drawn(groups: int, tmp_path: Path) -> None:
    made = {f"g{n} $x_1$ \x1b[31m": [training(0.1 * n, n), training(0.1 * n, n + 50)] for n in range(groups)}
    write_comparison_plot(made, tmp_path / "one.png")
    assert (tmp_path / "one.png").read_bytes()[:4] == b"\x89PNG"


def test_nothing_but_nan_is_drawn_all_the_same(tmp_path: Path) -> None:
    write_comparison_plot({"a": [run({"loss": np.full(9, np.nan)})], "b": []}, tmp_path / "one.png")
    assert (tmp_path / "one.png").stat().st_size > 1000
