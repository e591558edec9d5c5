"""Small trainings by Keras, each with and without a recorder: `python keras_programs.py BACKEND OUT [watch]`.

What each ends with is written to OUT/results.json; a recording of each is in OUT/<name>.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["KERAS_BACKEND"] = sys.argv[1]
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import keras
import numpy as np
from keras import layers

Program = Callable[[Path], Any]
PROGRAMS: dict[str, Program] = {}


def program(function: Program) -> Program:
    PROGRAMS[function.__name__] = function
    return function


def data(rows: int = 512) -> tuple[Any, Any]:
    """Ten classes that can be told apart."""
    draw = np.random.default_rng(0)
    y = draw.integers(0, 10, rows)
    x = draw.random((10, 64))[y] + 0.3 * draw.standard_normal((rows, 64))
    return x.astype("float32"), y.astype("int64")


def mlp(*, dropout: float = 0.2) -> Any:
    return keras.Sequential(
        [
            keras.Input((64,)),
            layers.Dense(48, activation="relu"),
            layers.BatchNormalization(),
            layers.Dropout(dropout),
            layers.Dense(32, activation="tanh"),
            layers.Dense(10, activation="softmax"),
        ]
    )


@program
def fit(out: Path) -> Any:
    x, y = data()
    model = mlp()
    model.compile(
        keras.optimizers.Adam(1e-3, global_clipnorm=1.0),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    history = model.fit(
        x, y, batch_size=64, epochs=5, validation_split=0.25, verbose=0, class_weight={0: 2.0, 1: 0.5}
    )
    model.save(out / "fit.keras")
    again = keras.saving.load_model(out / "fit.keras")
    copy = keras.models.clone_model(model)
    same = bool((again.predict(x[:8], verbose=0) == model.predict(x[:8], verbose=0)).all())
    return model, {"history": history.history, "same": same, "layers": len(copy.layers)}


def main() -> None:
    out = Path(sys.argv[2])
    results = {}
    for name, train in PROGRAMS.items():
        keras.utils.set_random_seed(3)
        recording = None
        if "watch" in sys.argv:
            import traindx

            recording = traindx.watch(mlp(), keras.optimizers.SGD(), out=out / name)
            keras.utils.set_random_seed(3)
        model, more = train(out)
        if recording is not None:
            recording.stop()
        weights = b"".join(np.asarray(one).tobytes() for one in model.get_weights())
        results[name] = {"weights": hashlib.sha256(weights).hexdigest(), "more": more}
    (out / "results.json").write_text(json.dumps(results, default=float))


main()
