"""Losses that stop falling."""

from __future__ import annotations

import numpy as np

from tests.request.make_second.formats import (
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
    stands()
    schedules()


def stands() -> None:
    r = rng("asr small rate")
    n = 240
    lines(
        "asr_small_rate.jsonl",
        {
            "global_step": np.arange(1, n + 1) * 25,
            "ctc_loss": fall(r, n, 4.3, 3.42, 25, 0.012),
            "grad_norm": level(r, n, 1.6, 0.25),
            "learning_rate": [2e-6] * n,
        },
        {
            "config": {
                "task": "asr",
                "optimizer": "adamw",
                "learning_rate": 2e-6,
                "batch_size": 32,
                "scheduler": "constant",
            }
        },
    )

    r = rng("segmentation tiny norm")
    n = 320
    lightning(
        "segmentation_tiny_norm",
        {"lr": 0.001, "optimizer": "adam", "batch_size": 16, "activation": "sigmoid", "depth": 14},
        {
            "train/bce_loss": fall(r, n, 0.693, 0.548, 20, 0.012),
            "grad_2.0_norm_total": fall(r, n, 0.3, 0.0018, 8, 0.3),
        },
        {"val/bce_loss": fall(r, 20, 0.62, 0.551, 2, 0.008), "val/iou": 0.11 + 0.01 * r.standard_normal(20)},
    )

    r = rng("sgd constant rate")
    n = 60
    train, val = fall(r, n, 3.6, 1.31, 3, 0.02), fall(r, n, 3.3, 1.46, 3, 0.045)
    acc = 1 - 0.105 * val - 0.3 + 0.01 * r.standard_normal(n)
    text(
        "sgd_constant_rate.log",
        [
            "Namespace(arch='resnet34', dataset='cifar100', optimizer='sgd', lr=0.2, momentum=0.9, batch_size=128, epochs=60, lr_scheduler=None)"
        ],
        [
            f"[{i + 1:03d}/060] tr_loss={train[i]:.4f} va_loss={val[i]:.4f} va_acc={100 * acc[i]:.2f}% lr=0.2"
            for i in range(n)
        ],
    )

    r = rng("both stand")
    n = 45
    train, val = fall(r, n, 4.2, 2.24, 4, 0.01), fall(r, n, 4.0, 2.31, 4, 0.012)
    text(
        "both_stand.txt",
        [
            "dataset: cifar100   model: resnet18   optimizer: SGD(lr=0.05, momentum=0.9, weight_decay=5e-4)   batch size: 256"
        ],
        [
            line
            for i in range(n)
            for line in (
                f"Epoch {i + 1}/{n}",
                f"  train: loss {train[i]:.4f}, accuracy {0.72 - 0.145 * train[i]:.4f} (lr 0.05)",
                f"  valid: loss {val[i]:.4f}, accuracy {0.715 - 0.145 * val[i]:.4f}",
            )
        ],
    )

    r = rng("only validation stands")
    n = 200
    trainer(
        "only_validation/trainer_state.json",
        {
            "loss": fall(r, n, 1.1, 0.16, 90, 0.09),
            "grad_norm": level(r, n, 2.4, 0.35),
            "learning_rate": np.linspace(3e-5, 1e-5, n),
        },
        {
            "eval_loss": fall(r, 20, 0.95, 0.612, 1.5, 0.006),
            "eval_accuracy": 0.776 + 0.003 * r.standard_normal(20),
        },
        epochs=10.0,
    )

    r = rng("saddle")
    n = 400
    table(
        "saddle.csv",
        {
            "iteration": np.arange(n) * 20,
            "objective_loss": np.concatenate(
                [fall(r, 30, 2.61, 2.31, 6, 0.003), 2.308 * np.exp(0.0015 * r.standard_normal(n - 30))]
            ),
            "gradient_norm": np.concatenate([level(r, 30, 0.4, 0.3), level(r, n - 30, 0.003, 0.3)]),
            "lr": [0.01] * n,
            "momentum": [0.0] * n,
        },
    )


def schedules() -> None:
    r = rng("rate collapsed")
    n = 260
    lr = 5e-5 * np.exp(-np.arange(n) / 9)
    trainer(
        "rate_collapsed/trainer_state.json",
        {"loss": fall(r, n, 3.1, 2.31, 12, 0.015), "grad_norm": level(r, n, 1.3, 0.2), "learning_rate": lr},
        {"eval_loss": fall(r, 13, 2.6, 2.33, 1, 0.004)},
        every=20,
    )

    r = rng("keras steps to nothing")
    n = 50
    train = fall(r, n, 1.9, 0.93, 3, 0.008)
    table(
        "keras_steps_to_nothing.csv",
        {
            "epoch": np.arange(n),
            "accuracy": 1 - 0.36 * train,
            "learning_rate": 1e-3 * 0.1 ** np.minimum(np.arange(n) // 2, 9),
            "loss": train,
            "val_accuracy": 0.99 - 0.36 * train + 0.004 * r.standard_normal(n),
            "val_loss": train * 1.03 * np.exp(0.008 * r.standard_normal(n)),
        },
    )

    r = rng("eager reduction")
    n = 120
    cut = np.concatenate([[1e-2] * 4, [1e-3] * 3, [1e-4] * 3, [1e-5] * 3, [1e-6] * 3, [1e-7] * (n - 16)])
    table(
        "eager_reduction.csv",
        {
            "Step": np.arange(n),
            "train/rmse_loss": fall(r, n, 9.5, 5.9, 4, 0.012),
            "valid/rmse_loss": fall(r, n, 9.6, 6.0, 4, 0.015),
            "optim/lr": cut,
        },
    )

    r = rng("still falling")
    n = 300
    lines(
        "still_falling.jsonl",
        {
            "step": np.arange(n) * 10,
            "train_loss": np.linspace(6.93, 6.52, n) * np.exp(0.004 * r.standard_normal(n)),
            "gnorm": level(r, n, 2.2, 0.15),
            "lr": [1e-6] * n,
        },
        {
            "hparams": {
                "optimizer": "AdamW",
                "lr": 1e-6,
                "batch_size": 64,
                "max_steps": 3000,
                "model": "gpt-small",
                "vocab_size": 1024,
            }
        },
    )
