"""Trainings by Keras, recorded: the same bits as without, and what the recording holds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import traindx
from traindx.core.nouns import Run

PROGRAMS = Path(__file__).parent / "keras_programs.py"


def trained(backend: str, out: Path, *how: str) -> dict[str, Any]:
    """The programs, run in one process."""
    environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "TRAINDX_DEBUG": "1"}
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


@pytest.fixture(scope="module")
def tensorflow(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    pytest.importorskip("tensorflow")
    return Trained("tensorflow", tmp_path_factory.mktemp("keras"))


def test_results_are_the_same_bits(tensorflow: Trained) -> None:
    assert tensorflow.watched == tensorflow.plain
    assert tensorflow.plain["fit"]["more"]["same"]


def test_fit_is_seen_from_inside(tensorflow: Trained) -> None:
    run = tensorflow.run("fit")
    steps = 5 * 6
    assert len(run.series["loss"]) == steps
    assert run.series["lr"].values[0] == pytest.approx(1e-3)
    history = tensorflow.plain["fit"]["more"]["history"]
    assert run.series["val/loss"].values == pytest.approx(history["val_loss"], rel=1e-5)
    assert run.series["val/accuracy"].values == pytest.approx(history["val_accuracy"], rel=1e-5)
    for name in ("grad_norm/dense_3", "weight_norm/dense_5", "update_ratio/dense_4"):
        assert len(run.series[name]) >= 6, name
    assert 0 < run.series["activation_zero_share/dense_3/relu"].values[0] < 1
    assert "activation_saturated_share/dense_4/tanh" in run.series
    assert run.series["output/row_sum_error"].values[-1] < 1e-3
    assert run.series["accuracy"].values == pytest.approx(history["accuracy"], rel=1e-5)
    assert run.series["output/right_share"].values[-1] > 0.15
    assert run.config["optimizer"] == "Adam"
    assert run.config["batch_size"] == 64
    assert run.config["clip"] == 1.0
    assert (run.series["grad_norm_clipped"].values <= 1.0 + 1e-6).all()


def test_facts_are_those_of_every_framework(tensorflow: Trained) -> None:
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
