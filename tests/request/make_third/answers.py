"""What people say in an interview: a complaint, a plan, answers."""

from __future__ import annotations

import json
from typing import Any

from .formats import place

ANSWERS: dict[str, tuple[list[str], dict[str, Any]]] = {
    "explode_rnn": (
        ["grad norm goes 2, 9, 80, 3000 within some hundred steps"],
        {"config": "SGD lr=0.1 batch=32", "clipping": "0", "model_shape": "recurrent"},
    ),
    "vanish_sigmoid": (
        ["first layers get gradient of 1e-10 and last layer 0.1"],
        {"config": "Adam lr=1e-3 batch=128", "model_shape": ["squashing", "deep_plain"]},
    ),
    "several": (
        ["val loss goes up while train goes down", "each epoch takes an hour, gpu at 12%"],
        {"sizes": "25M parameters, 2000 samples", "device_busy": "low", "data_time": "1.4 of 1.6"},
    ),
    "progress_early": (
        ["loss decreases too slowly"],
        {
            "progress": "300 of 200000",
            "config": "AdamW lr=2e-4 batch=256 warmup=2000 cosine",
            "losses": [10.9, 10.6, 10.1, 9.7, 9.2, 8.8, 8.4, 8.1, 7.8, 7.6, 7.4, 7.2],
        },
    ),
    "plan_optimizer": (
        ["loss isnt going down at all"],
        {"plan": "i will switch from adam to rmsprop and then to sgd"},
    ),
    "plan_random": (["the loss is jumping up and down"], {"plan": "just try some random learning rates"}),
    "plan_epochs": (
        ["loss flat from epoch 1"],
        {
            "plan": "train it longer, 500 epochs instead of 50",
            "losses": [4.605, 4.606, 4.604, 4.605, 4.606, 4.605, 4.605, 4.604, 4.605, 4.606, 4.605, 4.605],
        },
    ),
    "flat_chance": (
        ["loss doesn't move"],
        {
            "config": "Adam lr=1e-3 batch=64",
            "losses": [
                2.304,
                2.302,
                2.303,
                2.303,
                2.302,
                2.304,
                2.303,
                2.302,
                2.303,
                2.303,
                2.302,
                2.303,
                2.303,
                2.302,
            ],
        },
    ),
    "flat_low_rate": (["model does not learn, loss same since start"], {"config": "SGD lr=1e-7 batch=64"}),
    "wrong_loss": (["classifier with 5 classes, accuracy stays 20%"], {"loss_input": "classes_as_numbers"}),
    "plateau_norm_fine": (
        ["loss plateaued at 3.1 after 2 epochs"],
        {
            "config": "AdamW lr=1e-6 batch=64",
            "grad_norms": [1.9, 2.1, 1.8, 2.0, 2.2, 1.9, 2.0, 1.8, 2.1, 2.0],
            "schedule": "constant",
        },
    ),
    "swings_growing": (
        ["loss oscillation is getting bigger and bigger"],
        {
            "config": "SGD lr=0.8 momentum=0.95 batch=64",
            "losses": [1.2, 1.0, 1.25, 0.95, 1.4, 0.9, 1.7, 0.8, 2.3, 0.9, 3.1, 1.2, 4.8, 1.5, 7.7, 2.9],
        },
    ),
    "swings_adam": (["loss is super unstable, up down up down"], {"config": "Adam lr=0.05 batch=256"}),
    "nan_rose": (
        ["nan after 5k iterations"],
        {
            "config": "Adam lr=3e-3 batch=32",
            "nan_step": "5120: 2.4 2.5 4.9 33.0 2100",
            "nan_before": "rose",
            "clipping": "0",
            "precision": "fp32",
        },
    ),
    "nan_log": (
        ["loss is nan since epoch 3"],
        {"nan_before": "calm", "precision": "fp32", "loss_input": "own", "risky_math": "unguarded"},
    ),
    "nan_fp16": (["got NaN when i switched on fp16"], {"precision": "fp16_bare", "nan_before": "calm"}),
    "overfit_small": (
        ["train acc 100 val acc 63"],
        {"sizes": "23M parameters, 800 samples", "regularisation": "dropout=0 weight_decay=0"},
    ),
    "overfit_reg": (
        ["overfitting badly"],
        {"sizes": "900k parameters, 60k samples", "regularisation": "dropout=0 weight_decay=0"},
    ),
    "overfit_huge": (
        ["its memorising the train set"],
        {"sizes": "1.3B parameters, 4000 samples", "regularisation": "dropout=0.1 weight_decay=0.1"},
    ),
    "slow_idle": (["one epoch takes 3 hours"], {"device_busy": "low", "data_time": "0.9 of 1.0"}),
    "slow_busy": (
        ["training very slow, every epoch needs 2 days"],
        {"device_busy": "busy", "data_time": "0.002 of 0.30", "config": "AdamW lr=1e-4 batch=2"},
    ),
    "saturated": (["tanh outputs all +-1"], {"model_shape": ["squashing", "own_init"]}),
    "underfit": (
        ["train and val loss are both high and close to each other"],
        {"sizes": "3k parameters, 500k samples", "config": "Adam lr=1e-3 batch=128 cosine"},
    ),
    "word_plateau": (["plateau"], {}),
}


def write() -> None:
    for name, (words, answers) in ANSWERS.items():
        plan = answers.get("plan")
        text = [f"symptoms = {json.dumps(words)}"] + ([f"plan = {json.dumps(plan)}"] if plan else [])
        text += [
            "",
            "[answers]",
            *(f"{key} = {json.dumps(value)}" for key, value in answers.items() if key != "plan"),
        ]
        place(f"answers/{name}.toml").write_text("\n".join(text) + "\n", encoding="utf-8")
