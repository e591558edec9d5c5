import os
os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(1)
rng = np.random.default_rng(1)

# Support tickets: token ids from a topic grammar, 6 queues
N_CLS, VOCAB, LEN = 6, 400, 30
topic_words = rng.dirichlet(np.full(VOCAB, 0.03), size=(N_CLS, 3))
common = rng.dirichlet(np.full(VOCAB, 0.3))


def tickets(n):
    y = rng.integers(0, N_CLS, n)
    x = np.zeros((n, LEN), "int32")
    for i in range(n):
        sub = topic_words[y[i], rng.integers(0, 3)]
        ln = rng.integers(10, LEN + 1)
        k = rng.random(ln) < 0.16
        x[i, :ln] = 1 + np.where(k, rng.choice(VOCAB, ln, p=sub), rng.choice(VOCAB, ln, p=common))
    return x, y


x_train, y_train = tickets(8000)
x_val, y_val = tickets(1500)

inp = keras.Input((LEN,), dtype="int32")
h = layers.Embedding(VOCAB + 1, 32)(inp)
h = layers.Conv1D(48, 3, padding="same", activation="relu")(h)
h = layers.GlobalMaxPooling1D()(h)
h = layers.Dropout(0.3)(h)
h = layers.Dense(32, activation="relu")(h)
out = layers.Dense(N_CLS)(h)
model = keras.Model(inp, out)

model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(x_train, y_train, validation_data=(x_val, y_val), epochs=9, batch_size=48, verbose=2)
print("val accuracy:", model.evaluate(x_val, y_val, verbose=0)[1])
