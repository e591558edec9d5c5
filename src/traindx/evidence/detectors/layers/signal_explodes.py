"""Activations grow from layer to layer.

Compares the spread of what the last layers give with that of the first ones at the first look. Seen when it
grows {growth_factor} times and more, with order in it: every layer multiplies the signal, and the output is
far beyond what the loss expects. It is trouble when the loss does not come down or breaks.

Silent for less than {min_layers} layers, and where norms bring the scale back.
Known mistakes: a model that scales its outputs on purpose at the end.
"""

import numpy as np

from traindx.evidence.detector import Case, Detected, Detector, Finding, Place, Run, Runs, Skipped
from traindx.evidence.detectors._layers import modules_in_order, slopes_down
from traindx.evidence.detectors._number_text import strength, text, times
from traindx.testing.sketch import run

DETECTOR = Detector(
    title="Signal grows with depth", needs=("activation_std/*",), family="signal_with_depth", harms="numbers"
)


def detect(
    case: Case, *, growth_factor: float = 100.0, min_layers: int = 3, rank_correlation: float = 0.8
) -> Detected:
    curves = dict(modules_in_order(case, "activation_std"))
    firsts = [float(curve.x[0]) for curve in curves.values()]
    curves = {name: curve for name, curve in curves.items() if curve.x[0] <= min(firsts) + 1}
    functions = [name for name in case.inside.layers("activation_spread") if name in curves]
    names = functions if len(functions) >= min_layers else list(curves)
    values = np.array([float(curves[name].y[0]) for name in names])
    if values.size < min_layers:
        return Skipped(f"the first sample of {min_layers} layers or more")
    low, high = float(values[0]), float(values[-1])
    if low <= 0 or high < growth_factor * low or slopes_down(values) < rank_correlation:
        return None
    return Finding(
        text=f"Activations grow {times(high / low)} from `{names[0]}` ({text(low)}) to `{names[-1]}` "
        f"({text(high)}) at the first sample.",
        symptom="exploding_gradients",
        severity="medium",
        step=float(curves[names[-1]].x[0]),
        series=curves[names[-1]].name,
        strength=strength(high / low, growth_factor, 1e4),
        numbers={"growth": high / low, "layers": int(values.size)},
        places=(Place(layer=names[-1].removesuffix(".input")),),
    )


def _stds(factor: float, layers: int) -> Run:
    return run(
        {"loss": [90.0, 70.0, 80.0] * 9} | {f"activation_std/{at}": [factor**at] * 4 for at in range(layers)}
    )


def fires() -> Runs:
    yield _stds(6.0, 6)


def silent() -> Runs:
    yield _stds(1.3, 8)
    yield _stds(0.5, 8)
    yield _stds(50.0, 2)
