"""Deep in the model, activations are nearly the same for every input.

Takes how far the units of each activation vary from sample to sample beside how large they are. Seen when
that is healthy near the input ({first_spread}) and next to nothing at the deepest activation ({last_spread})
in most looks: what the sample says is lost on the way, only biases are left. Then the output can only be a
constant.

Silent when it recovers in the course of training, and for models of less than {min_layers} activations. Known
mistakes: inputs that hardly differ from each other.
"""

import numpy as np

from traindx.evidence.detector import Case, Detected, Detector, Finding, Place, Run, Runs, Skipped
from traindx.evidence.detectors._layers import modules_in_order, shown
from traindx.evidence.detectors._number_text import percent, strength
from traindx.testing.sketch import decay, run

DETECTOR = Detector(
    title="Signal lost with depth",
    needs=("activation_spread/*",),
    family="signal_with_depth",
    harms="learning",
)


def detect(
    case: Case,
    *,
    first_spread: float = 0.1,
    last_spread: float = 0.03,
    fall_factor: float = 10.0,
    min_layers: int = 3,
    min_samples: int = 3,
) -> Detected:
    curves = {n: c for n, c in modules_in_order(case, "activation_spread") if len(c) >= min_samples}
    if len(curves) < min_layers:
        return Skipped(f"{min_samples} samples of {min_layers} activations or more")
    spreads = {name: float(np.median(curve.y[1:])) for name, curve in curves.items()}
    top = max(list(spreads.values())[: max(1, len(spreads) // 3)])
    deepest = list(spreads)[-1]
    end = max(spreads[deepest], float(curves[deepest].y[-1]), 1e-9)
    if top < first_spread or end > last_spread or top < fall_factor * end:
        return None
    lost = [name for name, value in spreads.items() if value <= last_spread]
    return Finding(
        text=f"At {shown([deepest])} activations differ between samples by {percent(end)} of their size, "
        f"against {percent(top)} near the input: what the input says is lost from {shown(lost[:1])} on.",
        symptom="vanishing_gradients",
        severity="medium",
        step=float(curves[deepest].x[0]),
        series=curves[deepest].name,
        strength=strength(top / end, fall_factor, 100.0),
        numbers={"spread_first": top, "spread_last": end, "layers": len(spreads)},
        places=tuple(Place(layer=name.removesuffix(".input")) for name in lost[:1]),
    )


def _spreads(values: list[float], losses: list[float]) -> Run:
    series = {f"activation_spread/{2 * at + 1}": [value] * 5 for at, value in enumerate(values)}
    return run({"loss": losses, **series})


def fires() -> Runs:
    yield _spreads([0.8, 0.3, 0.1, 0.03, 0.008, 0.002], [1.6] * 40)


def silent() -> Runs:
    yield _spreads([0.8, 0.7, 0.7, 0.6], list(decay(40, 2.0, 0.1)))
    yield _spreads([0.02, 0.01, 0.01, 0.005], [1.6] * 40)
    back = {f"activation_spread/{at}": [0.9 / 10**at, 0.9 / 10**at, 0.9 / 10**at, 0.6] for at in range(4)}
    yield run({"loss": decay(40, 2.0, 0.1), **back})
