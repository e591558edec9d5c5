"""Sigmoid or tanh units sit in their flat region.

Takes the share of values of hidden sigmoid, tanh and like units where the slope is under a fiftieth of its
largest. Seen when a hidden layer has {saturated_share} of its values there in most looks; it is trouble when
the loss does not come down.

Silent about the last one of a model, which may be an output (a sure classifier is meant to be flat there),
and about gates inside recurrent cells, which are not looked at.
Known mistakes: a hidden layer meant to decide, such as a gate built from single layers.
"""

from traindx.evidence.detector import Case, Detected, Detector, Finding, Place, Runs, Skipped
from traindx.evidence.detectors._layers import saturated, shown
from traindx.evidence.detectors._number_text import percent, strength
from traindx.testing.sketch import decay, run

DETECTOR = Detector(
    title="Saturated units",
    needs=("activation_saturated_share/*",),
    family="saturated_units",
    harms="learning",
)


def detect(
    case: Case, *, saturated_share: float = 0.5, extreme_share: float = 0.8, min_samples: int = 2
) -> Detected:
    shares = saturated(case, looks=min_samples)
    if not shares:
        return Skipped("samples of sigmoid, tanh or similar units between layers")
    names = sorted(
        (name for name in shares if shares[name] >= saturated_share), key=lambda name: -shares[name]
    )
    if not names:
        return None
    worst = names[0]
    curve = case.inside.layers("activation_saturated_share")[worst]
    early = float(curve.y[0]) >= saturated_share
    return Finding(
        text=f"{percent(shares[worst])} of the values of {shown([worst])} lie in the flat region of their "
        f"function, {'from the first step on' if early else 'not yet at the first step'}; "
        f"{len(names)} of {len(shares)} layers are at least {percent(saturated_share)} flat.",
        symptom="saturated_units",
        severity="high" if shares[worst] >= extreme_share else "medium",
        step=float(curve.x[(curve.y >= saturated_share).argmax()]),
        series=curve.name,
        strength=strength(shares[worst], saturated_share, extreme_share),
        numbers={"saturated_share": shares[worst], "from_start": int(early)},
        places=tuple(Place(layer=name.removesuffix(".input")) for name in names[:3]),
    )


def fires() -> Runs:
    from traindx.evidence.detectors._layers import model

    flat = {"activation_saturated_share/1": [0.9] * 5, "activation_saturated_share/3": [0.7] * 5}
    spread = {"activation_std/1": [1.0] * 5, "activation_std/3": [1.0] * 5}
    yield run({"loss": [1.6] * 40, **flat, **spread}, facts=model([[32, 8], [32, 32], [4, 32]]))


def silent() -> Runs:
    from traindx.evidence.detectors._layers import model

    output = {"activation_saturated_share/1": [0.05] * 5, "activation_saturated_share/3": [0.95] * 5}
    spread = {"activation_std/1": [1.0] * 5, "activation_std/3": [1.0] * 5}
    learned = {"loss": decay(40, 0.7, 0.01)}
    yield run({**learned, **output, **spread}, facts=model([[32, 8], [1, 32]]))
    yield run(
        {**learned, "activation_saturated_share/1": [0.2] * 5, **spread}, facts=model([[32, 8], [1, 32]])
    )
