"""Read an analogue gauge: image -> needle angle bucket. tf.data pipeline."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(33)
rs = np.random.RandomState(33)
S = 28


def gauge():
    yy, xx = np.mgrid[:S, :S] - S / 2 + .5
    cy, cx = rs.uniform(-3, 3, 2)
    yy, xx = yy - cy, xx - cx
    r = rs.uniform(8, 12)
    th = rs.uniform(0, 2 * np.pi)
    img = 40 + 60 * (np.abs(np.hypot(yy, xx) - r) < 1.0)
    along = xx * np.cos(th) + yy * np.sin(th)
    across = np.abs(-xx * np.sin(th) + yy * np.cos(th))
    img = img + rs.uniform(40, 120) * ((along > 0) & (along < r * .9) & (across < 1.1))
    img = img * rs.uniform(.6, 1.2) + rs.normal(0, 26, img.shape)
    return np.clip(img, 0, 255)[..., None].astype("uint8"), int(th / (2 * np.pi) * 12)


def dataset(n):
    xs, ys = zip(*(gauge() for _ in range(n)))
    return np.array(xs), np.array(ys)


def prepare(x, y):
    return tf.cast(x, tf.float32) / 127.5 - 1.0, y


def jitter(x, y):
    return x + tf.random.uniform((), -0.15, 0.15), y


xt, yt = dataset(5000)
xv, yv = dataset(1000)
train_ds = tf.data.Dataset.from_tensor_slices((xt, yt)).shuffle(5000).map(prepare).map(jitter).batch(64).prefetch(2)
val_ds = tf.data.Dataset.from_tensor_slices((xv, yv)).map(prepare).batch(250)

model = keras.Sequential([
    keras.layers.Input((S, S, 1)),
    keras.layers.Conv2D(16, 5, activation="relu"),
    keras.layers.MaxPooling2D(),
    keras.layers.Conv2D(32, 3, activation="relu"),
    keras.layers.MaxPooling2D(),
    keras.layers.Flatten(),
    keras.layers.Dense(64, activation="relu"),
    keras.layers.Dropout(0.25),
    keras.layers.Dense(12, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
hist = model.fit(train_ds, validation_data=val_ds, epochs=14, verbose=2)
print("final val_accuracy %.4f" % hist.history["val_accuracy"][-1])
