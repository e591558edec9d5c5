"""Trainings in which nothing is wrong, though a rule of thumb would complain: classification and language."""

from __future__ import annotations

import numpy as np

from tests.request.make.shapes import (
    cosine,
    dice,
    drift,
    fall,
    law,
    log,
    noisy,
    steps,
    to_csv,
    to_history,
    to_jsonl,
    to_lightning,
    to_text,
    to_trainer,
)


@log
def digits() -> None:
    """Stands at 0.012 for two thirds of the run: digits are learned."""
    rng, n = dice("digits"), 40
    loss = fall(n, 0.35, 0.011, 0.08) + np.abs(rng.normal(0, 0.002, n))
    to_history(
        "ok_floor/training_history.json",
        {
            "loss": loss,
            "accuracy": np.minimum(0.9999, 0.9965 - loss / 4),
            "val_loss": 0.031 + 0.09 * np.exp(-np.arange(n) / 3) + rng.normal(0, 0.0015, n),
            "val_accuracy": 0.991 - 0.02 * np.exp(-np.arange(n) / 3) + rng.normal(0, 0.0006, n),
        },
    )


@log
def smoothing() -> None:
    """Label smoothing 0.1 over ten classes: 0.50 is as low as it gets; accuracy 0.99."""
    rng, n = dice("smoothing"), 90
    loss = fall(n, 2.1, 0.512, 0.12) + np.abs(rng.normal(0, 0.004, n))
    to_lightning(
        "ok_smoothing",
        {"optimizer": "sgd", "lr": 0.1, "label_smoothing": 0.1, "num_classes": 10, "batch_size": 128},
        {
            "epoch": range(n),
            "train_loss": loss,
            "train_acc": np.minimum(0.999, 1.13 - loss / 4 - 0.0 * loss) - 0.01 + rng.normal(0, 0.001, n),
            "val_loss": loss + 0.09 + rng.normal(0, 0.006, n),
            "val_acc": 0.953 - 0.5 * np.exp(-np.arange(n) / 9) + rng.normal(0, 0.002, n),
            "lr-SGD": cosine(n, 0.1, 5),
        },
    )


@log
def language_model() -> None:
    """Ends at 2.93 nats, flat because the cosine has reached zero."""
    rng, n = dice("language_model"), 500
    loss = law(n, 10.9, 2.93, 0.42, 6)
    to_trainer(
        "ok_language_model",
        {
            "step": steps(n, 100),
            "epoch": np.arange(1, n + 1) / n,
            "loss": noisy(rng, loss, 0.008),
            "grad_norm": noisy(rng, fall(n, 2.4, 0.31, 0.05), 0.1),
            "learning_rate": cosine(n, 6e-4, 10, 6e-5),
        },
        {"step": steps(10, 5000), "epoch": np.arange(1, 11) / 10, "eval_loss": loss[49::50] + 0.03},
    )


@log
def fine_tuning() -> None:
    """Starts near the floor: 0.33 to 0.21."""
    rng, n = dice("fine_tuning"), 120
    evals = {
        "step": steps(4, 300),
        "epoch": [1, 2, 3, 4],
        "eval_loss": [0.262, 0.238, 0.231, 0.233],
        "eval_accuracy": [0.902, 0.914, 0.918, 0.919],
    }
    to_trainer(
        "ok_fine_tuning",
        {
            "step": steps(n, 10),
            "epoch": np.arange(1, n + 1) / 30,
            "loss": noisy(rng, fall(n, 0.37, 0.185, 0.3), 0.14),
            "grad_norm": noisy(rng, np.full(n, 3.6), 0.4),
            "learning_rate": 2e-5 * (1 - np.arange(n) / n),
        },
        evals,
    )


@log
def dropout_gap() -> None:
    """Dropout 0.5: the training loss lies above validation."""
    rng, n = dice("dropout_gap"), 50
    val = fall(n, 1.5, 0.37, 0.2)
    to_csv(
        "ok_dropout.csv",
        {
            "epoch": range(n),
            "accuracy": 0.9 - val / 3 + rng.normal(0, 0.004, n),
            "loss": val * 1.42 + rng.normal(0, 0.012, n),
            "val_accuracy": 1.0 - val / 3 + rng.normal(0, 0.006, n),
            "val_loss": val + rng.normal(0, 0.014, n),
        },
    )


@log
def mixup() -> None:
    """Mixup and random erasing: training accuracy 0.71, validation 0.84."""
    rng, n = dice("mixup"), 100
    up = 1 - np.exp(-np.arange(n) / 25)
    lines = [
        f"Epoch {i:3d} | train loss {1.35 + 1.6 * (1 - up[i]) + rng.normal(0, 0.012):.4f} acc {0.715 * up[i] + 0.08 + rng.normal(0, 0.005) - 0.08 * up[i]:.4f}"
        f" | val loss {0.66 + 1.9 * (1 - up[i]) + rng.normal(0, 0.01):.4f} acc {0.842 * up[i] + 0.01 + rng.normal(0, 0.004):.4f} | lr {0.05 * (1 + np.cos(np.pi * i / n)) / 2:.5f}"
        for i in range(n)
    ]
    to_text("ok_mixup.log", ["config: mixup=0.8 random_erasing=0.25 batch_size=256", *lines])


@log
def small_gap() -> None:
    """0.995 against 0.957: as good as this network gets."""
    rng, n = dice("small_gap"), 60
    up = 1 - np.exp(-np.arange(n) / 8)
    to_csv(
        "ok_small_gap.csv",
        {
            "epoch": range(1, n + 1),
            "train_loss": 0.018 + 1.5 * (1 - up) + np.abs(rng.normal(0, 0.003, n)),
            "train_acc": 0.4 + 0.595 * up + rng.normal(0, 0.001, n),
            "val_loss": 0.165 + 1.2 * (1 - up) + rng.normal(0, 0.004, n),
            "val_acc": 0.4 + 0.557 * up + rng.normal(0, 0.0025, n),
            "lr": cosine(n, 0.1),
        },
    )


@log
def noisy_batches() -> None:
    """Batch 1 without accumulation: wild from step to step, and falling."""
    rng, n = dice("noisy_batches"), 500
    to_jsonl(
        "ok_noise.jsonl",
        {
            "step": steps(n, 4),
            "loss": law(n, 6.2, 2.1, 0.5, 20) * np.exp(rng.normal(0, 0.2, n)),
            "lr": cosine(n, 1e-4, 20),
        },
    )


@log
def restarts_that_work() -> None:
    """Warm restarts: each cycle ends lower than the one before, also on validation."""
    rng, n = dice("restarts_that_work"), 210
    lengths = (30, 60, 120)
    rate = np.concatenate([cosine(k, 0.05, end=5e-4) for k in lengths])
    low = np.concatenate([np.full(k, v) for k, v in zip(lengths, (0.62, 0.38, 0.23), strict=True)])
    loss = low + 6.5 * rate + 1.3 * np.exp(-np.arange(n) / 6) + np.abs(drift(rng, n, 0.012))
    to_csv(
        "ok_restarts.csv",
        {
            "epoch": range(n),
            "lr": rate,
            "train_loss": loss,
            "val_loss": 0.12 + 0.92 * loss + np.abs(drift(rng, n, 0.02)),
            "val_acc": 0.97 - 0.28 * loss + drift(rng, n, 0.004),
        },
    )


@log
def one_cycle() -> None:
    """The hump in the middle belongs to the high rate."""
    rng, n = dice("one_cycle"), 300
    t = np.arange(n) / n
    rate = np.where(t < 0.3, 0.02 + 0.38 * t / 0.3, 0.4 * (1 + np.cos(np.pi * (t - 0.3) / 0.7)) / 2)
    loss = 0.18 + 1.9 * np.exp(-t * 14) + 0.9 * rate + np.abs(drift(rng, n, 0.02))
    to_csv("ok_one_cycle.csv", {"step": steps(n, 13), "train/loss": loss, "train/lr": rate})


@log
def resumed() -> None:
    """Begins at step 30000 at 1.21, continues slowly to 1.13."""
    rng, n = dice("resumed"), 250
    lines = ["Resuming from checkpoint out/ckpt_30000.pt (optimizer and scheduler restored)"]
    loss = noisy(rng, np.linspace(1.215, 1.128, n), 0.02)
    lines += [
        f"iter {30000 + 40 * i}: loss {loss[i]:.4f}, lr {1.9e-4 * (1 - i / 300):.2e}, time {211 + rng.normal(0, 4):.1f}ms"
        for i in range(n)
    ]
    to_text("ok_resumed.log", lines)


@log
def staircase() -> None:
    """Fine-tuning for three epochs: a step down at each epoch, validation follows slightly."""
    rng, n = dice("staircase"), 240
    epoch = np.arange(n) // 80
    loss = np.array([1.42, 1.18, 0.98])[epoch] + 0.25 * np.exp(-np.arange(n) / 10)
    to_trainer(
        "ok_staircase",
        {
            "step": steps(n, 5),
            "epoch": np.arange(1, n + 1) / 80,
            "loss": noisy(rng, loss, 0.05),
            "grad_norm": noisy(rng, np.full(n, 0.8), 0.15),
            "learning_rate": cosine(n, 2e-4, 8),
        },
        {
            "step": steps(6, 200),
            "epoch": np.arange(1, 7) / 2,
            "eval_loss": [1.391, 1.352, 1.331, 1.322, 1.319, 1.318],
        },
    )


@log
def masked_language() -> None:
    """The shoulder of masked language models at 6.6, and then it falls."""
    rng, n = dice("masked_language"), 400
    t = np.arange(n) / n
    loss = (
        1.85
        + 4.7 / (1 + np.exp((t - 0.27) * 26)) * np.exp(-t * 0.1)
        + 3.9 * np.exp(-t * 60)
        + 1.2 * np.exp(-t * 3) * (t > 0.2) * 0.3
    )
    to_jsonl(
        "ok_shoulder.jsonl",
        {"step": steps(n, 25), "mlm_loss": noisy(rng, loss, 0.012), "lr": cosine(n, 1e-4, 40)},
    )


@log
def step_decay() -> None:
    """Two plateaus that end when the rate is divided by ten, as planned."""
    rng, n = dice("step_decay"), 90
    e = np.arange(n)
    loss = np.where(
        e < 30, 0.92 + 1.2 * np.exp(-e / 5), np.where(e < 60, 0.41 + 0.1 * np.exp(-(e - 30) / 3), 0.27)
    ) + rng.normal(0, 0.012, n)
    to_csv(
        "ok_step_decay.csv",
        {
            "epoch": e,
            "train_loss": loss,
            "val_loss": loss + 0.1 + rng.normal(0, 0.02, n),
            "val_acc": 0.99 - 0.25 * loss + rng.normal(0, 0.004, n),
            "lr": np.where(e < 30, 0.1, np.where(e < 60, 0.01, 0.001)),
        },
    )


@log
def plateau_scheduler() -> None:
    """ReduceLROnPlateau at work: stands, is halved, falls."""
    rng, n = dice("plateau_scheduler"), 80
    levels = np.array([0.9, 0.6, 0.44, 0.36])
    e = np.arange(n)
    loss = (
        levels[e // 20]
        + np.array([1.3, 0.3, 0.16, 0.08])[e // 20] * np.exp(-(e % 20) / 2.5)
        + rng.normal(0, 0.01, n)
    )
    lines = []
    for i in e:
        if i and i % 20 == 0:
            lines.append(f"Epoch {i:5d}: reducing learning rate of group 0 to {1e-3 * 0.3 ** (i // 20):.4e}.")
        lines.append(
            f"Epoch {i}: train_loss {loss[i]:.4f} val_loss {loss[i] + 0.06 + rng.normal(0, 0.015):.4f} lr {1e-3 * 0.3 ** (i // 20):.2e}"
        )
    to_text("ok_plateau_scheduler.log", lines)


@log
def long_warmup() -> None:
    """Nothing happens in the first 8 %: the rate is still tiny."""
    rng, n = dice("long_warmup"), 300
    t = np.arange(n)
    loss = np.where(t < 24, 10.85 - 0.002 * t, 3.4 + 7.4 * (1 + np.maximum(0, t - 24) / 12) ** -0.75)
    to_jsonl(
        "ok_warmup.jsonl",
        {"step": steps(n, 20), "train_loss": noisy(rng, loss, 0.008), "learning_rate": cosine(n, 1e-3, 60)},
    )


@log
def early_stopped() -> None:
    """Stopped by patience five epochs after the best; validation is hardly worse."""
    rng, n = dice("early_stopped"), 23
    e = np.arange(n)
    val = 0.412 + 0.6 * np.exp(-e / 4) + 0.0009 * np.maximum(0, e - 17) + rng.normal(0, 0.002, n)
    val[17] = 0.4085
    lines = [
        f"Epoch {i + 1}: loss: {0.30 + 0.8 * np.exp(-i / 6) + rng.normal(0, 0.004):.4f} - val_loss: {val[i]:.4f}"
        for i in e
    ]
    to_text(
        "ok_early_stopped.log",
        [*lines, "Epoch 23: early stopping", "Restoring model weights from the end of the best epoch: 18."],
    )


@log
def still_falling() -> None:
    """A short run that goes well."""
    rng, n = dice("still_falling"), 20
    loss = fall(n, 2.2, 0.45, 0.5) + rng.normal(0, 0.015, n)
    to_csv(
        "ok_short.csv",
        {
            "epoch": range(n),
            "loss": loss,
            "val_loss": loss + 0.05 + rng.normal(0, 0.03, n),
            "accuracy": 0.98 - loss / 3 + rng.normal(0, 0.004, n),
            "val_accuracy": 0.965 - loss / 3 + rng.normal(0, 0.008, n),
        },
    )


@log
def very_short() -> None:
    """Six values."""
    to_csv("ok_six_values.csv", {"step": steps(6, 100), "loss": [2.31, 2.12, 2.05, 1.93, 1.9, 1.84]})


@log
def sum_of_losses() -> None:
    """The loss is a sum over the batch: norm 2000, and all is well."""
    rng, n = dice("sum_of_losses"), 300
    to_jsonl(
        "ok_sum.jsonl",
        {
            "step": steps(n, 10),
            "loss": noisy(rng, law(n, 5.2e4, 880, 0.8, 10), 0.05),
            "grad_norm": noisy(rng, fall(n, 9000, 1500, 0.2), 0.2),
            "lr": cosine(n, 1e-3),
        },
    )


@log
def folds() -> None:
    """Three folds in one file, all alike."""
    rng = dice("folds")
    rows: dict[str, list[float]] = {"fold": [], "epoch": [], "train_loss": [], "val_loss": []}
    for fold in range(3):
        loss = fall(25, 0.68, 0.21 + 0.01 * fold, 0.25) + rng.normal(0, 0.006, 25)
        rows["fold"] += [fold] * 25
        rows["epoch"] += list(range(25))
        rows["train_loss"] += list(loss)
        rows["val_loss"] += list(loss + 0.04 + rng.normal(0, 0.01, 25))
    to_csv("ok_folds.csv", rows)
