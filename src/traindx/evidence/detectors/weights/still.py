"""Layers and units that are equal in two checkpoints of one training."""

import re
from collections.abc import Sequence

from traindx.core.facts import Fact, facts
from traindx.evidence.detector import Cases, Detected, Detector, Finding, Place, Run, Skipped
from traindx.evidence.detectors._weights import checkpoint, rows_of


@Detector("Layers did not move", needs=("fact:moved",), family="untrained")
def layers_not_moved(
    run: Run, *, min_layers: int = 2, min_units_still: float = 0.2, max_still_kin: float = 0.34
) -> Detected:
    """Layers are exactly equal in two checkpoints of one training.

    Compares the weight matrices of the first and the last checkpoint. Seen when some are equal to the last
    digit while others moved: nothing trains them. Where all are equal, the two files hold one state. It is
    of medium severity where what did not move is as initialisation left it, where nothing moved, or where
    single layers stand still in the midst of a row of layers of one shape of which most move
    ({max_still_kin:%} at most stand still, and layers before and after them move): nobody freezes so. Other
    layers frozen with weights learned elsewhere are mostly meant, and are worth knowing. Where all layers
    moved, units of which {min_units_still:%} in a layer kept every weight are dead.
    """
    rows = [row for row in facts(run.facts.get("moved")) if row.get("matrix") and "equal" in row]
    if len(rows) < min_layers:
        return Skipped(f"two checkpoints with {min_layers} weight matrices in common")
    still = [row["name"] for row in rows if row["equal"]]
    if not still:
        return _units(rows, min_units_still)
    initial = [row["name"] for row in rows_of(run) if row.get("initial") and row["name"] in still]
    others = [row for row in facts(run.facts.get("moved")) if not row.get("matrix") and "equal" in row]
    everything = len(still) == len(rows) and all(row["equal"] for row in others)
    odd = [] if len(still) == len(rows) else _in_the_midst(rows, max_still_kin)
    sentence = (
        f"All {len(rows)} weight matrices are equal in both checkpoints: nothing moved between them."
        if everything
        else f"{len(still)} of {len(rows)} weight matrices are equal in both checkpoints while others moved: "
        f"{', '.join((initial or still)[:3])}"
        + (
            f" ({len(initial)} of them as initialisation left them)."
            if initial
            else ", in the midst of layers of their kind that move."
            if odd
            else "."
        )
    )
    return Finding(
        text=sentence,
        symptom="not_learning" if everything else "silent_defect",
        severity="medium" if everything or initial or odd else "low",
        numbers={"layers": len(still), "layers_all": len(rows)},
        places=tuple(Place(layer=name.rpartition(".")[0]) for name in (initial or still)[:3]),
    )


def _in_the_midst(rows: Sequence[Fact], most: float) -> list[str]:
    """Layers that stand still although layers before and after them move, and most of their numbered kin.

    Whoever freezes layers on purpose freezes the first ones, all of a part, or all but small ones.
    """
    names = [str(row["name"]) for row in rows]
    moving = [at for at, row in enumerate(rows) if not row["equal"]]
    if len(moving) < 0.5 * len(rows) or any("lora" in name or "adapter" in name for name in names):
        return []
    kin: dict[tuple[str, str, object], list[int]] = {}
    for at, row in enumerate(rows):
        for match in re.finditer(r"(?:^|(?<=[._/]))\d+(?=[._/])", names[at]):
            shape = (row.get("rows"), row.get("size"))
            kin.setdefault((names[at][: match.start()], names[at][match.end() :], shape), []).append(at)
    odd: list[str] = []
    for members in kin.values():
        still = [at for at in members if rows[at]["equal"]]
        first = [at for at in still if at < min(set(members) - set(still), default=0)]
        inside = all(moving[0] < at < moving[-1] for at in still)
        if len(members) >= 3 and 0 < len(still) <= most * len(members) and inside and len(first) < 2:
            odd += [names[at] for at in still]
    return odd


def _units(rows: list[Fact], share: float) -> Detected:
    """Units that kept every weight while others of their layer moved: no gradient reaches them."""
    kinds = ("dense", "conv", "recurrent")
    dead = [
        row
        for row in rows
        if row.get("kind") in kinds
        and (row.get("rows") or 0) >= 8
        and share * row["rows"] <= row.get("rows_still", 0) < row["rows"]
    ]
    if not dead:
        return None
    worst = max(dead, key=lambda row: row["rows_still"] / row["rows"])
    return Finding(
        text=f"{worst['rows_still']} of the {worst['rows']} units of {worst['name']} kept every weight while "
        f"the others moved ({len(dead)} of {len(rows)} layers have such units): no gradient reaches them.",
        symptom="dead_units",
        numbers={"dead_share": worst["rows_still"] / worst["rows"], "layers": len(dead)},
        places=tuple(Place(layer=row["name"].rpartition(".")[0]) for row in dead[:3]),
    )


def _moved_layers_not_moved(*equal: bool) -> list[dict[str, object]]:
    return [
        {"name": f"{at}.weight", "matrix": True, "equal": flag, "change": 0.1}
        for at, flag in enumerate(equal)
    ]


def _named(names: Sequence[str], *still: str) -> Run:
    rows = [
        {
            "name": f"{name}.weight",
            "matrix": True,
            "equal": name in still,
            "change": 0.1,
            "rows": 64,
            "size": 4096,
        }
        for name in names
    ]
    return checkpoint({f"{name}.weight": {} for name in names}, moved=rows)


def cases() -> Cases:
    yield from layers_not_moved.fires(
        checkpoint({"0.weight": {}, "1.weight": {}}, moved=_moved_layers_not_moved(True, False)),
        checkpoint({"0.weight": {}, "1.weight": {}}, moved=_moved_layers_not_moved(True, True)),
    )
    yield from layers_not_moved.silent(
        checkpoint({"0.weight": {}, "1.weight": {}}, moved=_moved_layers_not_moved(False, False)),
        checkpoint({"0.weight": {}}, moved=_moved_layers_not_moved(True)),
    )
    names = ["inp", "blocks.0", "blocks.1", "blocks.2", "blocks.3", "out"]
    yield from layers_not_moved.fires(_named(names, "blocks.1"))
    yield from layers_not_moved.silent(_named(names))
