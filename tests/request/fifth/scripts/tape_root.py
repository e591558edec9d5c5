"""Distances between pairs: their length is 0 where both of a pair are the same object."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(8)
rng = np.random.default_rng(8)
left = rng.normal(size=(640, 10)).astype("float32")
right = rng.normal(size=(640, 10)).astype("float32")
right[300] = left[300]  # one pair is the same object
same = (np.abs(left[:, 0] - right[:, 0]) < 0.7).astype("float32")

embed = keras.Sequential(
    [keras.Input((10,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(6)]
)
rule = keras.optimizers.Adam(1e-3)


def step(a, b, y):
    with tf.GradientTape() as tape:
        apart = tf.norm(embed(a) - embed(b), axis=1)
        loss = tf.reduce_mean(y * apart + (1 - y) * tf.nn.relu(2.0 - apart))
    slopes = tape.gradient(loss, embed.trainable_variables)
    rule.apply_gradients(zip(slopes, embed.trainable_variables, strict=True))
    return float(loss)


for epoch in range(6):
    losses = [step(left[i : i + 32], right[i : i + 32], same[i : i + 32]) for i in range(0, 640, 32)]
    print(f"epoch {epoch} loss {np.mean(losses):.4f}")
