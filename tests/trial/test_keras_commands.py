"""`preflight`, `lr-find` and the arms behind them on a Keras script, which no change at run time reaches."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.trial.test_edited_arms import SCRIPT as JAX
from traindx.experiment.arms import Arm, Workshop
from traindx.experiment.edited_arms import EditedArms, unreachable
from traindx.experiment.runtime.change import Change
from traindx.observe.program import find_script
from traindx.source.script import parse_script

# Not `importorskip`: TensorFlow takes seconds to import.
NEEDS_KERAS = pytest.mark.skipif(find_spec("keras") is None, reason="needs keras")
KERAS = """import keras
import numpy as np

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
labels = rng.integers(0, 4, 1600)
inputs = (rng.normal(size=(4, 16))[labels] + rng.normal(size=(1600, 16))).astype("float32")
hidden = keras.layers.Dense(32, activation="relu")
model = keras.Sequential([hidden, keras.layers.Dense(4, activation="softmax")])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
model.fit(inputs, labels, epochs=2, batch_size=32, verbose=0)
"""


def traindx(folder: Path, source: str, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "train.py").write_text(source)
    return subprocess.run(
        [sys.executable, "-m", "traindx", *words, "train.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=400,
        check=False,
    )


@NEEDS_KERAS
def test_preflight_runs_edited_copies(tmp_path: Path) -> None:
    faster = KERAS.replace('"adam"', "keras.optimizers.Adam(0.02)")
    done = traindx(tmp_path, faster, "preflight", "--json", "--steps", "60")
    assert done.returncode in (0, 1), done.stderr
    document = json.loads(done.stdout)
    answers = {check["title"]: check["status"] for check in document["checks"]}
    tried = ("One batch can be overfitted", "The input matters", "The labels matter")
    assert [answers[title] for title in tried] == ["pass"] * 3
    assert "torch" not in done.stdout + done.stderr


@NEEDS_KERAS
def test_lr_find_ramps_by_an_edit(tmp_path: Path) -> None:
    span = ("--from", "1e-4", "--to", "3", "--steps", "60", "--seeds", "1")
    done = traindx(tmp_path, KERAS, "lr-find", "--json", "--no-plot", *span)
    assert done.returncode in (0, 1), done.stderr
    document = json.loads(done.stdout)
    assert document["current"]["lr"] == pytest.approx(1e-3, rel=1e-3)
    assert "torch" not in done.stderr


@NEEDS_KERAS
def test_the_model_of_an_arm_is_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(KERAS)
    arm = Arm("as it is", (Change.parse("save_weights"),), steps=20)
    with Workshop(find_script("train.py", ()), keep=tmp_path / "kept", jobs=1) as shop:
        outcome = shop.run_one(arm)
    assert sorted(one.name for one in outcome.recording.glob("model*")) == ["model.h5", "model.keras"]
    read = "import keras, sys; print(keras.saving.load_model(sys.argv[1]).count_params())"
    done = subprocess.run(
        [sys.executable, "-c", read, outcome.recording / "model.keras"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert int(done.stdout.split()[-1]) == 16 * 32 + 32 + 32 * 4 + 4


def test_what_cannot_be_done_is_said_before_any_run(tmp_path: Path) -> None:
    done = traindx(tmp_path, JAX, "lr-find", "--no-plot")
    assert done.returncode == 2
    assert "JAX" in done.stderr
    assert "try lower_lr" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("source", "library"),
    [
        (KERAS, "Keras"),
        ('import os\nos.environ["KERAS_BACKEND"] = "torch"\n' + KERAS, "Keras"),
        (JAX, "JAX"),
        ("from torch.optim import Adam\n" + KERAS, ""),
        ("print(1)\n", ""),
    ],
)
def test_which_trainings_no_change_reaches(source: str, library: str) -> None:
    assert unreachable(parse_script(source)) == library


def test_an_arm_without_an_edit_keeps_its_changes() -> None:
    arms = EditedArms(parse_script(KERAS))
    ramp = Change.parse("ramp_lr first=0.001 last=1 steps=50")
    written = arms.arm(Arm("ramp", (ramp, Change.parse("stop_at_divergence")), steps=50))
    assert not written.changes
    assert "ExponentialDecay(0.001, 49, 1000.0)" in written.sources["train.py"]
    measured = Arm("measured", (Change.parse("measure_first_step"),))
    assert arms.arm(measured) == measured
