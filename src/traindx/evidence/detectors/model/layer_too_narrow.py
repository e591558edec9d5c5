"""A hidden layer lets through one or two numbers where more come in and are asked for.

Seen for a layer with at most {max_width} outputs between wider ones, that is not the last, and for models
none of whose hidden layers is wider. A trouble when the answers on the training data are poor in the end,
after {min_steps} steps; else a sign.

Silent for the last layer, for embeddings, normalisations, convolutions (whose points count as well), gates
and attention heads (a narrow layer whose next in the list does not take what it gives), and for autoencoders,
whose code may be narrow. Known mistakes: a code for plotting.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from traindx.core.kinds import kind_of_layer
from traindx.evidence.detector import Case, Detected, Detector, Fact, Finding, Place, Runs, Severity, Skipped
from traindx.evidence.sampled import sampled
from traindx.testing.sketch import run

DETECTOR = Detector(title="Narrow layer", needs=("fact:models",), family="capacity")


def detect(case: Case, *, max_width: int = 2, min_steps: int = 200) -> Detected:
    layers = [one for one in case.inside.layer_list if kind_of_layer(one) == "dense" and _shape(one)]
    if len(layers) < 2:
        return Skipped()
    for layer, after in pairwise(layers):
        outputs, inputs = _shape(layer)
        taken = _shape(after)
        if _narrow_throughout(layers, max_width) and case.span[1] >= min_steps and _ends_poor(case):
            return _finding(layer, f"No hidden layer has more than {max_width} units", "medium")
        if outputs > max_width or inputs <= outputs or taken[1] != outputs or taken[0] == inputs:
            continue
        # An autoencoder widens again; a classifier does not widen from its code to more than it began with.
        if max(_shape(one)[0] for one in layers[layers.index(after) :]) >= _shape(layers[0])[1]:
            continue
        poor = case.span[1] >= min_steps and _ends_poor(case)
        text = (
            f"Layer {layer.get('name')} lets {outputs} number{'s' if outputs > 1 else ''} through, of "
            f"{inputs} that come in"
        )
        return _finding(layer, text, "medium" if poor else "low")
    return None


def _finding(layer: Fact, text: str, severity: Severity) -> Finding:
    return Finding(
        f"{text}.",
        symptom=None if severity == "low" else "underfitting",
        severity=severity,
        numbers={"width": _shape(layer)[0]},
        places=(Place(layer=str(layer.get("name", ""))),),
    )


def _narrow_throughout(layers: Sequence[Fact], width: int) -> bool:
    """Whether there are hidden layers, none of them wider."""
    return len(layers) > 1 and all(_shape(one)[0] <= width for one in layers[:-1])


def _ends_poor(case: Case) -> bool:
    """Whether the training answers were sampled, and are not mostly right in the end."""
    seen = any(sampled(case, f"output/{name}", 4) for name in ("right_share", "explained"))
    return seen and not case.level.answers_right


def _shape(layer: Fact) -> tuple[int, ...]:
    shape = layer.get("shape")
    if not isinstance(shape, list) or len(shape) != 2 or not all(isinstance(size, int) for size in shape):
        return ()
    return tuple(shape)


def _layers(*shapes: tuple[int, int]) -> dict[str, Any]:
    listed = [{"name": str(at), "type": "Linear", "shape": list(shape)} for at, shape in enumerate(shapes)]
    return {"models": [{"class": "Net", "parameters": 100, "layer_list": listed}]}


def fires() -> Runs:
    yield run({}, facts=_layers((1, 8), (1, 1)))
    yield run({}, facts=_layers((32, 20), (2, 32), (5, 2)))


def silent() -> Runs:
    yield run({}, facts=_layers((64, 8), (1, 64)))
    yield run({}, facts=_layers((32, 8), (2, 32), (32, 2), (8, 32)))
    yield run({}, facts=_layers((32, 8), (2, 32), (2, 32)))
