"""What a script gives to `traindx.watch`: understood, or refused in one line."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Mapping

_SHARE = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*%\s*")
_MOST = 0.5
_KERAS = ("keras", "tf_keras")


def share(budget: str | float) -> float:
    """A budget as a share: `1%` and 0.01 are the same."""
    if isinstance(budget, str) and (match := _SHARE.fullmatch(budget)):
        part = float(match[1]) / 100
    else:
        try:
            part = -1.0 if isinstance(budget, bool) else float(budget)
        except (TypeError, ValueError):
            part = -1.0
    if not 0 <= part <= _MOST:
        raise ValueError(f"budget={budget!r} is no share between 0 and 50%, like '1%', '0.5%' or 0.01.")
    return part


def listed(value: object) -> list[object]:
    """One, several or none."""
    if value is None:
        return []
    if isinstance(value, Mapping):
        return list(value.values())
    # Not any iterable: a Sequential is a module that can be walked over.
    if isinstance(value, list | tuple | set | frozenset):
        return list(value)
    return [value]


def check(models: list[object], optimizers: list[object]) -> None:
    """Raise when no framework is there, or when something given is of another kind."""
    torch = sys.modules.get("torch")
    if torch is None and not _installed("torch") and not _installed("keras"):
        raise ModuleNotFoundError(
            "traindx.watch records PyTorch and Keras trainings, and neither is installed: pip install torch.",
            name="torch",
        )
    expectations = (
        ("model", models, "nn", "Module", "a torch.nn.Module"),
        ("optimizer", optimizers, "optim", "Optimizer", "a torch.optim.Optimizer"),
    )
    for word, objects, home, kind, expected in expectations:
        cls = getattr(getattr(torch, home, None), kind, None)
        for one in objects:
            if not of_keras(one) and (cls is None or not isinstance(one, cls)):
                raise TypeError(f"{word} must be {expected} or a list of them; got {type(one).__name__}.")


def of_keras(value: object) -> bool:
    """Whether it is a model or an optimizer of Keras, by any version."""
    return any(kind.__module__.partition(".")[0] in _KERAS for kind in type(value).__mro__)


def _installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ValueError:
        return False
