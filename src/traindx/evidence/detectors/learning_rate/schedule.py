"""The course of the learning rate."""

from itertools import pairwise
from math import log

import numpy as np

from traindx.core.facts import facts, number
from traindx.evidence.detector import Case, Cases, Curve, Detected, Detector, Finding, Skipped, stats
from traindx.evidence.detectors._number_text import percent, text, where
from traindx.evidence.detectors._settings import ADAPTIVE, optimizer_family
from traindx.testing.sketch import decay, noisy, run


@Detector("Learning rate constant", family="lr_schedule")
def lr_constant(
    lr: Curve, *, last_share: float = 0.8, tolerance: float = 1e-3, min_points: int = 8
) -> Detected:
    """The learning rate does not change, apart from a warm-up.

    Seen when the last four fifths of the logged rates are all the same: no decay has happened. A sign: right
    for some trainings, in the way of others that would gain from a decay at the end.

    Silent about a rate of 0, fewer than {min_points} values. Known mistakes: a rate printed with few digits
    hides a slow decay; a plateau schedule that has not acted yet.
    """
    late = lr.y[int((1 - last_share) * len(lr)) :]
    value = float(late[-1])
    if value <= 0 or float(late.max() - late.min()) > tolerance * value or lr.y.max() > 1.01 * value:
        return None
    away = np.flatnonzero(np.abs(lr.y - value) > tolerance * value)
    onset = float(lr.x[away[-1] + 1]) if away.size else float(lr.x[0])
    at = f"from {where(lr, onset)} on, after a warm-up" if away.size else f"at all {len(lr)} logged points"
    sentence = f"The learning rate is {text(value)} {at}: it never decays."
    return Finding(sentence, step=onset, numbers={"lr": value})


@Detector("Learning rate zero", family="lr_zero")
def lr_zero(
    case: Case, lr: Curve, *, zero_below: float = 1e-12, zero_share: float = 0.9, min_points: int = 5
) -> Detected:
    """The learning rate is zero for all, or nearly all, of the run.

    Counts the logged rates below {zero_below}. Trouble when they are nine in ten or more: nothing is
    learned.

    Silent about the first value of a warm-up and the last of a schedule, when another parameter group has a
    rate (a part was frozen on purpose), and when the loss falls all the same: then the log rounds the rate
    to 0.
    """
    none = np.abs(lr.y) < zero_below
    part = float(none.mean())
    if part < zero_share or any((group.y > zero_below).mean() > 1 - zero_share for group in case.lr_groups):
        return None
    if case.harm.learned():
        return None
    sentence = f"The learning rate is 0 at {percent(part)} of its {len(lr)} logged values" + (
        f" (the configuration says {text(case.number('lr') or 0.0)})." if case.number("lr") else "."
    )
    numbers = {"lr": 0.0, "onset": float(lr.x[none][0])}
    return Finding(sentence, "not_learning", "high", float(lr.x[none][0]), numbers=numbers)


@Detector("Learning rate restarts", family="lr_schedule")
def lr_restarts(
    case: Case, lr: Curve, *, rise_factor: float = 2.0, min_points: int = 8, max_restarts_share: float = 0.1
) -> Detected:
    """The learning rate rises again after it had decayed.

    A restart is a rise of at least {rise_factor} times after a fall of at least as much. Warm restarts and
    cyclic schedules do this on purpose, a scheduler that is rebuilt on resume by mistake. A sign; the loss
    usually rises for a while at each restart.

    Silent about the first warm-up, and about rates that jump at nearly every point (several groups in one
    curve).
    """
    peak = float(lr.y.max())
    if peak <= 0:
        return None
    thinned = stats.thin(lr.x, lr.y, 2000)
    steps, logs = lr.x[thinned], np.log(np.maximum(lr.y[thinned], 1e-6 * peak))
    pieces = stats.monotone_pieces(logs, threshold=log(rise_factor) * 0.999)
    rises = [b for a, b in pairwise(pieces) if a.change <= -log(rise_factor) * 0.999 and b.change > 0]
    if not rises or len(rises) > max(1.0, max_restarts_share * len(lr)):
        return None
    at = tuple(float(steps[rise.start]) for rise in rises)
    first = rises[0]
    resumed = [step for step in case.events("resume") if at[0] <= step <= float(steps[first.end])]
    sentence = (
        f"The learning rate rises again {len(rises)} time{'s' if len(rises) > 1 else ''} after a decay, "
        f"first from {text(float(np.exp(logs[first.start])))} at {where(lr, at[0])} to "
        f"{text(float(np.exp(logs[first.end])))}{', where the run resumed' if resumed else ''}."
    )
    return Finding(sentence, step=at[0], numbers={"restarts": len(rises), "onset": at[0]}, marks=at[:20])


@Detector("Still warming up at the end", family="warmup")
def lr_still_warming(
    case: Case,
    lr: Curve,
    *,
    growth_factor: float = 1.5,
    reached_share: float = 0.98,
    far_share: float = 0.5,
    times_first: float = 10.0,
    min_points: int = 5,
) -> Detected:
    """The run ends while the learning rate is still warming up.

    Seen when the logged rate never falls, was rising to the very end, and grew by half or more; when the
    configuration or the schedule names the peak it must not have been reached. Trouble when a training ends
    with less than {far_share} of a peak that is known: it never had its learning rate. Where the peak is not
    known, when the rate ends at {times_first} times its first value and the training suffers.

    Silent about rates that have settled, and about a few points.
    Known mistakes: a learning-rate range test rises to its end on purpose.
    """
    last = float(lr.y[-1])
    late = lr.y[-max(3, len(lr) // 10) :]
    never_falls = bool((np.diff(lr.y) >= -1e-9 * abs(last)).all())
    goal = _peak(case, float(lr.y[0]))
    if not never_falls or last <= 0 or lr.y[0] * growth_factor > last or not bool((np.diff(late) > 0).all()):
        return None
    if goal is not None and last >= reached_share * goal:
        return None
    share = f", {percent(last / goal)} of the configured {text(goal)}" if goal else ""
    sentence = (
        f"The learning rate rose from {text(float(lr.y[0]))} to {text(last)}{share} and still rose "
        f"when the run ended at {where(lr, float(lr.x[-1]))}."
    )
    unknown = goal is None and last >= times_first * float(lr.y[0]) and case.harm.suffers
    far = (unknown or (goal is not None and last < far_share * goal)) and not case.inside.stopped
    return Finding(
        sentence,
        symptom="slow_convergence" if far else None,
        severity="high" if far else "low",
        step=float(lr.x[0]),
        end=float(lr.x[-1]),
        numbers={"lr_first": float(lr.y[0]), "lr_last": last},
    )


def _peak(case: Case, first: float) -> float | None:
    """The rate that a schedule starts from, as the optimizer holds it, or that the configuration names."""
    groups = [group for optimizer in case.inside.optimizers for group in facts(optimizer.get("groups"))]
    rates = [rate for group in groups if (rate := number(group, "initial_lr")) is not None]
    peak = max(rates) if rates else case.number("lr")
    return peak if peak is not None and peak > 1.01 * first else None


@Detector("No warm-up", needs=("lr|setting:warmup",), family="warmup")
def lr_no_warmup(
    case: Case,
    lr: Curve | None = None,
    *,
    start_share: float = 0.9,
    early_share: float = 0.005,
    sgd_strength: float = 0.3,
    unknown_optimizer_strength: float = 0.6,
) -> Detected:
    """Training starts at the full learning rate, without a warm-up.

    Seen when the rate logged at the very start (within the first half per cent of the run) is already at its
    peak, or when the configuration sets warm-up to 0 and the logged rate does not speak against it. A sign:
    stronger for Adam and its kin than for SGD.

    Could not look when the log begins later, or counts epochs only: a short warm-up would have been over.
    """
    warmup, ratio = case.number("warmup"), case.number("warmup_ratio")
    if lr is not None and len(lr) > 1 and lr.y[0] < start_share * lr.y[: max(2, len(lr) // 2)].max():
        return None
    if warmup or ratio or (lr is not None and len(lr) and lr.y.max() <= 0):
        return None
    family = optimizer_family(case)
    clarity = 1.0 if family in ADAPTIVE else sgd_strength if family == "sgd" else unknown_optimizer_strength
    if warmup == 0 and "warmup" not in case.word("schedule"):
        phrase = "Warm-up is set to 0"
        if lr is not None and len(lr):
            phrase += f" and the learning rate is already {text(float(lr.y[0]))} when first logged"
        return Finding(text=f"{phrase}.", strength=clarity, numbers={"warmup": 0})
    if lr is None or not _from_the_start(case, lr, early_share):
        return Skipped("the learning rate from the first steps on, or the setting warmup")
    sentence = (
        f"The learning rate is {text(float(lr.y[0]))} at {where(lr, float(lr.x[0]))} already: "
        "there is no warm-up."
    )
    return Finding(
        sentence, step=float(lr.x[0]), series=lr.name, strength=clarity, numbers={"lr_first": float(lr.y[0])}
    )


def _length(case: Case, lr: Curve) -> float:
    return case.planned_steps or float(lr.x[-1])


def _from_the_start(case: Case, lr: Curve, early: float) -> bool:
    if lr.axis != "step" or len(lr) < 5:
        return False
    length = _length(case, lr)
    return float(lr.x[0]) <= max(1.0, early * length) and float(np.diff(lr.x[:5]).max()) <= 0.02 * length


def cases() -> Cases:
    yield from lr_constant.fires(run({"lr": [1e-4] * 50}), run({"lr": [1e-5, 5e-5] + [1e-4] * 50}))
    yield from lr_constant.silent(run({"lr": np.linspace(1e-4, 1e-6, 50)}))
    yield from lr_constant.silent(run({"lr": [0.0] * 50}))
    yield from lr_constant.silent(run({"lr": [0.1] * 5 + [0.01] * 50}))
    yield from lr_constant.silent(run({"lr": [1e-4] * 4}))
    yield from lr_zero.fires(run({"lr": [0.0] * 60, "loss": noisy([1.5] * 60, 0.1)}))
    yield from lr_zero.fires(run({"lr": [1e-4] + [0.0] * 40}))
    yield from lr_zero.silent(run({"lr": np.concatenate([[0.0], np.linspace(1e-4, 0.0, 60)])}))
    yield from lr_zero.silent(run({"lr": [0.0] * 60, "loss": noisy(decay(60, 3.0, 1.0), 0.02)}))
    yield from lr_zero.silent(run({"lr": [0.0] * 60, "lr/head": [1e-3] * 60}))
    yield from lr_zero.silent(run({"lr": [0.0, 2e-5]}))
    cycle = 0.5e-3 * (1.02 + np.cos(np.linspace(0, np.pi, 100)))
    yield from lr_restarts.fires(run({"lr": np.tile(cycle, 3)}))
    yield from lr_restarts.silent(
        run({"lr": np.concatenate([np.linspace(0, 1e-3, 20), np.linspace(1e-3, 0, 200)])}),
        run({"lr": [1e-3] * 100}),
        run({"lr": np.tile([1e-3, 1e-5], 50)}),
    )
    yield from lr_still_warming.fires(run({"lr": np.linspace(0, 0.04, 22)}, settings={"lr": 0.6}))
    yield from lr_still_warming.fires(run({"lr": np.linspace(1e-6, 1e-4, 50)}))
    yield from lr_still_warming.silent(
        run({"lr": np.concatenate([np.linspace(0, 1e-3, 20), np.full(80, 1e-3)])}),
        run({"lr": np.concatenate([np.linspace(0, 1e-3, 20), np.linspace(1e-3, 0, 80)])}),
        run({"lr": [1e-4] * 50}),
        run({"lr": np.linspace(1e-6, 1e-4, 50)}, settings={"lr": 1e-4}),
    )
    yield from lr_no_warmup.fires(run({"lr": np.linspace(6e-4, 6e-5, 2000)}))
    yield from lr_no_warmup.fires(run({"loss": [1.0]}, settings={"warmup": 0, "optimizer": "adamw"}))
    rise = np.concatenate([np.linspace(1e-6, 6e-4, 50), np.linspace(6e-4, 6e-5, 2000)])
    yield from lr_no_warmup.silent(run({"lr": rise}))
    yield from lr_no_warmup.silent(run({"lr": (np.arange(500.0, 40000.0, 500.0), np.linspace(1e-4, 0, 79))}))
    yield from lr_no_warmup.silent(run({"lr": [1e-3] * 30}, axis="epoch"))
    yield from lr_no_warmup.silent(run({"lr": np.linspace(6e-4, 6e-5, 2000)}, settings={"warmup": 100}))
