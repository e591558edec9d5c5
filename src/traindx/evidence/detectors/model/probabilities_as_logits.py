"""Outputs that are probabilities already reach a loss that makes probabilities of them.

Seen for cross-entropy when the last operation is a softmax or all rows of all looks sum to one without a
negative value; for binary cross-entropy with logits when it is a sigmoid, or every output ever looked at
lies within 0 and 1 while the outputs vary.

Silent after log-softmax, which cross-entropy leaves as it is, and where several losses or optimizers train.
Known mistakes: logits that are kept within 0 and 1 on purpose.
"""

from traindx.core.kinds import loss_kind
from traindx.evidence.detector import Case, Detected, Detector, Fact, Finding, Runs, Skipped
from traindx.evidence.sampled import ends, sampled
from traindx.testing.sketch import run

DETECTOR = Detector(title="Probabilities taken for logits", needs=("fact:losses",), family="output_form")
_TAKES_LOGITS = {"softmax_cross_entropy": "Softmax", "sigmoid_cross_entropy": "Sigmoid"}


def detect(case: Case, *, min_samples: int = 4, sum_tolerance: float = 1e-3) -> Detected:
    concerned = [one for one in case.inside.losses if loss_kind(one) in _TAKES_LOGITS]
    if not concerned:
        return Skipped()
    for loss in concerned:
        function = str(loss["function"])
        squash = _TAKES_LOGITS[loss_kind(loss)]
        last = (ends(loss) or [""])[0]
        if last == squash or (
            len(case.inside.losses) == 1 and _looks_so(case, loss, min_samples, sum_tolerance)
        ):
            how = f"come out of {squash.lower()}" if last == squash else "are probabilities in every sample"
            sentence = (
                f"The outputs that reach {function} {how}; it applies {squash.lower()} "
                "once more, to logits that differ by 1 at most."
            )
            return Finding(sentence, "silent_defect", "medium", numbers={"function": function})
    return None


def _looks_so(case: Case, loss: Fact, looks: int, off: float) -> bool:
    """Whether all outputs ever looked at were probabilities."""
    low, high = sampled(case, "output/min", looks), sampled(case, "output/max", looks)
    spread = sampled(case, "output/batch_std", looks)
    if low is None or high is None or low.y.min() < 0 or high.y.max() > 1 + off:
        return False
    if loss_kind(loss) == "softmax_cross_entropy":
        sums = sampled(case, "output/row_sum_error", looks)
        return sums is not None and float(sums.y.max()) < off
    last = (ends(loss) or [""])[0]
    return last == "Clamp" or (spread is not None and float(spread.y[-1]) > 0.2)


def fires() -> Runs:
    told = {"function": "cross_entropy", "reduction": "mean", "after_layers": ["Softmax", "Addmm"]}
    yield run({"loss": [1.6, 1.2]}, facts={"losses": [told]})
    sums = {"output/min": [0.1] * 5, "output/max": [0.8] * 5, "output/row_sum_error": [1e-7] * 5}
    bare = {"function": "cross_entropy", "after_layers": ["CompiledFunction"]}
    yield run({"loss": [1.6, 1.2], **sums}, facts={"losses": [bare]})
    twice = {"function": "binary_cross_entropy_with_logits", "after_layers": ["Sigmoid", "Addmm"]}
    yield run({"loss": [0.7, 0.5]}, facts={"losses": [twice]})


def silent() -> Runs:
    bare = {"function": "cross_entropy", "after_layers": ["Addmm"]}
    logits = {"output/min": [-3.0] * 5, "output/max": [4.0] * 5, "output/row_sum_error": [2.0] * 5}
    yield run({"loss": [1.6, 0.2], **logits}, facts={"losses": [bare]})
    harmless = {"function": "cross_entropy", "after_layers": ["LogSoftmax", "Addmm"]}
    yield run({"loss": [1.6, 0.2]}, facts={"losses": [harmless]})
    other = {"function": "binary_cross_entropy", "after_layers": ["Sigmoid", "Addmm"]}
    yield run({"loss": [0.7, 0.2]}, facts={"losses": [other]})
