"""Outputs and what they are compared with shrank together: a self-supervised training collapses.

Seen for a loss between two outputs of the model when both lost their spread over the batch: less than a
twentieth of what they began with is left, or a tenth where it is known that the model made both sides.

Silent where targets come from the data, whatever outputs do (`outputs_constant` looks at those), and in the
first looks. Known mistakes: two nets that learn to agree on something nearly constant.
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import text
from traindx.evidence.sampled import late, odd_objective, only_loss, sampled, usual
from traindx.testing.sketch import run

DETECTOR = Detector(title="Outputs collapse together", needs=("output/*",), family="output_spread")


def detect(
    case: Case,
    *,
    shrunk_share: float = 0.05,
    spread_to_learned: float = 0.1,
    min_samples: int = 4,
    min_steps: int = 30,
) -> Detected:
    spread = sampled(case, "output/batch_std", min_samples)
    if spread is None or spread.x[-1] < min_steps or odd_objective(case):
        return Skipped(f"at least {min_samples} samples of outputs, the last after {min_steps} steps")
    constant = usual(case, "input/constant_share")
    if constant is not None and constant > 0.999:
        return Skipped()
    level = late(spread)
    if not (
        _moves_with_targets(case, spread, shrunk_share)
        or _shrinks_to_learned(case, spread, spread_to_learned)
    ):
        return None
    sentence = (
        f"Outputs shrank together: their spread over a batch fell from {text(float(spread.y.max()))} to "
        f"{text(level)}, and that of what they are compared with as well."
    )
    return Finding(sentence, "silent_defect", "high", float(spread.x[-1]), numbers={"output_spread": level})


def _moves_with_targets(case: Case, spread: Curve, shrunk: float) -> bool:
    """Whether outputs and targets lost their spread together: targets made by the model."""
    targets = sampled(case, "target/std", 4)
    if targets is None or targets.y.max() <= 0:
        return False
    ratio = np.interp(targets.x, spread.x, spread.y) / np.maximum(targets.y, 1e-300)
    together = float(ratio.max() / max(ratio.min(), 1e-300)) < 3
    return together and late(spread) < shrunk * spread.y.max() and late(targets) < shrunk * targets.y.max()


def _shrinks_to_learned(case: Case, spread: Curve, learned: float) -> bool:
    """Whether the only loss is between two outputs of the model, and samples come ever closer together."""
    loss = only_loss(case)
    if loss is None or loss.get("target_learned") is not True or case.loss is None:
        return False
    size, last = sampled(case, "output/std", 4), float(np.median(spread.y[-3:]))
    relative = size is None or last / max(float(size.y[-1]), 1e-300) < 0.5 * spread.y[0] / max(
        size.y[0], 1e-300
    )
    return bool(relative and last < learned * spread.y.max() and case.loss.tail < 0.1 * case.loss.head)


def fires() -> Runs:
    x = [1, 2, 4, 8, 16, 32, 64]
    less = [0.3, 0.2, 0.1, 0.05, 0.01, 0.005, 0.002]
    yield run({"output/batch_std": (x, less), "target/std": (x, less), "output/std": (x, less)})


def silent() -> Runs:
    x = [1, 2, 4, 8, 16, 32, 64]
    alive = {"output/batch_std": (x, [0.2, 0.3, 0.5, 0.8, 1, 1, 2]), "output/std": (x, [0.5] * 7)}
    yield run({**alive, "target/distinct": (x, [5] * 7)})
    head = {"output/batch_std": (x, [0, 0, 0.1, 0.2, 0.3, 0.5, 0.9]), "output/std": (x, [0.5] * 7)}
    yield run({**head, "target/std": (x, [1.0] * 7)})
    alike = {"output/batch_std": (x, [1e-5] * 7), "output/std": (x, [0.5] * 7)}
    yield run({**alike, "target/std": (x, [1.0] * 7)})
