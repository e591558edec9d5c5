"""Different layers of a checkpoint hold exactly the same weights.

Compares the contents of all weight matrices of {min_size} values and more. Tied weights (one storage under
two names) are meant and are not counted; neither are averaged copies (`ema`, `target`) of a whole model.
Equal contents in separate storage mean that one layer was copied from another and that neither, or both
alike, were trained since: a sign to check.
"""

from traindx.evidence.detector import Detected, Detector, Finding, Place, Run, Runs, Skipped
from traindx.evidence.detectors._weights import matrices_of, sketch
from traindx.testing.sketch import run as sketched

DETECTOR = Detector(title="Layers with equal weights", needs=("fact:weights",), family="equal_weights")


def detect(run: Run, *, min_size: int = 64) -> Detected:
    rows = [row for row in matrices_of(run) if row["size"] >= min_size and row["min"] != row["max"]]
    if len(rows) < 2:
        return Skipped("two weight matrices")
    groups: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        if not any(word in row["name"].lower() for word in ("ema", "target", "teacher", "average")):
            groups.setdefault(row["print"], []).append(row)
    equal = [
        group for group in groups.values() if len(group) > 1 and len({row["storage"] for row in group}) > 1
    ]
    if not equal:
        return None
    return Finding(
        text=f"{sum(map(len, equal))} of {len(rows)} weight matrices equal another one to the last digit, "
        f"such as {' and '.join(row['name'] for row in equal[0][:2])}.",
        numbers={"groups": len(equal)},
        places=tuple(Place(layer=row["layer"]) for row in equal[0][:2]),
    )


def fires() -> Runs:
    yield sketched({}, facts=sketch({"a.weight": {"print": "x"}, "b.weight": {"print": "x"}}))


def silent() -> Runs:
    yield sketched({}, facts=sketch({"a.weight": {}, "b.weight": {}}))
    tied = {"print": "x", "storage": "1"}
    yield sketched({}, facts=sketch({"wte.weight": tied, "head.weight": tied}))
