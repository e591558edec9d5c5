"""Gradients of a recurrent model come in bursts, nothing cuts them, and the training does not get on.

Backpropagation through time multiplies: a recurrent weight a little too large makes a gradient many times too
large now and then. Seen when the model is recurrent, no clipping was seen, the largest gradient norm is
{factor} times the usual one and one in a hundred {frequent_factor} times, and the loss does not come down. In
a run that was lost to NaN {min_points_if_lost} norms are enough where one is {factor_if_lost} times the
usual, most are calm and their level did not climb; with plain SGD the first norm tells too, where it is
{start_factor} times the loss.

Silent for models that learn (bursts may pass), with clipping, with fewer than {min_points} norms, and where
the learning rate is above what its optimizer is usually given: that explains a lost run nearer. Known
mistakes: data that no recurrent model could learn, with targets of long tails.
"""

from typing import Any

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Run, Runs, Skipped
from traindx.evidence.detectors._number_text import strength, text, times
from traindx.evidence.detectors._settings import optimizer_family
from traindx.evidence.detectors.learning_rate.usual_rates import config_lr_high
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(
    title="Bursts of recurrent gradients", needs=("grad_norm", "fact:models", "loss"), family="gradient_size"
)


def detect(
    case: Case,
    *,
    factor: float = 30.0,
    frequent_factor: float = 10.0,
    min_points: int = 100,
    min_points_if_lost: int = 30,
    factor_if_lost: float = 100.0,
    start_factor: float = 30.0,
) -> Detected:
    norms, lost = case.grad_norm, _lost(case)
    if norms is None or len(norms) < (1 if lost else min_points):
        return Skipped(f"{min_points} gradient norms")
    if not any(model.get("recurrent") is True for model in case.inside.models):
        return Skipped()
    if case.curve("grad_norm_clipped") is not None or case.number("clip") is not None:
        return None
    if lost and case.lr_value and isinstance(config_lr_high.detect(case, case.lr_value), Finding):
        return None
    usual, high, top = (float(value) for value in np.quantile(norms.y, (0.5, 0.99, 1.0)))
    if lost and not (len(norms) >= min_points_if_lost and _calm(norms) and top >= factor_if_lost * usual > 0):
        return _steep_start(case, norms, start_factor)
    if usual <= 0 or top < factor * usual:
        return None
    if not lost and (norms.broken or high < frequent_factor * usual or not case.harm.suffers):
        return None
    peak = float(norms.x[int(norms.y.argmax())])
    frequency = (
        f"one step in a hundred has {times(high / usual)} or more, "
        if high >= frequent_factor * usual
        else ""
    )
    end = "the run was lost" if lost else "the loss does not come down"
    return Finding(
        f"The gradient norm of this recurrent model jumps to {text(top)}, {times(top / usual)} its usual "
        f"{text(usual)}; {frequency}none is clipped, and {end}.",
        symptom="exploding_gradients",
        step=peak,
        series=norms.name,
        strength=strength(top / usual, factor / 2, factor),
        numbers={"grad_norm": usual, "grad_peak": top, "clip_new": 2 * usual},
    )


def _steep_start(case: Case, norms: Curve, steep: float) -> Finding | None:
    """The very first gradient is huge, and plain steps go by its size."""
    loss, family = case.loss, optimizer_family(case)
    if family != "sgd" or loss is None or not len(loss) or norms.x[0] > loss.x[0] + 1:
        return None
    first, start = float(norms.y[0]), float(loss.y[0])
    if not start > 0 or first < steep * max(start, 1.0):
        return None
    return Finding(
        f"The first gradient of this recurrent model has a norm of {text(first)} at a loss of {text(start)}: "
        "it grew on its way back through time. None is clipped, and the run was lost.",
        symptom="exploding_gradients",
        step=float(norms.x[0]),
        series=norms.name,
        strength=strength(first / max(start, 1.0), steep / 4, 4 * steep),
        numbers={"grad_norm": first, "clip_new": 1.0},
    )


def _lost(case: Case, *, share: float = 0.3) -> bool:
    """Whether the loss ended as NaN or Inf, and stayed so for a good part of the run."""
    loss = case.loss
    if loss is None or not loss.broken:
        return False
    return not loss.finite[-1] and loss.broken >= min(3.0, share * loss.finite.size)


def _calm(norms: Curve, *, times: float = 5.0) -> bool:
    """Whether most gradients are of one size, late ones as early ones."""
    usual, upper_quartile = (float(value) for value in np.quantile(norms.y, (0.5, 0.75)))
    early, late = (float(np.median(part)) for part in np.array_split(norms.y, 2))
    return upper_quartile <= times * usual and late <= times * early


def _run(recurrent: bool, learns: bool, **options: Any) -> Run:
    norms = noisy([1.5] * 200, 0.3)
    for at in (2, 10, 60, 120):
        norms[at] = 80.0
    loss = noisy(decay(200, 1.2, 0.1 if learns else 1.2), 0.1)
    return run({"loss": loss, "grad_norm": norms}, facts={"models": [{"recurrent": recurrent}]}, **options)


def _lost_run(norms: list[float], **settings: float | str) -> Run:
    loss = [*noisy([1.0] * len(norms), 0.1), *[float("nan")] * 40]
    used = {"lr": 0.003, "optimizer": "SGD", **settings}
    return run({"loss": loss, "grad_norm": norms}, settings=used, facts={"models": [{"recurrent": True}]})


def fires() -> Runs:
    yield _run(True, False)
    yield _lost_run([60.0, 5e4, *[0.4, 0.7, 0.3] * 20])
    yield _lost_run([850.0, 3.7e15, 2.4e26])


def silent() -> Runs:
    yield _run(False, False)
    yield _run(True, True)
    yield _run(True, False, settings={"clip": 1.0})
    yield _lost_run([60.0, 5e4, *[0.4, 0.7, 0.3] * 20], lr=8.0)
    yield _lost_run([1.4**power for power in range(60)])
    yield _lost_run([0.4, 0.7, 0.3] * 20)
    yield _lost_run([0.7, 17.0, 4.6e3, 6.9e6])
    yield _lost_run([850.0, 3.7e15, 2.4e26], optimizer="Adam")
