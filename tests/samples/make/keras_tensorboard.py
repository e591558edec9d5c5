"""Event files by Keras' TensorBoard callback: train/ and validation/ with the same tags (`.v2`)."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf
from record_version import record


def write(out: Path) -> None:
    """Write the sample and its truth below `out`."""
    shutil.rmtree(out, ignore_errors=True)
    keras.utils.set_random_seed(0)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(64, 4)).astype("float32")
    y = x.sum(axis=1, keepdims=True)
    model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.01), "mse", metrics=["mae"])
    callback = keras.callbacks.TensorBoard(str(out / "run"), write_graph=False)
    history = model.fit(
        x, y, epochs=5, validation_split=0.25, batch_size=16, verbose=0, callbacks=[callback]
    ).history
    series = {
        f"{split}:epoch_{name}": [[step, value] for step, value in enumerate(history[lead + name])]
        for split, lead in (("train", ""), ("validation", "val_"))
        for name in ("loss", "mae")
    }
    for folder in (out / "run").iterdir():
        for number, path in enumerate(sorted(folder.iterdir())):
            path.rename(folder / f"events.out.tfevents.1700000000.host.1.{number}.v2")
    (out / "truth.json").write_text(json.dumps({"run": {"series": series, "config": {}}}, indent=1) + "\n")
    record("keras", keras.__version__)
    record("tensorflow", tf.__version__)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
