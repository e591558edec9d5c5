"""What somebody says in an interview: complaints with settings and values, in TOML."""

from __future__ import annotations

import json
from typing import Any

from tests.request.make_second.formats import place

ANSWERS: dict[str, tuple[str, dict[str, Any]]] = {
    "plateau_norm_fine": (
        "the loss went down at first and has been stuck since epoch 4, gradient norm is around 0.8",
        {"config": "Adam lr=2e-6 batch=64"},
    ),
    "plateau_norm_tiny": (
        "loss stopped improving, grad norm is 0.0004",
        {"config": "Adam lr=1e-3 batch=64 cosine"},
    ),
    "plateau_values": (
        "my loss plateaued way too high",
        {
            "config": "SGD lr=0.3 momentum=0.9 batch=128, constant learning rate",
            "losses": [
                4.6,
                3.4,
                2.7,
                2.4,
                2.31,
                2.33,
                2.29,
                2.34,
                2.3,
                2.32,
                2.31,
                2.33,
                2.3,
                2.31,
                2.34,
                2.3,
                2.32,
                2.31,
                2.33,
                2.3,
            ],
        },
    ),
    "flat_small_rate": (
        "the loss never moves, it has been the same since the first epoch",
        {"config": "AdamW lr=1e-8 batch=32"},
    ),
    "swings_adam": ("training loss jumps up and down all the time", {"config": "Adam lr=0.08 batch=128"}),
    "swings_batch": ("the loss is extremely noisy and bounces around", {"config": "Adam lr=1e-4 batch=1"}),
    "nan_calm": (
        "after 3 hours the loss suddenly became NaN",
        {"config": "Adam lr=1e-4 batch=32 clip=1.0", "nan_before": "calm"},
    ),
    "nan_first_step": ("I get NaN loss on the second iteration", {"config": "SGD lr=10 batch=32"}),
    "slow_busy": (
        "an epoch takes forever although the GPU is at 99% utilisation, batch size 2",
        {"config": "AdamW lr=1e-4 batch=2"},
    ),
    "slow_idle": ("training is slow, nvidia-smi shows 15% GPU utilization most of the time", {}),
    "overfit_small": (
        "99% accuracy on the training set but only 68% on the test set; I have 600 images",
        {"config": "Adam lr=1e-3 batch=32 weight_decay=0"},
    ),
    "imbalance": ("the classifier always predicts the majority class, 98% of the samples are negative", {}),
    "several": ("loss oscillates and in the end becomes nan", {"config": "SGD lr=1.0 momentum=0.9 batch=16"}),
    "plan_epochs": ("loss is flat from the beginning", {"plan": "let me just train for more epochs"}),
    "dead": (
        "more than 70% of the relu activations are zero for every input",
        {"config": "SGD lr=0.5 batch=64"},
    ),
    "slow_word": ("training is very slow", {}),
}


def write() -> None:
    for name, (words, answers) in ANSWERS.items():
        plan = answers.get("plan")
        text = [f"symptoms = [{json.dumps(words)}]"] + ([f"plan = {json.dumps(plan)}"] if plan else [])
        text += [
            "",
            "[answers]",
            *(f"{key} = {json.dumps(value)}" for key, value in answers.items() if key != "plan"),
        ]
        place(f"answers/{name}.toml").write_text("\n".join(text) + "\n", encoding="utf-8")
