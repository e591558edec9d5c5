"""CSVLogger files and histories by Keras: appended, with NaN, as JSON and CSV."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

if importlib.util.find_spec("torch"):
    os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
import pandas
from record_version import record, shown


class Witness(keras.callbacks.Callback):
    """What every epoch logged."""

    def __init__(self) -> None:
        super().__init__()
        self.series: dict[str, list[list[object]]] = {}

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        for name, value in (logs or {}).items():
            self.series.setdefault(name, []).append([epoch, shown(float(value))])


def write(out: Path) -> None:
    """Write every sample and its truth below `out`."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    truth: dict[str, object] = {}
    first, _ = fit(out / "training.log", epochs=6)
    truth["training.log"] = {"series": first, "config": {}}
    parts = [fit(out / "appended.csv", epochs=n, append=True, seed=n)[0] for n in (3, 5, 2)]
    for number, series in enumerate(parts, 1):
        truth[f"appended.csv (part {number})"] = {"series": series, "config": {}}
    alone, _ = fit(out / "no_validation.csv", epochs=4, validate=False)
    truth["no_validation.csv"] = {"series": alone, "config": {}}
    broken, history = fit(out / "nan.csv", epochs=4, lr=1e25)
    truth["nan.csv"] = {"series": broken, "config": {}}
    (out / "nan_history.json").write_text(json.dumps(history))
    truth["nan_history.json"] = truth["nan.csv"]
    series, history = fit(None, epochs=5)
    (out / "history.json").write_text(json.dumps(history, indent=2))
    frame = pandas.DataFrame(history)
    frame.to_json(out / "frame.json", double_precision=15)
    frame.to_csv(out / "frame.csv")
    for name in ("history.json", "frame.csv"):
        truth[name] = {"series": series, "config": {}}
    rounded = {name: [[at, round(value, 15)] for at, value in enumerate(history[name])] for name in history}
    truth["frame.json"] = {"series": rounded, "config": {}}
    (out / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")
    record("keras", keras.__version__)


def fit(
    path: Path | None,
    *,
    epochs: int,
    append: bool = False,
    validate: bool = True,
    lr: float = 0.05,
    seed: int = 0,
) -> tuple[dict[str, list[list[object]]], dict[str, list[float]]]:
    """One small training; what it logged, and its history."""
    keras.utils.set_random_seed(seed)
    x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
    y = (x.sum(axis=1) > 0).astype("int32")
    model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(2)])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(lr), loss, metrics=["accuracy"])
    witness = Witness()
    logger = [keras.callbacks.CSVLogger(str(path), append=append)] if path else []
    held = 0.25 if validate else 0.0
    found = model.fit(x, y, epochs=epochs, verbose=0, callbacks=[witness, *logger], validation_split=held)
    history = {name: [float(value) for value in values] for name, values in found.history.items()}
    return witness.series, history


if __name__ == "__main__":
    write(Path(sys.argv[1]))
