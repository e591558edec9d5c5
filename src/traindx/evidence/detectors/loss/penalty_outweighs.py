"""What is added to the loss function is several times larger than the loss function itself.

Seen when backward is called on more than {total_to_loss} times what the only loss function gave, in the last
third of the looks: a penalty on the weights, a KL term, a second objective. A sign only, since the second
term may be the aim.

Silent for several loss functions and optimizers, and where backward gets a share of the loss.
Known mistakes: an objective of which most is written by hand.
"""

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import strength, times
from traindx.evidence.sampled import late, only_loss, sampled
from traindx.testing.sketch import run

DETECTOR = Detector(
    title="Added terms outweigh the loss", needs=("output/*", "fact:losses"), family="penalty"
)


def detect(
    case: Case, *, total_to_loss: float = 4.0, full_strength_at: float = 10.0, min_samples: int = 3
) -> Detected:
    loss, curve = only_loss(case), sampled(case, "output/backward_ratio", min_samples)
    if loss is None or curve is None or loss.get("reduction") == "none":
        return Skipped()
    level = late(curve)
    # A whole multiple that never moves is a scale, not a sum.
    if level < total_to_loss or float(curve.y.max() - curve.y.min()) < 0.01 * level:
        return None
    return Finding(
        f"Backward is called on {times(level)} what {loss['function']} gives: the rest is added to it.",
        step=float(curve.x[-1]),
        strength=strength(level, total_to_loss, full_strength_at),
        numbers={"ratio": level},
    )


def fires() -> Runs:
    loss = {"losses": [{"function": "cross_entropy", "reduction": "mean"}]}
    yield run({"output/backward_ratio": [14.0, 12.0, 9.0, 8.0]}, facts=loss)


def silent() -> Runs:
    loss = {"losses": [{"function": "cross_entropy", "reduction": "mean"}]}
    yield run({"output/backward_ratio": [1.2, 1.1, 1.3, 1.4]}, facts=loss)
    yield run({"output/backward_ratio": [100.0] * 4}, facts=loss)
