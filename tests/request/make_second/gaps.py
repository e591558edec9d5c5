"""Training and validation apart."""

from __future__ import annotations

import numpy as np

from tests.request.make_second.formats import (
    Curve,
    fall,
    level,
    lightning,
    lines,
    rng,
    table,
    text,
    trainer,
)


def write() -> None:
    metrics()
    losses()


def rise(
    random: np.random.Generator, n: int, low: float, at: int, slope: float, start: float, noise: float = 0.015
) -> Curve:
    """Falls to its best value, then climbs."""
    t = np.arange(n)
    clean = low + (start - low) * np.exp(-t / (at / 4)) + slope * np.maximum(0, t - at)
    return clean * np.exp(noise * random.standard_normal(n))


def metrics() -> None:
    r = rng("keras accuracy gap")
    n = 60
    table(
        "keras_accuracy_gap.csv",
        {
            "epoch": np.arange(n),
            "loss": fall(r, n, 1.5, 0.012, 9, 0.05),
            "sparse_categorical_accuracy": np.minimum(1, 1 - fall(r, n, 0.55, 0.003, 9, 0.05)),
            "val_loss": rise(r, n, 0.92, 12, 0.022, 1.5),
            "val_sparse_categorical_accuracy": 0.71
            - 0.28 * np.exp(-np.arange(n) / 5)
            + 0.008 * r.standard_normal(n),
        },
    )

    r = rng("entities f1")
    n = 30
    lines(
        "entities_f1.jsonl",
        {
            "epoch": np.arange(1, n + 1),
            "train_loss": fall(r, n, 0.9, 0.01, 4, 0.06),
            "train_f1": 0.992 - 0.5 * np.exp(-np.arange(n) / 4),
            "dev_f1": 0.62 - 0.3 * np.exp(-np.arange(n) / 3) + 0.008 * r.standard_normal(n),
        },
        {
            "params": {
                "model": "bert-base",
                "train_samples": 780,
                "dropout": 0.0,
                "weight_decay": 0.0,
                "lr": 5e-5,
                "batch_size": 16,
            }
        },
    )

    r = rng("organ iou")
    n = 200
    lightning(
        "organ_iou",
        {"learning_rate": 0.0005, "batch_size": 8, "optimizer": "AdamW", "weight_decay": 0.0, "arch": "unet"},
        {"train/dice_loss": fall(r, n, 0.7, 0.04, 30, 0.04)},
        {
            "train/iou": 0.93 - 0.6 * np.exp(-np.arange(25) / 4),
            "val/iou": 0.55 - 0.3 * np.exp(-np.arange(25) / 3) + 0.008 * r.standard_normal(25),
            "val/dice_loss": rise(r, 25, 0.33, 7, 0.006, 0.6, 0.01),
        },
    )

    r = rng("houses r2")
    n = 150
    table(
        "houses_r2.csv",
        {
            "epoch": np.arange(n),
            "train_rmse": fall(r, n, 1.0, 0.12, 25, 0.015),
            "train_r2": 0.985 - 0.98 * np.exp(-np.arange(n) / 13),
            "valid_rmse": fall(r, n, 1.0, 0.77, 12, 0.012) + 0.0006 * np.maximum(0, np.arange(n) - 60),
            "valid_r2": 0.41 - 0.4 * np.exp(-np.arange(n) / 9) + 0.01 * r.standard_normal(n),
        },
    )

    r = rng("speech wer")
    n = 24
    a, b = fall(r, n, 92, 4.1, 4, 0.04), fall(r, n, 95, 38.5, 3, 0.015)
    c, d = fall(r, n, 3.1, 0.09, 4, 0.04), rise(r, n, 1.25, 8, 0.045, 3.0)
    text(
        "speech_wer.log",
        ["INFO    starting training: conformer-m, 9.2h of speech, adam lr=0.0005, no specaugment"],
        [
            f"INFO    epoch={i} | train_loss={c[i]:.3f} train_wer={a[i]:.1f} | valid_loss={d[i]:.3f} valid_wer={b[i]:.1f}"
            for i in range(n)
        ],
    )

    r = rng("minority recall")
    n = 35
    table(
        "minority_recall.csv",
        {
            "epoch": np.arange(n),
            "accuracy": 0.9712 + 0.0002 * r.standard_normal(n),
            "loss": fall(r, n, 0.21, 0.131, 3, 0.01),
            "recall": [0.0] * n,
            "precision": [0.0] * n,
            "val_accuracy": [0.9708] * n,
            "val_loss": fall(r, n, 0.18, 0.132, 3, 0.008),
            "val_recall": [0.0] * n,
        },
    )


def losses() -> None:
    r = rng("instructions")
    n = 180
    steps = np.arange(n)
    loss = (1.9 - 0.45 * (steps // 30) ** 0.8) * np.exp(0.05 * r.standard_normal(n))
    trainer(
        "instructions/trainer_state.json",
        {
            "loss": np.maximum(loss, 0.05),
            "grad_norm": level(r, n, 1.8, 0.3),
            "learning_rate": np.linspace(2e-4, 1e-6, n),
        },
        {"eval_loss": [1.52, 1.41, 1.47, 1.66, 1.95, 2.31]},
        epochs=6.0,
        batch=4,
    )

    r = rng("words perplexity")
    n = 40
    a, b = fall(r, n, 6.1, 2.7, 11, 0.006), rise(r, n, 4.86, 9, 0.022, 6.0, 0.003)
    text(
        "words_perplexity.txt",
        [
            "Namespace(data='./data/wikitext-2', model='LSTM', emsize=1500, nhid=1500, nlayers=2, lr=20, clip=0.25, dropout=0.0, tied=True)"
        ],
        [
            line
            for i in range(n)
            for line in (
                f"| epoch {i + 1:3d} |  2900/ 2983 batches | lr 20.00 | ms/batch 41.20 | loss {a[i]:5.2f} | ppl {np.exp(a[i]):8.2f}",
                f"| end of epoch {i + 1:3d} | time: 125.31s | valid loss {b[i]:5.2f} | valid ppl {np.exp(b[i]):8.2f}",
            )
        ],
    )

    r = rng("offset from the start")
    n = 50
    table(
        "offset_from_start.csv",
        {
            "epoch": np.arange(n),
            "train_loss": fall(r, n, 0.95, 0.16, 12, 0.02),
            "val_loss": fall(r, n, 2.9, 2.1, 12, 0.015),
            "train_acc": 0.95 - 0.3 * np.exp(-np.arange(n) / 12),
            "val_acc": 0.36 - 0.1 * np.exp(-np.arange(n) / 12) + 0.006 * r.standard_normal(n),
        },
    )

    r = rng("climbs away")
    n = 260
    t = np.arange(n)
    lines(
        "climbs_away.jsonl",
        {
            "iter": t * 100,
            "loss": (fall(r, n, 7.8, 4.1, 30, 0.01) + 0.022 * np.maximum(0, t - 120)) * 1.0,
            "lr": [6e-3] * n,
        },
        {"model": "decoder 350M", "optimizer": "adamw", "peak_lr": 6e-3, "batch_size": 512},
    )
