"""Units of a layer are exact copies of each other.

Counts the rows of each weight matrix that equal another one to the last digit. Seen when {equal_share:%} of
a layer's units are copies, in a layer of {min_units} units and more. Units that start equal get equal
gradients and stay equal: a constant initialisation was never broken, and the layer is worth a single unit.
Silent about zero rows and embeddings.
"""

from traindx.evidence.detector import Detected, Detector, Finding, Place, Run, Runs, Skipped
from traindx.evidence.detectors._weights import matrices_of, sketch
from traindx.testing.sketch import run as sketched

DETECTOR = Detector(title="Units equal each other", needs=("fact:weights",), family="init")


def detect(run: Run, *, equal_share: float = 0.5, min_units: int = 4) -> Detected:
    rows = [row for row in matrices_of(run, embeddings=False) if row["rows"] >= min_units]
    if not rows:
        return Skipped(f"a layer of at least {min_units} units")
    found = [row for row in rows if row["rows_equal"] / row["rows"] >= equal_share]
    if not found:
        return None
    worst = max(found, key=lambda row: row["rows_equal"] / row["rows"])
    share = worst["rows_equal"] / worst["rows"]
    return Finding(
        text=f"{worst['rows_equal']:,} of the {worst['rows']:,} units of {worst['name']} repeat another one "
        f"exactly ({len(found)} of {len(rows)} layers have such copies): their symmetry was never broken.",
        symptom="not_learning",
        severity="high" if share > 0.9 else "medium",
        numbers={"equal_share": share, "layers": len(found)},
        places=tuple(Place(layer=row["layer"]) for row in found[:3]),
    )


def fires() -> Runs:
    yield sketched({}, facts=sketch({"a.weight": {"rows_equal": 63}, "b.weight": {}}))


def silent() -> Runs:
    yield sketched({}, facts=sketch({"a.weight": {"rows_equal": 2}, "b.weight": {}}))
    yield sketched({}, facts=sketch({"wte.weight": {"kind": "embedding", "rows_equal": 60}, "b.weight": {}}))
