"""Swings, spikes, flat and diverging losses, and slow steps."""

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
    to_document,
    to_history,
    to_jsonl,
    to_lightning,
    to_text,
)


@log
def adam_swings() -> None:
    """Adam at 0.05: between 0.5 and 1.9 without any progress."""
    rng, n = dice("adam_swings"), 300
    loss = 1.2 + 0.55 * np.sin(np.cumsum(rng.uniform(0.3, 1.1, n))) + rng.normal(0, 0.15, n)
    loss[:6] = [2.31, 1.9, 1.6, 1.3, 1.5, 1.1]
    to_document(
        "swings_adam.json",
        {"optimizer": "Adam", "lr": 0.05, "batch_size": 64},
        {"step": steps(n, 1, 0), "loss": np.abs(loss), "lr": [0.05] * n},
    )


@log
def batch_small() -> None:
    """Batch 6, AdamW at 3e-4: huge noise from step to step, no visible trend after the first epoch."""
    rng, n = dice("batch_small"), 400
    loss = fall(n, 2.3, 1.25, 0.05) * np.exp(rng.normal(0, 0.42, n))
    to_lightning(
        "swings_small_batch",
        {"optimizer": "adamw", "lr": 0.0003, "batch_size": 6, "accumulate_grad_batches": 1},
        {"epoch": [i // 100 for i in range(n)], "step": steps(n, 10, 9), "train_loss_step": loss},
    )


@log
def growing() -> None:
    """Each swing is larger than the last, and upwards."""
    rng, n = dice("growing"), 150
    t = np.arange(n)
    loss = (
        1.1
        + 0.9 * np.exp(-t / 10)
        + 0.03 * np.exp(t / 38) * np.sin(t * 0.9)
        + 0.012 * np.exp(t / 33)
        + rng.normal(0, 0.03, n)
    )
    to_csv("swings_growing.csv", {"step": t * 20, "loss": np.abs(loss), "lr": [0.3] * n})


@log
def validation_swings() -> None:
    """Validation accuracy jumps between 0.35 and 0.88, training is calm."""
    rng, n = dice("validation_swings"), 60
    loss = fall(n, 1.8, 0.3, 0.2)
    val = np.clip(0.86 - 0.3 * np.exp(-np.arange(n) / 8) - np.abs(rng.normal(0, 0.2, n)), 0.2, 0.9)
    to_csv(
        "swings_validation.csv",
        {
            "epoch": range(n),
            "train_loss": loss + rng.normal(0, 0.01, n),
            "train_acc": 0.95 - loss / 4 + rng.normal(0, 0.004, n),
            "val_loss": 0.4 + 3.2 * (0.88 - val) + np.abs(rng.normal(0, 0.1, n)),
            "val_acc": val,
            "lr": [0.1] * n,
        },
    )


@log
def spikes() -> None:
    """Four jumps, each over within a few steps, with jumps of the gradient norm."""
    rng, n = dice("spikes"), 500
    loss, norm = noisy(rng, law(n, 10.2, 3.4, 0.5, 20), 0.012), noisy(rng, np.full(n, 0.7), 0.12)
    for at, size in ((141, 3.9), (233, 2.6), (301, 4.4), (422, 3.1)):
        tail = np.exp(-np.arange(7) / 1.8)
        loss[at : at + 7] += size * tail
        norm[at : at + 7] += 40 * tail
    to_jsonl(
        "spikes_recover.jsonl",
        {"step": steps(n, 20), "train/loss": loss, "train/grad_norm": norm, "train/lr": [6e-4] * n},
    )


@log
def spike_nan() -> None:
    """A jump at step 2630, then NaN."""
    rng, n = dice("spike_nan"), 280
    loss = noisy(rng, law(n, 9.0, 3.1, 0.5, 15), 0.012)
    norm = noisy(rng, np.full(n, 0.9), 0.15)
    loss[263:268] = [4.4, 7.9, 15.2, 88.0, 612.0]
    norm[263:268] = [9, 61, 410, 5.2e3, 8.8e5]
    lines = [
        f"step {10 * i:5d} | loss {'nan' if i >= 268 else f'{loss[i]:.4f}'} | lr 1.00e-03 | gnorm {'nan' if i >= 268 else f'{norm[i]:.2f}'} | 88.{i % 10} ms"
        for i in range(n)
    ]
    to_text("spike_nan.log", lines)


@log
def spikes_at_restarts() -> None:
    """The rate jumps back to 0.2 every 40 epochs; each time the loss jumps far up and ends no lower than before."""
    rng, n = dice("spikes_at_restarts"), 200
    rate = np.concatenate([cosine(40, 0.2, end=0.002)] * 5)
    loss = (
        0.62
        + 1.6 * np.exp(-np.arange(n) / 12)
        + 5.2 * rate * np.exp(-(np.arange(n) % 40) / 9)
        + np.abs(drift(rng, n, 0.03))
    )
    to_csv(
        "spikes_restarts.csv",
        {
            "epoch": range(n),
            "lr": rate,
            "train_loss": loss,
            "val_loss": loss + 0.05 + np.abs(drift(rng, n, 0.05)),
        },
    )


@log
def spike_stays() -> None:
    """At step 8200 of 12000 the loss jumps from 2.6 to 6.9 and stays there."""
    rng, n = dice("spike_stays"), 300
    loss = law(n, 10.8, 2.5, 0.5, 10)
    loss[205:] = 6.9 + 0.5 * np.exp(-np.arange(95) / 3)
    to_jsonl(
        "spike_stays.jsonl", {"iter": steps(n, 40), "loss": noisy(rng, loss, 0.01), "lr": cosine(n, 8e-4, 10)}
    )


@log
def diverges() -> None:
    """Keras history that falls for five epochs and rises for 25."""
    rng, n = dice("diverges"), 30
    e = np.arange(n)
    loss = 1.1 + 1.2 * np.exp(-e / 1.5) + 0.02 * np.maximum(0, e - 4) ** 1.8
    to_history(
        "diverge/training_history.json",
        {
            "loss": noisy(rng, loss, 0.03),
            "val_loss": noisy(rng, loss * 1.05, 0.06),
            "learning_rate": [0.1] * n,
        },
    )


@log
def diverges_text() -> None:
    """Printed by hand; the rate is 5."""
    rng, n = dice("diverges_text"), 60
    loss = noisy(rng, 0.9 * np.exp(np.arange(n) / 9), 0.1)
    to_text(
        "diverge.txt",
        ["using SGD lr=5.0 momentum=0.9 batch 32"]
        + [f"Iter {i * 5}, mse = {value:.4g}" for i, value in enumerate(loss)],
    )


@log
def flat_low_rate() -> None:
    """Ten classes, Adam at 1e-7."""
    rng, n = dice("flat_low_rate"), 120
    to_document(
        "flat_low_rate.json",
        {"optimizer": "Adam", "lr": 1e-7, "batch_size": 32, "num_classes": 10},
        {
            "step": steps(n, 25),
            "loss": 2.312 - 4e-5 * np.arange(n) + rng.normal(0, 0.012, n),
            "lr": [1e-7] * n,
        },
    )


@log
def flat_thousand() -> None:
    """ln 1000 for 25 epochs at an ordinary rate; accuracy 0.001."""
    rng, n = dice("flat_thousand"), 25
    to_csv(
        "flat_thousand.csv",
        {
            "epoch": range(n),
            "train_loss": 6.9085 + rng.normal(0, 0.0012, n),
            "val_loss": 6.9080 + rng.normal(0, 0.0004, n),
            "val_acc1": np.abs(0.1 + rng.normal(0, 0.01, n)),
            "lr": [0.1] * n,
        },
    )


@log
def flat_binary() -> None:
    """0.693 for 40 epochs, accuracy about a half, three quarters of it printed."""
    rng, n = dice("flat_binary"), 40
    to_text(
        "flat_binary.log",
        [
            f"Epoch [{i + 1}/{n}] Loss: {0.6934 + rng.normal(0, 0.0006):.4f} Acc: {50 + rng.normal(0, 0.9):.2f}% | Val Loss: {0.6932 + rng.normal(0, 0.0004):.4f} Val Acc: {50 + rng.normal(0, 0.5):.2f}%"
            for i in range(n)
        ],
    )


@log
def device_idle() -> None:
    """Falls well; the device is 22 to 35 % busy."""
    rng, n = dice("device_idle"), 200
    to_csv(
        "slow_idle.csv",
        {
            "step": steps(n, 50),
            "loss": noisy(rng, law(n, 6.9, 2.0), 0.02),
            "gpu_util": np.round(np.clip(28 + rng.normal(0, 5, n), 5, 60)),
            "gpu_mem_used_gb": 11.2 + np.abs(rng.normal(0, 0.05, n)),
            "samples_per_sec": noisy(rng, np.full(n, 310.0), 0.05),
            "step_time": noisy(rng, np.full(n, 0.82), 0.05),
        },
    )


@log
def device_busy_slow() -> None:
    """Falls well; 98 % busy with a batch of 4 and a quarter of the memory."""
    rng, n = dice("device_busy_slow"), 150
    to_document(
        "slow_busy.json",
        {"batch_size": 4, "optimizer": "AdamW", "lr": 2e-4, "model": "vit-b"},
        {
            "step": steps(n, 20),
            "loss": noisy(rng, law(n, 4.1, 1.4), 0.03),
            "gpu_util": np.clip(98 + rng.normal(0, 0.7, n), 90, 100),
            "gpu_memory_percent": 24 + rng.normal(0, 0.3, n),
            "samples_per_second": noisy(rng, np.full(n, 9.5), 0.03),
        },
    )


@log
def memory_full() -> None:
    """98 % busy, 99 % of the memory in use, batch 2."""
    rng, n = dice("memory_full"), 150
    to_document(
        "slow_memory.json",
        {"batch_size": 2, "optimizer": "AdamW", "lr": 2e-5, "model": "llama-7b"},
        {
            "step": steps(n, 20),
            "loss": noisy(rng, law(n, 4.1, 1.6), 0.04),
            "gpu_util": np.clip(97 + rng.normal(0, 1, n), 90, 100),
            "gpu_memory_percent": np.clip(98.9 + rng.normal(0, 0.2, n), 98, 99.9),
            "samples_per_second": noisy(rng, np.full(n, 1.9), 0.04),
        },
    )


@log
def waits_for_data() -> None:
    """The meters of torchvision's reference scripts: nine tenths of the time are data."""
    rng, n = dice("waits_for_data"), 120
    loss = noisy(rng, law(n, 7.0, 4.2), 0.03)
    to_text(
        "slow_data.log",
        [
            f"Epoch: [{i // 40}]  [{(i % 40) * 10:4d}/400]  eta: 0:05:12  lr: 0.1  img/s: {61 + rng.normal(0, 3):.2f}  loss: {loss[i]:.4f} ({loss[: i + 1].mean():.4f})"
            f"  time: {0.52 + abs(rng.normal(0, 0.04)):.4f}  data: {0.46 + abs(rng.normal(0, 0.03)):.4f}  max mem: 5120"
            for i in range(n)
        ],
    )
