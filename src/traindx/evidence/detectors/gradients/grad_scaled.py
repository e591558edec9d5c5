"""The logged gradient norms are multiplied by the loss scale.

Mixed precision multiplies the loss, and with it every gradient, by a large power of two; some loops log
the norm before it is divided out. Seen when the norms lie in the tens of thousands or more from the first
to the last step while the loss is of ordinary size and falls. Then the norms say nothing about explosion.

Silent when training is known to run in bf16 or fp32, and when the norms were ordinary at any time.
Known mistakes: a sum over a large batch may give such norms without any scaler, though its loss is then
large too.
"""

import numpy as np

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._gradients import scaled
from traindx.evidence.detectors._number_text import text
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(
    title="Gradient norms in loss-scaler units",
    needs=("grad_norm", "loss"),
    family="gradient_size",
    explains=("grad_explodes", "grad_norm_grows", "grad_all_clipped"),
)


def detect(case: Case, *, min_points: int = 8) -> Detected:
    norms, loss = case.grad_norm, case.loss
    if norms is None or loss is None or len(norms) < min_points:
        return Skipped(f"at least {min_points} values of the gradient norm, and a loss")
    if not scaled(case):
        return None
    half = "16" in case.word("precision") or case.word("fp16") == "true" or case.curve("loss_scale")
    sentence = (
        f"Gradient norms lie between {text(float(norms.y.min()))} and {text(float(norms.y.max()))} "
        f"throughout while the loss goes from {text(loss.head)} to {text(loss.tail)}: they look multiplied "
        "by the loss scale."
    )
    numbers = {"grad_norm": float(np.median(norms.y)), "grad_peak": float(norms.y.max())}
    return Finding(sentence, series=norms.name, strength=1.0 if half else 0.8, numbers=numbers)


def fires() -> Runs:
    yield run({"grad_norm": noisy(decay(300, 2e6, 1e5), 0.6), "loss": noisy(decay(300, 5.3, 0.1), 0.1)})


def silent() -> Runs:
    good = noisy(decay(300, 5.3, 0.1), 0.1)
    yield run({"grad_norm": noisy([1.0] * 300, 0.5), "loss": good})
    yield run({"grad_norm": np.where(np.arange(300) < 50, 1.0, 1e6), "loss": good})
    yield run({"grad_norm": noisy([1e6] * 300, 0.5), "loss": good}, settings={"precision": "bf16"})
    yield run({"grad_norm": noisy([1e5] * 300, 0.5), "loss": 1e4 * good})
