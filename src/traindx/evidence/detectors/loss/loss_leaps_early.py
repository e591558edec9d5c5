"""The loss leaps up in its first steps, far above its first value.

Looks at the first tenth of the run: seen when the loss rises to {leap_factor} times its first value or more
before it comes down. Low; medium from {large_factor} times on: the first updates threw the weights about, and
what follows may never recover from it.

Silent for the small hump of a warm-up, when the first value alone is odd and a score improves all the
same, for reinforcement learning and GANs, and for losses that may be negative.
"""

from traindx.evidence.detector import Curve, Detected, Detector, Finding, Runs, Severity, Skipped
from traindx.evidence.detectors._number_text import text, times, where
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(title="Loss jumps up at the start", family="start_leap", guards=("surrogate",))


def detect(
    loss: Curve, *, leap_factor: float = 3.0, large_factor: float = 10.0, min_points: int = 12
) -> Detected:
    if not loss.y.min() > 0:
        return Skipped("a positive loss that measures progress")
    early = loss.y[: max(4, len(loss) // 10)]
    first, at = float(early[0]), int(early.argmax())
    peak = float(early[at])
    if at == 0 or peak < leap_factor * first or peak - first < 8 * loss.noise:
        return None
    if loss.tail > 0.5 * peak:  # it stays up: loss_diverges tells it
        return None
    severity: Severity = "medium" if peak >= large_factor * first else "low"
    step = float(loss.x[at])
    words = (
        f"The loss jumps from {text(first)} to {text(peak)} by {where(loss, step)}, {times(peak / first)} "
        f"its first value, before it comes down to {text(loss.tail)}."
    )
    return Finding(
        words, "loss_spike", severity, float(loss.x[0]), step, loss.name,
        numbers={"spikes": 1, "spike_step": step, "spike_ratio": peak / first}, marks=(step,),
    )  # fmt: skip


def fires() -> Runs:
    yield run({"loss": [4.7, 22.0, 51.0, 30.0, 20.0, *decay(60, 10.0, 2.0)]})


def silent() -> Runs:
    yield run({"loss": [6.9, 8.2, 7.3, 7.1, 6.9, *decay(60, 6.5, 2.0)]})
    yield run({"loss": noisy(decay(60, 4.0, 0.5), 0.3)})
    yield run({"loss": [1.6, 11.8, 11.6, *[10.4] * 20]})
