"""Trainings that are all right: other kinds of tasks, noise, measurements."""

from __future__ import annotations

import numpy as np

from tests.request.make_second.formats import cosine, fall, level, lightning, lines, rng, table, text, trainer


def write() -> None:
    games()
    language()
    noise()
    other()


def games() -> None:
    r = rng("policy")
    n = 300
    table(
        "ok_policy.csv",
        {
            "global_step": np.arange(n) * 2048,
            "losses/policy_loss": 0.012 * r.standard_normal(n) - 0.006,
            "losses/value_loss": level(r, n, 14, 0.5),
            "losses/entropy": np.linspace(1.38, 0.42, n) + 0.02 * r.standard_normal(n),
            "charts/episodic_return": 480 - 460 * np.exp(-np.arange(n) / 70) + 18 * r.standard_normal(n),
        },
    )

    r = rng("adversaries")
    n = 300
    lines(
        "ok_adversaries.jsonl",
        {
            "iter": np.arange(n) * 100,
            "loss_d": 1.21 + 0.09 * r.standard_normal(n),
            "loss_g": 0.98 + 0.16 * r.standard_normal(n),
            "fid": 160 * np.exp(-np.arange(n) / 80) + 14 + 1.2 * r.standard_normal(n),
        },
        {"model": "dcgan", "lr_d": 2e-4, "lr_g": 2e-4, "betas": [0.5, 0.999]},
    )


def language() -> None:
    r = rng("pretraining")
    n = 350
    tokens = np.arange(1, n + 1)
    loss = (1.9 + 8.6 * tokens**-0.33) * np.exp(0.012 * r.standard_normal(n))
    norm, lr = level(r, n, 0.28, 0.15), cosine(n, 6e-4, 12, 6e-5)
    text(
        "ok_pretraining.log",
        ["num parameters: 123.59M, vocab 50304, block 1024, batch 480, AdamW(0.9, 0.95) wd 0.1 clip 1.0"],
        [
            f"step {i * 500:6d} | train {loss[i]:.4f} | lr {lr[i]:.2e} | norm {norm[i]:.3f} | dt 251ms | mfu 41%"
            for i in range(n)
        ],
    )

    r = rng("tuning")
    n = 150
    loss = np.where(np.arange(n) < 50, 1.32, np.where(np.arange(n) < 100, 1.13, 0.97)) * np.exp(
        0.06 * r.standard_normal(n)
    )
    trainer(
        "ok_tuning/trainer_state.json",
        {"loss": loss, "grad_norm": level(r, n, 1.1, 0.3), "learning_rate": cosine(n, 2e-5, 5)},
        {"eval_loss": [1.271, 1.238, 1.236]},
    )

    r = rng("adapter")
    n = 60
    trainer(
        "ok_adapter/trainer_state.json",
        {
            "loss": fall(r, n, 1.95, 1.12, 9, 0.05),
            "grad_norm": level(r, n, 0.6, 0.3),
            "learning_rate": np.linspace(2e-4, 2e-6, n),
        },
        {"eval_loss": [1.31, 1.22, 1.18, 1.165, 1.16]},
        epochs=1.0,
    )

    r = rng("scaler finds its scale")
    n = 120
    norm = level(r, n, 1.4, 0.25)
    norm[:3] = [float("inf"), float("inf"), 5.2]
    trainer(
        "ok_scaler_start/trainer_state.json",
        {"loss": fall(r, n, 4.1, 2.2, 28, 0.025), "grad_norm": norm, "learning_rate": cosine(n, 3e-4, 10)},
        {"eval_loss": [2.9, 2.45, 2.31, 2.26]},
        every=1,
    )


def noise() -> None:
    r = rng("small batches")
    n = 500
    loss = (0.45 + 2.1 * np.exp(-np.arange(n) / 140)) * np.exp(0.38 * r.standard_normal(n))
    text(
        "ok_small_batches.txt",
        ["speaker verification | batch_size=4 | optimizer=adam | lr=1e-4"],
        [f"step={i * 8} loss={loss[i]:.4f} lr=0.0001" for i in range(n)],
    )

    r = rng("in range")
    n = 200
    lightning(
        "ok_norm_in_range",
        {
            "lr": 0.0003,
            "optimizer": "adamw",
            "batch_size": 64,
            "gradient_clip_val": 5.0,
            "scheduler": "cosine",
        },
        {
            "train_loss": fall(r, n, 1.9, 0.44, 45, 0.03),
            "grad_norm": level(r, n, 3.4, 0.45),
            "lr": cosine(n, 3e-4),
        },
        {"val_loss": fall(r, 20, 1.5, 0.47, 4, 0.012), "val_mae": fall(r, 20, 0.9, 0.31, 4, 0.012)},
    )

    r = rng("five points")
    table(
        "ok_five_points.csv",
        {
            "epoch": np.arange(1, 6),
            "loss": [0.94, 0.81, 0.74, 0.7, 0.675],
            "val_loss": [0.88, 0.79, 0.74, 0.71, 0.69],
        },
    )


def other() -> None:
    r = rng("boxes")
    n = 80
    t = np.arange(n)
    table(
        "ok_boxes/results.csv",
        {
            "epoch": t,
            "train/box_loss": fall(r, n, 1.9, 0.82, 25, 0.008),
            "train/cls_loss": fall(r, n, 2.6, 0.55, 20, 0.01),
            "train/dfl_loss": fall(r, n, 1.7, 1.05, 25, 0.006),
            "metrics/precision(B)": 0.81 - 0.5 * np.exp(-t / 14) + 0.008 * r.standard_normal(n),
            "metrics/recall(B)": 0.74 - 0.5 * np.exp(-t / 14) + 0.008 * r.standard_normal(n),
            "metrics/mAP50(B)": 0.79 - 0.6 * np.exp(-t / 15) + 0.004 * r.standard_normal(n),
            "metrics/mAP50-95(B)": 0.56 - 0.45 * np.exp(-t / 18) + 0.003 * r.standard_normal(n),
            "val/box_loss": fall(r, n, 1.8, 0.97, 20, 0.009),
            "val/cls_loss": fall(r, n, 2.3, 0.71, 16, 0.01),
            "val/dfl_loss": fall(r, n, 1.7, 1.12, 20, 0.006),
            "lr/pg0": np.linspace(0.01, 0.0001, n),
        },
    )

    r = rng("triplets")
    n = 120
    table(
        "ok_triplets.csv",
        {
            "epoch": np.arange(n),
            "triplet_loss": fall(r, n, 0.2, 0.021, 16, 0.04),
            "recall_at_1": 0.88 - 0.6 * np.exp(-np.arange(n) / 22) + 0.003 * r.standard_normal(n),
            "frac_active": fall(r, n, 0.9, 0.08, 20, 0.03),
            "lr": cosine(n, 1e-4),
        },
    )

    r = rng("pairs")
    n = 200
    lines(
        "ok_contrastive.jsonl",
        {
            "epoch": np.arange(n),
            "nt_xent": 4.63 + fall(r, n, 1.6, 0.14, 30, 0.01),
            "lr": cosine(n, 0.6, 10),
            "knn_top1": 0.86 - 0.55 * np.exp(-np.arange(n) / 45) + 0.003 * r.standard_normal(n),
        },
        {"config": {"method": "simclr", "batch_size": 512, "temperature": 0.5}},
    )

    r = rng("curriculum")
    n = 240
    length = np.where(np.arange(n) < 80, 128, np.where(np.arange(n) < 160, 512, 2048))
    within = np.arange(n) % 80
    loss = (
        2.2 + 0.25 * (np.arange(n) // 80 == 0) + (2.2 / (1 + np.arange(n) // 80)) * np.exp(-within / 18)
    ) * np.exp(0.012 * r.standard_normal(n))
    lines(
        "ok_curriculum.jsonl",
        {
            "step": np.arange(n) * 50,
            "loss": loss,
            "seq_len": length,
            "lr": cosine(n, 4e-4, 10),
            "grad_norm": level(r, n, 0.7, 0.2),
        },
    )

    r = rng("autoencoder")
    n = 100
    a, b = fall(r, n, 320, 84, 15, 0.008), 22 - 20 * np.exp(-np.arange(n) / 20) + 0.2 * r.standard_normal(n)
    text(
        "ok_autoencoder.txt",
        [],
        [
            f"====> Epoch: {i + 1} Average loss: {a[i] + b[i]:.4f} recon: {a[i]:.4f} kl: {b[i]:.4f}\n====> Test set loss: {(a[i] + b[i]) * 1.012:.4f}"
            for i in range(n)
        ],
    )
