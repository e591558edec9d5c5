"""The loss jumps up for a moment, far outside its own noise.

A spike is a point or short stretch far above a robust band of its neighbours, and far beyond the tail of the
curve's ordinary deviations (skewed batch noise is not a spike). Gives their number, the largest, and whether
each came back. Low when few and recovered: large trainings have them. Medium when one is {large_ratio} times
its level and {large_share_of_start} of the first loss, or did not come back; of any size where the gradient
norm jumps with it and it is {large_share_of_start} of the first loss: clipping is missing. Low where a
recording shows that steps take another time from the largest on, or a logged stage of a curriculum rises: the
task changed.

Silent for ordinary noise, in the steep start, for reinforcement learning and GANs, and under {min_points}
points.
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Severity
from traindx.evidence.detectors._number_text import where
from traindx.evidence.detectors._pace import work_changes
from traindx.evidence.detectors._rise import objective_changes
from traindx.evidence.detectors._spiking import felt, lasts, loss_jumps, unclipped
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(title="Loss spikes", family="spikes", guards=("surrogate",))


def detect(
    case: Case,
    loss: Curve,
    *,
    spike_ratio: float = 1.5,
    large_ratio: float = 10.0,
    large_share_of_start: float = 0.25,
    min_points: int = 30,
) -> Detected:
    jumps = loss_jumps(loss, spike_ratio)
    if not jumps:
        return None
    top = max(jumps, key=lambda jump: jump.ratio)
    staged = objective_changes(case)
    lasting = [jump for jump in jumps if lasts(loss, jump) and not staged]
    severity: Severity = (
        "medium"
        if (
            top.ratio >= large_ratio
            and felt(loss, [top], large_share_of_start)
            and not (staged or work_changes(case, top.step))
        )
        or lasting
        or (unclipped(case, loss, [top], large_share_of_start) and not staged)
        else "low"
    )
    count = "1 spike" if len(jumps) == 1 else f"{len(jumps)} spikes"
    back = f"{len(lasting)} not recovered" if lasting else "all recovered" if len(jumps) > 1 else "recovered"
    after = ~loss.finite[loss.series.steps > max(jump.step for jump in jumps)]
    if after[:3].any():
        back = "NaN or Inf follows"
    text = (
        f"{count} of the loss; the largest, at {where(loss, top.step)}, is {top.ratio:.3g} times the level "
        f"around it ({back})."
    )
    numbers = {"spikes": len(jumps), "spike_step": top.step, "spike_ratio": top.ratio}
    steps = tuple(jump.step for jump in jumps)
    return Finding(text, "loss_spike", severity, min(steps), numbers=numbers, marks=steps)


def fires() -> Runs:
    curve = noisy(decay(300, 3.0, 1.0), 0.03)
    curve[200] *= 6
    yield run({"loss": curve})


def silent() -> Runs:
    yield run({"loss": noisy(decay(300, 3.0, 1.0), 0.3)})
    skewed = decay(300, 3.0, 1.0) * np.random.default_rng(1).gamma(2.0, 0.5, 300)
    yield run({"loss": skewed})
