"""What a script gives to `traindx.watch`: understood, or refused in one line."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping

from traindx.observe.stderr_lines import say

_SHARE = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*%\s*")
_MOST = 0.5
_OTHERS = ("keras", "tf_keras", "flax", "equinox", "optax", "jax", "jaxlib", "haiku")


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
    """One line for each kind of thing that cannot be watched; those of PyTorch are left in the lists."""
    torch = sys.modules.get("torch")
    kinds = (("nn", "Module", models), ("optim", "Optimizer", optimizers))
    for home, kind, objects in kinds:
        cls = getattr(getattr(torch, home, None), kind, None)
        for value in list(objects):
            if cls is not None and isinstance(value, cls):
                continue
            objects.remove(value)
            if not of_another(value):
                say(f"a {type(value).__name__} cannot be watched: only what is printed of it is recorded")


def of_another(value: object) -> bool:
    """Whether it is of a framework that names its models itself: Keras of any version, JAX."""
    return any(kind.__module__.partition(".")[0] in _OTHERS for kind in type(value).__mro__)
