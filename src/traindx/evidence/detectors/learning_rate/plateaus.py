"""A loss that stands still, and the learning rate there."""

import numpy as np

from traindx.evidence.detector import Case, Cases, Curve, Detected, Detector, Finding, Skipped
from traindx.evidence.detectors._number_text import text, where
from traindx.evidence.detectors._settings import optimizer_family, perhaps_tuned
from traindx.testing.sketch import decay, noisy, run

_ON_PLATEAU = "ReduceLROnPlateau"


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


_MEASURES = ("accuracy", "f1", "auc", "iou", "dice", "r2", "map50", "bleu", "score")


@Detector(
    "Learning rate cut while validation improves",
    needs=("lr", "fact:schedulers|fact:callbacks"),
    family="lr_schedule",
)
def rate_cut_while_improving(
    case: Case, *, min_cuts: int = 2, max_left: float = 0.3, min_cuts_share: float = 0.75
) -> Detected:
    """ReduceLROnPlateau cuts the rate again and again although every measure on validation data improves.

    It watches the wrong number, or in the wrong direction: with `mode="min"` a score that rises looks like a
    loss that gets worse. Seen when the rate was cut {min_cuts} times and more to {max_left} of itself or
    less, and in {min_cuts_share:%} of the stretches before a cut each validation curve reached a new best.

    Silent for other schedules, whose cuts are planned, and without a validation curve.
    """
    scheduler = next((s for s in case.inside.schedulers if s.get("class") == _ON_PLATEAU), None)
    curves = [case.val_loss, *(case.val(name) for name in _MEASURES)]
    watched = [curve for curve in curves if curve is not None and len(curve) >= min_cuts + 2]
    rate = case.lr
    if scheduler is None or rate is None or not watched:
        return Skipped("ReduceLROnPlateau, and what it may watch")
    at = np.flatnonzero(rate.y[1:] < 0.95 * rate.y[:-1]) + 1
    cuts = [float(rate.x[place]) for place in at]
    if len(cuts) < min_cuts or rate.y[-1] > max_left * rate.y[0]:
        return None
    begin = [float(rate.x[0]), *cuts[:-1]]
    improved = [all(_new_best(curve, *ends) for curve in watched) for ends in zip(begin, cuts, strict=True)]
    if sum(improved) < min_cuts_share * len(cuts):
        return None
    mode = str(scheduler.get("mode", ""))
    names = " and ".join(curve.name for curve in watched[:2])
    return Finding(
        f"ReduceLROnPlateau (mode {mode}) cut the learning rate {len(cuts)} times, from "
        f"{text(float(rate.y[0]))} to {text(float(rate.y[-1]))}, while {names} reached a new best before "
        f"{sum(improved)} of the cuts: it watches the wrong number, or in the wrong direction.",
        "silent_defect",
        "high" if case.harm.standstill is not None else "medium",
        cuts[0],
        float(rate.x[-1]),
        rate.name,
        numbers={"cuts": len(cuts), "lr_last": float(rate.y[-1])},
    )


def _new_best(curve: Curve, begin: float, end: float) -> bool:
    """Whether a curve reaches its best so far between two steps."""
    values = -curve.y if curve.goal == "higher" else curve.y
    before, within = values[curve.x <= begin], values[(curve.x > begin) & (curve.x <= end)]
    return bool(within.size) and (not before.size or float(within.min()) < float(before.min()))


def cases() -> Cases:
    facts = {"schedulers": [{"class": "ReduceLROnPlateau", "mode": "min"}]}
    steps = [100 * 0.1 ** (i // 20) for i in range(80)]
    rises = (np.arange(1.0, 17) * 5, np.linspace(0.2, 0.9, 16))
    falls = (np.arange(1.0, 17) * 5, [1.0, 0.5, 0.4, 0.35, *[0.36] * 12])
    yield from rate_cut_while_improving.fires(run({"lr": steps, "val/dice": rises}, facts=facts))
    callback = {"callbacks": [{"class": "ReduceLROnPlateau", "monitor": "val_dice", "mode": "min"}]}
    yield from rate_cut_while_improving.fires(run({"lr": steps, "val/dice": rises}, facts=callback))
    yield from rate_cut_while_improving.silent(
        run({"lr": steps, "val/loss": falls}, facts=facts),
        run({"lr": steps, "val/dice": rises}, facts={"schedulers": [{"class": "StepLR"}]}),
    )
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
