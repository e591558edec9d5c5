"""What the curvature and the noise of gradients say."""

from traindx.evidence.detector import Cases, Detected, Detector, Finding, Run, Skipped, facts, number
from traindx.evidence.detectors._number_text import percent, text
from traindx.testing.sketch import measured


@Detector("Saddle point", needs=("fact:curvature",), family="curvature")
def saddle_point(run: Run, *, fall_share: float = 0.01) -> Detected:
    """The weights rest at a saddle point: no gradient to follow, and a direction in which the loss falls.

    Measured by the smallest eigenvalue of the Hessian: clearly negative (beyond its uncertainty and a
    fiftieth of the largest) where the gradient promises less than a hundredth of the loss, or negative at all
    where it promises less than a millionth. Seen when a step along that direction lowers the loss by
    {fall_share:%} or more. Silent at minima, on flat ground, and where the gradient still leads down.
    """
    fact = run.facts["curvature"]
    loss, lower, smallest = (number(fact, key) for key in ("loss", "loss_along_negative", "smallest"))
    if fact.get("kind") != "saddle" or loss is None or lower is None or smallest is None:
        return None
    if not loss or (loss - lower) / abs(loss) < fall_share:
        return None
    gradient = text(number(fact, "gradient_norm") or 0.0)
    return Finding(
        text=f"The weights are at a saddle point: the norm of the gradient is {gradient}, the "
        f"smallest eigenvalue of the Hessian {text(smallest)}, and a step of "
        f"{text(abs(number(fact, 'step_along_negative') or 0.0))} along it lowers the loss by "
        f"{percent((loss - lower) / abs(loss))}.",
        symptom="plateau",
        numbers={"smallest": smallest, "fall_share": (loss - lower) / abs(loss)},
    )


@Detector("Flat ground at a high loss", needs=("fact:curvature", "fact:loss_check"), family="curvature")
def flat_at_high_loss(run: Run, *, constant_factor: float = 1.2) -> Detected:
    """The loss has neither slope nor curvature around the weights, and is worse than that of a constant.

    Where training has found a solution the ground is flat as well, but the loss is low. Seen when gradient
    and Hessian are next to zero and the loss is {constant_factor} times that of one constant answer (the mean
    of the targets, or even odds for classes) or more: saturated outputs or dead units let nothing through,
    and no step leads anywhere. Not checked where the loss of a constant is not known.
    """
    fact, check = run.facts["curvature"], run.facts["loss_check"]
    loss, guess = number(fact, "loss"), number(check, "chance") or number(check, "constant")
    if loss is None or not guess:
        return Skipped("the loss of a constant answer")
    if fact.get("kind") != "flat" or loss < constant_factor * guess:
        return None
    return Finding(
        text=f"The weights are on flat ground at a high loss: the norm of the gradient is "
        f"{text(number(fact, 'gradient_norm') or 0.0)} and no eigenvalue of the Hessian is beyond "
        f"{text(max(abs(number(fact, key) or 0.0) for key in ('largest', 'smallest')))}, while the loss is "
        f"{text(loss)}, and {text(guess)} for one constant answer: outputs are saturated or units dead.",
        symptom="plateau",
        severity="high",
        numbers={"loss": loss, "constant": guess},
    )


@Detector("Sharpness exceeds the learning rate", needs=("fact:curvature",), family="curvature")
def sharpness_exceeds_lr(
    run: Run, *, excess_factor: float = 1.1, resting_factor: float = 2.0, large_factor: float = 5.0
) -> Detected:
    """The loss is too sharp for the learning rate.

    Plain gradient steps are stable while the learning rate is below 2 over the largest eigenvalue of the
    Hessian. Seen when it exceeds that by {excess_factor} times: steps overshoot and grow along that
    direction. It is a sign: full-batch training hovers about the limit by itself, and on a slope it finds
    flatter ground when it is thrown off. Where the gradient is spent (a minimum, a saddle) training cannot
    stay from {resting_factor} times on, the limit of momentum; from {large_factor} times on it is a problem
    anywhere. A sign as well where the checkpoint's optimizer is Adam, whose limit is another. Not checked
    where no learning rate is given (`--lr`).
    """
    fact = run.facts["curvature"]
    lr, largest = number(fact, "lr"), number(fact, "largest")
    if lr is None or largest is None:
        return Skipped("the learning rate (--lr)")
    excess = lr * largest / 2
    if excess < excess_factor:
        return None
    resting = fact.get("kind") in ("minimum", "saddle") and not _adapts(run)
    large = excess >= (resting_factor if resting else large_factor)
    return Finding(
        text=f"The largest eigenvalue of the Hessian is {text(largest)}: plain steps are stable up to a "
        f"learning rate of {text(2 / largest)}, and {text(lr)} is {excess:.2g} times that.",
        symptom="oscillation" if large else None,
        numbers={"largest": largest, "stable_lr": 2 / largest, "excess": excess},
    )


def _adapts(run: Run) -> bool:
    """Whether the checkpoint's optimizer divides gradients by their size."""
    states = facts(run.facts.get("optimizer_state"))
    return any("betas" in group for state in states for group in facts(state.get("groups")))


@Detector("Batch size and gradient noise", needs=("fact:loss_check",), family="batch_noise")
def batch_and_noise(run: Run, *, factor: float = 10.0) -> Detected:
    """The batch is far smaller or larger than the noise of its gradients asks for.

    The gradient noise scale is the batch size at which noise and signal of a gradient are equal (McCandlish
    et al., 2018). Much smaller batches spend steps on noise; much larger ones spend samples on precision
    that helps little. Seen when the batch is {factor} times below or above it. A sign: the scale grows
    during a training, and is measured over few batches.
    """
    fact = run.facts["loss_check"]
    scale, batch = number(fact, "noise_scale"), number(fact, "batch_size")
    if not scale or not batch:
        return Skipped("gradients of at least 4 batches")
    if batch / factor <= scale <= batch * factor:
        return None
    return Finding(
        text=f"The gradient noise scale is about {scale:.2g} samples, the batch has {batch:.0f}: "
        + ("larger batches would save steps." if scale > batch else "smaller batches would do as well."),
        numbers={"noise_scale": scale, "batch_size": batch},
    )


def cases() -> Cases:
    place = {"loss": 1.0, "smallest": -0.5, "gradient_norm": 1e-5, "step_along_negative": 0.6}
    saddle, minimum, slope = (
        measured(curvature={**place, "kind": kind, "loss_along_negative": lower})
        for kind, lower in (("saddle", 0.6), ("minimum", 1.0), ("slope", 0.6))
    )
    yield from saddle_point.fires(saddle)
    yield from saddle_point.silent(minimum, slope)
    sharp = {"kind": "slope", "largest": 100.0}
    yield from sharpness_exceeds_lr.fires(*(measured(curvature={**sharp, "lr": lr}) for lr in (1.0, 0.03)))
    yield from sharpness_exceeds_lr.silent(*(measured(curvature={**sharp, "lr": lr}) for lr in (0.01, 0.019)))
    resting = {"kind": "minimum", "largest": 100.0, "lr": 0.05}
    yield from sharpness_exceeds_lr.fires(measured(curvature=resting))
    ground = {"loss": 0.56, "gradient_norm": 0.0, "largest": 0.0, "smallest": 0.0}
    levels = {
        level: measured(curvature={**ground, "kind": kind}, loss_check={"constant": level})
        for level, kind in ((0.25, "flat"), (0.6, "flat"), (0.2, "slope"))
    }
    yield from flat_at_high_loss.fires(levels[0.25])
    yield from flat_at_high_loss.silent(levels[0.6], levels[0.2])
    far, near = (5000.0, 0.5), (40.0, None)
    scales = {scale: measured(loss_check={"noise_scale": scale, "batch_size": 32}) for scale in (*far, *near)}
    yield from batch_and_noise.fires(*(scales[scale] for scale in far))
    yield from batch_and_noise.silent(*(scales[scale] for scale in near))
