"""Outputs that the loss takes for something else."""

import numpy as np

from traindx.core.facts import sizes
from traindx.core.kinds import REGRESSION, loss_kind
from traindx.evidence.detector import Case, Cases, Detected, Detector, Fact, Finding, Skipped, word
from traindx.evidence.detectors._number_text import text
from traindx.evidence.sampled import ends, odd_objective, only_loss, sampled, usual
from traindx.testing.sketch import run

_TAKES_LOGITS = {"softmax_cross_entropy": "Softmax", "sigmoid_cross_entropy": "Sigmoid"}
_TAKES_LOGS = frozenset({"log_likelihood", "kl_divergence"})
_TAKES_PROBABILITIES = frozenset({"categorical_cross_entropy", "binary_cross_entropy"})
_LOGS = frozenset({"LogSoftmax", "Log", "LogSigmoid", "Logsumexp", "Log1P"})
_RAW = frozenset({"Addmm", "Mm", "Linear", "Convolution", "Relu"})


@Detector("Probabilities taken for logits", needs=("fact:losses",), family="output_form")
def probabilities_as_logits(case: Case, *, min_samples: int = 4, sum_tolerance: float = 1e-3) -> Detected:
    """Outputs that are probabilities already reach a loss that makes probabilities of them.

    Seen for cross-entropy when the last operation is a softmax or all rows of all looks sum to one without a
    negative value; for binary cross-entropy with logits when it is a sigmoid, or every output ever looked at
    lies within 0 and 1 while the outputs vary.

    Silent after log-softmax, which cross-entropy leaves as it is, and where several losses or optimizers
    train. Known mistakes: logits that are kept within 0 and 1 on purpose.
    """
    concerned = [loss for loss in case.inside.losses if loss_kind(loss) in _TAKES_LOGITS]
    if not concerned:
        return Skipped()
    for loss in concerned:
        function = str(loss["function"])
        squash = _TAKES_LOGITS[loss_kind(loss)]
        last = (ends(loss) or [""])[0]
        if last == squash or (
            len(case.inside.losses) == 1 and _probabilities(case, loss, min_samples, sum_tolerance)
        ):
            fault = f"come out of {squash.lower()}" if last == squash else "are probabilities in every sample"
            sentence = (
                f"The outputs that reach {function} {fault}; it applies {squash.lower()} "
                "once more, to logits that differ by 1 at most."
            )
            return Finding(sentence, "silent_defect", "medium", numbers={"function": function})
    return None


def _probabilities(case: Case, loss: Fact, least: int, off: float) -> bool:
    """Whether all outputs ever looked at were probabilities."""
    low, high = sampled(case, "output/min", least), sampled(case, "output/max", least)
    spread = sampled(case, "output/batch_std", least)
    if low is None or high is None or low.y.min() < 0 or high.y.max() > 1 + off:
        return False
    if loss_kind(loss) == "softmax_cross_entropy":
        sums = sampled(case, "output/row_sum_error", least)
        return sums is not None and float(sums.y.max()) < off
    last = (ends(loss) or [""])[0]
    return last == "Clamp" or (spread is not None and float(spread.y[-1]) > 0.2)


@Detector("Logits taken for probabilities", needs=("fact:losses",), family="output_form")
def logits_as_probabilities(case: Case, *, above_zero: float = 1e-4, min_samples: int = 2) -> Detected:
    """Raw outputs reach a loss that expects probabilities or their logarithms.

    Seen for `nll_loss` and `kl_div` when outputs above 0 arrive, which no logarithm of a probability is; and
    for `binary_cross_entropy` when its input was only cut to 0 and 1, not squashed; for cross-entropies of
    Keras that are given outputs of a layer as they are, below 0 or above 1, without `from_logits=True`.

    Silent when the last operation is log-softmax or log-sigmoid, and for outputs that a log made.
    Known mistakes: NLL of densities, which may exceed one, through torch's `nll_loss`.
    """
    concerned = [loss for loss in case.inside.losses if loss_kind(loss) in _TAKES_LOGS]
    cut = [loss for loss in case.inside.losses if loss_kind(loss) in _TAKES_PROBABILITIES]
    for loss in cut:
        layers = ends(loss)
        if (
            layers[:1] in (["Clamp"], ["ClampMin"], ["ClampMax"], ["Hardtanh"])
            and layers[1:2]
            and layers[1] in _RAW
        ):
            return _form_finding(loss, "were only cut to the range 0 to 1, not squashed")
        if len(case.inside.losses) == 1 and layers[:1] and layers[0] in _RAW and _outside(case, min_samples):
            return _form_finding(loss, "come out of a layer as they are, below 0 and above 1")
    highest = sampled(case, "output/max", min_samples)
    for loss in concerned:
        last = (ends(loss) or [""])[0]
        if last in _LOGS or highest is None or len(case.inside.losses) > 1:
            continue
        if float(highest.y.max()) > above_zero and float(highest.y[0]) > above_zero:
            return _form_finding(loss, f"reach {text(float(highest.y.max()))}")
    return None if concerned or cut else Skipped()


def _outside(case: Case, samples: int) -> bool:
    """Whether outputs lie outside of 0 to 1 in every sample."""
    low, high = sampled(case, "output/min", samples), sampled(case, "output/max", samples)
    return low is not None and high is not None and bool((low.y < 0).all() or (high.y > 1).all())


def _form_finding(loss: Fact, fault: str) -> Finding:
    function = word(loss, "function")
    takes_logs = loss_kind(loss) in _TAKES_LOGS
    form = "logarithms of probabilities, at most 0" if takes_logs else "probabilities, 0 to 1"
    sentence = f"{function} expects {form}; its inputs {fault}."
    return Finding(sentence, "silent_defect", "high", numbers={"function": function})


@Detector("Classes fitted as numbers", needs=("fact:losses", "target/*"), family="loss_form")
def classes_as_numbers(
    case: Case, *, min_classes: int = 3, max_classes: int = 100, evenness: float = 0.25, min_samples: int = 3
) -> Detected:
    """Class numbers are fitted as if they were amounts.

    Seen when a regression loss gets targets that are whole numbers from 0 to K - 1 in every look, K from
    {min_classes} to {max_classes}, spread about as evenly as classes are, and one output for each sample; or
    K outputs, each of which is compared with the one number.

    Silent for zeros and ones, for ratings that begin at 1, for counts (most of them small) and for real
    targets. Known mistakes: ordered grades from 0 on, for which it is a fair choice; so it is no more than
    probable.
    """
    loss = only_loss(case)
    kinds, mean = sampled(case, "target/distinct", min_samples), sampled(case, "target/mean", min_samples)
    if loss is None or odd_objective(case) or loss_kind(loss) not in REGRESSION:
        return Skipped()
    if kinds is None or mean is None or len(kinds) < len(mean):
        return None
    low, high = sampled(case, "target/min", min_samples), sampled(case, "target/max", min_samples)
    spread = sampled(case, "target/std", min_samples)
    if low is None or high is None or spread is None or (low.y != low.y.round()).any():
        return None
    count = int(high.y.max()) + 1
    if not _one_output(loss) and not _stretched(loss, count):
        return None
    if low.y.min() != 0 or not min_classes <= count <= max_classes or kinds.y.max() < 0.8 * min(count, 20):
        return None
    # Evenly spread numbers from 0 to K - 1 have their mean in the middle and this deviation.
    middle, expected = (count - 1) / 2, float(np.sqrt((count**2 - 1) / 12))
    uneven = abs(float(np.median(mean.y)) - middle) / count + abs(float(np.median(spread.y)) / expected - 1)
    if uneven > evenness:
        return None
    sentence = (
        f"{loss['function']} fits the whole numbers 0 to {count - 1}, evenly spread, as classes are: a class "
        f"{count - 1} is not {count - 1} times a class 1."
    )
    return Finding(sentence, "silent_defect", "medium", numbers={"classes": count})


def _one_output(loss: Fact) -> bool:
    parts = str(loss.get("output_shape", "")).split("x")
    return len(parts) == 1 or (len(parts) == 2 and parts[1] == "1")


def _stretched(loss: Fact, count: int) -> bool:
    """Whether an output for each class is compared with the same number."""
    output, target = (str(loss.get(key, "")).split("x") for key in ("output_shape", "target_shape"))
    return output[1:] == [str(count)] and target in ([output[0], "1"], [output[0]])


@Detector("Several labels in a softmax", needs=("fact:losses", "target/top_share"), family="loss_form")
def labels_share_softmax(
    case: Case, *, min_labels: float = 1.2, min_classes: int = 3, min_samples: int = 3
) -> Detected:
    """The targets of a softmax cross-entropy hold several labels a row.

    A softmax shares one answer among the classes: labels that may occur together need a sigmoid each.
    Seen when the targets are zeros and ones, as wide as the outputs, with {min_labels} ones a row and more
    in every sample.

    Silent for class numbers, for targets that sum to one, and for fewer than {min_classes} classes.
    """
    loss = only_loss(case)
    if loss is None or loss_kind(loss) != "softmax_cross_entropy":
        return Skipped()
    shape, zeros = sizes(loss.get("target_shape")), sampled(case, "target/top_share", min_samples)
    wide = len(shape) == 2 and shape == sizes(loss.get("output_shape"))
    if not wide or shape[1] < min_classes or zeros is None:
        return Skipped(f"{min_samples} samples of targets as wide as the outputs")
    ones = [usual(case, f"target/{name}") for name in ("distinct", "min", "max")] == [2.0, 0.0, 1.0]
    labels = (1.0 - zeros.y) * shape[1]
    if not ones or labels.min() < min_labels or zeros.y.min() < 0.5:
        return None
    usual_count = float(np.median(labels))
    return Finding(
        f"The targets of {loss['function']} hold {usual_count:.1f} labels a row of {shape[1]} classes: a "
        "softmax shares one answer among them.",
        "silent_defect",
        "medium",
        numbers={"labels": usual_count, "classes": shape[1]},
    )


def cases() -> Cases:
    tags = {"target/min": [0.0] * 4, "target/max": [1.0] * 4, "target/distinct": [2.0] * 4}
    shared = {"function": "cross_entropy", "output_shape": "50x12", "target_shape": "50x12"}
    yield from labels_share_softmax.fires(
        run({**tags, "target/top_share": [0.76, 0.8, 0.78, 0.77]}, facts={"losses": [shared]})
    )
    yield from labels_share_softmax.silent(
        run({**tags, "target/top_share": [11 / 12] * 4}, facts={"losses": [shared]}),
        run({**tags, "target/top_share": [0.3] * 4}, facts={"losses": [shared | {"target_shape": "50"}]}),
    )
    softmaxed = {"function": "cross_entropy", "reduction": "mean", "after_layers": ["Softmax", "Addmm"]}
    yield from probabilities_as_logits.fires(run({"loss": [1.6, 1.2]}, facts={"losses": [softmaxed]}))
    sums = {"output/min": [0.1] * 5, "output/max": [0.8] * 5, "output/row_sum_error": [1e-7] * 5}
    bare = {"function": "cross_entropy", "after_layers": ["CompiledFunction"]}
    yield from probabilities_as_logits.fires(run({"loss": [1.6, 1.2], **sums}, facts={"losses": [bare]}))
    twice = {"function": "binary_cross_entropy_with_logits", "after_layers": ["Sigmoid", "Addmm"]}
    yield from probabilities_as_logits.fires(run({"loss": [0.7, 0.5]}, facts={"losses": [twice]}))
    bare = {"function": "cross_entropy", "after_layers": ["Addmm"]}
    logits = {"output/min": [-3.0] * 5, "output/max": [4.0] * 5, "output/row_sum_error": [2.0] * 5}
    yield from probabilities_as_logits.silent(run({"loss": [1.6, 0.2], **logits}, facts={"losses": [bare]}))
    harmless = {"function": "cross_entropy", "after_layers": ["LogSoftmax", "Addmm"]}
    yield from probabilities_as_logits.silent(run({"loss": [1.6, 0.2]}, facts={"losses": [harmless]}))
    sigmoid = {"function": "binary_cross_entropy", "after_layers": ["Sigmoid", "Addmm"]}
    yield from probabilities_as_logits.silent(run({"loss": [0.7, 0.2]}, facts={"losses": [sigmoid]}))
    raw = {"function": "nll_loss", "after_layers": ["Addmm"]}
    yield from logits_as_probabilities.fires(
        run({"loss": [0.1, -5.0], "output/max": [0.4, 2.0, 30.0]}, facts={"losses": [raw]})
    )
    cut = {"function": "binary_cross_entropy", "after_layers": ["Clamp", "Addmm"]}
    yield from logits_as_probabilities.fires(run({"loss": [5.0, 4.0]}, facts={"losses": [cut]}))
    bare = {"kind": "categorical_cross_entropy", "after_layers": ["Addmm"]}
    beyond = {"output/min": [-2.0] * 3, "output/max": [3.0] * 3}
    yield from logits_as_probabilities.fires(run({"loss": [5.0, 4.0], **beyond}, facts={"losses": [bare]}))
    logs = {"function": "nll_loss", "after_layers": ["LogSoftmax", "Addmm"]}
    yield from logits_as_probabilities.silent(
        run({"loss": [1.6, 0.2], "output/max": [-0.4, -0.1, 0.0]}, facts={"losses": [logs]})
    )
    squashed = {"function": "binary_cross_entropy", "after_layers": ["Clamp", "Sigmoid", "Addmm"]}
    yield from logits_as_probabilities.silent(run({"loss": [0.7, 0.2]}, facts={"losses": [squashed]}))
    whole = {"kind": "categorical_cross_entropy", "after_layers": ["Softmax", "Addmm"]}
    within = {"output/min": [0.0] * 3, "output/max": [1.0] * 3}
    yield from logits_as_probabilities.silent(
        run({"loss": [0.7, 0.2], **within}, facts={"losses": [whole]}),
        run(
            {"loss": [1.6, 0.2]}, facts={"losses": [{"function": "cross_entropy", "after_layers": ["Addmm"]}]}
        ),
    )
    digits = {"target/min": [0.0] * 4, "target/max": [9.0] * 4, "target/distinct": [10.0] * 4}
    loss = {"function": "mse_loss", "output_shape": "64x1"}
    yield from classes_as_numbers.fires(
        run({**digits, "target/mean": [4.4] * 4, "target/std": [2.9] * 4}, facts={"losses": [loss]})
    )
    wide = {"function": "mse_loss", "output_shape": "64x10", "target_shape": "64x1"}
    yield from classes_as_numbers.fires(
        run({**digits, "target/mean": [4.4] * 4, "target/std": [2.9] * 4}, facts={"losses": [wide]})
    )
    loss = {"function": "mse_loss", "output_shape": "64"}
    real = {
        "target/min": [-2.0] * 4,
        "target/max": [9.1] * 4,
        "target/mean": [4.4] * 4,
        "target/std": [3.0] * 4,
    }
    yield from classes_as_numbers.silent(run(real, facts={"losses": [loss]}))
    several = {"function": "mse_loss", "output_shape": "64x6", "target_shape": "64x1"}
    grid = {"target/min": [0.0] * 4, "target/max": [9.0] * 4, "target/distinct": [10.0] * 4}
    yield from classes_as_numbers.silent(
        run({**grid, "target/mean": [4.4] * 4, "target/std": [2.9] * 4}, facts={"losses": [several]})
    )
    counts = {"target/min": [0.0] * 4, "target/max": [12.0] * 4, "target/distinct": [9.0] * 4}
    yield from classes_as_numbers.silent(
        run({**counts, "target/mean": [1.4] * 4, "target/std": [1.9] * 4}, facts={"losses": [loss]})
    )
    ratings = {"target/min": [1.0] * 4, "target/max": [5.0] * 4, "target/distinct": [5.0] * 4}
    yield from classes_as_numbers.silent(
        run({**ratings, "target/mean": [3.0] * 4, "target/std": [1.4] * 4}, facts={"losses": [loss]})
    )
