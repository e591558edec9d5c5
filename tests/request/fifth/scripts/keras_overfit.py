"""A wide net on a hundred and fifty noisy samples."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(41)
rng = np.random.default_rng(41)
x = rng.normal(size=(650, 24)).astype("float32")
y = (x[:, :6].sum(1) + 2.2 * rng.normal(size=650) > 0).astype("int32")

model = keras.Sequential(
    [
        keras.Input((24,)),
        layers.Dense(256, activation="relu"),
        layers.Dense(256, activation="relu"),
        layers.Dense(2, activation="softmax"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(learning_rate=1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
model.fit(x[:150], y[:150], validation_data=(x[150:], y[150:]), batch_size=15, epochs=30, verbose=2)
