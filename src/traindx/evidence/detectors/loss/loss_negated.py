"""Backward is called on minus the value of a loss function: the training drives it up.

Seen when what backward got is the loss function's own value with the sign turned, in every look, with one
optimizer and one loss function.

Silent for several optimizers (a critic is driven up on purpose), for likelihoods and rewards written by hand,
which no loss function gives, and for sums with other terms.
Known mistakes: training an adversary alone.
"""

from traindx.core.kinds import BY_CLASS, BY_SIGN, REGRESSION, loss_kind
from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.sampled import only_loss, sampled
from traindx.testing.sketch import run

DETECTOR = Detector(title="Loss with the sign turned", needs=("output/*", "fact:losses"), family="loss_form")
_NEVER_NEGATIVE = REGRESSION | BY_CLASS | BY_SIGN


def detect(case: Case, *, tolerance: float = 0.02, min_samples: int = 2) -> Detected:
    loss, ratio = only_loss(case), sampled(case, "output/backward_ratio", min_samples)
    if loss is None or ratio is None or loss_kind(loss) not in _NEVER_NEGATIVE:
        return Skipped()
    if float(abs(ratio.y + 1).max()) > tolerance:
        return None
    sentence = f"Backward is called on -1 times the value of {loss['function']}: every step makes it larger."
    return Finding(sentence, "silent_defect", "high", float(ratio.x[0]))


def fires() -> Runs:
    yield run({"output/backward_ratio": [-1.0] * 4}, facts={"losses": [{"function": "cross_entropy"}]})


def silent() -> Runs:
    yield run({"output/backward_ratio": [1.0] * 4}, facts={"losses": [{"function": "cross_entropy"}]})
    yield run({"output/backward_ratio": [0.25] * 4}, facts={"losses": [{"function": "mse_loss"}]})
    several = {"losses": [{"function": "mse_loss"}], "optimizers": [{"class": "Adam"}, {"class": "Adam"}]}
    yield run({"output/backward_ratio": [-1.0] * 4}, facts=several)
