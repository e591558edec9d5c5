"""Trainings that stand because nothing more can be had."""

from __future__ import annotations

import numpy as np

from .formats import cosine, expo, history, keras, lightning, lines, power, rng, rough, table, text


def write() -> None:
    tabular()
    vision()
    ranking()
    solved()


def tabular() -> None:
    r = rng("energy")
    n = 26
    mse, val = rough(r, expo(n, 1.05, 0.0212, 3.2), 0.02), rough(r, expo(n, 0.55, 0.0229, 3.0), 0.03)
    keras(
        "ok_keras_energy.txt",
        {
            "loss": mse,
            "r2_score": 1 - mse / 1.02,
            "val_loss": val,
            "val_r2_score": 1 - val / 1.0,
            "learning_rate": np.where(np.arange(n) < 16, 1e-3, np.where(np.arange(n) < 21, 5e-4, 2.5e-4)),
        },
        312,
    )

    r = rng("sensor")
    n = 60
    text(
        "ok_sensor_noise.txt",
        "calibration net 3x64 gelu, adamw lr=1e-3 cosine, batch=512, 80k train / 20k val",
        "sensor noise variance (from the data sheet): 0.0900 -> mse cannot be below 0.09",
        [
            f"ep {i:03d} | mse {a:.5f} | val mse {b:.5f} | lr {c:.2e}"
            for i, (a, b, c) in enumerate(
                zip(
                    rough(r, expo(n, 2.4, 0.0893, 9), 0.008),
                    rough(r, expo(n, 1.9, 0.0911, 9), 0.008),
                    cosine(n, 1e-3),
                    strict=True,
                )
            )
        ],
    )


def vision() -> None:
    r = rng("nnunet")
    n = 30
    t = np.arange(n)
    train = -0.885 + 0.75 * np.exp(-t / 5.5) + 0.006 * r.standard_normal(n)
    val = -0.842 + 0.72 * np.exp(-t / 5.5) + 0.014 * r.standard_normal(n)
    dice = 0.893 - 0.7 * np.exp(-t / 5) + 0.008 * r.standard_normal(n)
    out = ["nnUNetTrainer 3d_fullres | batch size 2 | SGD nesterov 0.99 | poly lr 0.01"]
    for i in range(n):
        out += [
            f"2030-05-11 08:{i:02d}:30: Epoch {i}",
            f"2030-05-11 08:{i:02d}:30: Current learning rate: {0.01 * (1 - i / n) ** 0.9:.5f}",
            f"train_loss {train[i]:.4f}",
            f"val_loss {val[i]:.4f}",
            f"Pseudo dice [{dice[i]:.4f}]",
        ]
    text("ok_nnunet.log", out)

    r = rng("pets")
    out = ["epoch     train_loss  valid_loss  error_rate  time    "]
    for i, (a, b, e) in enumerate(
        [
            (0.3812, 0.2987, 0.0981),
            (0.3155, 0.2511, 0.0812),
            (0.2490, 0.2302, 0.0724),
            (0.1922, 0.2184, 0.0690),
            (0.1490, 0.2098, 0.0656),
            (0.1281, 0.2079, 0.0643),
            (0.1190, 0.2071, 0.0636),
            (0.1162, 0.2070, 0.0636),
        ]
    ):
        out.append(f"{i:<9} {a:.6f}    {b:.6f}    {e:.6f}    00:{41 + i % 3}   ")
    text("ok_fastai_pets.txt", out)

    r = rng("ddpm")
    n = 320
    table(
        "ok_ddpm.csv",
        {
            "step": np.arange(n) * 200,
            "loss": rough(r, expo(n, 0.92, 0.0268, 6) + power(n, 0.01, 0, 120), 0.11, 0),
        },
    )

    r = rng("label smoothing vit")
    n = 150
    val = 0.905 + rough(r, expo(30, 2.6, 0.0, 5) + 0.001, 0.05)
    lightning(
        "ok_vit_mixup",
        {
            "model": "vit_small",
            "lr": 0.001,
            "optimizer": "AdamW",
            "mixup": 0.8,
            "label_smoothing": 0.1,
            "weight_decay": 0.05,
            "batch_size": 1024,
            "max_epochs": 30,
        },
        {"train_loss": rough(r, expo(n, 6.85, 2.62, 30), 0.025), "lr-AdamW": cosine(n, 1e-3, 15)},
        {"val_loss": val, "val_acc": 0.787 - 0.7 * np.exp(-np.arange(30) / 5.5)},
        every=250,
    )


def ranking() -> None:
    r = rng("clicks")
    n = 60
    table(
        "ok_clicks.csv",
        {
            "step": np.arange(1, n + 1) * 1000,
            "train_logloss": rough(r, expo(n, 0.52, 0.4412, 4), 0.006),
            "val_logloss": rough(r, expo(n, 0.50, 0.4431, 4), 0.001),
            "val_auc": 0.8093 - 0.09 * np.exp(-np.arange(n) / 6) + 0.0003 * r.standard_normal(n),
            "lr": [1e-3] * n,
        },
    )

    r = rng("bpr")
    n = 36
    t = np.arange(n)
    lines(
        "ok_movies_bpr.jsonl",
        {
            "epoch": t,
            "bpr_loss": rough(r, expo(n, 0.69, 0.148, 11), 0.006),
            "recall@20": 0.241 - 0.19 * np.exp(-t / 10) + 0.0012 * r.standard_normal(n),
            "ndcg@20": 0.2015 - 0.16 * np.exp(-t / 10) + 0.001 * r.standard_normal(n),
        },
        {"model": "lightgcn", "lr": 0.001, "batch_size": 2048, "reg": 1e-4, "dataset": "ml-1m"},
    )

    r = rng("reward model")
    n = 110
    table(
        "ok_reward_model.csv",
        {
            "step": np.arange(1, n + 1) * 10,
            "loss": rough(r, expo(n, 0.70, 0.585, 18), 0.035),
            "accuracy": np.clip(
                0.69 - 0.18 * np.exp(-np.arange(n) / 16) + 0.025 * r.standard_normal(n), 0, 1
            ),
            "eval_loss": [None if i % 22 else x for i, x in enumerate(expo(n, 0.692, 0.598, 18))],
            "eval_accuracy": [
                None if i % 22 else x for i, x in enumerate(0.678 - 0.17 * np.exp(-np.arange(n) / 16))
            ],
            "lr": cosine(n, 9e-6, 4),
        },
    )


def solved() -> None:
    r = rng("solved audio commands")
    n = 30
    t = np.arange(n)
    lines(
        "ok_norm_fades.jsonl",
        {
            "epoch": t,
            "train_loss": rough(r, expo(n, 1.6, 0.0011, 4.5), 0.10),
            "train_acc": np.minimum(1.0, 0.9998 - 0.5 * np.exp(-t / 3.5)),
            "val_loss": rough(r, expo(n, 1.1, 0.071, 4), 0.02),
            "val_acc": 0.9834 - 0.45 * np.exp(-t / 3) + 0.0006 * r.standard_normal(n),
            "grad_norm": rough(r, expo(n, 2.2, 0.004, 6), 0.25),
            "lr": cosine(n, 1e-3),
        },
    )

    r = rng("xor")
    n = 30
    history(
        "ok_spam_history.json",
        {
            "loss": rough(r, expo(n, 0.45, 0.012, 4), 0.04),
            "accuracy": 0.997 - 0.17 * np.exp(-np.arange(n) / 3.5),
            "val_loss": rough(r, expo(n, 0.33, 0.047, 3.5), 0.025),
            "val_accuracy": 0.9852 - 0.12 * np.exp(-np.arange(n) / 3) + 0.0007 * r.standard_normal(n),
        },
    )

    r = rng("mnist prints")
    out = []
    loss = rough(r, power(40, 2.31, 0.012, 2.0, 1.3), 0.30, 0)
    for e in range(10):
        for b in range(4):
            i = 4 * e + b
            out.append(f"Train Epoch: {e + 1} [{b * 15360}/60000 ({25.6 * b:.0f}%)]\tLoss: {loss[i]:.6f}")
        right = int(9925 - 150 * np.exp(-e / 2.2) + 3 * r.standard_normal())
        out += [
            "",
            f"Test set: Average loss: {0.0251 + 0.03 * np.exp(-e / 2.2):.4f}, Accuracy: {right}/10000 ({right // 100}%)",
            "",
        ]
    text("ok_mnist_prints.txt", out)

    r = rng("wind")
    n = 90
    table(
        "ok_wind_forecast.csv",
        {
            "epoch": np.arange(1, n + 1),
            "train_rmse": rough(r, expo(n, 1.02, 0.431, 6), 0.004),
            "val_rmse": rough(r, expo(n, 0.98, 0.447, 6), 0.006),
            "naive_rmse": [0.68] * n,
            "lr": np.where(np.arange(n) < 50, 1e-3, np.where(np.arange(n) < 70, 1e-4, 1e-5)),
        },
    )
