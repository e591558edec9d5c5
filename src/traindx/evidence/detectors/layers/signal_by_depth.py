"""The signal from layer to layer."""

import numpy as np

from traindx.evidence.detector import Case, Cases, Detected, Detector, Finding, Place, Run, Skipped
from traindx.evidence.detectors._layers import modules_in_order, quoted, slopes_down
from traindx.evidence.detectors._number_text import percent, strength, text, times
from traindx.testing.sketch import decay, run


@Detector("Signal grows with depth", needs=("activation_std/*",), family="signal_with_depth", harms="numbers")
def signal_explodes(
    case: Case, *, growth_factor: float = 100.0, min_layers: int = 3, rank_correlation: float = 0.8
) -> Detected:
    """Activations grow from layer to layer.

    Compares the spread of what the last layers give with that of the first ones at the first look. Seen when
    it grows {growth_factor} times and more, with order in it: every layer multiplies the signal, and the
    output is far beyond what the loss expects. It is trouble when the loss does not come down or breaks.

    Silent for less than {min_layers} layers, and where norms bring the scale back.
    Known mistakes: a model that scales its outputs on purpose at the end.
    """
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


@Detector(
    "Signal lost with depth", needs=("activation_spread/*",), family="signal_with_depth", harms="learning"
)
def signal_collapses(
    case: Case,
    *,
    first_spread: float = 0.1,
    last_spread: float = 0.03,
    fall_factor: float = 10.0,
    min_layers: int = 3,
    min_samples: int = 3,
) -> Detected:
    """Deep in the model, activations are nearly the same for every input.

    Takes how far the units of each activation vary from sample to sample beside how large they are. Seen
    when that is healthy near the input ({first_spread}) and next to nothing at the deepest activation
    ({last_spread}) in most looks: what the sample says is lost on the way, only biases are left. Then the
    output can only be a constant.

    Silent when it recovers in the course of training, and for models of less than {min_layers} activations.
    Known mistakes: inputs that hardly differ from each other.
    """
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
        text=f"At {quoted([deepest])} activations differ between samples by {percent(end)} of their size, "
        f"against {percent(top)} near the input: what the input says is lost from {quoted(lost[:1])} on.",
        symptom="vanishing_gradients",
        step=float(curves[deepest].x[0]),
        series=curves[deepest].name,
        strength=strength(top / end, fall_factor, 100.0),
        numbers={"spread_first": top, "spread_last": end, "layers": len(spreads)},
        places=tuple(Place(layer=name.removesuffix(".input")) for name in lost[:1]),
    )


def _spreads(values: list[float], losses: list[float]) -> Run:
    series = {f"activation_spread/{2 * at + 1}": [value] * 5 for at, value in enumerate(values)}
    return run({"loss": losses, **series})


def cases() -> Cases:
    yield from signal_explodes.fires(_stds(6.0, 6))
    yield from signal_explodes.silent(_stds(1.3, 8), _stds(0.5, 8), _stds(50.0, 2))
    yield from signal_collapses.fires(_spreads([0.8, 0.3, 0.1, 0.03, 0.008, 0.002], [1.6] * 40))
    yield from signal_collapses.silent(_spreads([0.8, 0.7, 0.7, 0.6], list(decay(40, 2.0, 0.1))))
    yield from signal_collapses.silent(_spreads([0.02, 0.01, 0.01, 0.005], [1.6] * 40))
    back = {f"activation_spread/{at}": [0.9 / 10**at, 0.9 / 10**at, 0.9 / 10**at, 0.6] for at in range(4)}
    yield from signal_collapses.silent(run({"loss": decay(40, 2.0, 0.1), **back}))
