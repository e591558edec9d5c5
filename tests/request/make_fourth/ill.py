"""Trainings with something wrong."""

from __future__ import annotations

import numpy as np

from tests.request.formats import NAN, expo, level, linear, rough, wander

from .formats import FILES, rng


def write() -> None:
    _plateaus()
    _gaps()
    _swings()
    _not_numbers()
    _still()
    _widths()


def _plateaus() -> None:
    r, n = rng("tiny rate"), 120
    FILES.lines(
        "plateau_tiny_rate.jsonl",
        {
            "step": np.arange(n) * 50,
            "loss": rough(r, expo(n, 2.31, 1.88, 9), 0.006),
            "lr": [2e-6] * n,
            "grad_norm": level(r, n, 1.4, 0.15),
        },
        {"config": {"optimizer": "adam", "lr": 2e-6, "batch_size": 64, "num_classes": 10}},
    )
    r, n = rng("constant rate"), 80
    FILES.table(
        "plateau_constant_rate.csv",
        {
            "epoch": np.arange(n),
            "train_loss": expo(n, 4.5, 1.62, 4) + wander(r, n, 0.035, 0.1),
            "val_loss": expo(n, 4.4, 1.70, 4) + wander(r, n, 0.045, 0.1),
            "val_acc": 0.58 - 0.5 * np.exp(-np.arange(n) / 4) + 0.008 * r.standard_normal(n),
            "lr": [0.1] * n,
        },
    )
    r, n = rng("no gradient"), 100
    FILES.table(
        "plateau_no_gradient.csv",
        {
            "step": np.arange(n) * 10,
            "loss": rough(r, expo(n, 1.1, 0.64, 5), 0.003),
            "grad_norm": level(r, n, 0.9, 0.1) * np.exp(-np.arange(n) / 8) + level(r, n, 6e-4, 0.1),
            "lr": [1e-3] * n,
        },
    )


def _gaps() -> None:
    r, n = rng("table"), 60
    t = np.arange(n)
    FILES.table(
        "gap_keras.csv",
        {
            "epoch": t,
            "accuracy": 0.998 - 0.5 * np.exp(-t / 7) + 0.001 * r.standard_normal(n),
            "loss": rough(r, expo(n, 0.69, 0.012, 9), 0.03),
            "val_accuracy": 0.71 - 0.2 * np.exp(-t / 3) + 0.008 * r.standard_normal(n),
            "val_loss": rough(r, 0.62 + 0.016 * np.maximum(0, t - 6), 0.02),
        },
    )
    r, n = rng("error"), 80
    t = np.arange(n)
    FILES.lines(
        "gap_mean_error.jsonl",
        {
            "epoch": t + 1,
            "train_mae": rough(r, expo(n, 1.9, 0.11, 15), 0.02),
            "val_mae": rough(r, expo(n, 1.9, 0.62, 6) + 0.004 * np.maximum(0, t - 20), 0.02),
        },
    )
    r, n = rng("memorised"), 40
    loss, test = rough(r, expo(n, 2.3, 0.002, 5), 0.04), rough(r, 1.42 + 0.028 * np.arange(n), 0.02)
    test[:4] = [2.05, 1.71, 1.55, 1.46]
    FILES.text(
        "gap_memorised.txt",
        [f"[{i:3d}] train: {loss[i]:.4f}  test: {test[i]:.4f}" for i in range(n)],
    )
    r, n = rng("stands"), 50
    FILES.text(
        "gap_validation_stands.txt",
        [
            f"epoch={i} train_loss={x:.4f} valid_loss={v:.4f}"
            for i, (x, v) in enumerate(
                zip(
                    rough(r, expo(n, 1.61, 0.004, 8), 0.03),
                    rough(r, expo(n, 1.6, 1.05, 2), 0.02),
                    strict=True,
                )
            )
        ],
    )


def _swings() -> None:
    r, n = rng("large steps"), 120
    t = np.arange(n)
    FILES.lines(
        "swings_large_steps.jsonl",
        {
            "step": t * 10,
            "loss": 1.3
            + 0.6 * np.sin(t * 2.1) * np.exp(0.3 * r.standard_normal(n))
            + 0.2 * r.standard_normal(n),
        },
        {"config": {"optimizer": "adam", "lr": 0.08, "batch_size": 128}},
    )
    r, n = rng("wider"), 90
    t = np.arange(n)
    FILES.table(
        "swings_wider.csv",
        {
            "iter": t,
            "loss": 0.9
            + 0.02 * np.exp(t / 24) * np.sin(t * 1.9)
            + 0.004 * np.exp(t / 26)
            + 0.01 * r.standard_normal(n),
            "lr": [0.6] * n,
        },
    )


def _not_numbers() -> None:
    r, n = rng("calm"), 140
    loss = rough(r, expo(n, 1.4, 0.33, 30), 0.02)
    loss[118:] = NAN
    norm = level(r, n, 0.7, 0.15)
    norm[118:] = NAN
    FILES.table(
        "nan_calm_norms.csv", {"step": np.arange(n) * 5, "loss": loss, "grad_norm": norm, "lr": [3e-4] * n}
    )
    r = rng("at once")
    FILES.text(
        "nan_second_step.txt",
        ["Using AdamW, lr=0.5, no warmup", "step 0 loss 11.2041", "step 1 loss 2281.7734"],
        [f"step {i} loss nan" for i in range(2, 30)],
    )


def _still() -> None:
    """Fine-tuning that never leaves the guess."""
    r, n = rng("still"), 50
    FILES.dicts(
        "still_fine_tuning.txt",
        {
            "loss": 0.694 + 0.004 * r.standard_normal(n),
            "grad_norm": level(r, n, 1.9, 0.2),
            "learning_rate": linear(n, 2e-4, 3),
        },
        {"eval_loss": [0.6935, 0.6932, 0.6933], "eval_accuracy": [0.501, 0.499, 0.501]},
    )
    r, n = rng("crawls"), 60
    FILES.table(
        "slow_fall.csv",
        {
            "epoch": np.arange(n),
            "loss": rough(r, np.linspace(2.302, 2.21, n), 0.0008),
            "val_loss": rough(r, np.linspace(2.303, 2.213, n), 0.001),
            "accuracy": np.linspace(0.10, 0.19, n) + 0.002 * r.standard_normal(n),
            "lr": [1e-6] * n,
        },
    )


def _widths() -> None:
    """Test error over the width: falls, rises where the data are just fitted, falls again."""
    r, n = rng("widths"), 40
    widths = [4, 8, 16, 32, 48, 64, 128, 256]
    train = [0.42, 0.31, 0.19, 0.06, 0.01, 0.002, 0.0006, 0.0003]
    error = [0.44, 0.37, 0.33, 0.41, 0.47, 0.39, 0.30, 0.26]
    for width, low, test in zip(widths, train, error, strict=True):
        FILES.lightning(
            f"widths/width_{width:03d}",
            {"width": width, "lr": 1e-3, "optimizer": "adam", "params": width * 794},
            {"train_loss": rough(r, expo(n, 2.3, low * 2, 6), 0.01)},
            {
                "val_error": rough(r, expo(20, 0.9, test, 3), 0.008),
                "train_error": rough(r, expo(20, 0.9, low, 3), 0.008),
            },
        )
