"""One class holds most of the targets.

Seen when the largest class has nine tenths of the targets looked at (of two classes), or is
{times_the_others} times as frequent as the mean of the others (of more); weakly when it is more than
{times_the_rarest} times as frequent as the rarest. A circumstance: many such data are learned well.

Silent for words and other targets of more than {max_classes} kinds, under {min_targets} targets, and for
masks of images, where the background rules by nature. Known mistakes: the few looks may have met an unusual
stretch.
"""

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import percent, strength, times
from traindx.testing.sketch import run

DETECTOR = Detector(title="Classes of unequal size", needs=("fact:classes",), family="class_shares")


def detect(
    case: Case,
    *,
    largest_share: float = 0.9,
    times_the_others: float = 20.0,
    times_the_rarest: float = 10.0,
    max_classes: int = 100,
    min_targets: int = 100,
) -> Detected:
    shares = case.task.class_shares
    counted = sum(value for value in case.inside.fact("classes").values() if isinstance(value, int))
    if counted < min_targets or not 2 <= len(shares) <= max_classes:
        return Skipped()
    largest = max(shares.values())
    others = (1 - largest) / (len(shares) - 1)
    ratio = largest / min(shares.values())
    if largest < largest_share and (len(shares) == 2 or largest < times_the_others * others):
        if ratio <= times_the_rarest:
            return None
        return Finding(
            f"The largest class, {percent(largest)} of the targets, is {times(ratio)} as frequent as "
            "the rarest.",
            strength=0.2,
            numbers={"largest_class": largest, "classes": len(shares), "class_ratio": ratio},
        )
    return Finding(
        f"One class holds {percent(largest)} of the targets, the {len(shares) - 1} other"
        f"{'s' if len(shares) > 2 else ''} {percent(1 - largest)}.",
        strength=strength(1 / (1 - largest), 1 / (1 - largest_share) / 2, 50),
        numbers={"largest_class": largest, "classes": len(shares)},
    )


def fires() -> Runs:
    yield run({}, facts={"classes": {"0": 960, "1": 40}})
    yield run({}, facts={"classes": {"0": 600, "1": 350, "2": 50}})


def silent() -> Runs:
    yield run({}, facts={"classes": {"0": 600, "1": 400}})
    yield run({}, facts={"classes": {str(k): 100 for k in range(10)}})
    yield run({}, facts={"classes": {"0": 20, "1": 1}})
