"""Noise, gaps and odd measurements that are all right."""

from __future__ import annotations

import numpy as np

from .formats import (
    NAN,
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
)


def write() -> None:
    noise()
    gaps()
    odd()


def noise() -> None:
    r = rng("ctc batch 8")
    n = 180
    loss = rough(r, 0.42 + 6.2 * np.exp(-np.arange(n) / 32), 0.26, 0)
    text(
        "ok_ctc_batch8.txt",
        "# wav2vec2-base | ctc | batch_size 8 | lr 1e-4 (tri-stage) | clip 25",
        [f"step {i * 50} - loss {loss[i]:.3f}" for i in range(n)],
    )

    r = rng("small val")
    n = 60
    t = np.arange(n)
    acc = np.round((0.875 - 0.3 * np.exp(-t / 7) + 0.022 * r.standard_normal(n)) * 120) / 120
    history(
        "ok_small_validation.json",
        {
            "loss": rough(r, expo(n, 1.1, 0.29, 9), 0.02),
            "accuracy": 0.905 - 0.35 * np.exp(-t / 8) + 0.004 * r.standard_normal(n),
            "val_loss": rough(r, expo(n, 1.0, 0.345, 8), 0.09, 0),
            "val_accuracy": acc,
        },
    )

    r = rng("tqdm")
    out = []
    loss = rough(r, expo(25, 1.9, 0.36, 5), 0.02)
    for i in range(25):
        out.append(
            f"Epoch {i + 1}/25: 100%|██████████| 469/469 [00:1{i % 3},  41.2it/s, loss={loss[i]:.3f}, acc={0.89 - 0.5 * np.exp(-i / 4):.3f}]"
        )
        out.append(
            f"val: 100%|██████████| 79/79 [00:01,  61.0it/s, val_loss={loss[i] * 1.04 + 0.01 * r.standard_normal():.3f}, val_acc={0.881 - 0.48 * np.exp(-i / 4):.3f}]"
        )
    text("ok_tqdm.txt", out)

    r = rng("heavy tails")
    n = 160
    clean = 0.8 + 2.1 * np.exp(-np.arange(n) / 34)
    table(
        "ok_heavy_tails.csv",
        {
            "Step": np.arange(n) * 20,
            "train/loss": clean * (0.82 + 0.18 * r.gamma(1.6, 1 / 1.6, n)),
            "train/lr": cosine(n, 2e-4, 10),
        },
    )

    r = rng("norm peaks clipped")
    n = 72
    norm = level(r, n, 1.1, 0.45)
    norm[[11, 25, 26, 47, 64]] = [14.2, 9.8, 21.5, 17.7, 11.9]
    lines(
        "ok_peaks_clipped.jsonl",
        {
            "step": np.arange(n) * 25,
            "loss": rough(r, power(n, 7.8, 2.6, 5, 0.9), 0.02),
            "grad_norm_before_clip": norm,
            "lr": cosine(n, 4e-4, 12),
        },
        {"args": {"clip_grad_norm": 1.0, "optimizer": "adamw", "precision": "bf16", "batch_size": 256}},
    )


def gaps() -> None:
    r = rng("dropout gap")
    n = 40
    t = np.arange(n)
    text(
        "ok_dropout_half.txt",
        "TextCNN, dropout=0.5, adam 1e-3, 120k news articles, 4 classes",
        [
            f"{i + 1:02d}) train: loss={a:.4f} acc={b:.4f}   dev: loss={c:.4f} acc={d:.4f}"
            for i, (a, b, c, d) in enumerate(
                zip(
                    rough(r, expo(n, 0.95, 0.335, 5), 0.012),
                    0.884 - 0.25 * np.exp(-t / 5),
                    rough(r, expo(n, 0.62, 0.246, 4), 0.008),
                    0.919 - 0.15 * np.exp(-t / 4) + 0.001 * r.standard_normal(n),
                    strict=True,
                )
            )
        ],
    )

    r = rng("spec augment")
    n = 45
    t = np.arange(n)
    table(
        "ok_spec_augment.csv",
        {
            "epoch": t + 1,
            "train_loss": rough(r, expo(n, 210, 31, 7), 0.01),
            "dev_loss": rough(r, expo(n, 150, 19.4, 6), 0.012),
            "dev_wer": rough(r, expo(n, 98, 7.9, 5), 0.015),
        },
    )

    r = rng("steady gap")
    n = 30
    lightning(
        "ok_steady_gap",
        {
            "lr": 0.0005,
            "optimizer": "adamw",
            "weight_decay": 0.02,
            "dropout": 0.2,
            "batch_size": 128,
            "train_samples": 61000,
            "scheduler": "cosine",
        },
        {"train_loss": rough(r, expo(2 * n, 2.2, 0.452, 24), 0.03), "lr-AdamW": cosine(2 * n, 5e-4, 6)},
        {
            "val_loss": rough(r, expo(n, 1.9, 0.538, 11), 0.008),
            "val_f1": 0.823 - 0.5 * np.exp(-np.arange(n) / 11) + 0.002 * r.standard_normal(n),
        },
        every=100,
    )

    r = rng("stopped by patience")
    n = 23
    t = np.arange(n)
    val = np.array(
        [
            0.71,
            0.583,
            0.521,
            0.484,
            0.462,
            0.447,
            0.437,
            0.431,
            0.427,
            0.4235,
            0.4222,
            0.4209,
            0.4203,
            0.4198,
            0.4196,
            0.4199,
            0.4201,
            0.4204,
            0.4200,
            0.4207,
            0.4205,
            0.4209,
            0.4208,
        ]
    )
    keras(
        "ok_keras_patience.txt",
        {
            "loss": rough(r, expo(n, 0.66, 0.372, 4), 0.006),
            "auc": 0.91 - 0.2 * np.exp(-t / 4),
            "val_loss": val,
            "val_auc": 0.885 - 0.17 * np.exp(-t / 3.5),
        },
        1875,
        header=["callbacks: EarlyStopping(monitor='val_loss', patience=8, restore_best_weights=True)"],
        new=True,
    )


def odd() -> None:
    r = rng("holes")
    n = 120
    table(
        "ok_holes_are_not_nan.csv",
        {
            "_step": np.arange(n) * 40,
            "train_loss": rough(r, power(n, 5.1, 1.3, 9, 1.0), 0.02),
            "val_loss": [NAN if i % 20 != 19 else x for i, x in enumerate(power(n, 5.0, 1.42, 9, 1.0))],
            "val_acc": [
                NAN if i % 20 != 19 else x for i, x in enumerate(0.71 - 0.6 * np.exp(-np.arange(n) / 30))
            ],
        },
    )

    r = rng("phase change")
    n = 120
    t = np.arange(n)
    drop = 1 / (1 + np.exp((t - 42) / 2.5))
    loss = 0.018 + 0.03 * np.exp(-(np.maximum(t - 48, 0)) / 16) * (t > 40) + 2.28 * drop
    table(
        "ok_plateau_then_fall.csv",
        {
            "step": t * 50,
            "train_loss": rough(r, loss, 0.02),
            "val_loss": rough(r, loss * 1.03, 0.01),
            "val_acc": np.clip(0.995 - 0.893 * drop, 0, 1),
            "lr": np.where(t < 10, 5e-4 * (t + 1) / 10, 5e-4),
        },
    )

    r = rng("beta annealed")
    n = 38
    t = np.arange(n)
    beta = np.clip((t - 3) / 17, 0, 1)
    recon = 78 + 90 * np.exp(-t / 5) + 9 * beta
    kl = 24 + 35 * np.exp(-beta * 4)
    lines(
        "ok_beta_annealed.jsonl",
        {
            "epoch": t,
            "loss": rough(r, recon + beta * kl, 0.004),
            "recon": rough(r, recon, 0.004),
            "kl": rough(r, kl, 0.008),
            "beta": beta,
            "val_elbo": -rough(r, recon + kl, 0.005),
        },
    )

    r = rng("several tasks")
    n = 44
    a, b, c = (
        rough(r, expo(n, 1.9, 0.41, 20), 0.015),
        rough(r, expo(n, 0.31, 0.262, 5), 0.02),
        rough(r, expo(n, 3.3, 0.77, 25), 0.012),
    )
    table(
        "ok_several_tasks.csv",
        {
            "epoch": np.arange(n),
            "loss_depth": a,
            "loss_normals": b,
            "loss_seg": c,
            "loss_total": a + b + c,
            "val_total": rough(r, (a + b + c) * 1.07, 0.006),
            "val_miou": 0.612 - 0.45 * np.exp(-np.arange(n) / 22) + 0.002 * r.standard_normal(n),
        },
    )

    r = rng("byol")
    n = 40
    t = np.arange(n)
    lines(
        "ok_byol.jsonl",
        {
            "epoch": t,
            "byol_loss": rough(r, 0.21 + 0.9 * np.exp(-t / 2.5) + 0.07 * (1 - np.exp(-t / 14)), 0.012),
            "linear_probe_acc": 0.72 - 0.45 * np.exp(-t / 11) + 0.003 * r.standard_normal(n),
            "feature_std": 0.0432 + 0.0004 * r.standard_normal(n),
        },
    )

    r = rng("queue fills")
    n = 56
    t = np.arange(n)
    text(
        "ok_moco_queue.txt",
        "MoCo v2, queue 65536, K fills during the first epoch, lr 0.03 cosine, batch 256",
        [
            f"Epoch: [{i // 10}][{500 * (i % 10):4d}/5004]\tTime 0.36\tLoss {x:.4f}\tAcc@1 {100 * np.exp(-x / 2.9):5.2f}"
            for i, x in enumerate(
                rough(
                    r,
                    np.where(t < 4, 5.2 + 1.15 * t, 9.1) * np.exp(-t / 800)
                    - 2.35 * (1 - np.exp(-np.maximum(0, t - 4) / 11)),
                    0.006,
                )
            )
        ],
    )

    r = rng("apex")
    n = 60
    loss = rough(r, power(n, 4.3, 1.05, 10, 1.1), 0.02)
    out = ["Selected optimization level O1: dynamic loss scaling"]
    for i in range(n):
        if i in (0, 1, 27, 48):
            out.append(
                f"Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to {32768.0 / (2 if i else 1)}"
            )
        out.append(f"[{i * 100}] loss: {loss[i]:.4f}  lr: 0.00030")
    text("ok_apex_overflow.txt", out)
