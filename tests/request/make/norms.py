"""Gradient norms as evidence, and NaN."""

from __future__ import annotations

import numpy as np

from tests.request.make.shapes import (
    cosine,
    dice,
    fall,
    law,
    log,
    noisy,
    steps,
    to_csv,
    to_document,
    to_history,
    to_jsonl,
    to_text,
    to_trainer,
)


@log
def zero_at_chance() -> None:
    """Ten classes at 2.303 with a norm of 3e-8 and a rate of 1e-3."""
    rng, n = dice("zero_at_chance"), 200
    to_csv(
        "norm_zero.csv",
        {
            "step": steps(n, 10),
            "loss": 2.3029 + rng.normal(0, 0.002, n),
            "grad_norm": noisy(rng, np.full(n, 3e-8), 0.2),
            "lr": [1e-3] * n,
        },
    )


@log
def grows() -> None:
    """From 4 to 700; the loss gets restless and rises."""
    rng, n = dice("grows"), 240
    t = np.arange(n)
    norm = noisy(rng, 4 * np.exp(t / 46), 0.25)
    loss = noisy(rng, 1.4 + 1.9 * np.exp(-t / 25) + 0.02 * np.exp(t / 55), 0.04)
    to_jsonl("norm_grows.jsonl", {"step": t * 5, "loss": loss, "grad_norm": norm, "lr": [2e-3] * n})


@log
def grows_then_nan() -> None:
    """HF Trainer: the norm climbs for 30 records, NaN from step 1840 on."""
    rng, n = dice("grows_then_nan"), 200
    t = np.arange(n)
    loss = noisy(rng, law(n, 9.8, 4.0, 0.5, 10), 0.012)
    norm = noisy(rng, np.full(n, 1.1), 0.15)
    norm[154:184] *= np.exp(np.arange(30) / 3.2)
    loss[170:184] *= np.exp(np.arange(14) / 14)
    loss[184:], norm[184:] = np.nan, np.nan
    to_trainer(
        "norm_nan",
        {
            "step": steps(n, 10),
            "epoch": t / 100,
            "loss": loss,
            "grad_norm": norm,
            "learning_rate": cosine(n, 1e-3),
        },
    )


@log
def calm_then_nan() -> None:
    """Nothing unusual, norm 0.6, and NaN from one step to the next at 3710."""
    rng, n = dice("calm_then_nan"), 400
    loss, norm = noisy(rng, law(n, 1.4, 0.22, 0.6, 15), 0.03), noisy(rng, np.full(n, 0.6), 0.15)
    loss[371:], norm[371:] = np.nan, np.nan
    to_document(
        "nan_calm.json",
        {"optimizer": "Adam", "lr": 3e-4, "batch_size": 128, "precision": "fp32"},
        {"step": steps(n, 10, 0), "loss": loss, "grad_norm": norm},
    )


@log
def nan_first() -> None:
    """Three finite values, the third of them enormous."""
    lines = [
        f"iter {i}: loss {value}"
        for i, value in enumerate(("4.8127", "31877.2031", "2.1e+19", *["nan"] * 27))
    ]
    to_text("nan_first.txt", ["optimizer: SGD (lr=10, momentum=0.9)", *lines])


@log
def nan_epochs() -> None:
    """Keras CSVLogger: NaN from epoch 18 on, after two epochs of rising loss."""
    rng, n = dice("nan_epochs"), 25
    loss = fall(n, 2.2, 0.8, 0.2) + rng.normal(0, 0.01, n)
    loss[16:18] = [1.9, 41.3]
    loss[18:] = np.nan
    to_csv(
        "nan_epochs.csv",
        {"epoch": range(n), "loss": loss, "val_loss": loss * 1.07, "learning_rate": [0.01] * n},
    )


@log
def history_vanish() -> None:
    """Keras history with a list of gradient norms: 4e-9."""
    rng, n = dice("history_vanish"), 25
    to_history(
        "norm_history/training_history.json",
        {
            "loss": 1.6098 + rng.normal(0, 0.0008, n),
            "val_loss": 1.6101 + rng.normal(0, 0.0004, n),
            "accuracy": 0.2 + rng.normal(0, 0.006, n),
            "grad_norm": noisy(rng, np.full(n, 4e-9), 0.2),
        },
    )


@log
def history_explode() -> None:
    """Keras history: the norm goes from 12 to 3e4 while the loss rises."""
    rng, n = dice("history_explode"), 22
    e = np.arange(n)
    to_history(
        "norm_history_large/training_history.json",
        {
            "loss": noisy(rng, 0.9 + 0.02 * np.exp(e / 3.4), 0.05),
            "val_loss": noisy(rng, 1.0 + 0.025 * np.exp(e / 3.4), 0.08),
            "gradient_norm": noisy(rng, 12 * np.exp(e / 2.7), 0.2),
        },
    )


@log
def layers_fade() -> None:
    """A norm for each of eight layers: from 0.3 at the end to 2e-9 at the beginning; the loss stands at chance."""
    rng, n = dice("layers_fade"), 120
    columns = {"step": steps(n, 10), "loss": 2.3031 + rng.normal(0, 0.003, n)}
    for i in range(8):
        columns[f"grad_norm/layers.{i}"] = noisy(rng, np.full(n, 0.3 * 14.0 ** (i - 7)), 0.15)
    to_jsonl("norm_layers.jsonl", columns)


@log
def nan_in_half() -> None:
    """fp16 with a loss scale that is halved again and again, then NaN."""
    rng, n = dice("nan_in_half"), 150
    loss = noisy(rng, law(n, 7.5, 3.3), 0.02)
    scale = 65536.0 * 0.5 ** np.floor(np.maximum(0, np.arange(n) - 90) / 4)
    loss[140:] = np.nan
    to_document(
        "nan_half.json",
        {"precision": "fp16", "optimizer": "AdamW", "lr": 3e-4, "batch_size": 32},
        {"step": steps(n, 10), "loss": loss, "loss_scale": scale},
    )


@log
def tiny_updates() -> None:
    """Falls by 0.03 in 4000 steps: norm 0.05 to 0.02, SGD at 1e-4."""
    rng, n = dice("tiny_updates"), 200
    to_document(
        "slow_fall.json",
        {"optimizer": "SGD", "lr": 1e-4, "momentum": 0, "batch_size": 64},
        {
            "step": steps(n, 20),
            "loss": 4.60 - 0.035 * np.arange(n) / n + rng.normal(0, 0.004, n),
            "grad_norm": noisy(rng, np.full(n, 0.9), 0.1),
            "lr": [1e-4] * n,
        },
    )


@log
def large_batch_explodes() -> None:
    """Batch 8192 at a rate of 3.2 without warm-up: the norm jumps to 200 in the first steps and the loss rises."""
    rng, n = dice("large_batch_explodes"), 80
    t = np.arange(n)
    to_document(
        "norm_large_batch.json",
        {"optimizer": "SGD", "lr": 3.2, "momentum": 0.9, "batch_size": 8192, "warmup_steps": 0},
        {
            "step": t,
            "loss": noisy(rng, 6.9 + 9 * (1 - np.exp(-t / 9)), 0.06),
            "grad_norm": noisy(rng, 3 + 200 * (1 - np.exp(-t / 6)), 0.2),
            "lr": [3.2] * n,
        },
    )
