"""Changes as edits of Keras sources: what is written, and that Keras takes it."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from traindx.experiment.edit import Edited, Instruction, edit_for_all, edit_for_remedy
from traindx.experiment.runtime.change import Change
from traindx.source.script import parse_script

FIT = """import numpy as np
import keras
from keras import layers

x_train, y_train = np.random.randn(64, 8), np.random.randint(0, 3, 64)
x_val, y_val = np.random.randn(32, 8), np.random.randint(0, 3, 32)
model = keras.Sequential([
    layers.Input((8,)),
    layers.Dense(16, activation="tanh"),
    layers.Dense(16, activation="tanh", kernel_regularizer="l2"),
    layers.Dense(3, activation="softmax"),
])
model.compile(optimizer=OPTIMIZER, loss="sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(x_train, y_train, epochs=2, validation_data=(x_val, y_val), verbose=0)
"""
OBJECT = FIT.replace("OPTIMIZER", "keras.optimizers.Adam(learning_rate=1e-2)")
NAMED = FIT.replace("OPTIMIZER", '"adam"')
SGD = FIT.replace("OPTIMIZER", "keras.optimizers.SGD(0.1)")
TF = """import tensorflow as tf
from tensorflow.keras.layers import Dense, Dropout, Input

inputs = Input((8,))
hidden = Dense(16, activation="relu")(inputs)
hidden = Dropout(0.5)(hidden)
model = tf.keras.Model(inputs, Dense(3)(hidden))
model.compile(optimizer="sgd", loss=tf.keras.losses.SparseCategoricalCrossentropy())
x, y = tf.random.normal((64, 8)), tf.random.uniform((64,), 0, 3, tf.int32)
history = model.fit(tf.data.Dataset.from_tensor_slices((x, y)).batch(16), epochs=1, verbose=0)
"""
TAPE = """import keras
import tensorflow as tf

x, y = tf.random.normal((64, 8)), tf.random.uniform((64,), 0, 3, tf.int32)
model = keras.Sequential()
model.add(keras.layers.Dense(16, activation="sigmoid"))
model.add(keras.layers.Dense(3))
rate = keras.optimizers.schedules.ExponentialDecay(0.1, 100, 0.9)
optimizer = keras.optimizers.SGD(learning_rate=rate, momentum=0.9)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
for epoch in range(2):
    for a, b in tf.data.Dataset.from_tensor_slices((x, y)).batch(16):
        with tf.GradientTape() as tape:
            loss = loss_fn(b, model(a, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
"""
SOURCES = {"object": OBJECT, "named": NAMED, "sgd": SGD, "tf": TF, "tape": TAPE}
WRITTEN = [
    ("object", "scale_lr factor=0.1", "learning_rate=1e-3)"),
    ("named", "scale_lr factor=0.1", "optimizer=keras.optimizers.Adam(learning_rate=0.0001)"),
    ("tf", "set_lr value=0.5", "optimizer=tf.keras.optimizers.SGD(learning_rate=0.5)"),
    ("tape", "scale_lr factor=0.1", "ExponentialDecay(0.01, 100, 0.9)"),
    ("object", "clip_norm limit=1", "learning_rate=1e-2, global_clipnorm=1.0)"),
    ("named", "clip_value limit=0.5", "keras.optimizers.Adam(clipvalue=0.5)"),
    ("sgd", "set_momentum value=0.9", "keras.optimizers.SGD(0.1, momentum=0.9)"),
    ("object", "set_momentum value=0.8", "beta_1=0.8)"),
    ("object", "set_betas beta1=0.9 beta2=0.99", "beta_2=0.99)"),
    ("object", "set_eps value=1e-5", "epsilon=1e-5)"),
    ("tape", "set_weight_decay value=0.01", "momentum=0.9, weight_decay=0.01)"),
    ("sgd", "swap_optimizer name=adamw lr=0.001", "keras.optimizers.AdamW(learning_rate=0.001)"),
    ("named", "swap_optimizer name=sgd lr=0.1", "keras.optimizers.SGD(learning_rate=0.1)"),
    ("object", "accumulate batches=4", "gradient_accumulation_steps=4)"),
    ("object", "swap_activation to=relu", 'layers.Dense(16, activation="relu"),'),
    ("tape", "swap_activation to=relu + reinitialise kind=he", '"relu", kernel_initializer="he_normal"))'),
    ("object", "set_bias value=0.01", "bias_initializer=keras.initializers.Constant(0.01)"),
    ("tf", "set_dropout value=0.1", "Dropout(0.1)(hidden)"),
    ("object", "insert_dropout value=0.2", "    layers.Dropout(0.2),\n    layers.Dense(16, activation"),
    ("tape", "insert_dropout value=0.2", 'sigmoid"))\nmodel.add(keras.layers.Dropout(0.2))\n'),
    ("object", "insert_norm kind=batch", "    layers.BatchNormalization(),\n"),
    ("tf", "insert_norm kind=layer", "tf.keras.layers.LayerNormalization()(Dense(16"),
    ("object", "weight_classes", "class_weight=dict(enumerate("),
    ("tf", "shuffle_data", "(x, y)).shuffle(10_000).batch(16)"),
    ("object", "set_batch_size value=16", "verbose=0, batch_size=16)"),
    ("tf", "set_batch_size value=8", ".batch(8)"),
    ("object", "stop_early patience=5", 'EarlyStopping(monitor="val_loss", patience=5, restore_best'),
    ("tf", "reduce_on_plateau patience=2", 'tf.keras.callbacks.ReduceLROnPlateau(monitor="loss", factor=0.1'),
    ("object", "warm_up steps=10", "schedules.PolynomialDecay(1e-2 / 10, 10, end_learning_rate=1e-2)"),
    ("named", "replace_schedule kind=cosine steps=50", "schedules.CosineDecay(0.001, 50)"),
    ("tf", "pass_logits", 'Dense(3, activation="softmax")(hidden)'),
    ("object", "normalise_inputs", "x_val = (x_val - input_mean) / input_spread\n"),
]


def edited(name: str, changes: str) -> Edited | Instruction:
    script = parse_script(SOURCES[name])
    return edit_for_all(script, [Change.parse(one.strip()) for one in changes.split(" + ")])


@pytest.mark.parametrize(("name", "changes", "new"), WRITTEN)
def test_what_is_written(name: str, changes: str, new: str) -> None:
    result = edited(name, changes)
    assert isinstance(result, Edited), result.text
    assert new in result.sources["train.py"]


RUN = """
import contextlib, io, json, os, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow
tensorflow.config.run_functions_eagerly(True)
failed = {}
for name, source in json.load(sys.stdin).items():
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(source, name, "exec"), {"__name__": "__main__"})
    except Exception as error:
        failed[name] = f"{type(error).__name__}: {error}"[:300]
print(json.dumps(failed))
"""


@pytest.mark.skipif(find_spec("keras") is None, reason="needs keras")
def test_keras_takes_every_edit(tmp_path: Path) -> None:
    """All of them in one process: TensorFlow takes seconds to import."""
    sources = dict(SOURCES)
    for name, changes, _ in WRITTEN:
        result = edited(name, changes)
        assert isinstance(result, Edited)
        sources[f"{name}: {changes}"] = result.sources["train.py"]
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        input=json.dumps(sources),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-1000:]
    assert json.loads(done.stdout.splitlines()[-1]) == {}


@pytest.mark.parametrize(
    ("name", "changes", "word"),
    [
        ("object", "set_momentum value=0.9", "already"),
        ("object", "set_dropout value=0.1", "no dropout"),
        ("tape", "stop_early patience=5", "fit"),
        ("tf", "insert_dropout value=0.1", "already"),
        ("object", "drop_outliers limit=9", "before the fit"),
        ("tape", "weight_classes", "Weight the classes"),
    ],
)
def test_what_is_not_certain_is_an_instruction(name: str, changes: str, word: str) -> None:
    result = edited(name, changes)
    assert isinstance(result, Instruction)
    assert word in result.text
    assert "torch" not in result.text
    assert "PyTorch" not in result.text


@pytest.mark.parametrize(
    ("remedy", "old", "new", "expected"),
    [
        ("fix_output_layer", 'Dense(3, activation="softmax")', 'Dense(1, activation="softmax")', '"sigmoid"'),
        (
            "train_all_parameters",
            "model.compile",
            "model.layers[0].trainable = False\nmodel.compile",
            "= True",
        ),
        ("add_activation", ', activation="softmax"', "", 'Dense(3, activation="softmax")'),
    ],
)
def test_remedies_that_only_an_edit_carries_out(remedy: str, old: str, new: str, expected: str) -> None:
    script = parse_script(OBJECT.replace(old, new))
    [result] = [one for one in edit_for_remedy(script, remedy, None, None) if isinstance(one, Edited)]
    assert expected in result.sources["train.py"]
