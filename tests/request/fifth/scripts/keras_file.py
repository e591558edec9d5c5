"""Saves a model of Keras whose first layer never fires, and arrays for it."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
import numpy as np

keras.utils.set_random_seed(50)
rng = np.random.default_rng(50)
x = rng.normal(size=(300, 8)).astype("float32")
y = (x[:, :1] > x[:, 1:2]).astype("int64")[:, 0]
model = keras.Sequential(
    [
        keras.Input((8,)),
        keras.layers.Dense(
            32, activation="relu", bias_initializer=keras.initializers.Constant(-25), name="gate"
        ),
        keras.layers.Dense(2, name="side"),
    ]
)
model.save("model.keras")
np.savez("sample.npz", x=x, y=y)
print("saved")
