"""Gradients of a recurrent model come in bursts, nothing cuts them, and the training does not get on.

Backpropagation through time multiplies: a recurrent weight a little too large makes a gradient many times
too large now and then. Seen when the model is recurrent, no clipping was seen, the largest gradient norm is
`factor` times the usual one and one in a hundred `often` times, and the loss does not come down.

Silent for models that learn (bursts may pass), with clipping, and with fewer than `points` norms.
Known mistakes: data that no recurrent model could learn, with targets of long tails.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from traindx.case import Case
from traindx.core import Finding, Run, Skipped
from traindx.detectors._harm import suffers
from traindx.detectors._numbers import strength, text, times
from traindx.units import Detector

DETECTOR = Detector(
    title="Bursts of recurrent gradients", needs=("grad_norm", "fact:models", "loss"), family="gradient_size"
)


def detect(
    case: Case, *, factor: float = 30.0, often: float = 10.0, points: int = 100
) -> Finding | Skipped | None:
    norms = case.grad_norm
    if norms is None or len(norms) < points:
        return Skipped(f"{points} gradient norms")
    if not any(model.get("recurrent") is True for model in case.inside.models):
        return Skipped()
    if case.curve("grad_norm_clipped") is not None or case.number("clip") is not None or norms.broken:
        return None
    usual, high, top = (float(value) for value in np.quantile(norms.y, (0.5, 0.99, 1.0)))
    if usual <= 0 or top < factor * usual or high < often * usual or not suffers(case):
        return None
    peak = float(norms.x[int(norms.y.argmax())])
    return Finding(
        f"The gradient norm of this recurrent model leaps to {text(top)}, {times(top / usual)} its usual "
        f"{text(usual)}; one step in a hundred has {times(high / usual)} or more, none is clipped, and the "
        "loss does not come down.",
        symptom="exploding_gradients",
        severity="medium",
        step=peak,
        series=norms.name,
        strength=strength(top / usual, factor / 2, factor),
        numbers={"grad_norm": usual, "grad_peak": top, "clip_new": 2 * usual},
    )


def _run(recurrent: bool, learns: bool, **more: Any) -> Run:
    from traindx.sketch import decay, noisy, run

    norms = noisy([1.5] * 200, 0.3)
    for at in (2, 10, 60, 120):
        norms[at] = 80.0
    loss = noisy(decay(200, 1.2, 0.1 if learns else 1.2), 0.1)
    return run({"loss": loss, "grad_norm": norms}, facts={"models": [{"recurrent": recurrent}]}, **more)


def fires() -> Iterator[Run]:
    yield _run(True, False)


def silent() -> Iterator[Run]:
    yield _run(False, False)
    yield _run(True, True)
    yield _run(True, False, settings={"clip": 1.0})
