"""Layers with nothing but linear operations between them: together they are one layer.

Read off the graph of the first loss, so functions count as well as modules. Between two layers, reshaping,
dropout, averaging and batch normalisation leave the whole linear.

Where all layers of a model hang together so, in one chain or in several long ones (two towers), it is a
linear model: a defect. A single pair among others is a sign only. Silent for a middle that is narrower than
both sides (low-rank factors, adapters, the code of an autoencoder), for grouped convolutions (depthwise and
pointwise), and across sums of two branches.
Known mistakes: linear models that are deep on purpose.
"""

from typing import Any

from traindx.evidence.detector import Case, Detected, Detector, Finding, Place, Runs, Skipped
from traindx.evidence.inside import Fact, facts, number
from traindx.testing.sketch import run

DETECTOR = Detector(title="No activation between layers", needs=("fact:graph",), family="nonlinearity")


def detect(case: Case, *, min_layers: int = 2) -> Detected:
    graph = case.inside.fact("graph")
    count = number(graph, "layers")
    if count is None or "linear_pairs" not in graph or count < min_layers:
        return Skipped()
    pairs = [one for one in facts(graph["linear_pairs"]) if not _meant(one)]
    if not pairs:
        return None
    pairs.reverse()
    # Of two towers each may be linear by itself: then no layer stands alone, and chains are long.
    paired = {str(one.get(end)) for one in pairs for end in ("first", "second")}
    all_linear = len(pairs) >= count - 1 or (len(paired) >= count and len(pairs) > count / 2)
    shown = ", ".join(f"{one.get('first')} and {one.get('second')}" for one in pairs[:4])
    more = f" and {len(pairs) - 4} more" if len(pairs) > 4 else ""
    whole = " The whole model is linear in its input." if all_linear else ""
    return Finding(
        f"{len(pairs)} pairs of layers have only linear operations between them: {shown}{more}.{whole}",
        symptom="silent_defect" if all_linear or len(pairs) > 1 else None,
        severity="medium" if all_linear else "low",
        strength=1.0 if all_linear else 0.4,
        numbers={"pairs": len(pairs), "layers": int(count)},
        places=tuple(Place(layer=str(one.get("second", ""))) for one in pairs[:8]),
    )


def _meant(pair: Fact) -> bool:
    """Whether a pair has a use without an activation: a bottleneck, or a convolution in two parts."""
    sizes = pair.get("sizes")
    grouped = (number(pair, "groups") or 1) > 1
    if not isinstance(sizes, list) or len(sizes) != 3 or not all(isinstance(size, int) for size in sizes):
        return True
    return grouped or sizes[1] < min(sizes[0], sizes[2])


def _pair(first: str, second: str, *sizes: int, groups: int = 1) -> dict[str, Any]:
    return {"first": first, "second": second, "sizes": list(sizes), "groups": groups}


def fires() -> Runs:
    pairs = [_pair("1", "2", 64, 64, 3), _pair("0", "1", 8, 64, 64)]
    yield run({"loss": [2.0, 1.0]}, facts={"graph": {"depth": 3, "layers": 3, "linear_pairs": pairs}})
    towers = [_pair(f"{t}{n}", f"{t}{n + 1}", 16, 96, 96) for t in "ab" for n in (1, 2)]
    yield run({"loss": [2.0, 1.0]}, facts={"graph": {"depth": 4, "layers": 6, "linear_pairs": towers}})
    one = [_pair("a", "b", 8, 64, 64)]
    yield run({"loss": [2.0, 1.0]}, facts={"graph": {"depth": 4, "layers": 4, "linear_pairs": one}})


def silent() -> Runs:
    code = [_pair("encode", "decode", 32, 3, 32)]
    yield run({"loss": [2.0, 1.0]}, facts={"graph": {"depth": 4, "layers": 4, "linear_pairs": code}})
    parts = [_pair("depthwise", "pointwise", 9, 32, 64, groups=32)]
    yield run({"loss": [2.0, 1.0]}, facts={"graph": {"depth": 4, "layers": 3, "linear_pairs": parts}})
    yield run({"loss": [2.0, 1.0]}, facts={"graph": {"depth": 1, "layers": 1, "linear_pairs": []}})
    yield run({"loss": [2.0, 1.0]}, facts={"graph": {"depth": 3, "layers": 3, "linear_pairs": []}})
