"""Clipping leaves so little of the gradient that the weights hardly move.

Compares the gradient norm before and after clipping. Seen when the middle step keeps {kept_share} of its
gradient or less and even the largest step looked at changes the typical layer by less than {max_update_ratio}
of itself. It is trouble when the loss hardly came down, or falls like a ramp to the end. Optimizers that
rescale gradients (Adam) move on whatever is cut, and are then not seen here.

Silent without clipping, and when the steps are of ordinary size.
Known mistakes: a rate so low that steps would be small without clipping too.
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Run, Runs, Skipped
from traindx.evidence.detectors._number_text import percent, strength, text
from traindx.evidence.detectors._updates import ratios
from traindx.testing.sketch import run

DETECTOR = Detector(title="Clipping stops the weights", needs=("update_ratio/*",), family="clipping_starves")


def detect(
    case: Case,
    grad_norm: Curve,
    grad_norm_clipped: Curve,
    *,
    kept_share: float = 0.05,
    max_update_ratio: float = 5e-4,
    min_unclipped_ratio: float = 5e-3,
    curve_bend: float = 0.3,
    min_points: int = 8,
) -> Detected:
    _, values = ratios(case)
    if not values.size:
        return Skipped("samples of what a step changes")
    full, cut = float(np.median(grad_norm.y)), float(np.median(grad_norm_clipped.y))
    highest = float(values.max())
    unclipped = highest * full / cut if cut > 0 else 0.0
    if full <= 0 or cut > kept_share * full or highest > max_update_ratio or unclipped < min_unclipped_ratio:
        return None
    slow = case.harm.suffers or case.harm.slow(bend=curve_bend)
    return Finding(
        text=f"Clipping at {text(cut)} leaves {percent(cut / full)} of a typical gradient ({text(full)}): "
        f"the largest step seen changes the typical layer by {text(highest)} of its size.",
        symptom="slow_convergence" if slow else None,
        severity="medium" if slow else "low",
        strength=strength(full / cut, 1 / kept_share, 1e3),
        numbers={"clip": cut, "grad_norm": full, "clip_new": 2 * full, "update_ratio": highest},
    )


def _clipped(before: float, after: float, ratio: float) -> Run:
    from traindx.evidence.detectors._layers import model

    series = {f"update_ratio/{name}": [ratio] * 5 for name in (0, 2, 4)}
    norms = {"loss": [1.6] * 40, "grad_norm": [before] * 40, "grad_norm_clipped": [after] * 40}
    return run({**norms, **series}, facts=model([[32, 8], [32, 32], [4, 32]]))


def fires() -> Runs:
    yield _clipped(1.0, 0.001, 1e-5)


def silent() -> Runs:
    yield _clipped(1.0, 0.001, 0.005)
    yield _clipped(1.0, 0.7, 1e-6)
    yield _clipped(1.0, 0.03, 1e-7)
