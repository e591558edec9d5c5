"""Steps so small that their fixed cost is all there is.

Every step costs the same for starting operations and the optimizer, however few samples it holds. Seen when a
step holds {max_batch_size} samples or fewer over {min_steps} steps, the model is made of dense layers (whose
work for a sample is known from their weights), and its arithmetic would take under a tenth of its time on a
slow core. A larger batch then costs next to nothing.

Worth knowing and no fault: low, medium only when it went on for {long_seconds} seconds. Silent for
convolutions, recurrence and attention, whose work the weights do not tell, for several losses, for RL and
GANs, and where steps wait for data or for other work. Known mistakes: online learning, which has to take
samples one by one.
"""

from typing import Any

import numpy as np

from traindx.core.kinds import kind_of_layer
from traindx.evidence.detector import (
    Case,
    Curve,
    Detected,
    Detector,
    Fact,
    Finding,
    Run,
    Runs,
    Skipped,
    number,
    word,
)
from traindx.evidence.detectors._number_text import text
from traindx.evidence.sampled import odd_objective, only_loss, usual
from traindx.testing.sketch import noisy, run

DETECTOR = Detector(title="Tiny steps", needs=("fact:losses",), family="batch")
_BESIDE = ("LayerNorm", "PReLU")
_OPERATIONS = 6.0
_SLOW_CORE = 1e9


def detect(
    case: Case,
    step_s: Curve,
    *,
    max_batch_size: int = 4,
    min_steps: float = 1000,
    idle_share: float = 0.9,
    max_wait_share: float = 0.3,
    long_seconds: float = 600.0,
) -> Detected:
    loss = only_loss(case)
    models = case.inside.models
    if loss is None or len(models) != 1 or len(step_s) < 50 or odd_objective(case):
        return Skipped("one model, one loss and the times of its steps")
    layers = case.inside.layer_list
    if not layers or not all(_is_cheap(layer) for layer in layers):
        return Skipped()
    given = str(loss.get("output_shape", "")).split("x")[0]
    parts = case.inside.fact("accumulation")
    if not given.isdigit() or len(str(loss.get("output_shape", "")).split("x")) > 2:
        return Skipped()
    each = float(np.median(step_s.y))
    taken = float(step_s.x[-1])
    batch = int(given) * max(1.0, number(parts, "per_step") or 1.0)
    work = _OPERATIONS * (number(models[0], "parameters") or 0.0) * batch
    waiting = usual(case, "data_wait_s") or 0.0
    if (
        batch > max_batch_size
        or taken < min_steps
        or work / _SLOW_CORE > (1 - idle_share) * each
        or waiting > max_wait_share * each
    ):
        return None
    spent = taken * each
    return Finding(
        f"A step holds {text(batch)} sample{'s' if batch > 1 else ''} and takes {text(1e3 * each)} ms, of "
        f"which the arithmetic of {text(number(models[0], 'parameters') or 0.0)} weights is under a tenth: "
        f"{text(taken)} steps are nearly all fixed cost.",
        "slow_training",
        "medium" if spent >= long_seconds else "low",
        float(step_s.x[0]),
        series="step_s",
        numbers={"batch": batch, "step_s": each},
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


def fires() -> Runs:
    yield _run(1, 4000)


def silent() -> Runs:
    yield _run(32, 4000)
    yield _run(1, 300)
    yield _run(1, 4000, kind="Conv2d")
    yield _run(1, 4000, weights=10_000_000)
