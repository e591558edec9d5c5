"""The loss stands where a model stands that does not look at its input.

That is ln K for K classes or tokens (K from the settings, or a number of classes or a vocabulary that is
met often), or 0.25 for squared errors of 0/1 targets. Seen when the training loss (the validation loss
if there is no other) is flat within one percent of such a level for the whole run, or falls a little and
then stands exactly on one.

Silent for losses that move, for reinforcement learning and GANs. Known mistake: of losses that are flat
for another reason one in ten lies near some ln K by accident; an accuracy of 1/K would confirm it.
"""

import numpy as np

from traindx.evidence.curve import shares
from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.task import Chance, exact_chance
from traindx.evidence.validation import last_level
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(
    title="Loss at chance level",
    needs=("loss|val/loss",),
    family="flat",
    explains=("plateau", "slow_decline", "high_without_gap"),
    guards=("surrogate", "good"),
)


def detect(
    case: Case, *, chance_tolerance: float = 0.01, max_fall: float = 0.02, min_steps: int = 20
) -> Detected:
    curve = case.loss if case.loss is not None and len(case.loss) >= 3 else case.val_loss
    if curve is None or len(curve) < 3:
        return Skipped("at least 3 values of a loss")
    if curve.axis == "step" and curve.x[-1] - curve.x[0] < min_steps:
        return Skipped(f"at least {min_steps} steps: fewer need not show in a loss")
    if curve.course.starts_late:
        return None
    chance = _all_along(case, curve, chance_tolerance, max_fall)
    onset, manner = float(curve.x[0]), "stays"
    if chance is None:
        settled = _settled(case, curve)
        if settled is None:
            return None
        chance, onset = settled
        manner = "comes to rest"
    level = float(np.median(curve.y[-max(3, len(curve) // 2) :]))
    accuracy = _accuracy(case, chance)
    agrees = chance.classes is not None and accuracy is not None and abs(accuracy * chance.classes - 1) < 0.35
    contradicts = chance.classes is not None and accuracy is not None and accuracy * chance.classes > 2.0
    if contradicts and not chance.known:
        return None
    also = f"; accuracy is {accuracy:.3g}" if agrees else ""
    text = f"The loss {manner} at {level:.5g}: {chance.why} ({chance.level:.5g}){also}."
    strength = 1.0 if chance.known or agrees else 0.8
    numbers: dict[str, float | int | str] = {"chance": chance.level, "last_value": level}
    if chance.classes:
        numbers["classes"] = chance.classes
    symptom = "not_learning" if manner == "stays" or level > 0.75 * curve.head or agrees else "plateau"
    return Finding(
        text, symptom, "high" if symptom == "not_learning" else "medium", onset, float(curve.x[-1]),
        curve.name, strength, numbers,
    )  # fmt: skip


def _all_along(case: Case, curve: Curve, tolerance: float, flat: float) -> Chance | None:
    """The chance level the whole curve stays at; three or four points must lie closer."""
    if len(curve) < 6:
        tolerance, flat = tolerance / 2, flat / 4
    levels = curve.coarse.median
    level = float(np.median(levels))
    if not level > 0 or abs(curve.tail - curve.head) > max(flat * level, 4 * curve.noise):
        return None
    if level - levels.min() > flat * level + 3 * curve.noise or curve.noise > 0.05 * level:
        return None
    trend = curve.trend
    if trend.p < 1e-3 and -trend.change > flat * level:
        return None
    return case.task.chance_near(level, tolerance=tolerance)


def _settled(case: Case, curve: Curve) -> tuple[Chance, float] | None:
    """A level of chance on which the second half rests, and since when.

    To four digits; or to one percent where the accuracy says the same.
    """
    return _settled_by_accuracy(case, curve) or _settled_exactly(case, curve)


def _settled_by_accuracy(case: Case, curve: Curve) -> tuple[Chance, float] | None:
    half = curve.y[len(curve) // 2 :]
    level, noise = float(np.median(half)), float(np.std(half[1:] - half[:-1])) / 1.41
    if len(curve) < 12 or not level > 0 or noise > 0.05 * level:
        return None
    chance = case.task.chance_near(level, tolerance=0.01)
    accuracy = _accuracy(case, chance) if chance is not None else None
    if chance is None or chance.classes is None or accuracy is None:
        return None
    if abs(accuracy * chance.classes - 1) > 0.35:
        return None
    thirds = [float(np.median(part)) for part in np.array_split(half, 3)]
    if thirds[0] - thirds[-1] > max(0.01 * level, 2 * noise / np.sqrt(half.size / 3)):
        return None
    off = np.flatnonzero(np.abs(curve.y / level - 1) > max(0.02, 4 * noise / level))
    return chance, float(curve.x[min(int(off[-1]) + 1, len(curve) - 1) if off.size else 0])


def _settled_exactly(case: Case, curve: Curve) -> tuple[Chance, float] | None:
    half = curve.y[len(curve) // 2 :]
    level = float(np.median(half))
    if len(curve) < 20 or not level > 0 or np.ptp(half) > 2e-2 * level:
        return None
    tail = curve.y[-max(5, len(curve) // 5) :]
    if np.ptp(tail) > 2e-3 * level:
        return None
    level = float(np.median(tail))
    chance = case.task.chance_near(level, tolerance=1e-3, known_tolerance=3e-3) or exact_chance(level)
    if chance is None:
        return None
    off = np.flatnonzero(np.abs(curve.y / level - 1) > 0.02)
    return chance, float(curve.x[min(int(off[-1]) + 1, len(curve) - 1) if off.size else 0])


def _accuracy(case: Case, chance: Chance) -> float | None:
    """The last level of the accuracy, as a share."""
    curve = case.curve("accuracy") or case.val("accuracy")
    guessing = 1.0 / chance.classes if chance.classes else None
    values = shares(curve, chance=guessing)
    return last_level(values) if values is not None else None


def fires() -> Runs:
    yield run({"loss": noisy([2.3026] * 60, 0.01)})
    yield run({"val/loss": ([100, 200, 300], [1.611, 1.611, 1.608]), "val/accuracy": [0.195, 0.17, 0.215]})
    yield run({"loss": decay(80, 4.3, 3.91202, rate=15)})
    percent = noisy([0.1] * 25, 0.1)
    yield run({"loss": noisy([6.9078] * 25, 0.0002), "val/accuracy": percent}, axis="epoch")
    yield run({"loss": noisy([6.215] * 40, 0.01)}, settings={"classes": 500})
    thrown = [3400.0, 4e6, 3e11, *noisy([1.61] * 60, 0.01)]
    yield run({"loss": ([4 * n for n in range(63)], thrown), "accuracy": noisy([0.2] * 63, 0.2)})


def silent() -> Runs:
    yield run({"loss": noisy(decay(60, 2.3026, 0.4), 0.02)})
    yield run({"loss": noisy([1.25] * 60, 0.01)})
    yield run({"loss": noisy([0.69] * 60, 0.01), "accuracy": [0.95] * 60})
