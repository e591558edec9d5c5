"""The model gives the same output for every sample of a batch.

Seen when outputs vary over the batch by less than a thousandth of their size in the last third of the looks
while the inputs do vary; or, for a loss between two outputs of the model (self-supervised), when outputs
shrank together to less than a twentieth of the spread they began with, or to a tenth where it is known that
the model made both sides.

Silent in the first looks, where zero-initialised heads give one output for all, for batches under 4, and for
targets that do not vary either. Known mistakes: tasks whose answer is the same for all inputs.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from traindx.case import Case, Curve
from traindx.core import Finding, Run, Skipped
from traindx.detectors._numbers import text
from traindx.detectors._recorded import late, looked, odd_objective, only_loss, usual
from traindx.units import Detector

DETECTOR = Detector(title="One output for all inputs", needs=("output/*",), family="output_spread")


def detect(
    case: Case,
    *,
    share: float = 1e-3,
    shrunk: float = 0.05,
    learned: float = 0.1,
    looks: int = 4,
    steps: int = 30,
) -> Finding | Skipped | None:
    spread = looked(case, "output/batch_std", looks)
    if spread is None or spread.x[-1] < steps or odd_objective(case):
        return Skipped(f"at least {looks} looks at outputs, the last after {steps} steps")
    constant = usual(case, "input/constant_share")
    if constant is not None and constant > 0.999:
        return Skipped()
    size = _size(case)
    level = late(spread)
    if _moves_with_targets(case, spread, shrunk) or _shrinks_to_learned(case, spread, learned):
        return Finding(
            f"Outputs shrank together: their spread over a batch fell from {text(float(spread.y.max()))} to "
            f"{text(level)}, and that of what they are compared with as well.",
            symptom="silent_defect",
            severity="high",
            step=float(spread.x[-1]),
            numbers={"output_spread": level},
        )
    if size <= 0 or level > share * size or not _targets_vary(case):
        return None
    return Finding(
        f"Outputs differ by {text(level)} over a batch at a size of {text(size)}: the same answer for every "
        "input.",
        symptom="silent_defect",
        severity="medium",
        step=float(spread.x[-1]),
        numbers={"output_spread": level},
    )


def _size(case: Case) -> float:
    """How large outputs are, or what they are compared with if that is larger."""
    sizes = [usual(case, name) for name in ("output/std", "output/mean", "output/max", "target/std")]
    return max((abs(size) for size in sizes if size is not None), default=0.0)


def _targets_vary(case: Case) -> bool:
    spread, kinds = usual(case, "target/std"), usual(case, "target/distinct")
    return (spread is not None and spread > 0) or (kinds is not None and kinds > 1)


def _moves_with_targets(case: Case, spread: Curve, shrunk: float) -> bool:
    """Whether outputs and targets lost their spread together: targets made by the model."""
    targets = looked(case, "target/std", 4)
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
    size, last = looked(case, "output/std", 4), float(np.median(spread.y[-3:]))
    relative = size is None or last / max(float(size.y[-1]), 1e-300) < 0.5 * spread.y[0] / max(
        size.y[0], 1e-300
    )
    return bool(relative and last < learned * spread.y.max() and case.loss.tail < 0.1 * case.loss.head)


def fires() -> Iterator[Run]:
    from traindx.sketch import run

    x = [1, 2, 4, 8, 16, 32, 64]
    same = {"output/batch_std": (x, [0.2, 0.1, 1e-3, 1e-6, 0, 0, 0]), "output/std": (x, [0.5] * 7)}
    yield run({**same, "target/distinct": (x, [5] * 7), "input/constant_share": (x, [0.0] * 7)})
    less = [0.3, 0.2, 0.1, 0.05, 0.01, 0.005, 0.002]
    yield run({"output/batch_std": (x, less), "target/std": (x, less), "output/std": (x, less)})


def silent() -> Iterator[Run]:
    from traindx.sketch import run

    x = [1, 2, 4, 8, 16, 32, 64]
    alive = {"output/batch_std": (x, [0.2, 0.3, 0.5, 0.8, 1, 1, 2]), "output/std": (x, [0.5] * 7)}
    yield run({**alive, "target/distinct": (x, [5] * 7)})
    head = {"output/batch_std": (x, [0, 0, 0.1, 0.2, 0.3, 0.5, 0.9]), "output/std": (x, [0.5] * 7)}
    yield run({**head, "target/std": (x, [1.0] * 7)})
    alike = {"output/batch_std": (x, [1e-5] * 7), "output/std": (x, [0.5] * 7)}
    yield run({**alike, "target/std": (x, [0.0] * 7)})
