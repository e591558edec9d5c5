"""Which framework a program trains with, what can be recorded of it, and which commands work with it.

The table is used before a command begins, from what a script imports, and at its end, from what was imported.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from traindx.core import files

_BACKENDS = {"tensorflow": "TensorFlow", "torch": "PyTorch", "jax": "JAX"}
_INSIDE = "loss, learning rate, gradients, weights, updates, activations and batches"
SEEN_OF_JAX = "loss, learning rate, weights, updates, batches, and gradients that the optimizer keeps"
_PRINTED = "printed output only"
_TRIALS = ("preflight", "lr-find", "confirm", "treat", "try")
_FILES = 40
_BACKEND = re.compile(r"""KERAS_BACKEND["'][\s\],:=]+["'](\w+)""")


@dataclass(frozen=True)
class Framework:
    """What can be recorded of a framework, and the commands that cannot work with it."""

    name: str
    measurements: str = _INSIDE
    without: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """`scikit-learn: printed output only; no trials`."""
        if self.without == _TRIALS:
            return f"{self.name}: {self.measurements}; no trials"
        return f"{self.name}: {self.measurements}" + (
            f"; no {' or '.join(self.without)}" if self.without else ""
        )

    def refusal(self, command: str) -> str:
        """The one line for a command that cannot work; empty for others."""
        if command not in self.without:
            return ""
        alternatives = [
            alternative
            for alternative in ("run", "diagnose", "lint", *_TRIALS[2:4])
            if alternative not in self.without
        ]
        why = (
            "only what it prints can be seen"
            if self.measurements == _PRINTED
            else "what it compiles cannot be changed"
        )
        rate = ", or traindx try lower_lr" if command == "lr-find" and "try" not in self.without else ""
        return f"{command} does not work for {self.name}: {why}. Use traindx {_listed(alternatives)}{rate}."


# By what they import, the one that trains first: Keras computes by another framework, others import several.
_KNOWN = {
    "keras": Framework("Keras 3"),
    "tf_keras": Framework("Keras 2 (tf_keras)", _PRINTED, _TRIALS),
    "flax": Framework("Flax on JAX", SEEN_OF_JAX, _TRIALS[:2]),
    "equinox": Framework("Equinox on JAX", SEEN_OF_JAX, _TRIALS[:2]),
    "haiku": Framework("Haiku on JAX", SEEN_OF_JAX, _TRIALS[:2]),
    "optax": Framework("JAX", SEEN_OF_JAX, _TRIALS[:2]),
    "lightning": Framework("Lightning on PyTorch"),
    "pytorch_lightning": Framework("Lightning on PyTorch"),
    "transformers": Framework("Transformers on PyTorch"),
    "accelerate": Framework("Accelerate on PyTorch"),
    "torch": Framework("PyTorch"),
    "jax": Framework("JAX", SEEN_OF_JAX, _TRIALS[:2]),
    "tensorflow": Framework("TensorFlow"),
    "xgboost": Framework("XGBoost", _PRINTED, _TRIALS),
    "lightgbm": Framework("LightGBM", _PRINTED, _TRIALS),
    "catboost": Framework("CatBoost", _PRINTED, _TRIALS),
    "sklearn": Framework("scikit-learn", _PRINTED, _TRIALS),
}
_OF_TORCH = ("lightning", "pytorch_lightning", "transformers", "accelerate", "torch")


def _listed(words: list[str]) -> str:
    return ", ".join(words[:-1]) + f" or {words[-1]}" if len(words) > 1 else "".join(words)


def keras_name(version: str, backend: str) -> str:
    """`Keras 3 on TensorFlow`."""
    return f"Keras {version.partition('.')[0]} on {_BACKENDS.get(backend, backend)}"


def jax_name(modules: Mapping[str, object] | None = None) -> str:
    """`Flax on JAX with optax`."""
    modules = sys.modules if modules is None else modules
    name = next(
        (_KNOWN[library].name for library in ("flax", "equinox", "haiku") if library in modules), "JAX"
    )
    return f"{name} with optax" if "optax" in modules else name


def versions(libraries: Iterable[str]) -> dict[str, object]:
    """The versions of those libraries that are imported and have one."""
    numbers = {name: getattr(sys.modules.get(name), "__version__", None) for name in libraries}
    return {name: version for name, version in numbers.items() if isinstance(version, str)}


# Before a program runs.


def of_script(path: str | os.PathLike[str] | None) -> Framework | None:
    """By the imports of a script and of the modules next to it; None where none can be named."""
    if path is None:
        return None
    sources = list(_sources(Path(path)))
    names = {name: None for _, imports in sources for name in imports}
    library = next((name for name in _KNOWN if name in names), "")
    texts = [text for text, _ in sources]
    if library == "tensorflow" and any("keras" in text for text in texts):
        library = "keras"
    if library == "keras":
        declared = next((match[1] for text in texts if (match := _BACKEND.search(text))), "")
        backend = declared or os.environ.get("KERAS_BACKEND", "") or "tensorflow"
        return replace(_KNOWN["keras"], name=keras_name("3", backend))
    framework = _KNOWN.get(library)
    if framework is not None and framework.measurements == SEEN_OF_JAX:
        return replace(framework, name=jax_name(names))
    return framework


def _sources(script: Path) -> Iterator[tuple[str, set[str]]]:
    """The text of each file that runs, as far as imports lead to files next to it, and what it imports."""
    waiting, found_paths = [script], {script}
    while waiting and len(found_paths) < _FILES:
        path = waiting.pop(0)
        try:
            text = files.read(path).decode("utf-8", "replace")
            tree = ast.parse(text)
        except (OSError, SyntaxError, ValueError, RecursionError):
            continue
        modules = set(_imports(tree))
        yield text, {name.partition(".")[0] for name in modules}
        for name in sorted(modules):
            for folder in {script.parent, path.parent}:
                base = folder.joinpath(*name.split("."))
                for candidate in (base.with_suffix(".py"), base / "__init__.py"):
                    if candidate not in found_paths and candidate.is_file():
                        found_paths.add(candidate)
                        waiting.append(candidate)


def _imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.name for alias in node.names)


# At the end.


def imported(modules: Mapping[str, object] | None = None) -> str:
    """The framework that was imported and of which no step was seen; empty for PyTorch and for none."""
    modules = sys.modules if modules is None else modules
    library = next((name for name in _KNOWN if name in modules and name not in _OF_TORCH), "")
    if library == "keras":
        keras = modules["keras"]
        config = getattr(keras, "config", None)
        backend = config.backend() if config is not None and hasattr(config, "backend") else ""
        return keras_name(str(getattr(keras, "__version__", "")), str(backend))
    return (
        jax_name(modules)
        if library and _KNOWN[library].measurements == SEEN_OF_JAX
        else _KNOWN[library].name
        if library
        else ""
    )


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
