"""Layers are exactly equal in two checkpoints of one training.

Compares the weight matrices of the first and the last checkpoint. Seen when some are equal to the last
digit while others moved: nothing trains them. Where all are equal, the two files hold one state. It is of
medium severity where what did not move is as initialisation left it, or where nothing moved; a layer frozen
with weights learned elsewhere is mostly meant, and is worth knowing.
"""

from traindx.evidence.detector import Detected, Detector, Finding, Place, Run, Runs, Skipped, facts
from traindx.evidence.detectors._weights import rows_of, sketch
from traindx.testing.sketch import run as sketched

DETECTOR = Detector(title="Layers did not move", needs=("fact:moved",), family="untrained")


def detect(run: Run, *, min_layers: int = 2) -> Detected:
    rows = [row for row in facts(run.facts.get("moved")) if row.get("matrix") and "equal" in row]
    if len(rows) < min_layers:
        return Skipped(f"two checkpoints with {min_layers} weight matrices in common")
    still = [row["name"] for row in rows if row["equal"]]
    if not still:
        return None
    initial = [row["name"] for row in rows_of(run) if row.get("initial") and row["name"] in still]
    everything = len(still) == len(rows)
    what = (
        f"All {len(rows)} weight matrices are equal in both checkpoints: nothing moved between them."
        if everything
        else f"{len(still)} of {len(rows)} weight matrices are equal in both checkpoints while others moved: "
        f"{', '.join((initial or still)[:3])}"
        + (f" ({len(initial)} of them as initialisation left them)." if initial else ".")
    )
    return Finding(
        text=what,
        symptom="not_learning" if everything else "silent_defect",
        severity="medium" if everything or initial else "low",
        numbers={"layers": len(still), "layers_all": len(rows)},
        places=tuple(Place(layer=name.rpartition(".")[0]) for name in (initial or still)[:3]),
    )


def _moved(*equal: bool) -> list[dict[str, object]]:
    return [
        {"name": f"{at}.weight", "matrix": True, "equal": one, "change": 0.1} for at, one in enumerate(equal)
    ]


def fires() -> Runs:
    yield sketched({}, facts=sketch({"0.weight": {}, "1.weight": {}}, moved=_moved(True, False)))
    yield sketched({}, facts=sketch({"0.weight": {}, "1.weight": {}}, moved=_moved(True, True)))


def silent() -> Runs:
    yield sketched({}, facts=sketch({"0.weight": {}, "1.weight": {}}, moved=_moved(False, False)))
    yield sketched({}, facts=sketch({"0.weight": {}}, moved=_moved(True)))
