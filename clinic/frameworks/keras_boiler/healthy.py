"""Steam of a boiler from flow, temperature and pressure in the units of the plant."""

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(11)
rng = np.random.default_rng(11)
flow = rng.uniform(2000, 9000, 2400)
heat = rng.uniform(350, 520, 2400)
pressure = rng.uniform(1.1e6, 4.0e6, 2400)
steam = (flow - 5500) / 2000 + np.sin((heat - 435) / 30) + 0.3 * (pressure - 2.5e6) / 1e6
x = np.stack([flow, heat, pressure], 1).astype("float32")
y = (steam + rng.normal(0, 0.05, 2400)).astype("float32")
x = (x - x[:2000].mean(0)) / x[:2000].std(0)
model = keras.Sequential(
    [
        keras.Input((3,)),
        layers.Dense(32, activation="tanh"),
        layers.Dense(32, activation="tanh"),
        layers.Dense(1),
    ]
)
model.compile(keras.optimizers.Adam(5e-3), "mse")
model.fit(x[:2000], y[:2000], batch_size=50, epochs=10, validation_data=(x[2000:], y[2000:]), verbose=2)
