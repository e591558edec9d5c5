"""Three noisy rings in the plane, lifted to twelve measurements, told apart by a small Keras model."""

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(4)
rng = np.random.default_rng(4)
LIFT = rng.normal(0, 1, (2, 12)).astype("float32")


def rings(count):
    label = rng.integers(0, 3, count)
    angle = rng.uniform(0, 2 * np.pi, count)
    radius = 0.6 * (label + 1) + rng.normal(0, 0.08, count)
    plane = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).astype("float32")
    return plane @ LIFT, label


x, y = rings(3000)
x_val, y_val = rings(600)
model = keras.Sequential(
    [
        keras.Input((12,)),
        layers.Dense(48, activation="relu"),
        layers.Dense(48, activation="relu"),
        layers.Dense(3),
    ]
)
model.compile(
    keras.optimizers.Adam(2e-3),
    keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(x, y, batch_size=64, epochs=8, validation_data=(x_val, y_val), verbose=2)
