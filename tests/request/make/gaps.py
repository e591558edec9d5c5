"""Validation that is worse than training, underfitting, and double descent."""

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
    to_history,
    to_lightning,
    to_text,
)


@log
def accuracy_only() -> None:
    """No loss at all: training accuracy reaches 1.00, validation stays at 0.74."""
    rng, n = dice("accuracy_only"), 50
    up = 1 - np.exp(-np.arange(n) / 5)
    to_csv(
        "gap_accuracy.csv",
        {
            "epoch": range(1, n + 1),
            "train_acc": np.minimum(1, 0.35 + 0.655 * up + rng.normal(0, 0.003, n)),
            "val_acc": 0.33 + 0.41 * (1 - np.exp(-np.arange(n) / 3)) + rng.normal(0, 0.007, n),
        },
    )


@log
def accuracy_35_points() -> None:
    """Flowers, 102 classes, ten images each: 0.999 against 0.61, with the losses next to them."""
    rng, n = dice("accuracy_35_points"), 80
    up = 1 - np.exp(-np.arange(n) / 9)
    lines = []
    for i in range(n):
        lines.append(
            f"epoch {i:3d} train_loss={4.6 * np.exp(-i / 9) + 0.02 + abs(rng.normal(0, 0.004)):.4f}"
            f" train_acc={min(0.999, 0.01 + 0.99 * up[i] + rng.normal(0, 0.004)):.4f}"
            f" val_loss={1.75 + 2.8 * np.exp(-i / 7) + rng.normal(0, 0.02):.4f}"
            f" val_acc={0.01 + 0.6 * up[i] + rng.normal(0, 0.008):.4f} time=4.{rng.integers(10, 99)}s"
        )
    to_text("gap_35_points.log", lines)


@log
def loss_gap() -> None:
    """Keras history: 0.14 against 0.89."""
    rng, n = dice("loss_gap"), 30
    to_history(
        "gap_history/training_history.json",
        {
            "loss": fall(n, 1.6, 0.12, 0.25) + rng.normal(0, 0.008, n),
            "val_loss": 0.80
            + 0.6 * np.exp(-np.arange(n) / 3)
            + 0.004 * np.arange(n)
            + rng.normal(0, 0.015, n),
        },
    )


@log
def u_turn() -> None:
    """Validation is best at epoch 12 and rises from there."""
    rng, n = dice("u_turn"), 60
    e = np.arange(n)
    to_csv(
        "gap_u_turn.csv",
        {
            "epoch": e,
            "train_loss": fall(n, 0.71, 0.03, 0.3) + np.abs(rng.normal(0, 0.006, n)),
            "valid_loss": 0.70
            - 0.26 * np.minimum(1, e / 12)
            + 0.012 * np.maximum(0, e - 12)
            + rng.normal(0, 0.012, n),
        },
    )


@log
def f1() -> None:
    """Only F1 on both sides."""
    rng, n = dice("f1"), 25
    to_lightning(
        "gap_f1",
        {"lr": 5e-5, "optimizer": "adamw", "weight_decay": 0.0, "batch_size": 16, "train_samples": 820},
        {
            "epoch": range(n),
            "step": steps(n, 52, 51),
            "train_f1": np.minimum(
                1, 0.4 + 0.6 * (1 - np.exp(-np.arange(n) / 2.5)) + rng.normal(0, 0.003, n)
            ),
            "val_f1": 0.38 + 0.2 * (1 - np.exp(-np.arange(n) / 2)) + rng.normal(0, 0.01, n),
        },
    )


@log
def small_text() -> None:
    """nanoGPT on a small text: training 0.9, validation turned at 1.47 and is at 2.6."""
    rng, n = dice("small_text"), 41
    lines = ["number of parameters: 10.65M", "tokens per iteration will be: 16,384"]
    for i in range(n):
        step = i * 125
        train = 0.16 + 2.9 * np.exp(-i / 4) + 1.15 * np.exp(-((i / 24) ** 2)) + abs(rng.normal(0, 0.01))
        val = 1.47 + 2.7 * np.exp(-i / 2.2) + 0.0011 * max(0, i - 9) ** 2 + rng.normal(0, 0.015)
        lines.append(f"step {step}: train loss {train:.4f}, val loss {val:.4f}")
        lines += [
            f"iter {step + k}: loss {train * np.exp(rng.normal(0, 0.04)):.4f}, time {41 + rng.normal(0, 1):.2f}ms, mfu 9.8%"
            for k in (0, 60)
        ]
    to_text("gap_nanogpt.txt", lines)


@log
def rmse() -> None:
    """A regression: 3.1 against 11 on a target with a deviation of 15."""
    rng, n = dice("rmse"), 120
    to_csv(
        "gap_rmse.csv",
        {
            "epoch": range(n),
            "train_rmse": noisy(rng, fall(n, 15.2, 2.9, 0.2), 0.02),
            "val_rmse": noisy(rng, 10.1 + 5 * np.exp(-np.arange(n) / 8) + 0.009 * np.arange(n), 0.02),
        },
    )


@log
def both_high() -> None:
    """Ten classes, 60 epochs with a cosine schedule: 1.45 and 1.48, accuracy 0.47 on both sides."""
    rng, n = dice("both_high"), 60
    loss = fall(n, 2.25, 1.45, 0.12)
    rate = 0.05 * (1 + np.cos(np.pi * np.arange(n) / n)) / 2
    to_csv(
        "underfit_both.csv",
        {
            "epoch": range(n),
            "loss": loss + rng.normal(0, 0.006, n),
            "accuracy": 0.76 - loss / 5 + rng.normal(0, 0.003, n),
            "val_loss": loss + 0.03 + rng.normal(0, 0.01, n),
            "val_accuracy": 0.755 - loss / 5 + rng.normal(0, 0.005, n),
            "learning_rate": rate,
        },
    )


@log
def too_short() -> None:
    """Ended while both curves were still falling steadily."""
    rng, n = dice("too_short"), 20
    e = np.arange(n)
    to_csv(
        "underfit_short.csv",
        {
            "epoch": e + 1,
            "train_loss": 6.9 - 0.095 * e + rng.normal(0, 0.015, n),
            "val_loss": 6.92 - 0.091 * e + rng.normal(0, 0.03, n),
            "lr": [3e-5] * n,
        },
    )


@log
def double_descent() -> None:
    """Validation improves, is worst at epoch 130 (training error reaches zero), and ends better than before."""
    rng, n = dice("double_descent"), 500
    e = np.arange(0, 2 * n, 2)
    bump = 0.55 * np.exp(-((np.log((e + 1) / 130)) ** 2) / 0.55)
    to_csv(
        "descent_epochs.csv",
        {
            "epoch": e,
            "train_loss": noisy(rng, 0.004 + 1.9 * np.exp(-e / 45), 0.04),
            "val_loss": 0.78
            + 1.5 * np.exp(-e / 12)
            - 0.14 * (1 - np.exp(-e / 500))
            + bump
            + rng.normal(0, 0.012, n),
            "train_acc": np.minimum(1, 0.3 + 0.7 * (1 - np.exp(-e / 50)) + rng.normal(0, 0.002, n)),
            "val_acc": 0.74
            - 0.5 * np.exp(-e / 12)
            + 0.05 * (1 - np.exp(-e / 500))
            - bump / 4
            + rng.normal(0, 0.005, n),
        },
    )


@log
def descent_sizes() -> None:
    """Nine widths: the validation error has a peak at width 32 and is lowest at 512."""
    rng, n = dice("descent_sizes"), 30
    for i, width in enumerate((2, 4, 8, 16, 32, 64, 128, 256, 512)):
        train = max(0.001, 0.9 - 0.22 * i)
        final = (1.0, 0.78, 0.7, 0.84, 1.15, 0.86, 0.66, 0.58, 0.54)[i]
        to_lightning(
            f"descent_sizes/width_{width}",
            {"lr": 0.01, "optimizer": "sgd", "width": width, "parameters": 50 * width + 10, "seed": 0},
            {
                "epoch": range(n),
                "train_loss": noisy(rng, fall(n, 2.0, train, 0.15), 0.01),
                "val_loss": noisy(rng, fall(n, 2.0, final, 0.12), 0.012),
            },
        )


@log
def optimizers() -> None:
    """Six runs: two optimizers, three rates each."""
    rng, n = dice("optimizers"), 60
    ends = {
        ("sgd", 0.01): 0.9,
        ("sgd", 0.1): 0.55,
        ("sgd", 1.0): 2.3,
        ("adam", 1e-4): 0.8,
        ("adam", 1e-3): 0.42,
        ("adam", 1e-2): 1.1,
    }
    for (name, rate), end in ends.items():
        to_lightning(
            f"compare_optimizers/{name}_{rate:g}",
            {"optimizer": name, "lr": rate, "batch_size": 64, "seed": 1},
            {
                "epoch": range(n),
                "train_loss": noisy(rng, law(n, 2.3, end, 0.6, 4), 0.015),
                "val_loss": noisy(rng, law(n, 2.3, end + 0.05, 0.6, 4), 0.02) + drift(rng, n, 0.01),
            },
        )
