"""The model names the same class for nearly every sample, although the targets hold several.

Seen when the most frequent answer takes {answer_share:%} of the training batches in the last third of the
looks, later than step {min_steps}. Low where the largest class holds {hard_share_from:%} to
{hard_share_to:%} and the loss is under that of the classes' shares: the odds vary and none crosses the half,
as with clicks. Low, too, where no score counts rare classes and the loss is under half of that.

Silent where a score that counts rare classes (AUC, F1, ...) is good, in the first looks, when batches
themselves hold one class only, where the accuracy on validation data leaves {error_left:%} or less of the
errors that one answer makes, and where a sample has many targets (pixels) and the loss is well under that of
the classes' shares: the odds vary, only not across the half. Known mistakes: rare classes that are right so
seldom that a few looks do not show it.
"""

from math import log, prod

from traindx.core.facts import sizes
from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import percent
from traindx.evidence.sampled import late, odd_objective, one_target_each, only_loss, sampled
from traindx.testing.sketch import run

DETECTOR = Detector(
    title="One class for every sample", needs=("output/*", "target/*"), family="output_spread"
)

# Scores that count rare classes, and from where they are good.
_GOOD = {"f1": 0.4, "map": 0.4, "average_precision": 0.4, "ap": 0.4, "mcc": 0.4, "auc": 0.85, "auroc": 0.85}


def detect(
    case: Case,
    *,
    answer_share: float = 0.98,
    max_class_share: float = 0.97,
    min_samples: int = 4,
    min_steps: int = 50,
    hard_share_from: float = 0.6,
    hard_share_to: float = 0.9,
    error_left: float = 0.7,
) -> Detected:
    top, targets = sampled(case, "output/top_share", min_samples), sampled(case, "target/top_share", 2)
    if top is None or targets is None or top.x[-1] < min_steps or odd_objective(case):
        return Skipped(f"at least {min_samples} samples of classes, the last after {min_steps} steps")
    shares = case.task.class_shares
    if len(shares) < 2 or late(targets) > max(max_class_share, max(shares.values()) + 0.05):
        return Skipped()
    if late(top) < answer_share:
        return None
    if not one_target_each(case) and _under_the_shares(case, shares):
        return None
    largest = max(shares.values())
    if _right(case) >= 1 - error_left * (1 - largest):
        return None
    hard = hard_share_from < largest < hard_share_to and _under_the_shares(case, shares, part=0.98)
    finds_rare = _finds_the_rare(case)
    if finds_rare:
        return None
    hard = hard or (finds_rare is None and _under_the_shares(case, shares, part=0.5))
    sentence = (
        f"{percent(late(top))} of the answers are one class; the largest class holds {percent(largest)} of "
        "the targets."
    )
    numbers = {"top_share": late(top), "largest_class": largest}
    return Finding(sentence, "not_learning", "low" if hard else "medium", float(top.x[-1]), numbers=numbers)


def _finds_the_rare(case: Case) -> bool | None:
    """Whether a score that counts rare classes is good; None where there is none."""
    scores = [(case.val(name) or case.curve(name), good) for name, good in _GOOD.items()]
    verdicts = [curve.tail >= good for curve, good in scores if curve is not None and len(curve)]
    return any(verdicts) if verdicts else None


def _right(case: Case) -> float:
    """The accuracy on validation data, at the end."""
    curve = case.val("accuracy")
    return curve.tail / (100.0 if curve.y.max() > 1.5 else 1.0) if curve is not None and len(curve) else 0.0


def _under_the_shares(case: Case, shares: dict[int, float], *, part: float = 0.9) -> bool:
    """Whether the loss of one target is clearly less than always telling the classes' shares would give."""
    loss_fact, loss = only_loss(case), case.loss
    if loss_fact is None or loss is None or not len(loss):
        return False
    per_target = loss.tail
    if loss_fact.get("reduction") == "sum":
        per_target /= prod(sizes(loss_fact.get("target_shape")))
    return per_target < -part * sum(share * log(share) for share in shares.values() if share > 0)


def fires() -> Runs:
    x = [1, 4, 16, 64, 200, 400]
    answers = {"output/top_share": (x, [0.6, 0.9, 1, 1, 1, 1]), "target/top_share": (x, [0.94] * 6)}
    yield run(answers, facts={"classes": {"0": 940, "1": 60}})
    even = {"output/top_share": (x, [0.6, 0.9, 1, 1, 1, 1]), "target/top_share": (x, [0.3] * 6)}
    yield run(even, facts={"classes": {"0": 30, "1": 30, "2": 30}})


def silent() -> Runs:
    x = [1, 4, 16, 64, 200, 400]
    good = {"output/top_share": (x, [1, 1, 0.9, 0.8, 0.8, 0.8]), "target/top_share": (x, [0.8] * 6)}
    yield run(good, facts={"classes": {"0": 80, "1": 20}})
    in_order = {"output/top_share": (x, [1.0] * 6), "target/top_share": (x, [1.0] * 6)}
    yield run(in_order, facts={"classes": {"0": 50, "1": 50}})
    rare = {"output/top_share": (x, [1.0] * 6), "target/top_share": (x, [0.96] * 6)}
    rare["val/accuracy"] = (x, [0.96, 0.96, 0.97, 0.98, 0.98, 0.98])
    yield run(rare, facts={"classes": {"0": 960, "1": 40}})
    pixels = {"output/top_share": (x, [1.0] * 6), "target/top_share": (x, [0.89] * 6)}
    pixels["loss"] = (x, [36e3, 25e3, 17e3, 12e3, 11e3, 11e3])
    summed = {"function": "binary_cross_entropy", "reduction": "sum", "target_shape": "128x400"}
    yield run(pixels, facts={"classes": {"0": 890, "1": 110}, "losses": [summed]})
