"""A recurrent net whose weights are drawn far too wide: its gradients grow with every step back in time."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(23)
rng = np.random.default_rng(23)
tracks = rng.normal(size=(600, 24, 3)).astype("float32")
goal = tracks.sum(axis=(1, 2), keepdims=False)[:, None] / 8

model = keras.Sequential(
    [
        keras.Input((24, 3)),
        layers.SimpleRNN(
            20,
            activation="linear",
            recurrent_initializer=keras.initializers.RandomNormal(stddev=0.3, seed=1),
            name="memory",
        ),
        layers.Dense(1, name="total"),
    ]
)
model.compile(keras.optimizers.SGD(1e-3), loss="mse")
model.fit(tracks, goal, batch_size=30, epochs=6, validation_split=0.2, verbose=2)
