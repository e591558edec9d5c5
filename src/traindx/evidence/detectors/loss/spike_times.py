"""What happens at the steps at which the loss spikes."""

import numpy as np

from traindx.evidence.detector import Case, Cases, Curve, Detected, Detector, Finding, FloatArray, Skipped
from traindx.evidence.detectors._number_text import count, times, where
from traindx.evidence.detectors._spiking import (
    FEWEST,
    expected_together,
    gradient_jumps,
    loss_jumps,
    together,
)
from traindx.testing.sketch import decay, noisy, run


@Detector("Spikes once an epoch", family="spike_place")
def spikes_at_epochs(
    case: Case, loss: Curve, *, max_spacing: float = 0.05, min_spikes: int = 3, same_phase_share: float = 0.7
) -> Detected:
    """The spikes of the loss stand at epoch boundaries.

    A sign that the order of the data matters: something comes round once an epoch. Seen when at least
    {min_spikes} spikes, and most of them, lie within {max_spacing} of an epoch from a boundary, or always at
    the same place inside the epoch.

    Silent without spikes, when the log does not tell the length of an epoch, and when points are too far
    apart to tell places inside an epoch.
    """
    epoch = case.epoch_length
    if len(loss) < 30 or epoch is None:
        return Skipped("a training loss of at least 30 values and the length of an epoch")
    if float(np.median(np.diff(loss.x))) > max_spacing * epoch:
        return Skipped(f"the loss at least {1 / max_spacing:.0f} times an epoch")
    jumps = np.array([jump.step for jump in loss_jumps(loss)])
    if jumps.size < min_spikes:
        return Skipped()
    phase = (jumps / epoch) % 1.0
    angle = np.exp(2j * np.pi * phase)
    place = float(np.angle(angle.mean()) / (2 * np.pi)) % 1.0
    off = np.abs((phase - place + 0.5) % 1.0 - 0.5)
    share = float((off <= max_spacing).mean())
    if share < same_phase_share:
        return None
    at = "at the epoch boundary" if min(place, 1 - place) <= max_spacing else f"{place:.0%} into the epoch"
    text = f"{int((off <= max_spacing).sum())} of {jumps.size} spikes of the loss are {at}."
    return Finding(text, step=float(jumps[0]))


@Detector("Spikes at changes of the rate", family="spike_place")
def spikes_at_lr_changes(
    loss: Curve, lr: Curve, *, lr_factor: float = 1.5, distance_share: float = 0.01
) -> Detected:
    """The spikes of the loss stand where the learning rate changes.

    A sign: restarts and sudden raises of the rate shake the loss. Seen when at least half of the spikes
    follow a rise of the rate by {lr_factor} or more within {distance_share} of the run.

    Silent without spikes and without such changes.
    """
    if len(loss) < 30 or len(lr) < 10:
        return Skipped("at least 30 values of the loss and 10 of the learning rate")
    jumps = [jump.step for jump in loss_jumps(loss)]
    if not jumps:
        return Skipped()
    raised = lr.x[1:][lr.y[1:] > lr_factor * np.maximum(lr.y[:-1], 1e-12 * lr.y.max())]
    span = float(loss.x[-1] - loss.x[0])
    near = max(distance_share * span, 2 * float(np.median(np.diff(loss.x))))
    hits = together(jumps, raised, near)
    if hits < max(1, 0.5 * len(jumps)) or hits < 3 * expected_together(len(jumps), raised.size, near, span):
        return None
    text = (
        f"{hits} of {len(jumps)} spikes of the loss follow a rise of the rate to {lr_factor:g} times or more."
    )
    return Finding(text, step=jumps[0])


@Detector("Single odd batches", family="odd_batch", guards=("surrogate",))
def spikes_of_one_batch(
    loss: Curve, *, min_ratio: float = 100.0, back_ratio: float = 2.0, min_points: int = 30
) -> Detected:
    """The loss leaps for a single step and is back at the next: the batch was different, not the model.

    Seen when the loss rises {min_ratio} times or more above its level and the next value is back, every time
    it does. A step that such a gradient had really driven would leave the loss above its level; so the step
    was clipped or tiny, and the batch itself holds outliers.

    Silent when a leap lasts, and where not every step is logged, which would hide how long it lasted.
    Known mistakes: a single very rare and hard sample.
    """
    if loss.axis != "step" or float(np.median(np.diff(loss.x))) > 1:
        return Skipped("the training loss of every step")
    leaps = [spike for spike in loss.spikes if spike.ratio >= min_ratio and spike.peak + 1 < len(loss)]
    if not leaps:
        return Skipped()
    levels = [float(loss.y[leap.peak]) - float(leap.height) for leap in leaps]
    if any(loss.y[leap.peak + 1] > back_ratio * level for leap, level in zip(leaps, levels, strict=True)):
        return None
    top = max(leaps, key=lambda leap: leap.ratio)
    step = float(loss.x[top.peak])
    often = "once" if len(leaps) == 1 else f"{count(len(leaps))} times"
    return Finding(
        f"The loss leaps {often} for one step alone, at {where(loss, step)} to {times(top.ratio)} its level, "
        "and is back at the next: the batch is odd, the weights were hardly touched.",
        step=step,
        numbers={"spike_step": step, "spike_ratio": float(top.ratio)},
        marks=tuple(float(loss.x[leap.peak]) for leap in leaps),
    )


@Detector("Spikes in an even rhythm", family="spike_rhythm")
def spikes_periodic(
    loss: Curve, *, rhythm_tolerance: float = 0.06, min_spikes: int = 4, min_points_apart: int = 5
) -> Detected:
    """The spikes of the loss come at even distances.

    A sign: something comes round in a fixed rhythm, as the same bad batch does in every pass over data that
    is not shuffled. Seen when at least {min_spikes} spikes stand at distances that differ by less than
    {rhythm_tolerance} of their mean, or at multiples of one distance.

    Silent with fewer spikes, and when the loss is logged so rarely that all distances look alike.
    """
    if len(loss) < 30:
        return Skipped("at least 30 values of the training loss")
    jumps = np.array([jump.step for jump in loss_jumps(loss)])
    if jumps.size < min_spikes:
        return Skipped()
    gaps = np.diff(jumps)
    rhythm = float(gaps.min())
    if rhythm < min_points_apart * float(np.median(np.diff(loss.x))):
        return None
    times = np.round(gaps / rhythm)
    rhythm = float((gaps / times).mean())
    off = float(np.abs(gaps / times - rhythm).max()) / rhythm
    if off > rhythm_tolerance or times.max() > 5:
        return None
    text = f"{jumps.size} spikes of the loss are {rhythm:,.4g} {loss.axis}s apart, to within {off:.1%}."
    return Finding(text, step=float(jumps[0]))


@Detector("Gradients spike with the loss", family="spike_partner")
def spikes_with_gradients(
    loss: Curve, grad_norm: Curve, *, norm_factor: float = 3.0, distance_points: float = 2.0
) -> Detected:
    """The gradient norm spikes where the loss spikes.

    A sign: huge gradients reach the optimizer together with, or just before, the spikes of the loss. Seen
    when at least half of the loss's spikes have a gradient norm {norm_factor} times its median within
    {distance_points} points, and far more than would coincide by accident.

    Silent without spikes of the loss.
    """
    if len(loss) < FEWEST or len(grad_norm) < FEWEST:
        return Skipped(f"at least {FEWEST} values of the loss and of the gradient norm")
    jumps = loss_jumps(loss)
    if not jumps:
        return Skipped()
    hits = gradient_jumps(loss, grad_norm, norm_factor, distance_points)
    if hits is None:
        return None
    text = f"At {hits[0]} of {hits[1]} loss spikes the gradient norm is over {norm_factor:g} times its level."
    return Finding(
        text, step=jumps[0].step, series=grad_norm.name, numbers={"grad_peak": float(grad_norm.y.max())}
    )


def _with(curve: FloatArray, at: list[int], times: float = 6.0) -> FloatArray:
    """A curve with spikes."""
    spiking = curve.copy()
    spiking[at] *= times
    return spiking


def cases() -> Cases:
    calm, epoch = noisy(decay(500, 3.0, 1.0), 0.03), np.arange(500) / 100
    yield from spikes_at_epochs.fires(run({"loss": _with(calm, [100, 200, 300, 400]), "epoch": epoch}))
    yield from spikes_at_epochs.silent(
        run({"loss": calm, "epoch": epoch}),
        run({"loss": _with(calm, [117, 245, 380, 432]), "epoch": epoch}),
    )
    yield from spikes_periodic.fires(run({"loss": _with(calm, [97, 194, 291, 388, 485], 20.0)}))
    yield from spikes_periodic.silent(
        run({"loss": calm}), run({"loss": _with(calm, [117, 150, 298, 380, 432])})
    )
    calm, rate = noisy(decay(300, 3.0, 1.0), 0.03), np.tile(np.linspace(0.1, 0.001, 100), 3)
    yield from spikes_at_lr_changes.fires(run({"loss": _with(calm, [101, 201]), "lr": rate}))
    yield from spikes_at_lr_changes.silent(
        run({"loss": calm, "lr": rate}), run({"loss": _with(calm, [150, 250]), "lr": rate})
    )
    norm, spiking = noisy([1.0] * 300, 0.1, seed=1), _with(calm, [150, 220])
    yield from spikes_with_gradients.fires(run({"loss": spiking, "grad_norm": _with(norm, [149, 220], 40.0)}))
    yield from spikes_with_gradients.silent(
        run({"loss": calm, "grad_norm": norm}), run({"loss": spiking, "grad_norm": norm})
    )
    calm = noisy(decay(200, 10.0, 2.0), 0.1)
    lasting = calm.copy()
    lasting[100:104] = [1e6, 1e5, 1e4, 1e3]
    yield from spikes_of_one_batch.fires(run({"loss": _with(calm, [37, 121, 180], 5e6)}))
    yield from spikes_of_one_batch.silent(run({"loss": calm}), run({"loss": lasting}))
