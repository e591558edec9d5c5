"""Raw outputs reach a loss that expects probabilities or their logarithms.

Seen for `nll_loss` and `kl_div` when outputs above 0 arrive, which no logarithm of a probability is; and for
`binary_cross_entropy` when its input was only cut to 0 and 1, not squashed.

Silent when the last operation is log-softmax or log-sigmoid, and for outputs that a log made.
Known mistakes: NLL of densities, which may exceed one, through torch's `nll_loss`.
"""

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped, word
from traindx.evidence.detectors._number_text import text
from traindx.evidence.sampled import ends, sampled
from traindx.testing.sketch import run

DETECTOR = Detector(title="Logits taken for probabilities", needs=("fact:losses",), family="output_form")
_TAKES_LOGS = frozenset({"nll_loss", "kl_div"})
_LOGS = frozenset({"LogSoftmax", "Log", "LogSigmoid", "Logsumexp", "Log1P"})
_RAW = frozenset({"Addmm", "Mm", "Linear", "Convolution", "Relu"})


def detect(case: Case, *, above_zero: float = 1e-4, min_samples: int = 2) -> Detected:
    concerned = [one for one in case.inside.losses if word(one, "function") in _TAKES_LOGS]
    cut = [one for one in case.inside.losses if one.get("function") == "binary_cross_entropy"]
    for loss in cut:
        done = ends(loss)
        if (
            done[:1] in (["Clamp"], ["ClampMin"], ["ClampMax"], ["Hardtanh"])
            and done[1:2]
            and done[1] in _RAW
        ):
            return _found("binary_cross_entropy", "were only cut to the range 0 to 1, not squashed")
    highest = sampled(case, "output/max", min_samples)
    for loss in concerned:
        last = (ends(loss) or [""])[0]
        if last in _LOGS or highest is None or len(case.inside.losses) > 1:
            continue
        if float(highest.y.max()) > above_zero and float(highest.y[0]) > above_zero:
            return _found(str(loss["function"]), f"reach {text(float(highest.y.max()))}")
    return None if concerned or cut else Skipped()


def _found(function: str, what: str) -> Finding:
    meant = (
        "probabilities, 0 to 1" if function.startswith("binary") else "logarithms of probabilities, at most 0"
    )
    sentence = f"{function} expects {meant}; its inputs {what}."
    return Finding(sentence, "silent_defect", "high", numbers={"function": function})


def fires() -> Runs:
    raw = {"function": "nll_loss", "after_layers": ["Addmm"]}
    yield run({"loss": [0.1, -5.0], "output/max": [0.4, 2.0, 30.0]}, facts={"losses": [raw]})
    cut = {"function": "binary_cross_entropy", "after_layers": ["Clamp", "Addmm"]}
    yield run({"loss": [5.0, 4.0]}, facts={"losses": [cut]})


def silent() -> Runs:
    logs = {"function": "nll_loss", "after_layers": ["LogSoftmax", "Addmm"]}
    yield run({"loss": [1.6, 0.2], "output/max": [-0.4, -0.1, 0.0]}, facts={"losses": [logs]})
    squashed = {"function": "binary_cross_entropy", "after_layers": ["Clamp", "Sigmoid", "Addmm"]}
    yield run({"loss": [0.7, 0.2]}, facts={"losses": [squashed]})
    yield run(
        {"loss": [1.6, 0.2]}, facts={"losses": [{"function": "cross_entropy", "after_layers": ["Addmm"]}]}
    )
