"""The loss spikes again and again.

As loss_spikes, but at least {min_spikes} times. Medium when they are large, beside their level and beside the
first loss, when some did not come back, or when the gradient norm jumps with them;
low otherwise. A loss with a margin is zero for most batches.

Silent for ordinary noise, for reinforcement learning and GANs, and under {min_points} points.
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Severity
from traindx.evidence.detectors._spiking import felt, lasts, loss_jumps, unclipped
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(
    title="Loss spikes again and again", family="spikes", explains=("loss_spikes",), guards=("surrogate",)
)


def detect(
    case: Case,
    loss: Curve,
    *,
    spike_ratio: float = 1.5,
    min_spikes: int = 4,
    large_ratio: float = 3.0,
    large_share_of_start: float = 0.1,
    min_points: int = 30,
) -> Detected:
    jumps = loss_jumps(loss, spike_ratio)
    if len(jumps) < min_spikes:
        return None
    sizes = np.array([jump.ratio for jump in jumps])
    typical = float(np.median(sizes))
    lasting = sum(lasts(loss, jump) for jump in jumps)
    large = typical >= large_ratio and felt(loss, jumps, large_share_of_start)
    grave = large or lasting or unclipped(case, loss, jumps, large_share_of_start)
    severity: Severity = "medium" if grave else "low"
    gaps = np.diff([jump.step for jump in jumps])
    every = f", about every {np.median(gaps):,.4g} {loss.axis}s" if gaps.size else ""
    text = (
        f"{len(jumps)} spikes of the loss{every}; typically {typical:.3g} times their level, at most "
        f"{sizes.max():.3g} times ({lasting} not recovered)."
    )
    return Finding(
        text, "loss_spike", severity, jumps[0].step, jumps[-1].step, loss.name,
        numbers={"spikes": len(jumps), "spike_step": jumps[0].step, "spike_ratio": typical},
        marks=tuple(jump.step for jump in jumps[:200]),
    )  # fmt: skip


def fires() -> Runs:
    curve = noisy(decay(400, 3.0, 1.0), 0.03)
    curve[[90, 150, 210, 270, 330]] *= 6
    yield run({"loss": curve})


def silent() -> Runs:
    yield run({"loss": noisy(decay(300, 3.0, 1.0), 0.3)})
    curve = noisy(decay(300, 3.0, 1.0), 0.03)
    curve[200] *= 6
    yield run({"loss": curve})
