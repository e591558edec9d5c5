"""Weights of a checkpoint are far larger than any initialisation or training leaves them.

The gain of a layer is the root mean square of its weights times the root of its inputs: initialisations
give 0.3 to 1.5, and trained layers mostly stay below 5. Seen when a layer's gain is {gain_high} or more, or
when one of a normalisation's scales is above {scale_high}. Silent about embeddings, whose scale is free.
"""

from traindx.evidence.detector import Detected, Detector, Finding, Place, Run, Runs, Skipped
from traindx.evidence.detectors._number_text import strength, text
from traindx.evidence.detectors._weights import matrices_of, rows_of, sketch
from traindx.testing.sketch import run as sketched

DETECTOR = Detector(title="Weights exploded", needs=("fact:weights",), family="weight_size")


def detect(run: Run, *, gain_high: float = 30.0, scale_high: float = 300.0) -> Detected:
    rows = matrices_of(run, embeddings=False)
    if not rows:
        return Skipped("a weight matrix")
    sizes = {row["name"]: row["gain"] / gain_high for row in rows}
    norms = [row for row in rows_of(run) if row["kind"] == "norm"]
    sizes |= {row["name"]: max(abs(row["min"] or 0), abs(row["max"] or 0)) / scale_high for row in norms}
    large = sorted((name for name, size in sizes.items() if size >= 1), key=lambda name: -sizes[name])
    if not large:
        return None
    worst = next(row for row in rows_of(run) if row["name"] == large[0])
    measured = (
        f"its gain is {text(worst['gain'])} where initialisation gives about 1"
        if "gain" in worst and worst["kind"] != "norm"
        else f"its scales reach {text(sizes[large[0]] * scale_high)} where 1 is usual"
    )
    return Finding(
        text=f"The weights of {large[0]} are far too large: {measured}; {len(large)} of {len(sizes)} tensors "
        "are like it.",
        symptom="divergence",
        severity="high",
        strength=strength(sizes[large[0]], 1.0, 10.0),
        numbers={"times_limit": sizes[large[0]], "tensors": len(large)},
        places=(Place(layer=worst["layer"]),),
    )


def fires() -> Runs:
    yield sketched({}, facts=sketch({"a.weight": {"gain": 400.0}, "b.weight": {}}))


def silent() -> Runs:
    yield sketched({}, facts=sketch({"a.weight": {"gain": 6.0}, "b.weight": {}}))
    yield sketched({}, facts=sketch({"wte.weight": {"kind": "embedding", "gain": 400.0}, "b.weight": {}}))
