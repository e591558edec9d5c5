"""Hundreds of series of layers are told in a few lines."""

from __future__ import annotations

import time

import numpy as np
import pytest

from traindx.core.nouns import Reading, Run, Series
from traindx.report.families import families
from traindx.report.layout import Screen
from traindx.report.plots import _panels
from traindx.report.runs import render


def curve(name: str, values: list[float], steps: list[float] | None = None) -> Series:
    return Series(name, np.array(steps or range(1, len(values) + 1), dtype=float), np.array(values), name)


def run_of(*series: Series) -> Run:
    return Run("r", "r", ("recording",), "step", {one.name: one for one in series})


def test_layers_become_their_median() -> None:
    rows = np.random.default_rng(0).normal(size=(5, 9))
    rows[1, 3] = np.nan
    members = [curve(f"grad_norm/l{n}", row.tolist()) for n, row in enumerate(rows)]
    first, folded = families([curve("loss", [2.0, 1.0]), *members])
    assert first.curve.name == "loss"
    assert folded.curve.name == "grad_norm/*"
    assert folded.members == tuple(members)
    slow = [float(np.median([v for v in column if np.isfinite(v)])) for column in rows.T]
    np.testing.assert_allclose(folded.curve.values, slow)


def test_layers_at_different_steps_are_told_by_the_longest() -> None:
    (folded,) = families([curve("grad_norm/a", [1.0, 2.0]), curve("grad_norm/b", [3.0], [7.0])])
    assert folded.curve.values.tolist() == [1.0, 2.0]
    assert folded.curve.derived == "the longest of 2"


def test_a_step_at_which_all_are_nan() -> None:
    (folded,) = families([curve(f"update_ratio/{n}", [1.0, float("nan")]) for n in range(3)])
    np.testing.assert_array_equal(folded.curve.values, [1.0, float("nan")])


@pytest.mark.parametrize(
    ("names", "kinds"),
    [
        (["loss/rank1", "loss/rank2"], ["loss/rank*"]),
        (
            ["grad_norm/a/rank1", "grad_norm/b/rank2", "grad_norm/a", "grad_norm/b"],
            ["grad_norm/*/rank*", "grad_norm/*"],
        ),
        (["step_s/rank1", "step_s/rank2", "step_s"], ["step_s/rank*", "step_s"]),
        ([f"lr/group{n}" for n in range(4)], ["lr/*"]),
        (["lr/group1", "lr/group2"], ["lr/group1", "lr/group2"]),
        ([f"loss/term{n}" for n in range(9)], [f"loss/term{n}" for n in range(9)]),
        ([f"val/loss/t{n}" for n in range(9)], [f"val/loss/t{n}" for n in range(9)]),
        (
            ["input/mean", "input/std", "input/max", "input/min"],
            ["input/mean", "input/std", "input/max", "input/min"],
        ),
        (
            ["printed/loss", "printed/lr", "printed/a", "printed/b"],
            ["printed/loss", "printed/lr", "printed/a", "printed/b"],
        ),
    ],
)
def test_only_kin_is_folded(names: list[str], kinds: list[str]) -> None:
    found = families([curve(name, [1.0, 2.0]) for name in names])
    assert [family.curve.name for family in found] == kinds
    assert sum(len(family.members) for family in found) == len(names)


def deep() -> Run:
    """A hundred layers with nine statistics each."""
    rng = np.random.default_rng(0)
    statistics = [f"activation_{n}" for n in ("mean", "std", "zero_share", "dead_share", "saturated_share")]
    statistics += ["grad_norm", "grad_zero_share", "weight_norm", "update_ratio"]
    plain = [
        curve(name, rng.lognormal(size=500).tolist()) for name in ("loss", "val/loss", "step_s", "rss_bytes")
    ]
    layers = [
        curve(f"{statistic}/layer{n}.conv", rng.lognormal(size=500).tolist())
        for statistic in statistics
        for n in range(100)
    ]
    layers[5].values[7] = np.nan
    return run_of(*plain, *layers)


def test_inspect_folds_a_deep_model() -> None:
    run = deep()
    began = time.process_time()
    lines = list(render(Reading((run,), ()), everything=False, screen=Screen(width=100)))
    assert time.process_time() - began < 3.0
    table = [line for line in lines if line.startswith("  ") and "→" in line]
    assert len(table) == 1 + 4 + 9
    assert [line.split()[0] for line in table[1:5]] == ["loss", "val/loss", "step_s", "rss_bytes"]
    assert all(len(line) <= 100 for line in lines)
    assert "1 NaN" in next(line for line in table if line.split()[0] == "activation_mean/*")
    assert any("--all shows all 904" in line for line in lines)


def test_inspect_all_shows_every_layer() -> None:
    lines = list(render(Reading((deep(),), ()), everything=True, screen=Screen(width=100)))
    assert sum("layer7.conv" in line for line in lines) == 9
    assert not any("/*" in line for line in lines)


def test_few_series_are_not_folded() -> None:
    run = run_of(curve("loss", [2.0, 1.0]), *(curve(f"grad_norm/{n}", [1.0, 2.0]) for n in range(10)))
    lines = list(render(Reading((run,), ()), everything=False, screen=Screen(width=100)))
    assert sum("grad_norm/" in line for line in lines) == 10


def test_plots_show_more_than_one_layer() -> None:
    titles = [panel.metric for panel in _panels(deep())]
    assert titles[:3] == ["loss", "step_s", "rss_bytes"]
    assert "grad_norm/*" in titles
    assert len(titles) == 3 + 9
