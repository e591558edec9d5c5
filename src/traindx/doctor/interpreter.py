"""The Python that trains, and variables of the environment that change how fast or how it computes."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import sys
from collections.abc import Iterator

from traindx import __version__
from traindx.doctor.line import DoctorLine, State, Surroundings

SUBJECT = "python"
_FRAMEWORKS = ("torch", "tensorflow", "keras", "jax")

# Variable, value that matters ("" is any), state, what it does.
_VARIABLES: tuple[tuple[str, str, State, str], ...] = (
    ("CUDA_LAUNCH_BLOCKING", "1", "problem", "every operation on the GPU waits for the one before; unset it"),
    ("JAX_DISABLE_JIT", "1", "problem", "nothing is compiled; unset it"),
    ("PYTORCH_NO_CUDA_MEMORY_CACHING", "1", "problem", "every tensor is allocated by the driver; unset it"),
    ("PYTHONDEVMODE", "1", "note", "Python checks itself at every allocation; unset it for long runs"),
    ("PYTHONMALLOC", "debug", "note", "Python checks itself at every allocation; unset it for long runs"),
    ("PYTHONOPTIMIZE", "", "note", "assert statements of the script are not run"),
    ("PYTORCH_ENABLE_MPS_FALLBACK", "1", "note", "operations that MPS lacks run on the CPU without a word"),
    ("PYTORCH_JIT", "0", "note", "TorchScript functions run uncompiled"),
    ("TORCHDYNAMO_DISABLE", "1", "note", "torch.compile does nothing"),
    ("TORCH_COMPILE_DISABLE", "1", "note", "torch.compile does nothing"),
    ("NVIDIA_TF32_OVERRIDE", "0", "note", "TF32 is off for everything: matrix products are slower"),
    ("TF_ENABLE_ONEDNN_OPTS", "0", "note", "TensorFlow's faster CPU operations are off"),
    ("KMP_DUPLICATE_LIB_OK", "", "note", "two OpenMP libraries in one process may compute wrongly"),
    ("CUDA_VISIBLE_DEVICES", "-1", "note", "no GPU is visible to the training"),
    ("JAX_DEBUG_NANS", "", "note", "JAX runs every operation again to find NaN: slow"),
    ("WANDB_MODE", "disabled", "note", "Weights & Biases records nothing"),
)


def lines(place: Surroundings) -> Iterator[DoctorLine]:
    kind = "virtual environment" if sys.prefix != sys.base_prefix else "no virtual environment"
    fact = f"Python {platform.python_version()} ({sys.executable}), {kind}; traindx {__version__}."
    if hasattr(sys, "gettotalrefcount"):
        yield DoctorLine(
            "python", SUBJECT, "problem", fact, "This is a debug build of Python: several times slower."
        )
    else:
        yield DoctorLine("python", SUBJECT, "ok", fact)
    if not any(map(importlib.util.find_spec, _FRAMEWORKS)):
        yield _no_framework(place)
    yield from _variables(place)


def _no_framework(place: Surroundings) -> DoctorLine:
    python = shutil.which("python3", path=place.environ.get("PATH")) or shutil.which("python")
    fact = "None of PyTorch, Keras, TensorFlow and JAX is installed: logs can be read, no script run."
    if python and os.path.realpath(python) != os.path.realpath(sys.executable):
        advice = (
            f"If {python} trains: {python} -m pip install traindx, then {python} -m traindx run train.py."
        )
    else:
        advice = "pip install 'traindx[torch]', or traindx into the environment that trains."
    return DoctorLine("no_framework", SUBJECT, "note", fact, advice)


def _variables(place: Surroundings) -> Iterator[DoctorLine]:
    for name, value, state, meaning in _VARIABLES:
        current = place.environ.get(name, "")
        if current and (current == value or not value):
            yield DoctorLine(f"variable_{name}", SUBJECT, state, f"{name}={current}.", f"{meaning}.")
    if place.environ.get("CUDA_VISIBLE_DEVICES") == "":
        fact = "CUDA_VISIBLE_DEVICES is set and empty."
        yield DoctorLine(
            "variable_CUDA_VISIBLE_DEVICES", SUBJECT, "note", fact, "no GPU is visible to the training."
        )
