"""Single tensors of a checkpoint."""

from typing import Any

from traindx.evidence.detector import Cases, Detected, Detector, Finding, Place, Run, Skipped
from traindx.evidence.detectors._number_text import percent
from traindx.evidence.detectors._weights import anything_moved, checkpoint, matrices_of, moment_rows, rows_of

_STATE = [{"groups": [{"lr": 1e-3}], "steps": [9, 9], "rows": [{"name": "exp_avg/0"}]}]


@Detector("Checkpoint holds NaN or Inf", needs=("fact:weights",), family="nonfinite")
def checkpoint_nonfinite(run: Run, *, min_values: int = 1) -> Detected:
    """A checkpoint holds NaN or Inf.

    Counts the values of every tensor that are not finite. One of them is enough: it spreads to all outputs
    in a forward pass, and no training recovers from it. A negative running variance does the same. Silent
    about integer tensors and about masks, whose -inf is meant: tensors named `mask` or `bias` that hold
    nothing but 0 and -inf.
    """
    rows = rows_of(run)
    broken = [row for row in rows if row.get("nonfinite", 0) >= min_values and not _mask(row)]
    if not broken:
        return _negative([row for row in rows if row["kind"] == "norm_variance" and (row["min"] or 0) < 0])
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


def _negative(rows: list[dict[str, Any]]) -> Detected:
    """Variances below 0, of which a normalisation takes the root."""
    if not rows:
        return None
    return Finding(
        text=f"The running variance {rows[0]['name']} is negative, down to {rows[0]['min']:.3g}: its root is "
        "NaN.",
        symptom="nonfinite",
        severity="critical",
        numbers={"tensors": len(rows)},
        places=tuple(Place(layer=row["layer"]) for row in rows[:3]),
    )


def _mask(row: dict[str, object]) -> bool:
    by_name = any(word in str(row["name"]) for word in ("mask", "bias"))
    return by_name and not row.get("nan") and row.get("min") == row.get("max") == 0


@Detector("Weights all zero", needs=("fact:weights",), family="zero_weights")
def tensors_zero(run: Run, *, min_size: int = 2) -> Detected:
    """Whole weight matrices of a checkpoint are zero.

    A matrix of nothing but zeros passes nothing on and, next to another one, gets no gradient either: it was
    cleared, never loaded, or left as it was allocated. Silent about adapters whose second matrix starts at
    zero (`lora_B`), and where every tensor is zero by the name of a mask.
    """
    rows = [row for row in matrices_of(run) if row["size"] >= min_size]
    if not rows:
        return Skipped("a weight matrix")
    zero = [row for row in rows if row["zero_share"] >= 1.0 and not _intended(row["name"])]
    if not zero:
        return None
    names = ", ".join(row["name"] for row in zero[:3])
    return Finding(
        text=f"{len(zero)} of {len(rows)} weight matrices hold nothing but 0: {names}.",
        symptom="silent_defect",
        severity="high",
        numbers={"tensors": len(zero), "tensors_all": len(rows)},
        places=tuple(Place(layer=row["layer"]) for row in zero[:3]),
    )


def _intended(name: str) -> bool:
    return any(word in name.lower() for word in ("lora_b", "mask", "zero"))


@Detector("Weights are codes", needs=("fact:weights",), family="weight_size", explains=("weights_exploded",))
def weights_are_codes(run: Run, *, min_kinds: int = 16, max_share: float = 0.5) -> Detected:
    """A weight matrix of floats holds nothing but whole numbers, while the others do not.

    No training leaves whole numbers: these are codes of a quantised model (-127 to 127) whose scale was not
    multiplied in when it was converted. Seen for matrices of {min_kinds} different whole numbers and more.

    Silent where most matrices are so (above {max_share:%}), where a scale or zero point is kept next to the
    matrix, and about binary and ternary weights and fixed filters, which have few different values.
    """
    rows = matrices_of(run)
    if len(rows) < 2:
        return Skipped("two weight matrices")
    scaled = {
        row["layer"] for row in rows_of(run) if any(word in row["name"] for word in ("scale", "zero_point"))
    }
    codes = [row for row in rows if row.get("whole_kinds", 0) >= min_kinds and row["layer"] not in scaled]
    if not codes or len(codes) > max_share * len(rows):
        return None
    worst = codes[0]
    return Finding(
        text=f"{worst['name']} holds nothing but whole numbers from {worst['min']:g} to {worst['max']:g} "
        f"({worst['whole_kinds']} different ones; {len(codes)} of {len(rows)} matrices are so): codes of a "
        "quantised model whose scale is missing.",
        symptom="silent_defect",
        severity="high",
        numbers={"layers": len(codes), "layers_all": len(rows)},
        places=tuple(Place(layer=row["layer"]) for row in codes[:3]),
    )


@Detector("Layers with equal weights", needs=("fact:weights",), family="equal_weights")
def tensors_equal(run: Run, *, min_size: int = 64, min_copied: float = 0.5) -> Detected:
    """Different layers of a checkpoint hold exactly the same weights.

    Compares the contents of all weight matrices of {min_size} values and more. Tied weights (one storage
    under two names) are meant and are not counted; neither are averaged copies (`ema`, `target`) of a whole
    model. Equal contents in separate storage mean that one layer was copied from another and that neither,
    or both alike, were trained since: a sign to check. In a trained model of which {min_copied:%} of the
    matrices are such copies, layers that should be several are one.
    """
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
    copied = sum(map(len, equal)) / len(rows)
    several = copied >= min_copied and max(map(len, equal)) >= 3 and bool(anything_moved(run))
    return Finding(
        symptom="silent_defect" if several else None,
        text=f"{sum(map(len, equal))} of {len(rows)} weight matrices equal another one to the last digit, "
        f"such as {' and '.join(row['name'] for row in equal[0][:2])}.",
        numbers={"groups": len(equal)},
        places=tuple(Place(layer=row["layer"]) for row in equal[0][:2]),
    )


@Detector("Weights in half precision", needs=("fact:weights", "fact:optimizer_state"), family="precision")
def weights_half_precision(run: Run, *, half_share: float = 0.9) -> Detected:
    """A training's checkpoint holds its weights in half precision, without a copy in full.

    Updates below about a thousandth (float16) or a hundredth (bfloat16) of a weight are lost when they are
    added to it. Seen when {half_share:%} of the weights of a checkpoint with an optimizer's state are of 16
    bits or less. A sign: large batches and rates may make up for it. It is a defect where Adam's second
    moments are float16 too: squares of usual gradients are below what float16 can hold. Silent about weights
    alone, which are often saved so.
    """
    rows = matrices_of(run)
    total = sum(row["size"] for row in rows)
    if not total:
        return Skipped("a weight matrix")
    half = [
        row for row in rows if row["dtype"] in ("float16", "bfloat16") or row["dtype"].startswith("float8")
    ]
    share = sum(row["size"] for row in half) / total
    if share < half_share:
        return None
    squares = [row for row in moment_rows(run) if row["name"].startswith("exp_avg_sq/")]
    narrow = bool(squares) and all(row.get("dtype") == "float16" for row in squares)
    return Finding(
        text=f"{percent(share)} of the weights are stored as {half[0]['dtype']} together with the "
        f"optimizer's state{', whose second moments are float16 too' if narrow else ''}: small updates are "
        "lost in them.",
        symptom="silent_defect" if narrow else None,
        numbers={"half_share": share},
    )


def cases() -> Cases:
    yield from checkpoint_nonfinite.fires(checkpoint({"fc.weight": {"nonfinite": 3, "nan": 3}}))

    negative = {"kind": "norm_variance", "min": -0.1}
    yield from checkpoint_nonfinite.fires(checkpoint({"bn.running_var": negative}))
    yield from checkpoint_nonfinite.silent(checkpoint({"fc.weight": {}}))
    yield from checkpoint_nonfinite.silent(
        checkpoint({"attn.mask": {"nonfinite": 30, "min": 0.0, "max": 0.0}})
    )
    yield from tensors_zero.fires(checkpoint({"a.weight": {}, "b.weight": {"zero_share": 1.0, "norm": 0.0}}))
    yield from tensors_zero.silent(checkpoint({"a.weight": {}, "b.weight": {"zero_share": 0.9}}))
    yield from tensors_zero.silent(checkpoint({"a.weight": {}, "q.lora_B.weight": {"zero_share": 1.0}}))
    codes = {"whole_kinds": 200, "min": -127.0, "max": 127.0}
    yield from weights_are_codes.fires(checkpoint({"a.weight": codes, "b.weight": {}}))
    yield from weights_are_codes.silent(
        checkpoint({"a.weight": {**codes, "whole_kinds": 3}, "b.weight": {}}),
        checkpoint({"a.weight": codes, "a.weight_scale": {"kind": "vector"}, "b.weight": {}}),
        checkpoint({"a.weight": codes, "b.weight": codes}),
    )
    yield from tensors_equal.fires(checkpoint({"a.weight": {"print": "x"}, "b.weight": {"print": "x"}}))
    yield from tensors_equal.silent(checkpoint({"a.weight": {}, "b.weight": {}}))
    tied = {"print": "x", "storage": "1"}
    yield from tensors_equal.silent(checkpoint({"wte.weight": tied, "head.weight": tied}))
    yield from weights_half_precision.fires(
        checkpoint({"a.weight": {"dtype": "bfloat16"}}, optimizer_state=_STATE)
    )
    squares = {"name": "exp_avg_sq/0", "dtype": "float16"}
    yield from weights_half_precision.fires(
        checkpoint({"a.weight": {"dtype": "float16"}}, optimizer_state=[{**_STATE[0], "rows": [squares]}])
    )
    yield from weights_half_precision.silent(checkpoint({"a.weight": {}}, optimizer_state=_STATE))
    yield from weights_half_precision.silent(checkpoint({"a.weight": {"dtype": "bfloat16"}}))
