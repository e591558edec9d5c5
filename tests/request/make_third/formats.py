"""The third author's random numbers; curves and files as in tests.request.formats."""

from __future__ import annotations

import numpy as np

from tests.request.formats import (
    NAN,
    Curve,
    Files,
    cosine,
    expo,
    level,
    linear,
    power,
    rough,
    short,
    wander,
)

__all__ = ["NAN", "Curve", "cosine", "expo", "level", "linear", "power", "rough", "short", "wander"]
__all__ += ["dicts", "history", "keras", "lightning", "lines", "place"]
__all__ += ["rng", "rows", "table", "text", "trainer"]

FILES = Files("third")
dicts, history, keras, lightning = FILES.dicts, FILES.history, FILES.keras, FILES.lightning
lines, place, rows, table = FILES.lines, FILES.place, FILES.rows, FILES.table
text, trainer = FILES.text, FILES.trainer


def rng(name: str) -> np.random.Generator:
    """A generator for every log, so that one can be changed alone."""
    return np.random.default_rng([3, *(ord(letter) for letter in name)])
