"""The validation loss moved at first and then repeats to the last digit.

The weights changed, and stopped changing: a learning rate that has run down to nothing does that, or an
optimizer step that is skipped from some moment on. Training then only jitters from batch to batch. Seen when
the last {min_points} evaluations or more are identical, logged with {min_digits} significant digits, and
earlier ones are not.

Silent when the training loss changes level meanwhile (see validation_frozen), when nothing ever moved (see
weights_stand_still), when the log rounds coarsely, and for RL and GAN training.
Known mistakes: outputs that become constant whatever the weights (dead units) give the same picture.
"""

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._frozen import standing
from traindx.evidence.detectors._number_text import where
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(
    title="Weights stop changing",
    needs=("loss", "val/loss"),
    family="validation_frozen",
    guards=("surrogate",),
)


def detect(
    case: Case, *, min_points: int = 5, min_digits: int = 4, loss_change: float = 0.02, z_score: float = 4.0
) -> Detected:
    answer = standing(case, points=min_points, digits=min_digits, change=loss_change, z=z_score)
    if answer is None or isinstance(answer, Skipped):
        return answer
    val, first, repeats = answer
    if first == 0:
        return None
    onset = float(val.x[first])
    sentence = (
        f"The validation loss is {float(val.y[-1]):.8g} to the last digit in the last {repeats} evaluations, "
        f"from {where(val, onset)} on, and was not before: the weights stopped changing there."
    )
    numbers = {"repeats": repeats}
    return Finding(
        sentence, step=onset, end=float(val.x[-1]), series=val.name, numbers=numbers, marks=(onset,)
    )


def fires() -> Runs:
    stops = noisy([*decay(10, 2.0, 1.1, rate=9), *[1.1] * 30], 0.01)
    yield run({"loss": stops, "val/loss": [*decay(10, 2.0, 1.1), *[1.0836] * 30]}, axis="epoch")


def silent() -> Runs:
    yield run({"loss": noisy([2.3] * 20, 0.02), "val/loss": [2.30311] * 20}, axis="epoch")
    yield run({"loss": noisy(decay(20, 2.3, 0.05), 0.02), "val/loss": noisy(decay(20, 2.3, 0.3), 0.01)})
    train = noisy(decay(30, 2.3, 0.05), 0.02)
    yield run({"loss": train, "val/loss": [2.0, 1.7, *[1.4101] * 28]}, axis="epoch")
