"""Losses that swing, spike or run away."""

from __future__ import annotations

import numpy as np

from .formats import (
    cosine,
    expo,
    history,
    keras,
    level,
    lightning,
    lines,
    power,
    rng,
    rough,
    table,
    text,
    wander,
)


def write() -> None:
    r = rng("adam 0.03")
    n = 30
    keras(
        "swings_keras_adam.txt",
        {
            "loss": np.clip(1.55 * np.exp(wander(r, n, 0.38, -0.35)), 0.4, 6),
            "mae": np.clip(0.9 * np.exp(wander(r, n, 0.25, -0.35)), 0.2, 4),
            "val_loss": np.clip(1.7 * np.exp(wander(r, n, 0.5, -0.2)), 0.4, 9),
        },
        94,
        header=[
            "model.compile(optimizer=Adam(learning_rate=0.03), loss='mse', metrics=['mae'])",
            "batch_size=256",
        ],
    )

    r = rng("batch of two")
    n = 120
    out = [
        f"it {i * 10:5d}  dice_loss {x:.4f}  lr 1.00e-04"
        for i, x in enumerate(
            np.clip(0.52 + 0.23 * r.standard_normal(n) - 0.04 * (1 - np.exp(-np.arange(n) / 60)), 0.03, 1.0)
        )
    ]
    text(
        "swings_batch_of_two.txt",
        "UNet3D lesions | batch_size=2 (one patch each) | batch norm | Adam lr=1e-4",
        out,
    )

    r = rng("growing")
    n = 96
    t = np.arange(n)
    swing = 0.022 * np.exp(t / 23) * np.sin(t * 1.9) + 0.015 * r.standard_normal(n)
    loss = (0.9 + 1.2 * np.exp(-t / 15)) * np.exp(swing)
    lines(
        "swings_growing.jsonl",
        {"step": t * 20, "loss": loss, "lr": [0.4] * n},
        {"optimizer": "sgd", "momentum": 0.95, "lr": 0.4, "batch_size": 64},
    )

    r = rng("runs away")
    n = 40
    t = np.arange(n)
    up = np.where(t < 12, 0.0, 0.035 * np.maximum(0, t - 12) ** 1.6)
    history(
        "diverges/training_history.json",
        {
            "loss": rough(r, expo(n, 1.9, 0.98, 4) + up, 0.012),
            "val_loss": rough(r, expo(n, 1.8, 1.02, 4) + up * 1.1, 0.02),
            "lr": [0.05] * n,
        },
    )

    r = rng("left the valley")
    n = 56
    lr = cosine(n, 4e-3, 18, 4e-4)
    loss = rough(r, power(n, 10.8, 3.1, 2.5, 0.9), 0.01)
    norm = level(r, n, 0.7, 0.2)
    loss[17:] = rough(r, 7.45 - 0.001 * np.arange(n - 17), 0.006)
    loss[14:17] = [4.62, 5.7, 8.9]
    norm[13:18] = [3.1, 9.4, 41.0, 88.0, 12.0]
    text(
        "diverges_in_warmup.log",
        "gpt 1.3B | AdamW betas 0.9 0.999 | peak lr 4e-3 | warmup 1800 | clip none | bf16",
        [
            f"{(i + 1) * 100:6d} | lr {lr[i]:.2e} | loss {loss[i]:.3f} | gnorm {norm[i]:.2f} | 188k tok/s"
            for i in range(n)
        ],
    )

    r = rng("returns")
    n = 150
    loss, norm = rough(r, expo(n, 4.1, 1.32, 40), 0.018), level(r, n, 1.0, 0.18)
    for at, height in ((70, 3.9), (131, 4.6)):
        loss[at : at + 4] += height * np.array([1, 0.55, 0.22, 0.08])
        norm[at] = 17 * height
    lightning(
        "spikes_return",
        {"lr": 0.002, "optimizer": "AdamW", "batch_size": 16, "gradient_clip_val": None},
        {"train_loss": loss, "grad_norm": norm},
        {"val_loss": rough(r, expo(12, 2.7, 1.4, 3), 0.01)},
        every=10,
    )

    r = rng("stays up")
    n = 66
    loss, norm = rough(r, power(n, 9.0, 2.2, 4, 1.0), 0.01), level(r, n, 0.5, 0.2)
    loss[44:] = rough(r, 5.9 - 0.35 * (1 - np.exp(-np.arange(n - 44) / 30)), 0.01)
    norm[42:47] = [4.0, 55.0, 260.0, 31.0, 6.0]
    lines(
        "spike_stays.jsonl",
        {"step": np.arange(1, n + 1) * 50, "loss": loss, "grad_norm": norm, "lr": cosine(n, 1.2e-3, 8)},
        {"note": "checkpoint every 1000 steps", "optimizer": "adamw", "batch_size": 128},
    )

    r = rng("one bad shard")
    n = 200
    loss = rough(r, expo(n, 3.2, 0.92, 55), 0.025)
    for epoch in range(5):
        loss[epoch * 40 + 27] += 5.4 + 0.8 * r.random()
    table(
        "spikes_same_batch.csv",
        {
            "epoch": np.arange(n) // 40,
            "batch": np.arange(n) % 40,
            "step": np.arange(n),
            "loss": loss,
            "lr": [1e-4] * n,
        },
    )
