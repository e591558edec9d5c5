"""Parameters that the optimizer holds and no gradient ever reaches.

Nothing links them to the loss (their gradient is None): `detach`, `no_grad`, `.data`, argmax or numpy stand
between them and it, or they are not used. Counted against all trainable parameters. When the layers nearest
to the input are cut off while later ones learn, something stands between (high); a part that is merely
unused (a pooling head of a pretrained model) is worth knowing (low).

Silent about gradients that are zero without being cut off (dead units, gates that start at zero), and about
layers that had a gradient later.
"""

from traindx.evidence.case import Case
from traindx.evidence.detector import Detected, Detector, Event, Finding, Place, Run, Runs, Severity, Skipped
from traindx.evidence.detectors._number_text import percent
from traindx.evidence.inside import number, words
from traindx.testing.sketch import decay, run

DETECTOR = Detector(title="Parameters without gradient", needs=("fact:optimizers",), family="untrained")


def detect(case: Case, *, large_share: float = 0.25, min_share: float = 0.05) -> Detected:
    if (case.run.last_step or 0) < 4:
        return Skipped("a recording of at least 4 steps")
    told = [event for event in case.inside.events("no_gradient") if number(event.data, "reached")]
    if not told:
        return None
    cut = {name.rpartition(".")[0] for name in words(told[-1].data, "cut_off")}
    curves = case.inside.layers("grad_norm")
    layers = [
        name
        for name in words(told[-1].data, "layers")
        if name in cut and not (name in curves and (curves[name].y > 0).any())
    ]
    if not layers:
        return None
    sizes = {str(one.get("name")): number(one, "parameters") or 0.0 for one in case.inside.layer_list}
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
    named = [
        {"name": name, "type": "Linear", "parameters": 1000} for name in ("enc.0", "enc.2", "head", "aux")
    ]
    named[3]["parameters"] = 20
    data = {"layers": cut, "cut_off": [f"{name}.weight" for name in cut] if none else [], "reached": 2}
    facts = {"optimizers": [{"class": "Adam"}], "models": [{"parameters": 3020, "layer_list": named}]}
    series = {f"grad_norm/{name}": values for name, values in (norms or {}).items()}
    event = Event("no_gradient", "no gradient reached", 4.0, data)
    return run({"loss": decay(60, 2.0, 1.0), **series}, facts=facts, events=[event])


def fires() -> Runs:
    yield _run(["enc.0", "enc.2"])


def silent() -> Runs:
    yield _run(["enc.0", "enc.2"], none=False)
    yield _run(["enc.0"], {"enc.0": [0.0, 0.0, 0.3]})
