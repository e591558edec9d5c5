"""The log holds too few points to tell trouble from noise.

Counts the finite points of the training and the validation curves. With fewer than {min_points} on every
one of them only plain facts (NaN, a learning rate of zero, a loss that explodes) can be judged; the
verdict is then that evidence is thin, never that the run is healthy.

Silent when any of the loss curves, or for reinforcement learning the reward, is long enough.
"""

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs
from traindx.testing.sketch import decay, run

DETECTOR = Detector(title="Run too short to say", needs=(), family="length")
_COUNTED = ("loss", "val/loss", "test/loss", "reward", "accuracy", "val/accuracy")


def detect(case: Case, *, min_points: int = 6) -> Detected:
    curves = [case.loss, case.val_loss, *(case.part_of(name) for name in _COUNTED)]
    longest = max((len(curve.series) for curve in curves if curve is not None), default=0)
    if longest >= min_points:
        return None
    if longest == 0:
        most = max((len(series) for series in case.run.series.values()), default=0)
        text = (
            f"There is no loss and no known metric in {len(case.run.series)} series of up to {most} points."
        )
        return Finding(text, numbers={"points": 0})
    points = "1 point" if longest == 1 else f"{longest} points"
    text = f"Its longest loss or metric curve has {points}; fewer than {min_points} are too few to judge."
    return Finding(text, numbers={"points": longest})


def fires() -> Runs:
    yield run({"loss": [2.0, 1.5, 1.2]})
    yield run({"my_curve": [1.0] * 50})


def silent() -> Runs:
    yield run({"loss": decay(50, 2.0, 0.5)})
    yield run({"val/loss": decay(10, 2.0, 0.5)}, axis="epoch")
