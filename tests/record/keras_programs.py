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

Program = Callable[[], Any]
OUT = Path(sys.argv[2])
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
def fit() -> Any:
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
    model.save(OUT / "fit.keras")
    again = keras.saving.load_model(OUT / "fit.keras")
    copy = keras.models.clone_model(model)
    same = bool((again.predict(x[:8], verbose=0) == model.predict(x[:8], verbose=0)).all())
    return model, {"history": history.history, "same": same, "layers": len(copy.layers)}


@program
def train_on_batch() -> Any:
    x, y = data()
    model = mlp()
    model.compile(keras.optimizers.SGD(0.05, momentum=0.9), loss="sparse_categorical_crossentropy")
    losses = [
        model.train_on_batch(x[at : at + 64], y[at : at + 64]) for _ in range(3) for at in range(0, 512, 64)
    ]
    return model, {"losses": [float(np.asarray(one)) for one in losses]}


class OwnStep(keras.Model):
    """A subclassed model with a train step of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = layers.Dense(32, activation="relu")
        self.drop = layers.Dropout(0.1)
        self.head = layers.Dense(10)

    def call(self, x: Any) -> Any:
        return self.head(self.drop(self.hidden(x)))


if sys.argv[1] == "tensorflow":
    import tensorflow as tf

    class OwnTapeStep(OwnStep):
        def train_step(self, batch: Any) -> Any:
            x, y = batch
            with tf.GradientTape() as tape:
                loss = self.compute_loss(y=y, y_pred=self(x, training=True))
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
            return {"loss": loss}

        def test_step(self, batch: Any) -> Any:
            x, y = batch
            return {"loss": self.compute_loss(y=y, y_pred=self(x, training=True)), "more": {"one": 1.0}}

    @program
    def own_step() -> Any:
        x, y = data()
        model = OwnTapeStep()
        model.compile("adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(512, seed=1).batch(32)
        model.fit(dataset, epochs=2, verbose=0, validation_data=dataset.take(2))
        return model, {}

    def tape_loop(*, traced: bool) -> Any:
        x, y = data()
        optimizer = keras.optimizers.Adam(1e-3)
        # Built by its first call, which is inside of the tape.
        model = (
            OwnStep() if traced else keras.Sequential([layers.Dense(32, activation="relu"), layers.Dense(10)])
        )
        compare = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

        def step(x: Any, y: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = compare(y, model(x))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            return loss

        step = tf.function(step) if traced else step
        losses = []
        for _ in range(3):
            for at in range(0, 512, 64):
                losses.append(float(step(tf.constant(x[at : at + 64]), tf.constant(y[at : at + 64]))))
            compare(y, model(x))
        return model, {"losses": losses}

    @program
    def tape() -> Any:
        return tape_loop(traced=False)

    @program
    def tape_function() -> Any:
        return tape_loop(traced=True)

    @program
    def gan() -> Any:
        """Two models, two optimizers, one function that draws numbers from its own stream."""
        x, _ = data()
        generator = keras.Sequential(
            [keras.Input((8,)), layers.Dense(32, activation="relu"), layers.Dense(64)]
        )
        critic = keras.Sequential([keras.Input((64,)), layers.Dense(32, activation="relu"), layers.Dense(1)])
        for_generator, for_critic = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-3)
        compare = keras.losses.BinaryCrossentropy(from_logits=True)

        @tf.function
        def step(real: Any) -> Any:
            with tf.GradientTape() as one, tf.GradientTape() as other:
                fake = generator(tf.random.normal((64, 8)), training=True)
                no, yes = critic(fake, training=True), critic(real, training=True)
                critic_loss = compare(tf.ones_like(yes), yes) + compare(tf.zeros_like(no), no)
                generator_loss = compare(tf.ones_like(no), no)
            for_critic.apply_gradients(
                zip(
                    other.gradient(critic_loss, critic.trainable_variables),
                    critic.trainable_variables,
                    strict=True,
                )
            )
            for_generator.apply_gradients(
                zip(
                    one.gradient(generator_loss, generator.trainable_variables),
                    generator.trainable_variables,
                    strict=True,
                )
            )
            return generator_loss

        losses = [float(step(tf.constant(x[at : at + 64]))) for _ in range(2) for at in range(0, 512, 64)]
        return generator, {"losses": losses}


@program
def two_models() -> Any:
    x, y = data()
    for width in (8, 16):
        model = keras.Sequential([layers.Dense(width, activation="relu"), layers.Dense(10)])
        model.compile("adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        model.fit(x, y, batch_size=64, epochs=2, verbose=0)
    return model, {}


@program
def head_on_a_frozen_base() -> Any:
    x, y = data()
    base = keras.Sequential([keras.Input((64,)), layers.Dense(16, activation="relu")])
    whole = keras.Sequential([base, layers.Dense(64)])
    whole.compile("sgd", loss="mse")
    whole.fit(x, x, batch_size=64, epochs=2, verbose=0)
    base.trainable = False
    probe = keras.Sequential([base, layers.Dense(10, activation="softmax")])
    probe.compile("adam", loss="sparse_categorical_crossentropy")
    probe.fit(x, y, batch_size=32, epochs=1, verbose=0)
    return probe, {}


if sys.argv[1] == "tensorflow":

    @program
    def gradient_becomes_nan() -> Any:
        """An eager loop: the length of a vector of zeros is a number, its slope is not."""
        x, _ = data()
        x = x.copy()
        x[300] = 0.0
        model = keras.Sequential([layers.Dense(32, use_bias=False), layers.Dense(8, use_bias=False)])
        optimizer = keras.optimizers.Adam(1e-5)
        for at in range(0, 512, 64):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.norm(model(tf.constant(x[at : at + 64])), axis=1))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return model, {}


@program
def becomes_nan() -> Any:
    x, y = data()
    x = x.copy()
    x[300, 5] = np.nan
    model = mlp(dropout=0.0)
    model.compile("adam", loss="sparse_categorical_crossentropy")
    model.fit(x, y, batch_size=64, epochs=1, shuffle=False, verbose=0)
    return model, {}


def main() -> None:
    results = {}
    for name, train in PROGRAMS.items():
        keras.utils.set_random_seed(3)
        recording = None
        if "watch" in sys.argv:
            import traindx

            recording = traindx.watch(mlp(), keras.optimizers.SGD(), out=OUT / name)
            keras.utils.set_random_seed(3)
        model, more = train()
        if recording is not None:
            recording.stop()
        weights = b"".join(np.asarray(one).tobytes() for one in model.get_weights())
        results[name] = {"weights": hashlib.sha256(weights).hexdigest(), "more": more}
    (OUT / "results.json").write_text(json.dumps(results, default=float))


main()
