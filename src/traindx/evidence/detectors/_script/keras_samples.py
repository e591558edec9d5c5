"""Small scripts of Keras and `tf.GradientTape` for the cases of detectors."""

from __future__ import annotations

from traindx.source import Script
from traindx.source.script import parse_script

_FIT = """
import keras
from keras import layers
import tensorflow as tf
model = keras.Sequential([
    keras.Input((8,)),
    {layers}
])
model.compile(optimizer={optimizer}, loss="{loss}", metrics=["accuracy"])
model.fit(x, y, epochs=20, {fit})
"""
_TAPE = """
import keras
from keras import layers
import tensorflow as tf
{setup}
model = keras.Sequential([keras.Input((8,)), {layers}])
optimizer = keras.optimizers.Adam(1e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(100).batch(32)
{after}
for epoch in range(5):
    for a, b in data:
        with tf.GradientTape() as tape:
            loss = {loss}
        gradients = tape.gradient(loss, {variables})
        {step}
"""
_LAYERS = 'layers.Dense(32, activation="relu"), layers.Dense(3, activation="softmax"),'
_LOGITS = 'layers.Dense(32, activation="relu"), layers.Dense(3)'
_APPLY = "optimizer.apply_gradients(zip(gradients, {variables}))"


def fitted(
    layers: str = _LAYERS,
    optimizer: str = '"adam"',
    loss: str = "sparse_categorical_crossentropy",
    fit: str = "validation_split=0.2",
) -> Script:
    """A compiled model that is fitted; parts of it given otherwise."""
    return parse_script(_FIT.format(layers=layers, optimizer=optimizer, loss=loss, fit=fit))


def taped(
    layers: str = _LOGITS,
    loss: str = "loss_fn(b, model(a, training=True))",
    variables: str = "model.trainable_variables",
    step: str = _APPLY,
    setup: str = "",
    after: str = "",
) -> Script:
    """A loop of its own over a tape; parts of it given otherwise."""
    step = step.format(variables=variables)
    return parse_script(
        _TAPE.format(layers=layers, loss=loss, variables=variables, step=step, setup=setup, after=after)
    )
