"""Swings and not-numbers that are no trouble."""

from __future__ import annotations

import numpy as np

from tests.request.formats import NAN, cosine, expo, level, power, rough

from .formats import FILES, rng


def write() -> None:
    _single_samples()
    _cycles()
    _adversaries()
    _policy()
    _longer_sequences()
    _uncertain_weights()
    _scaler()
    _not_measured()
    _undefined_score()
    _outlier()


def _single_samples() -> None:
    r, n = rng("single"), 400
    val = [None] * n
    clean = expo(n, 1.9, 0.52, 80)
    for i in range(39, n, 40):
        val[i] = clean[i] * 1.04 * np.exp(0.01 * r.standard_normal())
    FILES.lines(
        "ok_batch_of_one.jsonl",
        {"step": np.arange(n) * 25, "loss": clean * r.gamma(2.0, 0.5, n), "val_loss": val},
        {"config": {"optimizer": "sgd", "lr": 0.002, "momentum": 0.0, "batch_size": 1}},
    )


def _cycles() -> None:
    r, n = rng("cycles"), 160
    phase = np.abs((np.arange(n) % 32) / 16 - 1)  # 1, 0, 1
    rate = 1e-4 + (2e-3 - 1e-4) * (1 - phase)
    clean = expo(n, 2.3, 0.5, 40) * (1 + 0.18 * (1 - phase))
    FILES.table(
        "ok_cyclic_rate.csv",
        {
            "step": np.arange(n) * 20,
            "loss": rough(r, clean, 0.02),
            "val_loss": rough(r, clean * 1.06, 0.02),
            "lr": rate,
        },
    )


def _adversaries() -> None:
    r, n = rng("adversaries"), 90
    FILES.table(
        "ok_adversaries_fid.csv",
        {
            "kimg": np.arange(n) * 40,
            "loss_d": 1.05 + 0.18 * r.standard_normal(n),
            "loss_g": 1.4 + 0.35 * r.standard_normal(n),
            "fid": rough(r, power(n, 220.0, 6.0, 4.0, 1.0), 0.03),
        },
    )


def _policy() -> None:
    r, n = rng("policy"), 120
    t = np.arange(n)
    FILES.table(
        "ok_policy_gradient.csv",
        {
            "timesteps": (t + 1) * 2048,
            "policy_loss": -0.012 + 0.009 * r.standard_normal(n),
            "value_loss": 18 * np.exp(0.4 * r.standard_normal(n)) * (1 + t / 60),
            "entropy": 1.38 * np.exp(-t / 160) + 0.01 * r.standard_normal(n),
            "ep_rew_mean": 21 + 430 * (1 - np.exp(-t / 45)) + 14 * r.standard_normal(n),
        },
    )


def _longer_sequences() -> None:
    r, n = rng("sequences"), 200
    t = np.arange(n)
    length = np.where(t < 60, 128, np.where(t < 130, 512, 2048))
    jump = np.where(
        t < 60, 0, np.where(t < 130, 0.35 * np.exp(-(t - 60) / 15), 0.3 * np.exp(-(t - 130) / 15))
    )
    FILES.lines(
        "ok_longer_sequences.jsonl",
        {
            "iter": t * 10,
            "loss": rough(r, power(n, 8.9, 2.4, 5.0) + jump, 0.01),
            "seq_len": length,
            "lr": cosine(n, 3e-4, 10, 3e-5),
        },
    )


def _uncertain_weights() -> None:
    """Losses weighted by their learned uncertainty fall below zero."""
    r, n = rng("uncertain"), 70
    FILES.table(
        "ok_weighted_by_uncertainty.csv",
        {
            "epoch": np.arange(n),
            "loss": expo(n, 3.4, -2.9, 18) + 0.06 * r.standard_normal(n),
            "depth_rmse": rough(r, expo(n, 1.4, 0.42, 14), 0.01),
            "val_depth_rmse": rough(r, expo(n, 1.42, 0.47, 14), 0.012),
            "val_miou": 0.61 - 0.5 * np.exp(-np.arange(n) / 14) + 0.004 * r.standard_normal(n),
        },
    )


def _scaler() -> None:
    r, n = rng("scaler"), 150
    norm = level(r, n, 0.9, 0.2)
    norm[:3] = np.inf
    norm[97] = np.inf
    scale = np.array([65536.0 / 2 ** min(i, 3) for i in range(n)])
    scale[97:] /= 2
    FILES.lines(
        "ok_scaler_searches.jsonl",
        {
            "step": np.arange(1, n + 1),
            "loss": rough(r, expo(n, 4.6, 1.1, 40), 0.02),
            "grad_norm": norm,
            "loss_scale": scale,
            "lr": cosine(n, 3e-4, 10),
        },
        {"config": {"precision": "fp16", "optimizer": "adamw"}},
    )


def _not_measured() -> None:
    """Validated every fifth epoch; between them the column says nan."""
    r, n = rng("fifth"), 60
    val = np.full(n, NAN)
    val[4::5] = rough(r, expo(12, 1.1, 0.42, 3), 0.01)
    FILES.table(
        "ok_validated_every_fifth.csv",
        {
            "epoch": np.arange(1, n + 1),
            "train_loss": rough(r, expo(n, 1.7, 0.36, 15), 0.015),
            "val_loss": val,
        },
    )


def _undefined_score() -> None:
    r, n = rng("undefined"), 40
    f1 = 0.78 - 0.8 * np.exp(-np.arange(n) / 6) + 0.006 * r.standard_normal(n)
    f1[:2] = NAN
    FILES.table(
        "ok_score_undefined_at_first.csv",
        {
            "epoch": np.arange(n),
            "loss": rough(r, expo(n, 0.69, 0.14, 7), 0.02),
            "val_loss": rough(r, expo(n, 0.68, 0.18, 7), 0.02),
            "val_f1": f1,
        },
    )


def _outlier() -> None:
    """One hard batch among a thousand; the next value is as before it."""
    r, n = rng("outlier"), 300
    loss = rough(r, expo(n, 2.8, 0.9, 60), 0.05)
    loss[211] = 1.9
    FILES.text(
        "ok_one_hard_batch.txt",
        [
            f"step {i * 10:5d} | loss {loss[i]:.4f} | gnorm {1.2 * np.exp(0.2 * r.standard_normal()):.3f}"
            for i in range(n)
        ],
    )
