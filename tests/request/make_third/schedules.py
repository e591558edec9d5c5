"""Trainings whose schedule shapes the curve, and resumed ones."""

from __future__ import annotations

import json

import numpy as np

from .formats import cosine, dicts, expo, level, lightning, lines, power, rng, rough, table, text, wander


def write() -> None:
    steps()
    cycles()
    language()
    resumed()


def steps() -> None:
    r = rng("cifar steps")
    n = 70
    t = np.arange(n)
    lr = np.where(t < 35, 0.1, np.where(t < 53, 0.01, 0.001))
    train = np.where(
        t < 35, 0.30 + 1.5 * np.exp(-t / 6), np.where(t < 53, 0.022 + 0.07 * np.exp(-(t - 35) / 3), 0.009)
    )
    top1 = np.where(t < 35, 84 - 45 * np.exp(-t / 7), np.where(t < 53, 94.1, 94.6)) + np.where(
        t < 35, 2.4, 0.12
    ) * r.standard_normal(n)
    val = np.where(t < 35, 0.52 + 1.1 * np.exp(-t / 7), np.where(t < 53, 0.232, 0.222))
    val = rough(r, val, 0.0) * np.exp(np.where(t < 35, 0.12, 0.008) * r.standard_normal(n))
    train = rough(r, train, 0.03)
    text(
        "ok_cifar_steps.txt",
        "ResNet-18 | SGD lr 0.1 momentum 0.9 nesterov wd 5e-4 | MultiStepLR [35, 53] x0.1 | batch 128",
        [
            f"[{i + 1}/{n}] lr={lr[i]:g} train_loss={train[i]:.4f} test_loss={val[i]:.4f} test_top1={top1[i]:.2f}"
            for i in range(n)
        ],
    )

    r = rng("coco")
    out = []
    parts = {"loss_rpn_cls": 0.26, "loss_bbox": 0.42, "loss_cls": 0.60}
    for i in range(36):
        epoch, it = divmod(i, 3)
        drop = 1.0 if epoch < 8 else 0.8 if epoch < 11 else 0.76
        lr = 0.02 if epoch < 8 else 0.002 if epoch < 11 else 0.0002
        lr = lr * (i + 1) / 2 if i < 2 else lr
        base = drop * (0.62 + 0.38 * np.exp(-i / 4.5))
        values = {k: v * base * np.exp(0.05 * r.standard_normal()) for k, v in parts.items()}
        said = ", ".join(f"{k}: {v:.4f}" for k, v in values.items())
        out.append(
            f"2030-02-03 1{i // 60}:{i % 60:02d}:11,402 - mmdet - INFO - Epoch [{epoch + 1}][{(it + 1) * 2440}/7330]\tlr: {lr:.3e}, eta: {12 - epoch}:21:09, time: 0.341, data_time: 0.012, memory: 7011, {said}, loss: {sum(values.values()):.4f}"
        )
        if it == 2:
            out.append(
                f"2030-02-03 1{i // 60}:{i % 60:02d}:59,001 - mmdet - INFO - Epoch(val) [{epoch + 1}][5000]\tbbox_mAP: {0.374 * (1 - np.exp(-(epoch + 1) / 3)) + (0.03 if epoch >= 8 else 0):.4f}"
            )
    text("ok_mmdet_steps.log", out)

    r = rng("mosaic off")
    n = 60
    t = np.arange(n)
    off = np.where(t >= 50, 0.80, 1.0)
    table(
        "ok_yolo_mosaic_off/results.csv",
        {
            "epoch": t + 1,
            "train/box_loss": rough(r, expo(n, 1.62, 0.98, 19), 0.006) * off,
            "train/cls_loss": rough(r, expo(n, 2.4, 0.62, 22), 0.008) * np.where(t >= 50, 0.72, 1.0),
            "metrics/mAP50-95(B)": 0.513 - 0.4 * np.exp(-t / 20) + 0.0025 * r.standard_normal(n),
            "val/box_loss": rough(r, expo(n, 1.5, 1.06, 24), 0.005),
            "val/cls_loss": rough(r, expo(n, 2.0, 0.77, 18), 0.006),
            "lr/pg0": np.linspace(0.01, 0.0001, n),
        },
    )


def cycles() -> None:
    r = rng("triangle")
    n, half = 180, 30
    t = np.arange(n)
    lr = 1e-4 + (3e-3 - 1e-4) * (1 - np.abs((t % (2 * half)) / half - 1))
    base = 0.41 + 1.4 * np.exp(-t / 55)
    table(
        "ok_triangular_rate.csv",
        {"iteration": t * 25, "lr": lr, "loss": rough(r, base * (1 + 85 * lr * np.exp(-t / 400)), 0.035)},
    )

    r = rng("super convergence")
    n = 120
    t = np.arange(n)
    lr = np.where(t < 40, 0.08 + (1.2 - 0.08) * t / 40, 1.2 * 0.5 * (1 + np.cos(np.pi * (t - 40) / 80)))
    loss = rough(r, 0.16 + 1.5 * np.exp(-t / 14) + 0.42 * (lr / 1.2) * (t > 8), 0.03) - 0.14 * (t / n) ** 4
    lightning(
        "ok_super_convergence",
        {"optimizer": "SGD", "scheduler": "OneCycleLR", "max_lr": 1.2, "batch_size": 512, "max_epochs": 12},
        {"train_loss": loss, "lr-SGD": lr},
        {
            "val_loss": rough(r, 0.24 + 1.2 * np.exp(-np.arange(12) / 2) + 0.45 * lr[9::10] / 1.2, 0.05),
            "val_acc": 0.935 - 0.5 * np.exp(-np.arange(12) / 2) - 0.12 * lr[9::10] / 1.2,
        },
        every=10,
    )

    r = rng("sgdr speech")
    lr = np.concatenate([cosine(10, 4e-4, 0, 1e-6), cosine(20, 4e-4, 0, 1e-6), cosine(40, 4e-4, 0, 1e-6)])
    n = len(lr)
    base = 12 + 95 * np.exp(-np.arange(n) / 10)
    lines(
        "ok_restarts_double.jsonl",
        {
            "epoch": np.arange(n),
            "ctc_loss": rough(r, base * (1 + 420 * lr), 0.012),
            "dev_ctc_loss": rough(r, base * 1.09 * (1 + 480 * lr), 0.02),
            "lr": lr,
        },
    )

    r = rng("wsd")
    n = 90
    t = np.arange(n)
    lr = np.where(
        t < 3, 1e-3 * (t + 1) / 3, np.where(t < 70, 1e-3, 1e-3 * np.maximum(0.02, 1 - (t - 70) / 20))
    )
    loss = power(n, 10.9, 2.78, 0.7, 0.95) - np.where(t < 70, 0, 0.24 * (1 - np.exp(-(t - 70) / 8)))
    lines(
        "ok_warmup_stable_decay.jsonl",
        {"step": t * 100, "loss": rough(r, loss, 0.008), "lr": lr, "grad_norm": level(r, n, 0.42, 0.15)},
        {
            "config": {
                "model": "llama-300m",
                "schedule": "wsd",
                "lr": 1e-3,
                "tokens_per_batch": 524288,
                "grad_clip": 1.0,
            }
        },
    )


def language() -> None:
    r = rng("small lm 3000")
    n = 3000
    table(
        "ok_lm_3000_points.csv",
        {"loss": np.round(rough(r, power(n, 10.8, 2.55, 30, 0.62), 0.022, 0), 2)},
    )

    r = rng("shakespeare")
    n = 36
    t = np.arange(n)
    train = 1.24 + 2.95 * np.exp(-t / 4.2) + 0.35 * np.exp(-t / 18)
    val = 1.462 + 2.7 * np.exp(-t / 4.0) + 0.28 * np.exp(-t / 12)
    out = ["number of parameters: 10.65M", "dropout 0.2, lr 1e-3 -> 1e-4 cosine, batch 64x256"]
    for i in range(n):
        out.append(
            f"step {i * 50}: train loss {train[i] + 0.004 * r.standard_normal():.4f}, val loss {val[i] + 0.006 * r.standard_normal():.4f}"
        )
        out.append(
            f"iter {i * 50}: loss {train[i] * 1.02 + 0.03 * r.standard_normal():.4f}, time {31 + r.random():.2f}ms, mfu 17.4%"
        )
    text("ok_shakespeare.txt", out)

    r = rng("megatron")
    n = 32
    lr = cosine(n, 1.6e-4, 4, 1.6e-5)
    loss, norm = rough(r, power(n, 10.9, 2.1, 1.6, 0.75), 0.008), rough(r, expo(n, 9.5, 0.55, 5), 0.2)
    text(
        "ok_megatron.log",
        [
            f" iteration {(i + 1) * 450:8d}/   15000 | learning rate: {lr[i]:.3E} | global batch size:   256 | lm loss: {loss[i]:.6E} | loss scale: 1.0 | grad norm: {norm[i]:.3f} | number of skipped iterations:   0 |"
            for i in range(n)
        ],
    )

    r = rng("fairseq")
    out = []
    t = np.arange(17)
    nll, val = expo(17, 9.2, 3.62, 2.7), expo(17, 8.1, 3.81, 2.4)
    for i in t:
        out.append(
            f"2030-08-01 03:{i:02d}:00 | INFO | train | "
            + json.dumps(
                {
                    "epoch": int(i) + 1,
                    "train_loss": f"{nll[i] + 1.3:.3f}",
                    "train_nll_loss": f"{nll[i]:.3f}",
                    "train_ppl": f"{2 ** nll[i]:.2f}",
                    "train_gnorm": f"{0.9 + 0.1 * r.standard_normal():.3f}",
                    "train_lr": f"{5e-4 * min(1, 4 / (i + 1)) ** 0.5:.3g}",
                }
            )
        )
        out.append(
            f"2030-08-01 03:{i:02d}:09 | INFO | valid | "
            + json.dumps(
                {
                    "epoch": int(i) + 1,
                    "valid_loss": f"{val[i] + 1.25:.3f}",
                    "valid_nll_loss": f"{val[i]:.3f}",
                    "valid_ppl": f"{2 ** val[i]:.2f}",
                    "valid_bleu": f"{33.9 * (1 - np.exp(-(i + 1) / 6)):.2f}",
                }
            )
        )
    text("ok_fairseq.log", out)

    r = rng("hump")
    n = 60
    t = np.arange(n)
    loss = power(n, 9.6, 3.0, 1, 0.9) + 0.9 * np.exp(-(((t - 10) / 3.4) ** 2))
    dicts(
        "ok_warmup_hump.txt",
        {
            "loss": rough(r, loss, 0.012),
            "grad_norm": level(r, n, 1.3, 0.25) + 1.8 * np.exp(-(((t - 10) / 3.4) ** 2)),
            "learning_rate": linear_(n),
        },
        {"eval_loss": [4.41, 3.91, 3.69, 3.58, 3.51, 3.47]},
        epochs=1.0,
    )


def linear_(n: int) -> np.ndarray:
    t = np.arange(n)
    return np.where(t < 10, 7e-4 * (t + 1) / 10, 7e-4 * (n - t) / (n - 10))


def resumed() -> None:
    r = rng("preempted")
    n = 46
    loss, val = rough(r, power(n, 3.9, 0.62, 3, 1.1), 0.015), rough(r, power(n, 3.4, 0.71, 3, 1.1), 0.015)
    out = []
    for i in [*range(19), -1, *range(16, 33), -1, *range(31, 46)]:
        if i < 0:
            out += [
                "slurmstepd: error: *** JOB 88123 CANCELLED DUE TO PREEMPTION ***",
                "=> loading checkpoint 'ckpt/last.pt'",
                "=> optimizer, scheduler and scaler restored",
            ]
        else:
            out.append(
                f"Epoch {i:3d} train loss {loss[i] * np.exp(0.004 * r.standard_normal()):.4f} val loss {val[i]:.4f}"
            )
    text("ok_preempted.log", out)

    r = rng("continued")
    n = 40
    lines(
        "ok_continued.jsonl",
        {
            "global_step": 250_000 + np.arange(n) * 250,
            "train/loss": 1.945 - 0.035 * np.arange(n) / n + wander(r, n, 0.025, 0.1),
            "train/lr": cosine(n, 3e-5, 0, 3e-6),
            "train/grad_norm": level(r, n, 0.31, 0.12),
        },
        {"msg": "resumed from step 250000", "optimizer_state": "loaded", "tokens_seen": 131072000000},
    )
