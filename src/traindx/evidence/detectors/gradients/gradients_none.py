"""No layer gets a gradient: all are exactly zero.

Seen when the gradients of all layers that the optimizer holds are exactly 0 in every look but the first.
Then the loss does not depend on the weights: a softmax over a single output, targets that are all masked, a
last layer that is dead, gradients below the range of half precision, or zeroed before the step.

Silent when any layer has one.
Known mistakes: a loss that is exactly 0 because all is learned.
"""

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Run, Runs, Skipped
from traindx.evidence.detectors._layers import chain, settled
from traindx.testing.sketch import run

DETECTOR = Detector(
    title="No gradients at all", needs=("fact:models", "grad_norm/*"), family="layer_gradients"
)


def detect(case: Case, loss: Curve | None = None, *, min_samples: int = 3) -> Detected:
    curves = chain(case, "grad_norm", looks=min_samples)
    if not curves:
        return Skipped(f"{min_samples} samples of the gradients of a layer")
    if any(settled(curve).any() for curve in curves.values()):
        return None
    if loss is not None and len(loss) and loss.tail == 0:
        return Skipped("a loss that is not 0")
    first = next(iter(curves.values()))
    sentence = (
        f"The gradients of all {len(curves)} layers are exactly 0 in {len(first)} looks: the loss does "
        "not depend on the weights."
    )
    numbers = {"layers": len(curves)}
    return Finding(sentence, "not_learning", "high", float(first.x[0]), series=first.name, numbers=numbers)


def _norms(late: float, loss: float = 1.6) -> Run:
    from traindx.evidence.detectors._layers import model

    series = {"grad_norm/0": [0.0] * 6, "grad_norm/2": [0.0] * 6, "grad_norm/4": [late] * 6}
    return run({"loss": [loss] * 30, **series}, facts=model([[32, 8], [32, 32], [4, 32]]))


def fires() -> Runs:
    yield _norms(0.0)


def silent() -> Runs:
    yield _norms(0.3)
    yield _norms(0.0, loss=0.0)
