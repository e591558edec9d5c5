"""Many units of a layer have no weights at all.

Counts the rows of each weight matrix (the inputs of one unit) that are zero, or hold one value throughout.
Seen when {unit_share:%} of a layer's units are so, in a layer of {min_units} units and more. Weight decay
on dead units, pruning, or a part that was never written leave this. Silent about matrices that are zero as
a whole, which is another finding, and about embeddings: words that never occurred have no weights.
"""

from traindx.evidence.detector import Detected, Detector, Finding, Place, Run, Runs, Skipped
from traindx.evidence.detectors._number_text import percent
from traindx.evidence.detectors._weights import matrices_of, sketch
from traindx.testing.sketch import run as sketched

DETECTOR = Detector(title="Units without weights", needs=("fact:weights",), family="dead_units")


def detect(run: Run, *, unit_share: float = 0.2, min_units: int = 8) -> Detected:
    rows = [row for row in matrices_of(run, embeddings=False) if row["rows"] >= min_units]
    if not rows:
        return Skipped(f"a layer of at least {min_units} units")
    shares = {row["name"]: (row["rows_zero"] + row["rows_constant"]) / row["rows"] for row in rows}
    found = [row for row in rows if row["zero_share"] < 1 and shares[row["name"]] >= unit_share]
    if not found:
        return None
    worst = max(found, key=lambda row: shares[row["name"]])
    share = shares[worst["name"]]
    return Finding(
        text=f"{percent(share)} of the {worst['rows']:,} units of {worst['name']} have no weights but one "
        f"value ({len(found)} of {len(rows)} layers are at least {percent(unit_share)} so).",
        symptom="dead_units",
        severity="medium",
        strength=min(1.0, 0.5 + share / 2),
        numbers={"dead_share": share, "layers_dead": len(found), "layers_all": len(rows)},
        places=tuple(Place(layer=row["layer"]) for row in found[:3]),
    )


def fires() -> Runs:
    yield sketched({}, facts=sketch({"a.weight": {"rows_zero": 32, "zero_share": 0.5}, "b.weight": {}}))


def silent() -> Runs:
    yield sketched({}, facts=sketch({"a.weight": {"rows_zero": 3}, "b.weight": {}}))
    yield sketched({}, facts=sketch({"wte.weight": {"kind": "embedding", "rows_zero": 32}, "b.weight": {}}))
