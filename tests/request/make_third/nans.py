"""NaN, and gradients that are too large or too small."""

from __future__ import annotations

import numpy as np

from .formats import NAN, dicts, expo, keras, level, lightning, lines, power, rng, rough, table, text


def write() -> None:
    r = rng("nan first print")
    text(
        "nan_first_print.txt",
        "lstm seq2seq, SGD lr=5.0, batch 64, init uniform(-1, 1)",
        ["[1,   100] loss: 188.412", "[1,   200] loss: nan"]
        + [f"[{1 + i // 4},{100 * (i % 4 + 1):6d}] loss: nan" for i in range(2, 24)],
    )

    r = rng("nan calm")
    n = 150
    lightning(
        "nan_calm",
        {
            "loss": "my_focal_kl",
            "optimizer": "AdamW",
            "lr": 0.0002,
            "batch_size": 24,
            "precision": "32-true",
            "gradient_clip_val": 1.0,
        },
        {
            "train_loss": [*rough(r, expo(n, 1.4, 0.31, 40), 0.02), *[NAN] * 14],
            "grad_norm": [*level(r, n, 0.6, 0.15), *[NAN] * 14],
        },
        {},
        every=25,
    )

    r = rng("norms run up")
    n = 120
    t = np.arange(n)
    norm = level(r, n, 1.5, 0.2) * np.exp(np.maximum(0, t - 95) / 3.1)
    loss = rough(r, expo(n, 5.4, 2.9, 30), 0.012) + 0.006 * np.maximum(0, t - 100) ** 2
    table(
        "nan_norms_run_up.csv",
        {
            "step": np.arange(n + 10) * 30,
            "loss": [*loss, *[NAN] * 10],
            "grad_norm": [*norm, *[NAN] * 10],
            "lr": [2e-3] * (n + 10),
        },
    )

    r = rng("scale runs out")
    n = 40
    loss = rough(r, power(n, 9.8, 2.9, 2.5, 0.9), 0.012)
    scale = 65536.0 * 0.5 ** np.maximum(0, np.arange(n) - 23)
    out = [
        f" iteration {(i + 1) * 10:7d}/ 50000 | learning rate: 3.000E-04 | lm loss: {loss[i]:.4E} | loss scale: {max(scale[i], 1.0):.1f} | grad norm: {1.1 + 0.1 * r.standard_normal():.3f} | skipped iterations: {int(i > 23)} |"
        for i in range(n)
    ]
    out += [
        f" iteration {(n + i + 1) * 10:7d}/ 50000 | learning rate: 3.000E-04 | lm loss: NAN | loss scale: 1.0 | grad norm: nan | skipped iterations: 10 |"
        for i in range(8)
    ]
    text("nan_scale_runs_out.log", "using fp16, dynamic loss scale, adam eps 1e-8, clip 1.0", out)

    r = rng("spike, nan")
    n = 42
    loss, norm = rough(r, expo(n, 2.9, 1.41, 11), 0.02), level(r, n, 1.2, 0.2)
    loss[-3:], norm[-3:] = [3.72, 11.83, 497.4], [64.0, 880.0, 51000.0]
    dicts(
        "nan_after_spike.txt",
        {
            "loss": [*loss, *[0.0] * 0, *[NAN] * 6],
            "grad_norm": [*norm, *[NAN] * 6],
            "learning_rate": [1e-3] * (n + 6),
        },
        epochs=0.76,
    )

    r = rng("keras nan")
    n = 14
    keras(
        "nan_keras.txt",
        {
            "loss": [*rough(r, expo(9, 0.61, 0.22, 3), 0.02), *[NAN] * 5],
            "accuracy": [*(0.91 - 0.2 * np.exp(-np.arange(9) / 3)), *[0.503] * 5],
            "val_loss": [*rough(r, expo(9, 0.5, 0.25, 3), 0.02), *[NAN] * 5],
            "val_accuracy": [*(0.9 - 0.2 * np.exp(-np.arange(9) / 3)), *[0.498] * 5],
        },
        625,
    )

    r = rng("explode")
    n = 64
    t = np.arange(n)
    lines(
        "norms_explode.jsonl",
        {
            "step": t * 10,
            "loss": rough(r, expo(n, 4.6, 3.1, 9) + 0.03 * np.maximum(0, t - 32), 0.02),
            "grad_norm": level(r, n, 2.0, 0.25) * np.exp(np.clip(t - 28, 0, 28) / 4.5),
        },
        {"model": "vanilla rnn, bptt 400", "optimizer": "sgd", "lr": 0.1, "clip": None, "batch_size": 32},
    )

    r = rng("eight thousand")
    n = 90
    t = np.arange(n)
    lightning(
        "norms_large_batch",
        {
            "batch_size": 8192,
            "lr": 6.4,
            "optimizer": "SGD",
            "momentum": 0.9,
            "warmup_epochs": 0,
            "max_epochs": 90,
        },
        {
            "train_loss": rough(r, 7.0 + 2.2 * np.exp(-t / 3) + 0.011 * t, 0.03),
            "grad_norm": level(r, n, 310, 0.6),
            "lr-SGD": [6.4] * n,
        },
        {"val_loss": rough(r, 7.2 + 0.13 * np.arange(9), 0.03)},
        every=10,
    )

    r = rng("layer by layer")
    n = 32
    cols = {"step": np.arange(n) * 50, "loss": rough(r, expo(n, 2.31, 2.27, 10), 0.004)}
    for k in range(9):
        cols[f"grad_norm/layers.{k}.weight"] = level(r, n, 0.12 * 10.0 ** -(8 - k), 0.25)
    table("norms_by_layer.csv", cols)

    r = rng("half of them dead")
    n = 40
    t = np.arange(n)
    table(
        "dead_share.csv",
        {
            "epoch": t,
            "loss": rough(r, expo(n, 2.2, 1.48, 6), 0.006),
            "val_loss": rough(r, expo(n, 2.1, 1.52, 6), 0.008),
            "relu1_zero_fraction": np.clip(0.52 + 0.41 * (1 - np.exp(-t / 8)), 0, 1),
            "relu2_zero_fraction": np.clip(0.5 + 0.38 * (1 - np.exp(-t / 8)), 0, 1),
            "lr": [0.2] * n,
        },
    )
