"""Gradient norms: their unit, and what became of the loss when they moved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from traindx.evidence.case import Case, Curve

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

# Norms that stay above this, and so many times above the loss, come from a loss scaler.
_SCALED_LEAST = 1e3
_SCALED_MEDIAN = 1e4
_FULL_PRECISION = ("bf16", "bfloat16", "32", "64", "tf32")


def positive(curve: Curve) -> tuple[FloatArray, FloatArray]:
    """Steps and norms above 0: a norm of exactly 0 is a step without a gradient, or not measured."""
    above = curve.y > 0
    return curve.x[above], curve.y[above]


def scaled(case: Case) -> bool:
    """Whether the logged norms are multiplied by a loss scale, as fp16 training logs them at times.

    They are then huge from the first to the last step while the loss, of ordinary size, does well.
    """
    norms, loss = case.grad_norm, case.loss
    if norms is None or loss is None or len(norms) < 8 or len(loss) < 3 or case.surrogate:
        return False
    precision = case.word("precision")
    if case.word("fp16") != "true" and any(word in precision for word in _FULL_PRECISION):
        return False
    middle = float(np.median(norms.y))
    size = max(abs(loss.head), abs(loss.tail))
    always_huge = float(np.quantile(norms.y, 0.02)) >= _SCALED_LEAST and middle >= _SCALED_MEDIAN
    return always_huge and middle >= _SCALED_MEDIAN * size and loss.tail <= loss.head and not loss.broken


def loss_harm(case: Case, step: float, *, points: int = 10) -> float | None:
    """How far the loss ends above its level up to a step, relative to that level.

    0 when it does not, or when its noise could do it; None when there is no loss to tell.
    """
    loss = case.loss
    if loss is None or case.surrogate or len(loss) < 4:
        return None
    before = loss.before(step)[-points:]
    after = loss.after(step)
    if not before.size or after.size < 3:
        return None
    late = after[-max(3, after.size // 5) :]
    level = float(np.median(before))
    rise = float(np.median(late)) - level
    floor = 5.0 * loss.noise * np.sqrt(1.0 / before.size + 1.0 / late.size)
    return rise / abs(level) if level and rise > floor else 0.0
