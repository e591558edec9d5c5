"""The course of the gradient norm."""

from math import exp, log

import numpy as np

from traindx.evidence.detector import Case, Cases, Curve, Detected, Detector, Finding, Skipped, stats
from traindx.evidence.detectors._gradients import loss_harm, positive, scaled
from traindx.evidence.detectors._number_text import strength, text, times, where
from traindx.evidence.detectors._pace import work_changes
from traindx.evidence.detectors._rise import objective_changes
from traindx.testing.sketch import decay, noisy, run


@Detector("Gradients explode", family="gradient_size", guards=("scaled",))
def grad_explodes(
    case: Case,
    grad_norm: Curve,
    *,
    factor: float = 30.0,
    factor_without_harm: float = 100.0,
    min_harm: float = 0.2,
    min_points: int = 8,
) -> Detected:
    """The gradient norm jumps by orders of magnitude.

    Compares every norm with the usual size: the median of the run or of its first third, whichever is
    smaller, and for the first steps with what came before, so that the large norms of a fresh model do not
    count. Trouble when it jumps {factor} times and the loss ends clearly above where it was. A jump of
    {factor_without_harm} times that the loss does not mind (clipping caught it) is a sign only.

    Silent about norms in loss-scaler units (grad_scaled). A sign only where the task changes at the jump: a
    logged stage rises, or a recording shows that steps take longer from there on. Known mistakes: a rise when
    learning sets in after a long flat start; the loss then falls, so it is a sign.
    """
    steps, sizes = positive(grad_norm)
    if sizes.size < min_points:
        return Skipped(f"at least {min_points} values of the gradient norm")
    usual = min(float(np.median(sizes)), float(np.median(sizes[: max(3, sizes.size // 3)])))
    lowest_before = np.minimum.accumulate(np.concatenate([sizes[:1], sizes[:-1]]))
    ratios = sizes / np.maximum(lowest_before, usual)
    jumps = np.flatnonzero(ratios >= factor)
    if not jumps.size:
        return None
    onset, top = float(steps[jumps[0]]), int(ratios.argmax())
    hurt = loss_harm(case, onset)
    staged = objective_changes(case) or work_changes(case, onset)
    harmful = hurt is not None and hurt > min_harm and not staged
    if not harmful and ratios[top] < factor_without_harm:
        return None
    sustained = float(np.median(sizes[-max(3, sizes.size // 10) :])) >= factor_without_harm * usual
    trouble = harmful or (hurt is None and sustained)
    phrase = f", and the loss ends {times(1 + hurt)} its level before" if harmful and hurt is not None else ""
    return Finding(
        text=f"The gradient norm jumps {times(float(ratios[top]))} above its usual {text(usual)}: "
        f"{text(float(sizes[top]))} at {where(grad_norm, float(steps[top]))}{phrase}.",
        symptom="exploding_gradients" if trouble else None,
        severity="high" if harmful else "medium" if trouble else "low",
        step=onset,
        strength=strength(float(ratios[top]), factor, 10 * factor_without_harm) if trouble else 0.5,
        numbers={"grad_norm": usual, "grad_peak": float(sizes[top]), "onset": onset, "clip_new": 2 * usual},
        marks=tuple(float(step) for step in steps[jumps[:20]]),
    )


@Detector("Gradient norm grows", family="gradient_size", guards=("scaled",))
def grad_norm_grows(
    case: Case,
    grad_norm: Curve,
    *,
    factor: float = 3.0,
    large_factor: float = 10.0,
    p_value: float = 1e-3,
    min_harm: float = 0.2,
    min_points: int = 20,
) -> Detected:
    """The gradient norm grows over a long stretch.

    Takes the lowest level the norm held and the level it ends at; seen when it grew at least {factor} times
    and the climb between is significant against the norm's own noise. The norm of many healthy trainings
    rises slowly, of language models above all: below {large_factor} times this is a sign only. From there on
    it is exploding gradients, of low severity while the loss goes on well and of medium severity when the
    loss has turned up.

    Silent about norms in loss-scaler units (grad_scaled) and about the fall from the first steps.
    Known mistakes: norms grow by nature when a model memorises and when warm-up lifts it off a plateau.
    """
    steps, sizes = positive(grad_norm)
    if sizes.size < min_points:
        return Skipped(f"at least {min_points} values of the gradient norm")
    shape = stats.bins(steps, np.log(sizes), 80)
    width = max(3, shape.median.size // 8)
    levels = np.array([np.median(w) for w in np.lib.stride_tricks.sliding_window_view(shape.median, width)])
    low = int(levels[: max(1, 2 * levels.size // 3)].argmin())
    growth = exp(min(700.0, float(levels[-1] - levels[low])))
    climb = stats.trend(shape.step[low:], shape.median[low:])
    if growth < factor or not (climb.p < p_value and climb.slope > 0):
        return None
    onset, begin, end = float(shape.step[low]), exp(float(levels[low])), exp(float(levels[-1]))
    hurt = loss_harm(case, onset)
    orders = growth >= large_factor and not case.surrogate
    return Finding(
        text=f"The gradient norm grew {times(growth)}, from {text(begin)} around {where(grad_norm, onset)} "
        f"to {text(end)} at the end.",
        symptom="exploding_gradients" if orders else None,
        severity="medium" if orders and hurt is not None and hurt > min_harm else "low",
        step=onset,
        strength=strength(growth, factor, 10 * large_factor),
        numbers={"grad_norm": float(np.median(sizes)), "grad_peak": float(sizes.max()), "growth": growth},
        marks=(onset,),
    )


@Detector("Gradients vanish", family="gradient_size", guards=("surrogate",))
def grad_vanishes(
    grad_norm: Curve,
    loss: Curve,
    *,
    fall_factor: float = 1e-4,
    norm_to_loss: float = 1e-4,
    loss_left: float = 0.5,
    min_points: int = 10,
) -> Detected:
    """The gradient norm is next to nothing while the loss is still high.

    Two ways: the norm fell to a ten-thousandth of where it began though the loss lost less than half of its
    start; or it was nearly nothing all along, {norm_to_loss} of the loss or exactly 0, and the loss does not
    move. Usual norms are between a tenth and ten.

    Silent where small gradients are right: the loss came down; reinforcement learning, where batches without
    advantage give none; a norm of 0 that is not measured (the loss falls all the same).
    Known mistakes: full-batch training at a true minimum has no gradient either.
    """
    width = max(3, len(grad_norm) // 10)
    end = float(np.median(grad_norm.y[-width:]))
    steps, sizes = positive(grad_norm)
    start = float(np.median(sizes[:width])) if sizes.size else 0.0
    high = loss.tail > loss_left * loss.head if loss.head > 0 else False
    if start and sizes.size > grad_norm.y.size // 2 and end <= fall_factor * start and high:
        above = np.flatnonzero(sizes > fall_factor * start)
        onset = float(steps[above[-1]])
        return _finding(grad_norm, onset, start, end, f"fell from {text(start)} to {text(end)}", loss)
    nothing = max(start, end) <= norm_to_loss * abs(loss.head) and loss.head != 0
    if nothing and not _moves(loss):
        phrase = "is exactly 0" if grad_norm.y.max() <= 0 else f"is {text(max(start, end))} at most"
        return _finding(grad_norm, float(grad_norm.x[0]), start, end, f"{phrase} all along", loss)
    return None


def _finding(norms: Curve, onset: float, start: float, end: float, change: str, loss: Curve) -> Finding:
    sentence = (
        f"The gradient norm {change} while the loss is at {text(loss.tail)} (it began at {text(loss.head)})."
    )
    numbers = {"grad_norm": end, "grad_first": start, "onset": onset}
    return Finding(
        sentence, "vanishing_gradients", "high", onset, series=norms.name, numbers=numbers, marks=(onset,)
    )


def _moves(loss: Curve) -> bool:
    """Whether the loss changes for good anywhere: then there were gradients."""
    change = abs(loss.head - loss.tail)
    return (
        change > min(3 * loss.noise, 0.2 * abs(loss.head)) or loss.course.came_down() or loss.trend.p < 0.01
    )


@Detector(
    "Gradient norms in loss-scaler units",
    needs=("grad_norm", "loss"),
    family="gradient_size",
    explains=("grad_explodes", "grad_norm_grows", "grad_all_clipped"),
)
def grad_scaled(case: Case, *, min_points: int = 8) -> Detected:
    """The logged gradient norms are multiplied by the loss scale.

    Mixed precision multiplies the loss, and with it every gradient, by a large power of two; some loops log
    the norm before it is divided out. Seen when the norms lie in the tens of thousands or more from the
    first to the last step while the loss is of ordinary size and falls. Then the norms say nothing about
    explosion.

    Silent when training is known to run in bf16 or fp32, and when the norms were ordinary at any time.
    Known mistakes: a sum over a large batch may give such norms without any scaler, though its loss is then
    large too.
    """
    norms, loss = case.grad_norm, case.loss
    if norms is None or loss is None or len(norms) < min_points:
        return Skipped(f"at least {min_points} values of the gradient norm, and a loss")
    if not scaled(case):
        return None
    half = "16" in case.word("precision") or case.word("fp16") == "true" or case.curve("loss_scale")
    sentence = (
        f"Gradient norms lie between {text(float(norms.y.min()))} and {text(float(norms.y.max()))} "
        f"throughout while the loss goes from {text(loss.head)} to {text(loss.tail)}: they look multiplied "
        "by the loss scale."
    )
    numbers = {"grad_norm": float(np.median(norms.y)), "grad_peak": float(norms.y.max())}
    return Finding(sentence, series=norms.name, strength=1.0 if half else 0.8, numbers=numbers)


def cases() -> Cases:
    burst = noisy([0.5] * 60, 0.3)
    burst[10:16] = [600.0, 50.0, 30.0, 700.0, 40.0, 100.0]
    loss = noisy(np.where(np.arange(60) < 10, 1.4, 7.5), 0.03)
    yield from grad_explodes.fires(run({"grad_norm": burst, "loss": loss}))
    lone = noisy([0.5] * 200, 0.3)
    lone[90] = 300.0
    yield from grad_explodes.fires(run({"grad_norm": lone, "loss": noisy([1.0] * 200, 0.03)}))
    yield from grad_explodes.fires(run({"grad_norm": np.where(np.arange(100) < 50, 1.0, 1e6)}))
    yield from grad_explodes.silent(run({"grad_norm": noisy(decay(500, 40.0, 0.3, rate=100), 0.3)}))
    spike = noisy([0.6] * 200, 0.5)
    spike[50] = 43.0
    yield from grad_explodes.silent(run({"grad_norm": spike}, traits=("rl",)))
    yield from grad_explodes.silent(run({"grad_norm": noisy([2e5] * 300, 0.8), "loss": decay(300, 5.0, 0.1)}))
    grown = noisy(np.exp(np.linspace(0, log(30), 200)), 0.3)
    yield from grad_norm_grows.fires(run({"grad_norm": grown, "loss": noisy(decay(200, 3.0, 1.0), 0.02)}))
    yield from grad_norm_grows.fires(
        run({"grad_norm": grown, "loss": noisy(np.linspace(1.0, 3.0, 200), 0.02)})
    )
    yield from grad_norm_grows.silent(
        run({"grad_norm": noisy([1.0] * 300, 0.8)}),
        run({"grad_norm": noisy(decay(300, 15.0, 0.3, rate=40), 0.2)}),
        run({"grad_norm": noisy(np.linspace(1.0, 2.0, 300), 0.2)}),
        run({"grad_norm": noisy([0.5] * 100, 0.3) * (np.arange(100) % 3 > 0)}, traits=("rl",)),
    )
    falling = noisy(np.exp(np.linspace(0, -16, 100)), 0.2)
    yield from grad_vanishes.fires(run({"grad_norm": falling, "loss": noisy([2.3] * 100, 0.01)}))
    yield from grad_vanishes.fires(
        run({"grad_norm": noisy([1e-11] * 60, 0.3), "loss": noisy([2.3] * 60, 0.01)})
    )
    yield from grad_vanishes.fires(run({"grad_norm": [0.0] * 60, "loss": noisy([2.3] * 60, 0.01)}))
    yield from grad_vanishes.silent(
        run({"grad_norm": np.exp(np.linspace(0, -16, 100)), "loss": decay(100, 2.0, 0.0, rate=12)}),
        run({"grad_norm": [0.0] * 60, "loss": noisy(decay(60, 2.3, 1.0), 0.02)}),
        run({"grad_norm": [0.0] * 60, "loss": noisy([0.0] * 60, 0.1, relative=False)}, traits=("rl",)),
        run({"grad_norm": noisy([0.3] * 60, 0.3), "loss": noisy([2.3] * 60, 0.01)}),
    )
    yield from grad_scaled.fires(
        run({"grad_norm": noisy(decay(300, 2e6, 1e5), 0.6), "loss": noisy(decay(300, 5.3, 0.1), 0.1)})
    )
    good = noisy(decay(300, 5.3, 0.1), 0.1)
    yield from grad_scaled.silent(
        run({"grad_norm": noisy([1.0] * 300, 0.5), "loss": good}),
        run({"grad_norm": np.where(np.arange(300) < 50, 1.0, 1e6), "loss": good}),
        run({"grad_norm": noisy([1e6] * 300, 0.5), "loss": good}, settings={"precision": "bf16"}),
        run({"grad_norm": noisy([1e5] * 300, 0.5), "loss": 1e4 * good}),
    )
