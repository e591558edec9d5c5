"""Layers that are too narrow, or no more than one."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from traindx.core.facts import facts, number
from traindx.core.kinds import kind_of_layer
from traindx.evidence.detector import Case, Cases, Detected, Detector, Fact, Finding, Place, Severity, Skipped
from traindx.evidence.sampled import sampled
from traindx.testing.sketch import run


@Detector("Narrow layer", needs=("fact:models",), family="capacity")
def layer_too_narrow(case: Case, *, max_width: int = 2, min_steps: int = 200) -> Detected:
    """A hidden layer lets through one or two numbers where more come in and are asked for.

    Seen for a layer with at most {max_width} outputs between wider ones, that is not the last, and for
    models none of whose hidden layers is wider. A trouble when the answers on the training data are poor in
    the end, after {min_steps} steps; else a sign.

    Silent for the last layer, for embeddings, normalisations, convolutions (whose points count as well),
    gates and attention heads (a narrow layer whose next in the list does not take what it gives), and for
    autoencoders, whose code may be narrow. Known mistakes: a code for plotting.
    """
    layers = [layer for layer in case.inside.layer_list if kind_of_layer(layer) == "dense" and _shape(layer)]
    if len(layers) < 2:
        return Skipped()
    for layer, after in pairwise(layers):
        outputs, inputs = _shape(layer)
        after_shape = _shape(after)
        if _narrow_throughout(layers, max_width) and case.span[1] >= min_steps and _ends_poor(case):
            return _finding(layer, f"No hidden layer has more than {max_width} units", "medium")
        if outputs > max_width or inputs <= outputs or after_shape[1] != outputs or after_shape[0] == inputs:
            continue
        # An autoencoder widens again; a classifier does not widen from its code to more than it began with.
        if max(_shape(layer)[0] for layer in layers[layers.index(after) :]) >= _shape(layers[0])[1]:
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
    return len(layers) > 1 and all(_shape(layer)[0] <= width for layer in layers[:-1])


def _ends_poor(case: Case) -> bool:
    """Whether the training answers were sampled, and are not mostly right in the end."""
    measured = any(sampled(case, f"output/{name}", 4) for name in ("right_share", "explained"))
    return measured and not case.level.answers_right


def _shape(layer: Fact) -> tuple[int, ...]:
    shape = layer.get("shape")
    if not isinstance(shape, list) or len(shape) != 2 or not all(isinstance(size, int) for size in shape):
        return ()
    return tuple(shape)


def _layers(*shapes: tuple[int, int]) -> dict[str, Any]:
    listed = [{"name": str(at), "type": "Linear", "shape": list(shape)} for at, shape in enumerate(shapes)]
    return {"models": [{"class": "Net", "parameters": 100, "layer_list": listed}]}


@Detector("No activation between layers", needs=("fact:graph",), family="nonlinearity")
def layers_without_activation(case: Case, *, min_layers: int = 2) -> Detected:
    """Layers with nothing but linear operations between them: together they are one layer.

    Read off the graph of the first loss, so functions count as well as modules. Between two layers,
    reshaping, dropout, averaging and batch normalisation leave the whole linear.

    Where all layers of a model hang together so, in one chain or in several long ones (two towers), it is a
    linear model: a defect. A single pair among others is a sign only. Silent for a middle that is narrower
    than both sides (low-rank factors, adapters, the code of an autoencoder), for grouped convolutions
    (depthwise and pointwise), and across sums of two branches. Known mistakes: linear models that are deep
    on purpose.
    """
    graph = case.inside.fact("graph")
    count = number(graph, "layers")
    if count is None or "linear_pairs" not in graph or count < min_layers:
        return Skipped()
    pairs = [pair for pair in facts(graph["linear_pairs"]) if not _intended(pair)]
    if not pairs:
        return None
    pairs.reverse()
    # Of two towers each may be linear by itself: then no layer stands alone, and chains are long.
    paired = {str(pair.get(end)) for pair in pairs for end in ("first", "second")}
    all_linear = len(pairs) >= count - 1 or (len(paired) >= count and len(pairs) > count / 2)
    examples = ", ".join(f"{pair.get('first')} and {pair.get('second')}" for pair in pairs[:4])
    suffix = f" and {len(pairs) - 4} more" if len(pairs) > 4 else ""
    whole = " The whole model is linear in its input." if all_linear else ""
    return Finding(
        f"{len(pairs)} pairs of layers have only linear operations between them: {examples}{suffix}.{whole}",
        symptom="silent_defect" if all_linear or len(pairs) > 1 else None,
        severity="medium" if all_linear else "low",
        strength=1.0 if all_linear else 0.4,
        numbers={"pairs": len(pairs), "layers": int(count)},
        places=tuple(Place(layer=str(pair.get("second", ""))) for pair in pairs[:8]),
    )


def _intended(pair: Fact) -> bool:
    """Whether a pair has a use without an activation: a bottleneck, or a convolution in two parts."""
    sizes = pair.get("sizes")
    grouped = (number(pair, "groups") or 1) > 1
    if not isinstance(sizes, list) or len(sizes) != 3 or not all(isinstance(size, int) for size in sizes):
        return True
    return grouped or sizes[1] < min(sizes[0], sizes[2])


def _pair(first: str, second: str, *sizes: int, groups: int = 1) -> dict[str, Any]:
    return {"first": first, "second": second, "sizes": list(sizes), "groups": groups}


def cases() -> Cases:
    yield from layer_too_narrow.fires(run({}, facts=_layers((1, 8), (1, 1))))
    yield from layer_too_narrow.fires(run({}, facts=_layers((32, 20), (2, 32), (5, 2))))
    yield from layer_too_narrow.silent(run({}, facts=_layers((64, 8), (1, 64))))
    yield from layer_too_narrow.silent(run({}, facts=_layers((32, 8), (2, 32), (32, 2), (8, 32))))
    yield from layer_too_narrow.silent(run({}, facts=_layers((32, 8), (2, 32), (2, 32))))
    pairs = [_pair("1", "2", 64, 64, 3), _pair("0", "1", 8, 64, 64)]
    yield from layers_without_activation.fires(
        run({"loss": [2.0, 1.0]}, facts={"graph": {"depth": 3, "layers": 3, "linear_pairs": pairs}})
    )
    towers = [_pair(f"{t}{n}", f"{t}{n + 1}", 16, 96, 96) for t in "ab" for n in (1, 2)]
    yield from layers_without_activation.fires(
        run({"loss": [2.0, 1.0]}, facts={"graph": {"depth": 4, "layers": 6, "linear_pairs": towers}})
    )
    pair = [_pair("a", "b", 8, 64, 64)]
    yield from layers_without_activation.fires(
        run({"loss": [2.0, 1.0]}, facts={"graph": {"depth": 4, "layers": 4, "linear_pairs": pair}})
    )
    code = [_pair("encode", "decode", 32, 3, 32)]
    yield from layers_without_activation.silent(
        run({"loss": [2.0, 1.0]}, facts={"graph": {"depth": 4, "layers": 4, "linear_pairs": code}})
    )
    parts = [_pair("depthwise", "pointwise", 9, 32, 64, groups=32)]
    yield from layers_without_activation.silent(
        run({"loss": [2.0, 1.0]}, facts={"graph": {"depth": 4, "layers": 3, "linear_pairs": parts}}),
        run({"loss": [2.0, 1.0]}, facts={"graph": {"depth": 1, "layers": 1, "linear_pairs": []}}),
        run({"loss": [2.0, 1.0]}, facts={"graph": {"depth": 3, "layers": 3, "linear_pairs": []}}),
    )
