"""Ten layers of sigmoids, trained by fit."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(17)
rng = np.random.default_rng(17)
part = rng.integers(0, 5, 1000)
x = (1.5 * rng.normal(size=(5, 18))[part] + rng.normal(size=(1000, 18))).astype("float32")

model = keras.Sequential([keras.Input((18,))])
for number in range(10):
    model.add(layers.Dense(24, activation="sigmoid", name=f"floor_{number}"))
model.add(layers.Dense(5, activation="softmax", name="roof"))
model.compile(keras.optimizers.SGD(0.05), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x, part, batch_size=25, epochs=8, validation_split=0.2, verbose=2)
