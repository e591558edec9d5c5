"""The parts of a loss."""

import math
import re

import numpy as np

from traindx.core.facts import sizes
from traindx.evidence.detector import (
    Case,
    Cases,
    Curve,
    Detected,
    Detector,
    Finding,
    FloatArray,
    Run,
    Series,
    Skipped,
)
from traindx.evidence.detectors._number_text import strength, text, times
from traindx.evidence.sampled import late, odd_objective, only_loss, sampled
from traindx.testing.sketch import decay, noisy, run

# Words in the names of terms that are zero only when no target reaches them.
_TARGETED = frozenset(
    "box bbox dfl giou loc seg mask pose kobj kpt keypoint keypoints landmark landmarks obj".split()
)


# torch takes the sum of these and divides it for `reduction="batchmean"`.
_DIVIDED_LATER = frozenset({"kl_div"})


@Detector("Added terms outweigh the loss", needs=("output/*", "fact:losses"), family="penalty")
def penalty_outweighs(
    case: Case, *, total_to_loss: float = 4.0, full_strength_at: float = 10.0, min_samples: int = 3
) -> Detected:
    """What is added to the loss function is several times larger than the loss function itself.

    Seen when backward is called on more than {total_to_loss} times what the only loss function gave, in the
    last third of the looks: a penalty on the weights, a KL term, a second objective. A sign only, since the
    second term may be the aim.

    Silent for several loss functions and optimizers, and where backward gets a share of the loss.
    Known mistakes: an objective of which most is written by hand.
    """
    loss, curve = only_loss(case), sampled(case, "output/backward_ratio", min_samples)
    if loss is None or curve is None or loss.get("reduction") == "none":
        return Skipped()
    level = late(curve)
    # A whole multiple that never moves is a scale, not a sum.
    if level < total_to_loss or float(curve.y.max() - curve.y.min()) < 0.01 * level:
        return None
    return Finding(
        f"Backward is called on {times(level)} what {loss['function']} gives: the rest is added to it.",
        step=float(curve.x[-1]),
        strength=strength(level, total_to_loss, full_strength_at),
        numbers={"ratio": level},
    )


@Detector("A sum and a mean in one loss", needs=("output/*", "fact:losses"), family="reduction")
def reductions_mixed(
    case: Case, *, divided: float = 3.0, min_elements: int = 8, early_samples: int = 3
) -> Detected:
    """One term of the loss is summed over the batch, another one averaged.

    The summed term is as many times larger as it has elements and grows with the batch: it drowns the other.
    Seen when backward is called on a combination of loss functions of both reductions, and in the first
    samples the summed one is not divided again: the total is more than {divided} elements' share of what the
    functions gave.

    Silent under {min_elements} elements, where all terms have one reduction, where the sum is divided by the
    batch, with several optimizers, and about the Kullback-Leibler divergence, whose mean over the batch is a
    sum inside torch. Known mistake: a small weight that makes up for the sum.
    """
    losses = [loss for loss in case.inside.losses if loss.get("function") not in _DIVIDED_LATER]
    sums, means = (
        [loss for loss in losses if loss.get("reduction") == reduction] for reduction in ("sum", "mean")
    )
    ratio = sampled(case, "output/backward_ratio", early_samples)
    shapes = [sizes(loss.get("target_shape")) for loss in sums]
    if ratio is None or not sums or not means or not all(shapes):
        return Skipped("loss functions of both reductions in one backward")
    if odd_objective(case):
        return Skipped("one optimizer and a loss that is no surrogate")
    elements, batch = max((math.prod(shape), shape[0]) for shape in shapes)
    early = float(np.median(ratio.y[:early_samples]))
    over_batch = early < 2.0 / batch
    if elements < min_elements or over_batch or not early > divided / elements:
        return None
    return Finding(
        f"{sums[0]['function']} is summed over {elements:,} elements and added to {means[0]['function']}, "
        "which is averaged: the sum grows with the batch and drowns the other term.",
        "silent_defect",
        "medium",
        numbers={"elements": elements, "ratio": early},
    )


@Detector(
    "Printed loss adds up", needs=("printed/loss|logged/loss",), family="metric", guards=("surrogate", "elbo")
)
def printed_loss_sums(
    case: Case, loss: Curve, *, min_points: int = 5, recorded_fall: float = 0.3, max_variation: float = 0.1
) -> Detected:
    """The loss that the script prints is a sum it never begins anew.

    Compares what was printed as training loss with the losses that were recorded step by step. Seen when the
    print only ever grows, and grows each time by the same multiple of the mean loss since the print before:
    a total that is not set back. The training is fine, what is read of it is not.

    Silent with fewer than {min_points} prints, when the recorded losses do not fall (the print may then well
    rise), for RL, GANs and evidence bounds. Known mistakes: totals that are printed as totals on purpose.
    """
    sums = case.curve("printed/loss", "logged/loss")
    if sums is None or len(sums) < min_points or len(loss) < 4 * len(sums):
        return Skipped(f"{min_points} printed losses next to those of the steps")
    means = _between(loss.x, loss.y, sums.x)
    grown = np.diff(sums.y)
    if means is None or not (grown > 0).all() or not (means > 0).all():
        return None
    share = grown / means[1:]
    even = float(np.median(np.abs(share / np.median(share) - 1)))
    if means[-1] > (1 - recorded_fall) * means[0] or even > max_variation:
        return None
    return Finding(
        f"The printed loss rises from {text(float(sums.y[0]))} to {text(float(sums.y[-1]))} while that of "
        f"the steps falls from {text(float(means[0]))} to {text(float(means[-1]))}: each print adds the "
        "losses since the last to all before.",
        symptom="silent_defect",
        step=float(sums.x[0]),
        end=float(sums.x[-1]),
        series=sums.name,
        numbers={"metric": sums.name, "first": float(sums.y[0]), "last": float(sums.y[-1])},
    )


def _between(steps: FloatArray, values: FloatArray, prints: FloatArray) -> FloatArray | None:
    """The mean of the values between one print and the next; None where one has none."""
    edges = np.searchsorted(steps, prints, side="right")
    spans = list(zip([0, *edges[:-1]], edges, strict=True))
    if any(end <= start for start, end in spans):
        return None
    return np.array([float(values[start:end].mean()) for start, end in spans])


@Detector(
    "A loss term is zero throughout",
    needs=("loss/*",),
    family="loss_term",
    explains=("validation_parts", "validation_bad_from_start", "memorised_unvalidated"),
    guards=("surrogate",),
)
def loss_term_zero(case: Case, *, min_points: int = 3) -> Detected:
    """One term of the loss is exactly zero in every value while the others are not.

    A term that never differs from zero trains nothing: boxes without labels, a mask that drops every target,
    a weight of 0, a head that is not connected. It is serious where the same term is not zero on validation
    data (high), or where it is a term that needs targets (box, dfl, mask, keypoint, ...; medium).

    Silent for other terms that have no twin on validation data (many are switched off on purpose), when the
    term is zero only at times, when all terms are zero with the loss itself (see loss_masked_nan), for a
    class term that is zero in training and validation alike (a detector with one class has none), and for RL
    and GAN training.
    """
    terms = {
        name.removeprefix("loss/"): series
        for name in case.names
        if name.startswith("loss/") and "@" not in name and len(series := case.run.series[name]) >= min_points
    }
    if not terms:
        return Skipped(f"at least {min_points} values of a loss term")
    zero = [term for term, series in terms.items() if (series.values == 0).all()]
    twins = {term: size for term in zero if (size := _twin(case, term, min_points)) > 0}
    zeros = [*twins] or [t for t in zero if not _TARGETED.isdisjoint(re.split(r"[^a-z]+", t.lower()))]
    alive = [term for term, series in terms.items() if _size(series) > 0]
    loss = case.loss
    whole_alive = loss is not None and len(loss) > 0 and bool((loss.y != 0).any())
    if not zeros or not (alive or whole_alive or twins):
        return None
    return _finding(zeros, alive, twins, terms)


def _finding(
    zeros: list[str], alive: list[str], twins: dict[str, float], terms: dict[str, Series]
) -> Finding:
    list_of = " and ".join(zeros[:3])
    values = len(terms[zeros[0]])
    words = f"The loss term {list_of} is exactly 0 in all {values} values"
    if len(zeros) > 1:
        words = f"The loss terms {list_of} are exactly 0 in all {values} values"
    if twins:
        sizes = " and ".join(text(twins[term]) for term in zeros[:3])
        words += f" of training, while on validation data the same is {sizes}"
    elif alive:
        alive_term = terms[alive[0]]
        words += f", while {alive[0]} goes from {text(_first(alive_term))} to {text(_last(alive_term))}"
    first = float(terms[zeros[0]].steps[0])
    return Finding(
        words + ".",
        "silent_defect" if alive else "not_learning",
        "high" if twins else "medium",
        step=first,
        series=f"loss/{zeros[0]}",
        strength=1.0 if twins else 0.8,
        numbers={"term": list_of, "zero_terms": len(zeros)},
    )


def _size(series: Series) -> float:
    """The median size of a term's finite values."""
    finite = series.values[np.isfinite(series.values)]
    return float(np.median(np.abs(finite))) if finite.size else 0.0


def _twin(case: Case, term: str, least: int) -> float:
    """The size of the same term on validation data, 0 when it is not there."""
    for split in ("val", "test"):
        series = case.run.series.get(f"{split}/loss/{term}")
        if series is not None and len(series) >= least:
            return _size(series)
    return 0.0


def _first(series: Series) -> float:
    return float(series.values[np.isfinite(series.values)][0])


def _last(series: Series) -> float:
    return float(series.values[np.isfinite(series.values)][-1])


def _mixed(ratio: float, *reductions: str) -> Run:
    losses = [
        {"function": name, "reduction": reduction, "target_shape": "60"}
        for name, reduction in zip(("cross_entropy", "mse_loss"), reductions, strict=True)
    ]
    return run({"output/backward_ratio": [ratio] * 4}, facts={"losses": losses})


def cases() -> Cases:
    yield from reductions_mixed.fires(_mixed(0.3, "mean", "sum"))
    distilled = {"function": "kl_div", "reduction": "sum", "target_shape": "60x5"}
    hard = {"function": "cross_entropy", "reduction": "mean", "target_shape": "60"}
    yield from reductions_mixed.silent(
        run({"output/backward_ratio": [0.4] * 4}, facts={"losses": [distilled, hard]})
    )
    yield from reductions_mixed.silent(_mixed(0.03, "mean", "sum"), _mixed(1.0, "mean", "mean"))
    facts = {"losses": [{"function": "cross_entropy", "reduction": "mean"}]}
    yield from penalty_outweighs.fires(run({"output/backward_ratio": [14.0, 12.0, 9.0, 8.0]}, facts=facts))
    yield from penalty_outweighs.silent(run({"output/backward_ratio": [1.2, 1.1, 1.3, 1.4]}, facts=facts))
    yield from penalty_outweighs.silent(run({"output/backward_ratio": [100.0] * 4}, facts=facts))
    loss = noisy(decay(400, 4.0, 0.2), 0.05)
    sums = np.cumsum(loss)[39::40] / 40
    yield from printed_loss_sums.fires(run({"loss": loss, "printed/loss": (list(range(40, 401, 40)), sums)}))
    at = list(range(40, 401, 40))
    yield from printed_loss_sums.silent(
        run({"loss": loss, "printed/loss": (at, [float(loss[n - 40 : n].mean()) for n in at])}),
        run({"loss": loss, "printed/loss": (at, np.cumsum(loss)[39::40] / np.array(at))}),
    )
    rising = noisy(np.linspace(1.0, 4.0, 400), 0.05)
    yield from printed_loss_sums.silent(run({"loss": rising, "printed/loss": (at, rising[39::40])}))
    cls = decay(50, 113.0, 0.03, rate=9)
    twins = {"val/loss/box": [3.5] * 50, "val/loss/dfl": [4.2] * 50}
    yield from loss_term_zero.fires(
        run({"loss": cls, "loss/cls": cls, "loss/box": [0.0] * 50, "loss/dfl": [0.0] * 50, **twins}),
        run({"loss": cls, "loss/cls": cls, "loss/box": [0.0] * 50}),
    )
    box = decay(50, 2.0, 1.0)
    yield from loss_term_zero.silent(
        run({"loss": box, "loss/box": box, "loss/obj": box}),
        run({"loss": box, "loss/main": box, "loss/aux": [0.0] * 50}),
        run({"loss": box, "loss/box": box, "loss/kl": [*[0.0] * 20, *[0.1] * 30]}),
        run({"loss": [0.0] * 9, "loss/box": [0.0] * 9, "loss/obj": [0.0] * 9}),
        run({"loss": box, "loss/policy": box, "loss/value": [0.0] * 50}, traits=("rl",)),
    )
