"""How far a step moves the weights, beside how large they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from traindx.evidence.case import Case
from traindx.evidence.detectors._layers import chain, matrices

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

# Weights that start next to nothing move by many times their size, and should.
_TINY_GAIN = 0.1


def ratios(case: Case, *, least: int = 2) -> tuple[FloatArray, FloatArray]:
    """Steps looked at, and at each the typical update ratio over the layers with a matrix."""
    tiny = {m.name for m in matrices(case) if m.gain is not None and m.gain < _TINY_GAIN}
    curves = [c for name, c in chain(case, "update_ratio", least=least).items() if name not in tiny]
    if not curves:
        return np.zeros(0), np.zeros(0)
    steps = sorted({float(step) for curve in curves for step in curve.x})
    table = np.full((len(curves), len(steps)), np.nan)
    places = {step: at for at, step in enumerate(steps)}
    for row, curve in enumerate(curves):
        for step, value in zip(curve.x, curve.y, strict=True):
            table[row, places[float(step)]] = value
    return np.array(steps), np.nanmedian(table, axis=0)


def early_agreement(case: Case, *, within: float = 4.0, least: int = 2) -> float | None:
    """How gradients of the first steps lie to each other, typically: 1 alike, 0 across, -1 back.

    Only steps that follow each other are compared; with less than `least` such pairs nothing is said.
    """
    cosines = []
    for curve in chain(case, "grad_cosine", least=least).values():
        first = curve.y[curve.x <= within]
        if first.size >= least:
            cosines.append(float(np.median(first)))
    return float(np.median(cosines)) if cosines else None
