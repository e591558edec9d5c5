"""Losses that fell and then stand, for different reasons."""

from __future__ import annotations

import numpy as np

from tests.request.make.shapes import (
    dice,
    drift,
    fall,
    law,
    log,
    noisy,
    steps,
    to_csv,
    to_document,
    to_history,
    to_lightning,
    to_text,
    to_trainer,
)


@log
def constant_rate() -> None:
    """CIFAR-10 style, SGD at 0.1 all the way: fast progress, then noise around 0.95."""
    rng, n = dice("constant_rate"), 100
    loss = fall(n, 2.2, 0.94, 0.06) + drift(rng, n, 0.035, 0.2)
    acc = 1 - loss / 2.85 + drift(rng, n, 0.008)
    to_csv(
        "plateau_constant_rate.csv",
        {
            "epoch": range(1, n + 1),
            "lr": [0.1] * n,
            "train_loss": loss,
            "train_acc": acc,
            "val_loss": loss + 0.05 + drift(rng, n, 0.09, 0.1),
            "val_acc": acc - 0.015 + drift(rng, n, 0.025, 0.1),
        },
    )


@log
def rate_collapsed() -> None:
    """The rate is divided by 1000 at step 600 of 3000 while the loss is still falling fast."""
    rng, n = dice("rate_collapsed"), 300
    at = 60
    loss = law(n, 6.9, 2.2, 0.45, 8)
    loss[at:] = loss[at] - 0.01 * (1 - np.exp(-np.arange(n - at) / 60))
    to_document(
        "plateau_rate_collapsed.json",
        {"optimizer": "AdamW", "lr": 1e-3, "batch_size": 64, "scheduler": "StepLR"},
        {
            "step": steps(n, 10),
            "loss": noisy(rng, loss, 0.012),
            "lr": [1e-3] * at + [1e-6] * (n - at),
            "grad_norm": noisy(rng, np.full(n, 1.3), 0.15),
        },
    )


@log
def rate_low() -> None:
    """Only the class frequencies were learned: norm 0.9, SGD at 2e-6; then the loss hardly moves."""
    rng, n = dice("rate_low"), 250
    loss = fall(n, 4.9, 4.31, 0.04) - 0.02 * np.arange(n) / n
    to_lightning(
        "plateau_rate_low",
        {"lr": 2e-06, "optimizer": "sgd", "batch_size": 128, "num_classes": 100},
        {
            "epoch": [i // 25 for i in range(n)],
            "step": steps(n, 50, 49),
            "train_loss_step": noisy(rng, loss, 0.01),
            "grad_norm": noisy(rng, np.full(n, 0.9), 0.12),
            "lr-SGD": [2e-6] * n,
        },
    )


@log
def norm_tiny() -> None:
    """Stands at 1.20 of 1.386 for 85 % of the run; the gradient norm is 0.002 at an ordinary rate."""
    rng, n = dice("norm_tiny"), 200
    t = np.arange(n)
    to_trainer(
        "plateau_norm_tiny",
        {
            "step": steps(n, 25),
            "epoch": t / 40,
            "loss": noisy(rng, fall(n, 1.386, 1.204, 0.05), 0.006),
            "grad_norm": noisy(rng, fall(n, 0.4, 0.002, 0.035), 0.25),
            "learning_rate": [1e-3] * n,
        },
        {"step": steps(5, 1000), "epoch": np.arange(1, 6), "eval_loss": 1.206 + drift(rng, 5, 0.004)},
    )


@log
def both_stand() -> None:
    """Training and validation stand together at half of the way, accuracy 0.58, for 45 of 60 epochs."""
    rng, n = dice("both_stand"), 60
    loss = fall(n, 2.4, 1.17, 0.07)
    lines = []
    acc = 0.585 - 0.47 * np.exp(-np.arange(n) / 4)
    for i in range(n):
        lines.append(f"Epoch {i + 1}/{n}")
        lines.append(
            f"391/391 - 12s - loss: {loss[i] + rng.normal(0, 0.012):.4f} - accuracy: {acc[i] + rng.normal(0, 0.004):.4f}"
            f" - val_loss: {loss[i] + 0.04 + rng.normal(0, 0.03):.4f}"
            f" - val_accuracy: {acc[i] - 0.01 + rng.normal(0, 0.01):.4f} - lr: 0.0030"
        )
    to_text("plateau_both.txt", lines)


@log
def saddle() -> None:
    """Plain SGD: down to 1.79 early, then flat with a norm around 0.004; five classes more would be learnable."""
    rng, n = dice("saddle"), 400
    to_document(
        "plateau_saddle.json",
        {"optimizer": "SGD", "lr": 0.01, "momentum": 0.0, "batch_size": 256, "num_classes": 10},
        {
            "step": steps(n, 12),
            "train_loss": noisy(rng, fall(n, 2.31, 1.79, 0.05), 0.004),
            "grad_norm": noisy(rng, fall(n, 0.5, 0.004, 0.04), 0.2),
            "lr": [0.01] * n,
        },
    )


@log
def onset() -> None:
    """5000 steps, thinned: falls until step 1000, stands from there on."""
    rng, n = dice("onset"), 500
    t = np.arange(n)
    loss = np.where(t < 100, 4.2 - 2.1 * (t / 100) ** 0.6, 2.1)
    to_csv(
        "plateau_onset.csv",
        {"step": steps(n, 10), "loss": noisy(rng, loss, 0.012), "lr": [5e-4] * n},
    )


@log
def history_stands() -> None:
    """training_history.json: nothing moves after the fourteenth of 40 epochs."""
    rng, n = dice("history_stands"), 40
    loss = fall(n, 1.95, 1.12, 0.09)
    acc = 0.61 - 0.4 * np.exp(-np.arange(n) / 3.5)
    to_history(
        "plateau_history/training_history.json",
        {
            "loss": loss + rng.normal(0, 0.003, n),
            "accuracy": acc + rng.normal(0, 0.003, n),
            "val_loss": loss + 0.03 + rng.normal(0, 0.012, n),
            "val_accuracy": acc - 0.01 + rng.normal(0, 0.006, n),
            "learning_rate": [1e-3] * n,
        },
    )


@log
def only_validation() -> None:
    """Training goes on, validation stands from epoch 9 on."""
    rng, n = dice("only_validation"), 45
    to_csv(
        "plateau_validation.csv",
        {
            "epoch": range(n),
            "accuracy": 0.93 - 0.45 * np.exp(-np.arange(n) / 14) + rng.normal(0, 0.004, n),
            "loss": fall(n, 1.3, 0.22, 0.3) + rng.normal(0, 0.008, n),
            "val_accuracy": 0.795 - 0.3 * np.exp(-np.arange(n) / 3) + rng.normal(0, 0.006, n),
            "val_loss": fall(n, 1.15, 0.63, 0.06) + rng.normal(0, 0.012, n),
        },
    )


@log
def stands_in_words() -> None:
    """A plain log of few values, for the interview: the user says that it is a problem."""
    rng, n = dice("stands_in_words"), 80
    loss = noisy(rng, fall(n, 3.4, 1.9, 0.08), 0.015)
    to_text("plateau_words.log", [f"[{i * 50:5d}] train loss {value:.3f}" for i, value in enumerate(loss)])


@log
def large_batch() -> None:
    """Batch 16384 at the rate of batch 256: a very smooth curve that hardly goes on."""
    rng, n = dice("large_batch"), 90
    loss = fall(n, 6.95, 5.6, 0.15) + drift(rng, n, 0.004)
    to_lightning(
        "slow_large_batch",
        {"lr": 0.1, "optimizer": "sgd", "momentum": 0.9, "batch_size": 16384, "num_classes": 1000},
        {
            "epoch": range(n),
            "step": steps(n, 78, 77),
            "train_loss": loss,
            "val_loss": loss + 0.02 + drift(rng, n, 0.01),
            "lr-SGD": [0.1] * n,
        },
    )
