"""Fine-tuning that starts low, preferences, adapters; and validation that descends twice."""

from __future__ import annotations

import numpy as np

from .formats import cosine, dicts, expo, level, linear, lines, rng, rough, table, trainer


def write() -> None:
    r = rng("alpaca")
    n = 40
    dicts(
        "ok_one_epoch_tuning.txt",
        {
            "loss": rough(r, expo(n, 1.36, 1.165, 12), 0.035, 0),
            "grad_norm": level(r, n, 0.85, 0.25),
            "learning_rate": cosine(n, 2e-5, 3),
        },
        {"eval_loss": [1.214, 1.196, 1.189]},
        epochs=1.0,
    )

    r = rng("whisper")
    n = 32
    trainer(
        "ok_whisper/trainer_state.json",
        {
            "loss": rough(r, expo(n, 0.41, 0.118, 10), 0.06),
            "grad_norm": level(r, n, 2.9, 0.25),
            "learning_rate": linear(n, 1e-5, 10),
        },
        {"eval_loss": [0.262, 0.231, 0.221, 0.2185], "eval_wer": [14.2, 11.6, 10.4, 9.9]},
        every=50,
        epochs=2.0,
    )

    r = rng("dpo")
    n = 34
    t = np.arange(n)
    trainer(
        "ok_dpo/trainer_state.json",
        {
            "loss": rough(r, expo(n, 0.6931, 0.49, 10), 0.03),
            "rewards/accuracies": np.clip(0.76 - 0.25 * np.exp(-t / 10) + 0.04 * r.standard_normal(n), 0, 1),
            "rewards/margins": 1.15 * (1 - np.exp(-t / 17)) + 0.05 * r.standard_normal(n),
            "learning_rate": linear(n, 5e-7, 10),
        },
        {"eval_loss": [0.571, 0.532, 0.521], "eval_rewards/accuracies": [0.70, 0.735, 0.742]},
        every=10,
        epochs=1.0,
        batch=4,
    )

    r = rng("dreambooth")
    n = 200
    table(
        "ok_lora_diffusion.csv",
        {
            "step": np.arange(1, n + 1) * 2,
            "loss": np.round(0.005 + 0.12 * r.gamma(1.7, 0.6, n), 4),
            "lr": [1e-4] * n,
        },
    )

    r = rng("mlm")
    n = 52
    lines(
        "ok_domain_mlm.jsonl",
        {
            "step": np.arange(1, n + 1) * 100,
            "loss": rough(r, expo(n, 2.02, 1.61, 16), 0.018, 0),
            "lr": linear(n, 5e-5, 8),
            "eval_ppl": [None if i % 13 != 12 else 4.6 + 1.5 * np.exp(-i / 40) for i in range(n)],
        },
    )

    r = rng("few shot head")
    n = 20
    table(
        "ok_probe_20.csv",
        {
            "epoch": np.arange(n),
            "loss": rough(r, expo(n, 0.84, 0.212, 3), 0.01),
            "val_loss": rough(r, expo(n, 0.62, 0.238, 2.6), 0.01),
            "val_acc": 0.931 - 0.15 * np.exp(-np.arange(n) / 2.5) + 0.0015 * r.standard_normal(n),
        },
    )

    # ------------------------------------------------------------------------------- double descent
    r = rng("descends twice")
    n = 400
    t = np.arange(1, n + 1)
    hump = np.exp(-((np.log(t / 60) / 0.62) ** 2))
    val = 0.27 + 0.6 * np.exp(-t / 7) + 0.21 * hump - 0.03 * (t > 150) * (1 - np.exp(-(t - 150) / 120))
    table(
        "error_twice_noisy_labels.csv",
        {
            "epoch": t[::4],
            "train_error": np.maximum(0.0005, rough(r, 0.9 * np.exp(-t / 45) + 0.001, 0.03))[::4],
            "test_error": rough(r, val, 0.012)[::4],
            "lr": np.full(n, 1e-4)[::4],
        },
    )

    r = rng("grokking")
    n = 120
    t = np.arange(n)
    late = 1 / (1 + np.exp(-(t - 80) / 4))
    up = 4.6 + 9 * (1 - np.exp(-t / 13))
    table(
        "grokking.csv",
        {
            "step": t * 100,
            "train_loss": rough(r, expo(n, 4.6, 2e-4, 5), 0.1),
            "train_acc": np.minimum(1.0, 1.0 - 0.99 * np.exp(-t / 4)),
            "val_loss": rough(r, up * (1 - late) + 0.03, 0.03),
            "val_acc": np.clip(0.012 + 0.983 * late + 0.002 * r.standard_normal(n), 0, 1),
        },
    )
