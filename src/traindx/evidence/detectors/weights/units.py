"""Units of a layer that hold nothing, or all the same."""

from typing import Any

from traindx.evidence.detector import Cases, Detected, Detector, Finding, Place, Run, Skipped
from traindx.evidence.detectors._number_text import percent
from traindx.evidence.detectors._weights import checkpoint, matrices_of, rows_of

_HEADS = ("head", "classifier", "logits", "predictions")


@Detector("Units without weights", needs=("fact:weights",), family="dead_units")
def units_zero(
    run: Run,
    *,
    unit_share: float = 0.2,
    min_units: int = 8,
    max_scattered: float = 0.05,
    max_classes: int = 2000,
) -> Detected:
    """Units of a layer have no weights at all.

    Counts the rows of each weight matrix (the inputs of one unit) that are zero, or hold one value
    throughout. It is of medium severity where {unit_share:%} of a layer's units are so, in a layer of
    {min_units} units and more, and for a class in the midst of the last layer, of {max_classes} classes at
    most, whose bias is 0 too: every class that takes part in a loss gets a gradient. Fewer units of other
    layers are worth knowing in a layer that is not sparse otherwise. Weight decay
    on dead units, pruning, or a part that was never written leave this. Silent about matrices that are zero
    as a whole, which is another finding, about layers that a mask prunes, about embeddings, where words that
    never occurred have no weights, and about a first row in a layer without a bias: that of the padding.
    """
    rows = [row for row in matrices_of(run, embeddings=False) if row["rows"] >= min_units]
    if not rows:
        return Skipped(f"a layer of at least {min_units} units")
    masked = {row["layer"] for row in rows_of(run) if row["name"].endswith("mask")}
    rows = [row for row in rows if row["zero_share"] < 1 and row["layer"] not in masked]
    shares = {row["name"]: (row["rows_zero"] + row["rows_constant"]) / row["rows"] for row in rows}
    affected = [row for row in rows if shares[row["name"]] >= unit_share]
    if not affected:
        return _single_units(run, [row for row in rows if row["rows_zero"]], max_scattered, max_classes)
    worst = max(affected, key=lambda row: shares[row["name"]])
    share = shares[worst["name"]]
    return Finding(
        text=f"{percent(share)} of the {worst['rows']:,} units of {worst['name']} have no weights but one "
        f"value ({len(affected)} of {len(rows)} layers are at least {percent(unit_share)} so).",
        symptom="dead_units",
        strength=min(1.0, 0.5 + share / 2),
        numbers={"dead_share": share, "layers_dead": len(affected), "layers_all": len(rows)},
        places=tuple(Place(layer=row["layer"]) for row in affected[:3]),
    )


def _single_units(run: Run, rows: list[dict[str, Any]], max_scattered: float, max_classes: int) -> Detected:
    """One unit or a few, where hardly anything else is zero."""
    biased = {row["layer"] for row in rows_of(run) if row["kind"] == "bias"}
    affected = [
        row
        for row in rows
        if row["zero_share"] - row["rows_zero"] / row["rows"] <= max_scattered
        and "lora" not in row["name"].lower()
        and row["fan_in"] > 1
        and (row.get("row_zero") or row["rows_zero"] > 1 or row["layer"] in biased)
    ]
    if not affected:
        return None
    classes = [row for row in affected if row["rows"] <= max_classes and _untrained_classes(run, row)]
    worst = (classes or [max(affected, key=lambda row: row["rows_zero"] / row["rows"])])[0]
    what = "classes" if classes else "units"
    units = f"{worst['rows_zero']:,} of the {worst['rows']:,} {what} of {worst['name']}"
    return Finding(
        text=f"{units} {'has' if worst['rows_zero'] == 1 else 'have'} no weights (the first is number "
        f"{worst.get('row_zero', 0)}) while the others have"
        f"{', and no bias: the loss never saw them.' if classes else '.'}",
        symptom="silent_defect" if classes else "dead_units",
        severity="medium" if classes else "low",
        strength=1.0 if classes else 0.5,
        numbers={"dead_share": worst["rows_zero"] / worst["rows"], "layers_dead": len(affected)},
        places=tuple(Place(layer=row["layer"]) for row in affected[:3]),
    )


def _untrained_classes(run: Run, row: dict[str, Any]) -> bool:
    """Whether a layer is the last, and its units without weights lie between others and have no bias.

    The first unit may be padding or nothing, and the last ones fill up to a round number.
    """
    layers = list(dict.fromkeys(matrix["layer"] for matrix in matrices_of(run)))
    bias = next(
        (other for other in rows_of(run) if other["layer"] == row["layer"] and other["kind"] == "bias"), {}
    )
    zeros = bias.get("zeros_at", [])
    first, count = row.get("row_zero", 0), row["rows_zero"]
    last = row["layer"] == layers[-1] or any(word in row["name"].lower() for word in _HEADS)
    inside = first > 0 and first + count < row["rows"]
    return bool(last and inside and count <= 3 and len(zeros) == count and zeros[0] == first)


@Detector(
    "A block of units without weights", needs=("fact:weights",), family="dead_units", explains=("units_zero",)
)
def units_zero_block(
    run: Run, *, min_units: int = 8, min_share: float = 0.1, max_share: float = 0.9
) -> Detected:
    """Consecutive units of a layer have no weights, and no other unit of it is so.

    Units that die in a training, or are pruned, lie scattered over their layer; a run of them is a piece that
    was never filled in: the shard of one process, one gate of a recurrent layer, one of several heads. Seen
    from {min_units} units in a row and {min_share:%} of the layer on, where all units without weights are in
    that run.

    Silent about embeddings, layers that a mask prunes, adapters, and runs that end with a layer: those fill
    up to a round number.
    """
    masked = {row["layer"] for row in rows_of(run) if row["name"].endswith("mask")}
    rows = [row for row in matrices_of(run, embeddings=False) if row["rows"] >= 2 * min_units]
    if not rows:
        return Skipped(f"a layer of at least {2 * min_units} units")
    blocks = [
        row
        for row in rows
        if row["rows_zero"] >= max(min_units, min_share * row["rows"])
        and row["rows_zero"] <= max_share * row["rows"]
        and row.get("row_zero_last", -1) - row.get("row_zero", 0) + 1 == row["rows_zero"]
        and row["row_zero_last"] + 1 < row["rows"]
        and row["layer"] not in masked
        and "lora" not in row["name"].lower()
    ]
    if not blocks:
        return None
    worst = max(blocks, key=lambda row: row["rows_zero"] / row["rows"])
    first, last = worst["row_zero"], worst["row_zero_last"]
    return Finding(
        text=f"Units {first} to {last} of the {worst['rows']:,} units of {worst['name']} have no weights, "
        f"and no other unit is so ({len(blocks)} of {len(rows)} layers have such a block): a piece of it was "
        "never filled in.",
        symptom="silent_defect",
        severity="high",
        numbers={"units": worst["rows_zero"], "layers": len(blocks), "layers_all": len(rows)},
        places=tuple(Place(layer=row["layer"]) for row in blocks[:3]),
    )


@Detector("Units equal each other", needs=("fact:weights",), family="init")
def units_equal(
    run: Run, *, equal_share: float = 0.5, embedding_share: float = 0.8, min_units: int = 4
) -> Detected:
    """Units of a layer are exact copies of each other.

    Counts the rows of each weight matrix that equal another one to the last digit. Seen when {equal_share:%}
    of a layer's units are copies, in a layer of {min_units} units and more. Units that start equal get equal
    gradients and stay equal: a constant initialisation was never broken, and the layer is worth a single
    unit. Silent about zero rows; of embeddings {embedding_share:%} must be copies.
    """
    rows = [row for row in matrices_of(run) if row["rows"] >= min_units]
    if not rows:
        return Skipped(f"a layer of at least {min_units} units")
    affected = [
        row
        for row in rows
        if row["rows_equal"] / row["rows"] >= (embedding_share if row["kind"] == "embedding" else equal_share)
    ]
    if not affected:
        return None
    worst = max(affected, key=lambda row: row["rows_equal"] / row["rows"])
    share = worst["rows_equal"] / worst["rows"]
    return Finding(
        text=f"{worst['rows_equal']:,} of the {worst['rows']:,} units of {worst['name']} repeat another one "
        f"exactly ({len(affected)} of {len(rows)} layers have such copies): their symmetry was never broken.",
        symptom="not_learning",
        severity="high" if share > 0.9 else "medium",
        numbers={"equal_share": share, "layers": len(affected)},
        places=tuple(Place(layer=row["layer"]) for row in affected[:3]),
    )


def cases() -> Cases:
    yield from units_zero.fires(
        checkpoint({"a.weight": {"rows_zero": 32, "zero_share": 0.5}, "b.weight": {}})
    )
    single = {"rows_zero": 1, "row_zero": 5, "zero_share": 1 / 64}
    yield from units_zero.fires(checkpoint({"a.weight": single, "b.weight": {}}))
    silent_class = {"kind": "bias", "size": 64, "zeros_at": [5]}
    yield from units_zero.fires(checkpoint({"b.weight": {}, "a.weight": single, "a.bias": silent_class}))
    sparse = {"rows_zero": 3, "row_zero": 5, "zero_share": 0.6}
    yield from units_zero.silent(checkpoint({"a.weight": sparse, "b.weight": {}}))
    padding = {"rows_zero": 1, "row_zero": 0, "zero_share": 1 / 64}
    yield from units_zero.silent(
        checkpoint({"tokens.weight": padding, "b.weight": {}}),
        checkpoint({"wte.weight": {"kind": "embedding", "rows_zero": 32}, "b.weight": {}}),
    )
    block = {"rows_zero": 16, "row_zero": 10, "row_zero_last": 25, "zero_share": 0.25}
    yield from units_zero_block.fires(checkpoint({"a.weight": block, "b.weight": {}}))
    yield from units_zero_block.silent(
        checkpoint({"a.weight": {**block, "row_zero_last": 50}, "b.weight": {}}),
        checkpoint({"a.weight": {**block, "row_zero": 48, "row_zero_last": 63}, "b.weight": {}}),
        checkpoint({"a.weight": {**block, "kind": "embedding"}, "b.weight": {}}),
    )
    yield from units_equal.fires(checkpoint({"a.weight": {"rows_equal": 63}, "b.weight": {}}))
    yield from units_equal.silent(
        checkpoint({"a.weight": {"rows_equal": 2}, "b.weight": {}}),
        checkpoint({"wte.weight": {"kind": "embedding", "rows_equal": 40}, "b.weight": {}}),
    )
