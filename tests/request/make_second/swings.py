"""Losses that swing, or are flat from the start."""

from __future__ import annotations

import numpy as np

from tests.request.make_second.formats import (
    cosine,
    fall,
    history,
    level,
    lightning,
    lines,
    rng,
    table,
    text,
    trainer,
)


def write() -> None:
    swings()
    flat()


def swings() -> None:
    r = rng("adam high")
    n = 300
    wave = 0.9 + 0.6 * np.abs(r.standard_normal(n)) + 0.5 * np.sin(np.arange(n) * 2.4)
    lightning(
        "adam_high",
        {"optimizer": "Adam", "learning_rate": 0.05, "batch_size": 256, "max_epochs": 15, "task": "tabular"},
        {"train_loss_step": np.maximum(wave, 0.2)},
        {"val_loss": 1.2 + 0.5 * r.random(15), "val_auroc": 0.58 + 0.04 * r.standard_normal(15)},
    )

    r = rng("batch of two")
    n = 500
    loss = 1.6 * np.exp(0.75 * r.standard_normal(n))
    printed = [f"it {i * 5:5d}  loss {loss[i]:7.4f}  gn {g:6.2f}" for i, g in enumerate(level(r, n, 4, 0.8))]
    text(
        "batch_of_two.txt",
        ["detector fine-tuning: optimizer=AdamW lr=1e-4 batch_size=2 backbone=r50 (constant lr)"],
        printed,
    )

    r = rng("growing swings")
    n = 220
    t = np.arange(n)
    mae = (
        4
        + 6 * np.exp(-t / 15)
        + 0.08 * np.exp(t / 42) * np.sin(t * 1.3) * (1 + 0.2 * r.standard_normal(n))
        + 0.012 * np.exp(t / 36)
    )
    table(
        "growing_swings.csv",
        {"epoch": t, "train_mae": np.abs(mae), "val_mae": np.abs(mae) * 1.05, "lr": [0.1] * n},
    )

    r = rng("validation swings")
    n = 70
    history(
        "validation_swings.json",
        {
            "loss": fall(r, n, 1.4, 0.28, 14, 0.01),
            "accuracy": 1 - fall(r, n, 0.5, 0.09, 14, 0.02),
            "val_loss": fall(r, n, 1.4, 0.5, 14, 0.02) * np.exp(np.abs(0.75 * r.standard_normal(n))),
            "val_accuracy": 0.86 - np.abs(0.16 * r.standard_normal(n)),
        },
    )

    r = rng("heavy momentum")
    n = 360
    t = np.arange(n)
    loss = (
        0.6
        + 1.8 * np.exp(-t / 120) * (1.05 + np.sin(t / 5.5))
        + 0.25 * (1 + np.sin(t / 5.5))
        + 0.02 * r.standard_normal(n)
    )
    lines(
        "heavy_momentum.jsonl",
        {"step": t, "loss": loss, "lr": [0.02] * n},
        {"args": {"optimizer": "sgd", "lr": 0.02, "momentum": 0.995, "batch_size": 128}},
    )

    r = rng("sorted data")
    n, per_epoch = 480, 48
    t = np.arange(n)
    saw = 0.35 + 1.5 * ((t % per_epoch) // 12 == 0) * np.exp(-(t % 12) / 3) + 0.9 * ((t % per_epoch) % 12 < 4)
    table(
        "sorted_data.csv",
        {
            "epoch": t // per_epoch,
            "batch": t % per_epoch,
            "step": t,
            "batch_loss": saw * np.exp(0.06 * r.standard_normal(n)),
        },
    )


def flat() -> None:
    r = rng("twenty classes")
    n = 40
    printed = [
        f"Epoch {i + 1}/{n} - loss: {2.9957 + 0.004 * r.standard_normal():.4f} - acc: {0.05 + 0.003 * r.standard_normal():.4f}"
        f" - val_loss: {2.9959 + 0.003 * r.standard_normal():.4f} - val_acc: {0.05 + 0.004 * r.standard_normal():.4f}"
        for i in range(n)
    ]
    text("twenty_classes.txt", ["num_classes = 20, optimizer = Adam, lr = 0.001, batch_size = 64"], printed)

    r = rng("rate of nothing")
    n = 150
    trainer(
        "rate_of_nothing/trainer_state.json",
        {
            "loss": 10.37 * np.exp(0.003 * r.standard_normal(n)),
            "grad_norm": level(r, n, 3.1, 0.1),
            "learning_rate": [1e-8] * n,
        },
        {"eval_loss": 10.372 + 0.0005 * r.standard_normal(5)},
    )

    r = rng("zero gradients")
    n = 200
    table(
        "zero_gradients.csv",
        {
            "_step": np.arange(n) * 10,
            "_runtime": np.arange(n) * 3.1,
            "train/loss": 1.386 + 0.012 * r.standard_normal(n),
            "train/grad_norm": [0.0] * n,
            "train/lr": [3e-4] * n,
        },
    )

    r = rng("coin")
    n = 30
    history(
        "coin/training_history.json",
        {
            "binary_accuracy": 0.5 + 0.004 * r.standard_normal(n),
            "loss": 0.6932 + 0.0005 * r.standard_normal(n),
            "val_binary_accuracy": 0.5 + 0.006 * r.standard_normal(n),
            "val_loss": 0.6932 + 0.0004 * r.standard_normal(n),
        },
    )

    text(
        "same_digits.txt",
        ["optimizer: RMSprop  lr: 0.002  batch: 32"],
        [f"epoch {i:2d}: train_loss=1.847221 val_loss=1.851093 val_acc=0.1719" for i in range(1, 26)],
    )

    r = rng("predicts the mean")
    n = 80
    train = 1.0 + 0.006 * r.standard_normal(n)
    table(
        "predicts_the_mean.csv",
        {
            "epoch": np.arange(1, n + 1),
            "train_mse": train,
            "val_mse": 1.01 + 0.005 * r.standard_normal(n),
            "val_r2": -0.005 + 0.004 * r.standard_normal(n),
            "lr": cosine(n, 1e-3),
        },
    )

    r = rng("blocked from the start")
    n = 180
    lines(
        "blocked.jsonl",
        {
            "step": np.arange(n) * 50,
            "loss": 2.3028 + 0.003 * r.standard_normal(n),
            "grad_norm": level(r, n, 4e-9, 0.3),
        },
        {
            "config": {
                "lr": 0.01,
                "optimizer": "sgd",
                "layers": 20,
                "activation": "sigmoid",
                "num_classes": 10,
            }
        },
    )
