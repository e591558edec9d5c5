"""Training and validation that part."""

from __future__ import annotations

import numpy as np

from .formats import cosine, dicts, expo, keras, lightning, linear, lines, rng, rough, table, text


def write() -> None:
    r = rng("bert on rte")
    n = 50
    t = np.arange(n)
    dicts(
        "gap_bert.txt",
        {"loss": rough(r, expo(n, 0.69, 0.006, 18), 0.12), "learning_rate": linear(n, 3e-5, 5)},
        {
            "eval_loss": [0.612, 0.571, 0.598, 0.701, 0.864, 1.02, 1.17, 1.25, 1.31, 1.33],
            "eval_accuracy": [0.664, 0.701, 0.708, 0.704, 0.697, 0.701, 0.697, 0.693, 0.697, 0.693],
        },
        epochs=10.0,
        header=["  Num examples = 2,490", "  Number of trainable parameters = 109,483,778"],
    )

    r = rng("r2")
    n = 100
    t = np.arange(n)
    table(
        "gap_r2.csv",
        {
            "epoch": t,
            "train_r2": 0.985 - 0.9 * np.exp(-t / 14),
            "val_r2": 0.61 - 0.5 * np.exp(-t / 7) - 0.13 * (t / n) + 0.004 * r.standard_normal(n),
            "train_loss": rough(r, expo(n, 1.0, 0.015, 14), 0.03),
            "val_loss": rough(r, 0.40 + 0.5 * np.exp(-t / 7) + 0.14 * t / n, 0.012),
        },
    )

    r = rng("few leaves")
    n = 22
    t = np.arange(n)
    keras(
        "gap_few_leaves.txt",
        {
            "loss": rough(r, expo(n, 1.6, 0.004, 5), 0.08),
            "accuracy": np.minimum(1, 1.0 - 0.7 * np.exp(-t / 5)),
            "val_loss": rough(r, 1.05 + 0.55 * np.exp(-t / 3) + 0.022 * t, 0.02),
            "val_accuracy": 0.605 - 0.3 * np.exp(-t / 4) + 0.008 * r.standard_normal(n),
        },
        14,
        header=[
            "Found 420 images belonging to 6 classes.",
            "Found 105 images belonging to 6 classes.",
            "Total params: 24,121,094",
        ],
        new=True,
    )

    r = rng("vit little data")
    n = 40
    t = np.arange(n)
    lines(
        "gap_big_model.jsonl",
        {
            "epoch": t,
            "train_loss": rough(r, expo(n, 2.1, 0.02, 10), 0.05),
            "val_loss": rough(r, 1.21 + 0.8 * np.exp(-t / 5) + 0.016 * np.maximum(0, t - 10), 0.015),
            "lr": cosine(n, 1e-4, 3),
        },
        {
            "params": 86000000,
            "train_samples": 3000,
            "val_samples": 500,
            "dropout": 0.0,
            "weight_decay": 0.0,
            "optimizer": "adam",
        },
    )

    r = rng("ndcg falls")
    n = 50
    t = np.arange(n)
    table(
        "gap_ndcg.csv",
        {
            "epoch": t,
            "train_loss": rough(r, expo(n, 0.69, 0.021, 10), 0.01),
            "val_loss": rough(r, 0.43 + 0.25 * np.exp(-t / 4) + 0.0065 * np.maximum(0, t - 9), 0.006),
            "val_ndcg@10": 0.214
            - 0.12 * np.exp(-t / 3)
            - 0.0016 * np.maximum(0, t - 9)
            + 0.001 * r.standard_normal(n),
        },
    )

    r = rng("val stands")
    n = 150
    lightning(
        "gap_only_training_falls",
        {"lr": 0.0003, "optimizer": "Adam", "weight_decay": 0.0, "batch_size": 32},
        {"train_loss": rough(r, expo(n, 1.4, 0.08, 70), 0.05)},
        {
            "val_loss": rough(r, expo(25, 1.25, 0.81, 2.5), 0.008),
            "val_iou": 0.552 - 0.3 * np.exp(-np.arange(25) / 2.5) + 0.003 * r.standard_normal(25),
        },
        every=20,
    )

    r = rng("accuracies only")
    n = 35
    t = np.arange(n)
    text(
        "gap_accuracies_only.log",
        [
            f"INFO:root:ep {i + 1} | train_acc 0.{int(1e4 * (0.9985 - 0.55 * np.exp(-i / 5))):04d} | valid_acc 0.{int(1e4 * (0.668 - 0.3 * np.exp(-i / 4) - 0.0004 * i + 0.004 * r.standard_normal())):04d}"
            for i in range(n)
        ],
    )

    r = rng("never better")
    n = 45
    t = np.arange(n)
    table(
        "gap_validation_chance.csv",
        {
            "epoch": t,
            "train_loss": rough(r, expo(n, 2.25, 0.05, 6), 0.04),
            "train_acc": 0.988 - 0.85 * np.exp(-t / 6),
            "val_loss": 2.42 + 0.05 * t + 0.06 * r.standard_normal(n),
            "val_acc": 0.1003 + 0.006 * r.standard_normal(n),
        },
    )
