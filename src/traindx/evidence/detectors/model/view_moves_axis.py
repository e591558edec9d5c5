"""A view in the model reads one axis as another: a reshape where a transpose was meant.

A view keeps the order of the elements. It can merge neighbouring axes or split one; where an axis is to
change its place, `transpose` or `permute` must come first, or the values of different samples, positions or
heads are mixed. The sizes of all views of the first step are read from its graph; seen where an axis, known
by a size that no other axis has, is at another place after a view.

Could not look without the graph of a step in PyTorch, nor into compiled parts. Silent about merges and
splits of neighbours, about the shift of relative positions in attention, and where two axes exchange sizes
of which one divides the other: a split and a merge give these, too. Known mistake: batches of time steps
that are stacked in groups, where a group has as many as the batch.
"""

from traindx.core.facts import facts
from traindx.evidence.detector import Case, Detected, Detector, Finding, Run, Runs, Skipped, number, word
from traindx.testing.sketch import run

DETECTOR = Detector(title="A view moves an axis", needs=("fact:moved_axes",), family="axes_mixed")


def detect(case: Case) -> Detected:
    fact = case.inside.fact("moved_axes")
    views, first = number(fact, "moving"), facts(fact.get("first"))
    if views is None:
        return Skipped("the views of a recorded step")
    if not views or not first:
        return None if fact.get("complete") is True else Skipped("the whole graph of a step")
    before, after, layer = (word(first[0], key) for key in ("before", "after", "layer"))
    size = number(first[0], "size")
    layer = f"the layer of {layer}" if layer.startswith("parameter") else f"layer {layer}"
    place = f"after {layer}" if first[0].get("layer") else "before the first layer"
    more = {1: "", 2: " So does another view."}.get(int(views), f" So do {views - 1:g} other views.")
    return Finding(
        f"A view {place} turns {before} into {after}: the axis of size {size or 0:g} ends up in another "
        f"position, and a view only merges or splits axes.{more}",
        "silent_defect",
        "high",
        1.0,
        numbers={"views": views},
    )


def _run(moving: int) -> Run:
    first = {"before": "2x16x40", "after": "16x80", "size": 16, "layer": "rnn"}
    fact = {"views": 3, "moving": moving, "first": [first] * moving, "complete": True}
    return run({}, facts={"moved_axes": fact})


def fires() -> Runs:
    yield _run(1)
    yield _run(2)


def silent() -> Runs:
    yield _run(0)
    yield run({}, facts={"moved_axes": {"views": "x", "first": 3}})
