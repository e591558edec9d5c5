"""A loop of one's own with a gradient tape, four dense layers, twelve kinds of wine."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(31)
rng = np.random.default_rng(31)
kind = rng.integers(0, 12, 960)
bottles = (rng.normal(size=(12, 20))[kind] + 0.8 * rng.normal(size=(960, 20))).astype("float32")

net = keras.Sequential(
    [
        keras.Input((20,)),
        keras.layers.Dense(40, activation="relu", name="nose"),
        keras.layers.Dense(40, activation="relu", name="palate"),
        keras.layers.Dense(12, name="verdict"),
    ]
)
adam = keras.optimizers.Adam(2e-3)
compare = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = compare(y, net(x, training=True))
    grads = tape.gradient(loss, net.trainable_variables)
    adam.apply_gradients(zip(grads, net.trainable_variables, strict=True))
    return loss


for epoch in range(8):
    total = 0.0
    for i in range(0, 960, 32):
        total += float(step(tf.constant(bottles[i : i + 32]), tf.constant(kind[i : i + 32])))
    print(f"epoch {epoch} loss {total / 30:.4f}")
