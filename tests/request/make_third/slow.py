"""Trainings that take too long."""

from __future__ import annotations

import numpy as np

from .formats import cosine, expo, level, lines, rng, rough, table, text


def write() -> None:
    r = rng("waits")
    out = []
    loss = rough(r, expo(44, 3.4, 1.2, 14), 0.03)
    for i in range(26):
        data = 1.42 * np.exp(0.15 * r.standard_normal())
        out.append(
            f"2030-04-01 12:{i % 60:02d}:00,100 - mmcls - INFO - Epoch [{i // 7 + 1}][{(i % 7 + 1) * 140}/1000]\tlr: 1.000e-02, eta: 2 days, 3:11:02, time: {data + 0.13:.3f}, data_time: {data:.3f}, memory: 3120, loss: {loss[i]:.4f}"
        )
    text("slow_waits_for_data.log", out)

    r = rng("idle")
    n = 40
    table(
        "slow_idle.csv",
        {
            "step": np.arange(n) * 10,
            "loss": rough(r, expo(n, 2.2, 0.9, 40), 0.02),
            "gpu_util": np.clip(21 + 6 * r.standard_normal(n), 2, 60),
            "cpu_util": np.clip(98 + r.standard_normal(n), 0, 100),
            "sec_per_step": level(r, n, 0.88, 0.1),
        },
    )

    r = rng("leak")
    n = 70
    mem = 6.1 + 0.235 * np.arange(n) + 0.02 * r.standard_normal(n)
    text(
        "memory_climbs.txt",
        [
            f"iter {i * 20} loss {x:.4f} mem {mem[i]:.2f}GB"
            for i, x in enumerate(rough(r, expo(n, 1.7, 0.5, 50), 0.03))
        ],
        "RuntimeError: CUDA out of memory. Tried to allocate 512.00 MiB (GPU 0; 23.69 GiB total capacity; 22.41 GiB already allocated)",
    )

    r = rng("fine speed")
    n = 30
    lines(
        "ok_speed.jsonl",
        {
            "step": np.arange(n) * 20,
            "loss": rough(r, expo(n, 4.8, 1.9, 30), 0.02),
            "lr": cosine(n, 3e-4, 6),
            "step_time": level(r, n, 0.41, 0.02),
            "data_time": level(r, n, 0.004, 0.3),
            "gpu_util": np.clip(96 + 1.5 * r.standard_normal(n), 0, 100),
        },
    )
