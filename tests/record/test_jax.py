"""Trainings by JAX, recorded: the same bits as without, traced as often, and what the recording holds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import traindx
from traindx.core.nouns import Run

PROGRAMS = Path(__file__).parent / "jax_programs.py"
NEEDED = ("jax", "flax", "optax", "equinox")
STEPS = 16


def trained(out: Path, *how: str) -> dict[str, Any]:
    """The programs, run in one process."""
    out.mkdir()
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(PROGRAMS), str(out), *how],
        capture_output=True,
        text=True,
        env=os.environ | {"JAX_PLATFORMS": "cpu", "TRAINDX_DEBUG": "1"},
        cwd=out,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Traceback" not in done.stderr, done.stderr[-3000:]
    results: dict[str, Any] = json.loads((out / "results.json").read_text())
    return results


@pytest.mark.skipif(any(find_spec(one) is None for one in NEEDED), reason="JAX and its libraries are needed")
def test_jax(tmp_path: Path) -> None:
    """One test, since each process takes seconds to import and compile."""
    with ThreadPoolExecutor(2) as pool:
        plain = pool.submit(trained, tmp_path / "plain")
        watched = pool.submit(trained, tmp_path / "watched", "watch")
        assert watched.result() == plain.result()
    folder = tmp_path / "watched"
    every_style_is_seen(folder)
    gradients_come_from_the_moments(folder)
    facts_are_those_of_every_framework(folder)
    steps_of_a_loop_are_counted(folder)
    weights_that_never_change_show(folder)
    targets_that_move_with_the_weights_show(folder)


def run(folder: Path, name: str) -> Run:
    return traindx.read(folder / name).runs[0]


def facts(folder: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / name / "run.json").read_text())
    return found


def values(folder: Path, name: str, series: str) -> Any:
    return run(folder, name).series[series].values


def every_style_is_seen(folder: Path) -> None:
    layers = {
        "linen": ("Dense_0", "Dense_1"),
        "graph_nodes": ("first", "last"),
        "equinox": ("layers/0", "layers/1"),
        "by_hand": ("0", "1"),
        "eager_updates": ("0", "1"),
        "nothing_compiled": ("0", "1"),
    }
    for name, (first, last) in layers.items():
        assert not facts(folder, name).get("unseen"), name
        names = set(run(folder, name).series)
        wanted = {f"weight_norm/{first}", f"update_ratio/{last}", "input/mean", "target/distinct"}
        assert wanted <= names, (name, sorted(names))
        if name != "nothing_compiled":
            assert len(values(folder, name, "loss")) == (8 if name == "eager_updates" else STEPS)
    assert "output/right_share" in run(folder, "linen").series


def gradients_come_from_the_moments(folder: Path) -> None:
    """A gradient that left the function, and one that was read from Adam's moments, are of one training."""
    first = {"linen": "Dense_0", "graph_nodes": "first", "equinox": "layers/0", "eager_updates": "0"}
    for name, layer in first.items():
        norms = values(folder, name, f"grad_norm/{layer}")
        assert np.isfinite(norms).all(), name
        assert (norms > 0).all(), name
    clipped = values(folder, "linen", "grad_norm_clipped")
    assert clipped.max() <= 1.0 + 1e-4


def facts_are_those_of_every_framework(folder: Path) -> None:
    linen = facts(folder, "linen")
    assert linen["config"]["optimizer"] == "AdamW"
    assert linen["config"]["clip"] == 1.0
    assert linen["config"]["batch_size"] == 20  # of the last function that was traced
    assert linen["losses"][0]["kind"] == "softmax_cross_entropy"
    assert linen["losses"][0]["output_shape"].endswith("x10")
    kinds = {one["name"]: one["kind"] for one in linen["models"][0]["layer_list"]}
    assert kinds == {"BatchNorm_0": "norm", "Dense_0": "dense", "Dense_1": "dense"}
    rates = values(folder, "linen", "lr")
    assert rates[0] == pytest.approx(3e-3)
    assert rates[-1] < 2e-4
    equinox = facts(folder, "equinox")
    assert equinox["models"][0]["layer_list"][0]["shape"] == [24, 16]
    assert equinox["config"]["momentum"] == 0.9
    assert "JAX" in equinox["framework"]["name"]


def steps_of_a_loop_are_counted(folder: Path) -> None:
    assert facts(folder, "a_loop_inside")["ended"]["step"] == 3 * (STEPS - 1)
    assert len(values(folder, "a_loop_inside", "loss")) == 3 * (STEPS - 1)


def weights_that_never_change_show(folder: Path) -> None:
    assert values(folder, "never_applied", "update_ratio/0").max() == 0
    assert "optimizer_never_stepped" in {one.kind for one in run(folder, "never_applied").events}


def targets_that_move_with_the_weights_show(folder: Path) -> None:
    assert run(folder, "follows_a_copy").facts["objective"] == {"moving_target": True}
    assert "objective" not in run(folder, "averages_beside").facts
