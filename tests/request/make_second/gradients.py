"""Gradient norms, values that are not numbers, and spikes."""

from __future__ import annotations

import numpy as np

from tests.request.make_second.formats import (
    cosine,
    fall,
    history,
    level,
    lightning,
    lines,
    rng,
    table,
    text,
    trainer,
)


def write() -> None:
    norms()
    not_numbers()
    spikes()


def norms() -> None:
    r = rng("norms explode")
    n = 120
    t = np.arange(n)
    trainer(
        "norms_explode/trainer_state.json",
        {
            "loss": (2.1 + 2.5 * np.exp(-t / 10) + 0.0012 * np.maximum(0, t - 50) ** 2)
            * np.exp(0.04 * r.standard_normal(n)),
            "grad_norm": 3 * np.exp(np.maximum(0, t - 40) / 11) * np.exp(0.3 * r.standard_normal(n)),
            "learning_rate": [1e-3] * n,
        },
    )

    r = rng("norms jump")
    n = 300
    norm = level(r, n, 1.1, 0.25)
    loss = fall(r, n, 5.2, 2.2, 80, 0.015)
    for at in (61, 118, 167, 203, 251, 284):
        norm[at] = 400 * r.random() + 220
        loss[at + 1] += 1.6
        loss[at + 2] += 0.7
    lines(
        "norms_jump.jsonl",
        {"update": np.arange(n) * 4, "loss": loss, "gnorm": norm, "lr": [1e-3] * n},
        {
            "cfg": {
                "model": "lstm seq2seq",
                "optimizer": "adam",
                "lr": 1e-3,
                "max_grad_norm": None,
                "batch_size": 80,
            }
        },
    )

    r = rng("layers decay")
    n = 160
    layers = {
        f"grad_norm/encoder.{i}.weight": level(r, n, 0.4 * 10 ** (-1.3 * (7 - i)), 0.25) for i in range(8)
    }
    table(
        "layers_decay.csv",
        {
            "step": np.arange(n) * 25,
            "loss": fall(r, n, 2.30, 2.21, 60, 0.004),
            **layers,
            "grad_norm/head.weight": level(r, n, 0.9, 0.2),
        },
    )

    r = rng("clipped to nothing")
    lightning(
        "clipped_to_nothing",
        {"optimizer": "SGD", "lr": 0.01, "momentum": 0.0, "gradient_clip_val": 0.001, "batch_size": 64},
        {
            "train_loss": np.linspace(4.6, 4.52, 250) * np.exp(0.006 * r.standard_normal(250)),
            "grad_norm_before_clip": level(r, 250, 6.5, 0.15),
        },
        {"val_loss": np.linspace(4.6, 4.53, 10)},
    )


def not_numbers() -> None:
    nan = float("nan")
    lines(
        "nan_at_once.jsonl",
        {
            "step": list(range(12)),
            "loss": [7.91, 214.6, 8.8e6, *[nan] * 9],
            "grad_norm": [31.0, 9.4e4, 2.2e9, *[nan] * 9],
        },
        {"config": {"optimizer": "adam", "lr": 1.0, "batch_size": 32, "warmup_steps": 0}},
    )

    r = rng("nan after growth")
    n = 210
    t = np.arange(n)
    norm = 0.8 * np.exp(np.maximum(0, t - 150) / 6.5) * np.exp(0.2 * r.standard_normal(n))
    loss = fall(r, n, 6.4, 3.3, 40, 0.012) + 0.0022 * np.maximum(0, t - 165) ** 2
    printed = [
        f"2031-02-0{1 + i // 100} 10:{i % 60:02d}:00 | step {40 * i:>6} | loss {loss[i]:.3f} | grad {norm[i]:.3g} | lr 1.0e-03 | 41k tok/s"
        for i in range(n)
    ]
    printed += [
        f"2031-02-03 11:{i:02d}:00 | step {40 * (n + i):>6} | loss nan | grad nan | lr 1.0e-03 | 41k tok/s"
        for i in range(15)
    ]
    text("nan_after_growth.log", ["char-level GRU, adamw, lr 1e-3, batch 64, no clipping"], printed)

    r = rng("nan out of the blue")
    n = 180
    loss = np.concatenate([fall(r, n, 0.92, 0.17, 45, 0.02), [nan] * 20])
    lightning(
        "nan_out_of_the_blue",
        {
            "optimizer": "adam",
            "lr": 0.0003,
            "batch_size": 32,
            "loss": "custom_log_dice",
            "precision": "32-true",
        },
        {"train_loss": loss, "grad_norm": np.concatenate([level(r, n, 0.7, 0.2), [nan] * 20])},
        {"val_loss": np.concatenate([fall(r, 18, 0.8, 0.2, 5, 0.02), [nan] * 2])},
        every=10,
    )

    r = rng("half precision")
    n = 140
    loss = fall(r, n, 3.4, 1.9, 35, 0.015)
    scale = 65536 * 0.5 ** np.maximum(0, (np.arange(n) - 110) // 2)
    printed = [
        f"iter {i * 20}: loss {loss[i]:.4f}, grad_norm {1.2 + 0.2 * r.standard_normal():.3f}, loss_scale {scale[i]:g}"
        for i in range(n)
    ]
    printed += [f"iter {(n + i) * 20}: loss nan, grad_norm nan, loss_scale 0" for i in range(10)]
    text(
        "half_precision.txt",
        ["args: precision=fp16 amp=True optimizer=AdamW lr=0.0003 batch_size=48 grad_clip=1.0"],
        printed,
    )

    r = rng("history with holes")
    history(
        "history_with_holes.json",
        {
            "loss": np.concatenate([fall(r, 7, 0.8, 0.4, 4, 0.02), [nan] * 13]),
            "mae": np.concatenate([fall(r, 7, 0.6, 0.45, 4, 0.02), [nan] * 13]),
            "val_loss": np.concatenate([fall(r, 7, 0.78, 0.45, 4, 0.02), [nan] * 13]),
            "val_mae": np.concatenate([fall(r, 7, 0.61, 0.47, 4, 0.02), [nan] * 13]),
        },
    )

    r = rng("validation never a number")
    n = 30
    table(
        "validation_nan.csv",
        {
            "epoch": np.arange(n),
            "loss": fall(r, n, 1.2, 0.31, 8, 0.02),
            "accuracy": 0.9 - 0.4 * np.exp(-np.arange(n) / 8),
            "val_loss": [nan] * n,
            "val_accuracy": 0.86 - 0.36 * np.exp(-np.arange(n) / 7),
        },
    )


def spikes() -> None:
    r = rng("one spike")
    n = 350
    loss, norm = fall(r, n, 3.9, 1.4, 90, 0.02), level(r, n, 0.9, 0.2)
    loss[214:219] += [5.2, 3.1, 1.4, 0.5, 0.2]
    norm[214] = 38.0
    table(
        "one_spike.csv",
        {
            "Step": np.arange(n) * 10,
            "train/loss": loss,
            "train/grad_norm": norm,
            "train/lr": cosine(n, 3e-4, 20),
        },
    )

    r = rng("same place every epoch")
    n, per_epoch = 400, 80
    loss = fall(r, n, 2.7, 0.8, 130, 0.025)
    for epoch in range(5):
        loss[epoch * per_epoch + 37] += 6.5 + r.random()
    lines(
        "same_place.jsonl",
        {
            "epoch": np.arange(n) // per_epoch,
            "batch_idx": np.arange(n) % per_epoch,
            "step": np.arange(n),
            "loss": loss,
        },
        {"config": {"optimizer": "adamw", "lr": 2e-4, "batch_size": 64, "shuffle": False}},
    )

    r = rng("never recovered")
    n = 280
    loss = fall(r, n, 8.1, 3.2, 50, 0.01)
    loss[170:] = level(r, n - 170, 7.35, 0.012)
    norm = level(r, n, 0.6, 0.2)
    norm[168:174] = [9, 60, 900, 120, 14, 5]
    trainer(
        "never_recovered/trainer_state.json",
        {"loss": loss, "grad_norm": norm, "learning_rate": cosine(n, 2e-3, 10, 2e-4)},
        every=50,
        epochs=1.0,
    )

    r = rng("spike then nothing")
    n = 130
    loss = fall(r, n, 4.4, 2.0, 30, 0.015)
    loss[-3:] = [7.7, 48.1, 2911.0]
    printed = [
        f"  [{i:4d}] train/loss={loss[i]:.4g} train/gnorm={g:.3g}"
        for i, g in enumerate([*level(r, n - 3, 1.4, 0.2), 88, 2.4e3, 7.1e6])
    ]
    printed += [f"  [{n + i:4d}] train/loss=nan train/gnorm=nan" for i in range(6)]
    text("spike_then_nan.txt", ["# adam, lr 0.004, constant, batch 24, rnn 3x1024"], printed)
