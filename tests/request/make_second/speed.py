"""Trainings that take too long, and several runs to compare."""

from __future__ import annotations

import numpy as np

from tests.request.make_second.formats import cosine, fall, level, lightning, lines, rng, table, text


def write() -> None:
    r = rng("idle device")
    n = 200
    lines(
        "idle_device.jsonl",
        {
            "step": np.arange(n) * 10,
            "loss": fall(r, n, 6.2, 2.4, 60, 0.02),
            "gpu_utilization": 27 + 4 * r.standard_normal(n),
            "step_time": level(r, n, 0.52, 0.08),
            "data_time": level(r, n, 0.41, 0.1),
        },
        {"config": {"batch_size": 64, "num_workers": 0, "lr": 3e-4, "optimizer": "adamw"}},
    )

    r = rng("imagenet meter")
    loss = fall(r, 160, 6.9, 3.9, 60, 0.02)
    data, whole = level(r, 160, 0.81, 0.12), level(r, 160, 0.11, 0.05)
    text(
        "imagenet_meter.log",
        ["=> creating model 'resnet50'"],
        [
            f"Epoch: [{i // 40}][{125 * (i % 40):4d}/5005]\tTime {data[i] + whole[i]:6.3f} ( 0.925)\tData {data[i]:6.3f} ( 0.812)\t"
            f"Loss {loss[i]:.4e} (6.1e+00)\tAcc@1 {100 * np.exp(-loss[i] / 2.6):6.2f} ( 9.10)"
            for i in range(160)
        ],
    )

    r = rng("memory climbs")
    n = 220
    table(
        "memory_climbs.csv",
        {
            "Step": np.arange(n) * 5,
            "train_loss": fall(r, n, 2.3, 0.7, 70, 0.025),
            "gpu_memory_allocated_gb": np.linspace(4.1, 22.9, n) + 0.05 * r.standard_normal(n),
            "step_time_s": level(r, n, 0.31, 0.05),
        },
    )

    r = rng("memory full")
    n = 180
    lightning(
        "memory_full",
        {"batch_size": 2, "lr": 0.0001, "optimizer": "adamw", "precision": "bf16"},
        {
            "train_loss": fall(r, n, 3.1, 1.6, 70, 0.03),
            "gpu_util": 98 + 0.6 * r.standard_normal(n),
            "gpu_memory_used_mb": 24120 + 25 * r.standard_normal(n),
            "gpu_memory_total_mb": [24268] * n,
            "step_time": level(r, n, 2.9, 0.03),
        },
        {"val_loss": fall(r, 6, 2.4, 1.7, 2, 0.01)},
    )

    r = rng("slower and slower")
    n = 240
    lines(
        "slower_and_slower.jsonl",
        {
            "step": np.arange(n) * 20,
            "loss": fall(r, n, 1.4, 0.4, 70, 0.03),
            "step_time": np.linspace(0.21, 1.65, n) * np.exp(0.05 * r.standard_normal(n)),
            "samples_per_second": 64 / np.linspace(0.21, 1.65, n),
        },
    )

    for name, lr, end in (("lr_3e-5", 3e-5, 1.45), ("lr_3e-4", 3e-4, 0.72), ("lr_3e-2", 3e-2, 2.2)):
        r = rng(name)
        lightning(
            f"sweep/{name}",
            {"lr": lr, "optimizer": "adam", "batch_size": 64, "seed": 1},
            {"train_loss": fall(r, 100, 2.3, end, 20, 0.02)},
            {"val_loss": fall(r, 10, 2.1, end * 1.06, 2, 0.01)},
        )

    r = rng("busy device")
    n = 200
    lines(
        "ok_busy_device.jsonl",
        {
            "step": np.arange(n) * 10,
            "loss": fall(r, n, 6.2, 2.4, 60, 0.02),
            "lr": cosine(n, 3e-4, 10),
            "gpu_utilization": np.minimum(100, 97 + 1.2 * r.standard_normal(n)),
            "gpu_memory_percent": 78 + 0.5 * r.standard_normal(n),
            "step_time": level(r, n, 0.33, 0.03),
            "data_time": level(r, n, 0.006, 0.2),
        },
    )
