"""What people answer in an interview."""

from __future__ import annotations

import json
from typing import Any

from .formats import FILES

ANSWERS: dict[str, tuple[list[str], dict[str, Any]]] = {
    "done_already": (
        ["loss has stopped decreasing"],
        {
            "losses": [0.61, 0.2, 0.09, 0.05, 0.031, 0.024, 0.021, 0.02, 0.0195, 0.0193, 0.0192, 0.0191],
            "validation": [0.64, 0.24, 0.12, 0.07, 0.05, 0.043, 0.04, 0.039, 0.0385, 0.038, 0.038, 0.038],
            "known_result": "near",
        },
    ),
    "squared_labels": (
        ["the loss is flat from the first epoch"],
        {"config": "Adam lr=1e-3 batch=64", "loss_input": ["classes_as_numbers"]},
    ),
    "half_precision": (["loss turned into nan"], {"precision": "fp16_bare", "nan_before": "calm"}),
    "own_logarithm": (
        ["my loss is nan after 3 epochs"],
        {"loss_input": ["own"], "risky_math": "unguarded", "nan_before": "calm", "precision": "fp32"},
    ),
    "small_data": (
        ["99% on train, 62% on validation"],
        {"sizes": "11M parameters, 600 samples", "regularisation": "none"},
    ),
    "idle_device": (["training is super slow"], {"device_busy": "low", "data_time": "0.7 of 0.9"}),
    "busy_device": (["every epoch takes ages"], {"device_busy": "busy", "config": "SGD lr=0.1 batch=2"}),
    "norms_tiny": (
        ["loss plateau"],
        {
            "grad_norms": [0.9, 0.2, 0.05, 0.004, 0.002, 0.001, 0.0008, 0.0008],
            "config": "Adam lr=1e-3 batch=64",
        },
    ),
    "norms_fine": (
        ["loss stuck at 1.9 since epoch 5"],
        {
            "grad_norms": [1.2, 0.9, 1.1, 1.0, 1.3, 0.9, 1.1, 1.0],
            "config": "SGD lr=1e-6 batch=64, constant",
        },
    ),
    "adam_swings": (["loss jumps up and down all the time"], {"config": "Adam lr=0.05 batch=128"}),
    "early_days": (
        ["the loss decreases slowly"],
        {
            "progress": "200 of 100000",
            "losses": [10.9, 10.2, 9.6, 9.0, 8.5, 8.1, 7.8, 7.5, 7.2, 7.0, 6.8, 6.65],
            "config": "AdamW lr=3e-4 batch=512 warmup=1000 cosine",
        },
    ),
}


def write() -> None:
    for name, (symptoms, answers) in ANSWERS.items():
        FILES.text(f"answers/{name}.json", json.dumps({"symptoms": symptoms, "answers": answers}, indent=1))
