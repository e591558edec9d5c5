"""Images of stripes, a small convolutional net trained by fit."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(5)
rng = np.random.default_rng(5)
way = rng.integers(0, 3, 768)
i, j = np.mgrid[0:12, 0:12]
waves = np.stack([np.sin(i * 1.3), np.sin(j * 1.3), np.sin((i + j) * 0.9)])
pictures = (waves[way] + 0.6 * rng.normal(size=(768, 12, 12))).astype("float32")[..., None]

model = keras.Sequential(
    [
        keras.Input((12, 12, 1)),
        layers.Conv2D(8, 3, activation="relu", name="edges"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(16, activation="relu", name="mix"),
        layers.Dense(3, name="way"),
    ]
)
model.compile(
    keras.optimizers.Adam(1e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(pictures, way, batch_size=32, epochs=6, validation_split=0.25, verbose=2)
