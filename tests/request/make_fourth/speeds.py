"""Trainings that only look slow, and some that are."""

from __future__ import annotations

import numpy as np

from tests.request.formats import expo, level, power, rough

from .formats import FILES, rng


def write() -> None:
    _early()
    _compiled()
    _pauses()
    _still_falling()
    _waits()
    _small_batches()
    _memory_full()


def _early() -> None:
    r, n = rng("early"), 60
    loss = rough(r, power(n, 10.8, 4.0, 12.0), 0.008)
    FILES.text(
        "ok_two_percent_done.txt",
        [
            f"step {20 * (i + 1):>6d}/60000 | loss {loss[i]:.3f} | lr {3e-4 * min(1, (i + 1) / 100):.2e} | 412 ms/step"
            for i in range(n)
        ],
    )


def _compiled() -> None:
    r, n = rng("compiled"), 80
    seconds = level(r, n, 0.21, 0.03)
    seconds[0], seconds[1] = 74.0, 9.5
    FILES.table(
        "ok_compiled_first.csv",
        {
            "step": np.arange(n),
            "loss": rough(r, expo(n, 3.3, 1.2, 25), 0.02),
            "step_time": seconds,
            "gpu_util": np.clip(94 + 2 * r.standard_normal(n), 0, 100),
        },
    )


def _pauses() -> None:
    r, n = rng("pauses"), 120
    seconds = level(r, n, 0.33, 0.02)
    seconds[29::30] = 4.1  # a checkpoint is written
    FILES.lines(
        "ok_checkpoint_pauses.jsonl",
        {
            "step": np.arange(n) * 10,
            "loss": rough(r, expo(n, 2.6, 0.8, 35), 0.02),
            "seconds_per_step": seconds,
            "gpu_utilization": np.clip(91 + 3 * r.standard_normal(n), 0, 100),
            "gpu_memory_percent": 71 + 0.2 * r.standard_normal(n),
        },
    )


def _still_falling() -> None:
    r, n = rng("falling"), 50
    clean = power(n, 7.1, 2.2, 4.0, 0.8)
    FILES.table(
        "ok_still_falling.csv",
        {
            "epoch": np.arange(n),
            "train_loss": rough(r, clean, 0.004),
            "val_loss": rough(r, clean * 1.01, 0.005),
            "lr": [3e-4] * n,
        },
    )


def _waits() -> None:
    r, n = rng("waits"), 50
    data = level(r, n, 0.83, 0.1)
    FILES.table(
        "slow_loader.csv",
        {
            "step": np.arange(n) * 20,
            "loss": rough(r, expo(n, 4.1, 1.3, 20), 0.02),
            "data_time": data,
            "batch_time": data + 0.12,
            "num_workers": [0] * n,
        },
    )


def _small_batches() -> None:
    r, n = rng("small batches"), 60
    FILES.lines(
        "slow_busy_batch_of_two.jsonl",
        {
            "step": np.arange(n) * 100,
            "loss": rough(r, expo(n, 2.9, 1.0, 22), 0.03),
            "gpu_util": np.clip(97 + r.standard_normal(n), 0, 100),
            "gpu_mem_pct": 11 + 0.1 * r.standard_normal(n),
            "samples_per_sec": level(r, n, 9.0, 0.02),
        },
        {"config": {"batch_size": 2, "optimizer": "adamw", "lr": 1e-4}},
    )


def _memory_full() -> None:
    r, n = rng("memory full"), 60
    FILES.table(
        "slow_memory_full.csv",
        {
            "step": np.arange(n) * 50,
            "loss": rough(r, expo(n, 3.9, 1.6, 25), 0.02),
            "gpu_util": np.clip(96 + r.standard_normal(n), 0, 100),
            "gpu_mem_used_pct": np.clip(98.6 + 0.2 * r.standard_normal(n), 0, 99.9),
            "samples_per_sec": level(r, n, 14.0, 0.02),
            "batch_size": [8] * n,
        },
    )
