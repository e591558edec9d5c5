"""Weights that do not move."""

from traindx.evidence.detector import Case, Cases, Detected, Detector, Finding, Skipped
from traindx.evidence.detectors._frozen import standing
from traindx.evidence.detectors._number_text import where
from traindx.testing.sketch import decay, noisy, run


@Detector(
    "Weights do not change",
    needs=("loss", "val/loss"),
    family="validation_frozen",
    explains=("accuracy_at_majority",),
    guards=("surrogate",),
)
def weights_stand_still(
    case: Case, *, min_points: int = 5, min_digits: int = 4, loss_change: float = 0.02, z_score: float = 4.0
) -> Detected:
    """The validation loss is the same to the last digit from the first evaluation on.

    A validation loss that is the same to the last digit means that the weights do not change; the training
    loss then still jitters from batch to batch, without going anywhere. That tells a run whose weights never
    move (nothing reaches the optimizer, a rate of zero) from one that moves and learns nothing. Seen when
    all evaluations, {min_points} or more, are identical, logged with {min_digits} significant digits.

    Silent when the training loss changes level meanwhile (see validation_frozen), when it moved at first
    (see weights_stop), when the log rounds coarsely, and for RL and GAN training. Known mistakes: outputs
    that are constant whatever the weights (dead units) give the same picture.
    """
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


@Detector(
    "Weights stop changing", needs=("loss", "val/loss"), family="validation_frozen", guards=("surrogate",)
)
def weights_stop(
    case: Case, *, min_points: int = 5, min_digits: int = 4, loss_change: float = 0.02, z_score: float = 4.0
) -> Detected:
    """The validation loss moved at first and then repeats to the last digit.

    The weights changed, and stopped changing: a learning rate that has run down to nothing does that, or an
    optimizer step that is skipped from some moment on. Training then only jitters from batch to batch. Seen
    when the last {min_points} evaluations or more are identical, logged with {min_digits} significant
    digits, and earlier ones are not.

    Silent when the training loss changes level meanwhile (see validation_frozen), when nothing ever moved
    (see weights_stand_still), when the log rounds coarsely, and for RL and GAN training. Known mistakes:
    outputs that become constant whatever the weights (dead units) give the same picture.
    """
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


def cases() -> Cases:
    yield from weights_stand_still.fires(
        run({"loss": noisy([2.3] * 20, 0.02), "val/loss": [2.30311] * 20}, axis="epoch")
    )
    yield from weights_stand_still.silent(
        run({"loss": noisy(decay(20, 2.3, 0.05), 0.02), "val/loss": [2.3101] * 20}, axis="epoch"),
        run({"loss": noisy([2.3] * 20, 0.02), "val/loss": noisy([2.3] * 20, 0.001)}, axis="epoch"),
        run({"loss": noisy([2.3] * 20, 0.02), "val/loss": [0.31] * 20}, axis="epoch"),
    )
    stops = noisy([*decay(10, 2.0, 1.1, rate=9), *[1.1] * 30], 0.01)
    yield from weights_stop.fires(
        run({"loss": stops, "val/loss": [*decay(10, 2.0, 1.1), *[1.0836] * 30]}, axis="epoch")
    )
    yield from weights_stop.silent(
        run({"loss": noisy([2.3] * 20, 0.02), "val/loss": [2.30311] * 20}, axis="epoch"),
        run({"loss": noisy(decay(20, 2.3, 0.05), 0.02), "val/loss": noisy(decay(20, 2.3, 0.3), 0.01)}),
    )
    train = noisy(decay(30, 2.3, 0.05), 0.02)
    yield from weights_stop.silent(run({"loss": train, "val/loss": [2.0, 1.7, *[1.4101] * 28]}, axis="epoch"))
