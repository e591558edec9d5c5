"""Which framework a program trains with, and what can be seen of it."""

from __future__ import annotations

import sys
from collections.abc import Mapping

# By what they import, the one that trains first: Keras computes by another framework, others import several.
_NAMES = {
    "keras": "Keras",
    "tf_keras": "Keras 2 (tf_keras)",
    "flax": "Flax on JAX",
    "equinox": "Equinox on JAX",
    "jax": "JAX",
    "tensorflow": "TensorFlow",
    "xgboost": "XGBoost",
    "lightgbm": "LightGBM",
    "catboost": "CatBoost",
    "sklearn": "scikit-learn",
}
_BACKENDS = {"tensorflow": "TensorFlow", "torch": "PyTorch", "jax": "JAX"}


def keras_name(version: str, backend: str) -> str:
    """`Keras 3 on TensorFlow`."""
    return f"Keras {version.partition('.')[0]} on {_BACKENDS.get(backend, backend)}"


SEEN_OF_JAX = "loss, learning rate, gradients where the optimizer keeps them, weights, updates and batches"


def jax_name(modules: Mapping[str, object] | None = None) -> str:
    """`Flax on JAX with optax`."""
    modules = sys.modules if modules is None else modules
    name = next((_NAMES[one] for one in ("flax", "equinox") if one in modules), "JAX")
    return f"{name} with optax" if "optax" in modules else name


def imported(modules: Mapping[str, object] | None = None) -> str:
    """The framework that was imported and of which no step was seen; empty for PyTorch and for none."""
    modules = sys.modules if modules is None else modules
    found = next((name for name in _NAMES if name in modules), "")
    if found == "keras":
        keras = modules["keras"]
        config = getattr(keras, "config", None)
        backend = config.backend() if config is not None and hasattr(config, "backend") else ""
        return keras_name(str(getattr(keras, "__version__", "")), str(backend))
    return _NAMES.get(found, "")


def blind(modules: Mapping[str, object] | None = None) -> str:
    """The line for a program of which no training step was seen; empty where PyTorch may still train."""
    modules = sys.modules if modules is None else modules
    name = imported(modules)
    if name:
        return (
            f"{name}: no training step was seen, printed output only; diagnose and lint work on it, "
            "lr-find, preflight and treat do not"
        )
    return "" if "torch" in modules else "no framework was imported: only the printed output was recorded"
