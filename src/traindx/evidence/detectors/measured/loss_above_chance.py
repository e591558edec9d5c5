"""The loss of a model on its data is far above that of guessing.

An untrained classifier guesses evenly and gives ln K; a trained one gives less. Seen when the mean loss
over the batches is {chance_factor} times ln K or more: the outputs are confident and wrong, as badly scaled
weights or inputs, shifted labels or a wrong loss make them. Not checked where the loss is no cross-entropy
of classes.
"""

from traindx.evidence.detector import Detected, Detector, Finding, Run, Runs, Skipped, number
from traindx.testing.sketch import run as sketched

DETECTOR = Detector(title="Loss above chance", needs=("fact:loss_check",), family="start")


def detect(run: Run, *, chance_factor: float = 1.6) -> Detected:
    fact = run.facts["loss_check"]
    loss, chance = number(fact, "loss"), number(fact, "chance")
    if loss is None or not chance:
        return Skipped("a cross-entropy of classes")
    if loss < chance_factor * chance:
        return None
    return Finding(
        text=f"The loss is {loss:.4g}, {loss / chance:.3g} times that of guessing among "
        f"{fact['classes']} classes ({chance:.3g}).",
        symptom="not_learning",
        severity="medium",
        numbers={"loss": loss, "chance": chance},
    )


def _of(loss: float) -> Run:
    return sketched({}, facts={"loss_check": {"loss": loss, "chance": 2.3, "classes": 10}})


def fires() -> Runs:
    yield _of(9.0)


def silent() -> Runs:
    yield _of(2.4)
    yield _of(0.3)
