"""Half precision rounds most updates away.

Weights in bf16 or fp16 have two to three digits: an update below 0.2 to 0.4 % (bf16) of a weight leaves it as
it was. Seen when, in the middle of the looks, {lost_share} of the weights that have a gradient do not change
in a step, or three quarters of them ({lost_share_at_end}) in the last looks under a rate that was not
lowered. Training then stands still although gradients and rate are fine.

Silent about weights in full precision (autocast keeps them so), and about rates of 0.
Known mistakes: optimizers that keep a copy in full precision aside lose nothing for good; the weights then
move every few steps.
"""

import numpy as np

from traindx.evidence.detector import Case, Detected, Detector, Finding, Place, Run, Runs, Skipped
from traindx.evidence.detectors._number_text import percent, strength
from traindx.evidence.sampled import late
from traindx.testing.sketch import run

DETECTOR = Detector(title="Updates rounded away", needs=("update_lost_share/*",), family="updates_lost")


def detect(
    case: Case, *, lost_share: float = 0.8, lost_share_at_end: float = 0.75, min_samples: int = 2
) -> Detected:
    curves = {n: c for n, c in case.inside.layers("update_lost_share").items() if len(c) >= min_samples}
    if not curves or not case.lr_value:
        return Skipped(f"{min_samples} samples of weights in half precision under a rate that is not 0")
    lost = {name: float(np.median(curve.y)) for name, curve in curves.items()}
    typical = float(np.median(list(lost.values())))
    if typical < lost_share and not _lowered(case):
        at_end = {name: late(curve) for name, curve in curves.items() if len(curve) >= 3 * min_samples}
        typical_end = float(np.median(list(at_end.values()))) if at_end else 0.0
        lost, typical, lost_share = (
            (at_end, typical_end, lost_share_at_end)
            if typical_end >= lost_share_at_end
            else (lost, typical, lost_share)
        )
    if typical < lost_share:
        return None
    worst = max(lost, key=lambda name: lost[name])
    return Finding(
        text=f"{percent(typical)} of the weights that have a gradient do not change in a step: updates "
        f"are below the resolution of half precision (most of all in `{worst}`: {percent(lost[worst])}).",
        symptom="silent_defect",
        severity="high" if case.harm.suffers else "medium",
        step=float(curves[worst].x[0]),
        series=curves[worst].name,
        strength=strength(typical, 0.5, lost_share),
        numbers={"lost_share": typical},
        places=(Place(layer=worst),),
    )


def _lowered(case: Case) -> bool:
    """Whether the rate fell: small late steps are then wanted."""
    return case.lr is not None and len(case.lr) > 0 and case.lr.tail < 0.7 * float(case.lr.y.max())


def _lost(share: float, lr: float = 1e-5) -> Run:
    series = {f"update_lost_share/{name}": [share] * 5 for name in (0, 2, 4)}
    return run({"loss": [1.6] * 40, **series}, settings={"lr": lr})


def fires() -> Runs:
    yield _lost(0.97)


def silent() -> Runs:
    yield _lost(0.3)
    yield _lost(1.0, lr=0.0)
