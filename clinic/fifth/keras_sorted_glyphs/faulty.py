import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
import numpy as np

SEED = 8
keras.utils.set_random_seed(SEED)
gen = np.random.default_rng(SEED)


class GlyphMaker:
    """Random stroke glyphs, each class a fixed polyline drawn with wobble."""

    def __init__(self, n_classes=10, size=20):
        self.size = size
        self.protos = gen.uniform(4, size - 4, (n_classes, 5, 2))

    def draw(self, c):
        pts = self.protos[c] + gen.normal(0, 1.0, (5, 2)) + gen.normal(0, 1.0, 2)
        img = np.zeros((self.size, self.size))
        for a, b in zip(pts[:-1], pts[1:]):
            for t in np.linspace(0, 1, 24):
                y, x = np.clip(np.round(a + t * (b - a)), 0, self.size - 1).astype(int)
                img[y, x] = 1
        return img + gen.normal(0, 0.45, img.shape)

    def make(self, per_class):
        x = np.stack([self.draw(c) for c in range(len(self.protos)) for _ in range(per_class)])
        y = np.repeat(np.arange(len(self.protos)), per_class)
        return x[..., None].astype("float32"), y


maker = GlyphMaker()
x_train, y_train = maker.make(500)
x_test, y_test = maker.make(80)

model = keras.Sequential([
    keras.Input((20, 20, 1)),
    keras.layers.Conv2D(24, 3, activation="relu"),
    keras.layers.MaxPooling2D(2),
    keras.layers.Conv2D(32, 3, activation="relu"),
    keras.layers.Flatten(),
    keras.layers.Dense(48, activation="relu"),
    keras.layers.Dropout(0.3),
    keras.layers.Dense(10, activation="softmax"),
])
model.compile(optimizer=keras.optimizers.SGD(0.02, momentum=0.9), loss="sparse_categorical_crossentropy", metrics=["accuracy"])


class Printer(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print(f"Epoch {epoch + 1:2d}: " + ", ".join(f"{k} = {v:.4f}" for k, v in logs.items()), flush=True)


model.fit(x_train, y_train, epochs=10, batch_size=50, shuffle=False, verbose=0,
          validation_data=(x_test, y_test), callbacks=[Printer()])
print("test accuracy = %.4f" % model.evaluate(x_test, y_test, verbose=0)[1])
