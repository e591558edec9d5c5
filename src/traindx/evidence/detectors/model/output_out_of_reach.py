"""The last activation keeps outputs in a range that the targets leave.

Seen for regression losses when the output comes out of sigmoid, tanh, softmax or ReLU and a good part of the
targets lies outside of what that can give: beyond the range by more than a fifth of their own spread, in most
looks. Also seen when a softmax runs over a single output, which is 1 whatever the input.

Silent where only extremes lie outside, and for targets within the range.
Known mistakes: targets that are cut afterwards.
"""

from traindx.core.kinds import REGRESSION, loss_kind
from traindx.evidence.detector import Case, Detected, Detector, Fact, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import text
from traindx.evidence.sampled import SQUASHING, ends, late, sampled, usual
from traindx.testing.sketch import run

DETECTOR = Detector(title="Targets out of the output's reach", needs=("fact:losses",), family="output_range")


def detect(case: Case, *, margin_in_std: float = 0.2, min_samples: int = 2) -> Detected:
    concerned = [one for one in case.inside.losses if ends(one)]
    if not concerned or len(case.inside.losses) > 1:
        return Skipped()
    loss = concerned[0]
    if _single(case, loss):
        sentence = "A softmax runs over a single output: it is 1 whatever the input."
        return Finding(sentence, "silent_defect", "high")
    if loss_kind(loss) not in REGRESSION:
        return None
    limits = SQUASHING.get(ends(loss)[0])
    if limits is None:
        return None
    low, high = sampled(case, "target/min", min_samples), sampled(case, "target/max", min_samples)
    mean, std = usual(case, "target/mean"), usual(case, "target/std")
    if low is None or high is None or mean is None or std is None:
        return None
    edge = margin_in_std * std
    over = late(high) > limits[1] + edge and mean + std > limits[1] + edge
    under = late(low) < limits[0] - edge and mean - std < limits[0] - edge
    if not (over or under):
        return None
    name = ends(loss)[0].lower()
    gives = f"at least {text(limits[0])}" if limits[1] == float("inf") else f"{limits[0]:g} to {limits[1]:g}"
    return Finding(
        f"The outputs come out of {name}, which gives {gives}; the targets lie between {text(late(low))} and "
        f"{text(late(high))}, about {text(mean)}.",
        symptom="silent_defect",
        severity="high",
        numbers={"target_min": late(low), "target_max": late(high)},
    )


def _single(case: Case, loss: Fact) -> bool:
    """Whether a softmax has one entry: all its outputs are exactly one."""
    spread, mean = sampled(case, "output/std", 2), usual(case, "output/mean")
    constant = spread is not None and float(spread.y.max()) == 0 and mean == 1
    return "Softmax" in ends(loss)[:1] and constant


def fires() -> Runs:
    squashed = {"function": "mse_loss", "after_layers": ["Sigmoid", "Addmm"]}
    targets = {"target/min": [5.0] * 4, "target/max": [30.0] * 4, "target/mean": [20.0] * 4}
    yield run({"loss": [400.0, 380.0], **targets, "target/std": [5.0] * 4}, facts={"losses": [squashed]})
    one = {"function": "binary_cross_entropy", "after_layers": ["Softmax", "Addmm"]}
    yield run({"output/std": [0.0] * 4, "output/mean": [1.0] * 4}, facts={"losses": [one]})


def silent() -> Runs:
    squashed = {"function": "mse_loss", "after_layers": ["Sigmoid", "Convolution"]}
    pixels = {"target/min": [0.0] * 4, "target/max": [1.0] * 4, "target/mean": [0.3] * 4}
    yield run({"loss": [0.2, 0.1], **pixels, "target/std": [0.3] * 4}, facts={"losses": [squashed]})
    open_ended = {"function": "mse_loss", "after_layers": ["Relu", "Addmm"]}
    counts = {"target/min": [0.0] * 4, "target/max": [90.0] * 4, "target/mean": [9.0] * 4}
    yield run({"loss": [90.0, 9.0], **counts, "target/std": [9.0] * 4}, facts={"losses": [open_ended]})
    plain = {"function": "mse_loss", "after_layers": ["Addmm"]}
    yield run({"loss": [90.0, 9.0], **counts, "target/std": [9.0] * 4}, facts={"losses": [plain]})
