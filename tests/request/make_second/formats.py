"""The second author's curves; files as in tests.request.formats."""

from __future__ import annotations

import numpy as np

from tests.request.formats import Curve, Files, cosine, level, short

__all__ = ["cosine", "fall", "history", "level", "lightning", "lines", "place"]
__all__ += ["rng", "rows", "short", "table", "text", "trainer"]

FILES = Files("second", digits=5, nulls=True)
history, lightning, lines, place = FILES.history, FILES.lightning, FILES.lines, FILES.place
rows, table, text, trainer = FILES.rows, FILES.table, FILES.text, FILES.trainer


def rng(name: str) -> np.random.Generator:
    """A generator of its own for every log, so that changing one leaves the others alone."""
    return np.random.default_rng([ord(letter) for letter in name])


def fall(
    random: np.random.Generator, n: int, start: float, end: float, tau: float, noise: float = 0.02
) -> Curve:
    """An exponential fall with noise in proportion to its height."""
    t = np.arange(n)
    clean = end + (start - end) * np.exp(-t / tau)
    return clean * np.exp(noise * random.standard_normal(n))
