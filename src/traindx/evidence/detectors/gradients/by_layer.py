"""Gradients from layer to layer."""

import numpy as np

from traindx.evidence.detector import Case, Cases, Detected, Detector, Finding, Place, Run, Skipped
from traindx.evidence.detectors._layers import (
    chain,
    ends_of,
    fades,
    matrices,
    model,
    slopes_down,
    typical_gradients,
)
from traindx.evidence.detectors._number_text import strength, text, times
from traindx.testing.sketch import decay, run


@Detector("Gradients fade towards the input", needs=("grad_norm/*",), family="gradient_size", harms="start")
def layer_gradients_fade(
    case: Case,
    *,
    fade_ratio: float = 1e-3,
    min_layers: int = 4,
    min_samples: int = 3,
    rank_correlation: float = 0.7,
) -> Detected:
    """Gradients fade on their way back to the input.

    Compares the gradient of a typical weight in the first third of the layers with that in the last third,
    and asks whether it falls steadily with the distance from the loss. Seen when the early one is
    {fade_ratio} of the late one or less in a chain of {min_layers} layers and more. It is trouble when the
    loss does not come down or stands still for a long time at first; otherwise it is worth knowing: Adam
    makes up for much of it. Where they become too small for any number and end in exact zeros it is seen as
    well.

    Silent when no order is in it: embeddings, LayerScale and other small gates have small gradients too. The
    first sample is left out, in which zero-initialised parts let nothing through.
    Known mistakes: layers that are defined in another order than they are called in.
    """
    curves = chain(case, "grad_norm", least=min_samples)
    if len(curves) < min_layers:
        return Skipped(f"{min_samples} samples of the gradients of at least {min_layers} layers in a row")
    values = typical_gradients(case, curves)
    if not fades(values, ratio=fade_ratio, order=rank_correlation, layers=min_layers):
        return None
    above = values[values > 0]
    early, late = ends_of(above)
    first, last = next(iter(curves)), list(curves)[-1]
    per_layer = (late / early) ** (1.0 / max(1, above.size - max(1, above.size // 3)))
    return Finding(
        text=f"Gradients fade towards the input: a weight of the first layers gets {times(late / early)} "
        f"less gradient than one of the last ({text(early)} against {text(late)} over {len(curves)} layers, "
        f"about {times(per_layer)} less per layer).",
        symptom="vanishing_gradients",
        step=float(curves[first].x[0]),
        series=curves[first].name,
        strength=strength(late / early, 1 / fade_ratio, 1e6),
        numbers={"gradient_ratio": early / late, "layers": len(curves), "per_layer": per_layer},
        places=(Place(layer=first), Place(layer=last)),
    )


def _stack(factor: float, layers: int, losses: list[float]) -> Run:
    series: dict[str, list[float]] = {"loss": losses}
    for layer in range(layers):
        series[f"grad_norm/{2 * layer}"] = [factor ** (layers - 1 - layer)] * 7
    return run(series, facts=model([[32, 32]] * layers))


@Detector(
    "Gradients grow towards the input",
    needs=("fact:models", "grad_norm/*"),
    family="layer_gradients",
    harms="numbers",
)
def layer_gradients_surge(
    case: Case, *, growth_ratio: float = 300.0, min_layers: int = 4, rank_correlation: float = 0.7
) -> Detected:
    """Gradients grow on their way back to the input.

    The mirror image of fading: at the first looks a typical weight of the first third of the layers gets
    {growth_ratio} times the gradient of one in the last third, growing steadily with the distance from the
    loss. Each layer multiplies what comes back: weights too large for a stack that nothing holds in scale.

    Silent when the growth has no order, and for chains of less than {min_layers} layers. Known mistakes: a
    convolution that sees many places sums more gradients than the small ones after it; that stays far under
    the limit.
    """
    curves = chain(case, "grad_norm", least=1)
    if len(curves) < min_layers:
        return Skipped(f"a sample of the gradients of at least {min_layers} layers in a row")
    elements = {matrix.name: matrix.elements for matrix in matrices(case)}
    sizes = [float(np.median(curve.y[:3])) / elements[name] ** 0.5 for name, curve in curves.items()]
    values = np.array(sizes)
    early, late = ends_of(values)
    if late <= 0 or early < growth_ratio * late or slopes_down(values) > -rank_correlation:
        return None
    first = next(iter(curves))
    return Finding(
        text=f"Gradients grow towards the input: a weight of the first layers gets {times(early / late)} the "
        f"gradient of one of the last ({text(early)} against {text(late)} over {len(curves)} layers).",
        symptom="exploding_gradients",
        step=float(curves[first].x[0]),
        series=curves[first].name,
        strength=strength(early / late, growth_ratio, 1e5),
        numbers={"gradient_ratio": early / late, "layers": len(curves)},
        places=(Place(layer=first), Place(layer=list(curves)[-1])),
    )


def _stack_layer_gradients_surge(factor: float, layers: int) -> Run:
    series = {f"grad_norm/{2 * at}": [factor ** (layers - 1 - at)] * 5 for at in range(layers)}
    return run({"loss": [50.0, 60.0, 40.0] * 10, **series}, facts=model([[32, 32]] * layers, gain=6.0))


def cases() -> Cases:
    yield from layer_gradients_fade.fires(_stack(0.1, 8, [1.6] * 50))
    yield from layer_gradients_fade.fires(_stack(0.2, 12, list(decay(50, 2.0, 0.1))))
    yield from layer_gradients_fade.silent(_stack(0.7, 8, list(decay(50, 2.0, 0.1))))
    yield from layer_gradients_fade.silent(_stack(0.01, 3, [1.6] * 50))
    gates = {f"grad_norm/{2 * layer}": [1e-5 if layer % 2 else 1.0] * 7 for layer in range(8)}
    yield from layer_gradients_fade.silent(run({"loss": [1.0] * 30, **gates}, facts=model([[32, 32]] * 8)))
    yield from layer_gradients_surge.fires(_stack_layer_gradients_surge(5.0, 10))
    yield from layer_gradients_surge.fires(_stack_layer_gradients_surge(12.0, 6))
    yield from layer_gradients_surge.silent(_stack_layer_gradients_surge(1.3, 10))
    yield from layer_gradients_surge.silent(_stack_layer_gradients_surge(0.3, 10))
    yield from layer_gradients_surge.silent(_stack_layer_gradients_surge(100.0, 3))
