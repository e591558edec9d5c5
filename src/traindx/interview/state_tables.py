"""What a state in words means for a quantity, and the symptom that it shows by itself."""

from __future__ import annotations

from collections.abc import Mapping

# How an objective is doing, from the way its value goes; a loss is better when it is lower.
GOES = {
    "loss": {
        "falling": "better",
        "rising": "worse",
        "high": "bad",
        "low": "good",
        "zero": "odd",
        "negative": "odd",
    },
    "score": {
        "falling": "worse",
        "rising": "better",
        "high": "good",
        "low": "bad",
        "not high": "bad",
        "zero": "worse",
    },
    "": {"falling": "better", "rising": "worse"},
}
MEANS = {
    "improving": "better",
    "learning": "better",
    "converging": "better",
    "recovering": "better",
    "worsening": "worse",
    "exploding": "worse",
    "not rising": "flat",
    "saturated": "stalled",
    "overflowing": "NaN",
    "creeping": "barely falling",
    "wrong": "odd",
    "suspicious": "odd",
    "different": "odd",
    "idle": "slow",
}
# What one observation of the objective says by itself, and one of another quantity.
ALONE = {
    "NaN": "nonfinite",
    "worse": "divergence",
    "swinging": "oscillation",
    "spiking": "loss_spike",
    "barely falling": "slow_convergence",
    "slow": "slow_training",
    "stalled": "plateau",
    "not learning": "not_learning",
    "not converging": "not_learning",
    "at chance": "not_learning",
    "the same everywhere": "not_learning",
    "bad": "underfitting",
    "not generalising": "overfitting",
    "gap": "overfitting",
    "saturated": "saturated_units",
    "dead": "dead_units",
    "odd": "silent_defect",
}
ON_VALIDATION = {**ALONE, "worse": "overfitting", "bad": "overfitting"}
OTHER_QUANTITIES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "gradient": {
        "exploding_gradients": ("high", "rising", "exploding", "spiking", "swinging", "worsening"),
        "vanishing_gradients": ("low", "zero", "falling", "flat", "dead"),
        "nonfinite": ("NaN", "overflowing"),
    },
    "unit": {
        "dead_units": ("dead", "zero"),
        "saturated_units": ("saturated", "flat", "high"),
        "nonfinite": ("NaN", "overflowing"),
    },
    "layer": {
        "vanishing_gradients": ("flat", "not learning", "zero"),
        "dead_units": ("dead",),
        "saturated_units": ("saturated",),
        "nonfinite": ("NaN", "overflowing"),
    },
    "device": {"slow_training": ("low", "idle", "bad", "zero", "falling", "slow", "swinging")},
    "time": {"slow_training": ("slow", "low", "high", "falling", "worsening", "idle", "bad", "rising")},
    "memory": {"memory_growth": ("rising", "high", "full", "exploding", "worsening")},
    "weight": {"nonfinite": ("NaN", "overflowing"), "not_learning": ("flat",), "divergence": ("exploding",)},
    "output": {
        "not_learning": ("the same everywhere", "flat", "at chance", "same", "stalled", "swinging"),
        "silent_defect": ("wrong", "bad", "suspicious", "different"),
        "nonfinite": ("NaN", "overflowing"),
        "dead_units": ("zero",),
    },
    "result": {
        "silent_defect": ("wrong", "bad", "suspicious", "different", "worsening"),
        "not_learning": ("at chance", "same"),
    },
}
