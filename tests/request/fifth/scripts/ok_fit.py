"""Eight layers with ReLU, batch norm and a good start: nothing fades, nothing grows."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(29)
rng = np.random.default_rng(29)
part = rng.integers(0, 5, 2500)
x = (0.9 * rng.normal(size=(5, 18))[part] + rng.normal(size=(2500, 18))).astype("float32")

model = keras.Sequential([keras.Input((18,))])
for _ in range(7):
    model.add(layers.Dense(32, kernel_initializer="he_normal", use_bias=False))
    model.add(layers.BatchNormalization(momentum=0.9))
    model.add(layers.Activation("relu"))
model.add(layers.Dense(5))
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
pace = keras.optimizers.schedules.CosineDecay(2e-3, decay_steps=800)
model.compile(keras.optimizers.AdamW(pace, weight_decay=0.02), loss=loss, metrics=["accuracy"])
model.fit(x, part, batch_size=25, epochs=10, validation_split=0.2, verbose=2)
