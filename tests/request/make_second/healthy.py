"""Trainings that are all right although they look like one that is not: floors, schedules."""

from __future__ import annotations

import numpy as np

from tests.request.make_second.formats import (
    cosine,
    fall,
    level,
    lightning,
    lines,
    rng,
    table,
    text,
    trainer,
)


def write() -> None:
    floors()
    schedules()


def floors() -> None:
    r = rng("noise floor")
    n = 120
    a, b = fall(r, n, 1.3, 0.0401, 8, 0.012), fall(r, n, 1.2, 0.0404, 8, 0.012)
    text(
        "ok_noise_floor.txt",
        [
            "synthetic regression, targets with noise std 0.2 (irreducible mse 0.04), adam lr=0.002 cosine, batch 256"
        ],
        [
            f"epoch {i + 1}: train_mse {a[i]:.5f}  val_mse {b[i]:.5f}  val_r2 {1 - b[i] / 1.3:.4f}"
            for i in range(n)
        ],
    )

    r = rng("solved digits")
    n = 40
    table(
        "ok_solved_digits.csv",
        {
            "epoch": np.arange(n),
            "accuracy": 0.9991 - 0.08 * np.exp(-np.arange(n) / 3),
            "loss": fall(r, n, 0.3, 0.003, 3, 0.05),
            "val_accuracy": 0.9925 - 0.05 * np.exp(-np.arange(n) / 3) + 0.0004 * r.standard_normal(n),
            "val_loss": fall(r, n, 0.15, 0.026, 3, 0.02),
        },
    )

    r = rng("cosine end")
    n = 300
    lr = cosine(n, 1e-3, 15)
    loss = (0.62 + 2.0 * np.exp(-np.arange(n) / 50) + 250 * lr**1.0 * 0.5) * np.exp(
        0.012 * r.standard_normal(n)
    )
    lightning(
        "ok_cosine_end",
        {"optimizer": "AdamW", "lr": 0.001, "scheduler": "cosine", "batch_size": 256, "max_epochs": 30},
        {"train_loss": loss, "lr-AdamW": lr},
        {
            "val_loss": 0.68
            + 1.8 * np.exp(-np.arange(30) / 5)
            + 0.1 * lr[::10] * 1e3
            + 0.004 * r.standard_normal(30),
            "val_acc": 0.83 - 0.4 * np.exp(-np.arange(30) / 6) + 0.002 * r.standard_normal(30),
        },
    )

    r = rng("diffusion")
    n = 300
    lines(
        "ok_diffusion.jsonl",
        {
            "step": np.arange(n) * 500,
            "mse": fall(r, n, 0.9, 0.0295, 6, 0.07),
            "grad_norm": level(r, n, 0.11, 0.3),
            "lr": [1e-4] * n,
            "fid": [None if i % 40 else 120 * np.exp(-i / 130) + 7 for i in range(n)],
        },
        {
            "config": {
                "model": "ddpm-unet",
                "optimizer": "adam",
                "lr": 1e-4,
                "ema_decay": 0.9999,
                "batch_size": 128,
            }
        },
    )

    r = rng("small scale")
    n = 150
    table(
        "ok_small_scale.csv",
        {
            "epoch": np.arange(n),
            "train_loss": fall(r, n, 4.1e-5, 1.1e-6, 22, 0.05),
            "val_loss": fall(r, n, 4.3e-5, 1.3e-6, 22, 0.05),
            "grad_norm": fall(r, n, 3e-3, 8e-5, 25, 0.2),
            "lr": cosine(n, 1e-3),
        },
    )

    r = rng("summed")
    n = 90
    lightning(
        "ok_summed",
        {"optimizer": "adam", "lr": 0.001, "batch_size": 512, "loss_reduction": "sum", "model": "vae"},
        {
            "train_elbo_loss": fall(r, 270, 281_000, 52_300, 40, 0.012),
            "grad_norm": fall(r, 270, 61_000, 5_200, 50, 0.2),
        },
        {"val_elbo_loss": fall(r, n // 3, 240_000, 53_100, 4, 0.006)},
    )

    r = rng("flow")
    n = 110
    table(
        "ok_negative_likelihood.csv",
        {
            "epoch": np.arange(n),
            "train_nll": -3.4 + fall(r, n, 5.1, 0.2, 18, 0.03),
            "val_nll": -3.3 + fall(r, n, 5.0, 0.24, 18, 0.03),
            "lr": cosine(n, 5e-4),
        },
    )


def schedules() -> None:
    r = rng("restarts")
    n, period = 240, 60
    lr = np.concatenate([cosine(period, 0.05, floor=1e-4)] * 4)
    base = 0.5 + 1.7 * np.exp(-np.arange(n) / 50)
    table(
        "ok_warm_restarts.csv",
        {
            "epoch": np.arange(n),
            "lr": lr,
            "train_loss": (base + 6 * lr) * np.exp(0.015 * r.standard_normal(n)),
            "val_loss": (base * 1.06 + 6.5 * lr) * np.exp(0.02 * r.standard_normal(n)),
        },
    )

    r = rng("stairs")
    n = 90
    stairs = np.where(np.arange(n) < 30, 0.1, np.where(np.arange(n) < 60, 0.01, 0.001))
    loss = np.where(
        np.arange(n) < 30, fall(r, n, 6.5, 2.4, 6), np.where(np.arange(n) < 60, 1.72, 1.45)
    ) * np.exp(0.012 * r.standard_normal(n))
    val = np.where(
        np.arange(n) < 30, 2.3 + 4 * np.exp(-np.arange(n) / 6), np.where(np.arange(n) < 60, 1.62, 1.43)
    ) * np.exp(0.012 * r.standard_normal(n))
    table(
        "ok_stairs.csv",
        {
            "epoch": np.arange(n),
            "train_loss": loss,
            "val_loss": val,
            "val_acc1": 1.03 - 0.19 * val,
            "lr": stairs,
        },
    )

    r = rng("warm-up")
    n = 260
    lr = cosine(n, 6e-4, 40)
    loss = np.concatenate(
        [10.8 - 0.8 * (np.arange(40) / 40) ** 3, 3.4 + 6.6 * (1 + np.arange(n - 40) / 12) ** -0.6]
    ) * np.exp(0.006 * r.standard_normal(n))
    trainer(
        "ok_warmup/trainer_state.json",
        {
            "loss": loss,
            "grad_norm": np.concatenate([level(r, 40, 2.5, 0.2), level(r, n - 40, 0.5, 0.2)]),
            "learning_rate": lr,
        },
        every=50,
        epochs=1.0,
    )

    r = rng("resumed")
    n = 200
    lines(
        "ok_resumed.jsonl",
        {
            "step": 40_000 + np.arange(n) * 100,
            "loss": 2.61 - 0.16 * np.arange(n) / n + 0.02 * r.standard_normal(n),
            "lr": cosine(n, 1.8e-4, 0, 6e-5),
            "grad_norm": level(r, n, 0.35, 0.15),
        },
        {
            "event": "resume",
            "from_checkpoint": "step_40000",
            "optimizer_state": "restored",
            "max_steps": 60000,
        },
    )
