"""Healthy uses of compile and fit: residual, transfer, several outputs, schedules, callbacks, from logits."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

x, y = np.random.randn(600, 32, 32, 3).astype("float32"), np.random.randint(0, 10, 600)
flat, target = np.random.randn(600, 8).astype("float32"), np.random.randn(600)
EPOCHS, BATCH = 20, 32


def residual():
    inputs = keras.Input((32, 32, 3))
    z = layers.Conv2D(16, 3, padding="same", use_bias=False)(inputs)
    z = layers.BatchNormalization()(z)
    z = layers.ReLU()(z)
    branch = layers.Conv2D(16, 3, padding="same", activation="relu")(z)
    branch = layers.Conv2D(16, 3, padding="same", kernel_initializer="zeros")(branch)
    z = layers.Add()([z, branch])
    z = layers.GlobalAveragePooling2D()(z)
    return keras.Model(inputs, layers.Dense(10)(z))


model = residual()
steps = EPOCHS * (len(x) // BATCH)
rate = keras.optimizers.schedules.CosineDecay(0.0, steps, warmup_target=1e-3, warmup_steps=100)
model.compile(
    optimizer=keras.optimizers.AdamW(rate, weight_decay=1e-4, global_clipnorm=1.0),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(
    x,
    y,
    batch_size=BATCH,
    epochs=EPOCHS,
    validation_split=0.1,
    callbacks=[keras.callbacks.EarlyStopping(patience=5, restore_best_weights=True)],
)

base = keras.applications.MobileNetV2(include_top=False, weights=None, input_shape=(32, 32, 3))
base.trainable = False
tuned = keras.Sequential([base, layers.GlobalAveragePooling2D(), layers.Dropout(0.3), layers.Dense(1)])
tuned.compile("adam", loss=keras.losses.BinaryCrossentropy(from_logits=True), metrics=["AUC"])
tuned.fit(x, y > 4, epochs=2, batch_size=64)
base.trainable = True
tuned.compile(keras.optimizers.Adam(1e-5), loss=keras.losses.BinaryCrossentropy(from_logits=True))
tuned.fit(x, y > 4, epochs=2, batch_size=64)

regression = keras.Sequential([layers.Dense(64, activation="relu"), layers.Dense(1)])
regression.compile(optimizer="adam", loss="mse", metrics=["mae"])
regression.fit(flat, target, epochs=50, verbose=0, shuffle=True)

counts = keras.Sequential([layers.Dense(16, activation="relu"), layers.Dense(1, activation="softplus")])
counts.compile("rmsprop", "poisson")
counts.fit(flat, np.random.poisson(3, 600), epochs=5)

labels = keras.utils.to_categorical(y, 10)
softmax = keras.Sequential([layers.Flatten(), layers.Dense(10, activation="softmax")])
softmax.compile(keras.optimizers.SGD(0.01, momentum=0.9), "categorical_crossentropy", metrics=["accuracy"])
softmax.fit(x, labels, epochs=EPOCHS, batch_size=len(x))

several = keras.Sequential([layers.Dense(64, activation="relu"), layers.Dense(5, activation="sigmoid")])
several.compile("adam", "binary_crossentropy", metrics=["binary_accuracy"])
several.fit(flat, np.random.randint(0, 2, (600, 5)), epochs=3)

stream = tf.data.Dataset.from_tensor_slices((flat, target)).shuffle(600).batch(32).prefetch(2)
linear = keras.Sequential([layers.Dense(1)])
linear.compile("sgd", "mse")
linear.fit(stream, epochs=3)
