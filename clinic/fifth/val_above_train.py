# Keras: strong augmentation, mixup-free, heavy dropout
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(77)
rng = np.random.default_rng(77)


def leaf(kind):
    s = 24
    yy, xx = (np.mgrid[:s, :s] - s / 2 + .5) / (s / 2)
    a = rng.normal(0, .4)
    u, v = xx * np.cos(a) + yy * np.sin(a), -xx * np.sin(a) + yy * np.cos(a)
    r, th = np.hypot(u, v), np.arctan2(v, u)
    edge = {0: .62, 1: .55 + .13 * np.cos(5 * th), 2: .55 + .13 * np.cos(3 * th), 3: .42 + .3 * np.abs(np.cos(th)), 4: .6 - .25 * np.abs(np.sin(2 * th))}[kind]
    img = (r < edge) * rng.uniform(.5, 1) + rng.normal(0, .35, (s, s))
    return img[..., None]


def make(n):
    y = rng.integers(0, 5, n)
    return np.stack([leaf(k) for k in y]).astype("float32"), y


x, y = make(4500)
xv, yv = make(1000)
model = keras.Sequential([
    layers.Input((24, 24, 1)),
    layers.RandomFlip("horizontal_and_vertical"),
    layers.RandomTranslation(.15, .15),
    layers.RandomZoom(.25),
    layers.GaussianNoise(.25),
    layers.Conv2D(24, 3, activation="relu", padding="same"), layers.MaxPooling2D(),
    layers.SpatialDropout2D(.2),
    layers.Conv2D(48, 3, activation="relu", padding="same"), layers.MaxPooling2D(),
    layers.Conv2D(48, 3, activation="relu", padding="same"),
    layers.Flatten(), layers.Dropout(.5),
    layers.Dense(64, activation="relu"), layers.Dropout(.5),
    layers.Dense(5, activation="softmax"),
])
model.compile(keras.optimizers.Adam(1.5e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x, y, validation_data=(xv, yv), epochs=16, batch_size=64, verbose=2)
print("validation accuracy", round(model.evaluate(xv, yv, verbose=0)[1], 4))
