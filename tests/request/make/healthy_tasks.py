"""Trainings in which nothing is wrong: other objectives, other scales, and machines."""

from __future__ import annotations

import numpy as np

from tests.request.make.shapes import (
    cosine,
    dice,
    drift,
    fall,
    law,
    log,
    noisy,
    steps,
    to_csv,
    to_document,
    to_jsonl,
    to_lightning,
    to_text,
    to_trainer,
)


@log
def policy() -> None:
    """PPO: losses swing around nothing, the return rises."""
    rng, n = dice("policy"), 250
    to_csv(
        "ok_policy.csv",
        {
            "time/total_timesteps": steps(n, 2048),
            "rollout/ep_rew_mean": 20 + 440 * (1 - np.exp(-np.arange(n) / 70)) + drift(rng, n, 14, 0.8),
            "train/policy_gradient_loss": -0.012 + rng.normal(0, 0.006, n),
            "train/value_loss": np.abs(60 + drift(rng, n, 35, 0.7)),
            "train/entropy_loss": -1.38 + 0.5 * np.arange(n) / n + rng.normal(0, 0.02, n),
            "train/approx_kl": np.abs(0.011 + rng.normal(0, 0.003, n)),
            "train/learning_rate": [3e-4] * n,
        },
    )


@log
def gan() -> None:
    """Both losses swing, neither wins; FID falls."""
    rng, n = dice("gan"), 200
    to_csv(
        "ok_gan.csv",
        {
            "epoch": range(n),
            "d_loss": np.abs(0.58 + drift(rng, n, 0.13, 0.4)),
            "g_loss": np.abs(1.3 + drift(rng, n, 0.35, 0.4)),
            "fid": noisy(rng, fall(n, 210, 17, 0.15), 0.03),
        },
    )


@log
def small_targets() -> None:
    """MSE of targets around 0.02: losses of 1e-6, norms of 1e-4, and R2 of 0.98."""
    rng, n = dice("small_targets"), 300
    loss = noisy(rng, fall(n, 4e-4, 6e-6, 0.15), 0.06)
    to_jsonl(
        "ok_small_scale.jsonl",
        {
            "step": steps(n, 10),
            "loss": loss,
            "grad_norm": noisy(rng, fall(n, 4e-3, 2e-4, 0.2), 0.2),
            "lr": cosine(n, 1e-3),
            "r2": 1 - loss / 4.05e-4,
        },
    )


@log
def noise_floor() -> None:
    """A regression that stands at the noise of its target: R2 0.91 on both sides."""
    rng, n = dice("noise_floor"), 150
    loss = fall(n, 1.0, 0.089, 0.08)
    to_csv(
        "ok_noise_floor.csv",
        {
            "epoch": range(n),
            "train_mse": noisy(rng, loss, 0.02),
            "val_mse": noisy(rng, loss + 0.004, 0.03),
            "val_r2": 1 - loss - 0.004 + rng.normal(0, 0.002, n),
            "lr": cosine(n, 1e-3),
        },
    )


@log
def contrastive() -> None:
    """SimCLR: 6.2 to 4.9 slowly, the linear probe rises."""
    rng, n = dice("contrastive"), 200
    to_lightning(
        "ok_contrastive",
        {"optimizer": "lars", "lr": 0.3, "batch_size": 512, "temperature": 0.5},
        {
            "epoch": range(n),
            "contrastive_loss": noisy(rng, law(n, 6.25, 4.92, 0.5, 4), 0.003),
            "probe_acc": 0.3 + 0.56 * (1 - np.exp(-np.arange(n) / 45)) + rng.normal(0, 0.004, n),
            "lr-LARS": cosine(n, 0.3, 10),
        },
    )


@log
def autoencoder() -> None:
    """VAE: 102 nats, standing; the KL part rises as it should."""
    rng, n = dice("autoencoder"), 100
    kl = 25 * (1 - np.exp(-np.arange(n) / 6)) + rng.normal(0, 0.1, n)
    rec = fall(n, 190, 78, 0.07) + rng.normal(0, 0.3, n)
    to_csv(
        "ok_vae.csv",
        {
            "epoch": range(n),
            "recon_loss": rec,
            "kl_loss": kl,
            "elbo_loss": rec + kl,
            "val_elbo_loss": rec + kl + 1.6 + rng.normal(0, 0.3, n),
        },
    )


@log
def diffusion() -> None:
    """Noise prediction: 1.0 to 0.03 within 5 %, flat and noisy for the rest; FID keeps falling."""
    rng, n = dice("diffusion"), 400
    to_jsonl(
        "ok_diffusion.jsonl",
        {
            "step": steps(n, 250),
            "mse": noisy(rng, fall(n, 1.0, 0.031, 0.012) - 0.002 * np.arange(n) / n, 0.12, 0.0),
            "fid": noisy(rng, fall(n, 120, 8.1, 0.25), 0.02),
            "lr": [1e-4] * n,
        },
    )


@log
def detector() -> None:
    """YOLO: every loss falls, mAP has levelled off."""
    rng, n = dice("detector"), 100
    up = 1 - np.exp(-np.arange(n) / 14)
    to_csv(
        "ok_detection/results.csv",
        {
            "epoch": range(1, n + 1),
            "train/box_loss": 1.02 + 0.6 * (1 - up) + rng.normal(0, 0.008, n),
            "train/cls_loss": 0.55 + 2.3 * (1 - up) + rng.normal(0, 0.01, n),
            "train/dfl_loss": 1.08 + 0.4 * (1 - up) + rng.normal(0, 0.006, n),
            "metrics/mAP50(B)": 0.71 * up + rng.normal(0, 0.004, n),
            "metrics/mAP50-95(B)": 0.51 * up + rng.normal(0, 0.003, n),
            "val/box_loss": 1.09 + 0.5 * (1 - up) + rng.normal(0, 0.008, n),
            "val/cls_loss": 0.63 + 2.1 * (1 - up) + rng.normal(0, 0.012, n),
            "lr/pg0": 0.01 * (1 - np.arange(n) / n) + 1e-4,
        },
    )


@log
def segmentation() -> None:
    """Dice loss 0.16 and 0.19."""
    rng, n = dice("segmentation"), 70
    loss = fall(n, 0.88, 0.155, 0.17)
    to_csv(
        "ok_dice.csv",
        {
            "epoch": range(n),
            "train_dice_loss": loss + rng.normal(0, 0.006, n),
            "val_dice_loss": loss + 0.033 + rng.normal(0, 0.01, n),
        },
    )


@log
def focal() -> None:
    """Focal loss of rare objects: 0.003, and average precision 0.74."""
    rng, n = dice("focal"), 120
    loss = noisy(rng, fall(n, 0.09, 0.0031, 0.15), 0.06)
    to_csv(
        "ok_focal.csv",
        {
            "step": steps(n, 100),
            "focal_loss": loss,
            "grad_norm": noisy(rng, fall(n, 0.3, 0.02, 0.2), 0.2),
            "val_ap": np.abs(0.745 * (1 - np.exp(-np.arange(n) / 22)) + rng.normal(0, 0.005, n)),
            "lr": cosine(n, 1e-3, 6),
        },
    )


@log
def preference() -> None:
    """DPO: from 0.693 to 0.50; the margin rises."""
    rng, n = dice("preference"), 150
    loss = fall(n, 0.693, 0.49, 0.35)
    to_trainer(
        "ok_preference",
        {
            "step": steps(n, 10),
            "epoch": np.arange(1, n + 1) / n,
            "loss": noisy(rng, loss, 0.05),
            "grad_norm": noisy(rng, np.full(n, 14.0), 0.25),
            "learning_rate": cosine(n, 5e-7, 15),
            "rewards/margins": (0.693 - loss) * 6 + rng.normal(0, 0.06, n),
            "rewards/accuracies": np.clip(0.5 + (0.693 - loss) * 1.35 + rng.normal(0, 0.03, n), 0, 1),
        },
    )


@log
def accuracies() -> None:
    """Accuracies only: 0.93 and 0.91."""
    rng, n = dice("accuracies"), 40
    up = 1 - np.exp(-np.arange(n) / 6)
    to_csv(
        "ok_accuracies.csv",
        {
            "epoch": range(n),
            "train_acc": 0.2 + 0.73 * up + rng.normal(0, 0.003, n),
            "val_acc": 0.2 + 0.71 * up + rng.normal(0, 0.006, n),
        },
    )


@log
def speech() -> None:
    """CTC: 310 to 24, word errors 0.11; norms of 40."""
    rng, n = dice("speech"), 160
    to_jsonl(
        "ok_speech.jsonl",
        {
            "step": steps(n, 200),
            "ctc_loss": noisy(rng, law(n, 310, 24, 1.1, 6), 0.05),
            "grad_norm": noisy(rng, np.full(n, 41.0), 0.25),
            "val_wer": np.clip(noisy(rng, fall(n, 1.0, 0.11, 0.2), 0.02), 0, 1),
            "lr": cosine(n, 5e-4, 12),
        },
    )


@log
def busy_device() -> None:
    """Device 94 % busy, memory 81 % used."""
    rng, n = dice("busy_device"), 200
    to_csv(
        "ok_busy.csv",
        {
            "step": steps(n, 50),
            "loss": noisy(rng, law(n, 6.9, 2.1), 0.02),
            "lr": cosine(n, 0.5, 10),
            "gpu_util": np.round(np.clip(94 + rng.normal(0, 2.5, n), 0, 100)),
            "gpu_memory_percent": 81 + rng.normal(0, 0.4, n),
            "samples_per_sec": noisy(rng, np.full(n, 2480.0), 0.02),
        },
    )


@log
def dips() -> None:
    """Device use dips during validation only."""
    rng, n = dice("dips"), 240
    util = np.where(np.arange(n) % 40 < 3, 12, 91) + rng.normal(0, 3, n)
    to_csv(
        "ok_busy_dips.csv",
        {
            "step": steps(n, 25),
            "train_loss": noisy(rng, law(n, 2.3, 0.5), 0.05),
            "lr": cosine(n, 0.1),
            "gpu_util": np.clip(np.round(util), 0, 100),
        },
    )


@log
def distillation() -> None:
    """Scaled by the square of the temperature: 14 to 6.1; the student's accuracy rises to 0.88."""
    rng, n = dice("distillation"), 60
    up = 1 - np.exp(-np.arange(n) / 10)
    lines = [
        f"{i:03d} kd_loss={14.2 - 8.1 * up[i] + rng.normal(0, 0.05):.3f} lr={0.1 * (1 + np.cos(np.pi * i / n)) / 2:.4f} val_top1={0.1 + 0.78 * up[i] + rng.normal(0, 0.004):.4f}"
        for i in range(n)
    ]
    to_text("ok_distillation.txt", lines)


@log
def forecasting() -> None:
    """MAE of a noisy series: 0.41 and standing since the first tenth; persistence has 0.58, which is logged too."""
    rng, n = dice("forecasting"), 80
    loss = fall(n, 0.78, 0.405, 0.05)
    to_document(
        "ok_forecast.json",
        {"optimizer": "Adam", "lr": 1e-3, "batch_size": 64, "scheduler": "cosine"},
        {
            "epoch": list(range(n)),
            "train_mae": noisy(rng, loss, 0.012),
            "val_mae": noisy(rng, loss + 0.012, 0.02),
            "persistence_mae": [0.58] * n,
            "lr": cosine(n, 1e-3),
        },
    )


@log
def clipped() -> None:
    """Norms up to 6 before clipping at 1, no spike in the loss: an ordinary transformer."""
    rng, n = dice("clipped"), 300
    norm = noisy(rng, np.full(n, 0.8), 0.3)
    norm[rng.integers(0, n, 12)] *= 6
    to_jsonl(
        "ok_clipped.jsonl",
        {
            "step": steps(n, 50),
            "loss": noisy(rng, law(n, 10.4, 3.1, 0.45, 6), 0.01),
            "grad_norm": norm,
            "lr": cosine(n, 3e-4, 20, 3e-5),
        },
    )
