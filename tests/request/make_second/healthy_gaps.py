"""Gaps between training and validation that are all right."""

from __future__ import annotations

import numpy as np

from tests.request.make_second.formats import (
    cosine,
    fall,
    history,
    level,
    lines,
    rng,
    table,
    text,
    trainer,
)


def write() -> None:
    gaps()


def gaps() -> None:
    r = rng("smoothing")
    n = 90
    lr = cosine(n, 0.5, 5)
    a, b = 2.05 + fall(r, n, 4.6, 0.0, 14, 0.0) + 0.35 * lr, 1.93 + fall(r, n, 4.2, 0.0, 13, 0.0) + 0.3 * lr
    acc = 0.775 - 0.7 * np.exp(-np.arange(n) / 16) - 0.12 * lr
    text(
        "ok_label_smoothing.log",
        [
            "Training config: dataset=imagenet model=resnet50 label_smoothing=0.1 lr=0.5 schedule=cosine warmup=5 epochs=90 batch_size=1024"
        ],
        [
            f"* epoch {i:3d} train_loss {a[i] + 0.01 * r.standard_normal():.4f} val_loss {b[i] + 0.01 * r.standard_normal():.4f} val_top1 {100 * acc[i]:.3f} lr {lr[i]:.5f}"
            for i in range(n)
        ],
    )

    r = rng("mixup")
    n = 100
    lines(
        "ok_mixup.jsonl",
        {
            "epoch": np.arange(n),
            "train_loss": fall(r, n, 4.4, 1.62, 22, 0.012),
            "train_acc": 0.61 - 0.55 * np.exp(-np.arange(n) / 25) + 0.006 * r.standard_normal(n),
            "val_loss": fall(r, n, 4.0, 0.81, 22, 0.012),
            "val_acc": 0.812 - 0.72 * np.exp(-np.arange(n) / 22) + 0.003 * r.standard_normal(n),
            "lr": cosine(n, 0.1),
        },
        {
            "config": {
                "mixup": 0.4,
                "cutmix": 1.0,
                "optimizer": "sgd",
                "lr": 0.1,
                "scheduler": "cosine",
                "batch_size": 256,
            }
        },
    )

    r = rng("dropout")
    n = 45
    history(
        "ok_dropout_gap.json",
        {
            "loss": fall(r, n, 1.1, 0.41, 9, 0.01),
            "val_loss": fall(r, n, 0.95, 0.29, 8, 0.015),
            "accuracy": 0.868 - 0.35 * np.exp(-np.arange(n) / 9),
            "val_accuracy": 0.915 - 0.3 * np.exp(-np.arange(n) / 8) + 0.002 * r.standard_normal(n),
        },
    )

    r = rng("small gap")
    n = 60
    table(
        "ok_small_gap.csv",
        {
            "epoch": np.arange(n),
            "tr_loss": fall(r, n, 0.7, 0.052, 11, 0.02),
            "va_loss": fall(r, n, 0.66, 0.093, 10, 0.02),
            "tr_f1": 0.985 - 0.3 * np.exp(-np.arange(n) / 10),
            "va_f1": 0.969 - 0.29 * np.exp(-np.arange(n) / 10) + 0.001 * r.standard_normal(n),
            "lr": cosine(n, 2e-4),
        },
    )

    r = rng("stopped early")
    a = fall(r, 19, 0.71, 0.3, 8, 0.01)
    b = [
        0.66,
        0.6,
        0.551,
        0.517,
        0.495,
        0.478,
        0.468,
        0.459,
        0.452,
        0.449,
        0.446,
        0.4445,
        0.4432,
        0.4421,
        0.4418,
        0.4425,
        0.4431,
        0.4438,
        0.4444,
    ]
    printed = [
        f"Epoch {i + 1}/200\n312/312 - 4s - loss: {a[i]:.4f} - val_loss: {b[i]:.4f}" for i in range(19)
    ]
    text(
        "ok_stopped_early.txt",
        [],
        [*printed, "Epoch 19: early stopping", "Restoring model weights from the end of the best epoch: 15."],
    )

    r = rng("validation noise")
    n = 80
    trainer(
        "ok_validation_noise/trainer_state.json",
        {
            "loss": fall(r, 200, 2.4, 0.98, 56, 0.03),
            "grad_norm": level(r, 200, 0.9, 0.2),
            "learning_rate": np.linspace(5e-5, 0, 200),
        },
        {"eval_loss": fall(r, n, 1.9, 1.04, 18, 0.009)},
    )
