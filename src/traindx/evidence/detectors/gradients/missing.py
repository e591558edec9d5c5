"""Parameters and steps without a gradient."""

from traindx.core.facts import number, words
from traindx.evidence.detector import (
    Case,
    Cases,
    Curve,
    Detected,
    Detector,
    Event,
    Finding,
    Place,
    Run,
    Severity,
    Skipped,
)
from traindx.evidence.detectors._layers import chain, model, settled
from traindx.evidence.detectors._number_text import percent
from traindx.testing.sketch import decay, run


@Detector("No gradients at all", needs=("fact:models", "grad_norm/*"), family="layer_gradients")
def gradients_none(case: Case, loss: Curve | None = None, *, min_samples: int = 3) -> Detected:
    """No layer gets a gradient: all are exactly zero.

    Seen when the gradients of all layers that the optimizer holds are exactly 0 in every look but the first.
    Then the loss does not depend on the weights: a softmax over a single output, targets that are all
    masked, a last layer that is dead, gradients below the range of half precision, or zeroed before the
    step.

    Silent when any layer has one.
    Known mistakes: a loss that is exactly 0 because all is learned.
    """
    curves = chain(case, "grad_norm", least=min_samples)
    if not curves:
        return Skipped(f"{min_samples} samples of the gradients of a layer")
    if any(settled(curve).any() for curve in curves.values()):
        return None
    if loss is not None and len(loss) and loss.tail == 0:
        return Skipped("a loss that is not 0")
    first = next(iter(curves.values()))
    sentence = (
        f"The gradients of all {len(curves)} layers are exactly 0 in {len(first)} looks: the loss does "
        "not depend on the weights."
    )
    numbers = {"layers": len(curves)}
    return Finding(sentence, "not_learning", "high", float(first.x[0]), series=first.name, numbers=numbers)


def _norms(late: float, loss: float = 1.6) -> Run:
    series = {"grad_norm/0": [0.0] * 6, "grad_norm/2": [0.0] * 6, "grad_norm/4": [late] * 6}
    return run({"loss": [loss] * 30, **series}, facts=model([[32, 8], [32, 32], [4, 32]]))


@Detector("Parameters without gradient", needs=("fact:optimizers",), family="untrained")
def parameters_without_gradient(
    case: Case, *, large_share: float = 0.25, min_share: float = 0.05
) -> Detected:
    """Parameters that the optimizer holds and no gradient ever reaches.

    Nothing links them to the loss (their gradient is None): `detach`, `no_grad`, `.data`, argmax or numpy
    stand between them and it, or they are not used. Counted against all trainable parameters. When the
    layers nearest to the input are cut off while later ones learn, something stands between (high); a part
    that is merely unused (a pooling head of a pretrained model) is worth knowing (low).

    Silent about gradients that are zero without being cut off (dead units, gates that start at zero), and
    about layers that had a gradient later.
    """
    if (case.run.last_step or 0) < 4:
        return Skipped("a recording of at least 4 steps")
    events = [event for event in case.inside.events("no_gradient") if number(event.data, "reached")]
    if not events:
        return None
    cut = {name.rpartition(".")[0] for name in words(events[-1].data, "cut_off")}
    curves = case.inside.layers("grad_norm")
    layers = [
        name
        for name in words(events[-1].data, "layers")
        if name in cut and not (name in curves and (curves[name].y > 0).any())
    ]
    if not layers:
        return None
    sizes = {str(layer.get("name")): number(layer, "parameters") or 0.0 for layer in case.inside.layer_list}
    whole = sum(sizes.values())
    part = sum(sizes.get(name, 0.0) for name in layers) / whole if whole else 0.0
    order = [name for name in sizes if sizes[name] > 0]
    first = bool(order) and order[0] in layers
    listed = ", ".join(layers[:4]) + (f" and {len(layers) - 4} more" if len(layers) > 4 else "")
    severity: Severity = "low"
    if first and part >= min_share:
        severity = "high" if part >= large_share else "medium"
    elif part >= large_share:
        severity = "medium"
    return Finding(
        f"No gradient ever reaches {listed} ({percent(part)} of the parameters), though the optimizer holds "
        f"them{': something cuts them off from the loss' if first else ''}.",
        "silent_defect",
        severity,
        case.span[0],
        strength={"high": 1.0, "medium": 0.8}.get(severity, 0.3),
        numbers={"untrained_share": percent(part), "untrained": listed},
        places=(Place(layer=layers[0]),),
    )


def _run(cut: list[str], norms: dict[str, list[float]] | None = None, *, none: bool = True) -> Run:
    layers = [
        {"name": name, "type": "Linear", "parameters": 1000} for name in ("enc.0", "enc.2", "head", "aux")
    ]
    layers[3]["parameters"] = 20
    data = {"layers": cut, "cut_off": [f"{name}.weight" for name in cut] if none else [], "reached": 2}
    facts = {"optimizers": [{"class": "Adam"}], "models": [{"parameters": 3020, "layer_list": layers}]}
    series = {f"grad_norm/{name}": values for name, values in (norms or {}).items()}
    event = Event("no_gradient", "no gradient reached", 4.0, data)
    return run({"loss": decay(60, 2.0, 1.0), **series}, facts=facts, events=[event])


def cases() -> Cases:
    yield from gradients_none.fires(_norms(0.0))
    yield from gradients_none.silent(_norms(0.3), _norms(0.0, loss=0.0))
    yield from parameters_without_gradient.fires(_run(["enc.0", "enc.2"]))
    yield from parameters_without_gradient.silent(_run(["enc.0", "enc.2"], none=False))
    yield from parameters_without_gradient.silent(_run(["enc.0"], {"enc.0": [0.0, 0.0, 0.3]}))
