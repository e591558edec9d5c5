"""Gradients grow on their way back to the input.

The mirror image of fading: at the first looks a typical weight of the first third of the layers gets
{growth_ratio} times the gradient of one in the last third, growing steadily with the distance from the loss.
Each layer multiplies what comes back: weights too large for a stack that nothing holds in scale.

Silent when the growth has no order, and for chains of less than {min_layers} layers.
Known mistakes: a convolution that sees many places sums more gradients than the small ones after it; that
stays far under the limit.
"""

import numpy as np

from traindx.evidence.detector import Case, Detected, Detector, Finding, Place, Run, Runs, Skipped
from traindx.evidence.detectors._layers import chain, ends_of, matrices, slopes_down
from traindx.evidence.detectors._number_text import strength, text, times
from traindx.testing.sketch import run

DETECTOR = Detector(
    title="Gradients grow towards the input",
    needs=("fact:models", "grad_norm/*"),
    family="layer_gradients",
    harms="numbers",
)


def detect(
    case: Case, *, growth_ratio: float = 300.0, min_layers: int = 4, rank_correlation: float = 0.7
) -> Detected:
    curves = chain(case, "grad_norm", looks=1)
    if len(curves) < min_layers:
        return Skipped(f"a sample of the gradients of at least {min_layers} layers in a row")
    elements = {one.name: one.elements for one in matrices(case)}
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
        severity="medium",
        step=float(curves[first].x[0]),
        series=curves[first].name,
        strength=strength(early / late, growth_ratio, 1e5),
        numbers={"gradient_ratio": early / late, "layers": len(curves)},
        places=(Place(layer=first), Place(layer=list(curves)[-1])),
    )


def _stack(factor: float, layers: int) -> Run:
    from traindx.evidence.detectors._layers import model

    series = {f"grad_norm/{2 * at}": [factor ** (layers - 1 - at)] * 5 for at in range(layers)}
    return run({"loss": [50.0, 60.0, 40.0] * 10, **series}, facts=model([[32, 32]] * layers, gain=6.0))


def fires() -> Runs:
    yield _stack(5.0, 10)
    yield _stack(12.0, 6)


def silent() -> Runs:
    yield _stack(1.3, 10)
    yield _stack(0.3, 10)
    yield _stack(100.0, 3)
