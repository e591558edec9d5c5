"""Raw outputs reach a loss that expects probabilities or their logarithms.

Seen for `nll_loss` and `kl_div` when outputs above 0 arrive, which no logarithm of a probability is; and for
`binary_cross_entropy` when its input was only cut to 0 and 1, not squashed; for cross-entropies of Keras that
are given outputs of a layer as they are, below 0 or above 1, without `from_logits=True`.

Silent when the last operation is log-softmax or log-sigmoid, and for outputs that a log made.
Known mistakes: NLL of densities, which may exceed one, through torch's `nll_loss`.
"""

from traindx.core.kinds import loss_kind
from traindx.evidence.detector import Case, Detected, Detector, Fact, Finding, Runs, Skipped, word
from traindx.evidence.detectors._number_text import text
from traindx.evidence.sampled import ends, sampled
from traindx.testing.sketch import run

DETECTOR = Detector(title="Logits taken for probabilities", needs=("fact:losses",), family="output_form")
_TAKES_LOGS = frozenset({"log_likelihood", "kl_divergence"})
_TAKES_PROBABILITIES = frozenset({"categorical_cross_entropy", "binary_cross_entropy"})
_LOGS = frozenset({"LogSoftmax", "Log", "LogSigmoid", "Logsumexp", "Log1P"})
_RAW = frozenset({"Addmm", "Mm", "Linear", "Convolution", "Relu"})


def detect(case: Case, *, above_zero: float = 1e-4, min_samples: int = 2) -> Detected:
    concerned = [one for one in case.inside.losses if loss_kind(one) in _TAKES_LOGS]
    cut = [one for one in case.inside.losses if loss_kind(one) in _TAKES_PROBABILITIES]
    for loss in cut:
        done = ends(loss)
        if (
            done[:1] in (["Clamp"], ["ClampMin"], ["ClampMax"], ["Hardtanh"])
            and done[1:2]
            and done[1] in _RAW
        ):
            return _found(loss, "were only cut to the range 0 to 1, not squashed")
        if len(case.inside.losses) == 1 and done[:1] and done[0] in _RAW and _outside(case, min_samples):
            return _found(loss, "come out of a layer as they are, below 0 and above 1")
    highest = sampled(case, "output/max", min_samples)
    for loss in concerned:
        last = (ends(loss) or [""])[0]
        if last in _LOGS or highest is None or len(case.inside.losses) > 1:
            continue
        if float(highest.y.max()) > above_zero and float(highest.y[0]) > above_zero:
            return _found(loss, f"reach {text(float(highest.y.max()))}")
    return None if concerned or cut else Skipped()


def _outside(case: Case, samples: int) -> bool:
    """Whether outputs lie outside of 0 to 1 in every sample."""
    low, high = sampled(case, "output/min", samples), sampled(case, "output/max", samples)
    return low is not None and high is not None and bool((low.y < 0).all() or (high.y > 1).all())


def _found(loss: Fact, what: str) -> Finding:
    function = word(loss, "function")
    takes_logs = loss_kind(loss) in _TAKES_LOGS
    meant = "logarithms of probabilities, at most 0" if takes_logs else "probabilities, 0 to 1"
    sentence = f"{function} expects {meant}; its inputs {what}."
    return Finding(sentence, "silent_defect", "high", numbers={"function": function})


def fires() -> Runs:
    raw = {"function": "nll_loss", "after_layers": ["Addmm"]}
    yield run({"loss": [0.1, -5.0], "output/max": [0.4, 2.0, 30.0]}, facts={"losses": [raw]})
    cut = {"function": "binary_cross_entropy", "after_layers": ["Clamp", "Addmm"]}
    yield run({"loss": [5.0, 4.0]}, facts={"losses": [cut]})
    bare = {"kind": "categorical_cross_entropy", "after_layers": ["Addmm"]}
    beyond = {"output/min": [-2.0] * 3, "output/max": [3.0] * 3}
    yield run({"loss": [5.0, 4.0], **beyond}, facts={"losses": [bare]})


def silent() -> Runs:
    logs = {"function": "nll_loss", "after_layers": ["LogSoftmax", "Addmm"]}
    yield run({"loss": [1.6, 0.2], "output/max": [-0.4, -0.1, 0.0]}, facts={"losses": [logs]})
    squashed = {"function": "binary_cross_entropy", "after_layers": ["Clamp", "Sigmoid", "Addmm"]}
    yield run({"loss": [0.7, 0.2]}, facts={"losses": [squashed]})
    whole = {"kind": "categorical_cross_entropy", "after_layers": ["Softmax", "Addmm"]}
    within = {"output/min": [0.0] * 3, "output/max": [1.0] * 3}
    yield run({"loss": [0.7, 0.2], **within}, facts={"losses": [whole]})
    yield run(
        {"loss": [1.6, 0.2]}, facts={"losses": [{"function": "cross_entropy", "after_layers": ["Addmm"]}]}
    )
