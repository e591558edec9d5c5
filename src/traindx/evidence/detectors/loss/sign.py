"""Losses that run below zero."""

import numpy as np

from traindx.core.kinds import BY_CLASS, BY_SIGN, REGRESSION, loss_kind
from traindx.evidence.detector import Case, Cases, Curve, Detected, Detector, Finding, Skipped
from traindx.evidence.sampled import only_loss, sampled
from traindx.testing.sketch import decay, noisy, run

_NEVER_NEGATIVE = REGRESSION | BY_CLASS | BY_SIGN


@Detector("Loss with the sign turned", needs=("output/*", "fact:losses"), family="loss_form")
def loss_negated(case: Case, *, tolerance: float = 0.02, min_samples: int = 2) -> Detected:
    """Backward is called on minus the value of a loss function: the training drives it up.

    Seen when what backward got is the loss function's own value with the sign turned, in every look, with
    one optimizer and one loss function.

    Silent for several optimizers (a critic is driven up on purpose), for likelihoods and rewards written by
    hand, which no loss function gives, and for sums with other terms. Known mistakes: training an adversary
    alone.
    """
    loss, ratio = only_loss(case), sampled(case, "output/backward_ratio", min_samples)
    if loss is None or ratio is None or loss_kind(loss) not in _NEVER_NEGATIVE:
        return Skipped()
    if float(abs(ratio.y + 1).max()) > tolerance:
        return None
    sentence = f"Backward is called on -1 times the value of {loss['function']}: every step makes it larger."
    return Finding(sentence, "silent_defect", "high", float(ratio.x[0]))


@Detector("Loss runs below zero without end", family="rise", guards=("surrogate",))
def loss_runs_negative(
    loss: Curve, *, min_size: float = 1000.0, growth_factor: float = 10.0, min_points: int = 5
) -> Detected:
    """A loss that has no floor runs away below zero.

    Cross-entropy, squared error and their kin cannot be negative. Seen when the loss is negative and its
    size grew by orders of magnitude and still grows: labels outside the range the loss expects, a sign
    turned round, or an objective that can be made as low as one likes.

    Silent for losses that are negative in good order (SI-SDR, likelihoods of densities, ELBO, RL): they
    settle, or change by a few units.
    """
    last = loss.tail
    middle = float(np.median(loss.y[len(loss) // 3 : len(loss) // 2 + 1]))
    grew = last < growth_factor * min(middle, -1.0) / 2 or last < growth_factor**3 * min(loss.head, -1.0)
    if last > -min_size or not grew or loss.y.argmin() < 0.8 * len(loss):
        return None
    text = f"The loss runs away below zero: {loss.head:.4g}, half-way {middle:.4g}, at the end {last:.4g}."
    return Finding(text, "divergence", "high", float(loss.x[0]), float(loss.x[-1]), loss.name)


def cases() -> Cases:
    yield from loss_negated.fires(
        run({"output/backward_ratio": [-1.0] * 4}, facts={"losses": [{"function": "cross_entropy"}]})
    )
    yield from loss_negated.silent(
        run({"output/backward_ratio": [1.0] * 4}, facts={"losses": [{"function": "cross_entropy"}]}),
        run({"output/backward_ratio": [0.25] * 4}, facts={"losses": [{"function": "mse_loss"}]}),
    )
    several = {"losses": [{"function": "mse_loss"}], "optimizers": [{"class": "Adam"}, {"class": "Adam"}]}
    yield from loss_negated.silent(run({"output/backward_ratio": [-1.0] * 4}, facts=several))
    yield from loss_runs_negative.fires(
        run({"loss": [0.5, -60.0, -6e3, -1e5, -7e5, -3e6, -8e6, -3e7, -8e7, -1.4e8]}),
        run({"loss": [-12e3, -4e10, -1e15, -4e20, -6.6e20, -9.3e20]}, axis="epoch"),
    )
    yield from loss_runs_negative.silent(run({"loss": decay(50, 2.0, -18.0)}))
    yield from loss_runs_negative.silent(run({"loss": noisy(decay(50, 0.1, -1.2), 0.05)}))
