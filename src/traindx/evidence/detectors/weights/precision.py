"""What a narrow format lost of an optimizer's state."""

from traindx.evidence.detector import Cases, Detected, Detector, Finding, Run, Skipped
from traindx.evidence.detectors._number_text import percent
from traindx.evidence.detectors._weights import checkpoint, moment_rows


@Detector("Second moments underflowed", needs=("fact:optimizer_state",), family="precision")
def moments_underflowed(run: Run, *, min_share: float = 0.01, min_size: int = 64) -> Detected:
    """Adam's second moments are exactly 0 where its first moments are not: their squares underflowed.

    Both moments average the same gradients, so that a second moment of 0 beside a first moment that is not
    means that the square was too small for its format. float16 ends at 6e-8, the square of a gradient of
    0.0002. Adam then divides by eps alone, and the next step is thousands of times too large there. Seen when
    that is so for {min_share:%} and more of the values of a parameter of {min_size} values.

    Silent about moments that are both 0 (dead units, rare words), about bfloat16, whose range is that of
    float32, and about other optimizers.
    """
    rows = [row for row in moment_rows(run) if "lost" in row and row["size"] >= min_size]
    if not rows:
        return Skipped("first and second moments of Adam")
    lost = [row for row in rows if row["lost"] >= min_share]
    if not lost:
        return None
    worst = max(lost, key=lambda row: row["lost"])
    parameter = worst["name"].partition("/")[2]
    return Finding(
        text=f"{percent(worst['lost'])} of the second moments of parameter {parameter} are exactly 0 while "
        f"their first moments are not ({len(lost)} of {len(rows)} parameters are so): they "
        "underflowed, as in float16, and the next step divides by eps alone.",
        symptom="silent_defect",
        severity="high",
        numbers={"lost_share": worst["lost"], "parameters": len(lost), "parameters_all": len(rows)},
    )


def _state(lost: float, size: int = 4096) -> list[dict[str, object]]:
    row = {"name": "exp_avg_sq/0", "size": size, "nonfinite": 0, "min": 0.0, "zero_share": lost, "lost": lost}
    return [{"groups": [{"lr": 1e-3}], "steps": [100, 100], "parameters": 1, "rows": [row]}]


def cases() -> Cases:
    yield from moments_underflowed.fires(checkpoint({"a.weight": {}}, optimizer_state=_state(0.7)))
    yield from moments_underflowed.silent(
        checkpoint({"a.weight": {}}, optimizer_state=_state(0.0)),
        checkpoint({"a.weight": {}}, optimizer_state=_state(0.5, 10)),
    )
