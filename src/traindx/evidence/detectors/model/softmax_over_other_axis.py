"""A softmax runs over another axis than the classes of the targets it is compared with.

Read from the graph of the first step: a softmax, or its logarithm, that follows a layer element by element,
over an axis that is not the layer's outputs (the width of an image, the time, the batch), and that is
compared with targets at once, in a function of torch or in a loss written by hand. Seen where at least
{min_one_class:%} of the targets choose one entry of the layer's outputs, and at least {min_several:%} of at
least {min_rows} rows along the softmax hold several of them: what sums to one is then no distribution over
classes.

Silent about attention, pooling and gates, which are multiplied with something else that is learned; about
maps of places and ranks, where the targets choose one entry of the same axis as the softmax; and where a
view makes other axes of the layer's outputs. Could not look without the graph of a step in PyTorch, nor into
compiled parts. Known mistake: none yet.
"""

from traindx.core.facts import sizes
from traindx.evidence.detector import (
    Case,
    Detected,
    Detector,
    Fact,
    Finding,
    Run,
    Runs,
    Skipped,
    facts,
    number,
    word,
)
from traindx.testing.sketch import run

DETECTOR = Detector(title="Softmax over the wrong axis", needs=("fact:softmaxes",), family="softmax_axis")


def detect(
    case: Case, *, min_one_class: float = 0.95, min_several: float = 0.05, min_rows: int = 2
) -> Detected:
    fact = case.inside.fact("softmaxes")
    for softmax in facts(fact.get("other_axis")):
        one_class, several = (number(softmax, key) or 0.0 for key in ("one_class", "several"))
        rows = number(softmax, "rows") or 0
        if one_class >= min_one_class and several >= min_several and rows >= min_rows:
            found = _finding(softmax)
            if found is not None:
                return found
    if fact.get("complete") is not True:
        return Skipped("the whole graph of a step")
    return None if number(fact, "after_layers") else Skipped()


def _finding(softmax: Fact) -> Finding | None:
    axis, classes, shape = number(softmax, "axis"), number(softmax, "class_axis"), sizes(softmax.get("shape"))
    if axis is None or classes is None or not max(axis, classes) < len(shape):
        return None
    function, layer = word(softmax, "function") or "softmax", word(softmax, "layer")
    of = f" of {'the layer of ' if layer.startswith('parameter') else 'layer '}{layer}" if layer else ""
    name = "the batch" if axis == 0 else f"axis {axis:g}"
    sentence = (
        f"{function} runs over {name} of the outputs{of} ({', '.join(map(str, shape))}), and the targets are "
        f"each one of the {shape[int(classes)]} entries of axis {classes:g}: {shape[int(axis)]} values along "
        f"axis {axis:g} compete for a share instead of the classes."
    )
    numbers: dict[str, float | int | str] = {
        "softmax": function,
        "softmax_axis": int(axis),
        "class_axis": int(classes),
    }
    return Finding(sentence, "silent_defect", "high", 1.0, numbers=numbers)


def _run(one_class: float, several: float, axis: int = 3) -> Run:
    other = {"function": "softmax", "axis": axis, "class_axis": 1, "shape": "12x3x40x40", "layer": "out"}
    measured = {"one_class": one_class, "several": several, "rows": 800}
    fact = {"after_layers": 1, "other_axis": [other | measured], "complete": True}
    return run({}, facts={"softmaxes": fact})


def fires() -> Runs:
    yield _run(1.0, 0.7)
    yield _run(0.99, 0.2, axis=0)


def silent() -> Runs:
    yield _run(0.2, 0.7)
    yield _run(1.0, 0.0)
    yield run({}, facts={"softmaxes": {"after_layers": 2, "other_axis": [], "complete": True}})
    yield run({}, facts={"softmaxes": {"after_layers": "x", "other_axis": [{"axis": 9, "rows": 5}]}})
