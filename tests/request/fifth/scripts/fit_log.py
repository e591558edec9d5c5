"""A loss of one's own with the logarithm of a share that becomes exactly 0."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
import numpy as np
from keras import ops

keras.utils.set_random_seed(12)
rng = np.random.default_rng(12)
x = (40 * rng.normal(size=(800, 14))).astype("float32")
y = (x[:, :1] + x[:, 1:2] > 0).astype("float32")


def surprise(truth, share):
    return -ops.mean(truth * ops.log(share) + (1 - truth) * ops.log(1 - share))


model = keras.Sequential(
    [
        keras.Input((14,)),
        keras.layers.Dense(32, activation="relu", name="first"),
        keras.layers.Dense(1, activation="sigmoid", name="share"),
    ]
)
model.compile(keras.optimizers.SGD(0.01), loss=surprise)
model.fit(x, y, batch_size=40, epochs=5, verbose=2)
