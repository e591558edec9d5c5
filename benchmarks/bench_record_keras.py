"""What recording costs a training by Keras on TensorFlow: one train function, plain and recorded in turn.

One process and one thread. Seconds of the processor, since other programs may run beside it; blocks of
recorded steps stand between plain ones (`blocks.py`). The wish, with the default budget: at most 4 % where a
step takes a few milliseconds (a small MLP), at most 2 % for the others.

`TRAINDX_BENCH_SECONDS` sets the seconds for each training (60).
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ |= {"KERAS_BACKEND": "tensorflow", "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}

import keras
import numpy as np
import tensorflow as tf
from blocks import Overhead, Pair, overhead
from keras import layers

MOST = {"MLP": 0.04, "CNN": 0.02, "transformer": 0.02}
BLOCK = 1.0
WARM_UP = 600


def mlp() -> Any:
    wide = [layers.Dense(width, activation="relu") for width in (512, 512, 256)]
    return keras.Sequential([keras.Input((784,)), *wide, layers.Dense(10)]), np.zeros((128, 784))


def cnn() -> Any:
    blocks = [one for width in (32, 64) for one in _block(width)]
    model = keras.Sequential(
        [keras.Input((32, 32, 3)), *blocks, layers.GlobalAveragePooling2D(), layers.Dense(10)]
    )
    return model, np.zeros((64, 32, 32, 3))


def _block(width: int) -> list[Any]:
    return [layers.Conv2D(width, 3), layers.BatchNormalization(), layers.ReLU(), layers.MaxPooling2D()]


def transformer() -> Any:
    x = inputs = keras.Input((64, 64))
    for _ in range(2):
        x = layers.LayerNormalization()(x + layers.MultiHeadAttention(4, 16)(x, x))
        x = layers.LayerNormalization()(x + layers.Dense(64)(layers.Dense(256, activation="gelu")(x)))
    return keras.Model(inputs, layers.Dense(10)(layers.GlobalAveragePooling1D()(x))), np.zeros((32, 64, 64))


TRAININGS: dict[str, Callable[[], Any]] = {"MLP": mlp, "CNN": cnn, "transformer": transformer}


class Training:
    """A model and its train function, which can be called plain and recorded."""

    def __init__(self, make: Callable[[], Any], folder: Path) -> None:
        from traindx.observe import recorder
        from traindx.observe.keras.install import install

        self.recorder = recorder.start(folder)
        self.watching = install(self.recorder, keras)
        model, like = make()
        draw = np.random.default_rng(0)
        x, y = draw.standard_normal(like.shape).astype("float32"), draw.integers(0, 10, len(like))
        model.compile("adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        data = tf.data.Dataset.from_tensors((x, y)).cache().repeat()
        model.fit(data, steps_per_epoch=2, verbose=0)
        self.function, self.data = model.train_function, iter(data)
        self.run(self.function.plain, 5)
        began = time.process_time()
        while self.recorder.step < WARM_UP and time.process_time() < began + 10:
            self.run(self.function, 1)

    def run(self, function: Callable[..., Any], steps: int) -> float:
        """Seconds of the processor for each of so many steps."""
        self.watching.steps.paused()
        self.watching.active = function is self.function
        began = time.process_time()
        for _ in range(steps):
            function(self.data)
        return (time.process_time() - began) / steps


def measure(name: str, seconds: float, folder: Path) -> tuple[float, Overhead, Overhead]:
    """Seconds of a plain step, what the recorder adds to it, and the control: plain against plain."""
    training = Training(TRAININGS[name], folder / name)
    plain, recorded = training.function.plain, training.function
    steps = max(4, round(BLOCK / training.run(plain, 20)))
    samples, pairs, control = training.watching.steps.sample_count, [], []
    before, ends = training.run(plain, steps), time.perf_counter() + seconds
    while time.perf_counter() < ends:
        for function, kept in ((recorded, pairs), (plain, control)):
            observed = training.run(function, steps)
            after = training.run(plain, steps)
            kept.append(Pair(observed, (before + after) / 2))
            before = after
    sampled = training.watching.steps.sample_count - samples
    print(
        f"{name}: a plain step takes {1000 * before:.2f} ms; {sampled} samples in {len(pairs) * steps} steps"
    )
    if training.recorder.off:
        raise SystemExit(f"switched off, so the numbers are void: {', '.join(training.recorder.off)}")
    training.recorder.close("finished")
    return before, overhead(pairs), overhead(control)


def main() -> int:
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    seconds, missed = float(os.environ.get("TRAINDX_BENCH_SECONDS", "60")), 0
    with tempfile.TemporaryDirectory() as folder:
        for name, most in MOST.items():
            _, ours, control = measure(name, seconds, Path(folder))
            missed += ours.share > most
            print(f"  traindx {ours}, plain {control}: {'missed' if ours.share > most else 'met'} {most:.0%}")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
