"""One sample in thirty is of the second class: next to none of them is found."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(19)
rng = np.random.default_rng(19)
rare = (rng.random(1800) < 1 / 30).astype("float32")
x = (rng.normal(size=(1800, 12)) + 0.7 * rare[:, None]).astype("float32")

model = keras.Sequential(
    [keras.Input((12,)), layers.Dense(16, activation="relu"), layers.Dense(1, activation="sigmoid")]
)
found = keras.metrics.Recall(name="recall")
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="binary_crossentropy", metrics=[found])
model.fit(x, rare, batch_size=36, epochs=6, validation_split=0.2, verbose=2)
