"""What the curvature and the noise of gradients say."""

from traindx.evidence.detector import Cases, Detected, Detector, Finding, Run, Skipped, number
from traindx.evidence.detectors._number_text import percent, text
from traindx.testing.sketch import measured


@Detector("Saddle point", needs=("fact:curvature",), family="curvature")
def saddle_point(run: Run, *, fall_share: float = 0.01) -> Detected:
    """The weights rest at a saddle point: no gradient to follow, and a direction in which the loss falls.

    Measured by the smallest eigenvalue of the Hessian: clearly negative (beyond its uncertainty and a
    fiftieth of the largest) where the gradient promises less than a hundredth of the loss. Seen when a step
    along that direction lowers the loss by {fall_share:%} or more. Silent at minima, on flat ground, and
    where the gradient still leads down.
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


@Detector("Sharpness exceeds the learning rate", needs=("fact:curvature",), family="curvature")
def sharpness_exceeds_lr(run: Run, *, excess_factor: float = 1.1, large_factor: float = 5.0) -> Detected:
    """The loss is too sharp for the learning rate.

    Plain gradient steps are stable while the learning rate is below 2 over the largest eigenvalue of the
    Hessian. Seen when it exceeds that by {excess_factor} times: steps overshoot and grow along that
    direction. Adam and momentum move the limit, so that this is a sign unless the excess is {large_factor}
    times or more. Not checked where no learning rate is given (`--lr`).
    """
    fact = run.facts["curvature"]
    lr, largest = number(fact, "lr"), number(fact, "largest")
    if lr is None or largest is None:
        return Skipped("the learning rate (--lr)")
    excess = lr * largest / 2
    if excess < excess_factor:
        return None
    large = excess >= large_factor
    return Finding(
        text=f"The largest eigenvalue of the Hessian is {text(largest)}: plain steps are stable up to a "
        f"learning rate of {text(2 / largest)}, and {text(lr)} is {excess:.2g} times that.",
        symptom="oscillation" if large else None,
        numbers={"largest": largest, "stable_lr": 2 / largest, "excess": excess},
    )


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
    far, near = (5000.0, 0.5), (40.0, None)
    scales = {scale: measured(loss_check={"noise_scale": scale, "batch_size": 32}) for scale in (*far, *near)}
    yield from batch_and_noise.fires(*(scales[scale] for scale in far))
    yield from batch_and_noise.silent(*(scales[scale] for scale in near))
