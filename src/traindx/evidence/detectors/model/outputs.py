"""What the model answers."""

import numpy as np

from traindx.core.kinds import REGRESSION, loss_kind
from traindx.evidence.detector import Case, Cases, Curve, Detected, Detector, Fact, Finding, Skipped
from traindx.evidence.detectors._number_text import text
from traindx.evidence.sampled import (
    SQUASHING,
    ends,
    late,
    loss_series,
    odd_objective,
    only_loss,
    sampled,
    usual,
)
from traindx.testing.sketch import run


@Detector("One output for all inputs", needs=("output/*",), family="output_spread")
def outputs_constant(
    case: Case, *, spread_share: float = 1e-3, min_samples: int = 4, min_steps: int = 30
) -> Detected:
    """The model gives the same output for every sample of a batch, though the targets differ.

    Seen when outputs vary over the batch by less than a thousandth of their size in the last third of the
    looks while inputs and targets do vary. It is what dead units, far too large steps, a signal lost with
    depth or an overwhelming penalty leave behind: it says that nothing is learned, not why.

    Silent in the first looks, where zero-initialised heads give one output for all, for batches under 4, and
    for targets that do not vary either. Known mistakes: tasks whose answer is the same for all inputs.
    """
    spread = _spread(case, min_samples, min_steps)
    if isinstance(spread, Skipped):
        return spread
    size, level = _size(case), late(spread)
    if size <= 0 or level > spread_share * size or not _targets_vary(case):
        return None
    sentence = (
        f"Outputs differ by {text(level)} over a batch at a size of {text(size)}: the same answer for every "
        "input."
    )
    return Finding(sentence, "not_learning", "medium", float(spread.x[-1]), numbers={"output_spread": level})


def _spread(case: Case, samples: int, steps: int) -> Curve | Skipped:
    """How far outputs vary over a batch whose inputs do."""
    spread, constant = sampled(case, "output/batch_std", samples), usual(case, "input/constant_share")
    if spread is None or spread.x[-1] < steps or odd_objective(case):
        return Skipped(f"at least {samples} samples of outputs, the last after {steps} steps")
    return Skipped() if constant is not None and constant > 0.999 else spread


def _size(case: Case) -> float:
    """How large outputs are, or what they are compared with if that is larger."""
    sizes = [usual(case, name) for name in ("output/std", "output/mean", "output/max", "target/std")]
    return max((abs(size) for size in sizes if size is not None), default=0.0)


def _targets_vary(case: Case) -> bool:
    spread, kinds = usual(case, "target/std"), usual(case, "target/distinct")
    return (spread is not None and spread > 0) or (kinds is not None and kinds > 1)


@Detector("Outputs collapse together", needs=("output/*",), family="output_spread")
def outputs_collapsed(
    case: Case,
    *,
    shrunk_share: float = 0.05,
    spread_to_learned: float = 0.1,
    min_samples: int = 4,
    min_steps: int = 30,
) -> Detected:
    """Outputs and what they are compared with shrank together: a self-supervised training collapses.

    Seen for a loss between two outputs of the model when both lost their spread over the batch: less than a
    twentieth of what they began with is left, or a tenth where it is known that the model made both sides.

    Silent where targets come from the data, whatever outputs do (`outputs_constant` looks at those), and in
    the first looks. Known mistakes: two nets that learn to agree on something nearly constant.
    """
    spread = _spread(case, min_samples, min_steps)
    if isinstance(spread, Skipped):
        return spread
    level = late(spread)
    if not (
        _moves_with_targets(case, spread, shrunk_share)
        or _shrinks_to_learned(case, spread, spread_to_learned)
    ):
        return None
    sentence = (
        f"Outputs shrank together: their spread over a batch fell from {text(float(spread.y.max()))} to "
        f"{text(level)}, and that of what they are compared with as well."
    )
    return Finding(sentence, "silent_defect", "high", float(spread.x[-1]), numbers={"output_spread": level})


def _moves_with_targets(case: Case, spread: Curve, shrunk: float) -> bool:
    """Whether outputs and targets lost their spread together: targets made by the model."""
    targets = sampled(case, "target/std", 4)
    if targets is None or targets.y.max() <= 0:
        return False
    ratio = np.interp(targets.x, spread.x, spread.y) / np.maximum(targets.y, 1e-300)
    together = float(ratio.max() / max(ratio.min(), 1e-300)) < 3
    return together and late(spread) < shrunk * spread.y.max() and late(targets) < shrunk * targets.y.max()


def _shrinks_to_learned(case: Case, spread: Curve, learned: float) -> bool:
    """Whether the only loss is between two outputs of the model, and samples come ever closer together."""
    loss = only_loss(case)
    if loss is None or loss.get("target_learned") is not True or case.loss is None:
        return False
    size, last = sampled(case, "output/std", 4), float(np.median(spread.y[-3:]))
    relative = size is None or last / max(float(size.y[-1]), 1e-300) < 0.5 * spread.y[0] / max(
        size.y[0], 1e-300
    )
    return bool(relative and last < learned * spread.y.max() and case.loss.tail < 0.1 * case.loss.head)


@Detector("Targets out of the output's reach", needs=("fact:losses",), family="output_range")
def output_out_of_reach(
    case: Case, *, margin_in_std: float = 0.2, extremes_in_std: float = 2.0, min_samples: int = 2
) -> Detected:
    """The last activation keeps outputs in a range that the targets leave.

    Seen for regression losses when the output comes out of sigmoid, tanh, softmax or ReLU and a good part of
    the targets lies outside of what that can give: beyond the range by more than {margin_in_std} of their own
    spread, in most samples; or, where the answers do not end up right, when their extremes lie beyond it by
    {extremes_in_std} times their spread. Also seen when a softmax runs over a single output, which is 1
    whatever the input.

    Silent where only some extremes lie a little outside, and for targets within the range.
    Known mistakes: targets that are cut afterwards.
    """
    concerned = [loss for loss in case.inside.losses if ends(loss)]
    if not concerned:
        return Skipped()
    for loss in concerned:
        if _single(case, loss):
            sentence = "A softmax runs over a single output: it is 1 whatever the input."
            return Finding(sentence, "silent_defect", "high")
        limits = SQUASHING.get(ends(loss)[0])
        if loss_kind(loss) not in REGRESSION or limits is None:
            continue
        low, high, mean, std = (
            sampled(case, loss_series(case, loss, f"target/{name}"), min_samples)
            for name in ("min", "max", "mean", "std")
        )
        if low is None or high is None or mean is None or std is None:
            continue
        middle, spread = float(np.median(mean.y)), float(np.median(std.y))
        edge = margin_in_std * spread
        far = float("inf") if case.level.answers_right else extremes_in_std * spread
        over = late(high) > limits[1] + (edge if middle + spread > limits[1] + edge else far)
        under = late(low) < limits[0] - (edge if middle - spread < limits[0] - edge else far)
        if not (over or under):
            continue
        name, lowest = ends(loss)[0].lower(), text(limits[0])
        span = f"at least {lowest}" if limits[1] == float("inf") else f"{limits[0]:g} to {limits[1]:g}"
        return Finding(
            f"The outputs come out of {name}, which gives {span}; the targets lie between "
            f"{text(late(low))} and {text(late(high))}, about {text(middle)}.",
            symptom="silent_defect",
            severity="high",
            numbers={"target_min": late(low), "target_max": late(high)},
        )
    return None


def _single(case: Case, loss: Fact) -> bool:
    """Whether a softmax has one entry: all its outputs are exactly one."""
    spread = sampled(case, loss_series(case, loss, "output/std"), 2)
    mean = usual(case, loss_series(case, loss, "output/mean"))
    constant = spread is not None and float(spread.y.max()) == 0 and mean == 1
    return "Softmax" in ends(loss)[:1] and constant


@Detector("Two activations in a row", needs=("fact:losses",), family="outputs_squashed")
def activations_stacked(case: Case) -> Detected:
    """The outputs come out of one squashing function right behind another.

    Seen in the graph of the loss: a sigmoid, softmax or tanh whose input is the result of a sigmoid, softmax
    or ReLU, with no layer between them. A sigmoid behind a sigmoid gives 0.5 to 0.73 whatever the weights
    are, behind a ReLU never less than 0.5.

    Silent where a layer lies between them, and about a log of a softmax, which belongs together.
    """
    for loss in case.inside.losses:
        last, before = [*ends(loss), "", ""][:2]
        if last in _OUTER and before in _INNER:
            low, high = _sigmoids(before)
            return Finding(
                f"The outputs come out of {last.lower()} right behind {before.lower()}: they can only be "
                f"{text(low)} to {text(high)}, whatever the weights are."
                if last == "Sigmoid"
                else f"The outputs come out of {last.lower()} right behind {before.lower()}.",
                symptom="silent_defect",
                severity="high",
                numbers={"function": str(loss.get("function", ""))},
            )
    return None if any(map(ends, case.inside.losses)) else Skipped()


_OUTER, _INNER = ("Sigmoid", "Softmax", "Tanh"), ("Sigmoid", "Softmax", "Relu")


def _sigmoids(before: str) -> tuple[float, float]:
    """What a sigmoid gives of what the function before it gives."""
    low, high = SQUASHING[before]
    return 1 / (1 + np.exp(-low)), 1 / (1 + np.exp(-high))


def cases() -> Cases:
    twice = {"function": "mse_loss", "after_layers": ["Sigmoid", "Sigmoid", "Addmm"]}
    cut = {"function": "binary_cross_entropy", "after_layers": ["Sigmoid", "Relu", "Addmm"]}
    yield from activations_stacked.fires(*(run({}, facts={"losses": [loss]}) for loss in (twice, cut)))
    once = {"function": "mse_loss", "after_layers": ["Sigmoid", "Addmm"]}
    log = {"function": "nll_loss", "after_layers": ["Log", "Softmax", "Addmm"]}
    yield from activations_stacked.silent(*(run({}, facts={"losses": [loss]}) for loss in (once, log)))
    x = [1, 2, 4, 8, 16, 32, 64]
    constant = {"output/batch_std": (x, [0.2, 0.1, 1e-3, 1e-6, 0, 0, 0]), "output/std": (x, [0.5] * 7)}
    yield from outputs_constant.fires(
        run({**constant, "target/distinct": (x, [5] * 7), "input/constant_share": (x, [0.0] * 7)})
    )
    alive = {"output/batch_std": (x, [0.2, 0.3, 0.5, 0.8, 1, 1, 2]), "output/std": (x, [0.5] * 7)}
    yield from outputs_constant.silent(run({**alive, "target/distinct": (x, [5] * 7)}))
    head = {"output/batch_std": (x, [0, 0, 0.1, 0.2, 0.3, 0.5, 0.9]), "output/std": (x, [0.5] * 7)}
    yield from outputs_constant.silent(run({**head, "target/std": (x, [1.0] * 7)}))
    alike = {"output/batch_std": (x, [1e-5] * 7), "output/std": (x, [0.5] * 7)}
    yield from outputs_constant.silent(run({**alike, "target/std": (x, [0.0] * 7)}))
    shrinking = [0.3, 0.2, 0.1, 0.05, 0.01, 0.005, 0.002]
    yield from outputs_collapsed.fires(
        run({"output/batch_std": (x, shrinking), "target/std": (x, shrinking), "output/std": (x, shrinking)})
    )
    yield from outputs_collapsed.silent(run({**alive, "target/distinct": (x, [5] * 7)}))
    yield from outputs_collapsed.silent(run({**head, "target/std": (x, [1.0] * 7)}))
    yield from outputs_collapsed.silent(run({**alike, "target/std": (x, [1.0] * 7)}))
    squashed = {"function": "mse_loss", "after_layers": ["Sigmoid", "Addmm"]}
    targets = {"target/min": [5.0] * 4, "target/max": [30.0] * 4, "target/mean": [20.0] * 4}
    yield from output_out_of_reach.fires(
        run({"loss": [400.0, 380.0], **targets, "target/std": [5.0] * 4}, facts={"losses": [squashed]})
    )
    scored = {"function": "binary_cross_entropy_with_logits", "after_layers": ["Addmm"]}
    boxes = {name.replace("target", "target@mse_loss"): values for name, values in targets.items()}
    boxes |= {"target@mse_loss/std": [5.0] * 4, "target/min": [0.0] * 4, "target/max": [1.0] * 4}
    yield from output_out_of_reach.fires(
        run({"loss": [400.0, 380.0], **boxes}, facts={"losses": [scored, squashed]})
    )
    softmaxed = {"function": "binary_cross_entropy", "after_layers": ["Softmax", "Addmm"]}
    yield from output_out_of_reach.fires(
        run({"output/std": [0.0] * 4, "output/mean": [1.0] * 4}, facts={"losses": [softmaxed]})
    )
    squashed = {"function": "mse_loss", "after_layers": ["Sigmoid", "Convolution"]}
    pixels = {"target/min": [0.0] * 4, "target/max": [1.0] * 4, "target/mean": [0.3] * 4}
    yield from output_out_of_reach.silent(
        run({"loss": [0.2, 0.1], **pixels, "target/std": [0.3] * 4}, facts={"losses": [squashed]})
    )
    open_ended = {"function": "mse_loss", "after_layers": ["Relu", "Addmm"]}
    counts = {"target/min": [0.0] * 4, "target/max": [90.0] * 4, "target/mean": [9.0] * 4}
    yield from output_out_of_reach.silent(
        run({"loss": [90.0, 9.0], **counts, "target/std": [9.0] * 4}, facts={"losses": [open_ended]})
    )
    plain = {"function": "mse_loss", "after_layers": ["Addmm"]}
    yield from output_out_of_reach.silent(
        run({"loss": [90.0, 9.0], **counts, "target/std": [9.0] * 4}, facts={"losses": [plain]})
    )
