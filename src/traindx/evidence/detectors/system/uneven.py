"""Steps that take longer than others, or too short to be worth their overhead."""

from typing import Any

import numpy as np

from traindx.core.facts import Fact, number, sizes, word
from traindx.core.kinds import kind_of_layer
from traindx.evidence.detector import (
    Case,
    Cases,
    Curve,
    Detected,
    Detector,
    Finding,
    FloatArray,
    Run,
    Skipped,
)
from traindx.evidence.detectors._number_text import percent, strength, text, times
from traindx.evidence.detectors._pace import settled
from traindx.evidence.sampled import odd_objective, only_loss, usual
from traindx.testing.sketch import noisy, run

_BESIDE = ("LayerNorm", "PReLU")
_OPERATIONS = 6.0
_SLOW_CORE = 1e9


@Detector("Slow single steps", family="slow_steps")
def step_time_outliers(
    case: Case,
    step_s: Curve,
    *,
    slow_factor: float = 4.0,
    lost_share: float = 0.1,
    large_share: float = 0.3,
    max_slow_share: float = 0.1,
    min_slow_steps: int = 5,
    min_total_seconds: float = 10.0,
    max_crowding: float = 2.0,
    min_points: int = 50,
) -> Detected:
    """Single steps take many times longer than the usual step.

    An outlier takes {slow_factor} times the median step. Seen when outliers, the first steps left out, take
    {lost_share} or more of the whole time. When they come at regular intervals they are evaluations or
    checkpoints: a sign. Irregular ones are slow training where they take {min_total_seconds} seconds of a
    recording; of medium severity when they take {large_share} of the whole time, on a machine on which less
    than {max_crowding} processes want each core: other programs interrupt the steps.

    Silent when more than a tenth of the steps is slow: that is a slow stretch, not outliers.
    Known mistakes: a log that writes only some steps shows only some of the outliers.
    """
    steps, seconds = settled(step_s)
    if seconds.size < min_points:
        return Skipped(f"at least {min_points} values of the time per step")
    usual = float(np.median(seconds))
    slow = seconds > slow_factor * usual
    count = int(slow.sum())
    lost = float((seconds[slow] - usual).sum() / seconds.sum())
    if count < 2 or slow.mean() > max_slow_share or lost < lost_share:
        return None
    regular = _regular(steps[slow])
    costs = lost * float(seconds.sum()) >= min_total_seconds or not case.inside.recorded
    trouble = not regular and count >= min_slow_steps and costs
    crowded = case.inside.crowding >= max_crowding or case.inside.brief
    kind = f"every {text(regular)} steps" if regular else "at irregular intervals"
    typical = float(np.median(seconds[slow]))
    return Finding(
        text=f"{count} steps take {text(typical)} s instead of {text(usual)} s ({times(typical / usual)}), "
        f"{kind}: {percent(lost)} of the logged time.",
        symptom="slow_training" if trouble else None,
        severity="medium" if trouble and lost >= large_share and not crowded else "low",
        step=float(steps[slow][0]),
        strength=strength(lost, lost_share, 0.5) if trouble else 0.4,
        numbers={"slow_factor": round(typical / usual, 1)},
        marks=tuple(float(step) for step in steps[slow][:20]),
    )


def _regular(steps: FloatArray) -> float:
    """The interval at which most of the steps come, or a whole multiple of it; 0 when there is none."""
    gaps = np.diff(steps)
    gaps = gaps[gaps > 0]
    if gaps.size < 2:
        return 0.0
    sizes, counts = np.unique(gaps, return_counts=True)
    for size in sizes[np.argsort(-counts)][:5]:
        if counts[sizes == size][0] >= 2 and float((gaps % size == 0).mean()) >= 0.7 and size > 1:
            return float(size)
    # Evaluations of two kinds, or once an epoch: positions fall on the grid of a common interval.
    common = float(np.median(gaps))
    return common if common > 1 and float((np.abs(gaps / common - 1) < 0.1).mean()) >= 0.7 else 0.0


@Detector("Tiny steps", needs=("fact:losses",), family="batch")
def tiny_steps(
    case: Case,
    step_s: Curve,
    *,
    max_batch_size: int = 4,
    min_steps: float = 1000,
    idle_share: float = 0.9,
    max_wait_share: float = 0.3,
    long_seconds: float = 600.0,
) -> Detected:
    """Steps so small that their fixed cost is all there is.

    Every step costs the same for starting operations and the optimizer, however few samples it holds. Seen
    when a step holds {max_batch_size} samples or fewer over {min_steps} steps, the model is made of dense
    layers (whose work for a sample is known from their weights), and its arithmetic would take under a tenth
    of its time on a slow core. A larger batch then costs next to nothing.

    Worth knowing and no fault: low, medium only when it went on for {long_seconds} seconds. Silent for
    convolutions, recurrence and attention, whose work the weights do not tell, for several losses, for RL
    and GANs, and where steps wait for data or for other work. Known mistakes: online learning, which has to
    take samples one by one.
    """
    loss = only_loss(case)
    models = case.inside.models
    if loss is None or len(models) != 1 or len(step_s) < 50 or odd_objective(case):
        return Skipped("one model, one loss and the times of its steps")
    layers = case.inside.layer_list
    if not layers or not all(_is_cheap(layer) for layer in layers):
        return Skipped()
    shape, parts = sizes(loss.get("output_shape")), case.inside.fact("accumulation")
    if not 1 <= len(shape) <= 2:
        return Skipped()
    seconds = float(np.median(step_s.y))
    steps = float(step_s.x[-1])
    batch = shape[0] * max(1.0, number(parts, "per_step") or 1.0)
    work = _OPERATIONS * (number(models[0], "parameters") or 0.0) * batch
    waiting = usual(case, "data_wait_s") or 0.0
    if (
        batch > max_batch_size
        or steps < min_steps
        or work / _SLOW_CORE > (1 - idle_share) * seconds
        or waiting > max_wait_share * seconds
    ):
        return None
    spent = steps * seconds
    return Finding(
        f"A step holds {text(batch)} sample{'s' if batch > 1 else ''} and takes {text(1e3 * seconds)} ms, of "
        f"which the arithmetic of {text(number(models[0], 'parameters') or 0.0)} weights is under a tenth: "
        f"{text(steps)} steps are nearly all fixed cost.",
        "slow_training",
        "medium" if spent >= long_seconds else "low",
        float(step_s.x[0]),
        series="step_s",
        numbers={"batch": batch, "step_s": seconds},
    )


def _is_cheap(layer: Fact) -> bool:
    """A dense layer, or one of the few that cost less beside it."""
    return kind_of_layer(layer) == "dense" or word(layer, "type").startswith(_BESIDE)


def _run(batch: int, count: int, kind: str = "Linear", weights: int = 400) -> Run:
    layers = [{"name": "0", "type": kind, "parameters": weights}]
    facts: dict[str, Any] = {
        "losses": [{"function": "mse_loss", "output_shape": f"{batch}x1"}],
        "models": [{"parameters": weights, "layer_list": layers}],
    }
    at = list(range(1, count, max(1, count // 200)))
    return run({"step_s": (at, noisy([7e-4] * len(at), 0.1))}, facts=facts)


def cases() -> Cases:
    yield from step_time_outliers.fires(
        run({"step_s": noisy(np.where(np.arange(2000) % 250 == 0, 19.0, 0.4), 0.05)})
    )
    stalls = noisy([0.4] * 1000, 0.05)
    stalls[np.random.default_rng(3).choice(1000, 30, replace=False)] = 20.0
    yield from step_time_outliers.fires(run({"step_s": stalls}))
    yield from step_time_outliers.silent(
        run({"step_s": noisy([0.4] * 300, 0.3)}),
        run({"step_s": [20.0, 3.0] + [0.4] * 200}),
        run({"step_s": noisy(np.where(np.abs(np.arange(300) - 150) < 40, 0.5, 0.05), 0.1)}),
    )
    yield from tiny_steps.fires(_run(1, 4000))
    yield from tiny_steps.silent(_run(32, 4000))
    yield from tiny_steps.silent(_run(1, 300))
    yield from tiny_steps.silent(_run(1, 4000, kind="Conv2d"))
    yield from tiny_steps.silent(_run(1, 4000, weights=10_000_000))
