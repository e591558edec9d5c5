"""How the training loss ends."""

import numpy as np

from traindx.evidence.detector import Case, Cases, Curve, Detected, Detector, Finding, Skipped
from traindx.evidence.detectors._number_text import percent, strength, text
from traindx.evidence.validation import running_median
from traindx.testing.sketch import decay, noisy, run

_COUNTED = ("loss", "val/loss", "test/loss", "reward", "accuracy", "val/accuracy")


@Detector("Still improving at the end", family="slow", guards=("surrogate",))
def ends_improving(
    case: Case,
    val_loss: Curve,
    *,
    falling_evaluations: int = 4,
    min_fall: float = 0.1,
    lr_lowered_share: float = 0.5,
    min_points: int = 8,
) -> Detected:
    """The validation loss is still falling when the run ends.

    Seen when each of the last {falling_evaluations} evaluations is below the one before, and over the last
    third of the run the loss fell by at least {min_fall}: it was ended, not done. Never trouble by itself;
    with a rate that was not lowered it says that more steps, or a higher rate, would bring more.

    Silent when the rate has come down to {lr_lowered_share} of its peak (what is left then falls with the
    rate), for reinforcement learning and GANs, and under {min_points} evaluations.
    """
    if len(val_loss) < min_points:
        return Skipped(f"at least {min_points} evaluations on validation data")
    rates = case.curve("lr")
    if rates is not None and len(rates) and float(rates.y[-1]) <= lr_lowered_share * float(rates.y.max()):
        return None
    last = val_loss.y[-(len(val_loss) // 3) - 1 :]
    fell = float(last[0] - last[-1])
    if (
        val_loss.broken
        or last[-1] <= 0
        or not (np.diff(val_loss.y[-falling_evaluations:]) < 0).all()
        or fell < min_fall * last[0]
    ):
        return None
    part = fell / float(last[0])
    return Finding(
        text=f"The validation loss is still falling at the end: by {percent(part)} over the last third of "
        f"the run, to {text(float(last[-1]))}. More steps or a higher rate would bring more "
        "(traindx lr-find finds the rate).",
        strength=strength(part, min_fall, 0.4),
        numbers={"fell": part, "last_value": float(last[-1])},
    )


@Detector(
    "Ends worse than it began",
    family="rise",
    explains=("plateau", "swings_without_progress", "loss_flat"),
    guards=("surrogate", "elbo", "preference", "resumed", "good", "improving"),
    counts_as="oscillation",
)
def ends_worse(
    loss: Curve,
    val_loss: Curve,
    *,
    min_rise: float = 0.05,
    max_dip: float = 0.1,
    min_points: int = 6,
    swing_share: float = 0.15,
    swinging_points: int = 10,
) -> Detected:
    """The validation loss ends above its first value, and the training loss did not fall either.

    A training that learns, overfits or converges early has at least one loss that came down. Seen when the
    last third of {min_points} or more evaluations lies {min_rise} or more of the first value above it, no
    three in a row have a median more than {max_dip} below it, and the training loss of the last third is not
    below that of the time after its first value by more than its noise. The rise must be more than the noise
    of the evaluations, unless they jump by {swing_share} of the first value and more over {swinging_points}
    evaluations: such jumps are the trouble.

    Silent when the log begins in the middle of a training, when a score is good or rises, for reinforcement
    learning and GANs, and for losses that are not positive.
    """
    if not (loss.y > 0).all() or not (val_loss.y > 0).all():
        return None
    first, third = float(val_loss.y[0]), max(2, len(val_loss) // 3)
    last = float(np.median(val_loss.y[-third:]))
    lowest = float(running_median(val_loss.y, 3).min())
    if last < (1 + min_rise) * first or lowest < (1 - max_dip) * first:
        return None
    jumps = len(val_loss) >= swinging_points and val_loss.noise > swing_share * first
    if last - first < 2.0 * val_loss.noise / np.sqrt(third) and not jumps:
        return None
    part = max(2, len(loss) // 3)
    before, after = float(np.median(loss.y[1 : 1 + part])), float(np.median(loss.y[-part:]))
    if after < before - max(0.02 * before, 2.0 * loss.noise * float(np.sqrt(2.0 / part))):
        return None
    rise = last / first - 1
    return Finding(
        f"The validation loss is {text(first)} at its first evaluation and {text(last)} in the last third "
        f"({percent(rise)} more); the training loss did not fall either ({text(before)} early, "
        f"{text(after)} at the end).",
        "not_learning",
        "medium",
        step=float(loss.x[0]),
        end=float(loss.x[-1]),
        series=val_loss.name,
        strength=strength(rise, min_rise, 0.5),
        numbers={"first_value": first, "last_value": last},
    )


@Detector("Run too short to say", family="length")
def run_too_short(case: Case, *, min_points: int = 6) -> Detected:
    """The log holds too few points to tell trouble from noise.

    Counts the finite points of the training and the validation curves. With fewer than {min_points} on every
    one of them only plain facts (NaN, a learning rate of zero, a loss that explodes) can be judged; the
    verdict is then that evidence is thin, never that the run is healthy.

    Silent when any of the loss curves, or for reinforcement learning the reward, is long enough.
    """
    curves = [case.loss, case.val_loss, *(case.part_of(name) for name in _COUNTED)]
    longest = max((len(curve.series) for curve in curves if curve is not None), default=0)
    if longest >= min_points:
        return None
    if longest == 0:
        count = max((len(series) for series in case.run.series.values()), default=0)
        text = (
            f"There is no loss and no known metric in {len(case.run.series)} series of up to {count} points."
        )
        return Finding(text, numbers={"points": 0})
    points = "1 point" if longest == 1 else f"{longest} points"
    text = f"Its longest loss or metric curve has {points}; fewer than {min_points} are too few to judge."
    return Finding(text, numbers={"points": longest})


def cases() -> Cases:
    yield from ends_improving.fires(
        run({"val/loss": [0.9 * 0.93**i for i in range(15)]}, axis="epoch"),
        run({"val/loss": [2.0 - 0.1 * i for i in range(12)], "lr": [0.001] * 12}, axis="epoch"),
    )
    yield from ends_improving.silent(
        run({"val/loss": decay(20, 2.0, 0.5)}, axis="epoch"),
        run({"val/loss": [1.0, 0.5, 0.3, 0.2, 0.15, 0.13, 0.12, 0.125, 0.12, 0.13]}, axis="epoch"),
    )
    falling = [0.9 * 0.93**i for i in range(15)]
    yield from ends_improving.silent(
        run({"val/loss": falling, "lr": [0.01 * 0.8**i for i in range(15)]}, axis="epoch")
    )
    up = noisy(np.linspace(1.05, 1.3, 20), 0.03)
    yield from ends_worse.fires(
        run({"loss": noisy(np.full(20, 1.25), 0.1), "val/loss": up}),
        run({"loss": [9.8, 17.0, 18.0, 17.0, 19.0, 18.0, 18.0], "val/loss": [16.0, 22, 24, 25, 25, 26, 26]}),
    )
    overfits = np.concatenate([decay(8, 1.0, 0.8), np.linspace(0.8, 1.3, 12)])
    yield from ends_worse.silent(
        run({"loss": decay(20, 1.0, 0.05), "val/loss": overfits}, axis="epoch"),
        run({"loss": noisy(np.full(30, 1.0), 0.2), "val/loss": noisy(np.full(30, 1.0), 0.05)}),
    )
    falls = decay(20, 2.0, 0.4)
    yield from ends_worse.silent(
        run({"loss": noisy(falls, 0.05), "val/loss": noisy(falls, 0.05, seed=1)}, axis="epoch")
    )
    yield from run_too_short.fires(run({"loss": [2.0, 1.5, 1.2]}), run({"my_curve": [1.0] * 50}))
    yield from run_too_short.silent(run({"loss": decay(50, 2.0, 0.5)}))
    yield from run_too_short.silent(run({"val/loss": decay(10, 2.0, 0.5)}, axis="epoch"))
