"""A checkpoint holds NaN or Inf.

Counts the values of every tensor that are not finite. One of them is enough: it spreads to all outputs in a
forward pass, and no training recovers from it. Silent about integer tensors and about masks, whose -inf is
meant: tensors named `mask` or `bias` that hold nothing but 0 and -inf.
"""

from traindx.evidence.detector import Detected, Detector, Finding, Place, Run, Runs
from traindx.evidence.detectors._weights import rows_of, sketch
from traindx.testing.sketch import run as sketched

DETECTOR = Detector(title="Checkpoint holds NaN or Inf", needs=("fact:weights",), family="nonfinite")


def detect(run: Run, *, min_values: int = 1) -> Detected:
    rows = rows_of(run)
    broken = [row for row in rows if row.get("nonfinite", 0) >= min_values and not _mask(row)]
    if not broken:
        return None
    worst = max(broken, key=lambda row: row["nonfinite"])
    values = sum(row["nonfinite"] for row in broken)
    kind = "NaN" if any(row.get("nan") for row in broken) else "Inf"
    return Finding(
        text=f"{values:,} values of {len(broken)} of {len(rows)} tensors are {kind}, most of them in "
        f"{worst['name']} ({worst['nonfinite']:,} of {worst['size']:,}).",
        symptom="nonfinite",
        severity="critical",
        numbers={"nonfinite": values, "tensors": len(broken)},
        places=tuple(Place(layer=row["layer"]) for row in broken[:3]),
    )


def _mask(row: dict[str, object]) -> bool:
    named = any(word in str(row["name"]) for word in ("mask", "bias"))
    return named and not row.get("nan") and row.get("min") == row.get("max") == 0


def fires() -> Runs:
    yield sketched({}, facts=sketch({"fc.weight": {"nonfinite": 3, "nan": 3}}))


def silent() -> Runs:
    yield sketched({}, facts=sketch({"fc.weight": {}}))
    yield sketched({}, facts=sketch({"attn.mask": {"nonfinite": 30, "min": 0.0, "max": 0.0}}))
