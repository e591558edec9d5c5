"""Losses that are flat from the start, that stand, that fall too slowly, that stay high."""

from __future__ import annotations

import numpy as np

from .formats import (
    cosine,
    dicts,
    expo,
    history,
    keras,
    level,
    lightning,
    lines,
    rng,
    rough,
    table,
    text,
    wander,
)


def write() -> None:
    flat()
    stands()
    slow()
    high()


def flat() -> None:
    r = rng("coin")
    out = []
    for i in range(22):
        out.append(
            f"Epoch {i + 1:2d}: 100%|##########| 250/250 [00:31<00:00,  8.0it/s, loss={0.6932 + 0.0009 * r.standard_normal():.4f}, acc={0.5 + 0.006 * r.standard_normal():.3f}, val_loss={0.6931 + 0.0003 * r.standard_normal():.4f}, val_acc={0.5 + 0.004 * r.standard_normal():.3f}]"
        )
    text("flat_coin.txt", "siamese lstm | Adam | lr 0.001 | batch_size 64 | balanced pairs", out)

    r = rng("hundred classes")
    n = 50
    lines(
        "flat_hundred_classes.jsonl",
        {
            "iter": np.arange(n) * 100,
            "loss": 4.606 + 0.004 * r.standard_normal(n),
            "top1": np.clip(1.0 + 0.25 * r.standard_normal(n), 0, 9),
            "grad_norm": level(r, n, 3.1e-6, 0.3),
            "lr": cosine(n, 0.05, 5),
        },
        {
            "arch": "plain-56 (no skip, sigmoid)",
            "num_classes": 100,
            "optimizer": "sgd",
            "momentum": 0.9,
            "batch_size": 128,
        },
    )

    r = rng("keras rate of nothing")
    n = 18
    keras(
        "flat_keras_rate.txt",
        {
            "loss": 2.3391 - 0.00006 * np.arange(n) + 0.0002 * r.standard_normal(n),
            "accuracy": 0.1031 + 0.0003 * r.standard_normal(n),
            "val_loss": 2.3370 - 0.00006 * np.arange(n) + 0.0001 * r.standard_normal(n),
            "val_accuracy": 0.1022 + 0.0002 * r.standard_normal(n),
            "lr": [1e-7] * n,
        },
        782,
    )

    r = rng("nothing updated")
    n = 40
    table(
        "flat_never_stepped.csv",
        {
            "epoch": np.arange(1, n + 1),
            "train_loss": 1.7312 + 0.004 * r.standard_normal(n),
            "val_loss": [1.72904] * n,
            "val_acc": [0.1875] * n,
            "lr": [0.001] * n,
        },
    )


def stands() -> None:
    r = rng("tiny norms")
    n = 96
    lightning(
        "plateau_tiny_norm",
        {"model": "mlp 20x128 tanh", "optimizer": "Adam", "lr": 0.0003, "batch_size": 128, "num_classes": 10},
        {
            "train_loss": rough(r, expo(n, 2.32, 1.93, 6), 0.006),
            "grad_norm": rough(r, expo(n, 0.3, 0.0023, 8), 0.2),
        },
        {
            "val_loss": rough(r, expo(16, 2.1, 1.94, 1), 0.003),
            "val_acc": 0.277 - 0.1 * np.exp(-np.arange(16)),
        },
        every=100,
    )

    r = rng("constant sgd")
    n = 50
    t = np.arange(n)
    text(
        "plateau_constant_sgd.txt",
        "wrn-16-4 on svhn-hard | sgd(lr=0.2, momentum=0.9) | no scheduler | bs 128",
        [
            f"epoch={i} lr=0.2 train_loss={a:.3f} val_loss={b:.3f} val_acc={c:.2f}"
            for i, (a, b, c) in enumerate(
                zip(
                    rough(r, expo(n, 2.2, 0.79, 6), 0.035),
                    rough(r, expo(n, 2.0, 0.83, 6), 0.09),
                    74 - 45 * np.exp(-t / 6) + 2.0 * r.standard_normal(n),
                    strict=True,
                )
            )
        ],
    )

    r = rng("rate died")
    out = []
    lr = 1e-3
    loss = rough(r, expo(50, 1.55, 1.02, 2), 0.006)
    loss[14:] = 1.021 + 0.002 * r.standard_normal(36)
    for i in range(50):
        if i in (8, 11, 14, 17, 20, 23):
            lr /= 10
            out.append(f"Epoch {i:05d}: reducing learning rate of group 0 to {lr:.4e}.")
        out.append(
            f"Epoch {i:3d} | train {loss[i]:.4f} | valid {loss[i] * 1.015 + 0.002 * r.standard_normal():.4f} | acc {0.55 - 0.2 * np.exp(-i / 2) + 0.003 * r.standard_normal():.3f} | lr {lr:.1e}"
        )
    text("plateau_rate_died.txt", "ReduceLROnPlateau(factor=0.1, patience=2)", out)

    r = rng("per step")
    n = 56
    lr = 1e-3 * 0.85 ** np.arange(n)
    lines(
        "plateau_stepped_per_batch.jsonl",
        {
            "step": np.arange(n) * 10,
            "loss": rough(r, expo(n, 6.9, 5.35, 5), 0.008, 0),
            "lr": np.maximum(lr, 1e-12),
            "grad_norm": level(r, n, 1.7, 0.2),
        },
        {
            "cfg": {
                "scheduler": "ExponentialLR(gamma=0.85)",
                "optimizer": "adamw",
                "batch_size": 256,
                "num_classes": 1000,
            }
        },
    )

    r = rng("both curves stand")
    n = 80
    history(
        "plateau_both/training_history.json",
        {
            "loss": rough(r, expo(n, 1.8, 1.115, 5), 0.004),
            "accuracy": 0.582 - 0.25 * np.exp(-np.arange(n) / 5),
            "val_loss": rough(r, expo(n, 1.7, 1.131, 5), 0.006),
            "val_accuracy": 0.574 - 0.25 * np.exp(-np.arange(n) / 5),
        },
    )


def slow() -> None:
    r = rng("slow hf")
    n = 40
    dicts(
        "slow_fall_hf.txt",
        {
            "loss": 5.52 - 0.0057 * np.arange(n) + wander(r, n, 0.012, 0.1),
            "grad_norm": level(r, n, 3.6, 0.12),
            "learning_rate": [2e-7] * n,
        },
        {"eval_loss": [5.47, 5.42, 5.37, 5.32]},
        epochs=4.0,
        header=["***** Running training *****", "  Num examples = 96,000", "  Total train batch size = 32"],
    )

    r = rng("slow sgd regression")
    n = 80
    table(
        "slow_fall_regression.csv",
        {
            "epoch": np.arange(n),
            "train_mse": rough(r, 41 - 0.08 * np.arange(n), 0.002),
            "val_mse": rough(r, 41.5 - 0.08 * np.arange(n), 0.002),
            "grad_norm": level(r, n, 5.2, 0.05),
            "lr": [1e-6] * n,
            "optimizer": ["SGD"] * n,
        },
    )


def high() -> None:
    r = rng("eight units")
    n = 30
    text(
        "underfit_eight_units.txt",
        "MLP 784-8-47, params=6703, train samples=112800 (EMNIST), adam lr=1e-3 cosine, no dropout, wd 0",
        [
            f"epoch {i + 1}/{n} - train loss {a:.3f} acc {b:.3f} - test loss {c:.3f} acc {d:.3f}"
            for i, (a, b, c, d) in enumerate(
                zip(
                    rough(r, expo(n, 2.9, 1.712, 5), 0.003),
                    0.51 - 0.3 * np.exp(-np.arange(n) / 5),
                    rough(r, expo(n, 2.6, 1.725, 5), 0.004),
                    0.505 - 0.28 * np.exp(-np.arange(n) / 5),
                    strict=True,
                )
            )
        ],
    )

    r = rng("held down")
    n = 24
    keras(
        "underfit_dropout.txt",
        {
            "loss": rough(r, expo(n, 2.4, 1.74, 4), 0.004),
            "accuracy": 0.36 - 0.2 * np.exp(-np.arange(n) / 4),
            "val_loss": rough(r, expo(n, 2.1, 1.62, 4), 0.006),
            "val_accuracy": 0.44 - 0.2 * np.exp(-np.arange(n) / 4),
        },
        1563,
        header=[
            "config: dropout=0.85 weight_decay=0.1 optimizer=AdamW lr=0.001 schedule=cosine batch_size=32 params=2.1M"
        ],
    )

    r = rng("too short")
    n = 12
    table(
        "underfit_short.csv",
        {
            "epoch": np.arange(1, n + 1),
            "train_loss": rough(r, np.linspace(2.28, 1.31, n), 0.004),
            "val_loss": rough(r, np.linspace(2.25, 1.34, n), 0.006),
            "val_acc": np.linspace(0.14, 0.53, n),
            "lr": [3e-4] * n,
        },
    )
