"""From some layer on back to the input, gradients are exactly zero.

Seen when the first layers of a model, which the optimizer holds, have a gradient of exactly 0 in every look
but the first, while a layer nearer to the loss has one: the chain breaks between the two. Dead units, weights
that are all zero, a detached tensor or a saturated function do that. The layers behind the break learn
nothing.

Silent when no layer has a gradient (gradients_none), when they fade until nothing is left
(layer_gradients_fade), when the zeros are not at the input's end (experts that are seldom chosen), when they
end (zero-initialised heads and branches hold the rest back for one step only), and about frozen layers,
which have no gradient.
Known mistakes: a model of which the first part is not used on purpose but left in the optimizer.
"""

from traindx.evidence.detector import Case, Detected, Detector, Finding, Place, Runs, Skipped
from traindx.evidence.detectors._layers import chain, fades, settled, shown, typical_gradients
from traindx.testing.sketch import decay, run

DETECTOR = Detector(
    title="Gradients are cut off", needs=("fact:models", "grad_norm/*"), family="layer_gradients"
)


def detect(
    case: Case,
    *,
    min_samples: int = 3,
    fade_ratio: float = 1e-3,
    rank_correlation: float = 0.7,
    min_layers: int = 4,
) -> Detected:
    curves = chain(case, "grad_norm", looks=min_samples)
    if len(curves) < 2:
        return Skipped(f"{min_samples} samples of the gradients of at least 2 layers")
    silent_ones: list[str] = []
    for name, curve in curves.items():
        if settled(curve).any():
            break
        silent_ones.append(name)
    if not silent_ones:
        return None
    alive = [name for name in curves if name not in silent_ones]
    if not alive or fades(
        typical_gradients(case, curves), ratio=fade_ratio, order=rank_correlation, layers=min_layers
    ):
        return None  # gradients_none, layer_gradients_fade
    seen = len(curves[silent_ones[0]])
    phrase = f"Gradients of {shown(silent_ones)} are exactly 0 in all {seen} looks"
    return Finding(
        text=f"{phrase}: the chain breaks before `{alive[0]}`.",
        symptom="vanishing_gradients",
        severity="high",
        step=float(curves[silent_ones[0]].x[0]),
        series=curves[silent_ones[-1]].name,
        numbers={"layers": len(silent_ones), "layers_all": len(curves)},
        places=(Place(layer=silent_ones[-1]), *(Place(layer=name) for name in alive[:1])),
    )


def fires() -> Runs:
    from traindx.evidence.detectors._layers import model

    series = {"grad_norm/0": [0.0] * 6, "grad_norm/2": [0.0] * 6, "grad_norm/4": [0.3] * 6}
    yield run({"loss": [1.6] * 30, **series}, facts=model([[32, 8], [32, 32], [4, 32]]))
    died = {"grad_norm/0": [0.4] + [0.0] * 6, "grad_norm/2": [0.1] * 7}
    yield run({"loss": [1.6] * 30, **died}, facts=model([[32, 8], [4, 32]]))


def silent() -> Runs:
    from traindx.evidence.detectors._layers import model

    held = {
        "grad_norm/0": [0.0, 1e-4, 0.1, 0.1],
        "grad_norm/2": [0.0, 1e-3, 0.2, 0.2],
        "grad_norm/4": [0.3] * 4,
    }
    yield run({"loss": decay(30, 2.0, 0.1), **held}, facts=model([[32, 8], [32, 32], [4, 32]]))
    expert = {"grad_norm/0": [0.3] * 4, "grad_norm/2": [0.0] * 4, "grad_norm/4": [0.3] * 4}
    yield run({"loss": decay(30, 2.0, 0.1), **expert}, facts=model([[32, 8], [32, 32], [4, 32]]))
