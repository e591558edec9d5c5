"""Weights of a checkpoint have shrunk to almost nothing.

The gain of a layer (root mean square of its weights times the root of its inputs) is 0.3 to 1.5 at
initialisation. Seen when it is {gain_low} or less: the layer passes on next to nothing of its input, as too
much weight decay leaves it. Silent about weights that are exactly zero, which is another finding, about
layers that a normalisation follows and whose scale is therefore free down to {gain_low_if_normalised}, and
about adapters.
"""

from traindx.evidence.detector import Detected, Detector, Finding, Place, Run, Runs, Skipped
from traindx.evidence.detectors._number_text import strength, text
from traindx.evidence.detectors._weights import matrices_of, rows_of, sketch
from traindx.testing.sketch import run as sketched

DETECTOR = Detector(title="Weights collapsed", needs=("fact:weights",), family="weight_size")


def detect(run: Run, *, gain_low: float = 0.01, gain_low_if_normalised: float = 1e-4) -> Detected:
    rows = [row for row in matrices_of(run, embeddings=False) if row["zero_share"] < 1]
    if not rows:
        return Skipped("a weight matrix that is not zero")
    normalised = any(row["kind"] == "norm" for row in rows_of(run))
    least = gain_low_if_normalised if normalised else gain_low
    small = [row for row in rows if row["gain"] <= least and "lora" not in row["name"].lower()]
    if not small:
        return None
    worst = min(small, key=lambda row: row["gain"])
    return Finding(
        text=f"The weights of {worst['name']} have shrunk to almost nothing: a gain of {text(worst['gain'])} "
        f"where initialisation gives about 1; {len(small)} of {len(rows)} layers are like it.",
        symptom="underfitting",
        severity="medium",
        strength=strength(least / max(worst["gain"], 1e-30), 1.0, 100.0),
        numbers={"gain": worst["gain"], "layers": len(small)},
        places=tuple(Place(layer=row["layer"]) for row in small[:3]),
    )


def fires() -> Runs:
    yield sketched({}, facts=sketch({"a.weight": {"gain": 1e-4}, "b.weight": {}}))


def silent() -> Runs:
    yield sketched({}, facts=sketch({"a.weight": {"gain": 0.1}, "b.weight": {}}))
    norm = {"kind": "norm", "size": 64}
    yield sketched({}, facts=sketch({"a.weight": {"gain": 1e-3}, "n.weight": norm}))
