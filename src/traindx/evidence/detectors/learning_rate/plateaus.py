"""A loss that stands still, and the learning rate there."""

import numpy as np

from traindx.evidence.detector import Case, Cases, Curve, Detected, Detector, Finding, Skipped
from traindx.evidence.detectors._number_text import text, where
from traindx.evidence.detectors._settings import optimizer_family, perhaps_tuned
from traindx.testing.sketch import decay, noisy, run


@Detector("Stands at a constant learning rate", family="lr_schedule", guards=("surrogate",))
def plateau_at_constant_lr(
    case: Case, loss: Curve, *, loss_left: float = 0.2, min_points: int = 12
) -> Detected:
    """The loss came down fast, then stands still, and the learning rate never decayed.

    A rate that is right for the first phase is too large for the last: the loss then rests on the noise of
    its own steps, and a decay brings a further drop. Seen when the rate since the loss stopped is constant
    (logged, or configured without a schedule) and {loss_left} of the first loss or more is left.

    A sign. Whether the standstill is trouble depends on how good the model is by then: see plateau.
    Silent where a score says the model does well, and where the rate is small from the start.
    """
    stop = case.harm.standstill
    if stop is None:
        return Skipped()
    rate = case.harm.constant_lr
    if rate is None:
        return Skipped("the learning rate, logged or configured")
    if rate <= 0 or case.level.good or stop.level < loss_left * abs(loss.head):
        return None
    return Finding(
        f"The learning rate has been {text(rate)} throughout, without a schedule, and the loss has stood at "
        f"{text(stop.level)} since {where(loss, stop.since)}, after {1 - stop.share:.0%} of the run.",
        step=stop.since,
        strength=round(float(np.clip(stop.share / 0.8, 0.3, 1.0)), 3),
        numbers={"lr": rate, "last_value": stop.level},
    )


@Detector("Stands at a small learning rate", family="lr_value", guards=("surrogate",))
def plateau_at_small_lr(
    case: Case,
    loss: Curve,
    lr_value: float,
    *,
    adam: float = 3e-6,
    sgd: float = 1e-4,
    loss_left: float = 0.3,
    min_points: int = 12,
) -> Detected:
    """The loss stands still at a learning rate far below the usual, though there is a gradient to follow.

    Seen when the loss has stopped with {loss_left} of its start or more left and the rate then in use is
    under {adam} (Adam and its kin, or an optimizer that is not named) or {sgd} (SGD), a tenth of that where
    anything hints at fine-tuning; ten times these limits where a logged gradient norm since then is in its
    usual range (0.1 to 10), and the rate was not lowered by a schedule.

    Silent where the rate has decayed from a larger one (see lr_decayed_early), where a score says the model
    does well, and where the gradient is gone (see plateau_without_gradient).
    """
    stop = case.harm.standstill
    if stop is None:
        return Skipped()
    norm = case.harm.norm_at_standstill
    rate = case.lr.at(stop.since) if case.lr is not None and len(case.lr) else lr_value
    limit = sgd if optimizer_family(case) == "sgd" else adam
    limit *= 0.1 if perhaps_tuned(case) else 1.0
    gradient = norm is not None and 0.1 <= norm <= 10.0
    limit *= 10.0 if gradient else 1.0
    lowered = rate < 0.5 * lr_value
    if (
        not 0 < rate < limit
        or case.harm.gradient_gone
        or lowered
        or case.level.good
        or stop.level < loss_left * loss.head
    ):
        return None
    pull = f", while the gradient norm is {text(norm)} (usual are 0.1 to 10)" if gradient and norm else ""
    return Finding(
        f"The loss has stood at {text(stop.level)} since {where(loss, stop.since)} under a learning rate of "
        f"{text(rate)}{pull}: there is further to go, and the steps are too short.",
        step=stop.since,
        numbers={"lr": rate, "last_value": stop.level},
    )


def cases() -> Cases:
    flat = noisy([*decay(30, 2.3, 1.1), *[1.1] * 120], 0.01)
    yield from plateau_at_constant_lr.fires(run({"loss": flat, "lr": [1e-3] * 150}))
    yield from plateau_at_constant_lr.silent(
        run({"loss": flat, "lr": np.linspace(1e-3, 1e-5, 150)}),
        run({"loss": flat, "lr": [1e-3] * 150, "val/accuracy": [0.97] * 150}),
        run({"loss": noisy(decay(150, 2.3, 0.05, rate=20), 0.02), "lr": [1e-3] * 150}),
    )
    flat = noisy([*decay(30, 2.3, 1.4), *[1.4] * 120], 0.01)
    yield from plateau_at_small_lr.fires(
        run({"loss": flat, "lr": [1e-6] * 150}),
        run({"loss": flat, "grad_norm": noisy([1.2] * 150, 0.2)}, settings={"lr": 1e-5, "optimizer": "adam"}),
    )
    yield from plateau_at_small_lr.silent(run({"loss": flat, "lr": [1e-3] * 150}))
    yield from plateau_at_small_lr.silent(run({"loss": flat, "lr": [1e-3] * 20 + [1e-6] * 130}))
    yield from plateau_at_small_lr.silent(
        run({"loss": flat, "lr": [1e-6] * 150, "val/accuracy": [0.95] * 150})
    )
