"""Whole weight matrices of a checkpoint are zero.

A matrix of nothing but zeros passes nothing on and, next to another one, gets no gradient either: it was
cleared, never loaded, or left as it was allocated. Silent about adapters whose second matrix starts at zero
(`lora_B`), and where every tensor is zero by the name of a mask.
"""

from traindx.evidence.detector import Detected, Detector, Finding, Place, Run, Runs, Skipped
from traindx.evidence.detectors._weights import matrices_of, sketch
from traindx.testing.sketch import run as sketched

DETECTOR = Detector(title="Weights all zero", needs=("fact:weights",), family="zero_weights")


def detect(run: Run, *, min_size: int = 2) -> Detected:
    rows = [row for row in matrices_of(run) if row["size"] >= min_size]
    if not rows:
        return Skipped("a weight matrix")
    zero = [row for row in rows if row["zero_share"] >= 1.0 and not _meant(row["name"])]
    if not zero:
        return None
    named = ", ".join(row["name"] for row in zero[:3])
    return Finding(
        text=f"{len(zero)} of {len(rows)} weight matrices hold nothing but 0: {named}.",
        symptom="silent_defect",
        severity="high",
        numbers={"tensors": len(zero), "tensors_all": len(rows)},
        places=tuple(Place(layer=row["layer"]) for row in zero[:3]),
    )


def _meant(name: str) -> bool:
    return any(word in name.lower() for word in ("lora_b", "mask", "zero"))


def fires() -> Runs:
    yield sketched({}, facts=sketch({"a.weight": {}, "b.weight": {"zero_share": 1.0, "norm": 0.0}}))


def silent() -> Runs:
    yield sketched({}, facts=sketch({"a.weight": {}, "b.weight": {"zero_share": 0.9}}))
    yield sketched({}, facts=sketch({"a.weight": {}, "q.lora_B.weight": {"zero_share": 1.0}}))
