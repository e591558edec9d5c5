"""The validation loss is the same to the last digit from the first evaluation on.

A validation loss that is the same to the last digit means that the weights do not change; the training
loss then still jitters from batch to batch, without going anywhere. That tells a run whose weights never
move (nothing reaches the optimizer, a rate of zero) from one that moves and learns nothing. Seen when all
evaluations, {min_points} or more, are identical, logged with {min_digits} significant digits.

Silent when the training loss changes level meanwhile (see validation_frozen), when it moved at first (see
weights_stop), when the log rounds coarsely, and for RL and GAN training.
Known mistakes: outputs that are constant whatever the weights (dead units) give the same picture.
"""

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._frozen import standing
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(
    title="Weights do not change",
    needs=("loss", "val/loss"),
    family="validation_frozen",
    explains=("accuracy_at_majority",),
    guards=("surrogate",),
)


def detect(
    case: Case, *, min_points: int = 5, min_digits: int = 4, loss_change: float = 0.02, z_score: float = 4.0
) -> Detected:
    answer = standing(case, points=min_points, digits=min_digits, change=loss_change, z=z_score)
    if answer is None or isinstance(answer, Skipped):
        return answer
    val, first, repeats = answer
    if first > 0:
        return None
    sentence = (
        f"The validation loss is {float(val.y[-1]):.8g} to the last digit in all {repeats} evaluations, and "
        "the training loss goes nowhere: the weights do not change."
    )
    return Finding(
        sentence, step=float(val.x[0]), end=float(val.x[-1]), series=val.name, numbers={"repeats": repeats}
    )


def fires() -> Runs:
    yield run({"loss": noisy([2.3] * 20, 0.02), "val/loss": [2.30311] * 20}, axis="epoch")


def silent() -> Runs:
    yield run({"loss": noisy(decay(20, 2.3, 0.05), 0.02), "val/loss": [2.3101] * 20}, axis="epoch")
    yield run({"loss": noisy([2.3] * 20, 0.02), "val/loss": noisy([2.3] * 20, 0.001)}, axis="epoch")
    yield run({"loss": noisy([2.3] * 20, 0.02), "val/loss": [0.31] * 20}, axis="epoch")
