"""The fourth author's random numbers and files."""

from __future__ import annotations

import numpy as np

from tests.request.formats import Files

FILES = Files("fourth")


def rng(name: str) -> np.random.Generator:
    """A generator for every log, so that one can be changed alone."""
    return np.random.default_rng([4, *(ord(letter) for letter in name)])
