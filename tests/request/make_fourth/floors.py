"""Losses that stand because there is nothing left to learn, or that stand only for a while."""

from __future__ import annotations

import numpy as np

from tests.request.formats import cosine, expo, level, power, rough

from .formats import FILES, rng


def write() -> None:
    _sensor()
    _cosine_end()
    _boosting()
    _distillation()
    _late_fall()
    _autoencoder()
    _smoothed_labels()
    _stopped()
    _translation()


def _sensor() -> None:
    r, n = rng("sensor"), 70
    train = rough(r, expo(n, 2.1, 0.248, 5), 0.012)
    val = rough(r, expo(n, 2.0, 0.259, 5), 0.02)
    FILES.table(
        "ok_sensor_r2.csv",
        {
            "epoch": np.arange(n),
            "train_mse": train,
            "val_mse": val,
            "val_r2": 1 - val / 4.1,
            "lr": cosine(n, 2e-3),
        },
    )


def _cosine_end() -> None:
    r, n = rng("cosine end"), 240
    val = [None] * n
    smooth = power(n, 9.8, 2.95, 3.0, 0.9)
    for i in range(19, n, 20):
        val[i] = smooth[i] + 0.05 + 0.004 * r.standard_normal()
    FILES.lines(
        "ok_language_cosine.jsonl",
        {
            "step": (np.arange(n) + 1) * 100,
            "loss": rough(r, smooth, 0.012),
            "lr": cosine(n, 6e-4, 8),
            "grad_norm": level(r, n, 0.34, 0.15),
            "val_loss": val,
        },
        {"config": {"model": "gpt-124m", "optimizer": "adamw", "lr": 6e-4, "batch_size": 480}},
    )


def _boosting() -> None:
    r, n = rng("boosting"), 120
    train = rough(r, expo(n, 0.66, 0.171, 22), 0.001)
    test = rough(r, expo(n, 0.665, 0.204, 20), 0.002)
    FILES.text(
        "ok_boosted_trees.txt",
        [f"[{i}]\ttrain-logloss:{train[i]:.5f}\teval-logloss:{test[i]:.5f}" for i in range(n)],
    )


def _distillation() -> None:
    r, n = rng("teacher"), 45
    FILES.table(
        "ok_distilled.csv",
        {
            "epoch": np.arange(1, n + 1),
            "kd_loss": rough(r, expo(n, 3.1, 0.94, 5), 0.01),
            "val_kd_loss": rough(r, expo(n, 3.0, 0.99, 5), 0.012),
            "train_acc": 0.935 - 0.6 * np.exp(-np.arange(n) / 5) + 0.002 * r.standard_normal(n),
            "val_acc": 0.928 - 0.6 * np.exp(-np.arange(n) / 5) + 0.003 * r.standard_normal(n),
            "lr": cosine(n, 0.05),
        },
    )


def _late_fall() -> None:
    """Stands for two fifths, then finds it: an induction head, a parity."""
    r, n = rng("late"), 150
    t = np.arange(n)
    clean = 0.03 + 0.663 / (1 + np.exp((t - 66) / 4.0))
    FILES.lines(
        "ok_parity_found.jsonl",
        {
            "step": t * 50,
            "train_loss": rough(r, clean, 0.008),
            "val_loss": rough(r, clean * 1.03, 0.012),
            "val_acc": np.clip(
                0.5 + 0.49 / (1 + np.exp(-(t - 66) / 4.0)) + 0.006 * r.standard_normal(n), 0, 1
            ),
        },
        {"config": {"optimizer": "adam", "lr": 1e-3, "batch_size": 256}},
    )


def _autoencoder() -> None:
    r, n = rng("elbo"), 60
    recon = rough(r, expo(n, 180.0, 77.9, 4), 0.004)
    kl = 25.3 - 22 * np.exp(-np.arange(n) / 4) + 0.1 * r.standard_normal(n)
    FILES.text(
        "ok_elbo.txt",
        [
            f"====> Epoch: {i + 1} Average loss: {recon[i] + kl[i]:.4f} (recon {recon[i]:.3f}, kl {kl[i]:.3f})\n"
            f"====> Test set loss: {recon[i] + kl[i] + 0.9 + 0.2 * r.standard_normal():.4f}"
            for i in range(n)
        ],
    )


def _smoothed_labels() -> None:
    r, n = rng("smooth"), 90
    t = np.arange(n)
    FILES.table(
        "ok_imagenet_smoothed.csv",
        {
            "epoch": t,
            "train_loss": rough(r, expo(n, 6.6, 2.21, 16), 0.006),
            "val_loss": rough(r, expo(n, 6.0, 1.86, 15), 0.01),
            "val_top1": 77.4 - 72 * np.exp(-t / 15) + 0.3 * r.standard_normal(n),
            "lr": cosine(n, 0.5, 5),
            "label_smoothing": [0.1] * n,
        },
    )


def _stopped() -> None:
    r, n = rng("stopped"), 24
    loss = rough(r, expo(n, 1.6, 0.21, 4), 0.02)
    val = rough(r, expo(n, 1.5, 0.262, 4), 0.015)
    FILES.text(
        "ok_patience_of_five.txt",
        [
            f"Epoch {i:02d} | train_loss {loss[i]:.4f} | val_loss {val[i]:.4f} | val_acc {0.917 - 0.5 * np.exp(-i / 4):.4f}"
            for i in range(n)
        ],
        "EarlyStopping: val_loss did not improve for 5 epochs. Restoring the best weights (epoch 18).",
    )


def _translation() -> None:
    r, n = rng("bleu"), 40
    t = np.arange(n)
    FILES.table(
        "ok_translation.csv",
        {
            "epoch": t + 1,
            "train_loss": rough(r, expo(n, 5.9, 1.72, 7), 0.006),
            "valid_loss": rough(r, expo(n, 5.4, 1.95, 6), 0.006),
            "bleu": 31.2 - 30 * np.exp(-t / 6) + 0.2 * r.standard_normal(n),
            "lr": 5e-4 * np.minimum((t + 1) / 4, np.sqrt(4 / (t + 1))),
        },
    )
