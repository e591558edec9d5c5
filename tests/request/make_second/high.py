"""Training and validation both bad, or validation that comes back."""

from __future__ import annotations

import numpy as np

from tests.request.make_second.formats import (
    fall,
    history,
    lightning,
    rng,
    table,
    text,
)


def write() -> None:
    both_high()
    comes_back()


def both_high() -> None:
    r = rng("four hidden units")
    n = 50
    a, b = fall(r, n, 2.1, 1.12, 5, 0.006), fall(r, n, 2.0, 1.13, 5, 0.008)
    text(
        "four_hidden_units.txt",
        [
            "fashion-mnist, mlp hidden=[4], params=3190, train samples 60000, Adam lr=1e-3 batch 128, cosine schedule"
        ],
        [
            f"ep {i:>2}  trn {a[i]:.4f}  val {b[i]:.4f}  trn_acc {0.9 - 0.29 * a[i]:.3f}  val_acc {0.9 - 0.29 * b[i]:.3f}"
            for i in range(n)
        ],
    )

    r = rng("held down")
    lightning(
        "held_down",
        {
            "lr": 0.001,
            "optimizer": "AdamW",
            "weight_decay": 1.0,
            "dropout": 0.85,
            "batch_size": 128,
            "num_classes": 10,
            "scheduler": "cosine",
        },
        {"train_loss": fall(r, 240, 2.3, 1.93, 30, 0.012)},
        {
            "val_loss": fall(r, 30, 2.25, 1.71, 4, 0.01),
            "val_acc": 0.42 - 0.2 * np.exp(-np.arange(30) / 4),
            "train_acc": 0.29 - 0.15 * np.exp(-np.arange(30) / 4),
        },
    )

    r = rng("bad boxes")
    n = 100
    table(
        "bad_boxes/results.csv",
        {
            "epoch": np.arange(n),
            "train/box_loss": fall(r, n, 3.4, 2.61, 8, 0.008),
            "train/cls_loss": fall(r, n, 4.1, 2.9, 8, 0.008),
            "train/dfl_loss": fall(r, n, 3.2, 2.2, 8, 0.006),
            "metrics/precision(B)": 0.21 + 0.01 * r.standard_normal(n),
            "metrics/recall(B)": 0.17 + 0.01 * r.standard_normal(n),
            "metrics/mAP50(B)": 0.12 - 0.1 * np.exp(-np.arange(n) / 9) + 0.003 * r.standard_normal(n),
            "metrics/mAP50-95(B)": 0.05 - 0.04 * np.exp(-np.arange(n) / 9) + 0.001 * r.standard_normal(n),
            "val/box_loss": fall(r, n, 3.4, 2.66, 8, 0.008),
            "val/cls_loss": fall(r, n, 4.1, 2.96, 8, 0.008),
            "val/dfl_loss": fall(r, n, 3.2, 2.24, 8, 0.006),
            "lr/pg0": [0.01] * n,
        },
    )


def comes_back() -> None:
    r = rng("descends twice")
    n = 400
    t = np.arange(n)
    val = (
        0.9
        + 1.3 * np.exp(-t / 12)
        + 0.75 * np.exp(-(((t - 110) / 45) ** 2))
        - 0.3 / (1 + np.exp(-(t - 230) / 30))
    )
    history(
        "descends_twice.json",
        {"loss": fall(r, n, 2.2, 0.004, 45, 0.03), "val_loss": val * np.exp(0.012 * r.standard_normal(n))},
    )

    r = rng("error descends twice")
    n = 250
    t = np.arange(n)
    err = (
        0.28
        + 0.5 * np.exp(-t / 8)
        + 0.17 * np.exp(-(((t - 70) / 28) ** 2))
        - 0.09 / (1 + np.exp(-(t - 150) / 18))
    )
    table(
        "error_descends_twice.csv",
        {
            "epoch": t,
            "train_error": np.maximum(0.0, fall(r, n, 0.8, 0.0, 22, 0.05)),
            "train_loss": fall(r, n, 2.3, 0.002, 24, 0.04),
            "test_error": err + 0.004 * r.standard_normal(n),
            "test_loss": 0.8
            + 1.5 * np.exp(-t / 8)
            + 0.9 * np.exp(-(((t - 70) / 28) ** 2))
            - 0.2 / (1 + np.exp(-(t - 150) / 18)),
        },
    )
