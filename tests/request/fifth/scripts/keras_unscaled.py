"""Columns in metres, grams and years as they come."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(37)
rng = np.random.default_rng(37)
plain = rng.normal(size=(1200, 4))
x = (plain * [3, 900, 12, 0.02] + [1.7, 5200, 2003, 0.4]).astype("float32")
y = ((plain[:, 0] - plain[:, 3] + 0.3 * rng.normal(size=1200)) > 0).astype("float32")

model = keras.Sequential(
    [keras.Input((4,)), layers.Dense(32, activation="relu"), layers.Dense(1, activation="sigmoid")]
)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, batch_size=30, epochs=8, validation_split=0.2, verbose=2)
