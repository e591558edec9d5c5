"""Validation apart from training without harm: a gap that stays, one bad evaluation, folds."""

from __future__ import annotations

import numpy as np

from tests.request.formats import expo, linear, power, rough

from .formats import FILES, rng


def write() -> None:
    _steady()
    _augmented()
    _one_bad_evaluation()
    _fine_tuned()
    _folds()
    _few_answers()
    _ranking()


def _steady() -> None:
    r, n = rng("steady"), 50
    t = np.arange(n)
    FILES.history(
        "ok_steady_offset.json",
        {
            "loss": list(rough(r, expo(n, 2.9, 0.74, 15), 0.01)),
            "val_loss": list(rough(r, expo(n, 2.9, 1.06, 15), 0.012)),
            "accuracy": list(0.80 - 0.7 * np.exp(-t / 15) + 0.003 * r.standard_normal(n)),
            "val_accuracy": list(0.735 - 0.64 * np.exp(-t / 15) + 0.004 * r.standard_normal(n)),
        },
    )


def _augmented() -> None:
    r, n = rng("augmented"), 80
    t = np.arange(n)
    FILES.table(
        "ok_augmented.csv",
        {
            "epoch": t,
            "train/loss": rough(r, expo(n, 2.2, 0.92, 20), 0.02),
            "train/acc": 0.70 - 0.5 * np.exp(-t / 20) + 0.006 * r.standard_normal(n),
            "val/loss": rough(r, expo(n, 2.1, 0.41, 18), 0.025),
            "val/acc": 0.875 - 0.65 * np.exp(-t / 18) + 0.006 * r.standard_normal(n),
            "augment": ["randaugment+cutmix"] * n,
        },
    )


def _one_bad_evaluation() -> None:
    r, n = rng("bad evaluation"), 40
    val = rough(r, expo(n, 1.8, 0.36, 8), 0.02)
    val[16] = 1.12
    FILES.text(
        "ok_one_bad_evaluation.txt",
        [
            f"epoch {i + 1}/{n} loss: {x:.4f} val_loss: {v:.4f}"
            for i, (x, v) in enumerate(zip(rough(r, expo(n, 1.9, 0.29, 9), 0.015), val, strict=True))
        ],
    )


def _fine_tuned() -> None:
    r, n = rng("fine"), 60
    FILES.trainer(
        "ok_fine_tuned/trainer_state.json",
        {
            "loss": rough(r, expo(n, 0.69, 0.17, 18), 0.06),
            "grad_norm": 3.1 * np.exp(0.4 * r.standard_normal(n)),
            "learning_rate": linear(n, 2e-5, 4),
        },
        {"eval_loss": [0.331, 0.287, 0.296], "eval_accuracy": [0.872, 0.901, 0.908]},
        batch=32,
    )


def _folds() -> None:
    r, n = rng("folds"), 20
    out = []
    for fold in range(1, 6):
        train = rough(r, expo(n, 0.69, 0.18, 4), 0.02)
        val = rough(r, expo(n, 0.69, 0.23, 4), 0.03)
        out.append(f"===== Fold {fold}/5 =====")
        out += [f"Epoch {i + 1:2d}: train_loss={train[i]:.4f} val_loss={val[i]:.4f}" for i in range(n)]
    FILES.text("ok_five_folds.txt", out)


def _few_answers() -> None:
    """Fifty validation samples: each is two points of accuracy."""
    r, n = rng("fifty"), 45
    t = np.arange(n)
    share = 0.86 - 0.4 * np.exp(-t / 7)
    FILES.table(
        "ok_fifty_validation_samples.csv",
        {
            "epoch": t,
            "loss": rough(r, expo(n, 1.09, 0.31, 9), 0.02),
            "acc": 0.885 - 0.45 * np.exp(-t / 7) + 0.004 * r.standard_normal(n),
            "val_loss": rough(r, expo(n, 1.1, 0.40, 8), 0.06),
            "val_acc": r.binomial(50, share) / 50,
        },
    )


def _ranking() -> None:
    r, n = rng("ranking"), 36
    t = np.arange(n)
    FILES.lines(
        "ok_ranking.jsonl",
        {
            "epoch": t + 1,
            "train_loss": rough(r, power(n, 0.69, 0.24, 3.0), 0.01),
            "val_ndcg@10": 0.412 - 0.3 * np.exp(-t / 6) + 0.003 * r.standard_normal(n),
            "val_recall@20": 0.583 - 0.4 * np.exp(-t / 6) + 0.003 * r.standard_normal(n),
        },
    )
