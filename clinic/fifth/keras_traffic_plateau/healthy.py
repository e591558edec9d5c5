# Multi-step traffic forecasting with a GRU (Keras 3, TensorFlow backend)
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import keras
from keras import layers, callbacks

keras.utils.set_random_seed(55)
rng = np.random.default_rng(55)

T, SENSORS = 4300, 6
t = np.arange(T)
base = np.stack([np.sin(2 * np.pi * (t + s) / 48) + .5 * np.sin(2 * np.pi * (t + 2 * s) / 16) for s in rng.uniform(0, 24, SENSORS)], 1)
shock = np.zeros((T, SENSORS))
for i in range(3, T):
    shock[i] = .82 * shock[i - 1] - .2 * shock[i - 3] + .5 * np.roll(shock[i - 1], 1) * .3 + rng.normal(0, .25, SENSORS)
flow = (base * (1 + .3 * np.sin(2 * np.pi * t / 336))[:, None] + np.tanh(shock) * 1.2).astype("float32")
split = 3500
flow = (flow - flow[:split].mean(0)) / flow[:split].std(0)

LOOKBACK, HORIZON = 32, 4


def frames(a):
    idx = np.arange(len(a) - LOOKBACK - HORIZON)
    x = np.stack([a[i:i + LOOKBACK] for i in idx])
    y = np.stack([a[i + LOOKBACK:i + LOOKBACK + HORIZON] for i in idx]).reshape(len(idx), -1)
    return x, y


xtr, ytr = frames(flow[:split])
xva, yva = frames(flow[split:])

model = keras.Sequential([layers.Input((LOOKBACK, SENSORS)), layers.GRU(40), layers.Dense(HORIZON * SENSORS)])
model.compile(optimizer=keras.optimizers.Adam(6e-4), loss="mse", metrics=["mae"])
cb = [callbacks.ReduceLROnPlateau(monitor="val_loss", mode="min", factor=0.2, patience=2, min_lr=1e-6, verbose=1)]
h = model.fit(xtr, ytr, validation_data=(xva, yva), batch_size=32, epochs=18, callbacks=cb, verbose=2)
print(f"best val mse {min(h.history['val_loss']):.4f}")
