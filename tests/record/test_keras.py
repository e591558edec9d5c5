"""Trainings by Keras, recorded: the same bits as without, and what the recording holds."""

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

PROGRAMS = Path(__file__).parent / "keras_programs.py"


def trained(backend: str, out: Path, *how: str) -> dict[str, Any]:
    """The programs, run in one process."""
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": "", "JAX_PLATFORMS": "cpu", "TRAINDX_DEBUG": "1"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(PROGRAMS), backend, str(out), *how],
        capture_output=True,
        text=True,
        env=environment,
        cwd=out,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Traceback" not in done.stderr, done.stderr[-3000:]
    results: dict[str, Any] = json.loads((out / "results.json").read_text())
    return results


class Trained:
    """What the programs ended with, plain and recorded, and their recordings."""

    def __init__(self, backend: str, folder: Path) -> None:
        self.folder = folder / "watched"
        for name in ("plain", "watched"):
            (folder / name).mkdir()
        with ThreadPoolExecutor(2) as pool:
            plain = pool.submit(trained, backend, folder / "plain")
            watched = pool.submit(trained, backend, self.folder, "watch")
            self.plain, self.watched = plain.result(), watched.result()

    def run(self, name: str) -> Run:
        return traindx.read(self.folder / name).runs[0]

    def facts(self, name: str) -> dict[str, Any]:
        facts: dict[str, Any] = json.loads((self.folder / name / "run.json").read_text())
        return facts


@pytest.mark.skipif(find_spec("tensorflow") is None, reason="TensorFlow is not installed")
def test_tensorflow(tmp_path: Path) -> None:
    """One test, since each process takes seconds to import TensorFlow."""
    tensorflow = Trained("tensorflow", tmp_path)
    assert tensorflow.watched == tensorflow.plain
    assert tensorflow.plain["fit"]["more"]["same"]
    fit_is_seen_from_inside(tensorflow)
    facts_are_those_of_every_framework(tensorflow)
    every_way_to_train_is_seen(tensorflow)
    random_numbers_of_a_graph_stay(tensorflow)
    modes_are_recorded(tensorflow)
    trainings_are_counted_apart(tensorflow)
    nan_is_recorded_with_its_origin(tensorflow)


@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_other_backends(backend: str, tmp_path: Path) -> None:
    """The steps of PyTorch are counted once, though its own probes are there too."""
    if find_spec(backend) is None:
        pytest.skip(f"{backend} is not installed")
    other = Trained(backend, tmp_path)
    assert other.watched == other.plain
    fit_is_seen_from_inside(other)
    trainings_are_counted_apart(other)
    nan_is_recorded_with_its_origin(other)
    assert (
        other.facts("fit")["framework"]["name"] == f"Keras 3 on {'PyTorch' if backend == 'torch' else 'JAX'}"
    )


def fit_is_seen_from_inside(tensorflow: Trained) -> None:
    run = tensorflow.run("fit")
    steps = 5 * 6
    assert len(run.series["loss"]) == steps
    assert run.series["lr"].values[0] == pytest.approx(1e-3)
    history = tensorflow.plain["fit"]["more"]["history"]
    assert run.series["val/loss"].values == pytest.approx(history["val_loss"], rel=1e-5)
    assert run.series["val/accuracy"].values == pytest.approx(history["val_accuracy"], rel=1e-5)
    for name in ("grad_norm/dense_3", "weight_norm/dense_5", "update_ratio/dense_4"):
        assert len(run.series[name]) >= 6, name
    norms = [run.series[f"variable_grad_norm/dense_3/{name}"].values for name in ("kernel", "bias")]
    assert np.hypot(*norms) == pytest.approx(run.series["grad_norm/dense_3"].values, rel=1e-3)
    assert 0 < run.series["activation_zero_share/dense_3/relu"].values[0] < 1
    assert "activation_saturated_share/dense_4/tanh" in run.series
    assert run.series["output/row_sum_error"].values[-1] < 1e-3
    assert run.series["accuracy"].values == pytest.approx(history["accuracy"], rel=1e-5)
    assert run.series["output/right_share"].values[-1] > 0.15
    assert run.config["optimizer"] == "Adam"
    assert run.config["batch_size"] == 64
    assert run.config["clip"] == 1.0
    assert (run.series["grad_norm_clipped"].values <= 1.0 + 1e-6).all()


def facts_are_those_of_every_framework(tensorflow: Trained) -> None:
    facts = tensorflow.facts("fit")
    loss = facts["losses"][0]
    assert (loss["kind"], loss["from_logits"]) == ("categorical_cross_entropy", False)
    assert loss["after_layers"] == ["Softmax", "Addmm"]
    model = facts["models"][0]
    assert [one["kind"] for one in model["layer_list"]] == ["dense", "norm", "dense", "dense"]
    assert model["layer_list"][0]["shape"] == [48, 64]
    assert model["dropout"] == [0.2]
    assert facts["loaders"][0] | {"samples": 384, "shuffle": True} == facts["loaders"][0]
    assert set(facts["classes"]) == {str(one) for one in range(10)}
    assert facts["libraries"]["keras_backend"] == "tensorflow"


def every_way_to_train_is_seen(tensorflow: Trained) -> None:
    steps = {"train_on_batch": 24, "own_step": 32, "tape": 24, "tape_function": 24}
    for name, count in steps.items():
        run = tensorflow.run(name)
        assert len(run.series["loss"]) == count, name
        assert len(run.series["lr"]) == count, name
        assert [one for one in run.series if one.startswith("grad_norm/")], name
        assert [one for one in run.series if one.startswith("activation_zero_share/")], name
        assert "output/right_share" in run.series, name
        assert tensorflow.facts(name)["optimizers"][0]["parameters"] in (4, 8), name
    for name in ("tape", "tape_function"):
        losses = tensorflow.plain[name]["more"]["losses"]
        assert tensorflow.run(name).series["loss"].values == pytest.approx(losses, rel=1e-5)


def random_numbers_of_a_graph_stay(tensorflow: Trained) -> None:
    """Two optimizers in a function that draws from a stream of its own: losses only, and it says so."""
    run = tensorflow.run("gan")
    losses = [one for name, one in run.series.items() if name.startswith("loss/")]
    assert [len(one) for one in losses] == [16, 16]
    assert tensorflow.facts("gan")["unseen"][0]["what"] == "layers"


def modes_are_recorded(tensorflow: Trained) -> None:
    """Of a validation with `training=True`, and of a tape without it."""
    told = {
        name: {one.kind for one in tensorflow.run(name).events} & {"mode", "validated_in_train_mode"}
        for name in ("fit", "own_step", "tape_function")
    }
    assert told == {"fit": set(), "own_step": {"validated_in_train_mode"}, "tape_function": {"mode"}}
    assert len(tensorflow.run("own_step").series["val/loss"]) == 2


def trainings_are_counted_apart(tensorflow: Trained) -> None:
    runs = traindx.read(tensorflow.folder / "two_models").runs
    assert [len(one.series["loss"]) for one in runs] == [16, 16]
    # Without an `Input` a model has no weights before its first step is traced.
    model = tensorflow.facts("two_models")["models"][0]
    assert (model["parameters"], model["layers"]) == (64 * 16 + 16 + 16 * 10 + 10, 2)
    first, second = traindx.read(tensorflow.folder / "head_on_a_frozen_base").runs
    assert [len(one.series["loss"]) for one in (first, second)] == [16, 16]
    assert (first.settings["optimizer"], second.settings["optimizer"]) == ("SGD", "Adam")
    assert (first.settings["batch_size"], second.settings["batch_size"]) == (64, 32)
    assert [one.facts["losses"][0]["function"] for one in (first, second)] == [
        "mean_squared_error",
        "sparse_categorical_crossentropy",
    ]


def nan_is_recorded_with_its_origin(trained: Trained) -> None:
    event = next(one for one in trained.run("becomes_nan").events if one.kind == "nonfinite")
    assert event.data["where"] == "input"
    assert event.data["batch"] == 300 // 64 + 1
    assert event.data["batch_nonfinite"] == 1
    event = next(one for one in trained.run("gradient_becomes_nan").events if one.kind == "nonfinite")
    assert event.data["where"] == "backward"
    assert event.text == "at step 5 a gradient was NaN or Inf, of finite loss and weights"
