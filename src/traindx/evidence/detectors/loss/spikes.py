"""Spikes of the loss."""

import numpy as np

from traindx.evidence.detector import Case, Cases, Curve, Detected, Detector, Finding, Severity, Skipped
from traindx.evidence.detectors._number_text import percent, times, where
from traindx.evidence.detectors._number_text import text as number_text
from traindx.evidence.detectors._pace import work_changes
from traindx.evidence.detectors._rise import objective_changes
from traindx.evidence.detectors._spiking import felt, lasts, loss_jumps, unclipped
from traindx.testing.sketch import decay, noisy, run


@Detector("Loss spikes", family="spikes", guards=("surrogate",), harms="calm")
def loss_spikes(
    case: Case,
    loss: Curve,
    *,
    spike_ratio: float = 1.5,
    large_ratio: float = 10.0,
    large_share_of_start: float = 0.25,
    min_points: int = 30,
) -> Detected:
    """The loss jumps up for a moment, far outside its own noise.

    A spike is a point or short stretch far above a robust band of its neighbours, and far beyond the tail of
    the curve's ordinary deviations (skewed batch noise is not a spike). Gives their number, the largest, and
    whether each came back. Low when few and recovered: large trainings have them. Medium when one is
    {large_ratio} times its level and {large_share_of_start} of the first loss, or did not come back; of any
    size where the gradient norm jumps with it and it is {large_share_of_start} of the first loss: clipping
    is missing. Low where a recording shows that steps take another time from the largest on, or a logged
    stage of a curriculum rises: the task changed.

    Silent for ordinary noise, in the steep start, for reinforcement learning and GANs, and under
    {min_points} points.
    """
    jumps = loss_jumps(loss, spike_ratio)
    if not jumps:
        return None
    top = max(jumps, key=lambda jump: jump.ratio)
    staged = objective_changes(case)
    lasting = [jump for jump in jumps if lasts(loss, jump) and not staged]
    severity: Severity = (
        "medium"
        if (
            top.ratio >= large_ratio
            and felt(loss, [top], large_share_of_start)
            and not (staged or work_changes(case, top.step))
        )
        or lasting
        or (unclipped(case, loss, [top], large_share_of_start) and not staged)
        else "low"
    )
    count = "1 spike" if len(jumps) == 1 else f"{len(jumps)} spikes"
    back = f"{len(lasting)} not recovered" if lasting else "all recovered" if len(jumps) > 1 else "recovered"
    after = ~loss.finite[loss.series.steps > max(jump.step for jump in jumps)]
    if after[:3].any():
        back = "NaN or Inf follows"
    text = (
        f"{count} of the loss; the largest, at {where(loss, top.step)}, is {top.ratio:.3g} times the level "
        f"around it ({back})."
    )
    numbers = {"spikes": len(jumps), "spike_step": top.step, "spike_ratio": top.ratio}
    steps = tuple(jump.step for jump in jumps)
    return Finding(text, "loss_spike", severity, min(steps), numbers=numbers, marks=steps)


@Detector(
    "Loss spikes again and again",
    family="spikes",
    explains=("loss_spikes",),
    guards=("surrogate",),
    harms="calm",
)
def loss_spikes_recurring(
    case: Case,
    loss: Curve,
    *,
    spike_ratio: float = 1.5,
    min_spikes: int = 4,
    large_ratio: float = 3.0,
    large_share_of_start: float = 0.1,
    min_points: int = 30,
) -> Detected:
    """The loss spikes again and again.

    As loss_spikes, but at least {min_spikes} times. Medium when they are large, beside their level and
    beside the first loss, when some did not come back, or when the gradient norm jumps with them; low
    otherwise. A loss with a margin is zero for most batches.

    Silent for ordinary noise, for reinforcement learning and GANs, and under {min_points} points.
    """
    jumps = loss_jumps(loss, spike_ratio)
    if len(jumps) < min_spikes:
        return None
    sizes = np.array([jump.ratio for jump in jumps])
    typical = float(np.median(sizes))
    lasting = sum(lasts(loss, jump) for jump in jumps)
    large = typical >= large_ratio and felt(loss, jumps, large_share_of_start)
    grave = large or lasting or unclipped(case, loss, jumps, large_share_of_start)
    severity: Severity = "medium" if grave else "low"
    gaps = np.diff([jump.step for jump in jumps])
    pace = f", about every {np.median(gaps):,.4g} {loss.axis}s" if gaps.size else ""
    text = (
        f"{len(jumps)} spikes of the loss{pace}; typically {typical:.3g} times their level, at most "
        f"{sizes.max():.3g} times ({lasting} not recovered)."
    )
    return Finding(
        text, "loss_spike", severity, jumps[0].step, jumps[-1].step, loss.name,
        numbers={"spikes": len(jumps), "spike_step": jumps[0].step, "spike_ratio": typical},
        marks=tuple(jump.step for jump in jumps[:200]),
    )  # fmt: skip


@Detector(
    "Loss far above its start for long", family="hump", guards=("surrogate",), counts_as="loss_leaps_early"
)
def loss_hump(
    case: Case,
    loss: Curve,
    *,
    hump_ratio: float = 5.0,
    hump_share: float = 0.04,
    back_ratio: float = 1.5,
    min_points: int = 60,
) -> Detected:
    """The loss rises far above where it began, stays there for a while, and comes back.

    Compares the typical loss of each stretch with the first and the last level: seen when it is {hump_ratio}
    times the higher of the two or more over {hump_share:%} of the run. The training blew up and had to learn
    again what it knew: that part of the run is lost.

    Silent where the loss does not come back to {back_ratio} times its start (see loss_diverges), where the
    objective changes on purpose, for reinforcement learning and GANs, and for losses that may be negative.
    """
    if not loss.y.min() > 0 or objective_changes(case):
        return Skipped("a positive loss with an objective that stays the same")
    steps, levels = loss.coarse.step, loss.coarse.median
    reference = max(loss.head, loss.tail)
    high = levels > hump_ratio * reference
    way = float(steps[-1] - steps[0])
    if not high.any() or loss.tail > back_ratio * loss.head or way <= 0:
        return None
    widths = np.gradient(steps) if steps.size > 1 else np.zeros(1)
    lost = float(widths[high].sum()) / way
    if lost < hump_share or int(high.sum()) < 3:
        return None
    places = np.flatnonzero(high)
    first, last = float(steps[places[0]]), float(steps[places[-1]])
    top = float(levels[high].max())
    return Finding(
        f"The loss rises from {loss.head:.4g} to a typical {top:.4g} and lies {times(hump_ratio)} its start "
        f"or more for {percent(lost)} of the run, from {where(loss, first)} to {where(loss, last)}, before "
        f"it is back at {loss.tail:.4g}.",
        "loss_spike",
        "medium",
        first,
        last,
        loss.name,
        numbers={"spikes": 1, "spike_step": first, "spike_ratio": top / reference},
        marks=(first, last),
    )


@Detector("Some batches cost far more", family="odd_batch", explains=("loss_spikes",), guards=("surrogate",))
def loss_of_some_batches(
    loss: Curve,
    *,
    times_usual: float = 100.0,
    times_start: float = 10.0,
    min_share: float = 0.03,
    max_share: float = 0.6,
    min_points: int = 60,
) -> Detected:
    """A good part of the batches costs many times more than the others, through the whole run.

    Seen when between {min_share:%} and {max_share:%} of the steps, in each third of the run, have a loss over
    {times_usual} times that of the other steps and over {times_start} times the first losses. Such batches
    hold values of another size (a unit, a sentinel, a broken row), and their gradients outweigh all others.

    Silent where a loss is logged as a mean over many steps, for reinforcement learning and GANs, and for
    losses that are not positive. Known mistakes: targets of a very heavy tail, left as they are.
    """
    if loss.axis != "step" or not (loss.y > 0).all():
        return Skipped("a positive training loss of every step")
    order = np.sort(loss.y)
    steps = np.log(order[1:]) - np.log(order[:-1])
    parts = np.arange(1, order.size) / order.size
    cut = np.where((parts >= 1 - max_share) & (parts <= 1 - min_share), steps, 0.0).argmax()
    above = loss.y > order[cut]
    if not above.any():
        return None
    high, low = float(np.median(loss.y[above])), float(np.median(loss.y[~above]))
    start = float(np.median(loss.y[:8]))
    in_thirds = all(part.mean() >= min_share / 2 for part in np.array_split(above, 3))
    if high < times_usual * low or high < times_start * start or not in_thirds:
        return None
    share = float(above.mean())
    return Finding(
        f"{percent(share)} of the steps have a loss around {number_text(high)}, the others one around "
        f"{number_text(low)}: {times(high / low)} as much, from the first third of the run to the last.",
        "loss_spike",
        "medium",
        step=float(loss.x[int(above.argmax())]),
        numbers={"share": share, "high": high, "low": low},
    )


def cases() -> Cases:
    rises, falls = np.geomspace(4.0, 900.0, 30), decay(200, 900.0, 2.0, rate=10)
    blown_up = noisy([*[4.0] * 100, *rises, *[900.0] * 40, *falls], 0.1)
    yield from loss_hump.fires(run({"loss": blown_up}))
    yield from loss_hump.silent(
        run({"loss": noisy(decay(400, 4.0, 0.5), 0.4)}),
        run({"loss": [4.0, 30.0, 22.0, *decay(200, 12.0, 0.5)]}),
        run({"loss": [*[4.0] * 100, *[900.0] * 100]}),
    )
    odd = np.where(np.arange(120) % 3 == 1, 5000.0, decay(120, 2.0, 0.1))
    yield from loss_of_some_batches.fires(run({"loss": odd}))
    yield from loss_of_some_batches.silent(run({"loss": noisy(decay(120, 2.0, 0.001), 0.5)}))
    yield from loss_of_some_batches.silent(run({"loss": np.where(np.arange(120) < 40, 5000.0, 0.5)}))
    curve = noisy(decay(300, 3.0, 1.0), 0.03)
    curve[200] *= 6
    yield from loss_spikes.fires(run({"loss": curve}))
    yield from loss_spikes.silent(run({"loss": noisy(decay(300, 3.0, 1.0), 0.3)}))
    skewed = decay(300, 3.0, 1.0) * np.random.default_rng(1).gamma(2.0, 0.5, 300)
    yield from loss_spikes.silent(run({"loss": skewed}))
    curve = noisy(decay(400, 3.0, 1.0), 0.03)
    curve[[90, 150, 210, 270, 330]] *= 6
    yield from loss_spikes_recurring.fires(run({"loss": curve}))
    yield from loss_spikes_recurring.silent(run({"loss": noisy(decay(300, 3.0, 1.0), 0.3)}))
    curve = noisy(decay(300, 3.0, 1.0), 0.03)
    curve[200] *= 6
    yield from loss_spikes_recurring.silent(run({"loss": curve}))
