"""One rank is slower than the others, which wait for it.

Ranks leave a step together, so the time of a step says nothing; what a rank does before gradients are
exchanged does. Compares the seconds each spends on its own, waiting for data and in the forward pass. Seen
when one needs longer than the median of the others by {late_share} of a step at least, and by more than
{min_seconds} seconds.

Silent when ranks take turns in being late, and when all are slow alike.
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Run, Runs, Skipped
from traindx.evidence.detectors._number_text import percent, strength, text
from traindx.testing.sketch import noisy, run

DETECTOR = Detector(title="One rank is slow", needs=("forward_s",), family="rank_pace")


def detect(
    case: Case,
    step_s: Curve,
    *,
    late_share: float = 0.25,
    full_strength_at: float = 0.6,
    min_seconds: float = 0.005,
    min_points: int = 10,
) -> Detected:
    forward, wait = case.inside.ranks("forward_s"), case.inside.ranks("data_wait_s")
    if len(forward) < 2:
        return Skipped("the times of at least two ranks")
    if any(len(curve) < min_points for curve in forward.values()):
        return Skipped(f"at least {min_points} values of the time per step of every rank")
    own = {
        rank: float(np.median(curve.y[1:])) + (float(np.median(wait[rank].y[1:])) if rank in wait else 0.0)
        for rank, curve in forward.items()
    }
    slowest = max(own, key=lambda rank: own[rank])
    others = float(np.median([seconds for rank, seconds in own.items() if rank != slowest]))
    late, whole = own[slowest] - others, float(np.median(step_s.y[1:]))
    if whole <= 0 or late < min_seconds or late < late_share * whole:
        return None
    return Finding(
        f"Rank {slowest} needs {text(own[slowest])} s for data and forward pass, others {text(others)} s: "
        f"they wait for it {percent(late / whole)} of each step.",
        "slow_training",
        "medium",
        float(step_s.x[0]),
        series="forward_s",
        strength=strength(late / whole, late_share, full_strength_at),
        numbers={"slow_rank": slowest, "wait_share": round(100 * late / whole)},
    )


def _run(one: float, other: float) -> Run:
    times = {"forward_s": noisy([one] * 60, 0.05), "forward_s/rank1": noisy([other] * 60, 0.05, seed=1)}
    return run({**times, "step_s": noisy([0.1] * 60, 0.05)}, facts={"world_size": 2})


def fires() -> Runs:
    yield _run(0.02, 0.07)


def silent() -> Runs:
    yield _run(0.05, 0.055)
    yield _run(0.0002, 0.0007)
